//! The code: numbered, wrapped, with marks for findings and effects. Only the visible window is
//! drawn, and only what was drawn counts as seen.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use ratatui::layout::Rect;

use crate::model::{EffectMark, Effects, Severity};

use super::super::canvas::Canvas;
use super::super::charset::is_ascii;
use super::super::document::{Content, Document, Held, Layout, matches};
use super::super::highlight::Highlights;
use super::super::shown;
use super::super::text;
use super::super::theme::Role;
use super::super::ui::{Pane, Unlike};
use super::super::words;
use super::{Drawn, Screen};

/// Columns between the line's number and its text: a blank, the finding's mark, private data's, the effect's, a blank.
const GUTTER: u16 = 5;
/// In the blank behind the number of a line that differs from the code read last in its group.
const UNLIKE: &str = "≠";

/// Columns before the text of this document's lines.
fn gutter(doc: &Document) -> u16 {
    doc.number_width() as u16 + 1 + GUTTER
}

impl Screen<'_> {
    /// The selected document; `None` while it is of other code than the entry has.
    pub(super) fn document(&self) -> Option<&Arc<Document>> {
        let (entry, doc) = (self.entry?, self.ui.queue.doc.as_ref()?);
        (doc.id == entry.proposal.id && doc.code == entry.code().digest()).then_some(doc)
    }

    /// The secrets of the selected proposal; `None` if it has none.
    pub(super) fn held(&self) -> Option<&Held> {
        let held = self.document()?.held()?;
        (!held.places.is_empty()).then_some(held)
    }

    /// The rows of the code in an area of this width; `None` if it is too narrow.
    pub(super) fn code_layout(&self, width: u16) -> Option<Arc<Layout>> {
        let doc = self.document()?;
        let columns = width.saturating_sub(gutter(doc) + 1);
        if columns < 12 {
            return None;
        }
        let none = super::Looked::default();
        let open = &self.looked().unwrap_or(&none).open;
        let (wrap, as_drawn) = (self.ui.queue.wrap, self.ui.queue.as_drawn);
        Some(match self.ui.layout() {
            Some(layout) if layout.fits(doc, columns, wrap, open, as_drawn) => layout.clone(),
            _ => Arc::new(Layout::new(doc.clone(), columns, wrap, open, as_drawn)),
        })
    }

    /// `layout`: of the same width, if it was made before.
    pub(super) fn code(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        layout: Option<Arc<Layout>>,
        drawn: &mut Drawn,
    ) {
        let (Some(entry), Some(doc)) = (self.entry, self.document()) else {
            return;
        };
        if area.height == 0 {
            return;
        }
        let focused = self.ui.focus_now(self.entry) == Pane::Code;
        let role = if focused { Role::Accent } else { Role::Dim };
        let mut heading = vec![("CODE".to_owned(), role)];
        if !self.ui.queue.wrap {
            heading.push((" not wrapped".to_owned(), Role::Dim));
        }
        if !self.ui.common.found.is_empty() {
            heading.push((
                format!("  /{}", text::cut(&self.ui.common.found, 24)),
                Role::Dim,
            ));
        }
        let unlike = self.ui.queue.unlike.as_deref();
        let unlike = unlike.filter(|unlike| unlike.id == doc.id);
        if let Some(unlike) = unlike {
            let said = words::unlike(unlike.numbers.len(), unlike.lines.len());
            heading.push((said, Role::Strong));
        }
        let held = match doc.held() {
            Some(_) => self.held().map(words::secrets_here),
            None => Some(format!("  {}", words::SEARCHING)),
        };
        heading.extend(held.map(|said| (said, Role::Strong)));
        canvas.headed_rule(area.x, area.y, area.width, &heading);
        let gutter = gutter(doc);
        let rows = Rect {
            y: area.y + 1,
            height: area.height - 1,
            ..area
        };
        if rows.height == 0 {
            return;
        }
        let Some(layout) = layout.or_else(|| self.code_layout(area.width)) else {
            return;
        };
        let columns = layout.width;
        let none = super::Looked::default();
        let looked = self.looked().unwrap_or(&none);
        let height = usize::from(rows.height);
        let last_top = layout.len().saturating_sub(height);
        let top = layout.row_of(looked.top).min(last_top);
        let bottom = (top + height).min(layout.len());
        let cursor = layout
            .row_of(looked.cursor)
            .clamp(top, bottom.saturating_sub(1).max(top));
        let cursor = layout.holding(cursor).max(top);
        if layout.len() == 0 {
            canvas.put(
                rows.x + gutter,
                rows.y,
                columns,
                words::EMPTY_CODE,
                Role::Dim,
            );
        }
        let painter = Painter {
            layout: &layout,
            marks: self.marks(&layout, top, bottom),
            effects: Self::effects_of(entry).unwrap_or_default(),
            colours: self.ui.highlights(entry.code().digest()),
            found: &self.ui.common.found,
            unlike,
            across: if self.ui.queue.wrap { 0 } else { looked.across },
            x: rows.x,
            numbers: gutter - GUTTER,
            columns,
        };
        for (y, index) in (rows.y..rows.bottom()).zip(top..bottom) {
            if let Some(range) = painter.row(canvas, y, index) {
                drawn.ranges.push(range);
            }
            if focused && index == cursor {
                canvas.tint(Rect::new(rows.x, y, rows.width, 1), Role::Cursor);
            }
        }
        let below = layout.len() - bottom;
        if below > 0 {
            let more = format!(" ↓ {} more ", words::number(below as u64));
            let wide = text::width(&more) as u16;
            canvas.put(
                area.right().saturating_sub(wide + 1),
                area.y,
                wide,
                &more,
                Role::Dim,
            );
        }
        drawn.id = Some(doc.id);
        drawn.top = Some(layout.offset_of(top));
        drawn.cursor = Some(layout.offset_of(cursor));
        drawn.wanted = Some((looked.top, looked.cursor));
        drawn.code_rows = height;
        drawn.code_columns = usize::from(columns);
        drawn.layout = Some(layout);
    }

    /// The most severe finding of each visible line.
    fn marks(&self, layout: &Layout, top: usize, bottom: usize) -> BTreeMap<usize, Severity> {
        let mut marks = BTreeMap::new();
        let Some(verdict) = self.entry.and_then(|e| e.verdict()) else {
            return marks;
        };
        let lines: Vec<usize> = (top..bottom)
            .filter_map(|i| match layout.content(layout.row(i)?) {
                Content::Text {
                    number, code: true, ..
                } => Some(number),
                _ => None,
            })
            .collect();
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
            return marks;
        };
        for finding in &verdict.findings {
            let (from, to) = (
                finding.line as usize,
                finding.end_line.max(finding.line) as usize,
            );
            for line in from.max(*first)..=to.min(*last) {
                let worst = marks.entry(line).or_insert(finding.severity);
                *worst = (*worst).max(finding.severity);
            }
        }
        marks
    }
}

