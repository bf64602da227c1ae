//! The log: what is wrong with it, and screen 2 with its rows and the question that selects them.

pub mod sums;

use crate::broker::LogDoubt;

use super::number;

pub const NO_GRANTS: &str = " LOG: NO GRANTS ";
pub const NO_GRANTS_ALARM: &str = " ■ NO GRANTS ";

pub fn no_grants(doubt: &LogDoubt) -> String {
    match doubt {
        LogDoubt::Unreadable(why) => format!(" cannot read the log, tries again: {why}"),
        LogDoubt::Contradicted(why) => format!(" the log is not the one that was signed: {why}"),
    }
}

/// The question that was typed cannot be read; the reason stands above the field.
/// In place of the time of a decision.
pub const WAITS: &str = "waits";
pub const NO_QUERY: &str = "not a query yet";
pub const NOTHING_BEGINS_SO: &str = "nothing begins so";
pub const QUERY: &str = "query";
pub const QUERY_KEYS: &str = "Enter asks  Tab completes  Esc goes back";
/// Above what can stand at the cursor.
pub const CAN_STAND: &str = "WHAT CAN STAND HERE";
pub const WORDS_STAND: &str =
    "a word of the code, the title or the agent's reason can stand here too";
pub const NOT_A_QUERY: &str = "NOT A QUERY";
/// No row is what the question asks for. `all`: how many there are. `back`: the key that leaves the question.
pub fn none_such(all: usize, back: &str) -> String {
    match all {
        1 => format!("The only proposal does not match; {back} lists it."),
        all => format!(
            "None of {} proposals match; {back} lists all.",
            super::number(all as u64)
        ),
    }
}
/// Of `kind:removed`.
pub const REMOVED_NOTHING: &str = "REMOVED: nothing, as far as the log says.";
pub const NO_SUCH_RECORD: &str = "The log has no such record.";
pub const NO_QUERY_ANY_MORE: &str = "all proposals again";

/// In which zone the times of a screen are.
pub fn times_in(zone: &str) -> String {
    format!("times {zone}")
}

pub fn of_query(query: &str) -> String {
    format!("  query: {query}")
}

/// Those that there is no room for.
pub fn more_offers(more: &[&str]) -> String {
    format!("and {}", more.join(" "))
}

/// What `Tab` can put there, as it is said.
pub fn one_of<'t>(all: impl Iterator<Item = &'t str>) -> String {
    let all: Vec<&str> = all.collect();
    format!("{} begin so: {}", number(all.len() as u64), all.join(" "))
}

/// `next`: the key; `asks`: the one that asks a question.
pub fn no_next(next: &str, asks: &str) -> String {
    format!("{next} goes through matches in the queue; here {asks} asks for rows")
}

pub const NOT_CHECKED: &str = "the newest rows, not checked yet";
/// Until the answer is there.
pub fn reading_log(bytes: u64) -> String {
    let mb = number(bytes / 1_000_000);
    format!("reading all of the log ({mb} MB): the newest rows, not checked yet")
}

/// While a page is read. `back`: the key that leaves it.
pub fn opens(back: &str) -> String {
    format!("reading the page …  {back} stops it")
}
pub const OPENING: &str = "reading a page …";
pub const NOT_OPENED: &str = "the page is not opened";

/// For a log without known problems, as long as `width` allows. `anchored`: the records that a checkpoint signs; `from`:
/// the first one that was written under its key.
pub fn consistent(anchored: u64, from: u64, width: usize) -> String {
    let forms = match anchored {
        0 => [
            "consistent here; not anchored: a cut end cannot be excluded",
            "consistent here; not anchored",
            "not anchored",
        ]
        .map(str::to_owned),
        seq if from > seq => {
            let through = format!("signed through seq {}, by a key that is newer", number(seq));
            let short = format!("signed: {}", number(seq));
            [format!("consistent here; {through}"), through, short]
        }
        seq if from > 1 => {
            let through = format!("anchored from seq {} through {}", number(from), number(seq));
            let short = format!("anchored: {}-{}", number(from), number(seq));
            [format!("consistent here; {through}"), through, short]
        }
        seq => {
            let through = format!("anchored through seq {}", number(seq));
            let short = format!("anchored: {}", number(seq));
            [format!("consistent here; {through}"), through, short]
        }
    };
    let fits = |form: &String| super::super::text::width(form) <= width;
    forms.into_iter().find(fits).unwrap_or_default()
}
