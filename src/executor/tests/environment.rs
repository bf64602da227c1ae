//! Runs in an environment whose files differ from the granted ones.

use std::path::PathBuf;
use std::sync::Arc;

use crate::broker::ExecNote;
use crate::executor::spec::RunSpec;
use crate::executor::tests::bench::*;
use crate::executor::warm::Pool;
use crate::model::Tier;
use crate::runtime::{Measured, PythonEnv};

/// An interpreter with one additional module.
struct OwnPython {
    folder: tempfile::TempDir,
}

impl OwnPython {
    fn new() -> Self {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let python = Self { folder };
        python.write("answer = 1\n");
        python
    }

    fn module(&self) -> PathBuf {
        self.folder.path().join("own_module.py")
    }

    /// Replaces the module by a file of the same name and size.
    fn write(&self, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        std::fs::write(self.module(), text).unwrap();
        std::fs::set_permissions(self.module(), PermissionsExt::from_mode(0o644)).unwrap();
    }

    fn measured(&self) -> Arc<Measured> {
        let mut env = PythonEnv::clone(&python());
        env.sys_path.insert(0, self.folder.path().to_path_buf());
        // The cache is beside the managed environment, so that most files are read once for all
        // tests.
        let cache = crate::runtime::testing::data_dir().join("environment-files");
        Arc::new(Measured::of(env, &cache, &mut |_| {}).unwrap())
    }

    fn run(&self, measured: &Arc<Measured>, tier: Tier) -> RunSpec {
        RunSpec {
            env: measured.env.clone(),
            measured: Some(measured.clone()),
            ..spec(
                "import own_module\nprint(own_module.answer)",
                raw_policy(tier),
            )
        }
    }
}

fn assert_refused(outcome: &Outcome) {
    let message = outcome.failure();
    assert!(message.contains("it changed meanwhile"), "{message}");
    // The agent learns of no file of this machine.
    assert!(
        !message.contains('/') && !message.contains("own_module"),
        "{message}"
    );
    let is_noted = outcome.notes.iter().any(|note| {
        matches!(note, ExecNote::Noted(events)
            if events.iter().any(|event| event.message.ends_with("own_module.py was changed")))
    });
    assert!(is_noted, "{outcome:?}");
    let released = |note: &ExecNote| matches!(note, ExecNote::Released | ExecNote::Output { .. });
    assert!(!outcome.notes.iter().any(released), "{outcome:?}");
    assert!(
        outcome
            .notes
            .iter()
            .any(|note| matches!(note, ExecNote::Prepared(_)))
    );
}

#[test]
fn a_run_of_a_changed_environment_is_not_released() {
    for tier in [Tier::Process, Tier::Kernel] {
        if !available(tier) {
            continue;
        }
        let python = OwnPython::new();
        let measured = python.measured();
        let outcome = run_spec(python.run(&measured, tier));
        assert_eq!(outcome.run().stdout, "1\n", "{outcome:?}");
        python.write("answer = 2\n");
        assert_refused(&run_spec(python.run(&measured, tier)));
        // A restored file still counts as changed.
        python.write("answer = 1\n");
        assert_refused(&run_spec(python.run(&measured, tier)));
        let again = python.measured();
        assert_eq!(again.env.digest, measured.env.digest);
        let outcome = run_spec(python.run(&again, tier));
        assert_eq!(outcome.run().stdout, "1\n", "{outcome:?}");
    }
}

#[test]
fn a_kill_does_not_wait_for_the_check_of_the_environment() {
    if !available(Tier::Kernel) {
        return;
    }
    let python = OwnPython::new();
    let live = begin(
        python.run(&python.measured(), Tier::Kernel),
        Default::default(),
    );
    while !matches!(live.next(), ExecNote::Prepared(_)) {}
    live.control.kill();
    live.control.release();
    let outcome = live.finish();
    assert!(
        !outcome
            .notes
            .iter()
            .any(|note| matches!(note, ExecNote::Released)),
        "{outcome:?}"
    );
}

#[test]
fn a_zygote_of_an_environment_that_changed_serves_nobody() {
    if !available(Tier::Kernel) {
        return;
    }
    let python = OwnPython::new();
    let measured = python.measured();
    let pool = Arc::new(Pool::new(exe()));
    let warm = |measured: &Arc<Measured>| {
        let spec = python.run(measured, Tier::Kernel);
        assert!(pool.await_slot(&spec), "no slot for the run");
        begin_in(Some(pool.clone()), spec, Default::default()).finish()
    };
    assert_eq!(warm(&measured).run().stdout, "1\n");
    python.write("answer = 2\n");
    assert_refused(&warm(&measured));
    pool.forget(measured.env.digest);
    assert!(pool.take(&python.run(&measured, Tier::Kernel)).is_none());
    assert_eq!(warm(&python.measured()).run().stdout, "2\n");
    // The same contents, read again: what was loaded in between is unknown.
    let again = python.measured();
    assert!(pool.take(&python.run(&again, Tier::Kernel)).is_none());
}
