//! What is said of secrets before a grant.

use super::super::document::{Held, Place, Whose};
use super::{at_lines, count, number};

/// The label of their row.
pub const SECRETS: &str = "secrets";
/// While a long text is searched for them.
pub const SEARCHING: &str = "searching for secrets";
pub const SEARCHED_FIRST: &str = "a grant must wait: searching for secrets";
/// Behind the number of a line that has one, in plain lines.
pub const HAS_SECRET: &str = ", secret";

/// In the heading of the code, of those below it.
pub fn secrets_here(held: &Held) -> String {
    match held.ranges.len() {
        0 => String::new(),
        here => format!("  {}, marked", count(here, "secret")),
    }
}

/// `2 in this code (1 environment, 1 github-token; lines 3, 9), 1 in the input `s` (1 jwt; line 1): …`. `few`: the most
/// lines of a text that are named.
pub fn secrets(held: &Held, few: usize) -> String {
    let places: Vec<String> = held.places.iter().map(|one| place(one, few)).collect();
    let mut kinds = held.places.iter().flat_map(|place| place.kinds.keys());
    let first = kinds.next().map_or("", String::as_str);
    let kind = if kinds.all(|kind| kind == first) {
        first
    } else {
        "kind"
    };
    format!("{}: the log will have [REDACTED:{kind}]", places.join(", "))
}

fn place(place: &Place, few: usize) -> String {
    let all: u64 = place.kinds.values().sum();
    let kinds = place.kinds.iter();
    let kinds = kinds.map(|(kind, n)| format!("{} {kind}", number(*n)));
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    let whose = match &place.whose {
        Whose::Code => "in this code".to_owned(),
        Whose::Input(name) => format!("in the input `{name}`"),
        Whose::Agent => "in what the agent says".to_owned(),
    };
    let lines: Vec<u32> = place.lines.iter().copied().collect();
    let lines = match lines.is_empty() {
        true => String::new(),
        false => format!("; {}", at_lines(&lines, few)),
    };
    format!("{} {whose} ({kinds}{lines})", number(all))
}
