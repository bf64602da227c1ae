//! Records of one shape, their column types, and the runs that one row may replace.

use std::ops::Range;

use crate::model::grouped;

use super::cells::{CellKind, bare, kind, same_form};
use super::{Fold, HEAD, OFTEN, RUN, TAIL, WORDS};

/// A record's span up to the next record, and the spans of its values.
pub struct Record {
    pub span: Range<usize>,
    pub cells: Vec<Range<usize>>,
}

pub struct Table {
    pub records: Vec<Record>,
    /// The column names.
    pub names: Vec<String>,
    /// The unit of a record, such as a line; `first` is the number of the first record.
    pub unit: &'static str,
    pub first: usize,
    /// The format's text for a missing value.
    pub missing: &'static str,
}

/// A column's type, derived from all its values.
struct Column<'a> {
    kind: CellKind,
    /// The first date; other dates are plain if they have its form.
    date: &'a str,
    words: Vec<&'a str>,
    /// Whether enough values are missing that another gap is not unusual.
    gaps: bool,
}

/// The name if it is plain and short, otherwise one made from the column's position.
pub fn plain_name(name: &str, place: usize) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'[' | b']');
    if (1..=32).contains(&name.len()) && name.bytes().all(plain) {
        name.to_owned()
    } else {
        format!("column {}", place + 1)
    }
}

impl Table {
    /// The index, among the records always shown, of the record with the most common bytes outside
    /// its values. `None` if nothing can be condensed.
    pub fn usual(&self, text: &str) -> Option<usize> {
        if self.records.len() < HEAD + RUN + TAIL {
            return None;
        }
        let head = &self.records[..HEAD];
        let like = |i: &usize| head.iter().filter(|r| alike(text, &head[*i], r)).count();
        // Reversed, because `max_by_key` returns the last maximum: this picks the first.
        let usual = (0..HEAD).rev().max_by_key(like)?;
        let record = &head[usual];
        let plain = between(text, record).all(|gap| {
            gap.bytes()
                .all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\r' | b'\t'))
        });
        (plain && !record.cells.is_empty()).then_some(usual)
    }

    /// The parts of the table that may be condensed.
    pub fn folds(&self, text: &str) -> Vec<Fold> {
        let Some(usual) = self.usual(text).map(|i| &self.records[i]) else {
            return Vec::new();
        };
        let like: Vec<bool> = self.records.iter().map(|r| alike(text, usual, r)).collect();
        let columns: Vec<Column<'_>> = (0..usual.cells.len())
            .map(|c| {
                let of = self.records.iter().zip(&like).filter(|(_, like)| **like);
                let cells: Vec<&str> = of.map(|(r, _)| &text[r.cells[c].clone()]).collect();
                Column::of(&cells, self.missing)
            })
            .collect();
        let plain = |i: usize| {
            let cells = self.records[i].cells.iter().zip(&columns);
            like[i] && { cells }.all(|(cell, c)| c.takes(&text[cell.clone()], self.missing))
        };
        let mut out = Vec::new();
        let last = self.records.len() - TAIL;
        let mut at = HEAD;
        while at < last {
            let end = (at..last).find(|i| !plain(*i)).unwrap_or(last);
            if end - at >= RUN {
                out.extend(self.fold(text, &columns, at..end));
            }
            at = end + 1;
        }
        out
    }

