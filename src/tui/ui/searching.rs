//! Search: in the code, in a run's output, or in the queue's titles and agents, whichever has the
//! focus.

use crate::broker::{BrokerState, Entry};
use crate::clock::Now;
use crate::model::ProposalId;

use super::super::action::Action;
use super::super::document::matches;
use super::super::screen::spoken_record as record;
use super::super::shown;
use super::super::transcript::{self, ALL, At};
use super::super::words;
use super::{FlowKey, LogScreen, Notice, OnScreen, Pane, UiState, View};

/// What a search goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tui) enum Searched {
    Code,
    Output,
    Queue,
    /// What is open on screen 2: the page of a proposal, or its records.
    Page,
    Nothing,
}

impl UiState {
    /// What has the focus, as a search sees it.
    pub(in crate::tui) fn searched(&self, state: &BrokerState) -> Searched {
        let has_page = |log: &LogScreen| log.page.detail.is_some() && log.replay().is_none();
        match (self.view(), self.focus_now(self.entry(state))) {
            (View::Audit, _) if self.place.log().is_some_and(has_page) => Searched::Page,
            (View::Audit | View::Agents, _) => Searched::Nothing,
            (View::Queue, Pane::Queue) => Searched::Queue,
            (View::Queue, Pane::Output) => Searched::Output,
            (View::Queue, _) => Searched::Code,
        }
    }

    /// Goes to the next or previous match of the last search.
    pub(super) fn search(&mut self, state: &BrokerState, backwards: bool, now: Now) -> Vec<Action> {
        if self.common.found.is_empty() {
            self.remarks.notice = Some(words::NO_SEARCH.into());
            return Vec::new();
        }
        let hit = match self.searched(state) {
            Searched::Nothing => false,
            Searched::Page => self.search_page(backwards),
            Searched::Queue => self.search_queue(state, backwards, now),
            Searched::Output => self.search_output(state, backwards),
            Searched::Code => {
                let hit = self.search_code(backwards);
                if hit && self.covers_code(state) {
                    self.queue.focus = Pane::Code;
                }
                hit
            }
        };
        if !hit {
            let place = words::plain::place(self.searched(state));
            let words = words::not_found(&self.common.found, place).into();
            self.remarks.notice = Some(Notice::OfList(self.listed(), words));
        }
        self.redocument(state, now);
        Vec::new()
    }

    fn search_code(&mut self, backwards: bool) -> bool {
        let (Some(id), Some(doc)) = (self.queue.selected, self.queue.doc.clone()) else {
            return false;
        };
        let looked = self.queue.looked.entry(id).or_default();
        let from = looked.found.or_else(|| looked.cursor.checked_sub(1));
        let Some(hit) = doc.find(&self.common.found, from, backwards) else {
            return false;
        };
        looked.found = Some(hit);
        self.tell_turn(from, hit, backwards);
        self.go_to(hit);
        true
    }

    /// Goes to a line of the output, which then is not followed.
    fn search_output(&mut self, state: &BrokerState, backwards: bool) -> bool {
        let Some(entry) = self.queue.selected.and_then(|id| state.entry(id)) else {
            return false;
        };
        let looked = self.queue.looked.entry(entry.proposal.id).or_default();
        let reading = &mut looked.reading;
        let (lines, _) = transcript::lines(entry, reading.upto(entry), ALL);
        let is_hit = |i: &usize| {
            matches(&lines[*i].text, &self.common.found)
                .next()
                .is_some()
        };
        let from = reading.found;
        let Some(hit) = turn(lines.len(), from, backwards).find(is_hit) else {
            return false;
        };
        reading.found = Some(hit);
        reading.stay(At::Line(hit), entry);
        self.tell_turn(from, hit, backwards);
        true
    }

