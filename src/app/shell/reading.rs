//! Screen 2: what it asks of the log, and the answers.

use crate::tui::{AuditPage, LogCheck, Sum};

use super::super::summing;
use super::{Redraw, Shell};

impl Shell {
    pub(super) fn take_page(&mut self, page: AuditPage) {
        // The header must not contradict the page below it.
        if let Some(first) = &page.damage {
            self.header.log = LogCheck::Damaged(first.clone());
        }
        self.ui.set_audit(page);
        self.redraw = Redraw::Soon;
    }

    pub(super) fn sum_up(&self, query: String, what: Sum) {
        summing::load(
            self.state_dir.clone(),
            query,
            what,
            self.hands.inbox.clone(),
        );
    }
}