struct Painter<'a> {
    layout: &'a Layout,
    marks: BTreeMap<usize, Severity>,
    effects: Effects,
    colours: Option<&'a Highlights>,
    found: &'a str,
    /// What differs from the code of its group that was read last.
    unlike: Option<&'a Unlike>,
    across: usize,
    x: u16,
    numbers: u16,
    columns: u16,
}

impl Painter<'_> {
    /// Draws one row; returns the bytes of the document that it shows.
    fn row(&self, canvas: &mut Canvas<'_>, y: u16, index: usize) -> Option<Range<usize>> {
        let row = self.layout.row(index)?;
        let left = self.x + self.numbers + GUTTER;
        match self.layout.content(row) {
            Content::Heading(heading) => {
                let whole = self.numbers + GUTTER - 1 + self.columns;
                let used = canvas.put(self.x + 1, y, 3, "── ", Role::Rule);
                let room = whole.saturating_sub(used);
                let drawn = canvas.put_cut(self.x + 1 + used, y, room, heading, Role::Strong);
                let end = used + drawn + 1;
                canvas.rule(self.x + 1 + end, y, whole.saturating_sub(end));
                Some(row.at..row.to)
            }
            Content::AsDrawn(text) => {
                let (skipped, _) = skip(text, self.across);
                canvas.put_as_drawn(left, y, self.columns, &text[skipped..]);
                None
            }
            // Only the program writes into the gutter, so an agent's text cannot imitate this row.
            Content::Stands { text, open } => {
                let glyph = if open { "▾" } else { "▸" };
                canvas.put(self.x + self.numbers - 1, y, 1, glyph, Role::Accent);
                canvas.put(left, y, self.columns, text, Role::Accent);
                Some(row.at..row.to)
            }
            Content::Text {
                number,
                code,
                text,
                offset,
            } => {
                if row.first {
                    let label = format!("{number:>width$}", width = usize::from(self.numbers));
                    canvas.put(self.x, y, self.numbers, &label, Role::Gutter);
                } else {
                    canvas.put(self.x + self.numbers - 1, y, 1, "↳", Role::Gutter);
                }
                if let Some(severity) = self.marks.get(&number).filter(|_| code && row.first) {
                    let (glyph, role) = words::severity(*severity);
                    canvas.put(self.x + self.numbers + 1, y, 1, glyph, role);
                }
                // In the gutter too, so that it can be seen without colours.
                if code && row.first && self.unlike.is_some_and(|u| u.lines.contains(&number)) {
                    canvas.put(self.x + self.numbers, y, 1, UNLIKE, Role::NewWord);
                }
                let line = u32::try_from(number).ok().filter(|_| code && row.first);
                if line.is_some_and(|line| self.effects.is_private(line)) {
                    let (letter, role) = shown::letter(EffectMark::Private);
                    canvas.put(self.x + self.numbers + 2, y, 1, letter, role);
                }
                if let Some(effect) = line.and_then(|line| self.effects.mark(line)) {
                    let (letter, role) = shown::letter(effect);
                    canvas.put(self.x + self.numbers + 3, y, 1, letter, role);
                }
                let (skipped, shift) = skip(text, self.across);
                let visible = &text[skipped..];
                let drawn = skipped
                    + self.text(
                        canvas,
                        left + shift,
                        y,
                        visible,
                        code.then_some(offset + skipped),
                    );
                let held = self.layout.doc.held().into_iter();
                for span in held.flat_map(|held| held.within(row.at + skipped, drawn - skipped)) {
                    let from = text::foreign_width(&visible[..span.start]) as u16;
                    let wide = text::foreign_width(&visible[span]) as u16;
                    canvas.tint(Rect::new(left + shift + from, y, wide, 1), Role::Secret);
                }
                let whole_end = drawn == text.len();
                let last = self.layout.row(index + 1).is_none_or(|next| next.first);
                if whole_end && last {
                    self.blanks_at_end(canvas, left + shift, y, visible);
                }
                let to = if whole_end { row.to } else { row.at + drawn };
                Some(row.at + skipped..to)
            }
        }
    }

    /// Draws a dot for each trailing blank, which would otherwise be invisible.
    fn blanks_at_end(&self, canvas: &mut Canvas<'_>, left: u16, y: u16, text: &str) {
        let solid = text.trim_end_matches(' ');
        let from = left + text::foreign_width(solid) as u16;
        let edge = self.x + self.numbers + GUTTER + self.columns;
        let dots = "·".repeat(text.len() - solid.len());
        // In ASCII the dots are characters that code has too.
        let role = if is_ascii() { Role::Mark } else { Role::Dim };
        canvas.put(from, y, edge.saturating_sub(from), &dots, role);
    }

    /// Draws a row's text in its colours; returns the bytes drawn.
    fn text(
        &self,
        canvas: &mut Canvas<'_>,
        left: u16,
        y: u16,
        text: &str,
        offset: Option<usize>,
    ) -> usize {
        let edge = self.x + self.numbers + GUTTER + self.columns;
        let (mut x, mut at) = (left, 0);
        let (mut role, mut next) = (Role::Text, 0);
        for piece in text::foreign(text) {
            if let (Some(offset), Some(colours)) = (offset, self.colours)
                && offset + piece.start >= next
            {
                (role, next) = colours.at(offset + piece.start);
            }
            let style = canvas.theme.style(role);
            let end = piece.end;
            let room = edge.saturating_sub(x);
            let (used, bytes) = canvas.put_pieces(x, y, room, std::iter::once(piece), style);
            if bytes == 0 {
                break;
            }
            x += used;
            at = end;
        }
        let shown = at;
        for span in offset.iter().flat_map(|at| self.other_numbers(*at, shown)) {
            let from = text::width(&text[..span.start]) as u16;
            let wide = text::width(&text[span]) as u16;
            canvas.tint(Rect::new(left + from, y, wide, 1), Role::NewWord);
        }
        if !self.found.is_empty() {
            for hit in matches(&text[..at], self.found) {
                let from = text::foreign_width(&text[..hit.start]) as u16;
                let wide = text::foreign_width(&text[hit]) as u16;
                canvas.tint(Rect::new(left + from, y, wide, 1), Role::Found);
            }
        }
        at
    }
}

impl Painter<'_> {
    /// The parts of a row's text that are numbers which differ. The text begins at `offset` and has `bytes` bytes.
    fn other_numbers(
        &self,
        offset: usize,
        bytes: usize,
    ) -> impl Iterator<Item = Range<usize>> + '_ {
        let all = self.unlike.map_or(&[][..], |unlike| &unlike.numbers[..]);
        let first = all.partition_point(|span| span.end <= offset);
        let here = all[first..].iter();
        let here = here.take_while(move |span| span.start < offset + bytes);
        here.map(move |span| {
            let end = span.end.min(offset + bytes) - offset;
            span.start.max(offset) - offset..end
        })
    }
}

/// The byte where drawing starts after skipping `columns`, and the blank columns before it if a
/// wide piece was cut.
fn skip(text: &str, columns: usize) -> (usize, u16) {
    if columns == 0 {
        return (0, 0);
    }
    let mut used = 0;
    for piece in text::foreign(text) {
        if used >= columns {
            return (piece.start, (used - columns) as u16);
        }
        used += piece.width;
    }
    (text.len(), 0)
}
