//! The guard's own tests, written in Python because they are about Python: `tests/runner/*.py`, run
//! with the machine's interpreter and, with pandas, with the managed environment's.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Interpreters of at least 3.11 that answer, each once.
fn interpreters() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for name in ["python3", "python3.11", "python3.12", "python3.13"] {
        let question = "import sys; assert sys.version_info >= (3, 11); print(sys.executable)";
        let Ok(output) = Command::new(name).args(["-I", "-c", question]).output() else {
            continue;
        };
        let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        if output.status.success() && path.exists() && !found.contains(&path) {
            found.push(path);
        }
    }
    assert!(!found.is_empty(), "a Python of at least 3.11 is needed");
    found
}

fn passes(python: &Path, script: &str, arguments: &[&Path]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
    let output = Command::new(python)
        .args(["-s", "-B"])
        .arg(&script)
        .args(arguments)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{} {}:\n{said}\n{wrong}",
        python.display(),
        script.display()
    );
    // A script that tested nothing is no success.
    assert!(
        said.lines().filter(|l| l.starts_with("ok ")).count() >= 8,
        "{said}"
    );
}

#[test]
fn the_guard_keeps_its_promises_on_every_python_of_this_machine() {
    for python in interpreters() {
        passes(&python, "tests/runner/check_guard.py", &[]);
    }
}

#[test]
fn the_guard_keeps_its_promises_with_pandas() {
    let env = common::python::managed_env();
    let site = env
        .sys_path
        .iter()
        .find(|path| path.join("pandas").is_dir())
        .expect("the managed environment has pandas");
    passes(&env.executable, "tests/runner/check_guard.py", &[site]);
}
