//! Hides the cell values of private data sets in everything that goes back to an agent, by
//! replacing them with `[REDACTED]`.
//!
//! A value is hidden if it is in fewer than [`ROWS_MIN`] rows of its column. A sum, mean, median or
//! spread is hidden if it is over so few rows that share a value of one or two other columns. A
//! value shared by more rows is a category, and a number over them an aggregate. Only texts of at
//! least [`TEXT_MIN`] bytes and numbers of at least [`DIGITS_MIN`] significant digits are hidden:
//! shorter ones occur in too much other text. Values that a snippet encodes in its own way are not
//! recognised; the reviewer reads the code.
//!
//! A number in the output is compared as a whole: `129.77` is never `129` followed by something.
//! Only characters that may stand between two numbers split it: `,` and `_`, and `.` if it occurs
//! twice, which no number has. The guide lists the recognised spellings.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, BufReader, Read};

use jiff::civil::Date;

use super::dates::{LONGEST, date_at};
use super::numbers::{
    Run, digits, grouped, key, plain_number, points_of, readings, rounded, short,
};
use super::spellings::{cased, escaped, moments, pieces, unaccented};
use crate::executor::control::{Switch, Until, stopped};
use crate::model::ROWS_MIN;

const TEXT_MIN: usize = 4;
const DIGITS_MIN: usize = 4;
/// The least count since 1970 that is hidden as a date's: it has [`DIGITS_MIN`] digits.
const COUNT_MIN: f64 = 1000.0;
/// Bytes of a text that are compared at once; a longer text is compared in several pieces.
const TEXT_MAX: usize = 200;
/// Bytes of a number that are examined in any spelling, including what follows it.
const NUMBER_MAX: usize = 48;
/// Texts of at least this length are also found inside words.
const INSIDE: usize = 8;
/// A shorter text that begins or ends with a digit is not found within a longer row of digits:
/// `5 May 1985` is not in `15 May 1985`. Longer ones may be pieces of a text.
const WHOLE: usize = 20;
/// Letters of a currency's code (ISO 4217), behind which a number begins: `USD51234`.
const CURRENCY: u8 = 3;
/// Maximum of distinct values in one column; with more they cannot be hidden, and nothing runs.
const DISTINCT_MAX: usize = 1_000_000;

/// The same for all columns of a data set that is not csv or tsv.
const VALUES_MAX: usize = 16_000_000;

/// Pieces of long texts that are kept apart; those of further texts are not looked for.
const CUT_MAX: usize = 1_000_000;

pub use crate::model::REDACTED;

/// The values to hide. Made once per run.
#[derive(Debug, Default)]
pub struct Cells {
    /// Texts that are found in any case are here with small letters ([`folds`]).
    texts: HashSet<Box<[u8]>>,
    /// The lengths of the texts that start with these bytes in small letters, longest first.
    lengths: HashMap<[u8; TEXT_MIN], BTreeSet<std::cmp::Reverse<usize>>>,
    numbers: HashSet<u64>,
    /// The dates, which are found in any spelling.
    days: HashSet<Date>,
    longest: usize,
    /// Pieces of long texts among them.
    cut: usize,
}

