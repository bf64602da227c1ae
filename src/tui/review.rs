//! The screen of `countersign audit`: the log alone, to be read.
//!
//! It has no proposals that wait, no keys of decisions, and what it can ask of its shell ([`Reading`]) has no decision in
//! it: no key leads from here to a grant.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use crossterm::event::Event;

use crate::broker::{Attendance, BrokerState, Settings};
use crate::clock::Now;
use crate::model::{Environment, ProposalId, Tier};

use super::action::{Action, AuditPage, ExportGoes, Exporting, Header, LogCheck, Sum, Sums};
use super::caps::TerminalCaps;
use super::charset::Charset;
use super::keys::Keymap;
use super::plain::Plain;
use super::program::Reviewed;
use super::screen::{Drawn, render};
use super::terminal::Terminal;
use super::theme::Themes;
use super::ui::{Span, UiState};
use super::words::reviewed as words;

/// All that the program which only reads can be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// `count` rows of a question from `offset` on; 0 is the newest.
    Rows {
        query: String,
        offset: usize,
        count: usize,
    },
    /// One proposal's page and records.
    Record {
        query: String,
        id: ProposalId,
    },
    /// What the rows of a question come to.
    Sums {
        query: String,
        what: Sum,
    },
    /// What a question selects goes into a folder.
    Export(Exporting),
    Suspend,
    Quit,
}

impl Reading {
    fn of(action: Action) -> Option<Self> {
        match action {
            Action::LoadAudit {
                query,
                offset,
                count,
            } => Some(Self::Rows {
                query,
                offset,
                count,
            }),
            Action::ShowRecord { query, id } => Some(Self::Record { query, id }),
            Action::SumUp { query, what } => Some(Self::Sums { query, what }),
            Action::Export(wanted) => Some(Self::Export(wanted)),
            Action::Suspend => Some(Self::Suspend),
            Action::Quit => Some(Self::Quit),
            Action::Grant(_)
            | Action::Deny { .. }
            | Action::Kill { .. }
            | Action::Edit { .. }
            | Action::Pause(_)
            | Action::Resume(_)
            | Action::Compare(_)
            | Action::Open(_)
            | Action::Save(_)
            | Action::Copy => None,
        }
    }
}

fn readings(actions: Vec<Action>) -> Vec<Reading> {
    actions.into_iter().filter_map(Reading::of).collect()
}

/// The screen with its state.
pub struct Review {
    ui: UiState,
    /// A dashboard without agents, profiles and Python: the screen is drawn with it, and nothing could be granted in it.
    nobody: BrokerState,
    facts: Header,
    /// Speaks in lines, instead of drawing.
    plain: Option<Plain>,
}

impl Review {
    pub fn new(
        keys: Keymap,
        themes: Themes,
        caps: TerminalCaps,
        charset: Charset,
        reviewed: Reviewed,
    ) -> Self {
        Self {
            ui: UiState::reviewing(keys, themes, caps, reviewed).with_charset(charset),
            nobody: nobody(),
            facts: facts(),
            plain: None,
        }
    }

    /// The same in plain lines.
    #[must_use]
    pub fn spoken(self) -> Self {
        Self {
            ui: self.ui.spoken(),
            plain: Some(Plain::default()),
            ..self
        }
    }

    /// What is to be read first.
    pub fn opens(&mut self) -> Vec<Reading> {
        readings(self.ui.open_log())
    }

    /// What is to be read again because the log grew.
    pub fn reload(&self) -> Vec<Reading> {
        readings(self.ui.reload())
    }

    /// Handles an event with the time span in which it could have been typed.
    pub fn on_typed(&mut self, event: &Event, when: Span, now: Now) -> Vec<Reading> {
        readings(self.ui.on_typed(&self.nobody, event, when, now))
    }

    /// Handles input that is not an event.
    pub fn on_noise(&mut self, when: Span) {
        self.ui.on_noise(when);
    }

    pub fn set_page(&mut self, page: AuditPage) {
        self.ui.set_audit(page);
    }

    pub fn set_sums(&mut self, sums: Sums) {
        self.ui.set_sums(sums);
    }

