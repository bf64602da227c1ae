//! What the rows of screen 2 come to: asked for by a key, answered from the log, shown in the rows' place.

use std::sync::Arc;

use super::super::action::{Action, Sum, Summed, Sums};
use super::super::keys::Command;
use super::facets::FacetList;
use super::{OnScreen, UiState};
use crate::audit::Stats;

/// What screen 2 shows in place of its rows.
#[derive(Debug, Default)]
pub(in crate::tui) enum Beside {
    #[default]
    Nothing,
    /// `None` until the log answers.
    Statistics(Option<Result<Arc<Stats>, String>>),
    /// Beside the rows where there is room.
    Facets(FacetList),
}

impl Beside {
    /// The same for another question, before the log answers.
    pub fn asked_again(&self) -> Self {
        match self {
            Self::Nothing => Self::Nothing,
            Self::Statistics(_) => Self::Statistics(None),
            Self::Facets(list) => Self::Facets(FacetList {
                answer: None,
                at: list.at.clone(),
            }),
        }
    }

    /// What the log is to count for it.
    pub const fn wanted(&self) -> Option<Sum> {
        match self {
            Self::Nothing => None,
            Self::Statistics(_) => Some(Sum::Statistics),
            Self::Facets(_) => Some(Sum::Facets),
        }
    }

    /// What is awaited or shown, for telling one state of the screen from another.
    pub fn stage(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Statistics(None) => 1,
            Self::Statistics(Some(_)) => 2,
            Self::Facets(list) if list.answer.is_none() => 3,
            Self::Facets(list) => 4 + list.index(),
        }
    }
}

impl UiState {
    /// Takes in what the log answered, unless the screen asks something else by now.
    pub fn set_sums(&mut self, sums: Sums) {
        let OnScreen::Audit(log) = &mut self.place else {
            return;
        };
        if log.query != sums.query {
            return;
        }
        match (&mut log.beside, sums.answer) {
            (Beside::Statistics(shown), Ok(Summed::Statistics(stats))) => {
                *shown = Some(Ok(stats));
            }
            (Beside::Statistics(shown), Err(why)) => *shown = Some(Err(why)),
            (Beside::Facets(list), Ok(Summed::Facets(facets))) => list.answer = Some(Ok(facets)),
            (Beside::Facets(list), Err(why)) => list.answer = Some(Err(why)),
            // The other of the two was asked for before.
            (Beside::Statistics(_), Ok(Summed::Facets(_)))
            | (Beside::Facets(_), Ok(Summed::Statistics(_)))
            | (Beside::Nothing, _) => {}
        }
    }

    /// A key on screen 2 that concerns its sums; `None` if it concerns the rows.
    pub(super) fn on_sums(&mut self, command: Command) -> Option<Vec<Action>> {
        let OnScreen::Audit(log) = &mut self.place else {
            return None;
        };
        match (command, &log.beside) {
            (Command::Back | Command::Statistics, Beside::Statistics(_))
            | (Command::Back | Command::Facets, Beside::Facets(_)) => {
                log.beside = Beside::Nothing;
                log.top = 0;
                Some(Vec::new())
            }
            (Command::Statistics, _) => {
                log.beside = Beside::Statistics(None);
                log.top = 0;
                Some(vec![Action::SumUp {
                    query: log.query.clone(),
                    what: Sum::Statistics,
                }])
            }
            (Command::Facets, _) => {
                log.beside = Beside::Facets(FacetList::default());
                log.top = 0;
                Some(vec![Action::SumUp {
                    query: log.query.clone(),
                    what: Sum::Facets,
                }])
            }
            (_, Beside::Facets(_)) => Some(self.on_facets(command)),
            (_, Beside::Statistics(_)) => {
                self.scroll_over(command);
                Some(Vec::new())
            }
            (_, Beside::Nothing) => None,
        }
    }
}
