//! What a reviewer must have seen: the code, and after it the contents that the agent brought,
//! as one run of bytes that is laid out in rows.
//!
//! Offsets count the document's bytes: the code's, then for each brought input one for its
//! heading and its own. A row stands for a range of them, its line's end included, so what was
//! on the screen is a set of ranges whatever the width was.

use std::ops::Range;
use std::sync::Arc;

use crate::model::{BoundInput, ProposalId};

use super::interval::IntervalSet;
use super::text::pieces;
use super::words;

/// Code and brought inputs of one proposal. They never change, but the inputs may come later.
#[derive(Debug)]
pub struct Document {
    pub id: ProposalId,
    pub has_inputs: bool,
    sections: Vec<Section>,
    total: usize,
}

#[derive(Debug)]
struct Section {
    /// Offset of the heading, or of the text where there is none.
    at: usize,
    /// Offset of the text's first byte.
    text_at: usize,
    heading: Option<String>,
    text: Text,
    lines: Vec<Line>,
}

#[derive(Debug)]
enum Text {
    Code(Arc<str>),
    Input(Arc<[BoundInput]>, usize),
}

/// Byte offsets in the section's text: start, end of what is drawn, end with the line's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    start: u32,
    end: u32,
    to: u32,
}

impl Text {
    fn as_str(&self) -> &str {
        match self {
            Self::Code(code) => code,
            Self::Input(inputs, i) => inputs.get(*i).and_then(BoundInput::brought).unwrap_or(""),
        }
    }
}

/// Lines as Python ends them: LF, CR LF, and a lone CR. The CR is drawn.
fn lines(text: &str) -> Vec<Line> {
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
    // A frame is at most 1 MiB, so every offset fits.
    let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    out.into_iter()
        .map(|(start, end, to)| Line {
            start: small(start),
            end: small(end),
            to: small(to),
        })
        .collect()
}

impl Document {
    pub fn new(id: ProposalId, code: Arc<str>, inputs: Option<&Arc<[BoundInput]>>) -> Self {
        let mut sections = vec![Section {
            at: 0,
            text_at: 0,
            heading: None,
            lines: lines(&code),
            text: Text::Code(code.clone()),
        }];
        let mut total = code.len();
        for (i, input) in inputs.iter().flat_map(|i| i.iter()).enumerate() {
            let (Some(text), Some(all)) = (input.brought(), inputs) else {
                continue;
            };
            sections.push(Section {
                at: total,
                text_at: total + 1,
                heading: Some(words::input_heading(input, input.format().as_str())),
                lines: lines(text),
                text: Text::Input(all.clone(), i),
            });
            total += 1 + text.len();
        }
        Self {
            id,
            has_inputs: inputs.is_some(),
            sections,
            total,
        }
    }

    #[cfg(test)]
    pub const fn total(&self) -> usize {
        self.total
    }

    /// Lines of the code and of all brought contents, headings not counted.
    pub fn line_count(&self) -> usize {
        self.sections.iter().map(|s| s.lines.len()).sum()
    }

    /// Digits of the largest line number.
    pub fn number_width(&self) -> usize {
        let most = self.sections.iter().map(|s| s.lines.len()).max();
        most.unwrap_or(0).max(1).ilog10() as usize + 1
    }

    /// How many lines were on the screen whole.
    pub fn lines_seen(&self, seen: &IntervalSet) -> usize {
        let mut count = 0;
        for range in seen.iter() {
            for section in &self.sections {
                let start = |l: &Line| section.text_at + l.start as usize;
                let to = |l: &Line| section.text_at + l.to as usize;
                let first = section.lines.partition_point(|l| start(l) < range.start);
                let last = section.lines.partition_point(|l| to(l) <= range.end);
                count += last.saturating_sub(first);
            }
        }
        count
    }

    /// The first stretch that was not on the screen, in words; `None` when all of it was.
    pub fn missing(&self, seen: &IntervalSet) -> Option<String> {
        let gap = seen.first_gap(self.total)?;
        let section = self.sections.iter().rev().find(|s| s.at <= gap.start)?;
        let line_of = |offset: usize| {
            let inside = offset.saturating_sub(section.text_at);
            section
                .lines
                .partition_point(|l| l.start as usize <= inside)
                .max(1)
        };
        let end = gap.end.min(section.end());
        let (first, last) = (line_of(gap.start), line_of(end.saturating_sub(1)));
        Some(match &section.text {
            Text::Code(_) => words::code_not_seen(first, last),
            Text::Input(inputs, i) => {
                let name = inputs.get(*i).map_or("", |i| i.name.as_str());
                words::input_not_seen(name, first, last)
            }
        })
    }