impl Cells {
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.numbers.is_empty()
    }

    /// Number of bytes that must be seen together to recognise a value.
    pub fn reach(&self) -> usize {
        if self.is_empty() {
            0
        } else {
            self.longest.max(NUMBER_MAX) + 4
        }
    }

    /// Adds the values of a table with a header.
    ///
    /// # Errors
    /// The table cannot be read, has too many values to hide them all, or the run was killed
    /// meanwhile.
    pub fn add_table(
        &mut self,
        reader: impl Read,
        delimiter: u8,
        switch: &Switch,
    ) -> io::Result<()> {
        let odd = |e: csv::Error| io::Error::new(io::ErrorKind::InvalidData, e.to_string());
        let reader = Until {
            inner: reader,
            switch,
        };
        let mut table = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .from_reader(reader);
        let columns = table.headers().map_err(odd)?.len();
        let mut seen: Vec<HashMap<Box<str>, u32>> = vec![HashMap::new(); columns];
        let mut record = csv::StringRecord::new();
        while table.read_record(&mut record).map_err(odd)? {
            for (column, cell) in seen.iter_mut().zip(&record) {
                let known = column.len();
                match column.get_mut(cell) {
                    Some(rows) => *rows += 1,
                    None if known < DISTINCT_MAX => {
                        column.insert(cell.into(), 1);
                    }
                    None => {
                        return Err(io::Error::new(
                            io::ErrorKind::FileTooLarge,
                            format!("a column has more than {DISTINCT_MAX} different values"),
                        ));
                    }
                }
            }
        }
        for (at, (cell, rows)) in seen.into_iter().flatten().enumerate() {
            go_on(at, switch)?;
            if rows < ROWS_MIN {
                self.add(&cell);
            }
        }
        Ok(())
    }

    /// Adds lines of `[text, rows]`, one for each value of each column.
    ///
    /// # Errors
    /// The lines have another format, there are too many to hide them all, or the run was killed
    /// meanwhile.
    pub fn add_values(&mut self, lines: impl Read, switch: &Switch) -> io::Result<()> {
        let lines = serde_json::Deserializer::from_reader(BufReader::new(lines));
        let mut hidden = 0;
        for (at, value) in lines.into_iter::<(String, u32)>().enumerate() {
            go_on(at, switch)?;
            let (cell, rows) = value?;
            if rows >= ROWS_MIN {
                continue;
            }
            hidden += 1;
            if hidden > VALUES_MAX {
                return Err(io::Error::new(
                    io::ErrorKind::FileTooLarge,
                    format!("it has more than {VALUES_MAX} different values"),
                ));
            }
            self.add(&cell);
        }
        Ok(())
    }

    fn add(&mut self, cell: &str) {
        let cell = cell.trim();
        if let Some(number) = plain_number(cell) {
            // Tables and arrays print long numbers shortened.
            for form in [
                cell.to_owned(),
                format!("{number:.6}"),
                format!("{number:.8}"),
                format!("{number:.10}"),
                format!("{number:.6e}"),
                format!("{number:.8e}"),
            ] {
                if let Some(number) = plain_number(&form)
                    && digits(number) >= DIGITS_MIN
                {
                    self.numbers.insert(key(number));
                }
            }
            self.numbers.extend(rounded(number).map(key));
            self.numbers.extend(short(number).map(key));
            return;
        }
        for (date, seconds) in moments(cell) {
            self.days.insert(date);
            self.longest = self.longest.max(LONGEST);
            // The first moment of 1970 is 0, which is the number of much else.
            let counts = [1.0, 1e3, 1e6, 1e9].map(|unit| seconds * unit);
            let long = counts.into_iter().filter(|n| n.abs() >= COUNT_MIN);
            self.numbers.extend(long.map(key));
            self.numbers.extend(compact(date).map(key));
        }
        // A value of several lines can be printed line by line.
        for line in cell.lines() {
            let mut rest = line.trim();
            while rest.len() >= TEXT_MIN {
                let (piece, after) = rest.split_at(rest.floor_char_boundary(TEXT_MAX));
                self.add_text(piece);
                let forms = [escaped(piece), cased(piece), unaccented(piece)];
                for form in forms.into_iter().flatten() {
                    self.add_text(&form);
                }
                for cut in pieces(piece) {
                    if self.cut < CUT_MAX {
                        self.cut += 1;
                        self.add_text(cut);
                    }
                }
                rest = after;
            }
        }
    }

    fn add_text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        if let Some(first) = bytes.first_chunk::<TEXT_MIN>() {
            let lengths = self.lengths.entry(first.map(|b| b.to_ascii_lowercase()));
            lengths.or_default().insert(std::cmp::Reverse(bytes.len()));
            self.longest = self.longest.max(bytes.len());
            self.texts.insert(if folds(bytes) {
                bytes.to_ascii_lowercase().into()
            } else {
                bytes.into()
            });
        }
    }

    /// Whether a number, or its positive counterpart, is a hidden value: in a text the `-` may be a
    /// dash.
    pub fn hides(&self, number: f64) -> bool {
        let contains = |number| self.numbers.contains(&key(number));
        contains(number) || (number < 0.0 && contains(-number))
    }

    /// Moves the decided part of `held` to `out`, without hidden values; text that may still become
    /// a value stays in `held`. `last` means that no more text comes. `before` describes the text
    /// before `held`.
    pub fn pass(&self, held: &mut String, before: &mut Before, last: bool, out: &mut String) {
        let sure = if last {
            held.len()
        } else {
            held.floor_char_boundary(held.len().saturating_sub(self.reach()))
        };
        let mut at = 0;
        while at < sure {
            let rest = &held[at..];
            match self.found(rest, *before) {
                Some(length) => {
                    out.push_str(REDACTED);
                    rest[..length].chars().for_each(|c| before.then(c));
                    at += length;
                }
                None => {
                    let Some(c) = rest.chars().next() else { break };
                    out.push(c);
                    before.then(c);
                    at += c.len_utf8();
                }
            }
        }
        held.drain(..at);
    }

    /// The length of the hidden value at the start of `rest`.
    fn found(&self, rest: &str, before: Before) -> Option<usize> {
        let bytes = rest.as_bytes();
        let within = before.last.is_some_and(char::is_alphanumeric);
        let after_code = before.capitals == CURRENCY;
        let lengths = bytes.first_chunk::<TEXT_MIN>().and_then(|first| {
            let small = first.map(|b| b.to_ascii_lowercase());
            self.lengths.get(&small)
        });
        for std::cmp::Reverse(length) in lengths.into_iter().flatten() {
            let Some(text) = bytes.get(..*length) else {
                continue;
            };
            let after = rest.get(*length..).and_then(|after| after.chars().next());
            let goes_on = after.is_some_and(char::is_alphanumeric);
            if *length < WHOLE && in_digits(text, before.last, after) {
                continue;
            }
            let known = self.texts.contains(text)
                || (folds(text) && self.texts.contains(&text.to_ascii_lowercase()[..]));
            if known && (*length >= INSIDE || !(within || goes_on)) {
                return Some(*length).max(self.found_date(rest, before));
            }
        }
        if let Some(length) = self.found_date(rest, before) {
            return Some(length);
        }
        if within && !after_code {
            return None;
        }
        self.found_number(rest, before)
    }

    fn found_date(&self, rest: &str, before: Before) -> Option<usize> {
        let digit = |c: char| c.is_ascii_digit();
        let within = rest.starts_with(digit) && before.last.is_some_and(digit);
        if self.days.is_empty() || within {
            return None;
        }
        let length = date_at(rest, |date| self.days.contains(&date))?;
        let after = rest.get(length..).and_then(|after| after.chars().next());
        let alone = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
        let inside = length >= INSIDE || (alone(before.last) && alone(after));
        let text = &rest.as_bytes()[..length];
        (inside && !in_digits(text, before.last, after)).then_some(length)
    }

    fn found_number(&self, rest: &str, before: Before) -> Option<usize> {
        let rest = &rest[..rest.floor_char_boundary(NUMBER_MAX)];
        if !rest
            .strip_prefix('.')
            .unwrap_or(rest)
            .starts_with(|c: char| c.is_ascii_digit())
        {
            return None;
        }
        let run = Run::of(rest);
        let points = usize::from(before.points);
        if before.last == Some('.') && points == 1 && points_of(run.first()) == 0 {
            // These are the digits of a fraction.
            return None;
        }
        let minus = matches!(before.last, Some('-' | '\u{2212}'));
        let sign = if minus { -1.0 } else { 1.0 };
        let hidden = |part: &&str| readings(part).any(|number| self.hides(sign * number));
        let plain = run.parts(points).find(hidden).map(str::len);
        let in_groups = || {
            let row = match before.last {
                Some(' ') => before.number,
                last => last == Some('['),
            };
            let mut all = grouped(rest, row).into_iter();
            all.find_map(|(length, number)| self.hides(sign * number).then_some(length))
        };
        plain.or_else(in_groups)
    }
}