    fn fold(&self, text: &str, columns: &[Column<'_>], run: Range<usize>) -> Option<Fold> {
        let records = &self.records[run.clone()];
        let range = records.first()?.span.start..records.last()?.span.end;
        let count = |n: usize| grouped(n as u64);
        let mut summary = format!(
            "{} {} to {}: {} plain records like those above, nothing unusual",
            self.unit,
            count(self.first + run.start),
            count(self.first + run.end - 1),
            count(run.len()),
        );
        for (c, column) in columns.iter().enumerate() {
            let cells: Vec<&str> = records.iter().map(|r| &text[r.cells[c].clone()]).collect();
            summary.push_str("; ");
            summary.push_str(self.names.get(c).map_or("value", String::as_str));
            summary.push_str(&column.stands_for(&cells, self.missing));
        }
        summary.push('.');
        // A summary must be at most half as long as its stretch to be worth it.
        (summary.len() * 2 <= range.len()).then_some(Fold { range, summary })
    }
}

impl<'a> Column<'a> {
    fn of(cells: &[&'a str], missing: &str) -> Self {
        let kinds: Vec<CellKind> = cells.iter().map(|c| kind(c, missing)).collect();
        let count = |wanted: CellKind| kinds.iter().filter(|k| **k == wanted).count();
        let (whole, decimal) = (count(CellKind::Whole), count(CellKind::Decimal));
        let numbers = if decimal * 10 >= whole + decimal {
            CellKind::Decimal
        } else {
            CellKind::Whole
        };
        let (kind, most) = [
            (numbers, whole + decimal),
            (CellKind::Date, count(CellKind::Date)),
            (CellKind::Word, count(CellKind::Word)),
            (CellKind::Other, count(CellKind::Other)),
        ]
        .into_iter()
        .rev()
        .max_by_key(|(_, n)| *n)
        .unwrap_or((CellKind::Other, 0));
        let gaps = count(CellKind::Missing);
        let first = |wanted: CellKind| kinds.iter().position(|k| *k == wanted).map(|i| cells[i]);
        Self {
            kind: if most == 0 { CellKind::Missing } else { kind },
            date: first(CellKind::Date).unwrap_or(""),
            words: if kind == CellKind::Word {
                words(cells, &kinds)
            } else {
                Vec::new()
            },
            gaps: gaps * 10 >= cells.len(),
        }
    }

    fn takes(&self, cell: &str, missing: &str) -> bool {
        match kind(cell, missing) {
            CellKind::Missing => self.gaps,
            CellKind::Whole => matches!(self.kind, CellKind::Whole | CellKind::Decimal),
            CellKind::Decimal => self.kind == CellKind::Decimal,
            CellKind::Date => self.kind == CellKind::Date && same_form(cell, self.date),
            CellKind::Word => self.kind == CellKind::Word && self.words.contains(&cell),
            CellKind::Other => false,
        }
    }

    /// Describes the plain values of a run.
    fn stands_for(&self, cells: &[&str], missing: &str) -> String {
        let there: Vec<&str> = cells.iter().copied().filter(|c| *c != missing).collect();
        let gone = cells.len() - there.len();
        let mut out = match self.kind {
            _ if there.is_empty() => String::new(),
            CellKind::Word => {
                let counts = self.words.iter().filter_map(|word| {
                    let n = there.iter().filter(|c| *c == word).count();
                    (n > 0).then(|| format!(" {} ×{}", bare(word), grouped(n as u64)))
                });
                counts.collect::<Vec<_>>().join(",")
            }
            CellKind::Date => extremes(there.iter().min(), there.iter().max()),
            _ => {
                let by = |a: &&&str, b: &&&str| size(a).total_cmp(&size(b));
                extremes(there.iter().min_by(by), there.iter().max_by(by))
            }
        };
        if gone > 0 {
            let comma = if there.is_empty() { "" } else { "," };
            out.push_str(&format!("{comma} missing ×{}", grouped(gone as u64)));
        }
        out
    }
}

/// Plain numbers have at most 15 digits before the point, so whole ones compare exactly.
fn size(cell: &str) -> f64 {
    cell.parse().unwrap_or(f64::NAN)
}

fn extremes(least: Option<&&str>, most: Option<&&str>) -> String {
    match (least, most) {
        (Some(least), Some(most)) if least == most => format!(" always {}", bare(least)),
        (Some(least), Some(most)) => format!(" {} to {}", bare(least), bare(most)),
        _ => String::new(),
    }
}

/// The words that occur often enough; empty if there are too many different ones.
fn words<'a>(cells: &[&'a str], kinds: &[CellKind]) -> Vec<&'a str> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    let mut all: Vec<&str> = cells
        .iter()
        .zip(kinds)
        .filter(|(_, k)| **k == CellKind::Word)
        .map(|(c, _)| *c)
        .collect();
    all.sort_unstable();
    for word in all {
        match counts.last_mut() {
            Some((last, n)) if *last == word => *n += 1,
            _ => counts.push((word, 1)),
        }
    }
    counts.retain(|(_, n)| *n >= OFTEN);
    if counts.len() > WORDS {
        return Vec::new();
    }
    counts.into_iter().map(|(word, _)| word).collect()
}

/// The bytes of a record outside its values.
fn between<'a>(text: &'a str, record: &'a Record) -> impl Iterator<Item = &'a str> {
    let starts = std::iter::once(record.span.start).chain(record.cells.iter().map(|c| c.end));
    let ends = record.cells.iter().map(|c| c.start);
    starts
        .zip(ends.chain(std::iter::once(record.span.end)))
        .map(|(from, to)| &text[from..to])
}

fn alike(text: &str, a: &Record, b: &Record) -> bool {
    a.cells.len() == b.cells.len() && between(text, a).eq(between(text, b))
}
