//! The sentences of the dashboard in plain lines. They are ASCII and have no signs that only an eye can read.

mod fields;
mod reading;

use std::time::Duration;

use crate::broker::LogDoubt;
use crate::broker::poll::Own;
use crate::model::{Imitation, Letter};

use super::super::keys::Command;
use super::{count, number};
pub use fields::*;
pub use reading::*;

/// A line with a file name that looks like another.
pub const LOOKALIKE: &str = ", look-alike name";
/// The word for the sign of a warning.
pub const WARNING: &str = "warning: ";
pub const NO_FINDINGS: &str = "no findings";
pub const TOLD: &str = "private values WILL BE TOLD to the agent";
pub const NOTHING_DRAWN: &str = "not in plain lines: nothing is drawn that this could change";
pub const END_OF_CODE: &str = "End of the code.";
pub const TOP: &str = "Top.";
pub const OUTPUT: &str = "OUTPUT";
pub const BEGINS_LATER: &str = "earlier output is not kept for reading";
pub const WENT_ON: &str = "Back. What was read out before may have scrolled away.";
pub const PYTHON_READY: &str = "The Python environment is ready.";
pub const LOG_CHECKING: &str =
    "The log is still read: what it says of earlier proposals is not known yet.";
pub fn no_grants(doubt: &LogDoubt) -> String {
    format!("▲ NO GRANTS:{}", super::no_grants(doubt))
}
pub const PYTHON_MADE: &str = "The Python environment is being made; grants wait.";
pub const WAIT: &str = "Wait for the question: its key does not count yet.";
pub const NOT_SENT: &str = "nothing is sent; Enter and Esc go back.";
/// The field was cleared.
pub const EMPTY_FIELD: &str = "empty";
/// After the last decision.
pub const NOTHING_WAITS: &str = "Nothing waits any more.";
const STAYS: &str = "This one stays selected";
pub const COMMAND: &str = "Command, by its letters, or a word to be explained: Enter does it, Up and Down choose, Esc goes back.";
pub const AGAIN: &str = "Again:";
/// A line that differs from the code that was read last.
pub const UNLIKE: &str = ", differs";
pub const READING_LOG: &str = "The log is being read.";

/// How many proposals a folded group has beside the one that is told.
pub fn folded(rest: usize, key: &str) -> String {
    format!(
        "and {} alike folded under it, {key} unfolds",
        number(rest as u64)
    )
}

/// The first lines. `keys`: help, list, read.
pub fn greeting(help: &str, list: &str, read: &str) -> String {
    format!(
        "countersign in plain lines. {help} lists the keys, {list} the proposals, {read} reads out."
    )
}

/// `read`: the key that reads it out.
pub fn code(read: &str) -> String {
    format!("CODE. {read} reads it out.")
}

/// That its policy asks for votes, or that the person's own is in.
pub const fn asks_for_votes(own: &Own) -> &'static str {
    match own {
        Own::Sent(_) | Own::Counted(_) => "your vote is in",
        Own::Open | Own::Signing(_) | Own::Failed(_) => "takes signed votes",
    }
}

/// The first of two keys. `each`: what both do.
pub fn begins(each: &[(String, Command)]) -> String {
    let each: Vec<String> = each
        .iter()
        .map(|(chord, does)| format!("{chord} goes {}", command(*does)))
        .collect();
    format!("a second key belongs to this one: {}", each.join("; "))
}

/// What a command does where nothing is drawn.
pub const fn command(command: Command) -> &'static str {
    match command {
        Command::PageCode => {
            "read on: what the proposal touches, then its code; rows that were not seen"
        }
        Command::NextPane => {
            "read out the next pane: CODE, OUTPUT, OUTCOME, FINDINGS, CAN, GIVEN, DETAILS, SAYS, PAST"
        }
        Command::PreviousPane => "read out the previous pane",
        Command::Open => {
            "go into the code, line by line; there, open what is condensed; never grants"
        }
        Command::Redraw => "say again what was read last",
        Command::Queue => "list what waits, and tell the news",
        other => other.words(),
    }
}

