//! The text a reviewer must have seen: the code, then the contents of the inputs that the agent
//! brought, as one run of bytes that is laid out in rows.
//!
//! Offsets count the document's bytes: the code, then for each brought input one byte for its
//! heading followed by its content. A condensable stretch is preceded by the bytes of its summary
//! row. Each row covers a range of offsets including the line ending, so the parts seen are a set
//! of ranges at any width. Everything must be seen, except stretches replaced by a summary row
//! ([`super::condense`]).

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::model::{BoundInput, Code, Digest, ProposalId};

use super::as_drawn::adds;
use super::condense::{Fold, folds};
use super::interval::IntervalSet;
use super::words;

mod layout;
mod secrets;

pub use layout::{Content, Layout};
pub use secrets::{Held, Place, Search, Searcher, Whose};

/// One proposal's code and brought inputs. A document never changes: if the inputs arrive or a person
/// edits the code, there is another one.
#[derive(Debug)]
pub struct Document {
    pub id: ProposalId,
    /// The digest of the code.
    pub code: Digest,
    pub has_inputs: bool,
    sections: Vec<Section>,
    /// Offsets of the stretches that a summary row can replace.
    condensed: Vec<Range<usize>>,
    /// Where each stretch's summary row begins.
    stands: Vec<usize>,
    total: usize,
    /// Whether marks hide anything that a terminal would draw.
    pub hides: bool,
    /// Empty while the secrets are searched for.
    held: OnceLock<Held>,
}

#[derive(Debug)]
struct Section {
    /// Offset of the heading, or of the text if there is no heading.
    at: usize,
    heading: Option<String>,
    text: Text,
    folds: Vec<Fold>,
    /// The first fold's index in the document.
    first_fold: usize,
    lines: Vec<Line>,
    end: usize,
}

#[derive(Debug)]
enum Text {
    Code(Arc<str>),
    Input(Arc<[BoundInput]>, usize),
}

/// A line, or a part of a line that has a condensable part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    /// Offset in the document.
    at: usize,
    /// Byte offsets in the section's text: start, end of the drawn part, end including the newline.
    start: usize,
    end: usize,
    to: usize,
    /// Counted from 1.
    number: usize,
    kind: LineKind,
}

/// Numbers index the document's condensed stretches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineKind {
    Shown {
        /// Whether this part is the start of its line.
        begins: bool,
    },
    /// The summary row of a stretch; its text comes from the fold.
    Stands(usize),
    /// A part of the stretch, drawn only while the stretch is open.
    Condensed { fold: usize, begins: bool },
}

impl Text {
    fn as_str(&self) -> &str {
        match self {
            Self::Code(code) => code,
            Self::Input(inputs, i) => inputs.get(*i).and_then(BoundInput::brought).unwrap_or(""),
        }
    }
}

/// Lines as Python ends them: LF, CR LF, and a lone CR. The CR is drawn. Each item is the start,
/// the end, and the end including the newline.
pub fn lines(text: &str) -> Vec<(usize, usize, usize)> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < bytes.len() {
        let (end, to) = match bytes[at] {
            b'\n' => (at, at + 1),
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => (at + 1, at + 2),
            b'\r' => (at + 1, at + 1),
            _ => {
                at += 1;
                continue;
            }
        };
        out.push((start, end, to));
        start = to;
        at = to;
    }
    if start < bytes.len() {
        out.push((start, bytes.len(), bytes.len()));
    }
    out
}

/// The lines of a text that begins at offset `at`, split at the borders of condensed stretches, and
/// the offset where they end. `first` is the first fold's index in the document.
fn arrange(text: &str, folds: &[Fold], mut at: usize, first: usize) -> (Vec<Line>, usize) {
    let mut out = Vec::new();
    let mut folds = folds.iter().zip(first..).peekable();
    for (number, (start, end, to)) in (1..).zip(lines(text)) {
        let mut from = start;
        let mut part = |from: usize, upto: usize, at: &mut usize, kind: LineKind| {
            out.push(Line {
                at: *at,
                start: from,
                end: upto.min(end).max(from),
                to: upto,
                number,
                kind,
            });
            *at += upto - from;
        };
        while let Some((fold, nr)) = folds.peek()
            && fold.range.start < to
        {
            let nr = *nr;
            if from < fold.range.start {
                let begins = from == start;
                part(from, fold.range.start, &mut at, LineKind::Shown { begins });
                from = fold.range.start;
            }
            if from == fold.range.start {
                part(from, from, &mut at, LineKind::Stands(nr));
                at += fold.summary.len();
            }
            let upto = fold.range.end.min(to);
            let begins = from == start;
            part(
                from,
                upto,
                &mut at,
                LineKind::Condensed { fold: nr, begins },
            );
            from = upto;
            if fold.range.end > to {
                break;
            }
            folds.next();
        }
        if from < to {
            let begins = from == start;
            part(from, to, &mut at, LineKind::Shown { begins });
        }
    }
    (out, at)
}

