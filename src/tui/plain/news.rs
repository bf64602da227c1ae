//! What happened without the person: it waits for a pause and is then told in whole lines.

use std::collections::VecDeque;

use crate::broker::{BrokerState, Entry};
use crate::model::{LogEvent, ProposalId, State, VerdictKind};

use super::super::screen::Screen;
use super::super::words;
use super::run::is_run_over;

/// More of one kind are told as a number.
const EACH: usize = 3;
/// What is kept of a flood.
const KEPT: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    Came(ProposalId),
    Ended(ProposalId),
}

/// News, the oldest first, and the proposals that a person just denied.
#[derive(Debug, Default)]
pub(super) struct News(VecDeque<Item>, Vec<ProposalId>);

/// Whether an item can be told now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ripe {
    Yes,
    NotYet,
    Never,
}

impl Item {
    fn ripe(self, state: &BrokerState, told: Option<ProposalId>) -> Ripe {
        let (Self::Came(id) | Self::Ended(id)) = self;
        let Some(entry) = state.entry(id) else {
            return Ripe::Never;
        };
        match self {
            Self::Came(id) if told == Some(id) => Ripe::Never,
            Self::Came(_) if entry.awaits_decision() => Ripe::Yes,
            Self::Came(_) if entry.state().is_final() || entry.decision().is_some() => Ripe::Never,
            Self::Ended(_) if entry.state() == State::Denied => Ripe::Never,
            // The run of the selected proposal is told as it goes.
            Self::Ended(id) if told == Some(id) && is_run_over(entry) => Ripe::Never,
            Self::Ended(_) if entry.state().is_final() => Ripe::Yes,
            Self::Came(_) | Self::Ended(_) => Ripe::NotYet,
        }
    }
}

impl News {
    /// Takes in a record that is about to be written.
    pub fn hear(&mut self, event: &LogEvent) {
        let item = match event {
            LogEvent::Proposed(proposed) => Item::Came(proposed.id),
            LogEvent::Finished(finished) => Item::Ended(finished.id),
            LogEvent::Expired { id }
            | LogEvent::Withdrawn { id, .. }
            | LogEvent::Failed { id, .. } => Item::Ended(*id),
            LogEvent::Denied { id, .. } => {
                self.1.push(*id);
                return;
            }
            _ => return,
        };
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(item);
    }

    /// What a person denied is told at once: it answers their key.
    pub fn denials(&mut self, screen: &Screen<'_>, state: &BrokerState) -> Vec<String> {
        let denied = std::mem::take(&mut self.1);
        match denied.len() {
            0..=EACH => {
                let entries = denied.iter().filter_map(|id| state.entry(*id));
                entries.map(|entry| said(screen, "Denied", entry)).collect()
            }
            more => vec![format!("{} denied", words::number(more as u64))],
        }
    }

    /// The end of this one was told already.
    pub fn told(&mut self, id: ProposalId) {
        self.0.retain(|item| *item != Item::Ended(id));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many can be told. `told`: the selected proposal, which was told of already.
    pub fn count(&mut self, state: &BrokerState, told: Option<ProposalId>) -> usize {
        self.0.retain(|item| item.ripe(state, told) != Ripe::Never);
        self.0
            .iter()
            .filter(|item| item.ripe(state, told) == Ripe::Yes)
            .count()
    }

    /// Tells all that can be told. `list`: the key that lists what waits.
    pub fn tell(
        &mut self,
        screen: &Screen<'_>,
        state: &BrokerState,
        told: Option<ProposalId>,
        list: &str,
    ) -> Vec<String> {
        let mut came = Vec::new();
        let mut ended = Vec::new();
        self.0.retain(|item| match (item.ripe(state, told), item) {
            (Ripe::NotYet, _) => true,
            (Ripe::Never, _) => false,
            (Ripe::Yes, Item::Came(id)) => {
                came.push(*id);
                false
            }
            (Ripe::Yes, Item::Ended(id)) => {
                ended.push(*id);
                false
            }
        });
        let mut out = Vec::new();
        if ended.len() > EACH {
            out.push(ends(state, &ended));
        } else {
            let said = |id: &ProposalId| state.entry(*id).map(|entry| end(screen, entry));
            out.extend(ended.iter().filter_map(said));
        }
        if came.len() > EACH {
            let flagged = |id: &&ProposalId| {
                let verdict = state.entry(**id).and_then(|e| e.verdict());
                verdict.is_some_and(|v| v.verdict == VerdictKind::Flagged)
            };
            let flagged = came.iter().filter(flagged).count();
            out.push(words::plain::new_proposals(came.len(), flagged, list));
        } else {
            out.extend(
                came.iter()
                    .map(|id| format!("New: {}", screen.spoken_line(*id))),
            );
        }
        out
    }
}

/// `Expired: agent hr-bot says: …`.
pub(super) fn end(screen: &Screen<'_>, entry: &Entry) -> String {
    let (_, word, _) = words::state(entry.state());
    let mut capital = word.chars();
    let word: String = capital
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(capital)
        .collect();
    said(screen, &word, entry)
}

fn said(screen: &Screen<'_>, what: &str, entry: &Entry) -> String {
    format!("{what}: {}", screen.spoken_claim(entry))
}

/// `2 expired, 3 withdrawn`.
fn ends(state: &BrokerState, ended: &[ProposalId]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for entry in ended.iter().filter_map(|id| state.entry(*id)) {
        let (_, word, _) = words::state(entry.state());
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, n)) => *n += 1,
            None => counts.push((word, 1)),
        }
    }
    let said = |(word, n): &(&str, usize)| format!("{} {word}", words::number(*n as u64));
    counts.iter().map(said).collect::<Vec<_>>().join(", ")
}
