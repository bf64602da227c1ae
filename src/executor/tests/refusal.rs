//! Runs that never start: code, data or a Python that is not the granted one.

use super::{TIER, begin, run_spec};
use crate::executor::tests::bench::run_spec as started_cold;
use crate::executor::tests::bench::*;
use crate::executor::{DatasetSource, bind};
use crate::model::{DataFormat, Limits, RunErrorKind, Tier};
use crate::policy::Policy;

fn policy_with_limits(change: impl FnOnce(&mut Limits)) -> Policy {
    let mut policy = raw_policy(TIER);
    change(&mut policy.limits);
    policy
}

#[test]
fn a_run_that_is_not_what_was_shown_never_starts() {
    if !available(TIER) {
        return;
    }
    let mut wrong = spec("print(1)", raw_policy(TIER));
    wrong.code = "print(2)".into();
    let outcome = run_spec(wrong);
    assert_eq!(
        outcome.failure(),
        "the code is not the code that was shown: its child was not made"
    );
    assert_eq!(outcome.notes.len(), 1);
}

/// The analyser checks before a person is asked; the child checks CPython's own tree again.
#[test]
fn syntax_that_the_policy_does_not_list_never_runs() {
    if !available(TIER) {
        return;
    }
    for (kind, code) in [
        ("NamedExpr", "print('ran')\nprint(x := 1)"),
        ("Starred", "print('ran')\nprint(*[1])"),
        ("AugAssign", "print('ran')\nx = 1\nx += 1"),
        ("match_case", "print('ran')\nmatch 1:\n    case 2: pass"),
        ("Await", "print('ran')\nasync def f():\n    await f()"),
        (
            "TryStar",
            "print('ran')\ntry: pass\nexcept* ValueError: pass",
        ),
    ] {
        let outcome = run_spec(spec(code, policy(TIER)));
        assert!(
            outcome.run().stdout.starts_with("ran"),
            "{kind}: {outcome:?}"
        );
        let mut without = policy(TIER);
        assert!(without.nodes.remove(kind), "{kind}");
        let outcome = run_spec(spec(code, without));
        let run = outcome.run();
        let error = run.error.clone().expect("the code is refused");
        assert_eq!(error.kind, RunErrorKind::PolicyViolation, "{kind}");
        assert_eq!(error.message, format!("{kind} is not allowed"));
        assert_eq!(run.stdout, "", "{kind}");
        assert_eq!(run.events.len(), 1, "{kind}: {:?}", run.events);
    }
    // The child does not accept `*` as a list. No slot ever waits for it.
    let mut all = policy(TIER);
    all.nodes = ["*".to_owned()].into();
    let outcome = started_cold(spec("print('ran')", all));
    let error = outcome.run().error.clone().expect("the code is refused");
    assert_eq!(error.kind, RunErrorKind::PolicyViolation);
    assert!(error.message.contains("Module is not allowed"), "{error:?}");
}

#[test]
fn a_data_set_that_changed_or_vanished_ends_the_run_before_it_starts() {
    if !available(TIER) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sales.csv");
    std::fs::write(&path, "a,b\n1,2\n").unwrap();
    let data: std::collections::BTreeMap<_, _> = [(
        "sales".to_owned(),
        DatasetSource {
            path: path.clone(),
            format: DataFormat::Csv,
            sensitivity: Default::default(),
        },
    )]
    .into();
    let request = serde_json::from_value(serde_json::json!({"df": {"dataset": "sales"}})).unwrap();
    let bound = bind(&request, &data).unwrap();
    std::fs::write(&path, "a,b\n1,3\n").unwrap();
    let outcome = begin(
        with_inputs("print(1)", policy(TIER), bound.clone()),
        data.clone(),
    )
    .finish();
    assert_eq!(
        outcome.failure(),
        "data set sales changed since it was shown"
    );
    std::fs::remove_file(&path).unwrap();
    let outcome = begin(with_inputs("print(1)", policy(TIER), bound), data).finish();
    assert_eq!(outcome.failure(), "data set sales cannot be read any more");
    assert_eq!(outcome.notes.len(), 1);
}

