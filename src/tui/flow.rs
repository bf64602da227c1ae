//! Paragraphs of styled text wrapped into rows, for everything except code.

use std::sync::Arc;

use super::as_drawn;
use super::gutter::Gutter;
use super::pixels::Strip;
use super::text::{Piece, pieces};
use super::theme::Role;

/// A text and whose it is: the program's own words can be said with their signs in words, everything else is said as it
/// is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    text: String,
    pub given: bool,
}

impl Words {
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Another text of the same origin.
    pub const fn with(&self, text: String) -> Self {
        let given = self.given;
        Self { text, given }
    }
}

impl std::ops::Deref for Words {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl AsRef<str> for Words {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// A paragraph: spans of raw text, each with its role, and the indents of its rows.
#[derive(Clone, Debug, Default)]
pub struct Para {
    spans: Vec<(Words, Role)>,
    indent: usize,
    hang: usize,
    finding: Option<usize>,
    line: Option<usize>,
    gutter: Option<Gutter>,
    as_drawn: bool,
}

impl Para {
    pub fn new(text: impl Into<String>, role: Role) -> Self {
        Self::default().and(text, role)
    }

    /// The text as the terminal draws it, in separate rows; `None` if the text has no marks.
    pub fn as_drawn(text: &str) -> Option<Self> {
        as_drawn::adds(text).then(|| Self {
            as_drawn: true,
            ..Self::new(text, Role::Dim)
        })
    }

    pub fn and(mut self, text: impl Into<String>, role: Role) -> Self {
        let (text, given) = (text.into(), false);
        self.spans.push((Words { text, given }, role));
        self
    }

    /// The same with text that is not the program's: of an agent, of data, of a run.
    pub fn given(mut self, text: impl Into<String>, role: Role) -> Self {
        let (text, given) = (text.into(), true);
        self.spans.push((Words { text, given }, role));
        self
    }

    /// The text without roles.
    pub fn text(&self) -> String {
        self.spans.iter().map(|(text, _)| text.as_str()).collect()
    }

    /// Columns before every row.
    pub const fn indent(mut self, columns: usize) -> Self {
        self.indent = columns;
        self
    }

    /// Additional columns before every row except the first.
    pub const fn hang(mut self, columns: usize) -> Self {
        self.hang = columns;
        self
    }

    /// Puts a label before the paragraph; later rows stand below its text.
    pub fn after(mut self, label: &str) -> Self {
        let (text, given) = (label.to_owned(), false);
        self.spans.insert(0, (Words { text, given }, Role::Dim));
        self.hang = self.hang.max(label.chars().count());
        self
    }

    /// Marks the paragraph's rows as showing this finding.
    pub const fn finding(mut self, index: usize) -> Self {
        self.finding = Some(index);
        self
    }

    /// Marks the paragraph's rows as this line of a run's output.
    pub const fn line(mut self, index: usize) -> Self {
        self.line = Some(index);
        self
    }

    /// Puts every row behind the gutter: the text is a run's.
    pub const fn behind(mut self, gutter: Gutter) -> Self {
        self.gutter = Some(gutter);
        self
    }
}

/// One row, ready to draw. The text is still raw: drawing sanitises it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowRow {
    pub indent: usize,
    pub spans: Vec<(Words, Role)>,
    pub finding: Option<usize>,
    /// The line of a run's output.
    pub line: Option<usize>,
    /// Stands before a run's text and its indent.
    pub gutter: Option<Gutter>,
    /// Whether it continues the row above.
    pub goes_on: bool,
    /// Replaces the spans: text sent to the terminal unchanged.
    pub as_drawn: Option<String>,
    /// Replaces the spans: a row of a picture.
    pub strip: Option<Arc<Strip>>,
}

impl FlowRow {
    /// The columns that it uses, with its indent.
    pub fn columns(&self) -> usize {
        let spans = self.spans.iter().map(|(text, _)| super::text::width(text));
        self.before() + spans.sum::<usize>()
    }

    /// The columns before its text.
    pub fn before(&self) -> usize {
        self.indent + self.gutter.as_ref().map_or(0, Gutter::columns)
    }

