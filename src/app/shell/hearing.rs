//! Whether the terminal shows its frames, and what is not heard of it.

use std::time::Duration;

use crate::clock::Now;

use super::{Event, Redraw, Shell};

/// A terminal that takes no output for this long counts as showing nothing.
const STUCK: Duration = Duration::from_secs(1);

impl Shell {
    /// Checks whether the terminal took the last frame. While it takes no output, deadlines pass,
    /// runs end and signals still close, but keys are ignored; afterwards the screen is redrawn.
    pub(super) fn hear_terminal(&mut self) {
        if self.gone || self.editing.is_away() {
            return;
        }
        match self.terminal.taken() {
            Ok(Some(_)) if std::mem::take(&mut self.stuck) => {
                tracing::info!("the terminal shows its frames again");
                self.terminal.forget();
                self.interrupted();
                self.flush();
            }
            Ok(Some(drawn)) => self.ui.drawn(&self.works.state, drawn, Now::read()),
            Ok(None) => {
                if !self.stuck && self.terminal.owes().is_some_and(|since| since >= STUCK) {
                    tracing::warn!("the terminal shows nothing: no key counts until it does");
                    self.stuck = true;
                    self.ui.out_of_sight(Now::read());
                }
            }
            Err(e) => self.lose_terminal(&e.to_string()),
        }
    }

    /// After a stall: discards what was typed meanwhile.
    pub(super) fn flush(&mut self) {
        self.keyboard.flush();
        self.ui.stalled(Now::read());
        self.redraw = Redraw::Soon;
    }

    /// Restores the terminal and stops, as a shell expects of Ctrl-Z. Keys typed meanwhile were
    /// meant for other programs.
    pub(super) fn suspend(&mut self) {
        self.terminal.suspend();
        self.interrupted();
        self.keyboard.flush();
        self.ui.flush_input(Now::read());
        self.core(Event::Tick);
        self.drawn_at = None;
    }
}
