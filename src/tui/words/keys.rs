//! What is said of a key that did nothing.

use crate::model::alike;

use super::super::claim;

/// Columns of what was typed in a message, and how many names are near it.
const TYPED: usize = 24;
const NEAREST: usize = 3;

/// The keys of text fields, which no key map changes.
pub const FIELD: &str = "text field";
pub const FIELD_KEYS: &str =
    "Enter sends, Esc goes back, Ctrl-u clears it, Ctrl-w takes the last word";
pub const REST_OF_PASTE: &str = "what was pasted behind Enter was left out";
pub const NOT_QUIT: &str = "not quit";
pub const AT_TOP: &str = "at the top";
pub const AT_END: &str = "at the end";
pub const AT_LEFT_EDGE: &str = "at the left edge";
pub const AT_RIGHT_EDGE: &str = "nothing more to the right";
pub const NOT_SIDEWAYS: &str = "this pane does not scroll sideways";
pub const NO_OPEN_GROUP: &str = "no open group here to close";
pub const NO_CLOSED_GROUP: &str = "no closed group here to open";
pub const NOTHING_CONDENSED: &str = "nothing here is condensed";
pub const MOST_URGENT: &str = "the next waiting one is selected";
pub const ONLY_MATCH: &str = "no other match";
/// The end of a diff, which counts nothing as seen.
pub fn end_of_diff(back: &str, grant: &str) -> String {
    format!("{AT_END}: {back} goes back to the code, {grant} asks to grant it")
}

/// The key that pages the code came before the rows on the screen counted.
pub const PAGE_WAITS: &str = "not counted yet; goes on in a moment";

/// The same key again, or held down.
pub fn not_counted(key: &str) -> String {
    format!("not counted yet; wait a moment, then {key}")
}

/// A search went on from the other end.
pub const fn turned(backwards: bool) -> &'static str {
    match backwards {
        true => "from the end again",
        false => "from the top again",
    }
}

/// `key` would deny outside the sheet. `back`: the way there.
pub fn types_a_digit(key: &str, back: &str) -> String {
    format!("{key} is a character here; {back}, then {key} denies")
}

pub const PART_SHOWN: &str = "this part is shown already";
pub const HERE_ALREADY: &str = "this screen is open";
pub const FULL: &str = "the field is full";
pub const NO_OTHER_REASON: &str = "no other reason";
pub const NO_DIGIT_YET: &str = "no character to take back";
pub const TOO_MANY_DIGITS: &str = "too many characters: Backspace takes one back";
/// Before the rows of a sheet that were not seen.
pub const NOT_YET: &str = "not yet";
pub const EARLY: &str = "too early";
pub const EARLY_DIGIT: &str = "too early: type this character again";
pub const OUTSIDE_SHEET: &str = "outside the sheet";
pub const OUTSIDE_HELP: &str = "outside the help";
pub const OUTSIDE_DIFF: &str = "outside the diff";
pub const OUTSIDE_PICKER: &str = "outside the list of themes";
pub const OUTSIDE_RECORD: &str = "outside the record";
pub const IN_QUEUE: &str = "in the queue";
pub const ON_LOG: &str = "on the audit log";
pub const ON_PAGE: &str = "on the page of a proposal";

/// Commands of the shell that people look for here.
const IN_SHELL: [(&str, &str); 17] = [
    ("verify", "countersign audit verify"),
    ("repair", "countersign audit repair"),
    ("prune", "countersign audit prune"),
    ("prove", "countersign audit prove ID"),
    ("export", "countersign audit export"),
    ("playback", "countersign audit playback ID"),
    ("stats", "countersign audit stats"),
    ("list", "countersign audit list"),
    ("show", "countersign audit show ID"),
    ("submit", "countersign submit FILE"),
    ("check", "countersign check FILE"),
    ("status", "countersign status"),
    ("setup", "countersign setup"),
    ("doctor", "countersign doctor"),
    ("policy", "countersign policy show"),
    ("replicate", "countersign replicate FILE"),
    ("man", "countersign man"),
];

