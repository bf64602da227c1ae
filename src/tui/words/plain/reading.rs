//! What is said around rows that are read out: what a search found, what was read before, what comes next.

use super::super::super::keys::Command;
use super::super::super::ui::Searched;
use super::number;

/// Where a search looks.
pub const fn place(of: Searched) -> &'static str {
    match of {
        Searched::Code => "CODE",
        Searched::Output => "OUTPUT",
        Searched::Queue => "the proposals' titles and agents",
        Searched::Page => "the page",
        Searched::Nothing => "nothing",
    }
}

pub fn search(of: Searched) -> String {
    format!("search in {}: Enter searches, Esc goes back.", place(of))
}

/// A search found something. `words` are exact.
pub fn found(words: &str, of: Searched, hit: Option<(usize, usize)>) -> String {
    format!("found \"{words}\" in {}{}:", place(of), nth(hit))
}

/// `, 2 of 20`.
fn nth(hit: Option<(usize, usize)>) -> String {
    hit.map_or_else(String::new, |(which, all)| {
        format!(", {} of {}", number(which as u64), number(all as u64))
    })
}

/// Before a row of OUTPUT that a search goes to: which match, and which row of how many.
pub fn found_row(hit: Option<(usize, usize)>, row: usize, rows: usize) -> String {
    let which = hit.map_or_else(String::new, |(which, all)| {
        format!("match {} of {}, ", number(which as u64), number(all as u64))
    });
    let (row, rows) = (number(row as u64), number(rows as u64));
    format!("{which}row {row} of {rows}:")
}

/// Behind that row: the key that reads on.
pub fn reads_on(key: &str) -> String {
    format!("{key} reads on from here.")
}

/// A command of the palette, and the agent that it is about.
pub fn does(of: Command, what: &str, whom: Option<&str>) -> String {
    let whom = whom.map_or_else(String::new, |whom| format!("; the agent is {whom}"));
    format!("{}: {what}{whom}", of.name())
}

/// `does`: what [`does`] says.
pub fn enter_does(does: &str) -> String {
    format!("{does}. Enter again does it.")
}

/// After the run of a proposal, before its code is read again. `next`: the key of the next pane.
pub fn after_run(next: &str) -> String {
    format!("The run is over: {next} goes to its OUTPUT, then to its OUTCOME. The code again:")
}

/// `first`: the key that goes to the first row.
pub fn read_before(rows: usize, first: &str) -> String {
    let which = rows_up_to(rows);
    format!("{which} read before; {first} reads from the first.")
}

fn rows_up_to(rows: usize) -> String {
    match rows {
        1 => "Row 1 was".to_owned(),
        rows => format!("Rows 1 to {} were", number(rows as u64)),
    }
}

/// The same as [`may`] while rows still count only once they had their time.
pub fn may_then(grant: &str, deny: &str) -> String {
    format!("Once the rows were heard, {grant} asks to grant; {deny} denies.")
}

/// `keys`: grant, deny.
pub fn may(grant: &str, deny: &str) -> String {
    format!("{grant} asks to grant, {deny} denies.")
}