/// The context before a position in a text, as far as it matters for a number there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before {
    last: Option<char>,
    /// Number of points between digits since the last other character.
    points: u8,
    /// Number of capital letters since the beginning of the word, if it has nothing else.
    capitals: u8,
    /// Whether the last character that is no blank is a digit.
    number: bool,
}

impl Before {
    fn then(&mut self, c: char) {
        self.points = match c {
            '.' if self.last.is_some_and(|last| last.is_ascii_digit()) => {
                self.points.saturating_add(1)
            }
            c if c.is_ascii_digit() => self.points,
            _ => 0,
        };
        let begins = !self.last.is_some_and(char::is_alphanumeric);
        self.capitals = match c {
            'A'..='Z' if begins => 1,
            'A'..='Z' if self.capitals > 0 => self.capitals.saturating_add(1),
            _ => 0,
        };
        if c != ' ' {
            self.number = c.is_ascii_digit();
        }
        self.last = Some(c);
    }
}

/// Whether a text's first or last digit goes on in what stands beside it.
fn in_digits(text: &[u8], before: Option<char>, after: Option<char>) -> bool {
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    (text.first().is_some_and(u8::is_ascii_digit) && digit(before))
        || (text.last().is_some_and(u8::is_ascii_digit) && digit(after))
}

/// Whether a text is found in any case: one that is more than a word of letters. In small
/// letters, a single word could be anybody's.
fn folds(text: &[u8]) -> bool {
    !text.iter().all(u8::is_ascii_alphabetic)
}

/// A date as one number: `19940915`, `15091994` or `09151994`.
fn compact(date: Date) -> [f64; 3] {
    let year = i32::from(date.year());
    let (month, day) = (i32::from(date.month()), i32::from(date.day()));
    let numbers = [
        (year, month, day, 100),
        (day, month, year, 10_000),
        (month, day, year, 10_000),
    ];
    numbers.map(|(a, b, c, last)| f64::from((a * 100 + b) * last + c))
}

/// Returns an error if the run was killed; checks only now and then.
fn go_on(at: usize, switch: &Switch) -> io::Result<()> {
    if at.is_multiple_of(1024) && switch.killed() {
        return Err(stopped());
    }
    Ok(())
}

#[cfg(test)]
#[path = "cells_tests.rs"]
mod tests;
