//! The facets of screen 2: values with their counts, of which the cursor chooses one.

use crate::audit::query::terms;
use crate::audit::{By, Facets, Value};

use super::super::action::Action;
use super::super::keys::Command;
use super::moving::step;
use super::sums::Beside;
use super::{OnScreen, UiState};

/// The values, and the one that has the cursor.
#[derive(Debug, Default)]
pub(in crate::tui) struct FacetList {
    /// `None` until the log answers.
    pub answer: Option<Result<Facets, String>>,
    /// The term of the value that has the cursor: it stays there when the counts change.
    pub at: Option<String>,
}

impl FacetList {
    pub fn values(&self) -> Vec<&Value> {
        let facets = self.answer.iter().flatten();
        facets
            .flat_map(|facets| &facets.all)
            .flat_map(|facet| &facet.values)
            .collect()
    }

    /// The place of the cursor among all values.
    pub fn index(&self) -> usize {
        let is = |value: &&Value| Some(&value.term) == self.at.as_ref();
        self.values().iter().position(is).unwrap_or(0)
    }

    pub fn chosen(&self) -> Option<&Value> {
        self.values().get(self.index()).copied()
    }

    /// What a value is of.
    pub fn by(&self, value: &Value) -> Option<By> {
        let mut facets = self.answer.iter().flatten().flat_map(|facets| &facets.all);
        let has = |facet: &&crate::audit::Facet| facet.values.iter().any(|v| v.term == value.term);
        facets.find(has).map(|facet| facet.by)
    }

    fn go(&mut self, command: Command, page: usize) {
        let values = self.values();
        let last = values.len().saturating_sub(1);
        let to = step(command, self.index(), last, page);
        let at = to.and_then(|to| values.get(to)).map(|v| v.term.clone());
        self.at = at.or(self.at.take());
    }
}

impl UiState {
    /// A key while the facets have the keys.
    pub(super) fn on_facets(&mut self, command: Command) -> Vec<Action> {
        let page = self.frame.over.map_or(1, |(height, _)| height);
        let OnScreen::Audit(log) = &mut self.place else {
            return Vec::new();
        };
        let Beside::Facets(list) = &mut log.beside else {
            return Vec::new();
        };
        if command != Command::Open {
            list.go(command, page);
            return Vec::new();
        }
        let Some(term) = list.chosen().map(|value| value.term.clone()) else {
            return Vec::new();
        };
        let query = terms::turned(&log.query, &term);
        list.at = Some(term);
        self.load_log(query)
    }
}
