//! The page of a proposal in plain lines.

use super::super::diff::Diff;
use super::super::plain::{SaidRow, exact};
use super::spoken::claimed;
use super::spoken_rows::{Head, cuts, line_of_code, spoken_rows};

/// A sentence, behind its label.
pub(in crate::tui) fn sentence(label: &str, text: &str) -> String {
    match label.is_empty() {
        true => claimed(text),
        false => format!("{}: {}", claimed(label), claimed(text)),
    }
}

/// A line of code, in one row or more.
pub(in crate::tui) fn code(number: usize, text: &str, found: bool) -> Vec<String> {
    let tags = if found { ", finding" } else { "" };
    let row = |(first, part, _): (bool, &str, bool)| {
        let head = Head {
            first,
            tags,
            ..Head::default()
        };
        line_of_code(number, head, part)
    };
    cuts(text).into_iter().map(row).collect()
}

/// A line of another text.
pub(in crate::tui) fn line(whose: &str, number: usize, text: &str) -> Vec<String> {
    let row = |(_, part, _): (bool, &str, bool)| format!("{whose}line {number}: {}", exact(part).0);
    cuts(text).into_iter().map(row).collect()
}

pub(in crate::tui) fn diff(diff: &Diff) -> Vec<SaidRow> {
    spoken_rows(diff)
}