/// `Cyrillic o, U+043E`, `capital I`: a letter by its name.
fn letter(of: &Letter) -> String {
    let looks = match of.looks.as_str() {
        "" => "letter".to_owned(),
        one if one.len() == 1 && one.chars().all(|c| c.is_ascii_digit()) => format!("digit {one}"),
        one if one.len() == 1 && one.chars().all(|c| c.is_ascii_uppercase()) => {
            format!("capital {one}")
        }
        one if of.c.is_ascii() && one.chars().all(|c| c.is_ascii_lowercase()) => {
            format!("small {one}")
        }
        other => other.to_owned(),
    };
    match of.c.is_ascii_alphanumeric() {
        true => looks,
        false if of.script.is_empty() => format!("{looks}, U+{:04X}", of.c as u32),
        false => format!("{} {looks}, U+{:04X}", of.script, of.c as u32),
    }
}

/// `"scope" with Cyrillic o, U+043E, at letter 3`.
pub fn imitation(of: &Imitation) -> String {
    let letters = of.letters.iter();
    let letters: Vec<String> = letters
        .map(|l| format!("{}, at letter {}", letter(l), l.at))
        .collect();
    format!("\"{}\" with {}", of.word, letters.join(", and "))
}

/// Where two names that look alike differ. `name` and `other` are exact.
pub fn looks_like(name: &str, other: &str, differ: Option<&[(Letter, Letter)]>) -> String {
    let said = match differ {
        None => "other letters, and not as many".to_owned(),
        Some(all) => {
            let each = all.iter().map(|(a, b)| {
                format!(
                    "{} where the other has {}, at letter {}",
                    letter(a),
                    letter(b),
                    a.at
                )
            });
            each.collect::<Vec<_>>().join(", and ")
        }
    };
    format!("\"{name}\" looks like \"{other}\" and has {said}")
}

/// `+2` among the words as it is said, `and 2 more`: the drawn screen has less room.
pub fn and_more(words: &str) -> String {
    let each = words.split(' ').map(|word| match is_more(word) {
        true => format!("and {} more", &word[1..]),
        false => word.to_owned(),
    });
    each.collect::<Vec<_>>().join(" ")
}

/// Whether this is `+2`.
fn is_more(word: &str) -> bool {
    let digits = word.strip_prefix('+').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// `1/7` as it is said: `1 of 7,`.
pub fn of(notice: &str) -> String {
    let (first, rest) = notice.split_once(' ').unwrap_or((notice, ""));
    let place = first.split_once('/').filter(|(at, of)| {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        digits(at) && digits(of)
    });
    match place {
        Some((at, of)) => format!("{at} of {of}, {rest}"),
        None => notice.to_owned(),
    }
}

/// A key that goes no further. `down`: where it goes.
pub const fn edge(down: bool) -> &'static str {
    match down {
        true => "last row: ",
        false => "first row: ",
    }
}

/// An edit was judged. `proposed`: it is the code that was proposed.
pub const fn edit_judged(proposed: bool) -> &'static str {
    match proposed {
        true => "The code is again as it was proposed.",
        false => "Your edit is judged:",
    }
}

/// What can be done with an edit. `keys`: read, diff, grant, deny, edit.
pub fn after_edit(grantable: bool, keys: [&str; 5]) -> String {
    let [read, diff, grant, deny, edit] = keys;
    match grantable {
        true => format!(
            "{read} reads all of it anew, {diff} what you changed; then {grant} asks to grant."
        ),
        false => format!(
            "So it cannot be granted: {edit} edits it again, {diff} reads what you changed, {deny} denies."
        ),
    }
}

