//! The screen's state in the program that only reads a log: screen 2 is its only screen, and it has the keys of that one
//! alone.

use super::super::action::Action;
use super::super::caps::TerminalCaps;
use super::super::keys::{Command, Keymap};
use super::super::program::{Program, Reviewed};
use super::super::theme::Themes;
use super::super::words;
use super::events::AUDIT_ROWS;
use super::{LogScreen, Notice, OnScreen, UiState};

impl UiState {
    /// The state of the program that only reads a log.
    pub(in crate::tui) fn reviewing(
        keys: Keymap,
        themes: Themes,
        caps: TerminalCaps,
        reviewed: Reviewed,
    ) -> Self {
        let program = Program::Review(reviewed);
        let keys = keys.only(|command| program.has(command));
        let mut ui = Self::new(keys, themes, caps);
        ui.common.program = program;
        ui.place = OnScreen::Audit(LogScreen::default());
        ui
    }

    /// What is said of the log that is only read; `None` in a dashboard.
    pub(in crate::tui) const fn reviewed(&self) -> Option<&Reviewed> {
        match &self.common.program {
            Program::Dashboard => None,
            Program::Review(reviewed) => Some(reviewed),
        }
    }

    pub(in crate::tui) const fn reviewed_mut(&mut self) -> Option<&mut Reviewed> {
        match &mut self.common.program {
            Program::Dashboard => None,
            Program::Review(reviewed) => Some(reviewed),
        }
    }

    /// While a page is read, nothing but what leaves it is done: what is typed is meant for a page that is not there. `None`
    /// if no page is read, or the key leaves it.
    pub(super) fn on_wait_for_page(&mut self, command: Command) -> Option<Vec<Action>> {
        use Command as C;
        let OnScreen::Audit(log) = &mut self.place else {
            return None;
        };
        let leaves = matches!(
            command,
            C::Quit | C::Suspend | C::Redraw | C::Queue | C::Audit | C::Policies
        );
        if log.opening.is_none() || leaves {
            return None;
        }
        let set = log.set;
        if command != C::Back {
            let said = words::opens(&self.key(C::Back));
            self.remarks.notice = Some(Notice::OfAuditRows(set, said.into()));
            return Some(Vec::new());
        }
        log.opening = None;
        let unchecked = log.page.reading.is_some();
        self.remarks.notice = Some(Notice::OfAuditRows(set, words::NOT_OPENED.into()));
        // The answer for the rows was given up for the page.
        Some(if unchecked { self.reload() } else { Vec::new() })
    }

    /// Asks for the first rows.
    pub(in crate::tui) fn open_log(&mut self) -> Vec<Action> {
        self.load_log(String::new())
    }

    /// Asks for what is on the screen again, since the log grew. The page of a proposal that ended stays as it was read.
    pub(in crate::tui) fn reload(&self) -> Vec<Action> {
        let OnScreen::Audit(log) = &self.place else {
            return Vec::new();
        };
        let query = log.query.clone();
        if log.page.detail.is_some() {
            let open = log.page.dossier.iter().find(|dossier| dossier.is_open());
            let again = open.map(|dossier| Action::ShowRecord {
                query,
                id: dossier.id,
            });
            return again.into_iter().collect();
        }
        let sums = log.beside.wanted().map(|what| Action::SumUp {
            query: query.clone(),
            what,
        });
        let rows = Action::LoadAudit {
            query,
            offset: log.row.saturating_sub(AUDIT_ROWS / 2),
            count: AUDIT_ROWS,
        };
        [rows].into_iter().chain(sums).collect()
    }

    /// Whether a key or a name leads to this command.
    pub(in crate::tui) const fn has(&self, command: Command) -> bool {
        self.common.program.has(command)
    }
}
