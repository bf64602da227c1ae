//! What becomes of the log that the start left unread.

use crate::audit::Checked;
use crate::clock::Now;

use super::super::works::Reading;
use super::super::{Input, memory, review};
use super::Shell;

impl Shell {
    pub(super) fn review(&self, query: String, wanted: review::Wanted) {
        let asked = review::Asked { query, wanted };
        let inbox = self.works.hands.inbox.clone();
        review::load(self.source(), asked, move |page| {
            let _ = inbox.send(Input::Audit(page));
        });
    }

    /// The log that the start left unread was read, or must not be believed.
    pub(super) fn checked(&mut self, checked: Result<Box<Checked>, String>) {
        let Reading { event, past } = self.works.checked(checked);
        self.core(event);
        let Some((past, closing)) = past else {
            return;
        };
        self.ui.recall(past);
        for event in &closing {
            self.ui.learn(Now::read().wall, event, &[]);
        }
        let inbox = self.works.hands.inbox.clone();
        memory::read_shapes(self.works.state_dir.clone(), self.ui.shapeless(), inbox);
    }
}