    fn push(&mut self, piece: &str, given: bool, role: Role) {
        match self.spans.last_mut() {
            Some((words, last)) if *last == role && words.given == given => {
                words.text.push_str(piece);
            }
            _ => {
                let text = piece.to_owned();
                self.spans.push((Words { text, given }, role));
            }
        }
    }
}

/// Paragraphs at one width.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    pub rows: Vec<FlowRow>,
    /// Whether earlier rows are not laid out.
    pub is_end: bool,
    /// The rows on which its parts begin.
    pub starts: Vec<usize>,
}

impl Flow {
    /// Breaks at spaces, and inside a word only if the word is wider than a row.
    pub fn new(paras: &[Para], width: u16) -> Self {
        let width = usize::from(width).max(1);
        let mut rows = Vec::new();
        for para in paras {
            if para.as_drawn {
                as_it_is(para, width, &mut rows);
            } else {
                wrap(para, width, &mut rows);
            }
        }
        Self {
            rows,
            ..Self::default()
        }
    }

    /// A row for each paragraph, as wide as it is.
    pub fn unwrapped(paras: &[Para]) -> Self {
        let row = |para: &Para| FlowRow {
            goes_on: false,
            indent: para.indent,
            spans: para.spans.clone(),
            finding: para.finding,
            line: para.line,
            gutter: para.gutter,
            as_drawn: None,
            strip: None,
        };
        Self {
            rows: paras.iter().map(row).collect(),
            ..Self::default()
        }
    }
}

impl Flow {
    /// Keeps so many rows; if more were there, the last one ends in `end`, the program's own words.
    pub fn clip(&mut self, rows: usize, width: u16, (end, role): (&str, Role)) {
        if self.rows.len() <= rows {
            return;
        }
        self.rows.truncate(rows);
        let Some(last) = self.rows.last_mut() else {
            return;
        };
        let room = usize::from(width).saturating_sub(super::text::width(end));
        while last.columns() > room {
            let over = last.columns() - room;
            let Some((span, role)) = last.spans.pop() else {
                return;
            };
            let keep = super::text::width(&span).saturating_sub(over);
            // A mark is drawn whole or not at all.
            if keep > 0 && role != Role::Mark {
                let head = super::text::cut(&span, keep);
                let head = span.with(head.to_owned());
                last.spans.push((head, role));
            }
        }
        last.push(end, false, role);
    }
}

/// Whether the text has one column a byte and no mark.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|b| (b' '..=b'~').contains(&b))
}

fn as_it_is(para: &Para, width: usize, rows: &mut Vec<FlowRow>) {
    let indent = para.indent.min(width - 1);
    let room = (width - indent).saturating_sub(as_drawn::BEFORE);
    for (text, _) in &para.spans {
        let mut rest: &str = text;
        while !rest.is_empty() {
            let (part, after) = rest.split_at(as_drawn::fits(rest, room));
            rows.push(FlowRow {
                indent,
                as_drawn: Some(part.to_owned()),
                ..FlowRow::default()
            });
            rest = after;
        }
    }
}

/// What stands behind a number of time.
const UNITS: [&str; 6] = ["us", "ms", "s", "min", "h", "d"];

