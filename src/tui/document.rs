//! What a reviewer must have seen: the code, and after it the contents that the agent brought,
//! as one run of bytes that is laid out in rows.
//!
//! Offsets count the document's bytes: the code's, then for each brought input one for its
//! heading and its own, and before each stretch that may be condensed those of the row that
//! stands for it. A row stands for a range of them, its line's end included, so what was on the
//! screen is a set of ranges whatever the width was. Everything must be seen but the stretches
//! that a row stands for ([`super::condense`]).

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::model::{BoundInput, ProposalId};

use super::condense::{Fold, folds};
use super::interval::IntervalSet;
use super::text::pieces;
use super::words;

/// Code and brought inputs of one proposal. They never change, but the inputs may come later.
#[derive(Debug)]
pub struct Document {
    pub id: ProposalId,
    pub has_inputs: bool,
    sections: Vec<Section>,
    /// Offsets of the stretches that a row stands for.
    condensed: Vec<Range<usize>>,
    /// Where the row for each of them begins.
    stands: Vec<usize>,
    total: usize,
}

#[derive(Debug)]
struct Section {
    /// Offset of the heading, or of the text where there is none.
    at: usize,
    heading: Option<String>,
    text: Text,
    folds: Vec<Fold>,
    /// The first fold's number in the document.
    first_fold: usize,
    lines: Vec<Line>,
    end: usize,
}

#[derive(Debug)]
enum Text {
    Code(Arc<str>),
    Input(Arc<[BoundInput]>, usize),
}

/// A line or, where a part of it may be condensed, a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    /// Offset in the document.
    at: usize,
    /// Byte offsets in its text: start, end of what is drawn, end with the line's end.
    start: usize,
    end: usize,
    to: usize,
    /// Counted from 1.
    number: usize,
    kind: LineKind,
}

/// The numbers are those of the document's condensed stretches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineKind {
    Shown {
        /// Whether its line begins here.
        begins: bool,
    },
    /// The row that stands for a stretch; its text is the fold's.
    Stands(usize),
    /// A part of the stretch, drawn only where that is open.
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

