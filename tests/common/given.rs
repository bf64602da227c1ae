//! Features that a machine may lack: tests that need one are skipped with a message, or fail on a
//! machine that must have it.
//!
//! The variable does not begin with `COUNTERSIGN_`: the product refuses unknown variables with that
//! prefix, and tests pass their variables on to the dashboards that they start.

#![allow(dead_code)]

/// Says which features the machine must have: `all`, or `user` for all that an ordinary user can
/// use.
pub const VARIABLE: &str = "CS_TEST_TIERS";
/// The beginning of the line that a skipped test prints.
pub const PASSED_OVER: &str = "skipped: no ";
pub const ALL: &str = "all";
pub const OF_A_USER: &str = "user";

/// Whether a layer, a server or a tool is there. Without it the test prints `skipped: no …`, or
/// fails if the machine must have it.
#[track_caller]
pub fn is_given(is_there: bool, what: &str) -> bool {
    is_available(is_there, what, &[ALL, OF_A_USER])
}

/// As [`is_given`], for features that need root.
#[track_caller]
pub fn is_given_to_root(is_there: bool, what: &str) -> bool {
    is_available(is_there, what, &[ALL])
}

#[track_caller]
fn is_available(is_there: bool, what: &str, demanding: &[&str]) -> bool {
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

/// Prints directly to stderr: the harness hides the output of passing tests.
pub fn say(line: &str) {
    let line = format!("{line}\n");
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
}

/// Whether a tool is there that no machine must have: one of somebody else's, which only reads what we write.
pub fn is_handy(is_there: bool, what: &str) -> bool {
    if !is_there {
        say(&format!("{PASSED_OVER}{what}"));
    }
    is_there
}