fn wrap(para: &Para, width: usize, rows: &mut Vec<FlowRow>) {
    let gutter = para.gutter.as_ref().map_or(0, Gutter::columns);
    let width = width.saturating_sub(gutter).max(1);
    // Nearly every line of a run's output.
    if let [(text, role)] = para.spans.as_slice()
        && is_plain(text)
        && para.indent + text.len() <= width
    {
        rows.push(FlowRow {
            goes_on: false,
            indent: para.indent,
            spans: vec![(text.clone(), *role)],
            finding: para.finding,
            line: para.line,
            gutter: para.gutter,
            as_drawn: None,
            strip: None,
        });
        return;
    }
    let fresh = |first: bool| FlowRow {
        indent: if first {
            para.indent.min(width - 1)
        } else {
            (para.indent + para.hang).min(width - 1)
        },
        spans: Vec::new(),
        finding: para.finding,
        line: para.line,
        gutter: para.gutter,
        goes_on: !first,
        as_drawn: None,
        strip: None,
    };
    let mut row = fresh(true);
    let mut used = row.indent;
    let mut next = |row: &mut FlowRow, used: &mut usize| {
        let full = std::mem::replace(row, fresh(false));
        *used = row.indent;
        rows.push(full);
    };
    let source: Vec<(&str, Piece<'_>, bool, Role)> = para
        .spans
        .iter()
        .flat_map(|(text, role)| {
            pieces(text).map(move |p| (&text[p.start..p.end], p, text.given, *role))
        })
        .collect();
    let mut at = 0;
    while at < source.len() {
        let space = |i: usize| source[i].0 == " ";
        let ends = |from: usize| {
            (from..source.len())
                .find(|&i| space(i) != space(from))
                .unwrap_or(source.len())
        };
        let mut end = ends(at);
        // A time is not parted from its unit: `1 min 5 s` stays in one row.
        let is_number = |from: usize, to: usize| {
            let mut digits = source[from..to].iter();
            digits.all(|(raw, ..)| raw.bytes().all(|b| b.is_ascii_digit() || b == b','))
        };
        let alone = end;
        let mut from = at;
        while !space(at) && end + 1 < source.len() && space(end) && !space(end + 1) {
            let follows = ends(end + 1);
            let word: String = source[end + 1..follows].iter().map(|s| s.0).collect();
            let word = word.trim_end_matches([',', '.', ';', ':', ')']);
            let unit = is_number(from, end) && UNITS.contains(&word);
            let number = from > at && !is_number(from, end) && is_number(end + 1, follows);
            if !unit && !number {
                break;
            }
            (from, end) = (end + 1, follows);
        }
        let columns: usize = source[at..end].iter().map(|(_, p, ..)| p.width).sum();
        if columns + fresh(false).indent > width {
            end = alone;
        }
        let token = &source[at..end];
        let wide: usize = token.iter().map(|(_, p, ..)| p.width).sum();
        if used + wide > width && used > row.indent {
            next(&mut row, &mut used);
            if space(at) {
                at = end;
                continue;
            }
        }
        for (raw, piece, given, role) in token {
            if used + piece.width > width && used > row.indent {
                next(&mut row, &mut used);
            }
            row.push(raw, *given, *role);
            used += piece.width;
        }
        at = end;
    }
    rows.push(row);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::text;
    use proptest::prelude::*;

    fn rows_of(flow: &Flow) -> Vec<String> {
        flow.rows
            .iter()
            .map(|r| {
                let text: String = r.spans.iter().map(|(t, _)| t.as_str()).collect();
                format!("{}{text}", " ".repeat(r.indent))
            })
            .collect()
    }

    #[test]
    fn words_stay_whole_and_further_rows_hang() {
        let para = Para::new("evaluates text as code", Role::Text)
            .indent(1)
            .hang(2);
        assert_eq!(
            rows_of(&Flow::new(&[para], 14)),
            [" evaluates ", "   text as ", "   code"]
        );
    }

    #[test]
    fn a_time_stays_in_one_row() {
        let wrapped = |text: &str, width| {
            let rows = rows_of(&Flow::new(&[Para::new(text, Role::Text)], width));
            rows.iter()
                .map(|row| row.trim_end().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            wrapped("looked at for 1 min 5 s, then", 21),
            ["looked at for", "1 min 5 s, then"]
        );
        assert_eq!(wrapped("it took 41 ms.", 11), ["it took", "41 ms."]);
        // What is too wide for a row is broken nevertheless.
        assert_eq!(wrapped("12 min 34 s", 8), ["12 min", "34 s"]);
        assert_eq!(wrapped("of 5 so many", 9), ["of 5 so", "many"]);
    }

    #[test]
    fn an_empty_paragraph_is_a_row() {
        assert_eq!(Flow::new(&[Para::default()], 10).rows.len(), 1);
    }

    proptest! {
        #[test]
        fn nothing_but_spaces_is_lost_and_every_row_fits(
            words in prop::collection::vec("[a-z漢\\x1b]{1,12}", 0..20),
            width in 10_u16..60,
        ) {
            let text = words.join(" ");
            let flow = Flow::new(&[Para::new(text.clone(), Role::Text).hang(1)], width);
            let mut all = String::new();
            for row in &flow.rows {
                let line: String = row.spans.iter().map(|(t, _)| t.as_str()).collect();
                prop_assert!(row.indent + text::width(&line) <= usize::from(width));
                all.push_str(&line);
            }
            let squeeze = |s: &str| s.replace(' ', "");
            prop_assert_eq!(squeeze(&all), squeeze(&text));
        }
    }
}
