//! The cell values of private data sets, so that what goes back to an agent has none of them in
//! it: `[REDACTED]` stands in their place.
//!
//! Hidden is a value that stands in fewer than [`ROWS_MIN`] rows of its column, and a sum, mean,
//! median or spread over so few rows that share a value of one or two other columns: what more rows
//! share is a category, and a number over them an aggregate. A text has at least
//! [`TEXT_MIN`] bytes and a number [`DIGITS_MIN`] significant digits: shorter ones are in too much
//! else. What a snippet encodes in a way of its own is not recognised; its reviewer reads that.
//!
//! A number in the output is compared as one whole: `129.77` is never `129` with more behind it.
//! Only what may stand between two numbers parts it: `,` and `_`, and `.` where two of them make
//! it no number. The guide tells which spellings are recognised.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, BufReader, Read};

use super::spellings::{days, escaped, pieces};
use crate::executor::control::{Switch, Until, stopped};

/// A value in at least so many rows of a column is not one person's.
pub const ROWS_MIN: u32 = 5;
const TEXT_MIN: usize = 4;
const DIGITS_MIN: usize = 4;
/// Bytes of a text that are compared; what goes on after them is compared in further pieces.
const TEXT_MAX: usize = 200;
/// Bytes of a number that are looked at, however it is written, with what follows it.
const NUMBER_MAX: usize = 48;
/// Texts from here on are found inside of words too.
const INSIDE: usize = 8;
/// Distinct values of one column that are kept apart: more cannot be hidden, and nothing runs.
const DISTINCT_MAX: usize = 1_000_000;

/// The same of all columns of a data set that is no csv or tsv.
const VALUES_MAX: usize = 16_000_000;

/// Pieces of long texts that are kept apart; those of further texts are not looked for.
const CUT_MAX: usize = 1_000_000;

/// Marks within a number that may also stand between two.
const BETWEEN: [char; 2] = [',', '_'];

pub const REDACTED: &str = "[REDACTED]";

/// What is hidden. Made once for a run.
#[derive(Debug, Default)]
pub struct Cells {
    texts: HashSet<Box<[u8]>>,
    /// Which lengths texts with these first bytes have, the longest first.
    lengths: HashMap<[u8; TEXT_MIN], BTreeSet<std::cmp::Reverse<usize>>>,
    numbers: HashSet<u64>,
    longest: usize,
    /// Pieces of long texts among them.
    cut: usize,
}

impl Cells {
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.numbers.is_empty()
    }

    /// Bytes that may have to be seen together.
    pub fn reach(&self) -> usize {
        if self.is_empty() {
            0
        } else {
            self.longest.max(NUMBER_MAX) + 4
        }
    }

    /// Takes in a table with a header.
    ///
    /// # Errors
    /// It cannot be read, has too many values to hide them all, or the run was killed meanwhile.
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

    /// Takes in lines of `[text, rows]`, one for each value of each column.
    ///
    /// # Errors
    /// They are no such lines, or too many to hide them all, or the run was killed meanwhile.
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
            // Tables and arrays print long numbers short.
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
            return;
        }
        for day in days(cell) {
            for text in &day.texts {
                self.add_text(text);
            }
            #[expect(
                clippy::cast_precision_loss,
                reason = "fewer than 2^53 milliseconds in 9999 years"
            )]
            self.numbers.insert(key(day.milliseconds as f64));
        }
        // A value of several lines can be printed line by line.
        for line in cell.lines() {
            let mut rest = line.trim();
            while rest.len() >= TEXT_MIN {
                let (piece, after) = rest.split_at(rest.floor_char_boundary(TEXT_MAX));
                self.add_text(piece);
                for form in escaped(piece) {
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
            let lengths = self.lengths.entry(*first).or_default();
            lengths.insert(std::cmp::Reverse(bytes.len()));
            self.longest = self.longest.max(bytes.len());
            self.texts.insert(bytes.into());
        }
    }

    /// Whether a number is one of the values, or one of them with a `-` before it: in a text that
    /// may be a dash.
    pub fn hides(&self, number: f64) -> bool {
        let holds = |number| self.numbers.contains(&key(number));
        holds(number) || (number < 0.0 && holds(-number))
    }

    /// Passes on what of `held` is certain, without what is hidden; what may still become a value
    /// stays there. `last`: nothing comes any more. `before` is what stands before `held`.
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

    /// The length of the value that `rest` begins with.
    fn found(&self, rest: &str, before: Before) -> Option<usize> {
        let bytes = rest.as_bytes();
        let within = before.last.is_some_and(char::is_alphanumeric);
        let lengths = bytes
            .first_chunk()
            .and_then(|first| self.lengths.get(first));
        for std::cmp::Reverse(length) in lengths.into_iter().flatten() {
            let Some(text) = bytes.get(..*length) else {
                continue;
            };
            let goes_on = rest
                .get(*length..)
                .and_then(|after| after.chars().next())
                .is_some_and(char::is_alphanumeric);
            if self.texts.contains(text) && (*length >= INSIDE || !(within || goes_on)) {
                return Some(*length);
            }
        }
        if within {
            return None;
        }
        self.found_number(rest, before)
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
            // The digits of a fraction.
            return None;
        }
        let minus = matches!(before.last, Some('-' | '\u{2212}'));
        let sign = if minus { -1.0 } else { 1.0 };
        let hidden = |part: &&str| readings(part).any(|number| self.hides(sign * number));
        run.parts(points).find(hidden).map(str::len)
    }
}

