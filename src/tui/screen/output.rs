//! The OUTPUT pane: what a run printed, and what belongs to it.

use std::ops::Range;
use std::sync::Arc;

use ratatui::layout::Rect;
use serde_json::Value;

use crate::broker::Entry;
use crate::figure::{Small, Undrawn};
use crate::model::{Artifact, Run, RunEvent, State};

use super::super::canvas::Canvas;
use super::super::document::matches;
use super::super::flow::{Flow, FlowRow, Para};
use super::super::gutter::Gutter;
use super::super::keys::Command;
use super::super::pixels;
use super::super::printed::{TAIL, tail};
use super::super::sketch::{Room, sketch};
use super::super::text;
use super::super::theme::Role;
use super::super::transcript::{self, ALL, At, Reading};
use super::super::ui::{FlowKey, UiState};
use super::super::words;
use super::outcome::{message, told};
use super::{Drawn, Screen};

impl Screen<'_> {
    /// The output: its end while it is followed, and all of it from when a person scrolled back.
    pub(super) fn output(
        &self,
        entry: &Entry,
        area: Rect,
        kept: &mut Vec<(FlowKey, Arc<Flow>)>,
    ) -> Arc<Flow> {
        let reading = self.reading();
        let figures = self.ui.figures(entry);
        let key = |most| FlowKey::Output {
            id: entry.proposal.id,
            width: area.width,
            height: area.height,
            wrap: self.ui.queue.wrap,
            upto: reading.upto(entry),
            most,
            state: entry.state(),
            figures: figures
                .iter()
                .filter(|(_, figure)| figure.is_some())
                .count(),
        };
        let (above, lengths) = match reading.at {
            None => return Arc::new(self.laid_out(entry, area, TAIL)),
            Some(At::Above(rows)) => (rows, &transcript::ABOVE[..]),
            Some(At::Row(_) | At::Line(_)) => (0, &[ALL][..]),
        };
        let wanted = above + usize::from(area.height);
        let holds = |flow: &Flow| !flow.is_end || flow.rows.len() > wanted;
        let known = lengths
            .iter()
            .rev()
            .find_map(|most| self.ui.flow(&key(*most)));
        if let Some(flow) = known.filter(|flow| holds(flow)) {
            return flow.clone();
        }
        let mut longer = lengths
            .iter()
            .map(|most| (*most, self.laid_out(entry, area, *most)));
        let Some((most, flow)) = longer.find(|(_, flow)| holds(flow)) else {
            return Arc::default();
        };
        let flow = Arc::new(flow);
        kept.push((key(most), flow.clone()));
        flow
    }

    /// The output and what belongs to it, about `most` bytes of it laid out.
    fn laid_out(&self, entry: &Entry, area: Rect, most: usize) -> Flow {
        let upto = self.reading().upto(entry);
        let figures = self.ui.figures(entry);
        let (lines, cut) = transcript::lines(entry, upto, most);
        let mut paras = cut_note(cut);
        paras.extend((0..).zip(&lines).map(|(i, line)| line.para().line(i)));
        let mut flow = match self.ui.queue.wrap {
            true => Flow::new(&paras, area.width),
            false => Flow::unwrapped(&paras),
        };
        flow.is_end = cut && most < ALL;
        // What belongs to the end of a run does not stand below a part of its output.
        if upto.is_some() && entry.ended().is_some() {
            return flow;
        }
        let printed = !paras.is_empty();
        flow.rows
            .extend(Flow::new(&self.besides(entry, area, printed), area.width).rows);
        flow.rows.extend(figures.iter().flat_map(|(file, figure)| {
            let room = chart_room(area);
            let caption = captioned(file, figure.as_ref()).behind(Gutter::PLAIN);
            let head = Flow::new(&[caption], area.width);
            let small = figure.as_ref().and_then(|found| found.as_ref().ok());
            let rows = small.map(|small| pixels::rows(small, room.columns, room.rows));
            let behind = |row| FlowRow {
                gutter: Some(Gutter::PLAIN),
                ..row
            };
            let rows = rows.into_iter().flatten().map(behind);
            head.rows.into_iter().chain(rows)
        }));
        let more = UiState::more_figures(entry);
        if more > 0 {
            let words = words::more_figures(more, &self.ui.key(Command::Save));
            let para = Para::new(words, Role::Dim);
            flow.rows.extend(Flow::new(&[para], area.width).rows);
        }
        flow
    }

    pub(super) fn reading(&self) -> Reading {
        self.looked()
            .map(|looked| looked.reading)
            .unwrap_or_default()
    }

    /// What follows the printed lines: the output for the agent, charts, notes and the end.
    fn besides(&self, entry: &Entry, area: Rect, printed: bool) -> Vec<Para> {
        let mut out = Vec::new();
        if let Some(run) = entry.run() {
            out.extend(given(run));
            let charts = sketch(&run.result, chart_room(area)).into_iter();
            out.extend(charts.map(|row| row.behind(Gutter::PLAIN)));
        }
        let private = |event: &&RunEvent| event.kind == RunEvent::PRIVATE;
        out.extend(
            entry
                .noted()
                .iter()
                .filter(|event| !private(event))
                .map(|event| told("python", event)),
        );
        if entry.noted().iter().any(|event| private(&event)) {
            out.push(Para::new(format!("▲ {}", words::NOTED), Role::Flagged).hang(2));
        }
        if out.is_empty() && !printed {
            let words = match entry.state() {
                State::Granted => words::STARTING,
                State::Running => words::NO_OUTPUT_YET,
                _ => words::NO_OUTPUT,
            };
            out.push(Para::new(words, Role::Dim));
        }
        if entry.state().is_final() && entry.state() != State::Succeeded {
            let (glyph, word, role) = words::state(entry.state());
            out.push(Para::new(format!("{glyph} {word}"), role));
            out.extend(message(entry));
        }
        out
    }

    /// Rows that stand above the output: what waits while a person does not follow it, and what the
    /// run uses.
    pub(super) fn above_output(&self, entry: &Entry) -> Vec<Para> {
        let waiting = self.reading().waiting(entry);
        let paused = waiting.map(|lines| {
            let words = words::paused(lines, &self.ui.key(Command::Bottom));
            Para::new(words, Role::Flagged)
        });
        paused.into_iter().chain(self.uses(entry)).collect()
    }

    /// The first row to show.
    pub(super) fn output_top(&self, flow: &Flow, height: usize) -> usize {
        let last = flow.rows.len().saturating_sub(height);
        match self.reading().at {
            None => last,
            Some(At::Row(row)) => row.min(last),
            Some(At::Above(rows)) => last.saturating_sub(rows),
            Some(At::Line(line)) => {
                let row = flow.rows.iter().position(|row| row.line == Some(line));
                row.unwrap_or(last).saturating_sub(height / 3).min(last)
            }
        }
    }

    /// Draws the rows from `top` on, with the header of a table that began above them; returns the
    /// range, and what to say of rows wider than the pane.
    pub(super) fn draw_output(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        flow: &Flow,
        top: usize,
        drawn: &mut Drawn,
    ) -> (Range<usize>, String) {
        let across = match self.ui.queue.wrap {
            true => 0,
            false => self.reading().across,
        };
        let end = flow.rows.len().min(top + usize::from(area.height));
        let shown = top.min(end)..end;
        let header = (!self.ui.queue.wrap && area.height > 1)
            .then(|| transcript::header(&flow.rows, top))
            .flatten();
        let mut is_cut = false;
        for (y, index) in (area.y..area.bottom()).zip(shown.clone()) {
            let index = header.filter(|_| index == top).unwrap_or(index);
            let row = transcript::shifted(&flow.rows[index], across);
            canvas.put_row(area.x, y, area.width, &row);
            is_cut |= row.columns() > usize::from(area.width);
            if header == Some(index) && y == area.y {
                canvas.tint(
                    Rect {
                        y,
                        height: 1,
                        ..area
                    },
                    Role::Strong,
                );
            }
            self.tint_matches(canvas, area, y, &row);
        }
        // Without the earlier rows it is still counted from the end.
        if self.reading().at.is_some() && !flow.is_end {
            drawn.output_top = Some(top);
        }
        drawn.output_goes_on = is_cut;
        let mut more = String::new();
        if across > 0 {
            more.push_str(&format!(" ← {across}"));
        }
        if is_cut && !self.ui.queue.wrap {
            more.push_str(" →");
        }
        (shown, more)
    }

    fn tint_matches(&self, canvas: &mut Canvas<'_>, area: Rect, y: u16, row: &FlowRow) {
        let found = &self.ui.common.found;
        if found.is_empty() || row.line.is_none() {
            return;
        }
        let whole: String = row.spans.iter().map(|(text, _)| text.as_str()).collect();
        for hit in matches(&whole, found) {
            let from = (row.before() + text::width(&whole[..hit.start])) as u16;
            let wide = text::width(&whole[hit]) as u16;
            let room = area.width.saturating_sub(from);
            canvas.tint(Rect::new(area.x + from, y, wide.min(room), 1), Role::Found);
        }
    }
}

