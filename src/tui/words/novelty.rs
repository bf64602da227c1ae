//! What was granted, denied or blocked before, compared with what is asked now.

use std::sync::Arc;

use crate::model::{Other, visible};

use super::number;

pub const NEW_UNREAD: &str = "the log is still read: not known yet";
pub const DIFF_UNREAD: &str = "the log is still read: no earlier code yet to compare with";
pub const NO_DIFF: &str = "nothing like it was granted yet: no code to compare with";
pub const NO_LINE_END: &str = "no line end";
pub const SAME_CODE: &str = "The code is the same, byte for byte.";
pub const THIS_CODE: &str = "this code";
pub const NEVER_GRANTED: &str = "never granted before";
/// The same of nearly every proposal.
pub const NEVER: &str = "never granted";
pub const FIRST_OF_AGENT: &str = "nothing of this agent was granted before";
/// Behind a title that was.
pub const CODE_NEVER_GRANTED: &str = "this code never was";
pub const CODE_DENIED: &str = "this code was ";
pub const TITLE_DENIED: &str = "other code of this title was ";
pub const ALIKE_DENIED: &str = "one of the same shape was ";
pub const FIRST_TIME: &str = "first time that ";
pub const READS: &str = " reads ";
/// The same where the agent's name stands nearby.
pub const FIRST_READ: &str = "first read of ";
/// Behind a diff's heading.
pub const OTHER_DATA: &str = "  ▲ granted for other data";

/// Behind an agent's name, before the data sets of a proposal that was denied.
pub const fn was_denied(data_sets: usize) -> &'static str {
    match data_sets {
        0 | 1 => " was denied ",
        _ => " was denied one that had ",
    }
}

/// They can be another program's.
fn names(data: &[Arc<str>]) -> String {
    let names = data.iter().map(|name| visible(name).to_string());
    names.collect::<Vec<_>>().join(", ")
}

/// Behind a denial: the data sets that it was about.
pub fn denied_for(data: &[Arc<str>]) -> String {
    let names = names(data);
    match data.is_empty() {
        true => " without data".to_owned(),
        false => format!(" for {names}"),
    }
}

/// The same code was granted, but for other data.
pub fn other_data(data: &[Arc<str>]) -> String {
    let names = names(data);
    match data.is_empty() {
        true => "the same code was granted without data, not for this".to_owned(),
        false => format!("the same code was granted for {names}, not for this data"),
    }
}

/// `last`: the time of the last grant, if it is remembered.
pub fn same_code(times: u32, last: Option<&str>) -> String {
    let last = |before: &str| last.map_or_else(String::new, |last| format!(", {before}{last}"));
    match times {
        1 => format!("the same code was granted once{}", last("")),
        more => format!(
            "the same code was granted {} times{}",
            number(more.into()),
            last("last ")
        ),
    }
}

/// `differs`: see [`differs`].
pub fn same_code_but(when: &str, differs: &str) -> String {
    format!("the same code was granted {when}, but {differs}")
}

/// What differs from an earlier proposal besides the code. Empty if nothing does.
pub fn differs(others: &[Other], profile: &str, data: &[Arc<str>]) -> String {
    let each = others.iter().map(|other| match other {
        Other::Profile => format!("under {}", visible(profile)),
        Other::Policy => "under another policy".to_owned(),
        Other::DataSets => "for other data sets".to_owned(),
        Other::Contents => format!("{} was other data", names(data)),
        Other::Brought => "other inputs".to_owned(),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// `compare`: a key.
pub fn same_title(when: &str, compare: &str) -> String {
    format!("same title granted {when}: {compare} shows what changed")
}

/// `what`: what differs.
pub fn same_shape(last: Option<&str>, what: &str) -> String {
    let at = last.map_or_else(String::new, |last| format!(" at {last}"));
    format!("same shape as one granted{at}, other {what}")
}

/// Follows an agent's name.
pub fn agent_granted(granted: u32, decided: u32, blocked: u32) -> String {
    let said = match decided {
        0 => ": nothing decided yet".to_owned(),
        _ => format!(
            ": {} of {} granted",
            number(granted.into()),
            number(decided.into())
        ),
    };
    match blocked {
        0 => said,
        _ => format!("{said}, {} blocked", number(blocked.into())),
    }
}

/// Before what a host says of its own log.
pub fn at_host(host: &str) -> String {
    format!("at {host}: ")
}

/// Of a host that is older than these words.
pub fn says_nothing_new(host: &str) -> String {
    format!("{host} does not say what is new")
}

pub fn not_known_at(host: &str) -> String {
    format!("at {host}: {NEW_UNREAD}")
}

pub fn no_diff_from(host: &str) -> String {
    format!("{host} does not say what it granted before: no code to compare with")
}

pub fn diff_unread_at(host: &str) -> String {
    format!("at {host}: {DIFF_UNREAD}")
}

pub fn no_diff_at(host: &str) -> String {
    format!("at {host}: {NO_DIFF}")
}

pub fn diff_not_sent(host: &str, when: &str, code: &str) -> String {
    format!("{host} did not send the code granted {when} ({code})")
}
