//! What the terminal gets, frames or plain lines, and whether it took them.

use tokio::time::Instant;

use crate::clock::Now;
use crate::tui::terminal::Terminal;
use crate::tui::{Drawn, render};

use super::{Redraw, Shell};

impl Shell {
    /// Colours of code are ready, or the secrets of a proposal are known.
    pub(super) fn coloured(&mut self) {
        while let Some((digest, colours)) = self.highlighter.poll() {
            self.ui.set_highlight(digest, colours);
        }
        self.redraw = Redraw::Soon;
    }

    /// Something else was written to the terminal.
    pub(super) fn interrupted(&mut self) {
        if let Some(plain) = &mut self.plain {
            plain.interrupted();
        }
    }

    /// Lets other lines follow what was said.
    pub(super) fn end_line(&mut self) {
        if let Some(plain) = self.plain.as_mut().filter(|_| !self.gone) {
            // The terminal may be gone by now.
            let _ = self.terminal.say(&plain.end_line(), Drawn::default());
        }
    }

    pub(super) fn draw_when_due(&mut self) {
        let Some(least) = self.redraw.after() else {
            return;
        };
        if self.terminal.owes().is_some() || self.editing.is_away() {
            return;
        }
        if self.gone || self.drawn_at.is_some_and(|at| at.elapsed() < least) {
            return;
        }
        if !self.terminal.settles_in().is_zero() {
            return;
        }
        let now = Now::read();
        // Count what the old frame showed long enough; from now on the terminal may show either
        // frame.
        self.ui.count(now);
        self.catch_up(now);
        if let Some((digest, code)) = self.ui.wants_highlight(&self.works.state) {
            self.highlighter.request(digest, code);
        }
        if let Some(search) = self.ui.wants_search() {
            self.searcher.request(search);
        }
        if self.plain.is_none() {
            self.files.draw(self.ui.wants_figures(&self.works.state));
        }
        let (pending, running) = (
            self.works.state.pending_count(),
            self.works.state.running_count(),
        );
        self.terminal.title(pending, running);
        let (state, ui, header) = (&self.works.state, &self.ui, &self.works.header);
        let drawn = match &mut self.plain {
            None => self
                .terminal
                .draw(|area, buffer| render(state, ui, header, area, buffer, now)),
            Some(plain) => {
                let (text, drawn) = plain.speak(state, ui, header, Terminal::columns(), now);
                self.terminal.say(&text, drawn)
            }
        };
        self.redraw = Redraw::No;
        self.drawn_at = Some(Instant::now());
        match drawn {
            Ok(()) => self.hear_terminal(),
            Err(e) => self.lose_terminal(&e.to_string()),
        }
    }

    /// The terminal is gone: nobody can decide any more, and nobody sees a frame.
    pub(super) fn lose_terminal(&mut self, why: &str) {
        if !std::mem::replace(&mut self.gone, true) {
            tracing::warn!("the terminal is gone ({why}): closing");
            self.quit();
        }
    }
}