/// The usual environment with a changed interpreter.
fn with_python(
    change: impl FnOnce(&mut crate::runtime::PythonEnv),
) -> crate::executor::spec::RunSpec {
    in_changed("print(1)", change)
}

/// The same with a given snippet.
fn in_changed(
    code: &str,
    change: impl FnOnce(&mut crate::runtime::PythonEnv),
) -> crate::executor::spec::RunSpec {
    let mut spec = spec(code, raw_policy(TIER));
    let mut env = (*spec.env).clone();
    change(&mut env);
    spec.env = std::sync::Arc::new(env);
    spec
}

#[test]
fn an_unusable_python_is_refused_with_the_reason() {
    if !available(TIER) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path
    };
    let shim = write("python3", "#!/bin/sh\nexec python3 \"$@\"\n");
    let outcome = run_spec(with_python(|env| env.executable = shim));
    assert!(
        outcome.failure().contains("script"),
        "{}",
        outcome.failure()
    );

    let garbage = write("garbage", "\u{7f}ELFnot really");
    let outcome = run_spec(with_python(|env| env.executable = garbage));
    assert!(outcome.failure().contains("could not start"), "{outcome:?}");

    let outcome = run_spec(with_python(|env| {
        env.executable = "/nonexistent/python".into();
    }));
    assert!(outcome.failure().contains("cannot be read"), "{outcome:?}");

    // An environment whose libraries fail at import.
    write("numpy.py", "raise SystemError('broken')");
    let mut broken = in_changed("import numpy", |env| {
        env.sys_path.insert(0, folder.path().to_path_buf());
        env.distributions = vec![("numpy".to_owned(), "1".to_owned())];
    });
    broken.policy = std::sync::Arc::new(policy(TIER));
    let outcome = run_spec(broken);
    assert!(
        outcome.failure().contains("before it was ready"),
        "{outcome:?}"
    );

    // A program that is not Python.
    let outcome = run_spec(with_python(|env| env.executable = "/bin/true".into()));
    assert!(
        outcome.failure().contains("before it was ready"),
        "{outcome:?}"
    );
    for note in &outcome.notes {
        assert!(!format!("{note:?}").contains("/bin"), "{note:?}");
    }
}

