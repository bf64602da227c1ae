//! The interface follows the core, and the core hears what is on the screen.

use crate::broker::Event;
use crate::clock::Now;
use crate::executor::Wish;

use super::Shell;

impl Shell {
    /// Lets the interface read the core's state, before a key is interpreted and before a frame.
    /// Not for every event, because the interface rebuilds lists as long as the queue.
    pub(super) fn catch_up(&mut self, now: Now) {
        if std::mem::take(&mut self.behind) {
            self.ui.sync(&self.works.state, now);
            self.get_ready(Wish::IfRoom);
        }
    }

    pub(super) fn get_ready(&mut self, wish: Wish) {
        let selected = self.ui.selected();
        if self.works.state.on_screen() != selected {
            self.core(Event::Shown { id: selected });
        }
        self.ahead
            .get_ready(selected, &self.works.state, &self.works.hands, wish);
    }
}
