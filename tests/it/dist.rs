//! What people install: packed as `assets/dist/build` packs it from the program that the tests have, installed by pip without
//! a network into a clean environment, and used there until a run was granted.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::dash::{Dash, Options, PATIENCE, environment, progress};
use crate::common::interpreters::interpreters;

/// More than the dashboard asks for between a key that came too early and the next.
const QUIET: Duration = Duration::from_secs(4);

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn output(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().unwrap()
}

/// What the command printed; it must succeed.
fn told(command: &mut Command) -> String {
    let output = output(command);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{text}\n{errors}",
        output.status
    );
    text
}

fn build(python: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(python);
    command.arg(format!("{ROOT}/assets/dist/build")).args(args);
    command
}

/// The files of the system packages: where each comes from, and where it goes. A name that ends in `/` is a folder.
fn installed(files: &Path) -> Vec<(Vec<PathBuf>, String)> {
    let manifest = fs::read_to_string(format!("{ROOT}/Cargo.toml")).unwrap();
    let manifest: toml::Value = toml::from_str(&manifest).unwrap();
    let assets = manifest["package"]["metadata"]["deb"]["assets"].as_array();
    let row = |row: &toml::Value| {
        let source = row[0].as_str().unwrap();
        let path = match source.strip_prefix("target/packages/files/") {
            Some(made) => files.join(made),
            None => Path::new(ROOT).join(source),
        };
        let sources = match source.split_once("/*") {
            None => vec![path],
            Some((folder, ending)) => fs::read_dir(Path::new(ROOT).join(folder))
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.to_string_lossy().ends_with(ending))
                .collect(),
        };
        (sources, row[1].as_str().unwrap().to_owned())
    };
    assets.unwrap().iter().map(row).collect()
}

/// The absolute paths in a text that packages bring along.
fn named(text: &str) -> BTreeSet<&str> {
    let ends = |c: char| c.is_whitespace() || "\"')".contains(c);
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .flat_map(|line| line.split(ends))
        .filter_map(|word| word.rsplit('=').next())
        .filter(|word| word.starts_with("/usr/") && word.contains("countersign"))
        .collect()
}

fn files_are_there_and_name_each_other(files: &Path) {
    let mut there = BTreeSet::new();
    for (sources, folder) in installed(files) {
        assert!(!sources.is_empty(), "nothing goes to {folder}");
        for source in sources {
            assert!(source.is_file(), "no {}", source.display());
            let name = source.file_name().unwrap().to_str().unwrap();
            assert!(
                fs::metadata(&source).unwrap().len() > 100,
                "{name} is empty"
            );
            there.insert(format!("/{folder}{name}"));
        }
    }
    let mut all = 0;
    for file in [
        "countersign.service",
        "countersign.apparmor",
        "deb/postinst",
        "Containerfile",
    ] {
        let text = fs::read_to_string(format!("{ROOT}/assets/dist/{file}")).unwrap();
        let named = named(&text);
        all += named.len();
        for path in named {
            assert!(there.contains(path), "{file} names {path}: {there:?}");
        }
    }
    assert!(all >= 4, "only {all} paths were found");
    let page = fs::read_to_string(files.join("countersign.1")).unwrap();
    assert!(page.contains(".TH countersign 1"), "{page}");
}

/// Reads and grants the demo's first proposal, which stays selected while others arrive: of two agents that propose at
/// once, either can be the first.
fn grant_first(dash: &mut Dash, succeeded: impl Fn() -> bool) {
    dash.wait_for("the code", |_, text| progress(text).is_some());
    let deadline = Instant::now() + PATIENCE;
    while !succeeded() {
        assert!(Instant::now() < deadline, "nothing ran:\n{}", dash.text());
        let text = dash.text();
        if text.contains("of this sheet not seen") {
            dash.press(" ");
        } else if text.contains("GRANT?") {
            match dash.digits() {
                Some(digits) => {
                    dash.keys(&digits);
                    dash.press("\r");
                }
                None => dash.press("y"),
            }
            // A key that comes too early has to wait for a while without keys.
            let most = Instant::now() + QUIET;
            dash.wait_while(most, |now| now.contains("GRANT?"));
            continue;
        } else if progress(&text).is_some() {
            // A page, then the sheet, which is refused until all was seen; what arrives meanwhile may close it.
            dash.keys(" ");
            dash.press("a");
        } else {
            // Digits that came when the sheet was gone lead to another view.
            dash.keys("1");
        }
        let most = Instant::now() + Duration::from_millis(500);
        dash.wait_while(most, |now| now == text);
    }
}

