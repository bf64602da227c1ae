//! The page of one proposal of the log.

use super::{count, number};
use crate::model::grouped;

pub const PROPOSAL: &str = "PROPOSAL";
pub const RECORD: &str = "RECORD";

pub const REPLAY: &str = "REPLAY";
pub const PLAYING: &str = "playing";
pub const PAUSED: &str = "paused";
pub const OVER: &str = "over";
pub const CUT: &str = ", waits cut to 1 s";
pub const UNTIMED: &str = ", the log has no times";
pub const NOTHING_TO_PLAY: &str = "the log has no output of it that could be played";

pub const TIMELINE: &str = "TIMELINE";
pub const CODE: &str = "CODE";
pub const VERDICT: &str = "VERDICT";
pub const DIFF: &str = "DIFF";
pub const INPUTS: &str = "INPUTS";
pub const ISOLATION: &str = "ISOLATION";
pub const OUTPUT: &str = "OUTPUT";
pub const FILES: &str = "FILES";
pub const RECORDS: &str = "RECORDS AND CONTENTS";

pub const NOT_ASKED: &str = "The record in which it was proposed is not in the log.";
pub const AS_PROPOSED: &str = "as the agent proposed it";
pub const AS_EDITED: &str = "as a person edited it";
/// The log has the code without them, under the digest of what it has.
pub const WITHOUT_SECRETS: &str = " but for its secrets, which are not kept";
pub const NO_FINDING: &str = "no rule matched";
pub const NOT_EDITED: &str = "Nobody edited the code.";
pub const NOTHING_GIVEN: &str = "It was given no data.";
pub const NOT_KEPT: &str = "data set of the host: the log has its digest, not its content";
pub const NOT_STARTED: &str = "Nothing of it was started.";
pub const PRINTED_NOTHING: &str = "It printed nothing.";
pub const NO_RUN: &str = "It did not run.";
pub const LEFT_NOTHING: &str = "It left no file.";
pub const NOT_THERE: &str = "not there";
pub const NOT_HERE: &str = "not shown: ";
pub const NO_DIFF: &str = "There is nothing to compare: one of the codes is not in the log.";

/// A text that is longer than the page shows. `id`: of the proposal.
pub fn more_lines(lines: usize, id: &str) -> String {
    let lines = count(lines, "more line");
    format!("{lines}: `countersign audit show {id}` prints them all")
}

/// After a record, when the one before it was earlier by this.
pub fn later(time: &str) -> String {
    format!("+{time}")
}

/// The clock was set back between two records.
pub const CLOCK_BACK: &str = "clock back";

pub fn consistent(records: usize, contents: usize) -> String {
    format!(
        "{} and {} that they name are as they were written: consistent here.",
        count(records, "record"),
        count(contents, "content")
    )
}
pub const NO_ANCHOR: &str = "No checkpoint of this log is at hand: not anchored.";
/// `signed`: how many records the latest checkpoint signs.
pub fn anchored(signed: u64) -> String {
    let through = number(signed);
    format!(
        "The latest checkpoint is through seq {through}; `countersign audit verify` compares it with the whole log."
    )
}
pub const BAD_HERE: &str = "Of these records or contents: ";
pub const BAD_ELSEWHERE: &str = "The log is damaged elsewhere; these records stand before that: ";

pub fn of_a_later_version(records: u64) -> String {
    let records = count(usize::try_from(records).unwrap_or(usize::MAX), "record");
    format!("{records} of a later version of the program are not shown")
}

pub fn bytes(bytes: u64) -> String {
    format!("{} bytes", grouped(bytes))
}

pub fn rows(rows: u64) -> String {
    format!("{} rows", number(rows))
}

/// What a layer of isolation closes.
pub fn closes(layer: &str) -> Option<&'static str> {
    let name = layer.split_once(':').filter(|(name, _)| *name != "rlimits");
    Some(match name.map_or(layer, |(name, _)| name) {
        "uid" => "other users' files and processes: it runs under a uid of its own",
        "userns" => "the host's users and their rights",
        "pidns" => "other processes: it neither sees nor signals them",
        "netns" => "the network: no interface, no host of it",
        "ipcns" => "shared memory and queues of others",
        "utsns" => "the host's name",
        "cgroupns" => "the host's tree of control groups",
        "root" => "the host's files: a root of its own",
        "proc" => "the host's /proc",
        "view" => "every file that the run does not need",
        "nocaps" => "every capability of root",
        "bounding" => "ways to gain capabilities",
        "no_new_privs" => "set-user-id programs",
        "landlock" => "files and sockets outside its folders, by the kernel",
        "seccomp" => "system calls that a snippet does not need",
        "cgroup" => "memory and processes beyond the limit, for all of the run together",
        "environment" => "the host's environment variables",
        "descriptors" => "files that the dashboard has open",
        "lifeline" | "pdeathsig" => "a life beyond the dashboard's",
        "rlimits:cpu" => "processor time beyond the limit",
        "rlimits:memory" => "memory beyond the limit",
        "rlimits:files" => "more open files than the limit",
        "rlimits:size" => "larger files than the limit",
        "rlimits:processes" => "more processes than the limit",
        "rlimits:core" => "core dumps",
        "rlimits:memlock" => "locked memory",
        "rlimits:msgqueue" => "message queues",
        "rlimits:signals" => "queued signals",
        _ => return None,
    })
}

/// The layers whose lack the page tells.
pub const LAYERS: [&str; 10] = [
    "userns",
    "pidns",
    "netns",
    "ipcns",
    "root",
    "nocaps",
    "no_new_privs",
    "landlock",
    "seccomp",
    "cgroup",
];
