//! The managed environment for the tests of this crate, made once and kept between runs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::{Managed, PythonEnv};

/// Makes it where it is missing; nothing else in the tests may touch the network.
pub fn managed_env() -> PythonEnv {
    static ENV: OnceLock<PythonEnv> = OnceLock::new();
    ENV.get_or_init(|| {
        Managed::at(&data_dir())
            .make(&mut |_| {})
            .unwrap_or_else(|e| panic!("the tests need the managed environment: {e}"))
    })
    .clone()
}

/// `target/tmp/data-home/countersign`, from `target/<profile>/deps/<test>`: the same that the
/// integration tests use.
pub fn data_dir() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    exe.ancestors()
        .nth(3)
        .unwrap()
        .join("tmp/data-home/countersign")
}

/// A program of these lines. Another process writes it: what this one writes to, a process that some
/// other thread is just starting may hold open for a moment longer, and is not executed then
/// (ETXTBSY).
pub fn executable(path: &Path, text: &str) {
    let made = Command::new("sh")
        .args([
            "-c",
            "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\"",
            "sh",
            text,
        ])
        .arg(path)
        .status()
        .unwrap();
    assert!(made.success(), "{}", path.display());
}
