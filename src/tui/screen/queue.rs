//! The queue: pending and running proposals, then decided ones.

use ratatui::layout::Rect;

use crate::broker::Entry;
use crate::model::{EffectMark, ProposalId, State};

use super::super::canvas::Canvas;
use super::super::claim;
use super::super::text;
use super::super::theme::Role;
use super::super::ui::{Pane, STREAK};
use super::super::words;
use super::{Drawn, Screen};

/// Before the heading of a focused list, so that it stands out without colours too.
const FOCUSED: &str = "▸";

/// The most columns of an agent's name in a list.
const AGENT: usize = 9;

/// Lower lists have no row for this session's decisions.
const ROOM_FOR_TALLY: u16 = 12;

/// What a row says of an entry's effects, in the narrowest form.
fn tags(entry: &Entry) -> Vec<(&'static str, Role)> {
    let mut out = Vec::new();
    if entry.is_edited() {
        out.push((words::EDITED_ROW, Role::Accent));
    }
    let Some(effects) = Screen::effects_of(entry) else {
        return out;
    };
    if effects.private() {
        out.push(("PRIV", Role::Private));
    }
    let lists = [
        (&effects.writes, EffectMark::Writes),
        (&effects.system, EffectMark::System),
        (&effects.deletes, EffectMark::Deletes),
        (&effects.runs, EffectMark::Runs),
        (&effects.network, EffectMark::Network),
    ];
    let present = lists.into_iter().filter(|(list, _)| !list.is_empty());
    out.extend(present.map(|(_, mark)| super::effects::mark(mark)));
    out
}

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
                words::countdown(self.runs_for(entry).unwrap_or_default())
            }
            _ => entry.ended().map_or_else(String::new, |e| {
                let at = e.wall.to_zoned(self.ui.common.zone.clone());
                format!("{:02}:{:02}", at.hour(), at.minute())
            }),
        }
    }

    /// The last row of the queue: how this session decided.
    fn tally(&self, canvas: &mut Canvas<'_>, area: Rect) -> Rect {
        let Some(tally) = self.ui.tally().filter(|_| area.height >= ROOM_FOR_TALLY) else {
            return area;
        };
        let area = Rect {
            height: area.height - 1,
            ..area
        };
        let room = area.width.saturating_sub(2);
        let words = words::tally(&tally, usize::from(room));
        let role = match tally.in_a_row {
            STREAK.. => Role::Flagged,
            _ => Role::Dim,
        };
        canvas.put(area.x + 1, area.bottom(), room, &words, role);
        area
    }

    pub(super) fn queue(&self, canvas: &mut Canvas<'_>, area: Rect, drawn: &mut Drawn) {
        let area = self.tally(canvas, area);
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
        let order = self.ui.queue.lists.order.as_str();
        self.list_heading(canvas, live, &format!("PENDING {order}"), &count, focused);
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
        if focused {
            canvas.put(area.x, area.y, 1, FOCUSED, role);
        }
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

    /// One entry: its glyph, its time, its agent and title, and what it touches.
    fn list_row(&self, canvas: &mut Canvas<'_>, row: Rect, entry: &Entry) {
        let (glyph, _, role) = self.badge(entry);
        let mut right = row.right().saturating_sub(1);
        for (tag, role) in tags(entry).into_iter().rev() {
            let wide = text::width(tag) as u16;
            right = right.saturating_sub(wide + 1);
            canvas.put(right + 1, row.y, wide, tag, role);
        }
        let mut x = row.x + 1;
        x += canvas.put(x, row.y, 1, glyph, role) + 1;
        // What differs from the selected one in numbers only can be read as one, and is decided one by one.
        let id = entry.proposal.id;
        if self
            .ui
            .selected()
            .is_some_and(|selected| self.ui.are_alike(selected, id))
        {
            canvas.put(x - 1, row.y, 1, "≈", Role::Accent);
        }
        let when = self.when(entry);
        canvas.put(x, row.y, 5, &format!("{when:>5}"), Role::Dim);
        x += 6;
        let room = |x: u16| right.saturating_sub(x);
        let name = claim::named(entry.proposal.agent_name(), usize::from(row.width));
        canvas.put_claim(x, row.y, room(x).min(AGENT as u16), &name, Role::Dim);
        // Titles stand below each other.
        x += AGENT as u16 + 1;
        match &entry.proposal.title {
            Some(title) => canvas.put_claim(x, row.y, room(x), title, Role::Text),
            None => canvas.put(x, row.y, room(x), words::UNTITLED, Role::Dim),
        };
    }

    /// The queue as one line: the selected entry with its place, agent and title, and how many wait when it does not.
    pub(super) fn folded_queue(&self, canvas: &mut Canvas<'_>, area: Rect) {
        if area.height == 0 {
            return;
        }
        let focused = self.ui.focus_now(self.entry) == Pane::Queue;
        let y = area.y;
        let mut right = area.right().saturating_sub(1);
        let x = area.x + 1;
        let Some(entry) = self.entry else {
            let heading = if focused { Role::Accent } else { Role::Dim };
            canvas.put(x, y, right.saturating_sub(x), "PENDING 0", heading);
            return;
        };
        let waiting = self.state.pending_count();
        if entry.state() != State::Pending && waiting > 0 {
            let more = format!("{} pending", words::number(waiting as u64));
            let wide = text::width(&more) as u16;
            right = right.saturating_sub(wide + 1);
            canvas.put(right + 1, y, wide, &more, Role::Strong);
        }
        for (tag, role) in tags(entry).into_iter().rev() {
            let wide = text::width(tag) as u16;
            right = right.saturating_sub(wide + 1);
            canvas.put(right + 1, y, wide, tag, role);
        }
        // Without the kernel's word on this line, the agent's own could be mistaken for it.
        let uid = format!("uid {}", entry.proposal.peer.uid);
        let wide = text::width(&uid) as u16;
        right = right.saturating_sub(wide + 2);
        canvas.put(right + 2, y, wide, &uid, Role::Dim);
        let (glyph, word, role) = self.badge(entry);
        let lists = &self.ui.queue.lists;
        let place = |ids: &[ProposalId]| ids.iter().position(|id| Some(*id) == self.ui.selected());
        let count = match (place(&lists.live), place(&lists.decided)) {
            (Some(at), _) => format!("{}/{}", at + 1, lists.live.len()),
            (None, Some(at)) => format!("decided {}/{}", at + 1, lists.decided.len()),
            (None, None) => String::new(),
        };
        let room = |x: u16| right.saturating_sub(x);
        let mut at = x;
        at += canvas.put(at, y, room(at), &format!("{glyph} {word} "), role);
        let heading = if focused { Role::Accent } else { Role::Dim };
        at += canvas.put(at, y, room(at), &count, heading) + 1;
        at += canvas.put(at, y, room(at), &self.when(entry), Role::Strong) + 1;
        let name = claim::named(entry.proposal.agent_name(), usize::from(area.width));
        at += canvas.put_claim(at, y, room(at).min(16), &name, Role::Dim);
        if self.line_has_title(area) {
            at += canvas.put(at, y, room(at), " says: ", Role::Dim);
            let title = entry.proposal.title.as_deref().filter(|t| !t.is_empty());
            let role = title.map_or(Role::Dim, |_| Role::Text);
            canvas.put_claim(at, y, room(at), title.unwrap_or(words::UNTITLED), role);
        }
        if focused {
            canvas.put(area.x, y, 1, FOCUSED, Role::Strong);
        }
        canvas.tint(area, Role::Selected);
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
