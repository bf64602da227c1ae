//! A missing capability of the machine is reported, and fails a test that requires it. This binary
//! simulates such a machine.

use std::process::Command;

use crate::given::{ALL, OF_A_USER, PASSED_OVER, VARIABLE, is_given, is_given_to_root};

/// Set only in the process that the next test starts.
const LACKS: &str = "CS_TEST_LACKS_ALL";

#[test]
fn a_test_that_lacks_a_tool() {
    if std::env::var_os(LACKS).is_some() {
        assert!(!is_given(false, "such tool"));
    }
}

#[test]
fn a_test_that_lacks_root() {
    if std::env::var_os(LACKS).is_some() {
        assert!(!is_given_to_root(false, "root"));
    }
}

#[test]
fn a_missing_capability_is_reported_or_fails_where_it_is_required() {
    let run = |name: &str, demanded: Option<&str>| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", &format!("executor::tests::missing::{name}")]);
        command.env(LACKS, "1").env_remove(VARIABLE);
        command.envs(demanded.map(|value| (VARIABLE, value)));
        let output = command.output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stdout.contains("running 1 test"), "{stdout}");
        (output.status.success(), stderr, stdout)
    };
    let cases = [
        ("a_test_that_lacks_a_tool", "such tool", &[None][..]),
        ("a_test_that_lacks_root", "root", &[None, Some(OF_A_USER)]),
    ];
    for (name, what, passes) in cases {
        for demanded in [None, Some(OF_A_USER), Some(ALL), Some("kernel")] {
            let (passed, stderr, stdout) = run(name, demanded);
            assert_eq!(passed, passes.contains(&demanded), "{demanded:?}: {stdout}");
            match passed {
                true => assert_eq!(stderr, format!("{PASSED_OVER}{what}\n")),
                false => assert!(stdout.contains(VARIABLE), "{demanded:?}: {stdout}"),
            }
        }
    }
}
