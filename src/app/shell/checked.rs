//! What becomes of the log that the start left unread.

use std::path::Path;

use tokio::sync::mpsc::UnboundedSender;

use crate::audit::{Checked, NotaryEvent};
use crate::broker::Event;
use crate::clock::Now;
use crate::model::{Lane, Ticket};
use crate::tui::{LogCheck, UiState};

use super::super::{Input, memory, record, review, signing};
use super::Shell;

impl Shell {
    pub(super) fn review(&self, query: String, wanted: review::Wanted) {
        let asked = review::Asked { query, wanted };
        let inbox = self.hands.inbox.clone();
        review::load(self.source(), asked, move |page| {
            let _ = inbox.send(Input::Audit(page));
        });
    }

    pub(super) fn signed(&mut self, event: NotaryEvent) {
        if let Some(doubt) = signing::tell(event, &mut self.header, &self.hands.log) {
            self.core(Event::LogDoubted(doubt));
        }
    }

    /// A log that would have stopped a start that reads it stops everything now.
    pub(super) fn checked(&mut self, checked: Result<Box<Checked>, String>) {
        let checked = match checked {
            Ok(checked) => *checked,
            Err(why) => {
                tracing::error!("{why}");
                self.header.log = LogCheck::Damaged(why.clone());
                self.hands.log.down();
                return self.core(Event::AuditDown { reason: why });
            }
        };
        self.core(Event::LogRead);
        if let Some(first) = checked.faults.first() {
            self.header.log = LogCheck::Damaged(first.to_string());
        } else if self.header.log == LogCheck::Running {
            self.header.log = LogCheck::Sound;
        }
        self.ui.recall(checked.past);
        for event in record::closing_records(&checked.missed) {
            self.ui.learn(Now::read().wall, &event, &[]);
            let log = &self.hands.log;
            log.submit_in(Lane::Person, Ticket::Unawaited, event, Vec::new());
        }
        look_further(&self.state_dir, &self.ui, &self.hands.inbox);
    }
}

/// Reads what the log names: codes for their shapes, and all contents, to compare them with their digests.
pub(super) fn look_further(state_dir: &Path, ui: &UiState, inbox: &UnboundedSender<Input>) {
    memory::read_shapes(state_dir.to_owned(), ui.shapeless(), inbox.clone());
    review::check(state_dir.to_owned(), inbox.clone());
}
