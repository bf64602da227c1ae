//! Above the code: the agent's claims, the kernel's facts about the agent, and the effects.

use ratatui::layout::Rect;

use crate::broker::Entry;
use crate::model::State;

use super::super::canvas::Canvas;
use super::super::flow::Flow;
use super::super::text;
use super::super::theme::Role;
use super::super::words;
use super::areas::Areas;
use super::{Screen, draw_flow};

impl Screen<'_> {
    pub(super) fn title(&self, canvas: &mut Canvas<'_>, areas: &Areas, effects: Option<&Flow>) {
        let area = areas.title;
        let Some(entry) = self.entry.filter(|_| area.height > 0) else {
            return;
        };
        let row = |y: u16| Rect {
            y,
            height: 1,
            ..area
        };
        let mut y = area.y;
        // The folded queue's line carries the title.
        if areas.folded && self.line_has_title(areas.body) {
            let facts = Self::program(entry, area.width);
            self.why(canvas, row(y), entry, Some(&facts));
            y += 1;
        } else {
            let listed = areas.folded && areas.queue.height > 0;
            self.claimed(canvas, row(y), entry, listed);
            y += 1;
            if entry.proposal.reason.is_some() && y < area.bottom() {
                self.why(canvas, row(y), entry, None);
                y += 1;
            }
        }
        let Some(effects) = effects else { return };
        let inner = Rect {
            x: area.x + 1,
            y,
            width: area.width.saturating_sub(2),
            height: area.bottom().saturating_sub(y),
        };
        let shown = draw_flow(canvas, inner, effects, 0);
        if shown.end < effects.rows.len() && inner.height > 0 {
            let key = self.ui.key(super::super::keys::Command::Details);
            let more = format!(" … {key} shows all ");
            let wide = text::width(&more) as u16;
            let x = inner.right().saturating_sub(wide);
            canvas.put(x, inner.bottom() - 1, wide, &more, Role::Flagged);
        }
    }

    /// What the kernel knows of the agent. The uid is always there, or a title could imitate it.
    fn vouched(entry: &Entry, width: u16) -> String {
        let uid = entry.proposal.peer.uid;
        match width >= 60 {
            true => format!("uid {uid} · {}", Self::program(entry, width)),
            false => format!("uid {uid}"),
        }
    }

    /// Its process. The agent chooses its program's name, so the name has its own brackets.
    fn program(entry: &Entry, width: u16) -> String {
        let peer = &entry.proposal.peer;
        let exe = peer.exe.as_deref().filter(|_| width >= 80);
        let exe = exe.map_or_else(String::new, |exe| {
            format!(" ({})", text::cut(exe, 16).replace(['(', ')'], "?"))
        });
        format!("pid {}{exe}", peer.pid)
    }

    /// The agent's name and title, and the kernel's facts at the right edge. `listed`: the line above has the state
    /// and whether the code was edited.
    fn claimed(&self, canvas: &mut Canvas<'_>, area: Rect, entry: &Entry, listed: bool) {
        let p = &entry.proposal;
        let right = Self::at_right(canvas, area, &Self::vouched(entry, area.width));
        let mut x = area.x + 1;
        if entry.state() != State::Pending && !listed {
            let (glyph, word, role) = words::state(entry.state());
            x += canvas.put(
                x,
                area.y,
                right.saturating_sub(x),
                &format!("{glyph} {word}"),
                role,
            ) + 2;
        }
        let room = |x: u16| right.saturating_sub(x);
        if entry.is_edited() && !listed {
            x += canvas.put(x, area.y, room(x), words::EDITED, Role::Accent) + 2;
        }
        let name = p.agent.as_ref().map(|a| a.name.as_str());
        if let Some(name) = name.filter(|n| !n.is_empty()) {
            x += canvas.put(x, area.y, room(x), "agent ", Role::Dim);
            x += canvas.put_claim(x, area.y, room(x).min(24), name, Role::Text);
        } else {
            x += canvas.put(x, area.y, room(x), words::UNNAMED, Role::Dim);
        }
        if usize::from(room(x)) <= text::width(words::SAYS) {
            return;
        }
        x += canvas.put(x, area.y, room(x), words::SAYS, Role::Dim);
        let title = p.title.as_deref().filter(|t| !t.is_empty());
        let role = title.map_or(Role::Dim, |_| Role::Strong);
        canvas.put_claim(x, area.y, room(x), title.unwrap_or(words::UNTITLED), role);
    }

    /// The agent's reason; `facts` at the right edge.
    fn why(&self, canvas: &mut Canvas<'_>, area: Rect, entry: &Entry, facts: Option<&str>) {
        let right = match facts {
            Some(facts) => Self::at_right(canvas, area, facts),
            None => area.right(),
        };
        let mut x = area.x + 1;
        let room = |x: u16| right.saturating_sub(x);
        // With the queue folded this is the title's only line.
        if entry.is_edited() && facts.is_some() {
            x += canvas.put(x, area.y, room(x), words::EDITED, Role::Accent) + 2;
        }
        match &entry.proposal.reason {
            Some(reason) => {
                let used = canvas.put(x, area.y, room(x), "and why: ", Role::Dim);
                canvas.put_claim(x + used, area.y, room(x + used), reason, Role::Claim);
            }
            None => {
                canvas.put(x, area.y, room(x), words::NO_REASON, Role::Dim);
            }
        }
    }

    /// Draws the text at the right edge; returns where the room before it ends.
    fn at_right(canvas: &mut Canvas<'_>, area: Rect, what: &str) -> u16 {
        let wide = u16::try_from(text::width(what)).unwrap_or(area.width);
        let right = area.right().saturating_sub(1).saturating_sub(wide);
        canvas.put(right, area.y, wide, what, Role::Dim);
        right.saturating_sub(2)
    }
}
