//! Scrolling and moving, based on what the last frame showed.

use std::sync::Arc;

use crate::broker::BrokerState;
use crate::clock::Now;
use crate::model::{ProposalId, State};

use super::super::action::Action;
use super::super::document::Layout;
use super::super::dossier::Part as PagePart;
use super::super::keys::Command;
use super::super::transcript::At;
use super::super::words;
use super::events::AUDIT_ROWS;
use super::{LogScreen, Notice, OnScreen, Over, Pane, UiState};

/// Columns per left or right step.
const ACROSS: usize = 8;

/// The new position after a scroll command at `at`, within `0..=last`, with pages of `page` rows.
pub(super) fn step(command: Command, at: usize, last: usize, page: usize) -> Option<usize> {
    // One row of the previous page stays visible, so that the reader keeps their place.
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
    /// Handles a scroll command on the queue screen.
    pub(super) fn scroll_queue(&mut self, state: &BrokerState, command: Command, now: Now) {
        let entry = self.entry(state);
        let focus = self.focus_now(entry);
        let ran = entry.is_some_and(|entry| entry.state().is_final());
        if command == Command::PageCode && self.covers_code(state) && (!ran || focus == Pane::Queue)
        {
            // Show the code first, then page it with the next press.
            self.queue.zoom = false;
            return;
        }
        let pane = match (command, focus) {
            // After the run, paging the code is no longer needed for a grant.
            (Command::PageCode, Pane::Outcome | Pane::Output) if ran => focus,
            (Command::PageCode, _) if self.covers_code(state) => focus,
            (Command::PageCode, _) => Pane::Code,
            _ => focus,
        };
        match pane {
            Pane::Queue if matches!(command, Command::Left | Command::Right) => {
                self.turn_group(state, command, now);
            }
            Pane::Queue => self.move_selection(command, now),
            Pane::Code if command == Command::PageCode && self.page_waits(state, now) => {}
            Pane::Code => self.scroll_code(command),
            Pane::Output => self.scroll_output(state, command),
            pane => self.scroll_pane(pane, command),
        }
    }

    /// Moves the selection on from a proposal that was denied. Plain lines say it themselves.
    pub(super) fn move_on(&mut self, state: &BrokerState, now: Now) {
        let denied = |id: ProposalId| {
            let entry = state.entry(id);
            self.queue.denied.contains(&id) && entry.is_some_and(|e| e.state() == State::Denied)
        };
        if !self.queue.selected.is_some_and(denied) {
            return;
        }
        let said = match self.next_urgent(state) {
            Some(next) => {
                let rest = Notice::from(words::REST_OF_PASTE);
                let rest = self.remarks.notice.take().filter(|said| *said == rest);
                self.select(next, now);
                self.remarks.notice = rest;
                self.unhide(state, next);
                words::DENIED_NEXT
            }
            None if state.pending_count() == 0 => words::DENIED_LAST,
            None => return,
        };
        if !self.common.spoken && self.remarks.notice.is_none() {
            self.remarks.notice = Some(said.into());
        }
    }

    /// Whether a page must wait for the rows on the screen to count. It turns by itself then. A key held down turns no page:
    /// it lets the rows begin anew.
    fn page_waits(&mut self, state: &BrokerState, now: Now) -> bool {
        let waits = self.entry(state).filter(|entry| entry.awaits_decision());
        let Some(id) = waits
            .map(|entry| entry.proposal.id)
            .filter(|_| !self.common.spoken)
        else {
            return false;
        };
        if self.uncounted().is_none() {
            return false;
        }
        self.remarks.notice = match self.attention.quiet.key().calm {
            true => Some(Notice::PageWaits(id)),
            false => {
                self.frame.ranges.begin_anew(now.boot);
                Some(Notice::NotCounted(id))
            }
        };
        true
    }

    /// Turns the page that waited for its rows, if others must still be seen.
    pub(super) fn turn_page(&mut self) {
        let waited = matches!(self.remarks.notice, Some(Notice::PageWaits(id)) if self.queue.selected == Some(id));
        if waited && self.uncounted().is_none() {
            self.remarks.notice = None;
            if self.next_unseen().is_some() {
                self.scroll_code(Command::PageCode);
            }
        }
    }

    pub(super) fn move_selection(&mut self, command: Command, now: Now) {
        let all = self.queue.lists.live.len() + self.queue.lists.decided.len();
        let get = |i: usize| {
            self.queue
                .lists
                .live
                .get(i)
                .or_else(|| {
                    self.queue
                        .lists
                        .decided
                        .get(i.checked_sub(self.queue.lists.live.len())?)
                })
                .copied()
        };
        let at = (0..all).find(|i| get(*i) == self.queue.selected);
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
        let (Some(id), Some(layout)) = (self.queue.selected, self.frame.layout.clone()) else {
            return;
        };
        if self.frame.id != Some(id) || layout.len() == 0 {
            return;
        }
        let height = self.frame.code_rows.max(1);
        let looked = self.queue.looked.entry(id).or_default();
        match command {
            Command::Left if !self.queue.wrap => {
                looked.across = looked.across.saturating_sub(ACROSS);
            }
            Command::Right if !self.queue.wrap => looked.across += ACROSS,
            _ => {}
        }
        let last = layout.len() - 1;
        let last_top = layout.len().saturating_sub(height);
        let (top, cursor) = (layout.row_of(looked.top), layout.row_of(looked.cursor));
        let paging = matches!(
            command,
            Command::PageDown | Command::PageCode | Command::PageUp
        );
        let unseen = match command {
            Command::PageCode => layout.next_unseen(&looked.seen, &(top..top + height)),
            _ => None,
        };
        // Skip rows that hold no bytes of the document.
        let to = |row: usize| match command {
            Command::Up | Command::PageUp => layout.holding(row),
            _ => layout.holding_next(row),
        };
        let (top, cursor) = if let Some(row) = unseen {
            // One row above stays visible, so that the reader keeps their place.
            (row.saturating_sub(1).min(last_top), row)
        } else if command == Command::PageCode && !layout.doc.is_seen(&looked.seen) {
            // The rows still to be seen are on the screen already.
            return;
        } else if paging {
            let Some(to) = step(command, top, last_top, height).map(to) else {
                return;
            };
            // At either end, the cursor moves to the first or last row. The first page begins with what is above the code.
            let cursor = match (command, to == top) {
                (Command::PageUp, _) if to == 0 => 0,
                (_, true) => last,
                _ => layout.holding(cursor.clamp(to, (to + height - 1).min(last))),
            };
            (to, cursor)
        } else {
            let Some(cursor) = step(command, cursor, last, height).map(to) else {
                return;
            };
            let lowest = cursor.saturating_sub(height - 1);
            (top.clamp(lowest, cursor).min(last_top), cursor)
        };
        looked.top = layout.offset_of(top);
        looked.cursor = layout.offset_of(cursor);
        looked.found = None;
    }

    /// Moves the code by some rows, and the cursor with it if it would leave the screen.
    pub(super) fn roll_code(&mut self, command: Command, rows: usize) {
        let (Some(id), Some(layout)) = (self.queue.selected, self.frame.layout.clone()) else {
            return;
        };
        if self.frame.id != Some(id) || layout.len() == 0 {
            return;
        }
        let height = self.frame.code_rows.max(1);
        let last_top = layout.len().saturating_sub(height);
        let looked = self.queue.looked.entry(id).or_default();
        let top = layout.row_of(looked.top);
        let to = match command {
            Command::Up => layout.holding(top.saturating_sub(rows)),
            _ => layout.holding_next((top + rows).min(last_top)),
        };
        let lowest = (to + height - 1).min(layout.len() - 1);
        let lowest = match (command, to) {
            (Command::Up, 0) => 0,
            _ => lowest,
        };
        let cursor = layout.holding(layout.row_of(looked.cursor).clamp(to.min(lowest), lowest));
        looked.top = layout.offset_of(to);
        looked.cursor = layout.offset_of(cursor);
        looked.found = None;
    }

    /// Whether a row that must still be seen lies outside the screen.
    pub(super) fn unseen_elsewhere(&self) -> bool {
        let selected = self.queue.selected;
        let looked = selected.is_some_and(|id| self.queue.looked.contains_key(&id));
        // The screen may show no code.
        looked && (self.frame.layout.is_none() || self.next_unseen().is_some())
    }

    /// The row outside the screen that must be seen next.
    pub(super) fn next_unseen(&self) -> Option<usize> {
        let looked = self.queue.looked.get(&self.queue.selected?)?;
        let layout = self.frame.layout.as_ref()?;
        let top = layout.row_of(looked.top);
        let glass = top..top + self.frame.code_rows.max(1);
        layout.next_unseen(&looked.seen, &glass)
    }

    /// Opens or closes the condensed stretch under the cursor.
    pub(super) fn toggle_fold(&mut self) {
        let (Some(id), Some(layout)) = (self.queue.selected, self.frame.layout.clone()) else {
            return;
        };
        let looked = self.queue.looked.entry(id).or_default();
        let row = layout.row(layout.row_of(looked.cursor));
        let Some(fold) = row.and_then(|row| layout.fold_of(row)) else {
            return;
        };
        if !looked.open.remove(&fold) {
            looked.open.insert(fold);
        }
        let at = layout.doc.stands_at(fold);
        self.lay_out_again(&layout, id);
        self.go_to(at);
    }

    /// Lays the document out again after a condensed stretch was opened or closed.
    fn lay_out_again(&mut self, layout: &Layout, id: ProposalId) -> Arc<Layout> {
        let open = &self.queue.looked.entry(id).or_default().open;
        let Layout {
            width,
            wrap,
            as_drawn,
            ..
        } = *layout;
        let layout = Layout::new(layout.doc.clone(), width, wrap, open, as_drawn);
        let layout = Arc::new(layout);
        self.frame.layout = Some(layout.clone());
        layout
    }

    /// `p`: goes to the next input that the agent brought, and after the last one to the pane about
    /// all inputs. Without any of them, back from there to the code.
    pub(super) fn show_inputs(&mut self, state: &BrokerState) {
        let entry = self.entry(state);
        let Some(id) = entry.map(|e| e.proposal.id) else {
            return;
        };
        let from_given = self.focus_now(entry) == Pane::Given;
        let looked = self.queue.looked.entry(id).or_default();
        let next = self
            .queue
            .doc
            .as_ref()
            .and_then(|d| d.next_input(looked.cursor))
            // After the last one come all of them.
            .filter(|at| *at > looked.cursor || from_given);
        match next {
            Some(at) => {
                (looked.top, looked.cursor) = (at, at);
                self.queue.focus = Pane::Code;
            }
            None if from_given => self.focus_on(Pane::Code),
            None => self.focus_on(Pane::Given),
        }
    }

    /// Scrolls to this offset of the document.
    pub(super) fn go_to(&mut self, offset: usize) {
        let Some(id) = self.queue.selected else {
            return;
        };
        let Some(mut layout) = self.frame.layout.clone() else {
            // The next frame starts the layout at this offset.
            let fold = self.queue.doc.as_ref().and_then(|doc| doc.fold_at(offset));
            let looked = self.queue.looked.entry(id).or_default();
            looked.open.extend(fold);
            (looked.top, looked.cursor) = (offset, offset);
            return;
        };
        if let Some(fold) = layout.doc.fold_at(offset)
            && self.queue.looked.entry(id).or_default().open.insert(fold)
        {
            layout = self.lay_out_again(&layout, id);
        }
        let height = self.frame.code_rows.max(1);
        let columns = self.frame.code_columns;
        let wrap = self.queue.wrap;
        let looked = self.queue.looked.entry(id).or_default();
        let row = layout.row_of(offset);
        let top = layout.row_of(looked.top);
        if !(top..top + height).contains(&row) {
            let last_top = layout.len().saturating_sub(height);
            looked.top = layout.offset_of(row.saturating_sub(height / 3).min(last_top));
        }
        looked.cursor = layout.offset_of(row);
        if !wrap {
            // Counts bytes as columns: exact enough, since the margin is half a page.
            let inside = offset.saturating_sub(layout.offset_of(row));
            looked.across = if inside < columns {
                0
            } else {
                inside - columns / 2
            };
        }
    }

    pub(super) fn scroll_pane(&mut self, pane: Pane, command: Command) {
        let Some(id) = self.queue.selected else {
            return;
        };
        let (height, total) = self.frame.panes.get(&pane).copied().unwrap_or((1, 1));
        let last = total.saturating_sub(height);
        let looked = self.queue.looked.entry(id).or_default();
        let at = looked.scroll.get(&pane).copied().unwrap_or(0).min(last);
        if let Some(to) = step(command, at, last, height) {
            looked.scroll.insert(pane, to);
        }
    }

    /// Scrolling up from the end of the output stops following it; its end follows it again.
    pub(super) fn scroll_output(&mut self, state: &BrokerState, command: Command) {
        let Some(entry) = self.queue.selected.and_then(|id| state.entry(id)) else {
            return;
        };
        let (height, total) = self
            .frame
            .panes
            .get(&Pane::Output)
            .copied()
            .unwrap_or((1, 1));
        let last = total.saturating_sub(height);
        let looked = self.queue.looked.entry(entry.proposal.id).or_default();
        let reading = &mut looked.reading;
        match command {
            Command::Left if !self.queue.wrap => {
                reading.across = reading.across.saturating_sub(ACROSS);
            }
            Command::Right if !self.queue.wrap && self.frame.output_goes_on => {
                reading.across += ACROSS;
            }
            _ => {}
        }
        let above = match reading.at {
            // The next frame says which row it is.
            Some(At::Line(_)) => return,
            Some(At::Row(row)) => {
                match step(command, row.min(last), last, height) {
                    Some(to) if to == last => reading.follow(),
                    Some(to) => reading.stay(At::Row(to), entry),
                    None => {}
                }
                return;
            }
            Some(At::Above(rows)) => rows,
            None => 0,
        };
        // Counted from the end: earlier rows may not be laid out yet.
        let end = usize::MAX / 2;
        match step(command, end.saturating_sub(above), end, height) {
            Some(0) => reading.stay(At::Row(0), entry),
            Some(to) if to == end => reading.follow(),
            Some(to) => reading.stay(At::Above(end - to), entry),
            None => {}
        }
    }

    /// Handles a scroll command in whatever covers the screen: sheet, help, screen 3, a record.
    pub(super) fn scroll_over(&mut self, command: Command) {
        let (height, total) = self.frame.over.unwrap_or((1, 1));
        let last = total.saturating_sub(height);
        let top = match (&mut self.over, &mut self.place) {
            (Over::Help { top }, _) => top,
            (Over::Diff(compared), _) => &mut compared.top,
            (Over::Sheet(sheet), _) => &mut sheet.top,
            (Over::Nothing, OnScreen::Audit(log)) => &mut log.top,
            (Over::Nothing, OnScreen::Agents(screen)) => &mut screen.top,
            (Over::Nothing, OnScreen::Queue)
            | (Over::Prompt(_) | Over::Palette(_) | Over::Picker(_), _) => return,
        };
        if let Some(to) = step(command, (*top).min(last), last, height) {
            *top = to;
        }
    }

    /// Goes to the next part of a proposal's page, or to the one before; after the last comes the first.
    pub(super) fn step_part(&mut self, forward: bool) {
        let (height, total) = self.frame.over.unwrap_or((1, 1));
        let last = total.saturating_sub(height);
        let OnScreen::Audit(log) = &mut self.place else {
            return;
        };
        let top = log.top.min(last);
        let mut starts = self.frame.starts.iter().map(|at| (*at).min(last));
        log.top = match forward {
            true => starts.find(|at| *at > top).unwrap_or(0),
            false => starts.rfind(|at| *at < top).unwrap_or(last),
        };
    }

    /// Goes to the part of a proposal's page that a command is about elsewhere: INPUTS, DIFF or OUTPUT.
    pub(super) fn go_to_part(&mut self, command: Command) {
        let (height, total) = self.frame.over.unwrap_or((1, 1));
        let OnScreen::Audit(log) = &mut self.place else {
            return;
        };
        let part = match command {
            Command::Inputs => PagePart::Inputs,
            Command::Diff => PagePart::Diff,
            _ => PagePart::Output,
        };
        let at = log.dossier().and_then(|dossier| dossier.place(part));
        if let Some(start) = at.and_then(|at| self.frame.starts.get(at)) {
            log.top = (*start).min(total.saturating_sub(height));
        }
    }

    /// Moves the sheet down a page; at its end, goes to the first unseen row.
    pub(super) fn page_sheet(&mut self) {
        let (height, total) = self.frame.over.unwrap_or((1, 1));
        let last = total.saturating_sub(height);
        match self.over.sheet_mut() {
            Some(sheet) if sheet.top >= last => {
                let glass = sheet.top..sheet.top + height;
                if let Some((first, _)) = sheet.missing_beside(&glass, total) {
                    sheet.top = first.saturating_sub(1).min(last);
                }
            }
            _ => self.scroll_over(Command::PageCode),
        }
    }

    pub(super) fn scroll_audit(&mut self, command: Command) -> Vec<Action> {
        let OnScreen::Audit(log) = &mut self.place else {
            return Vec::new();
        };
        let last = log.page.total.saturating_sub(1);
        let Some(to) = step(command, log.row, last, self.frame.list_rows) else {
            return Vec::new();
        };
        log.row = to;
        self.load_around(to)
    }

    /// Requests the rows around this one if they are not loaded.
    pub(super) fn load_around(&self, row: usize) -> Vec<Action> {
        let margin = self.frame.list_rows.max(1);
        let Some(LogScreen { query, page, .. }) = self.place.log() else {
            return Vec::new();
        };
        let (from, to) = (page.offset, page.offset + page.rows.len());
        let above = row.saturating_sub(margin) < from && from > 0;
        let below = row + margin >= to && to < page.total;
        if above || below {
            vec![Action::LoadAudit {
                query: query.clone(),
                offset: row.saturating_sub(AUDIT_ROWS / 2),
                count: AUDIT_ROWS,
            }]
        } else {
            Vec::new()
        }
    }

    /// Whether another pane than the code fills the whole body.
    pub(super) fn covers_code(&self, state: &BrokerState) -> bool {
        let focus = self.focus_now(self.entry(state));
        self.queue.zoom && focus != Pane::Code
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