/// `line`: the proposal. `urgent`: it came by a denial.
pub fn selected_now(line: &str, urgent: bool) -> String {
    match urgent {
        true => format!("selected now, the next waiting one: {line}"),
        false => format!("selected now: {line}"),
    }
}

/// Behind a refusal: what blocks.
pub fn blocked_by(findings: &[String]) -> String {
    match findings {
        [] => String::new(),
        all => format!(": {}", all.join(", ")),
    }
}

/// The heading of OUTPUT. `from`: the first row that follows, counted from 1, and how many there are of all.
/// `first`: the key that goes to the first.
pub fn output(from: usize, shown: usize, of: usize, first: &str) -> String {
    let of_all = number(of as u64);
    match (from, from + shown > of) {
        (0 | 1, _) => OUTPUT.to_owned(),
        (_, true) => format!(
            "{OUTPUT}, last {} of {of_all} rows; {first} reads from the first",
            number(shown as u64)
        ),
        (from, false) => format!(
            "{OUTPUT}, from row {} of {of_all}; {first} reads from the first",
            number(from as u64)
        ),
    }
}

/// An entry of the glossary.
pub fn means(word: &str, meaning: &str) -> String {
    format!("{word} means: {meaning}")
}

/// `words`: what the filter wants. `soon`: the time left of a hidden one.
pub fn filter(words: &str, shown: usize, all: usize, soon: Option<Duration>) -> String {
    let shown = match shown {
        0 => "none".to_owned(),
        n => number(n as u64),
    };
    let soon = soon.map_or_else(String::new, |left| {
        format!(", {WARNING}one that it hides has {} left", time(left))
    });
    format!(
        "filter \"{words}\": {shown} of {}{soon}",
        number(all as u64)
    )
}

pub fn shows_all(key: &str) -> String {
    format!("{key} shows all again")
}

/// `29 minutes`, `1 hour 5 minutes`, `42 seconds`.
pub fn time(left: Duration) -> String {
    let s = left.as_secs();
    let n = |n: u64, what: &str| count(n as usize, what);
    match s {
        0..120 => n(s, "second"),
        120..7200 => n(s / 60, "minute"),
        _ => format!("{} {}", n(s / 3600, "hour"), n(s / 60 % 60, "minute")),
    }
}

pub fn left(left: Duration) -> String {
    format!("{} left", time(left))
}

/// Before the last minute of the selected proposal is over.
pub fn last_minute(left: Duration, whose: &str) -> String {
    format!(
        "Only {} left for the selected proposal, {whose}",
        time(left)
    )
}

/// The end of what has rows. `back`: the key that leaves it.
pub fn end(name: &str, rows: usize, back: &str) -> String {
    format!("End of {name}, {}; {back} goes back.", count(rows, "row"))
}

pub fn more(key: &str, at: usize, of: usize, what: &str) -> String {
    format!(
        "More: {key}. {what} {} of {}.",
        number(at as u64),
        number(of as u64)
    )
}

/// News that wait until the person pauses.
pub fn waits(news: usize, key: &str) -> String {
    match news {
        1 => format!("1 piece of news waits, {key} tells it."),
        more => format!("{more} pieces of news wait, {key} tells them."),
    }
}

/// `down`, `up`: the keys that go through all of them.
pub fn more_proposals(more: usize, decided: usize, down: &str, up: &str) -> String {
    let which = match (more, decided) {
        (more, 0) => format!("{} more", number(more as u64)),
        (0, decided) => format!("{} decided", number(decided as u64)),
        (more, decided) => format!(
            "{} more and {} decided",
            number(more as u64),
            number(decided as u64)
        ),
    };
    format!("and {which}; {down} and {up} go through them")
}

/// The first row of a finding.
pub fn finding(f: &crate::model::Finding) -> String {
    format!(
        "line {} column {}, {} {}, {}, {}",
        f.line,
        f.column,
        f.rule,
        f.name,
        f.severity,
        f.action.as_str()
    )
}