/// A figure's name and size, or why it is not drawn.
fn captioned(file: &Artifact, figure: Option<&Result<Arc<Small>, Undrawn>>) -> Para {
    let said = match figure {
        None => words::DECODING.to_owned(),
        Some(Ok(small)) => format!("{} × {}", small.of.0, small.of.1),
        Some(Err(why)) => words::undrawn(&why.to_string()),
    };
    Para::new(file.name.clone(), Role::Strong).and(format!("  {said}"), Role::Dim)
}

/// A chart must fit into its pane as a whole, with its title and names.
fn chart_room(area: Rect) -> Room {
    Room {
        columns: usize::from(area.width).saturating_sub(Gutter::PLAIN.columns()),
        rows: usize::from(area.height.saturating_sub(2).clamp(4, 16)),
    }
}

fn cut_note(cut: bool) -> Vec<Para> {
    if cut {
        vec![Para::new(words::CUT_OUTPUT, Role::Dim)]
    } else {
        Vec::new()
    }
}

/// The output given to the agent, if it differs from what was printed: in full, rewritten lines
/// included.
fn given(run: &Run) -> Vec<Para> {
    let text = run.result.get("output").and_then(Value::as_str);
    let Some(text) = text.filter(|text| !text.is_empty() && *text != run.stdout) else {
        return Vec::new();
    };
    let mut out = vec![Para::new(words::GIVEN_OUTPUT, Role::Dim)];
    out.extend(cut_note(text.len() > TAIL));
    let end = tail(text, TAIL);
    let lines = end.strip_suffix('\n').unwrap_or(end).split('\n');
    let line = |line| Para::default().given(line, Role::Text);
    out.extend(lines.map(|text| line(text).behind(Gutter::PLAIN)));
    out
}
