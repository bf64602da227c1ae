//! The output of a run as a person reads it: followed to its end, or still, from the moment they
//! scrolled back.

use crate::broker::Entry;
use crate::model::StreamName;

use super::flow::FlowRow;
use super::printed::{self, Line, TAIL};
use super::text;
use super::theme::Role;

/// The most bytes of output to lay out when a person scrolls back: all of it, as it is kept for the
/// screen.
pub const ALL: usize = 2 * 1024 * 1024;

/// How much to lay out for rows above the end: no more than a frame has time for, unless they need it.
pub const ABOVE: [usize; 3] = [TAIL, 8 * TAIL, ALL];

/// Fewer columns are no table.
const TABLE: usize = 8;
/// The most rows of a table above the screen to go through.
const TABLE_ROWS: usize = 100_000;

/// Where a person reads the output. The default follows its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// `None` while the end is followed.
    pub at: Option<At>,
    /// How much there was when a person left the end of a run that goes on; what comes later waits until they follow
    /// it again.
    upto: Option<Upto>,
    /// Columns scrolled to the right, with wrapping off.
    pub across: usize,
    /// The line of the last match.
    pub found: Option<usize>,
}

/// The first row shown. The last two become a row with the next frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum At {
    Row(usize),
    /// So many rows above the last page.
    Above(usize),
    Line(usize),
}

/// A part of the output: so many bytes of each stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upto {
    stdout: usize,
    stderr: usize,
}

impl Upto {
    pub fn now(entry: &Entry) -> Self {
        let live = entry.output();
        Self {
            stdout: live.stdout.len(),
            stderr: live.stderr.len(),
        }
    }

    const fn of(self, stream: StreamName) -> usize {
        match stream {
            StreamName::Stdout => self.stdout,
            StreamName::Stderr => self.stderr,
        }
    }
}

impl Reading {
    pub fn follow(&mut self) {
        (self.at, self.upto) = (None, None);
    }

    /// Stops following the end.
    pub fn stay(&mut self, at: At, entry: &Entry) {
        self.at = Some(at);
        if entry.ended().is_none() {
            self.upto.get_or_insert_with(|| Upto::now(entry));
        }
    }

    /// The part that is shown; `None` for all. After the run it is all, unless rows are counted from the end: that one
    /// stays where it is.
    pub fn upto(&self, entry: &Entry) -> Option<Upto> {
        let from_end = matches!(self.at, Some(At::Above(_)));
        self.upto.filter(|_| from_end || entry.ended().is_none())
    }

    /// Lines that were printed since a person stopped following; `None` while they follow, and where all is shown.
    pub fn waiting(&self, entry: &Entry) -> Option<usize> {
        let upto = self.upto(entry)?;
        let live = entry.output();
        let lines = |text: &str, from: usize| {
            let new = text.as_bytes().get(from..).unwrap_or_default();
            let ends = new.iter().filter(|b| **b == b'\n').count();
            ends + usize::from(new.last().is_some_and(|b| *b != b'\n'))
        };
        Some(lines(&live.stdout, upto.stdout) + lines(&live.stderr, upto.stderr))
    }
}

/// The lines of the output, and whether earlier ones are missing: about `most` bytes, in the order in
/// which they were printed. After the run the streams come one after the other.
pub fn lines(entry: &Entry, upto: Option<Upto>, most: usize) -> (Vec<Line>, bool) {
    let live = entry.output();
    if live.order.is_empty() {
        let Some(run) = entry.run() else {
            return (Vec::new(), false);
        };
        let stream = |name, text: &str| {
            let part = upto.and_then(|upto| text.get(..upto.of(name)));
            printed::lines(std::iter::once((name, part.unwrap_or(text))), most)
        };
        let (mut all, cut) = stream(StreamName::Stdout, run.stdout.as_str());
        let (stderr, cut_too) = stream(StreamName::Stderr, run.stderr.as_str());
        all.extend(stderr);
        return (all, cut || cut_too);
    }
    let pieces = live.order.iter().enumerate().rev();
    let pieces = pieces.map(|(i, (stream, end))| {
        let before = live.order[..i].iter().rev();
        let start = before
            .into_iter()
            .find(|(other, _)| other == stream)
            .map_or(0, |(_, end)| *end);
        let text = match stream {
            StreamName::Stdout => &live.stdout,
            StreamName::Stderr => &live.stderr,
        };
        let end = upto.map_or(*end, |upto| upto.of(*stream).min(*end));
        (*stream, text.get(start..end).unwrap_or(""))
    });
    printed::lines(pieces.filter(|(_, text)| !text.is_empty()), most)
}

/// The header row of the table that the row `at` belongs to: the first of at least three rows of
/// the same width that begin with a blank or have columns two blanks apart. `None` at the header
/// itself.
pub fn header(rows: &[FlowRow], at: usize) -> Option<usize> {
    let wide = table_row(rows.get(at)?)?;
    let same = |i: usize| rows.get(i).and_then(table_row) == Some(wide);
    let first = (at.saturating_sub(TABLE_ROWS)..at).rev();
    let first = first.take_while(|i| same(*i)).last()?;
    let is_head = |text: &str| text.starts_with(' ') || text.trim().contains("  ");
    let rows_below = at - first + usize::from(same(at + 1));
    let text = &rows[first].spans.first()?.0;
    (rows_below >= 2 && is_head(text)).then_some(first)
}

/// Columns of a row of standard output that can belong to a table.
fn table_row(row: &FlowRow) -> Option<usize> {
    let [(text, Role::Text)] = row.spans.as_slice() else {
        return None;
    };
    row.line?;
    let wide = match text.is_ascii() {
        true => text.len(),
        false => text::width(text),
    };
    (wide >= TABLE).then_some(wide)
}

/// The row without the first columns of its text; the gutter stays.
pub fn shifted(row: &FlowRow, across: usize) -> FlowRow {
    if across == 0 {
        return row.clone();
    }
    let mut left = across.saturating_sub(row.indent);
    let mut spans = Vec::new();
    for (text, role) in &row.spans {
        let mut from = text.len();
        let mut used = 0;
        for piece in text::pieces(text) {
            if used >= left {
                from = piece.start;
                break;
            }
            used += piece.width;
        }
        // A wide piece that is cut leaves blanks.
        let blanks = used.saturating_sub(left);
        left = left.saturating_sub(used);
        if from < text.len() {
            let rest = format!("{}{}", " ".repeat(blanks), &text[from..]);
            spans.push((text.with(rest), *role));
        }
    }
    FlowRow {
        indent: row.indent.saturating_sub(across),
        spans,
        ..row.clone()
    }
}