impl Document {
    pub fn new(id: ProposalId, code: &Code, inputs: Option<&Arc<[BoundInput]>>) -> Self {
        let (rows, mut total) = arrange(code.text(), &[], 0, 0);
        let mut sections = vec![Section {
            at: 0,
            heading: None,
            folds: Vec::new(),
            first_fold: 0,
            lines: rows,
            end: total,
            text: Text::Code(code.text().clone()),
        }];
        let mut stands = Vec::new();
        let mut condensed: Vec<Range<usize>> = Vec::new();
        for (i, input) in inputs.iter().flat_map(|i| i.iter()).enumerate() {
            let (Some(text), Some(all)) = (input.brought(), inputs) else {
                continue;
            };
            let folds = folds(text, input.format());
            let first_fold = condensed.len();
            let (rows, end) = arrange(text, &folds, total + 1, first_fold);
            for line in &rows {
                let end = line.at + (line.to - line.start);
                match line.kind {
                    LineKind::Stands(_) => stands.push(line.at),
                    LineKind::Condensed { fold, .. } => match condensed.get_mut(fold) {
                        Some(range) => range.end = end,
                        None => condensed.push(line.at..end),
                    },
                    LineKind::Shown { .. } => {}
                }
            }
            sections.push(Section {
                at: total,
                heading: Some(words::input_heading(input, input.format().as_str())),
                lines: rows,
                folds,
                first_fold,
                end,
                text: Text::Input(all.clone(), i),
            });
            total = end;
        }
        Self {
            id,
            code: code.digest(),
            has_inputs: inputs.is_some(),
            hides: sections.iter().any(|s| adds(s.text.as_str())),
            sections,
            condensed,
            stands,
            total,
            held: OnceLock::new(),
        }
    }

    /// The text of the code.
    pub fn text(&self) -> Option<&Arc<str>> {
        match &self.sections.first()?.text {
            Text::Code(code) => Some(code),
            Text::Input(..) => None,
        }
    }

    #[cfg(test)]
    pub const fn total(&self) -> usize {
        self.total
    }

    /// Digits of the largest line number.
    pub fn number_width(&self) -> usize {
        let last = self.sections.iter().filter_map(|s| s.lines.last());
        let most = last.map(|l| l.number).max();
        most.unwrap_or(1).ilog10() as usize + 1
    }

    /// Offset of this line of the code, counted from 1.
    pub fn code_line(&self, number: usize) -> Option<usize> {
        let code = self.sections.first()?;
        let first = code.lines.partition_point(|l| l.number < number);
        code.lines.get(first).map(|line| line.at)
    }

    /// How many lines were wholly on the screen; lines behind a summary row do not count.
    pub fn lines_seen(&self, seen: &IntervalSet) -> usize {
        let mut count = 0;
        for section in &self.sections {
            let parts = section.lines.chunk_by(|a, b| a.number == b.number);
            count += parts
                .filter(|line| line.iter().all(|l| seen.covers(&section.range(l))))
                .count();
        }
        count
    }

    /// The first stretch that must be seen but was not.
    fn gap(&self, seen: &IntervalSet) -> Option<Range<usize>> {
        if self.condensed.is_empty() {
            return seen.first_gap(self.total);
        }
        let mut seen = seen.clone();
        for range in &self.condensed {
            seen.insert(range.clone());
        }
        seen.first_gap(self.total)
    }

    /// Whether everything that must be seen was seen.
    pub fn is_seen(&self, seen: &IntervalSet) -> bool {
        self.gap(seen).is_none()
    }

    /// Names the first stretch that must be seen but was not; `None` if all was seen. For a line
    /// that spans many rows, names the rows in the current layout.
    pub fn missing(&self, seen: &IntervalSet, layout: Option<&Layout>) -> Option<String> {
        let gap = self.gap(seen)?;
        let section = self.sections.iter().rev().find(|s| s.at <= gap.start)?;
        let end = gap.end.min(section.end).max(gap.start + 1);
        let (first, last) = (section.line_of(gap.start), section.line_of(end - 1));
        let mut what = words::lines(first.number, last.number);
        if let Some(layout) = layout
            && first.number == last.number
            && gap.start > section.at
            && let Some(rows) = layout.rows_of(section, first.number)
            && layout.count(rows.clone()) > 1
        {
            let within = |offset: usize| layout.count(rows.start..layout.row_of(offset)) + 1;
            let rows = words::rows(within(gap.start), within(end - 1));
            what = format!("{what}, {rows}");
        }
        Some(match &section.text {
            Text::Code(_) => words::not_seen(&what),
            Text::Input(inputs, i) => {
                let name = inputs.get(*i).map_or("", |i| i.name.as_str());
                words::input_not_seen(name, &what)
            }
        })
    }

