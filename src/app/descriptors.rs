//! The limit on open files must suffice for the configured bounds: each connection, each run and
//! the log use descriptors.

use crate::config::Config;
use crate::error::Failure;
use crate::ipc::Bounds;
use crate::runtime::{open_files, raise_open_files};

/// Files that the dashboard opens besides connections: about 30 when idle, 10 for each of four
/// zygotes, 7 for each run, and a few briefly for the log and for reading environments.
const OWN: u64 = 256;

/// How many agents may connect, as the configuration says.
pub fn bounds(config: &Config) -> Bounds {
    Bounds::of(usize::try_from(config.socket.max_connections).unwrap_or(usize::MAX))
}

/// The largest number of files that the dashboard may need to open.
pub fn needed(bounds: &Bounds) -> u64 {
    bounds.connections as u64 + OWN
}

/// If the limit is too low: the limit and the number needed, and how to raise it.
pub fn lacking(bounds: &Bounds) -> Option<(String, String)> {
    let (_, most) = open_files();
    (most < needed(bounds)).then(|| {
        let what = format!(
            "{most} open files at most, and {} are needed: {} connections of agents ({} of one user) and {OWN} of \
             the dashboard's own",
            needed(bounds),
            bounds.connections,
            bounds.connections_per_uid
        );
        let remedy = format!(
            "raise the hard limit to {} or more (`ulimit -Hn`, LimitNOFILE= of a service, --ulimit nofile= of a \
             container)",
            needed(bounds)
        );
        (what, remedy)
    })
}

/// Raises the limit as far as possible, and checks that it suffices.
///
/// # Errors
/// When the hard limit is too low for the bounds.
pub fn make_room(bounds: &Bounds) -> Result<(), Failure> {
    if let Some((what, remedy)) = lacking(bounds) {
        return Err(Failure::general(format!(
            "the limit of open files is too low: {what}; {remedy}"
        )));
    }
    raise_open_files()
        .map_err(|e| Failure::general(format!("the limit of open files cannot be raised: {e}")))
}