/// Lines as Python ends them: LF, CR LF, and a lone CR. The CR is drawn. Start, end, end with the
/// line's end.
fn lines(text: &str) -> Vec<(usize, usize, usize)> {
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

/// The lines of a text that begins at this offset, cut where a condensed stretch begins and ends;
/// and the offset where they end. `first` is the number of the first fold in the document.
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
    pub fn new(id: ProposalId, code: Arc<str>, inputs: Option<&Arc<[BoundInput]>>) -> Self {
        let (rows, mut total) = arrange(&code, &[], 0, 0);
        let mut sections = vec![Section {
            at: 0,
            heading: None,
            folds: Vec::new(),
            first_fold: 0,
            lines: rows,
            end: total,
            text: Text::Code(code.clone()),
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
            has_inputs: inputs.is_some(),
            sections,
            condensed,
            stands,
            total,
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

    /// How many lines were on the screen whole; what a row stood for was not.
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

    /// The first stretch that must be seen and was not.
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

    /// Whether all that must be seen was.
    pub fn is_seen(&self, seen: &IntervalSet) -> bool {
        self.gap(seen).is_none()
    }

    /// The first stretch that must be seen and was not, in words; `None` when all of it was. In
    /// a line of many rows it names the rows, as they are laid out.
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
            && rows.len() > 1
        {
            let within = |offset: usize| layout.row_of(offset).saturating_sub(rows.start) + 1;
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

    /// The next place after `from` (from the start without one) and round, where `needle`
    /// stands, ASCII case apart; also in what is condensed.
    pub fn find(&self, needle: &str, from: Option<usize>, backwards: bool) -> Option<usize> {
        let hits = self
            .sections
            .iter()
            .flat_map(|s| matches(s.text.as_str(), needle).map(move |r| s.offset_of(r.start)));
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

    /// The condensed stretch in which this offset lies.
    pub fn fold_at(&self, offset: usize) -> Option<usize> {
        let fold = self.condensed.partition_point(|r| r.end <= offset);
        let range = self.condensed.get(fold)?;
        (range.start <= offset).then_some(fold)
    }

    /// Where the row for this condensed stretch begins.
    pub fn stands_at(&self, fold: usize) -> usize {
        self.stands.get(fold).copied().unwrap_or(0)
    }

    /// Where the next input after this offset begins, and round.
    pub fn next_input(&self, offset: usize) -> Option<usize> {
        let mut all = self.sections.iter().filter(|s| s.heading.is_some());
        let first = all.clone().next();
        all.find(|s| s.at > offset).or(first).map(|s| s.at)
    }
}

impl Section {
    /// The line in which this offset lies.
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

    /// Where this byte of its text stands in the document.
    fn offset_of(&self, byte: usize) -> usize {
        // A row that stands for a stretch comes before it and has no byte of the text.
        let at = self.lines.partition_point(|l| l.start <= byte);
        let line = self.lines.get(at.saturating_sub(1));
        line.map_or(self.at, |l| l.at + byte.saturating_sub(l.start))
    }

    fn fold(&self, nr: usize) -> Option<&Fold> {
        self.folds.get(nr.checked_sub(self.first_fold)?)
    }

    /// What a line draws.
    fn drawn(&self, line: &Line) -> &str {
        match line.kind {
            LineKind::Stands(nr) => self.fold(nr).map_or("", |f| &f.summary),
            _ => self.text.as_str().get(line.start..line.end).unwrap_or(""),
        }
    }

    /// The offsets that a line takes.
    fn range(&self, line: &Line) -> Range<usize> {
        let len = match line.kind {
            LineKind::Stands(nr) => self.fold(nr).map_or(0, |f| f.summary.len()),
            _ => line.to - line.start,
        };
        line.at..line.at + len
    }
}

/// Where `needle` stands in `text`, ASCII case apart; byte offsets.
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

/// One row of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Offset of its first byte in the document.
    pub at: usize,
    /// One past its last byte, the line's end included.
    pub to: usize,
    section: u16,
    line: u32,
    /// Whether its line begins here; otherwise it continues a wrapped one.
    pub first: bool,
    heading: bool,
    /// Whether it may be left unseen: another row stands for it.
    optional: bool,
}

/// What a row shows.
pub enum Content<'a> {
    Heading(&'a str),
    /// Our words for what is condensed here.
    Stands {
        text: &'a str,
        open: bool,
    },
    Text {
        /// Counted from 1 within its section.
        number: usize,
        /// Whether it is the code's, where findings and colours apply.
        code: bool,
        text: &'a str,
        /// Byte offset of `text` in its section.
        offset: usize,
    },
}

/// Where a line is cut into rows: anywhere, or in our own words after a blank.
fn cuts(text: &str, columns: usize, words: bool) -> Vec<usize> {
    let mut out = Vec::new();
    let mut used = 0;
    // Where the last blank of this row ends, and the columns after it.
    let mut blank: Option<(usize, usize)> = None;
    // A byte is never narrower than its column, but a tab and an escape are wider.
    for piece in pieces(text) {
        if used + piece.width > columns && used > 0 {
            let (cut, since) = blank.take().unwrap_or((piece.start, 0));
            out.push(cut);
            used = since;
        }
        used += piece.width;
        if words && text[piece.start..piece.end] == *" " {
            blank = Some((piece.end, 0));
        } else if let Some((_, since)) = &mut blank {
            *since += piece.width;
        }
    }
    out
}

/// A document at one width.
#[derive(Debug)]
pub struct Layout {
    pub doc: Arc<Document>,
    pub width: u16,
    pub wrap: bool,
    /// The condensed stretches that are drawn all the same.
    open: BTreeSet<usize>,
    rows: Vec<Row>,
}

impl Layout {
    pub fn new(doc: Arc<Document>, width: u16, wrap: bool, open: &BTreeSet<usize>) -> Self {
        let columns = usize::from(width.max(1));
        let mut rows = Vec::new();
        for (s, section) in doc.sections.iter().enumerate() {
            let section_nr = u16::try_from(s).unwrap_or(u16::MAX);
            let text_at = section.at + usize::from(section.heading.is_some());
            if section.heading.is_some() {
                rows.push(Row {
                    at: section.at,
                    to: text_at,
                    section: section_nr,
                    line: 0,
                    first: true,
                    heading: true,
                    optional: false,
                });
            }
            for (n, line) in section.lines.iter().enumerate() {
                let (begins, optional) = match line.kind {
                    LineKind::Shown { begins } => (begins, false),
                    LineKind::Stands(_) => (true, false),
                    LineKind::Condensed { fold, .. } if !open.contains(&fold) => continue,
                    LineKind::Condensed { begins, .. } => (begins, true),
                };
                let range = section.range(line);
                let mut row = Row {
                    at: range.start,
                    to: range.end,
                    section: section_nr,
                    line: u32::try_from(n).unwrap_or(u32::MAX),
                    first: begins,
                    heading: false,
                    optional,
                };
                let cuts = match line.kind {
                    LineKind::Stands(_) => cuts(section.drawn(line), columns, true),
                    _ if wrap => cuts(section.drawn(line), columns, false),
                    _ => Vec::new(),
                };
                for cut in cuts {
                    let cut = range.start + cut;
                    rows.push(Row { to: cut, ..row });
                    row.at = cut;
                    row.first = false;
                }
                rows.push(row);
            }
        }
        Self {
            doc,
            width,
            wrap,
            open: open.clone(),
            rows,
        }
    }

    pub fn fits(
        &self,
        doc: &Arc<Document>,
        width: u16,
        wrap: bool,
        open: &BTreeSet<usize>,
    ) -> bool {
        Arc::ptr_eq(&self.doc, doc)
            && self.width == width
            && self.wrap == wrap
            && self.open == *open
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn row(&self, index: usize) -> Option<Row> {
        self.rows.get(index).copied()
    }

    /// The row in which this offset lies, or the one that stands for it.
    pub fn row_of(&self, offset: usize) -> usize {
        self.rows
            .partition_point(|r| r.at <= offset)
            .saturating_sub(1)
    }

    /// The offset of this row, or of the last.
    pub fn offset_of(&self, row: usize) -> usize {
        let last = self.rows.len().saturating_sub(1);
        self.rows.get(row.min(last)).map_or(0, |r| r.at)
    }

    /// Each row that must be seen, by its place, and whether it was.
    fn musts(&self, seen: &IntervalSet) -> impl Iterator<Item = (usize, bool)> {
        let mut ranges = seen.iter().peekable();
        let rows = self.rows.iter().enumerate().filter(|(_, r)| !r.optional);
        rows.map(move |(i, row)| {
            while ranges.next_if(|r| r.end < row.to).is_some() {}
            let covers = |r: &Range<usize>| r.start <= row.at && row.to <= r.end;
            (i, ranges.peek().is_some_and(covers))
        })
    }

    /// How many rows must be seen, and how many of them were.
    pub fn progress(&self, seen: &IntervalSet) -> (usize, usize) {
        self.musts(seen).fold((0, 0), |(have, all), (_, was)| {
            (have + usize::from(was), all + 1)
        })
    }

    /// The next row that must be seen and was not: the first below those on the glass, else the
    /// first above them.
    pub fn next_unseen(&self, seen: &IntervalSet, glass: &Range<usize>) -> Option<usize> {
        let (mut above, mut below) = (None, None);
        for (i, was) in self.musts(seen) {
            if !was && i < glass.start {
                above = above.or(Some(i));
            } else if !was && i >= glass.end {
                below = below.or(Some(i));
            }
        }
        below.or(above)
    }

    /// The rows of one line of a section.
    fn rows_of(&self, section: &Section, number: usize) -> Option<Range<usize>> {
        let first = section.lines.partition_point(|l| l.number < number);
        let last = section.lines.partition_point(|l| l.number <= number);
        let from = section.lines.get(first)?.at;
        let to = section.range(section.lines.get(last.checked_sub(1)?)?).end;
        let end = self.rows.partition_point(|r| r.at < to);
        Some(self.row_of(from)..end)
    }

    /// The condensed stretch that this row stands for, or is of.
    pub fn fold_of(&self, row: Row) -> Option<usize> {
        match self.line(row)?.1.kind {
            LineKind::Stands(fold) | LineKind::Condensed { fold, .. } if !row.heading => Some(fold),
            _ => None,
        }
    }

    fn line(&self, row: Row) -> Option<(&Section, &Line)> {
        let section = self.doc.sections.get(usize::from(row.section))?;
        Some((section, section.lines.get(row.line as usize)?))
    }

    pub fn content(&self, row: Row) -> Content<'_> {
        if row.heading {
            let section = self.doc.sections.get(usize::from(row.section));
            return Content::Heading(section.and_then(|s| s.heading.as_deref()).unwrap_or(""));
        }
        let Some((section, line)) = self.line(row) else {
            return Content::Heading("");
        };
        let drawn = section.drawn(line);
        let from = row.at - line.at;
        let to = (row.to - line.at).min(drawn.len()).max(from);
        let text = drawn.get(from..to).unwrap_or("");
        match line.kind {
            LineKind::Stands(fold) => Content::Stands {
                text,
                open: self.open.contains(&fold),
            },
            _ => Content::Text {
                number: line.number,
                code: matches!(section.text, Text::Code(_)),
                text,
                offset: line.start + from,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Digest, InputKind};
    use proptest::prelude::*;

    fn doc(code: &str, inputs: &[&str]) -> Arc<Document> {
        let inputs: Arc<[BoundInput]> = inputs
            .iter()
            .map(|text| BoundInput {
                name: "rows".to_owned(),
                kind: InputKind::Json {
                    text: (*text).to_owned(),
                },
                bytes: text.len() as u64,
                sha256: Digest::of(text.as_bytes()),
            })
            .collect();
        Arc::new(Document::new(ProposalId::new(), code.into(), Some(&inputs)))
    }

    #[test]
    fn lines_end_as_python_ends_them_and_the_cr_is_drawn() {
        let d = doc("a\r\nb\rc\n\nd", &[]);
        let layout = Layout::new(d.clone(), 10, true, &BTreeSet::new());
        let texts: Vec<String> = (0..layout.len())
            .map(|i| match layout.content(layout.row(i).unwrap()) {
                Content::Text { text, .. } | Content::Stands { text, .. } => text.to_owned(),
                Content::Heading(h) => h.to_owned(),
            })
            .collect();
        assert_eq!(texts, ["a\r", "b\r", "c", "", "d"]);
        assert_eq!(d.number_width(), 1);
    }

    #[test]
    fn a_wrapped_line_is_seen_only_with_all_its_rows() {
        let d = doc(&format!("x\n{}\ny", "long ".repeat(10)), &[]);
        let layout = Layout::new(d.clone(), 10, true, &BTreeSet::new());
        let mut seen = IntervalSet::default();
        for i in 0..layout.len() {
            if i != 3 {
                let row = layout.row(i).unwrap();
                seen.insert(row.at..row.to);
            }
        }
        assert_eq!(d.lines_seen(&seen), 2);
        assert_eq!(
            d.missing(&seen, Some(&layout)).unwrap(),
            "line 2, row 3 not seen"
        );
        assert_eq!(d.missing(&seen, None).unwrap(), "line 2 not seen");
        assert_eq!(layout.progress(&seen), (layout.len() - 1, layout.len()));
        let row = layout.row(3).unwrap();
        seen.insert(row.at..row.to);
        assert_eq!((d.lines_seen(&seen), d.is_seen(&seen)), (3, true));
    }

    #[test]
    fn an_input_that_the_agent_brought_is_named_when_it_was_not_seen() {
        let d = doc("print(rows)\n", &["[1,\n2,\n3]"]);
        let layout = Layout::new(d.clone(), 40, true, &BTreeSet::new());
        assert_eq!(layout.len(), 1 + 1 + 3);
        let mut seen = IntervalSet::default();
        for i in [0, 1, 2] {
            let row = layout.row(i).unwrap();
            seen.insert(row.at..row.to);
        }
        assert_eq!(
            d.missing(&seen, Some(&layout)).unwrap(),
            "input rows: lines 2–3 not seen"
        );
    }

    #[test]
    fn search_goes_round_and_ignores_ascii_case() {
        let d = doc("abc\nABC\nxabc", &["[\"abc\"]"]);
        assert_eq!(d.find("abc", None, false), Some(0));
        assert_eq!(d.find("abc", Some(0), false), Some(4));
        assert_eq!(d.find("abc", Some(0), true), Some(15));
        assert_eq!(d.find("abc", Some(15), false), Some(0));
        assert_eq!(d.find("nothing", Some(0), false), None);
        assert_eq!(d.find("", Some(0), false), None);
    }

    proptest! {
        #[test]
        fn rows_cover_every_byte_once_at_any_width(
            code in "[a-z\\t\\r\\n\\x1b漢é\u{301} ]{0,200}",
            input in "[a-z\\n]{0,50}",
            width in 1_u16..40,
            wrap in any::<bool>(),
        ) {
            let d = doc(&code, &[&input]);
            let layout = Layout::new(d.clone(), width, wrap, &BTreeSet::new());
            let mut at = 0;
            for i in 0..layout.len() {
                let row = layout.row(i).unwrap();
                prop_assert_eq!(row.at, at);
                prop_assert!(row.to > row.at);
                prop_assert_eq!(layout.row_of(row.at), i);
                at = row.to;
            }
            prop_assert_eq!(at, d.total());
            let mut seen = IntervalSet::default();
            seen.insert(0..d.total());
            let lines = lines(&code).len() + lines(&input).len();
            prop_assert_eq!(d.lines_seen(&seen), lines);
            prop_assert!(d.is_seen(&seen));
        }
    }

    fn numbers(n: usize) -> String {
        let all: Vec<String> = (0..n).map(|i| format!("{{\"n\":{i}}}")).collect();
        format!("[{}]", all.join(","))
    }

    /// At any width, with any stretches open: the rows that must be seen are all of the document
    /// but what is condensed, each byte once, and seeing them is seeing all.
    #[test]
    fn what_is_condensed_need_not_be_seen_and_everything_else_must() {
        let input = numbers(400);
        let d = doc("print(rows)\n", &[&input, &numbers(3), &numbers(200)]);
        assert_eq!(d.condensed.len(), 2);
        for (width, open) in [
            (20, vec![]),
            (40, vec![0]),
            (77, vec![1]),
            (200, vec![0, 1]),
        ] {
            let layout = Layout::new(d.clone(), width, true, &open.into_iter().collect());
            let mut seen = IntervalSet::default();
            let mut at = 0;
            for i in 0..layout.len() {
                let row = layout.row(i).unwrap();
                if row.at > at {
                    // Only what is condensed and closed has no row.
                    assert!(d.condensed.contains(&(at..row.at)));
                }
                at = row.to;
                assert_eq!(layout.row_of(row.at), i);
                if !row.optional {
                    assert!(!d.is_seen(&seen));
                    assert_eq!(layout.next_unseen(&seen, &(0..0)), Some(i));
                    seen.insert(row.at..row.to);
                }
            }
            assert_eq!(at, d.total());
            assert!(d.is_seen(&seen));
            let (have, all) = layout.progress(&seen);
            assert_eq!(have, all);
        }
    }

    #[test]
    fn every_row_that_stands_for_a_stretch_must_be_seen() {
        let d = doc("", &[&numbers(400)]);
        let layout = Layout::new(d.clone(), 30, true, &BTreeSet::new());
        let all: Vec<Row> = (0..layout.len()).map(|i| layout.row(i).unwrap()).collect();
        let stand: Vec<&Row> = all
            .iter()
            .filter(|r| layout.fold_of(**r).is_some())
            .collect();
        assert!(stand.len() > 2);
        for left in stand {
            let mut seen = IntervalSet::default();
            all.iter()
                .filter(|r| *r != left)
                .for_each(|r| seen.insert(r.at..r.to));
            assert!(!d.is_seen(&seen));
            assert_eq!(
                d.missing(&seen, None).unwrap(),
                "input rows: line 1 not seen"
            );
        }
    }

    #[test]
    fn a_search_finds_what_is_condensed() {
        let d = doc("", &[&numbers(400)]);
        let hit = d.find(":250", None, false).unwrap();
        assert_eq!(d.fold_at(hit), Some(0));
        let layout = Layout::new(d.clone(), 40, true, &BTreeSet::from([0]));
        let row = layout.row(layout.row_of(hit)).unwrap();
        assert!(row.optional && layout.fold_of(row) == Some(0));
        assert_eq!(d.fold_at(d.find(":2}", None, false).unwrap()), None);
    }
}