    /// The same from this row on.
    pub fn missing_from(&self, row: usize, seen: &IntervalSet, layout: &Layout) -> Option<String> {
        let mut seen = seen.clone();
        seen.insert(0..layout.offset_of(row));
        self.missing(&seen, Some(layout))
    }

    /// Which occurrence of `needle` stands here, counted from 1, and how many there are.
    pub fn hit(&self, needle: &str, at: usize) -> (usize, usize) {
        self.hits(needle).fold((0, 0), |(which, all), hit| {
            (which + usize::from(hit <= at), all + 1)
        })
    }

    fn hits<'n>(&'n self, needle: &'n str) -> impl Iterator<Item = usize> + 'n {
        self.sections
            .iter()
            .flat_map(move |s| matches(s.text.as_str(), needle).map(move |r| s.offset_of(r.start)))
    }

    /// The next occurrence of `needle` after `from` (or from the start), wrapping around; ignores
    /// ASCII case and includes condensed stretches.
    pub fn find(&self, needle: &str, from: Option<usize>, backwards: bool) -> Option<usize> {
        let hits = self.hits(needle);
        let (mut first, mut last, mut before, mut after) = (None, None, None, None);
        for hit in hits {
            first = first.or(Some(hit));
            last = Some(hit);
            if from.is_some_and(|f| hit < f) {
                before = Some(hit);
            }
            if from.is_none_or(|f| hit > f) && after.is_none() {
                after = Some(hit);
            }
        }
        if backwards {
            before.or(last)
        } else {
            after.or(first)
        }
    }

    /// The condensed stretch that contains this offset.
    pub fn fold_at(&self, offset: usize) -> Option<usize> {
        let fold = self.condensed.partition_point(|r| r.end <= offset);
        let range = self.condensed.get(fold)?;
        (range.start <= offset).then_some(fold)
    }

    /// Where this condensed stretch's summary row begins.
    pub fn stands_at(&self, fold: usize) -> usize {
        self.stands.get(fold).copied().unwrap_or(0)
    }

    /// Where the next input after this offset begins, wrapping around.
    pub fn next_input(&self, offset: usize) -> Option<usize> {
        let mut all = self.sections.iter().filter(|s| s.heading.is_some());
        let first = all.clone().next();
        all.find(|s| s.at > offset).or(first).map(|s| s.at)
    }
}

impl Section {
    /// The line that contains this offset.
    fn line_of(&self, offset: usize) -> Line {
        let at = self.lines.partition_point(|l| l.at <= offset);
        let line = self.lines.get(at.saturating_sub(1));
        line.copied().unwrap_or(Line {
            at: self.at,
            start: 0,
            end: 0,
            to: 0,
            number: 1,
            kind: LineKind::Shown { begins: true },
        })
    }

    /// The document offset of this byte of the section's text.
    fn offset_of(&self, byte: usize) -> usize {
        // A summary row comes before its stretch and has no bytes of the text.
        let at = self.lines.partition_point(|l| l.start <= byte);
        let line = self.lines.get(at.saturating_sub(1));
        line.map_or(self.at, |l| l.at + byte.saturating_sub(l.start))
    }

    fn fold(&self, nr: usize) -> Option<&Fold> {
        self.folds.get(nr.checked_sub(self.first_fold)?)
    }

    /// The text drawn for a line.
    fn drawn(&self, line: &Line) -> &str {
        match line.kind {
            LineKind::Stands(nr) => self.fold(nr).map_or("", |f| &f.summary),
            _ => self.text.as_str().get(line.start..line.end).unwrap_or(""),
        }
    }

    /// The offsets that a line covers.
    fn range(&self, line: &Line) -> Range<usize> {
        let len = match line.kind {
            LineKind::Stands(nr) => self.fold(nr).map_or(0, |f| f.summary.len()),
            _ => line.to - line.start,
        };
        line.at..line.at + len
    }
}

/// Byte ranges where `needle` occurs in `text`, ignoring ASCII case.
pub fn matches<'a>(text: &'a str, needle: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let (hay, pin) = (text.as_bytes(), needle.as_bytes());
    let mut at = 0;
    std::iter::from_fn(move || {
        if pin.is_empty() {
            return None;
        }
        while at + pin.len() <= hay.len() {
            let here = at..at + pin.len();
            at += 1;
            // A needle is UTF-8, so a byte match starts and ends at characters.
            if hay[here.clone()].eq_ignore_ascii_case(pin) {
                at = here.end;
                return Some(here);
            }
        }
        None
    })
}

#[cfg(test)]
mod tests;