    /// Goes to a row of what is open on screen 2.
    fn search_page(&mut self, backwards: bool) -> bool {
        let rows = self.page_rows();
        let needle = self.common.found.clone();
        let OnScreen::Audit(log) = &mut self.place else {
            return false;
        };
        // From the last match on, unless a key went elsewhere since.
        let here = log.found.filter(|found| *found == log.top);
        let from = here.or(log.top.checked_sub(1));
        let is_hit = |i: &usize| matches(&rows[*i], &needle).next().is_some();
        let Some(hit) = turn(rows.len(), from, backwards).find(is_hit) else {
            log.found = None;
            return false;
        };
        (log.top, log.found) = (hit, Some(hit));
        self.tell_turn(here, hit, backwards);
        true
    }

    /// The rows of what is open on screen 2, as they were drawn or said.
    fn page_rows(&self) -> Vec<String> {
        let Some(log) = self.place.log() else {
            return Vec::new();
        };
        if self.common.spoken {
            let said = match (log.dossier(), &log.page.detail) {
                (Some(dossier), _) => dossier.said().0,
                (None, Some(detail)) => record(detail),
                (None, None) => Vec::new(),
            };
            return said.into_iter().map(|row| row.text).collect();
        }
        let is_page = log.dossier().is_some();
        let drawn = self.kept.flows.iter().find(|(key, _)| match key {
            FlowKey::Dossier(set, _) => is_page && *set == log.set,
            FlowKey::Record(set, _) => !is_page && *set == log.set,
            _ => false,
        });
        let rows = drawn.iter().flat_map(|(_, flow)| &flow.rows);
        rows.map(|row| row.spans.iter().map(|(text, _)| text.as_str()).collect())
            .collect()
    }

    /// Which of all matches the last search is at, counted from 1, and how many there are.
    pub(in crate::tui) fn hit(&self, state: &BrokerState) -> Option<(usize, usize)> {
        let entry = self.entry(state)?;
        let looked = self.queue.looked.get(&entry.proposal.id)?;
        let needle = &self.common.found;
        match self.searched(state) {
            Searched::Code => {
                let doc = self
                    .queue
                    .doc
                    .as_ref()
                    .filter(|d| d.id == entry.proposal.id)?;
                Some(doc.hit(needle, looked.found?))
            }
            Searched::Output => {
                let at = looked.reading.found?;
                let (lines, _) = transcript::lines(entry, looked.reading.upto(entry), ALL);
                let hits = lines.iter().enumerate();
                let hits = hits.filter(|(_, line)| matches(&line.text, needle).next().is_some());
                Some(hits.fold((0, 0), |(which, all), (i, _)| {
                    (which + usize::from(i <= at), all + 1)
                }))
            }
            Searched::Queue | Searched::Page | Searched::Nothing => None,
        }
    }

    fn search_queue(&mut self, state: &BrokerState, backwards: bool, now: Now) -> bool {
        let all: Vec<ProposalId> = self.queue.lists.walk().collect();
        let at = all.iter().position(|id| Some(*id) == self.queue.selected);
        let hit = turn(all.len(), at, backwards).find(|i| {
            state
                .entry(all[*i])
                .is_some_and(|e| entry_matches(state, e, &self.common.found))
        });
        if let Some(i) = hit {
            self.select(all[i], now);
            self.tell_turn(at, i, backwards);
            self.unhide(state, all[i]);
        }
        hit.is_some()
    }

    /// Says that the search went on from the other end.
    fn tell_turn(&mut self, from: Option<usize>, to: usize, backwards: bool) {
        let turned = from.is_some_and(|from| if backwards { to > from } else { to < from });
        if turned {
            self.remarks.notice = Some(words::turned(backwards).into());
        }
    }
}

/// All indices, starting after `at` and wrapping around to it.
fn turn(len: usize, at: Option<usize>, backwards: bool) -> impl Iterator<Item = usize> {
    let start = at.unwrap_or(len.saturating_sub(1));
    (1..=len).map(move |k| {
        if backwards {
            (start + len - k) % len
        } else {
            (start + k) % len
        }
    })
}

/// Looks at the text as it is drawn.
fn entry_matches(state: &BrokerState, entry: &Entry, needle: &str) -> bool {
    let text = shown::text(state, entry);
    matches(&text, needle).next().is_some()
}
