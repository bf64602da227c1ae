//! The queue: pending and running proposals, then decided ones.

use ratatui::layout::Rect;

use crate::broker::Entry;
use crate::model::{ProposalId, State};

use super::super::canvas::Canvas;
use super::super::claim;
use super::super::text;
use super::super::theme::Role;
use super::super::ui::Pane;
use super::super::words;
use super::{Drawn, Screen};

impl Screen<'_> {
    /// Glyph, word and role of an entry in the lists.
    pub(super) fn badge(&self, entry: &Entry) -> (&'static str, &'static str, Role) {
        match (entry.verdict(), entry.state()) {
            (Some(verdict), State::Pending) => words::verdict(verdict.verdict),
            (_, state) => words::state(state),
        }
    }

    /// The time left, the running time, or the time of day of the end.
    fn when(&self, entry: &Entry) -> String {
        match entry.state() {
            State::Pending => words::countdown(entry.left(self.now)),
            State::Granted | State::Running => {
                let since = entry.released().map_or(self.now.boot, |r| r.boot);
                words::countdown(self.now.boot.saturating_sub(since))
            }
            _ => entry.ended().map_or_else(String::new, |e| {
                let at = e.wall.to_zoned(self.ui.common.zone.clone());
                format!("{:02}:{:02}", at.hour(), at.minute())
            }),
        }
    }

    pub(super) fn queue(&self, canvas: &mut Canvas<'_>, area: Rect, drawn: &mut Drawn) {
        let focused = self.ui.focus_now(self.entry) == Pane::Queue;
        let decided_rows = if self.ui.queue.lists.decided.is_empty() {
            0
        } else {
            let most = area.height / 2;
            u16::try_from(self.ui.queue.lists.decided.len())
                .unwrap_or(most)
                .min(most.saturating_sub(1))
                + 1
        };
        let live = Rect {
            height: area.height - decided_rows,
            ..area
        };
        let count = words::number(self.ui.queue.lists.live.len() as u64);
        self.list_heading(canvas, live, "QUEUE", &count, focused);
        let rows = Rect {
            y: live.y + 1,
            height: live.height.saturating_sub(1),
            ..live
        };
        drawn.tops.0 = self.list(
            canvas,
            rows,
            &self.ui.queue.lists.live,
            self.ui.queue.lists.tops.0,
        );
        drawn.list_rows = usize::from(rows.height);
        if decided_rows == 0 {
            return;
        }
        let decided = Rect {
            y: live.bottom(),
            height: decided_rows,
            ..area
        };
        let count = words::number(self.ui.queue.lists.decided.len() as u64);
        self.list_heading(canvas, decided, "DECIDED", &count, focused);
        let rows = Rect {
            y: decided.y + 1,
            height: decided_rows - 1,
            ..decided
        };
        drawn.tops.1 = self.list(
            canvas,
            rows,
            &self.ui.queue.lists.decided,
            self.ui.queue.lists.tops.1,
        );
    }

    fn list_heading(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        name: &str,
        count: &str,
        focused: bool,
    ) {
        if area.height == 0 {
            return;
        }
        let role = if focused { Role::Accent } else { Role::Dim };
        canvas.put(area.x + 1, area.y, area.width.saturating_sub(2), name, role);
        let wide = text::width(count) as u16;
        canvas.put(
            area.right().saturating_sub(wide + 1),
            area.y,
            wide,
            count,
            Role::Dim,
        );
    }

    /// Draws the part of a list that shows the selected entry; returns its first row.
    fn list(&self, canvas: &mut Canvas<'_>, area: Rect, ids: &[ProposalId], top: usize) -> usize {
        let height = usize::from(area.height);
        let mut top = top.min(ids.len().saturating_sub(height));
        let selected = self.ui.selected();
        if let Some(at) = selected.and_then(|s| ids.iter().position(|id| *id == s)) {
            top = top.clamp((at + 1).saturating_sub(height), at);
        }
        for (y, id) in (area.y..area.bottom()).zip(ids.iter().skip(top)) {
            let Some(entry) = self.state.entry(*id) else {
                continue;
            };
            let row = Rect::new(area.x, y, area.width, 1);
            self.list_row(canvas, row, entry);
            if Some(*id) == selected {
                canvas.tint(row, Role::Selected);
            }
        }
        top
    }

    fn list_row(&self, canvas: &mut Canvas<'_>, row: Rect, entry: &Entry) {
        let (glyph, word, role) = self.badge(entry);
        let when = self.when(entry);
        let wide = text::width(&when) as u16;
        let right = row.right().saturating_sub(wide + 1);
        canvas.put(right, row.y, wide, &when, Role::Dim);
        let mut x = row.x + 1;
        x += canvas.put(x, row.y, 1, glyph, role) + 1;
        canvas.put(x, row.y, 10, word, role);
        x += if entry.state() == State::Pending {
            8
        } else {
            11
        };
        let name = entry.proposal.agent_name();
        canvas.put_claim(x, row.y, right.saturating_sub(x + 1), name, Role::Text);
    }

    /// The queue as one line: the selected entry, then the entries after it.
    pub(super) fn folded_queue(&self, canvas: &mut Canvas<'_>, area: Rect) {
        if area.height == 0 {
            return;
        }
        let focused = self.ui.focus_now(self.entry) == Pane::Queue;
        let heading = if focused { Role::Accent } else { Role::Dim };
        let place = |ids: &[ProposalId]| ids.iter().position(|id| Some(*id) == self.ui.selected());
        let (name, ids, at) = match (
            place(&self.ui.queue.lists.live),
            place(&self.ui.queue.lists.decided),
        ) {
            (Some(at), _) => ("QUEUE", &self.ui.queue.lists.live, at),
            (None, Some(at)) => ("DECIDED", &self.ui.queue.lists.decided, at),
            (None, None) => ("QUEUE", &self.ui.queue.lists.live, 0),
        };
        let right = area.right().saturating_sub(1);
        let mut x = area.x + 1;
        x += canvas.put(x, area.y, right.saturating_sub(x), name, heading) + 1;
        let count = if ids.is_empty() {
            "0".to_owned()
        } else {
            format!(
                "{}/{}",
                words::number(at as u64 + 1),
                words::number(ids.len() as u64)
            )
        };
        x += canvas.put(x, area.y, right.saturating_sub(x), &count, Role::Dim) + 2;
        for (i, id) in ids.iter().skip(at).enumerate() {
            let Some(entry) = self.state.entry(*id) else {
                continue;
            };
            let (glyph, word, role) = self.badge(entry);
            let name = text::cut(entry.proposal.agent_name(), 14).to_owned();
            let mut spans = vec![(format!("{glyph} {word} "), role)];
            spans.extend(claim::spans(&name, Role::Text));
            spans.push((" ".to_owned(), Role::Text));
            spans.push((self.when(entry), Role::Dim));
            let wide: usize = spans.iter().map(|(t, _)| text::width(t)).sum();
            let wide = wide as u16;
            if i > 0 && x + 3 + wide > right {
                break;
            }
            if i > 0 {
                x += canvas.put(x, area.y, 3, " │ ", Role::Rule);
            }
            let used = canvas.put_spans(x, area.y, right.saturating_sub(x), &spans);
            if Some(*id) == self.ui.selected() {
                canvas.tint(Rect::new(x, area.y, used, 1), Role::Selected);
            }
            x += used;
        }
    }

    /// Drawn instead of code when no proposal is selected.
    pub(super) fn nothing(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let none = match self.ui.queue.lists.decided.is_empty() {
            true => words::EMPTY,
            false => words::NONE_WAITS,
        };
        let lines = [
            (none.to_owned(), Role::Strong),
            (String::new(), Role::Text),
            (words::EMPTY_HOW.to_owned(), Role::Dim),
            (self.facts.socket.clone(), Role::Text),
            (String::new(), Role::Text),
            (words::EMPTY_TRY.to_owned(), Role::Dim),
        ];
        let left = area.x + 2;
        for (y, (line, role)) in (area.y + 1..area.bottom()).zip(&lines) {
            canvas.put_cut(left, y, area.right().saturating_sub(left), line, *role);
        }
    }
}