/// The rows that come before the code, by how they begin.
pub const BEFORE: &str = "READS, WRITES, RETURNS, NEW, verdict, given and kernel";

/// What an agent did since the dashboard was opened, and the fullest of its quotas.
pub fn agent_counts(wait: usize, decided: [u64; 3], per_minute: f64, quota: &str) -> String {
    let [granted, denied, blocked] = decided.map(number);
    let wait = match wait {
        1 => "1 waits".to_owned(),
        n => format!("{} wait", number(n as u64)),
    };
    format!(
        "{wait}, in this session {granted} granted, {denied} denied, {blocked} blocked, {per_minute:.1} proposals a minute, {quota} of its quota used"
    )
}

/// The heading of the agents. `next`: the key that goes to the policies.
pub fn agents(next: &str) -> String {
    format!("{}, {next} goes to {}", super::AGENTS, super::POLICIES)
}

/// In place of facts that were heard. `rows`: the names of their rows. `key`: tells them again.
pub fn as_before(rows: &str, facts: &str, key: &str) -> String {
    format!("{rows} as read before: {facts}; {key} tells all of it again")
}

/// The beginning of the digest of everything. `key`: tells the rest.
pub fn in_one(digest: &str, key: &str) -> String {
    let (name, hex) = digest.split_once(':').unwrap_or(("", digest));
    let groups: Vec<&str> = (0..4).filter_map(|i| hex.get(4 * i..4 * i + 4)).collect();
    format!(
        "{name} {} and so on, {key} tells all of it",
        groups.join(" ")
    )
}

/// Follows the rows that are not seen and come next: how many there are of all.
pub fn in_all(rows: usize) -> String {
    match rows {
        0 | 1 => ".".to_owned(),
        more => format!("; {} rows not seen in all.", number(more as u64)),
    }
}

/// Rows of the sheet that were left out while it was read. `key` goes there.
pub fn sheet_left_out(first: usize, last: usize, key: &str) -> String {
    let rows = rows(first, last);
    format!("{rows} of this sheet not seen; {key} goes there. The question comes after that.")
}

fn rows(first: usize, last: usize) -> String {
    match first >= last {
        true => format!("row {}", number(last as u64)),
        false => format!("rows {} to {}", number(first as u64), number(last as u64)),
    }
}

/// Private data: nothing of it is shown.
pub fn all_masked(columns: usize) -> String {
    format!("{}, of {}", super::MASKED, count(columns, "column"))
}

/// Text of a run in which values are replaced, with their number: each as one short word. `None` if there is one at
/// most, or if the word could be the run's.
pub fn hidden(text: &str) -> Option<(usize, String)> {
    const WORD: &str = "hidden";
    let values = text.matches(super::REDACTED).count();
    let plain = values > 1 && !text.contains(WORD);
    plain.then(|| (values, text.replace(super::REDACTED, WORD)))
}

/// Before the text of [`hidden`].
pub fn hides(values: usize) -> String {
    format!("{} hidden", number(values as u64))
}

pub fn next(waiting: usize, key: &str) -> String {
    match waiting {
        0 => format!("{NOTHING_WAITS} {STAYS}."),
        1 => format!("1 more waits; {key} goes to it. {STAYS}."),
        more => format!(
            "{} more wait; {key} goes to the next waiting one. {STAYS}.",
            number(more as u64)
        ),
    }
}

/// `grants`: what the key does.
pub fn press(key: &str, grants: &str, back: &str) -> String {
    format!("Press {key} {grants}; {back} goes back and decides nothing.")
}

pub fn type_digits(digits: &str, grants: &str, back: &str) -> String {
    let apart: Vec<String> = digits.chars().map(String::from).collect();
    format!(
        "Type {digits}, that is {}, then Enter, {grants}; {back} goes back and decides nothing.",
        apart.join(" ")
    )
}

/// The digits were right, and are to be confirmed once more.
pub fn enter_again(digits: &str, back: &str) -> String {
    format!("{digits} stays typed; Enter again grants; {back} goes back and decides nothing.")
}