/// A key that the key map does not have.
pub fn no_key(key: &str, help: &str) -> String {
    format!("no key {key} here; {help} lists them")
}

/// The same while something covers the screen.
pub fn no_key_over(key: &str, back: &str) -> String {
    format!("no key {key} here; {back} goes back")
}

/// The first of two keys.
/// `whole`: what begins with the key, and what it does.
pub fn begins(key: &str, whole: &[(String, &str)]) -> String {
    let each = whole.iter().map(|(keys, name)| format!("{keys} ({name})"));
    let each = each.collect::<Vec<_>>().join(" or ");
    format!("{key} waits for a second key: {each}")
}

/// `a (grant) works in the queue: press 1 first`.
pub fn elsewhere(key: &str, name: &str, place: &str, steps: &str) -> String {
    format!("{key} ({name}) works {place}: press {steps} first")
}

pub fn confirms(key: &str, steps: &str) -> String {
    format!("{key} confirms on the sheet: press {steps} first")
}

/// `Enter` on a sheet that takes a key.
pub fn no_grant(key: &str, confirm: &str, back: &str) -> String {
    format!("{key} does not grant: {confirm} does, {back} goes back")
}

/// A character that is none of a sheet's digits.
pub fn no_digit(key: &str, first: bool) -> String {
    match first {
        true => format!("{key} is not taken: the first one is 0–9"),
        false => format!("{key} is not taken: only 0–9 and a–f, then Enter"),
    }
}

/// In a question whose answer is typed ahead by mistake.
pub fn again(key: &str) -> String {
    format!("too early: press {key} again")
}

pub fn not_in_question(key: &str, confirm: &str) -> String {
    format!("{key} answers nothing here: {confirm}, Tab or Esc")
}

pub fn not_in_field(key: &str) -> String {
    format!("{key} does nothing in this field")
}

pub fn scrolls_unwrapped(key: &str, wrap: &str) -> String {
    format!("{key} scrolls with wrapping off: press {wrap} first")
}

pub fn opens_agents(key: &str, pane: &str) -> String {
    format!("{key} opens an agent's first proposal: press {pane} first")
}

pub fn nothing_open(quit: &str) -> String {
    format!("nothing is open; {quit} quits")
}

pub fn nothing_to_do(key: &str, name: &str) -> String {
    format!("{key} ({name}) has nothing to do here")
}

/// `left`, `right`: the keys that scroll then.
pub fn wrapping(on: bool, left: &str, right: &str) -> String {
    match on {
        true => "long lines wrap".to_owned(),
        false => format!("long lines are cut; {left} and {right} scroll them"),
    }
}

/// What was typed after `:` and only has letters of this command in it.
pub fn enter_again(typed: &str, name: &str) -> String {
    match typed.trim() {
        "" => format!("Enter again: {name}"),
        typed => {
            let shown = claim::named(typed, TYPED);
            format!("no command {shown}; Enter again: {name}")
        }
    }
}

/// What was typed after `:` and is no command. `names`: those that there are.
pub fn no_command(typed: &str, names: &[&str]) -> String {
    let typed = typed.trim();
    let words: Vec<&str> = typed.split_whitespace().collect();
    let in_shell = IN_SHELL.iter().find(|(name, _)| {
        words
            .last()
            .is_some_and(|last| last.eq_ignore_ascii_case(name))
    });
    let shown = claim::named(typed, TYPED);
    match in_shell {
        Some((_, command)) => format!("in a shell: {command}"),
        None => {
            let nearest = alike(typed, names, NEAREST).join(", ");
            format!("no command {shown}; nearest: {nearest}")
        }
    }
}

/// A text field's keys, shorter and shorter: the last ones are left out first.
pub fn shorter_keys(keys: &str) -> Vec<String> {
    let short = keys.replace("goes back", "back");
    let ends = short.match_indices("  ").map(|(end, _)| end);
    let ends: Vec<usize> = ends.chain([short.len()]).collect();
    let less = ends.iter().rev().map(|end| short[..*end].to_owned());
    [keys.to_owned()].into_iter().chain(less).collect()
}
