//! The cell values of private data sets, so that what goes back to an agent has none of them in
//! it: `[REDACTED]` stands in their place.
//!
//! Hidden is a value that stands in fewer than [`ROWS_MIN`] rows of its column, and a sum, mean,
//! median or spread over so few rows that share a value of one or two other columns: what more rows
//! share is a category, and a number over them an aggregate. A text has at least
//! [`TEXT_MIN`] bytes and a number [`DIGITS_MIN`] significant digits: shorter ones are in too much
//! else. What a snippet encodes in a way of its own is not recognised; its reviewer reads that.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, BufReader, Read};

use crate::executor::control::{Switch, Until, stopped};

/// A value in at least so many rows of a column is not one person's.
pub const ROWS_MIN: u32 = 5;
const TEXT_MIN: usize = 4;
const DIGITS_MIN: usize = 4;
/// Bytes of a text that are compared; what goes on after them is compared in further pieces.
const TEXT_MAX: usize = 200;
/// Characters of a number, however it is written.
const NUMBER_MAX: usize = 40;
/// Texts from here on are found inside of words too.
const INSIDE: usize = 8;
/// Distinct values of one column that are kept apart: more cannot be hidden, and nothing runs.
const DISTINCT_MAX: usize = 1_000_000;

/// The same of all columns of a data set that is no csv or tsv.
const VALUES_MAX: usize = 16_000_000;

pub const REDACTED: &str = "[REDACTED]";

/// What is hidden. Made once for a run.
#[derive(Debug, Default)]
pub struct Cells {
    texts: HashSet<Box<[u8]>>,
    /// Which lengths texts with these first bytes have, the longest first.
    lengths: HashMap<[u8; TEXT_MIN], BTreeSet<std::cmp::Reverse<usize>>>,
    numbers: HashSet<u64>,
    longest: usize,
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
            if digits(cell) >= DIGITS_MIN {
                self.numbers.insert(key(number));
            }
            // Tables and arrays print long numbers short.
            for form in [
                format!("{number:.6}"),
                format!("{number:.8}"),
                format!("{number:.6e}"),
            ] {
                if let Some(short) = plain_number(&form)
                    && digits(&short.to_string()) >= DIGITS_MIN
                {
                    self.numbers.insert(key(short));
                }
            }
            return;
        }
        // A value of several lines can be printed line by line.
        for line in cell.lines() {
            let mut rest = line.trim();
            while rest.len() >= TEXT_MIN {
                let (piece, after) = rest.split_at(rest.floor_char_boundary(TEXT_MAX));
                self.add_text(piece);
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

    /// Whether a number is one of the values.
    pub fn hides(&self, number: f64) -> bool {
        self.numbers.contains(&key(number))
    }

    /// Passes on what of `held` is certain, without what is hidden; what may still become a value
    /// stays there. `last`: nothing comes any more. `before` is the character before `held`.
    pub fn pass(&self, held: &mut String, before: &mut Option<char>, last: bool, out: &mut String) {
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
                    *before = rest[..length].chars().next_back();
                    at += length;
                }
                None => {
                    let Some(c) = rest.chars().next() else { break };
                    out.push(c);
                    *before = Some(c);
                    at += c.len_utf8();
                }
            }
        }
        held.drain(..at);
    }

    /// The length of the value that `rest` begins with.
    fn found(&self, rest: &str, before: Option<char>) -> Option<usize> {
        let bytes = rest.as_bytes();
        let within = before.is_some_and(char::is_alphanumeric);
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
        let starts = bytes.first().is_some_and(u8::is_ascii_digit);
        if starts && !within && before != Some('.') {
            return self.found_number(rest, before);
        }
        None
    }

    fn found_number(&self, rest: &str, before: Option<char>) -> Option<usize> {
        let part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '_' | 'e' | 'E');
        let mut end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        if rest[..end].ends_with(['e', 'E']) && rest[end..].starts_with(['+', '-']) {
            // The sign of an exponent, if digits follow.
            let after = &rest[end + 1..];
            let long = after.find(|c: char| !c.is_ascii_digit());
            match long.unwrap_or(after.len()) {
                0 => {}
                digits => end += 1 + digits,
            }
        }
        // From the longest reading on: `1234.5, 6` and `12.5.` end before their marks.
        let marks = ['.', ',', '_', 'e', 'E', '+', '-'];
        let mut token = rest[..end.min(NUMBER_MAX)].trim_end_matches(marks);
        while !token.is_empty() {
            let plain: String = token.chars().filter(|c| !matches!(c, ',' | '_')).collect();
            if let Some(number) = plain_number(&plain)
                && (self.hides(number) || (before == Some('-') && self.hides(-number)))
            {
                return Some(token.len());
            }
            let cut = token.trim_end_matches(|c: char| c.is_ascii_digit());
            let cut = cut.trim_end_matches(marks);
            // Only marks end a number; digits alone are one.
            token = if cut.len() < token.len() { cut } else { "" };
        }
        None
    }
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

