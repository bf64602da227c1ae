//! What the queue says of rows that are hidden or folded.

use std::time::Duration;

use super::super::text;
use super::super::theme::Role;
use super::super::ui::Differs;
use super::{count, countdown, number};

/// Lines that are all named where there is room.
pub const LINES: usize = 3;

type Spans = Vec<(String, Role)>;

/// Columns of a filter's words.
const FILTER: usize = 16;

/// The row under the first proposal of a group, with how they differ. `left`: until one of the others expires.
pub fn group(
    count: usize,
    differs: Option<&Differs>,
    left: Option<Duration>,
    most: usize,
) -> Spans {
    let alike = format!("{} alike", number(count as u64));
    let mut spans = match differs {
        Some(differs) => {
            let mut spans = vec![(format!("{alike}: "), Role::Dim)];
            spans.extend(differing(differs, most));
            spans
        }
        None => vec![(alike, Role::Dim)],
    };
    spans.extend(left.map(|left| (format!(" {}", countdown(left)), Role::Dim)));
    spans
}

/// `12, 13 … ▲ 100000`: the numbers in which codes differ, in at most so many; the one that is far from the others is
/// marked.
pub fn differing(differs: &Differs, most: usize) -> Spans {
    let last = differs.numbers.len().saturating_sub(1);
    let cut = differs.cut || last + 1 > most;
    let far = differs.far.map(|(at, _)| at);
    let mut spans = Vec::new();
    for (i, number) in differs.numbers.iter().enumerate() {
        if i != last && i + 1 >= most {
            continue;
        }
        let between = match i {
            0 => "",
            _ if i == last && cut => " … ",
            _ => ", ",
        };
        spans.push((between.to_owned(), Role::Dim));
        let is_far = far == Some(i);
        spans.extend(is_far.then(|| (FAR_MARK.to_owned(), Role::Flagged)));
        let role = if is_far { Role::Flagged } else { Role::Text };
        spans.push((number.clone(), role));
    }
    if differs.more > 0 {
        spans.push((
            format!(" and {} more", number(differs.more as u64)),
            Role::Dim,
        ));
    }
    spans
}

/// Before the number that is far from the others.
pub const FAR_MARK: &str = "▲ ";
/// Behind them: the one that is far is the selected one.
pub const FAR_HERE: &str = " ▲ is this one";

/// A group was opened or closed.
pub const fn turned_group(open: bool) -> &'static str {
    match open {
        true => "the group is open: each of the alike has a row",
        false => "the group is closed: the alike stand under the first",
    }
}

/// Behind it: its key.
pub fn turns_group(open: bool, key: &str) -> String {
    let turn = if open { "closes" } else { "opens" };
    format!("; {key} {turn}")
}

/// The same beside the folded queue's line. `far`: whether one of them has a number that is far from the others.
pub fn more_alike(count: usize, far: bool, short: bool) -> String {
    let count = number(count as u64);
    let mark = if far { "▲" } else { "" };
    match short {
        true => format!("+{count}≈{mark}"),
        false if far => format!("+{count} alike ▲"),
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

/// The line of a filter that shows nothing. `soon`: see [`filter`]. `clear`: the key that ends it, if it does now.
pub fn filter_none(
    words: &str,
    all: usize,
    soon: Option<Duration>,
    clear: Option<&str>,
    width: usize,
) -> String {
    let cut = text::cut(words.trim(), FILTER);
    let more = if cut.len() < words.trim().len() {
        "…"
    } else {
        ""
    };
    let words = format!("\"{}{more}\"", cut.replace('"', "\\\""));
    let short = match all {
        0 => format!("filter {words}: nothing waits"),
        1 => format!("filter {words} hides the only one"),
        all => format!("filter {words} hides all {}", number(all as u64)),
    };
    let short = format!("{}{short}", hidden(soon));
    let clears = clear.map_or_else(String::new, |key| format!("; {key} clears"));
    let long = format!("{short}{clears}");
    match text::width(&long) <= width {
        true => long,
        false => short,
    }
}

/// The time left of the first hidden one, if it expires soon.
fn hidden(soon: Option<Duration>) -> String {
    soon.map_or_else(String::new, |left| {
        format!("▲ a hidden one has {} · ", countdown(left))
    })
}

/// The line of a filter: what is typed, how many rows it shows, and the time left of the first hidden one that expires
/// soon.
/// The warning is whole in each form; the last that is tried is cut if it is too wide.
pub fn filter(
    words: &str,
    shown: usize,
    all: usize,
    soon: Option<Duration>,
    width: usize,
) -> String {
    let n = |n: usize| number(n as u64);
    let gone = n(all.saturating_sub(shown));
    let long = format!(
        "{}{} of {}, {gone} hidden: {words}",
        hidden(soon),
        n(shown),
        n(all)
    );
    let Some(left) = soon.map(countdown).filter(|_| text::width(&long) > width) else {
        return long;
    };
    let short = format!("▲ a hidden one has {left} · {gone} hidden: {words}");
    match text::width(&short) <= width {
        true => short,
        false => format!("▲ {gone} hidden, one has {left}: {words}"),
    }
}

/// The list of what leaves is then a coarse one.
pub fn lost(line: u32) -> String {
    format!("lost sight at line {line}: all that it reads may leave")
}

/// What leaves there is what the output has.
pub fn the_same(lines: &[u32]) -> String {
    format!("{}: the same", at_lines(lines, LINES))
}

/// `line 3`, `lines 12, 15`, `line 12 and 4 more`. `few`: the most that are all named.
pub fn at_lines(lines: &[u32], few: usize) -> String {
    let shown = match lines.len() <= few {
        true => lines.len(),
        false => few.saturating_sub(1).max(1),
    };
    let word = if shown == 1 { "line" } else { "lines" };
    let named: Vec<String> = lines.iter().take(shown).map(u32::to_string).collect();
    let more = match lines.len().saturating_sub(shown) {
        0 => String::new(),
        more => format!(" and {} more", number(more as u64)),
    };
    format!("{word} {}{more}", named.join(", "))
}
