//! Scrolling and moving, by what the last frame showed.

use crate::broker::BrokerState;
use crate::clock::Now;

use super::super::action::Action;
use super::super::keys::Command;
use super::events::AUDIT_ROWS;
use super::{Pane, UiState, View};

/// Columns that left and right move.
const ACROSS: usize = 8;

/// Where a scroll command leads from `at`, within `0..=last`, with pages of `page` rows.
fn step(command: Command, at: usize, last: usize, page: usize) -> Option<usize> {
    // One row of the last page stays, so that reading goes on where it was.
    let page = page.saturating_sub(1).max(1);
    let to = match command {
        Command::Down => at.saturating_add(1),
        Command::Up => at.saturating_sub(1),
        Command::PageDown | Command::PageCode => at.saturating_add(page),
        Command::PageUp => at.saturating_sub(page),
        Command::Top => 0,
        Command::Bottom => last,
        _ => return None,
    };
    Some(to.min(last))
}

impl UiState {
    /// A scroll command on the queue screen.
    pub(super) fn scroll_queue(&mut self, state: &BrokerState, command: Command, now: Now) {
        let pane = match command {
            Command::PageCode => Pane::Code,
            _ => self.focus_now(self.entry(state)),
        };
        match pane {
            Pane::Queue => self.move_selection(command, now),
            Pane::Code => self.scroll_code(command),
            pane => self.scroll_pane(pane, command),
        }
    }

    fn move_selection(&mut self, command: Command, now: Now) {
        let all = self.live.len() + self.decided.len();
        let get = |i: usize| {
            self.live
                .get(i)
                .or_else(|| self.decided.get(i.checked_sub(self.live.len())?))
                .copied()
        };
        let at = (0..all).find(|i| get(*i) == self.selected);
        let last = all.saturating_sub(1);
        let to = match at {
            None => Some(0),
            Some(at) => step(command, at, last, self.frame.list_rows),
        };
        if let Some(id) = to.and_then(get) {
            self.select(id, now);
        }
    }

    fn scroll_code(&mut self, command: Command) {
        let (Some(id), Some(layout)) = (self.selected, self.frame.layout.clone()) else {
            return;
        };
        if self.frame.id != Some(id) || layout.len() == 0 {
            return;
        }
        let height = self.frame.code_rows.max(1);
        let looked = self.looked.entry(id).or_default();
        match command {
            Command::Left if !self.wrap => looked.across = looked.across.saturating_sub(ACROSS),
            Command::Right if !self.wrap => looked.across += ACROSS,
            _ => {}
        }
        let last = layout.len() - 1;
        let last_top = layout.len().saturating_sub(height);
        let (top, cursor) = (layout.row_of(looked.top), layout.row_of(looked.cursor));
        let paging = matches!(
            command,
            Command::PageDown | Command::PageCode | Command::PageUp
        );
        let (top, cursor) = if paging {
            let Some(to) = step(command, top, last_top, height) else {
                return;
            };
            // At either end, the cursor goes all the way.
            let cursor = match (command, to == top) {
                (Command::PageUp, true) => 0,
                (_, true) => last,
                _ => cursor.clamp(to, (to + height - 1).min(last)),
            };
            (to, cursor)
        } else {
            let Some(cursor) = step(command, cursor, last, height) else {
                return;
            };
            let lowest = cursor.saturating_sub(height - 1);
            (top.clamp(lowest, cursor).min(last_top), cursor)
        };
        looked.top = layout.offset_of(top);
        looked.cursor = layout.offset_of(cursor);
        looked.found = None;
    }

    /// Shows this offset of the document.
    pub(super) fn go_to(&mut self, offset: usize) {
        let (Some(id), Some(layout)) = (self.selected, self.frame.layout.clone()) else {
            return;
        };
        let height = self.frame.code_rows.max(1);
        let columns = self.frame.code_columns;
        let wrap = self.wrap;
        let looked = self.looked.entry(id).or_default();
        let row = layout.row_of(offset);
        let top = layout.row_of(looked.top);
        if !(top..top + height).contains(&row) {
            let last_top = layout.len().saturating_sub(height);
            looked.top = layout.offset_of(row.saturating_sub(height / 3).min(last_top));
        }
        looked.cursor = layout.offset_of(row);
        if !wrap {
            // Near enough: a byte is at least as wide as nothing, and the margin is half a page.
            let inside = offset.saturating_sub(layout.offset_of(row));
            looked.across = if inside < columns {
                0
            } else {
                inside - columns / 2
            };
        }
    }

    fn scroll_pane(&mut self, pane: Pane, command: Command) {
        let Some(id) = self.selected else { return };
        let (height, total) = self.frame.panes.get(&pane).copied().unwrap_or((1, 1));
        let last = total.saturating_sub(height);
        let looked = self.looked.entry(id).or_default();
        let follows = if pane == Pane::Output { last } else { 0 };
        let at = looked
            .scroll
            .get(&pane)
            .copied()
            .unwrap_or(follows)
            .min(last);
        if let Some(to) = step(command, at, last, height) {
            if pane == Pane::Output && to == last {
                looked.scroll.remove(&pane);
            } else {
                looked.scroll.insert(pane, to);
            }
        }
    }

    /// A scroll command where one thing covers the screen: sheet, help, screen 3, a record.
    pub(super) fn scroll_over(&mut self, command: Command) {
        let (height, total) = self.frame.over.unwrap_or((1, 1));
        let last = total.saturating_sub(height);
        let at = match (&self.help, &self.sheet) {
            (Some(top), _) => *top,
            (None, Some(sheet)) => sheet.top,
            (None, None) => self.scroll,
        };
        let Some(to) = step(command, at.min(last), last, height) else {
            return;
        };
        match (&mut self.help, &mut self.sheet) {
            (Some(top), _) => *top = to,
            (None, Some(sheet)) => sheet.top = to,
            (None, None) => self.scroll = to,
        }
    }

    pub(super) fn scroll_audit(&mut self, command: Command) -> Vec<Action> {
        let last = self.audit.total.saturating_sub(1);
        let Some(to) = step(command, self.audit_row, last, self.frame.list_rows) else {
            return Vec::new();
        };
        self.audit_row = to;
        self.load_around(to)
    }

    /// Asks for the rows around this one, where they are not loaded.
    pub(super) fn load_around(&self, row: usize) -> Vec<Action> {
        let margin = self.frame.list_rows.max(1);
        let (from, to) = (self.audit.offset, self.audit.offset + self.audit.rows.len());
        let above = row.saturating_sub(margin) < from && from > 0;
        let below = row + margin >= to && to < self.audit.total;
        if self.view == View::Audit && (above || below) {
            vec![Action::LoadAudit {
                offset: row.saturating_sub(AUDIT_ROWS / 2),
                count: AUDIT_ROWS,
            }]
        } else {
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_overlap_by_a_row_and_stay_within() {
        assert_eq!(step(Command::PageDown, 0, 100, 10), Some(9));
        assert_eq!(step(Command::PageDown, 95, 100, 10), Some(100));
        assert_eq!(step(Command::PageUp, 3, 100, 10), Some(0));
        assert_eq!(step(Command::PageDown, 0, 100, 1), Some(1));
        assert_eq!(step(Command::Grant, 0, 100, 1), None);
    }
}