    /// The next place after `from` (from the start without one) and round, where `needle`
    /// stands, ASCII case apart.
    pub fn find(&self, needle: &str, from: Option<usize>, backwards: bool) -> Option<usize> {
        let hits = self
            .sections
            .iter()
            .flat_map(|s| matches(s.text.as_str(), needle).map(move |r| s.text_at + r.start));
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
}

impl Section {
    fn end(&self) -> usize {
        self.text_at + self.text.as_str().len()
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
}

/// What a row shows.
pub enum Content<'a> {
    Heading(&'a str),
    Text {
        /// Counted from 1 within its section.
        number: usize,
        /// Whether it is the code's, where findings and colours apply.
        code: bool,
        text: &'a str,
        /// Byte offset of `text` in its section.
        offset: usize,
        /// One past its last byte in the document, before the line's end.
        end: usize,
    },
}

/// A document at one width.
#[derive(Debug)]
pub struct Layout {
    pub doc: Arc<Document>,
    pub width: u16,
    pub wrap: bool,
    rows: Vec<Row>,
}

impl Layout {
    pub fn new(doc: Arc<Document>, width: u16, wrap: bool) -> Self {
        let columns = usize::from(width.max(1));
        let mut rows = Vec::new();
        for (s, section) in doc.sections.iter().enumerate() {
            let section_nr = u16::try_from(s).unwrap_or(u16::MAX);
            if section.heading.is_some() {
                rows.push(Row {
                    at: section.at,
                    to: section.text_at,
                    section: section_nr,
                    line: 0,
                    first: true,
                    heading: true,
                });
            }
            let text = section.text.as_str();
            for (n, line) in section.lines.iter().enumerate() {
                let mut row = Row {
                    at: section.text_at + line.start as usize,
                    to: section.text_at + line.to as usize,
                    section: section_nr,
                    line: u32::try_from(n).unwrap_or(u32::MAX),
                    first: true,
                    heading: false,
                };
                // A byte is never narrower than its column, but a tab and an escape are wider.
                if wrap {
                    let mut used = 0;
                    for piece in pieces(&text[line.start as usize..line.end as usize]) {
                        if used + piece.width > columns && used > 0 {
                            let cut = section.text_at + line.start as usize + piece.start;
                            rows.push(Row { to: cut, ..row });
                            row.at = cut;
                            row.first = false;
                            used = 0;
                        }
                        used += piece.width;
                    }
                }
                rows.push(row);
            }
        }
        Self {
            doc,
            width,
            wrap,
            rows,
        }
    }

    pub fn fits(&self, doc: &Arc<Document>, width: u16, wrap: bool) -> bool {
        Arc::ptr_eq(&self.doc, doc) && self.width == width && self.wrap == wrap
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn row(&self, index: usize) -> Option<Row> {
        self.rows.get(index).copied()
    }

    /// The row in which this offset lies.
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

    pub fn content(&self, row: Row) -> Content<'_> {
        let Some(section) = self.doc.sections.get(usize::from(row.section)) else {
            return Content::Heading("");
        };
        if row.heading {
            return Content::Heading(section.heading.as_deref().unwrap_or(""));
        }
        let drawn_end = section
            .lines
            .get(row.line as usize)
            .map_or(0, |l| section.text_at + l.end as usize);
        let end = row.to.min(drawn_end).max(row.at);
        Content::Text {
            number: row.line as usize + 1,
            code: matches!(section.text, Text::Code(_)),
            text: section
                .text
                .as_str()
                .get(row.at - section.text_at..end - section.text_at)
                .unwrap_or(""),
            offset: row.at - section.text_at,
            end,
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
        let layout = Layout::new(d.clone(), 10, true);
        let texts: Vec<String> = (0..layout.len())
            .map(|i| match layout.content(layout.row(i).unwrap()) {
                Content::Text { text, .. } => text.to_owned(),
                Content::Heading(h) => h.to_owned(),
            })
            .collect();
        assert_eq!(texts, ["a\r", "b\r", "c", "", "d"]);
        assert_eq!(d.line_count(), 5);
    }

    #[test]
    fn a_wrapped_line_is_seen_only_with_all_its_rows() {
        let d = doc(&format!("x\n{}\ny", "long ".repeat(10)), &[]);
        let layout = Layout::new(d.clone(), 10, true);
        let mut seen = IntervalSet::default();
        for i in 0..layout.len() {
            if i != 3 {
                let row = layout.row(i).unwrap();
                seen.insert(row.at..row.to);
            }
        }
        assert_eq!(d.lines_seen(&seen), 2);
        assert_eq!(d.missing(&seen).unwrap(), "line 2 not seen");
        let row = layout.row(3).unwrap();
        seen.insert(row.at..row.to);
        assert_eq!((d.lines_seen(&seen), d.missing(&seen)), (3, None));
    }

    #[test]
    fn an_input_that_the_agent_brought_is_named_when_it_was_not_seen() {
        let d = doc("print(rows)\n", &["[1,\n2,\n3]"]);
        let layout = Layout::new(d.clone(), 40, true);
        assert_eq!(layout.len(), 1 + 1 + 3);
        let mut seen = IntervalSet::default();
        for i in [0, 1, 2] {
            let row = layout.row(i).unwrap();
            seen.insert(row.at..row.to);
        }
        assert_eq!(d.missing(&seen).unwrap(), "input rows: lines 2–3 not seen");
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
            let layout = Layout::new(d.clone(), width, wrap);
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
            prop_assert_eq!(d.lines_seen(&seen), d.line_count());
            prop_assert!(d.missing(&seen).is_none());
        }
    }
}
