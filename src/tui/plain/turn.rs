//! What is looked at while something is said: where the person is, and what stands there.

use crate::broker::BrokerState;
use crate::clock::Now;

use super::super::screen::Screen;
use super::super::ui::{Beside, Looked, OnScreen, Over, Pane, Part, Prompt, UiState};
use super::lines::Said;
use super::page::{ROWS_OVER, What};

/// Where the person is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Queue,
    Code,
    /// A page of rows: the sheet, a pane, the help.
    Page(What),
    /// The agents of screen 3.
    Agents,
    /// The log, and whether its rows have arrived.
    Log(bool),
    /// Statistics that the log has not answered yet.
    Summing,
    /// How the log's rows divide, and whether that is known.
    Facets(bool),
    /// A text field or a question.
    Prompt(
        std::mem::Discriminant<Over>,
        Option<std::mem::Discriminant<Prompt>>,
    ),
}

/// How the person came to where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// They were there before.
    Stayed,
    /// From a field or a question, back to what was read out before it.
    Back,
    /// From the field of a search to what it found.
    ToMatch,
    Anew,
}

/// What is looked at while something is said.
pub(super) struct Turn<'a> {
    pub screen: &'a Screen<'a>,
    pub state: &'a BrokerState,
    pub ui: &'a UiState,
    pub now: Now,
    /// Whether a key was pressed since the last time.
    pub pressed: bool,
}

impl Turn<'_> {
    pub fn looked(&self) -> Option<&Looked> {
        self.ui.selected().and_then(|id| self.ui.looked(id))
    }

    pub fn place(&self) -> Place {
        match (self.ui.over(), self.ui.place()) {
            (Over::Sheet(sheet), _) => {
                return Place::Page(What::Sheet(sheet.digest(), sheet.detail));
            }
            (Over::Help { .. }, _) => return Place::Page(What::Help),
            (Over::Diff(diff), _) => {
                return Place::Page(What::Diff(diff.number, diff.answer.is_some()));
            }
            (Over::Nothing, OnScreen::Queue) => {}
            (Over::Nothing, OnScreen::Agents(screen)) => {
                return match screen.part {
                    Part::Agents => Place::Agents,
                    Part::Policies => Place::Page(What::Policies(screen.detail)),
                };
            }
            (Over::Nothing, OnScreen::Audit(log)) => {
                return match (&log.page.detail, &log.beside) {
                    (Some(_), _) => Place::Page(What::Record(log.set, log.shows.stand().0)),
                    (None, Beside::Statistics(None)) => Place::Summing,
                    (None, Beside::Statistics(Some(_))) => Place::Page(What::Statistics),
                    (None, Beside::Facets(list)) => Place::Facets(list.answer.is_some()),
                    (None, Beside::Nothing) => Place::Log(log.set > 0),
                };
            }
            (over, _) => {
                let prompt = self.ui.prompt().map(std::mem::discriminant);
                return Place::Prompt(std::mem::discriminant(over), prompt);
            }
        }
        match (
            self.ui.focus_now(self.screen.selected()),
            self.ui.selected(),
        ) {
            (Pane::Queue, _) | (_, None) => Place::Queue,
            (Pane::Code, _) => Place::Code,
            (pane, Some(id)) => Place::Page(What::Pane(pane, id)),
        }
    }

    /// Whether `Space` pages this pane: after the run, paging the code is no longer needed for a grant.
    pub fn pages(&self, pane: Pane) -> bool {
        let over = self.screen.selected().is_some_and(|e| e.state().is_final());
        over && matches!(pane, Pane::Outcome | Pane::Output)
    }

    /// Heading, rows and first row of a page that is neither code nor output.
    /// `heard`: what was heard before the code, to its end.
    pub fn page(&self, what: What, heard: Option<&[Said]>) -> (String, Vec<Said>, usize) {
        match (what, self.ui.sheet(), self.screen.selected()) {
            (What::Sheet(..), Some(sheet), _) => (
                self.screen.spoken_sheet_heading(sheet),
                self.screen.spoken_sheet(sheet, heard),
                sheet.top,
            ),
            (What::Pane(pane, _), _, Some(entry)) => {
                let (name, rows) = self.screen.spoken_pane(pane, entry);
                let last = rows.len().saturating_sub(ROWS_OVER);
                let top = self.looked().and_then(|l| l.scroll.get(&pane).copied());
                (name.to_owned(), rows, top.unwrap_or(0).min(last))
            }
            _ => self.screen.spoken_page().unwrap_or_default(),
        }
    }
}
