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
pub const EDITED: &str = "What a person edited:";
pub const NO_EARLIER: &str =
    "The log has no earlier grant of this agent under this title to compare with.";
pub const WAITS: &str = "It waits for a decision, as far as the log says.";
pub const STARTS: &str = "It is granted and about to start, as far as the log says.";
pub const RUNS: &str = "It runs, as far as the log says.";
pub const NOT_ENDED: &str = "It has not ended, so the log has nothing of this yet.";
pub const NO_DIGEST: &str = "the record has no digest of it";
pub const NOTHING_GIVEN: &str = "It was given no data.";

/// What a host elsewhere gives it: the names of data sets, and nothing of what its agent brought.
pub fn given_at_host(data: &[String]) -> String {
    match data {
        [] => "It uses no data set of its host. What its agent brought is in that host's log."
            .to_owned(),
        names => format!(
            "It uses {} of its host. What its agent brought is in that host's log.",
            super::super::text::plain(&names.join(", "))
        ),
    }
}
pub const NOT_KEPT: &str = "data set of the host: the log has its digest, not its content";
pub const NOT_STARTED: &str = "Nothing of it was started.";
pub const PRINTED_NOTHING: &str = "It printed nothing.";
/// Before the value that a run gave back.
pub const RETURNED: &str = "It returned, as JSON:";
pub const NO_RUN: &str = "It did not run.";
pub const LEFT_NOTHING: &str = "It left no file.";
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

/// In which zone the times of the page are.
pub fn all_times_in(zone: &str) -> String {
    format!("all times {zone}")
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

/// In one line: the tier, which layers held, and which were not there.
pub fn isolated(tier: &str, held: &[String], open: &[&str]) -> String {
    let held = match held.len() {
        0 => "no layer held".to_owned(),
        n => format!("{} held ({})", count(n, "layer"), held.join(", ")),
    };
    let open = match open.is_empty() {
        true => "nothing that is known here was open".to_owned(),
        false => format!("open: {}", open.join(", ")),
    };
    format!("Tier {tier}; {held}; {open}.")
}

/// Before what was open.
pub const OPEN: &str = "Not there; as far as no layer above forbids it too, the child";
pub const UNKNOWN_LAYER: &str = "a layer that this version does not know";

/// What the child could not do because of a layer, and what it could without. The names are those that `child::outside`
/// reads, and nothing else is in a record.
const CLOSED: [(&str, &str, &str); 20] = [
    (
        "uid",
        "could not touch files and processes of the dashboard's user: it had a uid of its own, in no further group",
        "had the uid of the dashboard's user",
    ),
    (
        "userns",
        "could not use the host's users and their rights: it had users of its own",
        "could see the host's users",
    ),
    (
        "pidns",
        "could neither see nor signal other processes",
        "could see the host's processes, and signal those of its own user",
    ),
    (
        "netns",
        "could not reach the network: it had no interface, and no host of it",
        "could reach the host's network",
    ),
    (
        "ipcns",
        "could not reach shared memory and queues of others",
        "could reach shared memory and queues of others",
    ),
    (
        "utsns",
        "could not see the host's name: it had another",
        "could see the host's name",
    ),
    (
        "mntns",
        "could not change the host's mounts: it had its own",
        "could see the host's mounts",
    ),
    (
        "cgroupns",
        "could not see the host's tree of control groups",
        "could see the host's tree of control groups",
    ),
    (
        "root",
        "could not see the host's files: it had a root of its own, of the interpreter and its libraries, read only",
        "could see the host's files, and use those that its user may",
    ),
    (
        "proc",
        "could not see the host's /proc: it had its own processes in one of its own",
        "could see the host's /proc",
    ),
    (
        "nocaps",
        "had no capability of root",
        "kept capabilities of root",
    ),
    (
        "bounding",
        "could not gain capabilities",
        "could gain capabilities from a program on disk",
    ),
    (
        "no_new_privs",
        "could not gain rights from a program on disk: no set-user-id, no file capabilities",
        "could gain rights from a program on disk: set-user-id, file capabilities",
    ),
    (
        "landlock",
        "could not reach files outside of what it was given, by the kernel once more; no TCP from version 4 on, no \
         signals and abstract sockets of others from 6",
        "was not kept from files outside of what it was given by the kernel's own rules",
    ),
    (
        "seccomp",
        "could not make system calls that a snippet does not need",
        "could make every system call",
    ),
    (
        "noexec",
        "could not start a program, not even the interpreter again",
        "could start other programs",
    ),
    (
        "cgroup",
        "could not use more memory and processes than the limit, for all of the run together",
        "had no limit of memory and processes for all of the run together",
    ),
    (
        "rlimits",
        "could not use more than the limits of processor time, memory, open files, file size and processes; no core \
         dumps, locked memory, message queues",
        "had no limits of processor time, memory, open files, file size and processes",
    ),
    (
        "environment",
        "could not see the host's environment variables",
        "could see the host's environment variables",
    ),
    (
        "descriptors",
        "could not use files that the dashboard has open",
        "could use files that the dashboard has open",
    ),
];

fn of_layer(layer: &str) -> Option<(&'static str, &'static str)> {
    let name = layer.split_once(':').map_or(layer, |(name, _)| name);
    let known = CLOSED.iter().find(|(known, ..)| *known == name);
    known.map(|(_, held, open)| (*held, *open))
}

/// What the child could not do because of this layer.
pub fn held(layer: &str) -> Option<&'static str> {
    of_layer(layer).map(|(held, _)| held)
}

/// What it could do without it.
pub fn open(layer: &str) -> Option<&'static str> {
    of_layer(layer).map(|(_, open)| open)
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
            assert!(held(layer).is_some(), "{layer}");
        }
        assert!(held("landlock:7").is_some());
        for layer in LAYERS {
            assert!(READ.contains(&layer), "{layer} is never read");
            assert!(
                open(layer).is_some_and(|open| Some(open) != held(layer)),
                "{layer}"
            );
        }
        for never in ["view", "lifeline", "pdeathsig", "rlimits-cpu", "x"] {
            assert!(held(never).is_none(), "{never}");
        }
    }
}
