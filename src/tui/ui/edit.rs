//! `e`: a person edits the code of the selected proposal. What comes back is other code: nothing of it was
//! seen yet, and what was open on the code before closes.

use crate::broker::BrokerState;
use crate::clock::Now;
use crate::model::for_editors::{Hazard, hazards};
use crate::model::{Digest, ProposalId};

use super::super::action::{Action, EditNews};
use super::super::words;
use super::{Frame, Notice, UiState};

impl UiState {
    /// `e`: asks for an editor on the code, or says what prevents it.
    pub(super) fn ask_edit(&mut self, state: &BrokerState, now: Now) -> Vec<Action> {
        let Some(entry) = self.entry(state) else {
            self.remarks.notice = Some(Notice::NothingSelected);
            return Vec::new();
        };
        let id = entry.proposal.id;
        if let Err(why) = state.editable(id, now) {
            self.remarks.notice = Some(words::cannot_edit(&why.to_string()).into());
            return Vec::new();
        }
        // A person's own text was in their editor already.
        let proposed = !entry.is_edited();
        if let Some(line) = words_to_editors(entry.code().text()).filter(|_| proposed) {
            self.remarks.notice = Some(words::not_for_editors(line).into());
            return Vec::new();
        }
        vec![Action::Edit { id }]
    }

    /// Call before another program gets the terminal: nothing on it counts as seen, and the time there is no
    /// time at this screen.
    pub fn lend(&mut self, now: Now) {
        self.accrue(now);
        self.out_of_sight(now);
    }

    /// Call when the terminal is the dashboard's again. What was typed for the other program decides nothing.
    pub fn take_back(&mut self, now: Now) {
        self.attention.accrued = Some(now.boot);
        // The other program may have changed the reports, and they can come again.
        self.attention.focused = None;
        self.flush_input(now);
    }

    /// Says what became of an edit.
    pub fn tell_of_edit(&mut self, news: &EditNews) {
        self.remarks.notice = Some(words::edit_news(news).into());
    }

    /// The selected proposal has other code than was on the screen.
    pub(super) fn begin_anew(&mut self, id: ProposalId, code: Digest, now: Now) {
        self.over.close_sheet();
        self.frame = Frame::default();
        self.kept.flows.clear();
        self.queue.looked.entry(id).or_default().turn_to(code);
        self.fresh_grace(now);
    }
}

/// The first line that an editor or a terminal could obey, counted from 1. A character without a glyph is no reason
/// not to edit.
fn words_to_editors(text: &str) -> Option<usize> {
    let mut found = hazards(text).filter(|(_, hazard)| *hazard != Hazard::Invisible);
    found.next().map(|(line, _)| line)
}