/// What stands before a place in a text, as far as it matters for a number there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before {
    last: Option<char>,
    /// Points between digits since the last character that is neither.
    points: u8,
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
        self.last = Some(c);
    }
}

/// Digits with single marks between them, from the beginning of a text on.
struct Run<'a> {
    text: &'a str,
    /// The same with its exponent, if it has one.
    whole: &'a str,
}

impl<'a> Run<'a> {
    fn of(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let is_mark = |at: usize| matches!(bytes.get(at), Some(b'.' | b',' | b'_'));
        let mut end = 0;
        while is_digit(end) || (is_mark(end) && is_digit(end + 1)) {
            end += 1;
        }
        let mut whole = end;
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let digits = end + 1 + sign;
            let mut at = digits;
            while is_digit(at) {
                at += 1;
            }
            // What goes on is a word, such as `51e4b2`.
            let goes_on = text[at..].starts_with(char::is_alphanumeric);
            if at > digits && !goes_on {
                whole = at;
            }
        }
        Self {
            text: &text[..end],
            whole: &text[..whole],
        }
    }

    /// Up to the first mark that may stand between two numbers.
    fn first(&self) -> &'a str {
        self.text.split(BETWEEN).next().unwrap_or_default()
    }

    /// What of it may be a number of its own, the longest first: all of it, and what ends before a
    /// mark that may stand between two numbers. Two points, those before it included, make each of
    /// them such a mark.
    fn parts(&self, points: usize) -> impl Iterator<Item = &'a str> {
        let mut ends = vec![self.whole.len()];
        let mut start = 0;
        for piece in self.text.split_inclusive(BETWEEN) {
            let before = if start == 0 { points } else { 0 };
            for (at, c) in piece.char_indices().filter(|(at, _)| start + at > 0) {
                if BETWEEN.contains(&c) || (c == '.' && before + points_of(piece) > 1) {
                    ends.push(start + at);
                }
            }
            start += piece.len();
        }
        ends[1..].sort_unstable_by_key(|end| std::cmp::Reverse(*end));
        let whole = self.whole;
        ends.into_iter().map(move |end| &whole[..end])
    }
}

fn points_of(text: &str) -> usize {
    text.matches('.').count()
}

/// The numbers that a spelling may stand for.
fn readings(part: &str) -> impl Iterator<Item = f64> {
    let (whole, fraction) = part.split_at(part.find('.').unwrap_or(part.len()));
    let plain: String = whole.replace(BETWEEN, "") + fraction;
    // `51.234,50`, as many languages write it.
    let comma = part.split_once(',').and_then(|(whole, fraction)| {
        let mut groups = whole.split(['.', '_']);
        let first = groups.next().is_some_and(|first| !first.is_empty());
        (first && groups.all(|group| group.len() == 3) && !fraction.contains(['.', ',', '_']))
            .then(|| format!("{}.{fraction}", whole.replace(['.', '_'], "")))
    });
    let spelled = std::iter::once(plain).chain(comma);
    spelled.filter_map(|spelled| plain_number(&spelled))
}

/// Whether to go on with the next of many; a kill is looked for now and then.
fn go_on(at: usize, switch: &Switch) -> io::Result<()> {
    if at.is_multiple_of(1024) && switch.killed() {
        return Err(stopped());
    }
    Ok(())
}

fn plain_number(text: &str) -> Option<f64> {
    let digit = text.bytes().any(|b| b.is_ascii_digit());
    text.parse().ok().filter(|n: &f64| digit && n.is_finite())
}

/// A number up to its twelfth digit: libraries that add in another order differ after it.
fn key(number: f64) -> u64 {
    plain_number(&format!("{number:.11e}")).map_or(0, f64::to_bits)
}

/// Significant digits: zeros before the first other one do not count, and no zeros that end a
/// fraction, however the number was written.
fn digits(number: f64) -> usize {
    let shown = number.to_string();
    let all: String = shown.chars().filter(char::is_ascii_digit).collect();
    all.trim_start_matches('0').len()
}

#[cfg(test)]
#[path = "cells_tests.rs"]
mod tests;
