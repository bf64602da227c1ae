//! Room for everything that the bounds promise: each connection, each run and the log take descriptors.

use crate::error::Failure;
use crate::ipc::Bounds;
use crate::runtime::{open_files, raise_open_files};

/// What the dashboard has open beside connections: about 30 idle, 10 for each of four zygotes, 7 for each
/// run, and what the log and the reading of environments take for a moment.
const OWN: u64 = 256;

/// How many files the dashboard may have to have open.
pub fn needed() -> u64 {
    Bounds::default().connections as u64 + OWN
}

/// What is missing, in words: how many there may be, how many are needed, and what raises them.
pub fn lacking() -> Option<(String, String)> {
    let (_, most) = open_files();
    let bounds = Bounds::default();
    (most < needed()).then(|| {
        let what = format!(
            "{most} open files at most, and {} are needed: {} connections of agents ({} of one user) and {OWN} of \
             the dashboard's own",
            needed(),
            bounds.connections,
            bounds.connections_per_uid
        );
        let remedy = format!(
            "raise the hard limit to {} or more (`ulimit -Hn`, LimitNOFILE= of a service, --ulimit nofile= of a \
             container)",
            needed()
        );
        (what, remedy)
    })
}

/// Raises the limit as far as it goes, and makes sure that it suffices.
///
/// # Errors
/// When the hard limit is too low for what is promised.
pub fn make_room() -> Result<(), Failure> {
    if let Some((what, remedy)) = lacking() {
        return Err(Failure::general(format!(
            "the limit of open files is too low: {what}; {remedy}"
        )));
    }
    raise_open_files()
        .map_err(|e| Failure::general(format!("the limit of open files cannot be raised: {e}")))
}
