//! Long inputs from an agent: the stretches that one summary row may replace.
//!
//! A reviewer must see everything except runs of records that differ from records above only in
//! plain values. The README states the rule for users:
//!
//! - Records are the lines of a CSV, TSV or JSON Lines input and the elements of any array in JSON.
//!   The first [`HEAD`] and the last [`TAIL`] are always shown.
//! - Every byte of a condensed record outside its values is the same as in a record shown above.
//! - A value is plain if it is a short ASCII number or date of its column's type and form, one of
//!   at most [`WORDS`] words that each occur at least [`OFTEN`] times in the column, or missing in
//!   a column with at least a tenth missing. Everything else is shown.
//! - A run of at least [`RUN`] such records becomes one row with their number and, for each column,
//!   the least and greatest value, or each word with its count.
//! - An input that two readers could split into records differently is shown whole.
//!
//! Folds are computed from the very bytes that a grant binds. The module is pure.

mod cells;
mod csv;
mod json;
mod table;

use std::ops::Range;

use crate::model::DataFormat;

use table::Table;

/// Records always shown at the start.
const HEAD: usize = 8;
/// Records always shown at the end.
const TAIL: usize = 3;
/// The fewest records that one row may replace.
const RUN: usize = 24;
/// The most distinct words in a column that may be condensed.
const WORDS: usize = 8;
/// The most values to examine, because the screen waits meanwhile. Larger inputs are shown whole.
const CELLS: usize = 250_000;
/// How often each condensed word must occur.
const OFTEN: usize = 10;

/// The bytes of an input that one row may replace, and that row's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    pub range: Range<usize>,
    pub summary: String,
}

/// The parts of an input that may be condensed, in order and disjoint.
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
