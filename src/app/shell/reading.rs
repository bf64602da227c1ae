//! Screen 2: what it asks of the log, and the answers.

use crate::tui::{AuditPage, Exporting, LogCheck, Sum};

use super::super::memory::Recalled;
use super::super::review::Source;
use super::super::{exporting, summing};
use super::{Input, Redraw, Shell};

impl Shell {
    pub(super) fn source(&self) -> Source {
        Source {
            state_dir: self.works.state_dir.clone(),
            checkpoints: self.works.checkpoints.clone(),
            apart: None,
            sealed: self.works.state.sealed().collect(),
        }
    }

    pub(super) fn take_page(&mut self, page: AuditPage) {
        // The header must not contradict the page below it.
        if let Some(first) = &page.damage {
            self.works.header.log = LogCheck::Damaged(first.clone());
        }
        self.ui.set_audit(page);
        self.redraw = Redraw::Soon;
    }

    /// Starts an export, as a person's key asked.
    pub(super) fn export(&mut self, wanted: Exporting) {
        let inbox = self.works.hands.inbox.clone();
        let underway = exporting::start(self.source(), wanted, move |news| {
            let _ = inbox.send(Input::Recalled(Recalled::Export(news)));
        });
        self.exporting = Some(underway);
    }

    pub(super) fn sum_up(&self, query: String, what: Sum) {
        let inbox = self.works.hands.inbox.clone();
        summing::load(self.source(), query, what, move |sums| {
            let _ = inbox.send(Input::Sums(sums));
        });
    }
}
