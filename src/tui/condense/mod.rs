//! Long inputs that an agent brings: which stretches one row may stand for.
//!
//! A reviewer must see everything but a run of records that differ from those above in plain
//! values only. The rule, which README states for users:
//!
//! - Records are the lines of a csv, tsv or jsonl input and the elements of an array anywhere in
//!   JSON. The first [`HEAD`] and the last [`TAIL`] are always shown.
//! - Every byte of a condensed record that is not a value is the same as in a record shown above.
//! - A value is plain when it is a short ASCII number or date of its column's type and form, one
//!   of at most [`WORDS`] words of which each occurs at least [`OFTEN`] times in the column, or
//!   missing where at least a tenth of the column is missing. Everything else is shown.
//! - A run of at least [`RUN`] such records becomes one row that says how many they are, and of
//!   each column the least and the greatest value, or each word with its count.
//! - An input that two readers could cut into records in two ways is shown whole.
//!
//! What is condensed is found in the very bytes that a grant binds. The module is pure.

mod cells;
mod csv;
mod json;
mod table;

use std::ops::Range;

use crate::model::DataFormat;

use table::Table;

/// Records shown before anything is condensed.
const HEAD: usize = 8;
/// Records shown at the end.
const TAIL: usize = 3;
/// The fewest records that one row may stand for.
const RUN: usize = 24;
/// The most different words of a column that may be condensed.
const WORDS: usize = 8;
/// The most values that are looked at: the screen waits meanwhile. With more, all is shown.
const CELLS: usize = 250_000;
/// How often each of them must occur.
const OFTEN: usize = 10;

/// Bytes of an input that one row may stand for, and what that row says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    pub range: Range<usize>,
    pub summary: String,
}

/// What of an input may be condensed, in order and disjoint.
pub fn folds(text: &str, format: DataFormat) -> Vec<Fold> {
    let of = |table: Option<Table>| table.map_or_else(Vec::new, |t| t.folds(text));
    match format {
        DataFormat::Csv => of(csv::table(text, b',')),
        DataFormat::Tsv => of(csv::table(text, b'\t')),
        DataFormat::Json => json::folds(text),
        DataFormat::Jsonl => of(json::lines(text)),
        DataFormat::Parquet | DataFormat::Arrow | DataFormat::Text | DataFormat::Bytes => {
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests;