#[test]
fn a_wheel_installs_without_a_network_and_its_demo_comes_to_a_granted_run() {
    let folder = tempfile::Builder::new()
        .prefix("cs-dist-")
        .tempdir()
        .unwrap();
    let at = |name: &str| folder.path().join(name);
    let path = |name: &str| at(name).display().to_string();
    let python = &interpreters()[0];
    let refused = output(&mut build(python, &["wheel", "--binary", &path("none")]));
    let text = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && text.contains("give the path of a built"));
    let exe = env!("CARGO_BIN_EXE_countersign");
    for nobody in ["", "The developers", "x <countersign@localhost>"] {
        let args = ["deb", "--binary", exe, "--maintainer", nobody];
        let refused = output(&mut build(python, &args));
        let text = String::from_utf8_lossy(&refused.stderr);
        assert!(
            !refused.status.success() && text.contains("answers for the package"),
            "{text}"
        );
    }

    // Without its debug symbols the program is packed in a second.
    let stripped = Command::new("strip")
        .args(["-o", &path("countersign"), exe])
        .status();
    let binary = if stripped.is_ok_and(|status| status.success()) {
        path("countersign")
    } else {
        exe.to_owned()
    };
    let args = ["wheel", "files", "--binary", &binary, "--out", &path("out")];
    let made = told(&mut build(python, &args));
    files_are_there_and_name_each_other(&at("out/files"));

    // As `python -m venv` and `pip install` do, but with the pip that is there already.
    let wheel = made.lines().find_map(|line| line.strip_prefix("wheel: "));
    let pip = ["-m", "pip"];
    let has_pip = output(Command::new(python).args(pip).arg("--version"));
    let mut venv = Command::new(python);
    venv.args(["-m", "venv"]);
    let has_pip = has_pip.status.success();
    if has_pip {
        venv.arg("--without-pip");
    }
    told(venv.arg(at("env")));
    let (own, program) = (at("env/bin/python3"), at("env/bin/countersign"));
    let mut install = Command::new(if has_pip { python } else { &own });
    install.args(pip).arg("--isolated");
    if has_pip {
        install.arg("--python").arg(&own);
    }
    install.args([
        "install",
        "--no-index",
        "--no-cache-dir",
        "--disable-pip-version-check",
    ]);
    told(install.arg(wheel.unwrap()));

    // Agents import it, with its types; nothing else was installed.
    let asked = "import countersign, importlib.metadata as m; d = m.distribution('countersign-tui')\n\
                 print(countersign.Client.__name__, d.version, d.requires, [str(f) for f in d.files if 'typed' in str(f)])";
    let imported = told(Command::new(&own).args(["-I", "-c", asked]));
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        imported,
        format!("Client {version} None ['countersign/py.typed']\n")
    );

    fs::create_dir(at("tmp")).unwrap();
    let mut dash = Dash::launch(&Options {
        args: &["demo"],
        program: Some(&program),
        env: &[("TMPDIR", &path("tmp"))],
        ..Options::default()
    });
    let run = |args: &[&str], root: &Path| {
        let mut command = Command::new(&program);
        command.env_clear().envs(environment(root)).args(args);
        output(&mut command)
    };
    let doctor = run(&["doctor"], dash.root());
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(said.contains("Python 3."), "{said}");

    dash.wait_text("pending");
    let root = dash.root().to_owned();
    // Other folders of the dashboard stand beside the demo's own.
    let demo = fs::read_dir(at("tmp")).unwrap().map(|entry| entry.unwrap());
    let is_demo = |entry: &fs::DirEntry| entry.path().join("state").is_dir();
    let demo = { demo }.find(is_demo).unwrap();
    let state = demo.path().join("state").display().to_string();
    let list = || {
        let output = run(&["audit", "list", "--json", "--state-dir", &state], &root);
        serde_json::from_slice::<Value>(&output.stdout).unwrap_or_default()
    };
    let succeeded = || {
        let list = list();
        let rows = list.as_array().into_iter().flatten();
        { rows }.any(|row| row["state"] == "succeeded")
    };
    grant_first(&mut dash, succeeded);
    dash.press_until("\u{1b}q", "the question", |text| text.contains("Quit with"));
    dash.press("y");
    assert!(dash.wait_exit().success());
    // The demo ends with how an agent reaches Countersign.
    let raw = String::from_utf8_lossy(&dash.raw()).into_owned();
    assert!(raw.contains("claude mcp add countersign -- countersign mcp"));
}