    /// How far an export is.
    pub fn export_goes(&mut self, goes: ExportGoes) {
        self.ui.export_goes(goes);
    }

    /// What became of an export.
    pub fn exported(&mut self, said: String) {
        self.ui.exported(said);
    }

    /// Says something in the footer.
    pub fn tell(&mut self, said: String) {
        self.ui.tell(said);
    }

    /// Says that the index is one of its own.
    pub fn tell_of_index(&mut self) {
        self.ui.tell(words::INDEX_MADE.to_owned());
    }

    pub const fn reviewed_mut(&mut self) -> Option<&mut Reviewed> {
        self.ui.reviewed_mut()
    }

    /// Sends the terminal a frame, or what there is to say.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub fn show(&mut self, terminal: &mut Terminal, now: Now) -> io::Result<()> {
        // Prints what of a replay is due.
        self.ui.count(now);
        let (state, ui, facts) = (&self.nobody, &self.ui, &self.facts);
        match &mut self.plain {
            None => terminal.draw(|area, buffer| render(state, ui, facts, area, buffer, now)),
            Some(plain) => {
                let (text, drawn) = plain.speak(state, ui, facts, Terminal::columns(), now);
                terminal.say(&text, drawn)
            }
        }
    }

    /// Records what the terminal shows.
    pub fn shown(&mut self, drawn: Drawn, now: Now) {
        self.ui.drawn(&self.nobody, drawn, now);
    }

    /// Time until the screen changes by itself.
    pub fn next_wake(&self, now: Now) -> Option<Duration> {
        let line = self.plain.as_ref().and_then(|plain| plain.next_wake(now));
        let screen = self.ui.next_wake(&self.nobody, now);
        screen.into_iter().chain(line).min()
    }

    /// Something else was written to the terminal, or it was out of sight.
    pub fn interrupted(&mut self, now: Now) {
        if let Some(plain) = &mut self.plain {
            plain.interrupted();
        }
        self.ui.flush_input(now);
    }

    /// Lets other lines follow what was said.
    pub fn end_line(&mut self) -> Option<String> {
        self.plain.as_mut().map(Plain::end_line)
    }

    /// With the times of snapshots, whatever the machine's zone is.
    #[cfg(test)]
    pub(super) fn in_utc(self) -> Self {
        Self {
            ui: self.ui.with_zone(jiff::tz::TimeZone::UTC),
            ..self
        }
    }

    #[cfg(test)]
    pub(super) fn draw(
        &mut self,
        area: ratatui::layout::Rect,
        buffer: &mut ratatui::buffer::Buffer,
        now: Now,
    ) -> Drawn {
        let drawn = render(&self.nobody, &self.ui, &self.facts, area, buffer, now);
        self.ui.drawn(&self.nobody, drawn.clone(), now);
        drawn
    }

    #[cfg(test)]
    pub(super) const fn ui(&self) -> &UiState {
        &self.ui
    }
}

/// No agent, no profile, no environment, no log.
fn nobody() -> BrokerState {
    let settings = Settings {
        voting: None,
        attendance: Attendance::Person,
        profile: String::new(),
        profiles: Vec::new(),
        tier: Tier::Process,
        ttl: Duration::ZERO,
        ttl_max: Duration::ZERO,
        datasets: BTreeSet::new(),
        max_pending: 0,
        max_pending_per_peer: 0,
        max_pending_per_uid: 0,
        kill_on_disconnect: false,
        lift: false,
        version: String::new(),
    };
    let environment = Environment::Failed {
        message: String::new(),
    };
    BrokerState::new(settings, environment, 0)
}

fn facts() -> Header {
    Header {
        policy: String::new(),
        policy_digest: String::new(),
        tier: Tier::Process,
        tiers: Vec::new(),
        agents_share_uid: false,
        socket: String::new(),
        submit: String::new(),
        absent: Vec::new(),
        log_recovered: None,
        log: LogCheck::Sound,
        unanchored: None,
        unreached: None,
        unheard: None,
        seat: None,
    }
}
