//! The filter: only rows of the queue that say some words are shown. It hides nothing silently: the queue says how
//! many it hides, and whether one of them expires soon.

use std::collections::{HashMap, HashSet};

use crate::broker::{BrokerState, Entry, selection};
use crate::clock::Now;
use crate::model::{ProposalId, State};

use super::super::shown;
use super::super::words;
use super::{Over, Pane, Prompt, Searched, UiState};

/// Narrows the rows to those that say all of some words.
#[derive(Debug, Default)]
pub(in crate::tui) struct Filter {
    words: String,
    /// Counts the changes of the words.
    pub(super) number: u64,
    /// Which entries it shows, by the state that they were looked at in.
    pub(super) shown: HashMap<ProposalId, (State, bool)>,
}

impl Filter {
    pub fn words(&self) -> &str {
        &self.words
    }

    pub fn is_on(&self) -> bool {
        !self.words.trim().is_empty()
    }

    pub fn set(&mut self, words: &str) {
        if self.words != words {
            words.clone_into(&mut self.words);
            self.number += 1;
            self.shown.clear();
        }
    }

    /// Whether the entry has a row. Text is compared once for each state of an entry.
    pub(super) fn shows(&mut self, state: &BrokerState, entry: &Entry) -> bool {
        if !self.is_on() {
            return true;
        }
        let (id, now) = (entry.proposal.id, entry.state());
        match self.shown.get(&id) {
            Some((of, shows)) if *of == now => *shows,
            _ => {
                let shows = shown::has_all(&shown::text(state, entry), &self.words);
                self.shown.insert(id, (now, shows));
                shows
            }
        }
    }
}

impl UiState {
    /// `f`: asks for the words.
    pub(super) fn ask_filter(&mut self) {
        let before = self.queue.lists.filter.words().to_owned();
        self.over = Over::Prompt(Prompt::Filter {
            input: before.clone().into(),
            before,
        });
    }

    /// The words that are being typed.
    pub(in crate::tui) fn filter_words(&self) -> Option<&str> {
        match self.prompt()? {
            Prompt::Filter { input, .. } => Some(input.value()),
            _ => None,
        }
    }

    pub(super) fn set_filter(&mut self, state: &BrokerState, words: &str) {
        self.queue.lists.filter.set(words);
        self.relist(state);
    }

    /// Gives the selected proposal a row: drops the filter if it hides it, and says so; opens its group.
    pub(super) fn unhide(&mut self, state: &BrokerState, id: ProposalId) {
        if self.queue.lists.groups.is_folded(id) {
            self.list_anew(state);
        }
        if self.queue.lists.filter.is_on() && !self.queue.lists.has(id) {
            self.set_filter(state, "");
            self.remarks.notice = Some(words::FILTER_DROPPED.into());
        }
    }

    /// The next waiting one: of all that wait, the one that expires first.
    pub(in crate::tui) fn most_urgent(&self, state: &BrokerState) -> Option<ProposalId> {
        selection::most_urgent(state, &self.queue.denied)
    }

    /// After a denial: the most urgent one among those that the filter shows, else of all.
    pub(super) fn next_urgent(&self, state: &BrokerState) -> Option<ProposalId> {
        let mut hidden = self.queue.denied.clone();
        if self.queue.lists.filter.is_on() {
            let shown: HashSet<ProposalId> = self.queue.lists.walk().collect();
            let pending = state.pending().map(|e| e.proposal.id);
            hidden.extend(pending.filter(|id| !shown.contains(id)));
        }
        selection::most_urgent(state, &hidden).or_else(|| self.most_urgent(state))
    }

    /// The words were entered: selects the first row if the selected one is hidden.
    pub(super) fn enter_filter(&mut self, state: &BrokerState, now: Now) {
        let lists = &self.queue.lists;
        if lists.live.is_empty() && lists.decided.is_empty() {
            self.remarks.notice = Some(
                words::not_found(lists.filter.words(), words::plain::place(Searched::Queue)).into(),
            );
            self.focus_on(Pane::Queue);
            return;
        }
        let hidden = self.queue.selected.is_none_or(|id| !lists.has(id));
        let first = lists.live.first().or(lists.decided.first()).copied();
        if let Some(first) = first.filter(|_| hidden) {
            self.select(first, now);
            self.redocument(state, now);
        }
        self.focus_on(Pane::Queue);
    }
}