/// When it was decided, by whom, after how long, for how long it was looked at, and how long the run took; empty where
/// there is none.
pub fn settled([at, by, after, looked, ran]: [String; 5]) -> String {
    if at.is_empty() {
        return String::new();
    }
    let (what, by) = match by.is_empty() {
        true => ("ended", String::new()),
        false => ("decided", format!(" by {by}")),
    };
    let after = if after.is_empty() {
        after
    } else {
        format!(" after {after}")
    };
    let looked = if looked.is_empty() {
        looked
    } else {
        format!(", looked at for {looked}")
    };
    let ran = if ran.is_empty() {
        ran
    } else {
        format!(", ran {ran}")
    };
    format!(", {what} {at}{by}{after}{looked}{ran}")
}

pub fn too_narrow(columns: u16, fewest: u16) -> String {
    let narrow = super::reviewed::plain::too_narrow(columns, fewest);
    format!("{narrow} Nothing can be granted.")
}

/// How often a line was written over.
pub fn rewritten(times: usize) -> String {
    count(times, "earlier state")
}

pub fn not_said(lines: usize) -> String {
    format!("{} not read out; OUTPUT has them", count(lines, "line"))
}

pub fn redacted(values: usize) -> String {
    format!(
        "{} redacted: private data that few rows share",
        count(values, "value")
    )
}

pub fn new_proposals(count: usize, flagged: usize, key: &str) -> String {
    let flagged = match flagged {
        0 => String::new(),
        n => format!(", {} flagged", number(n as u64)),
    };
    format!(
        "{} new proposals{flagged}; {key} lists what waits.",
        number(count as u64)
    )
}

/// The beginning of a row that goes on after a break that took these blanks; a code or a claim cannot imitate it.
pub fn goes_on(blanks: usize) -> String {
    match blanks {
        0 => "..+ ".to_owned(),
        1 => ".. ".to_owned(),
        more => format!("..{more} blanks "),
    }
}

pub fn marked(characters: usize) -> String {
    format!(", {} marked", count(characters, "character"))
}

pub fn ends_blank(blanks: usize) -> String {
    format!(", ends with {}", count(blanks, "blank"))
}

/// How a line begins: blanks and tabs in their order.
pub fn indent(blanks: &str) -> String {
    let mut out = String::new();
    let mut rest = blanks;
    while let Some(first) = rest.chars().next() {
        let next = rest.trim_start_matches(first);
        let long = rest.len() - next.len();
        let before = if out.is_empty() { ", indent" } else { " and" };
        out.push_str(&match first {
            '\t' => format!("{before} {}", count(long, "tab")),
            _ => format!("{before} {long}"),
        });
        rest = next;
    }
    out
}

/// A sign of the screen in words; `None` if it speaks for itself.
pub const fn sign(c: char) -> Option<&'static str> {
    Some(match c {
        '▲' => WARNING,
        '·' => ",",
        '×' => "by",
        '÷' => "divided by",
        '≈' => "about",
        '–' => " to ",
        '—' => "-",
        '…' | '⋯' => "...",
        '↑' => "Up",
        '↓' => "Down",
        '→' => "Right",
        '│' => ";",
        '█' => "masked",
        '≠' | '←' | '◇' | '■' | '●' | '○' | '△' | '▷' | '►' | '▸' | '▹' | '▾' | '✓' | '✗' | '⊘'
        | '⧗' | '▮' | '▯' | '━' | '─' | '┊' | '↳' => "",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_spoken_in_the_unit_that_matters() {
        let s = Duration::from_secs;
        assert_eq!(time(s(1)), "1 second");
        assert_eq!(time(s(119)), "119 seconds");
        assert_eq!(time(s(120)), "2 minutes");
        assert_eq!(time(s(7_260)), "2 hours 1 minute");
    }
}