#[test]
fn a_home_that_the_runs_user_may_not_enter_shows_what_is_needed_and_nothing_else() {
    if !available(TIER) {
        return;
    }
    use std::os::unix::fs::PermissionsExt;
    let root = nix::unistd::Uid::effective().is_root();
    if !is_given_to_root(root, "root, so no other user") {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    std::fs::set_permissions(home.path(), PermissionsExt::from_mode(0o700)).unwrap();
    std::fs::write(home.path().join("secret"), "s").unwrap();
    std::fs::create_dir_all(home.path().join("env/deep")).unwrap();
    std::fs::write(home.path().join("env/deep/mine.py"), "x = 42").unwrap();
    let deep = home.path().canonicalize().unwrap().join("env/deep");
    let mut spec = with_python(|env| env.sys_path.push(deep));
    let code = format!(
        "import mine, os\n\
         def tried(f):\n\
         \x20   try: return f()\n\
         \x20   except OSError as e: return type(e).__name__\n\
         print(mine.x, tried(lambda: os.listdir({0:?})), os.path.exists({0:?} + '/secret'),\n\
         tried(lambda: open({0:?} + '/env/deep/new', 'w')))",
        home.path().canonicalize().unwrap()
    );
    spec.digest = crate::model::Digest::of(code.as_bytes());
    spec.code = code.into();
    let outcome = run_spec(spec);
    let expected = match TIER {
        Tier::Process => "42 ['env'] False OSError\n",
        // Not even the parent folders may be listed.
        _ => "42 PermissionError False OSError\n",
    };
    assert_eq!(outcome.run().stdout, expected, "{outcome:?}");

    // No mount can open up files that are closed themselves.
    let closed = home.path().canonicalize().unwrap().join("env/closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o700)).unwrap();
    let outcome = run_spec(with_python(|env| env.sys_path.push(closed)));
    assert!(outcome.failure().contains("may not read"), "{outcome:?}");
}

#[test]
fn limits_too_small_for_python_are_reported_as_such() {
    if !available(TIER) {
        return;
    }
    let few = spec("print(1)", policy_with_limits(|l| l.open_files = 5));
    let outcome = started_cold(few);
    assert!(outcome.failure().contains("open files"), "{outcome:?}");
    let outcome = run_spec(spec("print(1)", policy_with_limits(|l| l.processes = 0)));
    assert_eq!(outcome.run().stdout, "1\n");
    // Libraries that take long to load; here one that computes.
    let slow = tempfile::tempdir().unwrap();
    std::fs::write(slow.path().join("numpy.py"), "while True: pass").unwrap();
    readable(slow.path());
    let mut policy = policy(TIER);
    policy.limits.cpu_s = 1;
    let mut spec = in_changed("import numpy", |env| {
        env.sys_path.insert(0, slow.path().canonicalize().unwrap());
        env.distributions = vec![("numpy".to_owned(), "1".to_owned())];
    });
    spec.policy = std::sync::Arc::new(policy);
    let outcome = started_cold(spec);
    let expected = "limit of 1 s of processor time is too small to start Python";
    assert!(outcome.failure().contains(expected), "{outcome:?}");
    assert_eq!(outcome.notes.len(), 1);
}

fn readable(folder: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn a_python_whose_library_is_not_among_its_paths_never_starts() {
    if !available(TIER) || TIER == Tier::Process {
        return;
    }
    // Only the interpreter itself is mounted in the jail.
    let outcome = run_spec(with_python(|env| {
        env.base_prefix = env.executable.clone();
        env.prefix = env.executable.clone();
        env.sys_path = Vec::new();
    }));
    assert!(
        outcome.failure().contains("before it was ready"),
        "{outcome:?}"
    );
    assert_eq!(outcome.notes.len(), 1);
}

/// Set in the process that the next test starts.
const NO_ROOM: &str = "CS_TEST_NO_ROOM";

#[test]
fn a_run_without_a_place_for_temporary_files() {
    if std::env::var_os(NO_ROOM).is_some() {
        let outcome = run_spec(spec("print(1)", raw_policy(TIER)));
        println!("\nfailed {}", outcome.failure());
    }
}

#[test]
fn a_temporary_folder_that_is_full_or_unusable_is_named_before_anything_runs() {
    use std::process::Command;
    let (_, path) = module_path!().split_once("::").unwrap();
    let test = format!("{path}::a_run_without_a_place_for_temporary_files");
    let me = std::env::current_exe().unwrap();
    let outcome = |command: &mut Command, want: &str| {
        let output = command
            .args([&test, "--exact", "--nocapture"])
            .env(NO_ROOM, "1")
            .output()
            .unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let failed = stdout.lines().find(|line| line.starts_with("failed "));
        assert!(failed.is_some_and(|line| line.contains(want)), "{stdout}");
    };
    outcome(
        Command::new(&me).env("TMPDIR", "/dev/null/none"),
        "cannot be used",
    );
    let root = nix::unistd::Uid::effective().is_root();
    if !is_given_to_root(root, "root, which alone can mount a full file system") {
        return;
    }
    // Room for two names: the root of the file system and the folder itself.
    let full = tempfile::tempdir().unwrap();
    let script =
        "mount -t tmpfs -o nr_inodes=2 none \"$TMPDIR\" && mkdir \"$TMPDIR/a\" && exec \"$@\"";
    outcome(
        Command::new("unshare")
            .args(["--mount", "sh", "-c", script, "sh"])
            .arg(&me)
            .env("TMPDIR", full.path()),
        "is full",
    );
}
