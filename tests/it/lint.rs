//! Lints that cargo does not run: ruff and mypy over the runner, and `cargo deny` over the
//! program's dependencies. `tests/data/lint.lock` has their versions; they are installed once.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use countersign::model::Digest;
use tempfile::TempDir;

use crate::common::interpreters::interpreters;

const LOCK: &str = include_str!("../data/lint.lock");

/// The Python files that ruff checks.
const PYTHON: [&str; 5] = [
    "assets/runner",
    "assets/replicate.py",
    "assets/clients",
    "tests/runner",
    "tests/clients",
];

/// Folders besides the runner whose modules mypy imports by name, and checks.
const MODULES: [&str; 3] = ["assets", "assets/clients", "tests/runner"];

/// Without the check of advisories, which needs a list from the network.
const CHECKS: [&str; 3] = ["licenses", "bans", "sources"];

#[test]
fn ruff_finds_nothing_in_the_runner_and_its_tests() {
    let ruff = |arguments: &[&str]| {
        let mut command = Command::new(tools().join("ruff"));
        command
            .args(arguments)
            .args(["--no-cache", "--config", "assets/runner/ruff.toml"])
            .current_dir(root());
        command
    };
    assert_passes(ruff(&["check"]).args(PYTHON));
    assert_passes(ruff(&["format", "--check"]).args(PYTHON));
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("wrong.py"), "import os\nx = ( 1 )\n").unwrap();
    assert_fails(ruff(&["check"]).arg(folder.path()), "F401");
    assert_fails(
        ruff(&["format", "--check"]).arg(folder.path()),
        "would be reformatted",
    );
}

#[test]
fn mypy_finds_nothing_in_the_runner_and_its_tests() {
    let (tree, modules) = importable();
    assert_passes(&mut mypy(&tree, &modules));
    let faulty = "from _countersign import spec\n\nspec.digest_of('no descriptor')\n";
    fs::write(tree.path().join("wrong.py"), faulty).unwrap();
    assert_fails(&mut mypy(&tree, &["wrong".to_owned()]), "[arg-type]");
}

#[test]
fn the_program_is_made_of_what_deny_toml_allows() {
    let deny = |config: &Path, checks: &[&str]| {
        let mut command = Command::new(tools().join("cargo-deny"));
        command.args(["--locked", "--config"]).arg(config);
        command.arg("check").args(checks).current_dir(root());
        command
    };
    assert_passes(&mut deny(Path::new("deny.toml"), &CHECKS));
    let folder = tempfile::tempdir().unwrap();
    let strict = folder.path().join("deny.toml");
    let nothing = "[licenses]\nallow = []\n[bans]\ndeny = [\"serde\"]\n";
    fs::write(&strict, nothing).unwrap();
    assert_fails(&mut deny(&strict, &["licenses"]), "not explicitly allowed");
    assert_fails(&mut deny(&strict, &["bans"]), "error[banned]");
}

#[test]
fn every_exception_to_a_lint_of_python_says_why() {
    let mut seen = 0;
    let mut failures = Vec::new();
    for path in PYTHON.iter().flat_map(|one| python_of(&root().join(one))) {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(says) = reasons(line) {
                seen += 1;
                if !says {
                    failures.push(format!("{}:{number}: {line}", path.display()));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(seen > 50, "{seen}");
}

#[test]
fn an_exception_without_a_reason_is_seen() {
    for (line, says) in [
        ("x = 1", None),
        ("x = 1  # noqa: E501 - a row", Some(true)),
        ("x = 1  # noqa: E501", Some(false)),
        ("x = 1  # noqa", Some(false)),
        ("x = 1  # type: ignore[misc]  # its own", Some(true)),
        ("x = 1  # type: ignore[misc]", Some(false)),
        ("x = 1  # type: ignore[misc]  # ", Some(false)),
        (
            "x = 1  # type: ignore[misc]  # noqa: E501 - a row",
            Some(false),
        ),
    ] {
        assert_eq!(reasons(line), says, "{line}");
    }
}

/// Whether a lint exception gives its reason; `None` for a line without an exception.
fn reasons(line: &str) -> Option<bool> {
    let noqa = line.split_once("# noqa").map(|(_, rest)| {
        rest.split_once(" - ")
            .is_some_and(|(_, reason)| is_reason(reason))
    });
    let ignore = line.split_once("# type: ignore").map(|(_, rest)| {
        let reason = rest.split_once("]  # ");
        reason.is_some_and(|(_, reason)| is_reason(reason) && !reason.starts_with("noqa"))
    });
    noqa.into_iter().chain(ignore).reduce(|a, b| a && b)
}

fn is_reason(why: &str) -> bool {
    why.trim().len() > 2
}

fn assert_passes(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}\n{}",
        output_text(&output)
    );
}

/// Asserts that the check fails here, so that a check that never finds anything is noticed.
fn assert_fails(command: &mut Command, reason: &str) {
    let output = command.output().unwrap();
    assert!(
        !output.status.success(),
        "{command:?}\n{}",
        output_text(&output)
    );
    assert!(
        output_text(&output).contains(reason),
        "{}",
        output_text(&output)
    );
}

fn output_text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    String::from_utf8_lossy(out).into_owned() + &String::from_utf8_lossy(err)
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn mypy(tree: &TempDir, modules: &[String]) -> Command {
    let mut command = Command::new(tools().join("python"));
    command
        .args(["-m", "mypy", "--config-file"])
        .arg(root().join("assets/runner/mypy.ini"))
        .arg("--cache-dir")
        .arg(home().join("mypy"))
        .args(["-p", "_countersign"])
        .args(modules.iter().flat_map(|name| ["-m", name]))
        .current_dir(tree);
    command
}

/// The runner as the package that a child imports, and the other files as modules beside it.
fn importable() -> (TempDir, Vec<String>) {
    let tree = tempfile::tempdir().unwrap();
    symlink(
        root().join("assets/runner"),
        tree.path().join("_countersign"),
    )
    .unwrap();
    let mut modules = Vec::new();
    for folder in MODULES {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if is_python(&path) {
                modules.push(path.file_stem().unwrap().to_str().unwrap().to_owned());
                symlink(&path, tree.path().join(path.file_name().unwrap())).unwrap();
            }
        }
    }
    assert!(modules.len() > 10, "{modules:?}");
    (tree, modules)
}

/// The Python files at or below a path.
fn python_of(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.is_dir() || is_python(path))
        .flat_map(|path| python_of(&path))
        .collect()
}

fn is_python(path: &Path) -> bool {
    path.extension().is_some_and(|kind| kind == "py")
}

/// Kept between runs of the suite.
fn home() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("lint")
}

/// The folder of the tools' programs: the first test installs them, the others wait.
fn tools() -> PathBuf {
    fs::create_dir_all(home()).unwrap();
    let lock = File::create(home().join("lock")).unwrap();
    lock.lock().unwrap();
    let python = &interpreters()[0];
    let key = format!("{}\n{LOCK}", python.display());
    let folder = home().join(&Digest::of(key.as_bytes()).hex()[..16]);
    let done = folder.join("done");
    if !done.exists() {
        _ = fs::remove_dir_all(&folder);
        assert_passes(Command::new(python).args(["-m", "venv"]).arg(&folder));
        let list = root().join("tests/data/lint.lock");
        assert_passes(
            Command::new(folder.join("bin/python"))
                .args(["-m", "pip", "install", "--require-hashes", "--no-deps"])
                .args(["--only-binary", ":all:", "--no-input", "-r"])
                .arg(list),
        );
        fs::write(done, "").unwrap();
    }
    folder.join("bin")
}
