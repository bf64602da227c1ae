//! Screen 2: the audit log's proposals, newest first, and one proposal's records.

use std::sync::Arc;

use ratatui::layout::Rect;

use super::super::action::AuditRow;
use super::super::canvas::Canvas;
use super::super::claim;
use super::super::flow::{Flow, Para};
use super::super::gutter::Gutter;
use super::super::text;
use super::super::theme::Role;
use super::super::ui::{FlowKey, LogScreen};
use super::super::words;
use super::spoken_rows::RECORD_TEXT;
use super::{Drawn, Screen};

/// Columns before the gutter of a kept text: it stands below the fields' names.
const TEXT_INDENT: usize = 4;

impl Screen<'_> {
    pub(super) fn audit(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        log: &LogScreen,
        drawn: &mut Drawn,
    ) {
        let page = &log.page;
        if let Some(detail) = &page.detail {
            let width = area.width.saturating_sub(4);
            let key = FlowKey::Record(log.set, width);
            let flow = self.ui.flow(&key).cloned().unwrap_or_else(|| {
                let flow = Arc::new(Flow::new(&record(detail), width));
                drawn.flows.push((key, flow.clone()));
                flow
            });
            let heading = [("RECORD".to_owned(), Role::Accent)];
            self.page(canvas, area, &heading, &flow, log.top, drawn);
            return;
        }
        let heading = [
            ("AUDIT".to_owned(), Role::Accent),
            (format!("  {}", words::proposals(page.total)), Role::Dim),
            match &page.damage {
                None => (format!("  {}", words::CONSISTENT), Role::Dim),
                Some(damage) => (format!("  DAMAGED: {damage}"), Role::Bad),
            },
        ];
        // Before the first rows arrive, nothing is known about their number.
        let loaded = log.set > 0;
        let heading = if loaded { &heading[..] } else { &heading[..1] };
        canvas.headed_rule(area.x, area.y, area.width, heading);
        let rows = Rect {
            y: area.y + 1,
            height: area.height.saturating_sub(1),
            ..area
        };
        if loaded && page.total == 0 && page.damage.is_none() {
            canvas.put(
                rows.x + 2,
                rows.y,
                rows.width,
                words::AUDIT_EMPTY,
                Role::Dim,
            );
        }
        let height = usize::from(rows.height);
        drawn.list_rows = height;
        // The selected row stays a third from the top, so there is no second scroll position to
        // store.
        let last = page.total.saturating_sub(height);
        let top = log.row.saturating_sub(height / 3).min(last);
        for (y, place) in (rows.y..rows.bottom()).zip(top..page.total) {
            let line = Rect::new(rows.x, y, rows.width, 1);
            match place
                .checked_sub(page.offset)
                .and_then(|i| page.rows.get(i))
            {
                Some(row) => draw_row(canvas, line, row),
                None => {
                    canvas.put(line.x + 1, y, line.width, "…", Role::Dim);
                }
            }
            if place == log.row {
                canvas.put(line.x, y, 1, words::HERE, Role::Accent);
                canvas.tint(line, Role::Selected);
            }
        }
    }
}

/// A record's lines; wrapped rows keep their line's indent. Kept texts, of code or of a run, stand behind the gutter.
pub(super) fn record(lines: &[String]) -> Vec<Para> {
    let para = |line: &String| {
        if let Some(text) = line.strip_prefix(RECORD_TEXT) {
            let para = Para::default().given(text, Role::Text);
            return para.behind(Gutter::PLAIN.indent(TEXT_INDENT));
        }
        let text = line.trim_start_matches(' ');
        let indent = line.len() - text.len();
        let empty = Para::default().indent(indent).hang(2);
        match indent == 0 || text.starts_with("agent: ") || text.starts_with("title: ") {
            true => claim::and(empty, text, Role::Text),
            false => empty.given(text, Role::Text),
        }
    };
    lines.iter().map(para).collect()
}

fn draw_row(canvas: &mut Canvas<'_>, line: Rect, row: &AuditRow) {
    let wide = line.width >= 100;
    let time = text::width(&row.time).min(19) as u16;
    // The time has its own length, the other fields have fixed widths, and the title takes the
    // rest.
    let columns: [(&str, u16, Role); 6] = [
        (&row.time, time, Role::Dim),
        (&row.state, 10, state_role(&row.state)),
        (&row.verdict, if wide { 12 } else { 0 }, Role::Text),
        (
            &row.agent,
            if line.width >= 60 { 16 } else { 0 },
            Role::Text,
        ),
        (&row.profile, if wide { 10 } else { 0 }, Role::Dim),
        (&row.title, u16::MAX, Role::Text),
    ];
    let mut x = line.x + 1;
    for (text, width, role) in columns {
        let room = line.right().saturating_sub(x + 1);
        let width = width.min(room);
        if width > 0 {
            canvas.put_claim(x, line.y, width, text, role);
            x = x.saturating_add(width).saturating_add(1);
        }
    }
}

fn state_role(state: &str) -> Role {
    match state {
        "succeeded" => Role::Good,
        "failed" | "error" => Role::Bad,
        "blocked" => Role::Blocked,
        _ => Role::Dim,
    }
}
