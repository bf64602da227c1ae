//! What a machine lacks is said aloud, and refused where it has to be there: this binary, as one that lacks something.

use std::process::Command;

use crate::given::{ALL, OF_A_USER, PASSED_OVER, VARIABLE, is_given, is_given_to_root};

/// Only in the process that the next test starts.
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
fn what_is_missing_is_passed_over_aloud_or_fails_where_nothing_may_be_missing() {
    let run = |name: &str, demanded: Option<&str>| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", &format!("executor::tests::missing::{name}")]);
        command.env(LACKS, "1").env_remove(VARIABLE);
        command.envs(demanded.map(|value| (VARIABLE, value)));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let aloud = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("running 1 test"), "{said}");
        (output.status.success(), aloud, said)
    };
    let cases = [
        ("a_test_that_lacks_a_tool", "such tool", &[None][..]),
        ("a_test_that_lacks_root", "root", &[None, Some(OF_A_USER)]),
    ];
    for (name, what, passes) in cases {
        for demanded in [None, Some(OF_A_USER), Some(ALL), Some("kernel")] {
            let (passed, aloud, said) = run(name, demanded);
            assert_eq!(passed, passes.contains(&demanded), "{demanded:?}: {said}");
            match passed {
                true => assert_eq!(aloud, format!("{PASSED_OVER}{what}\n")),
                false => assert!(said.contains(VARIABLE), "{demanded:?}: {said}"),
            }
        }
    }
}