/// Digits as written, without the zeros before the first other one.
fn digits(text: &str) -> usize {
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    let all: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    all.trim_start_matches('0').len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Cells {
        fn clean(&self, text: &str) -> String {
            let mut out = String::with_capacity(text.len());
            self.pass(&mut text.to_owned(), &mut None, true, &mut out);
            out
        }
    }

    fn cells() -> Cells {
        let mut text = "name,city,pay,age\n".to_owned();
        for (name, city, pay, age) in [
            ("Ann Ferrer", "Oslo", "51234.50", "31"),
            ("Bo", "Oslo", "-48010", "32"),
            ("Zoë Ångström", "Oslo", "60000", "33"),
            ("Ann-Marie", "Oslo", "0.12345", "34"),
            ("Cy", "Oslo", "7.5", "35"),
            ("Ed", "Oslo", "7654.3210987651", "35"),
            ("Di", "Bergen", "8.5", "35"),
        ] {
            text.push_str(&format!("{name},{city},{pay},{age}\n"));
        }
        let mut cells = Cells::default();
        cells
            .add_table(text.as_bytes(), b',', &Switch::new())
            .unwrap();
        cells
    }

    #[test]
    fn rare_values_are_hidden_and_categories_are_not() {
        let cells = cells();
        for (text, want) in [
            ("Ann Ferrer lives in Oslo", "[REDACTED] lives in Oslo"),
            ("x='Ann Ferrer'", "x='[REDACTED]'"),
            ("someAnn Ferrers", "some[REDACTED]s"),
            ("in Bergen, Bergenland", "in [REDACTED], Bergenland"),
            (
                "51234.5 51,234.50 51234.51",
                "[REDACTED] [REDACTED] 51234.51",
            ),
            ("[51234.5, -48010]", "[[REDACTED], -[REDACTED]]"),
            ("60000 6e4 60000.0", "[REDACTED] [REDACTED] [REDACTED]"),
            ("5.12345e+04 -4.801e+4", "[REDACTED] -[REDACTED]"),
            (
                "51234.5e+ 1e-4 51234.5e-x",
                "[REDACTED]e+ 1e-4 [REDACTED]e-x",
            ),
            (
                "7654.32109877 7654.321099 7.654321e+03",
                "[REDACTED] [REDACTED] [REDACTED]",
            ),
            ("0.12345. 7.5 31 Bo", "[REDACTED]. 7.5 31 Bo"),
            ("Zoë Ångström!", "[REDACTED]!"),
            ("mean 43210.2", "mean 43210.2"),
        ] {
            assert_eq!(cells.clean(text), want);
        }
        assert!(cells.hides(51234.5) && !cells.hides(31.0));
    }

    #[test]
    fn counted_values_are_hidden_by_the_same_rule() {
        let mut cells = Cells::default();
        let lines = b"[\"Ann Ferrer\", 1]\n[\"Oslo\", 5]\n[\"51234.5\", 4]\n";
        cells.add_values(&lines[..], &Switch::new()).unwrap();
        assert_eq!(
            cells.clean("Ann Ferrer, Oslo, 51234.50"),
            "[REDACTED], Oslo, [REDACTED]"
        );
        for odd in ["[1, 1]", "[\"a\"]", "{}", "[\"a\", 1"] {
            let added = cells.add_values(odd.as_bytes(), &Switch::new());
            assert!(added.is_err(), "{odd}");
        }
    }

    #[test]
    fn too_many_values_and_what_is_no_table_are_refused() {
        let mut cells = Cells::default();
        let table = &b"a,b\n1\n"[..];
        assert!(cells.add_table(table, b',', &Switch::new()).is_err());
        assert!(cells.is_empty());
        assert_eq!(cells.clean("anything"), "anything");
    }

    /// Throws the switch once so many bytes were read.
    struct Killing<'a, R> {
        inner: R,
        left: usize,
        switch: &'a Switch,
    }

    impl<R: Read> Read for Killing<'_, R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.inner.read(buffer)?;
            self.left = self.left.saturating_sub(n);
            if self.left == 0 {
                self.switch.throw_kill();
            }
            Ok(n)
        }
    }

    #[test]
    fn a_kill_ends_the_taking_in_of_a_table_and_of_values() {
        let endless = || io::repeat(b'1').take(1 << 40);
        let head = || &b"a\n1\n"[..];
        let lines = b"[\"Ann Ferrer\", 1]\n".repeat(10_000);
        for left in [1, 1 << 20] {
            let switch = Switch::new();
            let rows = head().chain(endless());
            let inner = Killing {
                inner: rows,
                left,
                switch: &switch,
            };
            let error = Cells::default()
                .add_table(inner, b',', &switch)
                .unwrap_err();
            assert!(error.to_string().contains("stopped"), "{error}");
            let switch = Switch::new();
            let inner = Killing {
                inner: &lines[..],
                left: left.min(1 << 16),
                switch: &switch,
            };
            let error = Cells::default().add_values(inner, &switch).unwrap_err();
            assert!(error.to_string().contains("stopped"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn pieces_of_any_size_hide_the_same(
            words in prop::collection::vec(prop::sample::select(vec![
                "Ann Ferrer", " ", "x", "51234.5", "Zoë Ångström", "-", "48010", "\n", ",", "Bergen",
            ]), 0..30),
            sizes in prop::collection::vec(1_usize..9, 1..20),
        ) {
            let cells = cells();
            let text = words.concat();
            let (mut held, mut before, mut out) = (String::new(), None, String::new());
            let mut chars = text.chars().peekable();
            for size in sizes.iter().cycle() {
                if chars.peek().is_none() { break; }
                held.extend(chars.by_ref().take(*size));
                cells.pass(&mut held, &mut before, false, &mut out);
            }
            cells.pass(&mut held, &mut before, true, &mut out);
            prop_assert_eq!(out, cells.clean(&text));
        }
    }
}
