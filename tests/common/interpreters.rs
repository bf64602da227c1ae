//! The Pythons of this machine.

use std::path::PathBuf;
use std::process::Command;

/// Working interpreters of at least Python 3.11, each once.
pub fn interpreters() -> Vec<PathBuf> {
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
    assert!(
        !found.is_empty(),
        "the tests need a Python of at least 3.11"
    );
    found
}
