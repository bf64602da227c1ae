//! The managed Python environment, made once for all tests through `countersign setup`. That
//! command takes its own lock: the first test makes the environment, the others wait.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Once, OnceLock};

use countersign::runtime::{Managed, PythonEnv};

/// Used as `XDG_DATA_HOME`; kept between runs of the suite.
pub fn data_home() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("data-home")
}

/// Makes the environment unless it exists.
pub fn ready() {
    static READY: Once = Once::new();
    READY.call_once(|| {
        std::fs::create_dir_all(data_home()).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_countersign"))
            .arg("setup")
            .env("XDG_DATA_HOME", data_home())
            .env_remove("COUNTERSIGN_PYTHON")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "countersign setup failed: {error}");
    });
}

/// The environment itself, for tests that need no command.
pub fn managed_env() -> PythonEnv {
    static ENV: OnceLock<PythonEnv> = OnceLock::new();
    ENV.get_or_init(|| {
        Managed::at(&data_home().join("countersign"))
            .make(&mut |_| {})
            .unwrap_or_else(|e| panic!("the tests need the managed environment: {e}"))
    })
    .clone()
}
