//! Drills in the queue.

use crate::broker::Event;
use crate::clock::Now;
use crate::model::ProposalId;

use super::Shell;

impl Shell {
    /// Makes the drill whose time has come. The core drops it if it cannot pass for a real proposal now.
    pub(super) fn drill_when_due(&mut self) {
        let now = Now::read();
        let (drills, state) = (self.drills.as_mut(), &self.works.state);
        let hides = |profile: &str| state.hides_drills(profile, now);
        let Some((draft, drill)) = drills.and_then(|drills| drills.take(now.boot, hides)) else {
            return;
        };
        self.core(Event::Drill {
            id: ProposalId::new(),
            draft: Box::new(draft),
            drill,
        });
    }
}
