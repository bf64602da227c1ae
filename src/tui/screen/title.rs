//! Above the code: the agent's claims, the kernel's facts about the agent, and the effects.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::broker::Entry;
use crate::model::State;

use super::super::canvas::Canvas;
use super::super::claim;
use super::super::flow::{Flow, Para};
use super::super::text;
use super::super::theme::Role;
use super::super::words;
use super::areas::Areas;
use super::measured::Parts;
use super::{LINE_WITH_TITLE, Screen, draw_flow};

/// Columns before the further rows of a claim: below its label, where no word of the program begins.
const CLAIM: usize = 6;
/// Columns that a reason has at least behind a title.
const FEW_WORDS: usize = 8;

impl Screen<'_> {
    pub(super) fn title(&self, canvas: &mut Canvas<'_>, areas: &Areas, parts: &Parts) {
        let area = areas.title;
        let Some(entry) = self.entry.filter(|_| area.height > 0) else {
            return;
        };
        let mut y = area.y;
        // The folded queue's line carries the title.
        let titled = areas.folded && self.line_has_title(areas.body);
        if !titled {
            let row = Rect { height: 1, ..area };
            self.claimed(canvas, row, entry, areas.folded);
            y += 1;
        }
        let inner = |y: u16| Rect {
            x: area.x + 1,
            y,
            width: area.width.saturating_sub(2),
            height: area.bottom().saturating_sub(y),
        };
        if let Some(short) = parts.short.as_ref().filter(|_| areas.short) {
            draw_flow(canvas, inner(y), short, 0);
            return;
        }
        let claims = inner(y);
        let shown = draw_flow(canvas, claims, &parts.claims, 0);
        y += shown.len() as u16;
        if let Some(last) = parts.claims.rows.get(..shown.end).and_then(<[_]>::last)
            && titled
        {
            let process = Self::program(entry, area.width);
            let wide = text::width(&process);
            if last.columns() + 2 + wide <= usize::from(claims.width) {
                let x = claims.right() - wide as u16;
                canvas.put(x, y - 1, wide as u16, &process, Role::Dim);
            }
        }
        let Some(effects) = &parts.title else { return };
        let inner = inner(y);
        let shown = draw_flow(canvas, inner, effects, 0);
        if shown.end < effects.rows.len() && inner.height > 0 {
            let key = self.ui.key(super::super::keys::Command::Details);
            let more = format!(" … {key} shows all ");
            let wide = text::width(&more) as u16;
            let x = inner.right().saturating_sub(wide);
            canvas.put(x, inner.bottom() - 1, wide, &more, Role::Flagged);
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

    /// The agent's name and title, and the kernel's facts at the right edge: always the uid, or a title could imitate
    /// it; the process where the title leaves room. `listed`: the line above has the state and whether the code was
    /// edited. Returns whether all of the title is there.
    fn claimed(&self, canvas: &mut Canvas<'_>, area: Rect, entry: &Entry, listed: bool) -> bool {
        let p = &entry.proposal;
        let said = p.title.as_deref().filter(|t| !t.is_empty());
        let title = said.unwrap_or(words::UNTITLED);
        let mut before = Vec::new();
        if entry.state() != State::Pending && !listed {
            let (glyph, word, role) = words::state(entry.state());
            before.push((format!("{glyph} {word}  "), role));
        }
        if entry.is_edited() && !listed {
            before.push((format!("{}  ", words::EDITED), Role::Accent));
        }
        before.push(("agent ".to_owned(), Role::Dim));
        before.extend(claim::cut(p.agent_name(), 24, Role::Text));
        before.push((words::SAYS.to_owned(), Role::Dim));
        let used: usize = before.iter().map(|(text, _)| text::width(text)).sum();
        let uid = Self::uid_of(entry);
        let both = format!("{uid} · {}", Self::program(entry, area.width));
        let needs = |facts: &str| 1 + used + claim::width(title) + 2 + text::width(facts) + 1;
        let columns = usize::from(area.width);
        let facts = if needs(&both) <= columns { &both } else { &uid };
        let right = Self::at_right(canvas, area, facts);
        let mut x = area.x + 1;
        let room = |x: u16| right.saturating_sub(x);
        for (text, role) in &before {
            x += canvas.put(x, area.y, room(x), text, *role);
        }
        let role = said.map_or(Role::Dim, |_| Role::Strong);
        canvas.put_claim(x, area.y, room(x), title, role);
        needs(facts) <= columns
    }

    /// The title, if the row above cut it, and the reason, in at most so many rows. `titled`: that row is the folded
    /// queue's line.
    pub(super) fn claim_rows(&self, entry: &Entry, width: u16, rows: u16, titled: bool) -> Flow {
        let p = &entry.proposal;
        let row = Rect::new(0, 0, width, 1);
        let mut buffer = Buffer::empty(row);
        let mut canvas = Canvas::new(&mut buffer, self.ui.theme());
        let whole = match titled {
            true => self.folded_queue(&mut canvas, row, false),
            false => self.claimed(&mut canvas, row, entry, width < LINE_WITH_TITLE),
        };
        let inner = width.saturating_sub(2);
        let mut para = Para::default().hang(CLAIM);
        if entry.is_edited() && titled {
            para = para.and(format!("{}  ", words::EDITED), Role::Accent);
        }
        let title = p
            .title
            .as_deref()
            .filter(|title| !title.is_empty() && !whole);
        if let Some(title) = title {
            // The reason keeps half of two rows, and a few words of one.
            let room = usize::from(inner).saturating_sub(CLAIM);
            let share = match rows {
                1 => room.saturating_sub(text::width(words::WHY) + FEW_WORDS),
                _ => room * usize::from(rows) / 2,
            };
            para = para.and(words::SAYS.trim_start(), Role::Dim);
            let spans = claim::cut(title, share.max(CLAIM), Role::Claim);
            para = spans
                .into_iter()
                .fold(para, |para, (text, role)| para.and(text, role));
        }
        let between = if title.is_some() { "  " } else { "" };
        match &p.reason {
            Some(reason) => {
                para = para.and(format!("{between}{}", words::WHY), Role::Dim);
                para = claim::and(para, reason, Role::Claim);
            }
            None if titled || title.is_some() => {
                para = para.and(format!("{between}{}", words::NO_REASON), Role::Dim);
            }
            None => return Flow::default(),
        }
        let mut flow = Flow::new(&[para], inner);
        flow.clip(usize::from(rows), inner, ("…", Role::Dim));
        flow
    }

    /// Draws the text at the right edge; returns where the room before it ends.
    fn at_right(canvas: &mut Canvas<'_>, area: Rect, what: &str) -> u16 {
        let wide = u16::try_from(text::width(what)).unwrap_or(area.width);
        let right = area.right().saturating_sub(1).saturating_sub(wide);
        canvas.put(right, area.y, wide, what, Role::Dim);
        right.saturating_sub(2)
    }
}
