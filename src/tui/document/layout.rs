//! A document laid out in rows at one width: which bytes are in which row, which rows must be seen,
//! and which were.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::super::as_drawn;
use super::super::interval::IntervalSet;
use super::super::text::{foreign, pieces};
use super::{Document, Line, LineKind, Section, Text};

/// One row of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Offset of its first byte in the document.
    pub at: usize,
    /// One past its last byte, including the newline.
    pub to: usize,
    section: u16,
    line: u32,
    /// Whether its line begins here; otherwise the row continues a wrapped line.
    pub first: bool,
    kind: RowKind,
    /// Whether it may stay unseen because a summary row replaces it.
    pub(super) optional: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowKind {
    Heading,
    Text,
    /// Shows the marked text of the rows above as the terminal draws it, from this byte of the line
    /// on. Holds no bytes of the document.
    AsDrawn(u32),
}

/// What a row shows.
pub enum Content<'a> {
    Heading(&'a str),
    /// The program's summary of a condensed stretch.
    Stands {
        text: &'a str,
        open: bool,
    },
    Text {
        /// Counted from 1 within its section.
        number: usize,
        /// Whether the line is code, which has findings and colours.
        code: bool,
        text: &'a str,
        /// Byte offset of `text` in its section.
        offset: usize,
    },
    /// The marked text of the rows above, as the terminal draws it.
    AsDrawn(&'a str),
}

/// Where a line is cut into rows: anywhere, or after a blank if `words` (for the program's own
/// text).
fn cuts(text: &str, columns: usize, words: bool) -> Vec<usize> {
    let mut out = Vec::new();
    let mut used = 0;
    // Where the last blank of this row ends, and the columns after it.
    let mut blank: Option<(usize, usize)> = None;
    // Tabs and marks can draw more columns than they have bytes, so measure each piece.
    for piece in if words { pieces(text) } else { foreign(text) } {
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

/// The rows below a line that repeat its text as the terminal draws it. Each row holds as much as
/// fits, and is added once all of its text is in the rows above.
struct Below<'a> {
    text: &'a str,
    /// Where the next row's text begins.
    from: usize,
    columns: usize,
    wrap: bool,
}

impl<'a> Below<'a> {
    fn new(text: &'a str, columns: usize, wrap: bool) -> Option<Self> {
        as_drawn::adds(text).then_some(Self {
            text,
            from: 0,
            columns: Self::room(columns),
            wrap,
        })
    }

    fn room(columns: usize) -> usize {
        columns.saturating_sub(as_drawn::BEFORE)
    }

    /// Adds the rows for text that ends before `upto`; `next` is the row to be added after them.
    fn push(&mut self, rows: &mut Vec<Row>, next: Row, upto: usize) {
        while self.from < upto {
            let rest = &self.text[self.from..];
            // An unwrapped line has a single row, which scrolls with the line.
            let part = match self.wrap {
                true => &rest[..as_drawn::fits(rest, self.columns)],
                false => rest,
            };
            if self.from + part.len() > upto {
                return;
            }
            rows.push(Row {
                to: next.at,
                first: false,
                kind: RowKind::AsDrawn(u32::try_from(self.from).unwrap_or(u32::MAX)),
                optional: true,
                ..next
            });
            self.from += part.len();
        }
    }
}

impl Row {
    /// Whether the row shows bytes of the document.
    fn holds(&self) -> bool {
        !matches!(self.kind, RowKind::AsDrawn(_))
    }
}

/// A document laid out at one width.
#[derive(Debug)]
pub struct Layout {
    pub doc: Arc<Document>,
    pub width: u16,
    pub wrap: bool,
    /// The open condensed stretches.
    open: BTreeSet<usize>,
    /// Whether marked text is repeated below its marks as the terminal draws it.
    pub as_drawn: bool,
    rows: Vec<Row>,
}

impl Layout {
    pub fn new(
        doc: Arc<Document>,
        width: u16,
        wrap: bool,
        open: &BTreeSet<usize>,
        as_drawn: bool,
    ) -> Self {
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
                    kind: RowKind::Heading,
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
                    kind: RowKind::Text,
                    optional,
                };
                let cuts = match line.kind {
                    LineKind::Stands(_) => cuts(section.drawn(line), columns, true),
                    _ if wrap => cuts(section.drawn(line), columns, false),
                    _ => Vec::new(),
                };
                let text = section.drawn(line);
                let mut below = (as_drawn && !matches!(line.kind, LineKind::Stands(_)))
                    .then(|| Below::new(text, columns, wrap))
                    .flatten();
                for cut in cuts {
                    rows.push(Row {
                        to: range.start + cut,
                        ..row
                    });
                    row.at = range.start + cut;
                    row.first = false;
                    if let Some(below) = &mut below {
                        below.push(&mut rows, row, cut);
                    }
                }
                rows.push(row);
                if let Some(below) = &mut below {
                    row.at = range.end;
                    below.push(&mut rows, row, text.len());
                }
            }
        }
        Self {
            doc,
            width,
            wrap,
            open: open.clone(),
            as_drawn,
            rows,
        }
    }

    pub fn fits(
        &self,
        doc: &Arc<Document>,
        width: u16,
        wrap: bool,
        open: &BTreeSet<usize>,
        as_drawn: bool,
    ) -> bool {
        Arc::ptr_eq(&self.doc, doc)
            && self.width == width
            && self.wrap == wrap
            && self.as_drawn == as_drawn
            && self.open == *open
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn row(&self, index: usize) -> Option<Row> {
        self.rows.get(index).copied()
    }

    /// The row that contains this offset, or the summary row that replaces it.
    pub fn row_of(&self, offset: usize) -> usize {
        let after = self.rows.partition_point(|r| r.at <= offset);
        self.holding(after.saturating_sub(1))
    }

    /// This row, or the nearest row above it that holds bytes of the document.
    pub fn holding(&self, row: usize) -> usize {
        let holds = |i: &usize| self.rows.get(*i).is_some_and(|r| r.holds());
        (0..=row).rev().find(holds).unwrap_or(0)
    }

    /// This row, or the nearest row below it that holds bytes of the document, or the last such
    /// row.
    pub fn holding_next(&self, row: usize) -> usize {
        let holds = |i: &usize| self.rows.get(*i).is_some_and(|r| r.holds());
        let next = (row..self.rows.len()).find(holds);
        next.unwrap_or_else(|| self.holding(row))
    }

    /// How many of these rows hold bytes of the document.
    pub fn count(&self, rows: Range<usize>) -> usize {
        if !self.as_drawn {
            return rows.len();
        }
        let rows = self.rows.get(rows).unwrap_or_default();
        rows.iter().filter(|r| r.holds()).count()
    }

    /// The row's offset, limited to the last row. A row without bytes of its own has the offset of
    /// the row below.
    pub fn offset_of(&self, row: usize) -> usize {
        let last = self.rows.len().saturating_sub(1);
        self.rows.get(row.min(last)).map_or(0, |r| r.at)
    }

    /// Each row that must be seen, by index, and whether it was seen.
    fn musts(&self, seen: &IntervalSet) -> impl Iterator<Item = (usize, bool)> {
        let mut ranges = seen.iter().peekable();
        let rows = self.rows.iter().enumerate().filter(|(_, r)| !r.optional);
        rows.map(move |(i, row)| {
            while ranges.next_if(|r| r.end < row.to).is_some() {}
            let covers = |r: &Range<usize>| r.start <= row.at && row.to <= r.end;
            (i, ranges.peek().is_some_and(covers))
        })
    }

    /// The number of rows seen, and the number of rows that must be seen.
    pub fn progress(&self, seen: &IntervalSet) -> (usize, usize) {
        self.musts(seen).fold((0, 0), |(have, all), (_, was)| {
            (have + usize::from(was), all + 1)
        })
    }

    /// The next row that must still be seen: the first one below the screen, otherwise the first
    /// one above it.
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

    /// The rows of one line in a section.
    pub(super) fn rows_of(&self, section: &Section, number: usize) -> Option<Range<usize>> {
        let first = section.lines.partition_point(|l| l.number < number);
        let last = section.lines.partition_point(|l| l.number <= number);
        let from = section.lines.get(first)?.at;
        let to = section.range(section.lines.get(last.checked_sub(1)?)?).end;
        let end = self.rows.partition_point(|r| r.at < to);
        Some(self.row_of(from)..end)
    }

    /// The condensed stretch that this row summarises or belongs to.
    pub fn fold_of(&self, row: Row) -> Option<usize> {
        match self.line(row)?.1.kind {
            LineKind::Stands(fold) | LineKind::Condensed { fold, .. }
                if row.kind == RowKind::Text =>
            {
                Some(fold)
            }
            _ => None,
        }
    }

    fn line(&self, row: Row) -> Option<(&Section, &Line)> {
        let section = self.doc.sections.get(usize::from(row.section))?;
        Some((section, section.lines.get(row.line as usize)?))
    }

    pub fn content(&self, row: Row) -> Content<'_> {
        if row.kind == RowKind::Heading {
            let section = self.doc.sections.get(usize::from(row.section));
            return Content::Heading(section.and_then(|s| s.heading.as_deref()).unwrap_or(""));
        }
        let Some((section, line)) = self.line(row) else {
            return Content::Heading("");
        };
        let drawn = section.drawn(line);
        if let RowKind::AsDrawn(from) = row.kind {
            let text = drawn.get(from as usize..).unwrap_or("");
            let upto = match self.wrap {
                true => as_drawn::fits(text, Below::room(usize::from(self.width))),
                false => text.len(),
            };
            return Content::AsDrawn(text.get(..upto).unwrap_or(""));
        }
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
