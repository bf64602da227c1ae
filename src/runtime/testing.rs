//! The managed environment for the tests of this crate, made once and kept between runs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::{Managed, PythonEnv};

/// Makes the environment if it is missing; nothing else in the tests may use the network.
pub fn managed_env() -> PythonEnv {
    static ENV: OnceLock<PythonEnv> = OnceLock::new();
    ENV.get_or_init(|| {
        Managed::at(&data_dir())
            .make(&mut |_| {})
            .unwrap_or_else(|e| panic!("the tests need the managed environment: {e}"))
    })
    .clone()
}

/// `target/tmp/data-home/countersign`, derived from `target/<profile>/deps/<test>`; the integration
/// tests use the same folder.
pub fn data_dir() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    exe.ancestors()
        .nth(3)
        .unwrap()
        .join("tmp/data-home/countersign")
}

/// Makes a program with this text. Another process writes it: a file that this process has open for
/// writing may still be open in a child that another thread is starting, and then it cannot be
/// executed (ETXTBSY).
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
