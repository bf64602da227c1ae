//! What a machine may lack: the tests that need it are passed over aloud, or fail where it has to be there.
//!
//! The suites' own variable, which the product would refuse: it knows all of its own, whose names begin with
//! `COUNTERSIGN_`, and tests hand their variables on to the dashboards that they start.

#![allow(dead_code)]

/// Says what the machine has to give: `all`, or all that an ordinary user can have of it.
pub const VARIABLE: &str = "CS_TEST_TIERS";
/// How the line of a test begins that was passed over.
pub const PASSED_OVER: &str = "skipped: no ";
pub const ALL: &str = "all";
pub const OF_A_USER: &str = "user";

/// A layer, a server or a tool is there. Without it the test says `skipped: no …`, unless every machine that
/// tests here has to have it.
#[track_caller]
pub fn is_given(is_there: bool, what: &str) -> bool {
    passed_over(is_there, what, &[ALL, OF_A_USER])
}

/// The same for what takes root.
#[track_caller]
pub fn is_given_to_root(is_there: bool, what: &str) -> bool {
    passed_over(is_there, what, &[ALL])
}

#[track_caller]
fn passed_over(is_there: bool, what: &str, demanding: &[&str]) -> bool {
    if is_there {
        return true;
    }
    let demanded = std::env::var_os(VARIABLE);
    if let Some(demanded) = demanded {
        let known = demanded == ALL || demanded == OF_A_USER;
        assert!(
            known,
            "{VARIABLE} is {demanded:?}: it is `{ALL}`, `{OF_A_USER}` or not set"
        );
        let refused = demanding.iter().any(|one| demanded == *one);
        assert!(
            !refused,
            "no {what}, and {VARIABLE} is {demanded:?}: `{OF_A_USER}` asks for what an ordinary user can have"
        );
    }
    say(&format!("{PASSED_OVER}{what}"));
    false
}

/// Past the harness, which shows nothing of a test that passes.
pub fn say(line: &str) {
    let line = format!("{line}\n");
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
}
