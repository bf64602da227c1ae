//! A run of an environment whose files are others than those that were granted.

use std::path::PathBuf;
use std::sync::Arc;

use crate::broker::ExecNote;
use crate::executor::spec::RunSpec;
use crate::executor::tests::bench::*;
use crate::executor::warm::Pool;
use crate::model::Tier;
use crate::runtime::{Measured, PythonEnv};

/// An interpreter with one module of its own.
struct Own {
    folder: tempfile::TempDir,
}

impl Own {
    fn new() -> Self {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let own = Self { folder };
        own.write("answer = 1\n");
        own
    }

    fn module(&self) -> PathBuf {
        self.folder.path().join("own_module.py")
    }

    /// Another file of the same name and size.
    fn write(&self, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        std::fs::write(self.module(), text).unwrap();
        std::fs::set_permissions(self.module(), PermissionsExt::from_mode(0o644)).unwrap();
    }

    fn measured(&self) -> Arc<Measured> {
        let mut env = PythonEnv::clone(&python());
        env.sys_path.insert(0, self.folder.path().to_path_buf());
        // Beside the managed environment: most of it is read once for all tests.
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

fn is_refused(told: &Told) {
    let message = told.failure();
    assert!(message.contains("it changed meanwhile"), "{message}");
    // The agent hears of no file of this machine.
    assert!(
        !message.contains('/') && !message.contains("own_module"),
        "{message}"
    );
    let noted = told.notes.iter().any(|note| {
        matches!(note, ExecNote::Noted(events)
            if events.iter().any(|event| event.message.ends_with("own_module.py was changed")))
    });
    assert!(noted, "{told:?}");
    let released = |note: &ExecNote| matches!(note, ExecNote::Released | ExecNote::Output { .. });
    assert!(!told.notes.iter().any(released), "{told:?}");
    assert!(
        told.notes
            .iter()
            .any(|note| matches!(note, ExecNote::Prepared(_)))
    );
}

#[test]
fn a_run_of_an_environment_that_changed_is_not_let_go() {
    for tier in [Tier::Process, Tier::Kernel] {
        if !available(tier) {
            continue;
        }
        let own = Own::new();
        let measured = own.measured();
        let told = run_spec(own.run(&measured, tier));
        assert_eq!(told.run().stdout, "1\n", "{told:?}");
        own.write("answer = 2\n");
        is_refused(&run_spec(own.run(&measured, tier)));
        // Put back as it was, it was changed all the same.
        own.write("answer = 1\n");
        is_refused(&run_spec(own.run(&measured, tier)));
        let again = own.measured();
        assert_eq!(again.env.digest, measured.env.digest);
        let told = run_spec(own.run(&again, tier));
        assert_eq!(told.run().stdout, "1\n", "{told:?}");
    }
}

#[test]
fn a_kill_does_not_wait_for_the_look_at_the_environment() {
    if !available(Tier::Kernel) {
        return;
    }
    let own = Own::new();
    let live = begin(own.run(&own.measured(), Tier::Kernel), Default::default());
    while !matches!(live.next(), ExecNote::Prepared(_)) {}
    live.control.kill();
    live.control.release();
    let told = live.finish();
    assert!(
        !told
            .notes
            .iter()
            .any(|note| matches!(note, ExecNote::Released)),
        "{told:?}"
    );
}

#[test]
fn a_zygote_of_an_environment_that_changed_serves_nobody() {
    if !available(Tier::Kernel) {
        return;
    }
    let own = Own::new();
    let measured = own.measured();
    let pool = Arc::new(Pool::new(exe()));
    let warm = |measured: &Arc<Measured>| {
        let spec = own.run(measured, Tier::Kernel);
        assert!(pool.await_place(&spec), "no place for the run");
        begin_in(Some(pool.clone()), spec, Default::default()).finish()
    };
    assert_eq!(warm(&measured).run().stdout, "1\n");
    own.write("answer = 2\n");
    is_refused(&warm(&measured));
    pool.forget(measured.env.digest);
    assert!(pool.take(&own.run(&measured, Tier::Kernel)).is_none());
    assert_eq!(warm(&own.measured()).run().stdout, "2\n");
    // The very same contents, read another time: what was loaded in between is not known.
    let again = own.measured();
    assert!(pool.take(&own.run(&again, Tier::Kernel)).is_none());
}
