//! Screen 2: what it asks of the log, and the answers.

use crate::tui::{AuditPage, Exporting, LogCheck, Sum};

use super::super::{exporting, summing};
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

    /// Starts an export, as a person's key asked.
    pub(super) fn export(&self, wanted: Exporting) {
        let source = exporting::Source {
            state_dir: self.state_dir.clone(),
            checkpoints: self.checkpoints.clone(),
        };
        exporting::start(source, wanted, self.hands.inbox.clone());
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
