//! What the queue says of rows that are hidden or folded.

use std::time::Duration;

use super::{count, countdown, number};

/// The row under the first proposal of a group. `left`: until one of the others expires.
pub fn group(count: usize, left: Duration) -> String {
    format!(
        "{} alike, numbers aside {}",
        number(count as u64),
        countdown(left)
    )
}

/// Behind it: its key.
pub fn turns_group(open: bool, key: &str) -> String {
    let turn = if open { "closes" } else { "opens" };
    format!(" {key} {turn}")
}

/// The same beside the folded queue's line.
pub fn more_alike(count: usize, short: bool) -> String {
    let count = number(count as u64);
    match short {
        true => format!("+{count}≈"),
        false => format!("+{count} alike"),
    }
}

/// In the heading of the code.
pub fn unlike(numbers: usize, lines: usize) -> String {
    format!(
        "  ≠ unlike the one read last: {} in {}",
        count(numbers, "number"),
        count(lines, "line")
    )
}

/// `12`, or `3 of 12` where a filter hides some.
pub fn of(shown: usize, all: usize) -> String {
    let n = |n: usize| number(n as u64);
    match shown == all {
        true => n(all),
        false => format!("{} of {}", n(shown), n(all)),
    }
}

/// The line of a filter: what is typed, how many rows it shows, and the time left of the first hidden one that expires
/// soon.
pub fn filter(words: &str, shown: usize, all: usize, soon: Option<Duration>) -> String {
    let n = |n: usize| number(n as u64);
    let hidden = n(all.saturating_sub(shown));
    let soon = soon.map_or_else(String::new, |left| {
        format!("▲ a hidden one has {} · ", countdown(left))
    });
    format!("{soon}{} of {}, {hidden} hidden: {words}", n(shown), n(all))
}
