//! The page of one proposal of the log.

pub use super::times_in;
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
pub const EDITED: &str = "What a person edited:";
pub const NO_EARLIER: &str =
    "The log has no earlier grant of this agent under this title to compare with.";
pub const WAITS: &str = "It waits for a decision, as far as the log says.";
pub const STARTS: &str = "It is granted and about to start, as far as the log says.";
pub const RUNS: &str = "It runs, as far as the log says.";
pub const NOT_ENDED: &str = "It has not ended, so the log has nothing of this yet.";
pub const NO_DIGEST: &str = "the record has no digest of it";
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

/// `at`, `id`: of the earlier grant.
pub fn same_as_earlier(at: &str, id: &str) -> String {
    format!("The same code was granted to this agent under this title before, on {at} ({id}).")
}

pub fn against_earlier(at: &str, id: &str) -> String {
    format!("Against what was granted to this agent under this title before, on {at} ({id}):")
}

pub fn earlier_not_here(at: &str, id: &str) -> String {
    format!(
        "This agent had a grant under this title before, on {at} ({id}): one of the codes is not in the log."
    )
}

/// Of a file: `id` is the proposal's.
pub fn more_of_file(lines: usize, id: &str) -> String {
    format!("{}: {}", count(lines, "more line"), writes_it(id))
}

pub fn long_file(id: &str) -> String {
    format!("too long for a page: {}", writes_it(id))
}

pub fn no_text(id: &str) -> String {
    format!("no text: {}", writes_it(id))
}

fn writes_it(id: &str) -> String {
    format!("`countersign audit show {id} --out DIR` writes it")
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

/// What a layer of isolation closes. The names are those that `child::outside` reads, and nothing else is in a record.
pub fn closes(layer: &str) -> Option<&'static str> {
    let name = layer.split_once(':').map_or(layer, |(name, _)| name);
    Some(match name {
        "uid" => {
            "files and processes of the dashboard's user: a uid of its own, in no further group"
        }
        "userns" => "the host's users and their rights",
        "pidns" => "other processes: it neither sees nor signals them",
        "netns" => "the network: no interface, no host of it",
        "ipcns" => "shared memory and queues of others",
        "utsns" => "the host's name: it has another",
        "mntns" => "the host's mounts: it has its own and cannot change them",
        "cgroupns" => "the host's tree of control groups",
        "root" => {
            "the host's files: a root of its own, of the interpreter and its libraries, read only"
        }
        "proc" => "the host's /proc: it has its own processes in one of its own",
        "nocaps" => "every capability of root",
        "bounding" => "ways to gain capabilities",
        "no_new_privs" => {
            "rights that a program on disk would bring: set-user-id and file capabilities"
        }
        "landlock" => {
            "files outside of what it is given, by the kernel once more; TCP from version 4 on, signals and abstract sockets from 6"
        }
        "seccomp" => "system calls that a snippet does not need",
        "noexec" => "every other program: none can be started, not even the interpreter again",
        "cgroup" => "memory and processes beyond the limit, for all of the run together",
        "rlimits" => {
            "more than the limits of processor time, memory, open files, file size and processes; core dumps, locked memory, message queues"
        }
        "environment" => "the host's environment variables",
        "descriptors" => "files that the dashboard has open",
        _ => return None,
    })
}

/// The layers whose lack the page tells: all that the tier `kernel` has, and what a machine may lack.
pub const LAYERS: [&str; 17] = [
    "userns",
    "pidns",
    "netns",
    "ipcns",
    "utsns",
    "mntns",
    "cgroupns",
    "root",
    "proc",
    "nocaps",
    "bounding",
    "no_new_privs",
    "landlock",
    "seccomp",
    "noexec",
    "cgroup",
    "rlimits",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::LAYERS as READ;

    #[test]
    fn every_layer_that_is_read_from_outside_has_words_and_no_other() {
        for layer in READ {
            assert!(closes(layer).is_some(), "{layer}");
        }
        assert!(closes("landlock:7").is_some());
        for layer in LAYERS {
            assert!(READ.contains(&layer), "{layer} is never read");
        }
        for never in ["view", "lifeline", "pdeathsig", "rlimits-cpu", "x"] {
            assert!(closes(never).is_none(), "{never}");
        }
    }
}
