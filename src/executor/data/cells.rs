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

use super::spellings::{days, escaped, pieces};
use crate::executor::control::{Switch, Until, stopped};

/// A value in at least this many rows of a column does not identify one person.
pub const ROWS_MIN: u32 = 5;
const TEXT_MIN: usize = 4;
const DIGITS_MIN: usize = 4;
/// Bytes of a text that are compared at once; a longer text is compared in several pieces.
const TEXT_MAX: usize = 200;
/// Bytes of a number that are examined in any spelling, including what follows it.
const NUMBER_MAX: usize = 48;
/// Texts of at least this length are also found inside words.
const INSIDE: usize = 8;
/// Maximum of distinct values in one column; with more they cannot be hidden, and nothing runs.
const DISTINCT_MAX: usize = 1_000_000;

/// The same for all columns of a data set that is not csv or tsv.
const VALUES_MAX: usize = 16_000_000;

/// Pieces of long texts that are kept apart; those of further texts are not looked for.
const CUT_MAX: usize = 1_000_000;

/// Characters within a number that may also separate two numbers.
const BETWEEN: [char; 2] = [',', '_'];

pub const REDACTED: &str = "[REDACTED]";

/// The values to hide. Made once per run.
#[derive(Debug, Default)]
pub struct Cells {
    texts: HashSet<Box<[u8]>>,
    /// The lengths of the texts that start with these bytes, longest first.
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
            // These are the digits of a fraction.
            return None;
        }
        let minus = matches!(before.last, Some('-' | '\u{2212}'));
        let sign = if minus { -1.0 } else { 1.0 };
        let hidden = |part: &&str| readings(part).any(|number| self.hides(sign * number));
        run.parts(points).find(hidden).map(str::len)
    }
}

/// The context before a position in a text, as far as it matters for a number there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before {
    last: Option<char>,
    /// Number of points between digits since the last other character.
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

/// Digits with single separators between them, at the start of a text.
struct Run<'a> {
    text: &'a str,
    /// The same with its exponent, if any.
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
            // Letters follow, so it is a word such as `51e4b2`.
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

    /// The part up to the first separator that may stand between two numbers.
    fn first(&self) -> &'a str {
        self.text.split(BETWEEN).next().unwrap_or_default()
    }

    /// The parts that may be a number of their own, longest first: the whole, and the parts that
    /// end before a separator. Two points, including those before it, make each point a separator.
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

/// The numbers that a spelling can mean.
fn readings(part: &str) -> impl Iterator<Item = f64> {
    let (whole, fraction) = part.split_at(part.find('.').unwrap_or(part.len()));
    let plain: String = whole.replace(BETWEEN, "") + fraction;
    // Many languages write `51.234,50`.
    let comma = part.split_once(',').and_then(|(whole, fraction)| {
        let mut groups = whole.split(['.', '_']);
        let first = groups.next().is_some_and(|first| !first.is_empty());
        (first && groups.all(|group| group.len() == 3) && !fraction.contains(['.', ',', '_']))
            .then(|| format!("{}.{fraction}", whole.replace(['.', '_'], "")))
    });
    let spelled = std::iter::once(plain).chain(comma);
    spelled.filter_map(|spelled| plain_number(&spelled))
}

/// Returns an error if the run was killed; checks only now and then.
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

/// A number rounded to twelve digits: libraries that add in another order differ after that.
fn key(number: f64) -> u64 {
    plain_number(&format!("{number:.11e}")).map_or(0, f64::to_bits)
}

/// Number of significant digits. Leading zeros and the trailing zeros of a fraction do not count,
/// however the number is written.
fn digits(number: f64) -> usize {
    let shown = number.to_string();
    let all: String = shown.chars().filter(char::is_ascii_digit).collect();
    all.trim_start_matches('0').len()
}

#[cfg(test)]
#[path = "cells_tests.rs"]
mod tests;
