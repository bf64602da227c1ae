//! Who else reads a proposal at the moment, by their programs' word: a hint, of which no key and no row depends. It tells
//! reading and nothing of votes.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::broker::BrokerState;
use crate::clock::Now;
use crate::model::{Person, ProposalId};

use super::{UiState, View};

/// How long somebody reads without saying so again.
const READS: Duration = Duration::from_secs(60);
/// How often others are told of one proposal.
const AGAIN: Duration = Duration::from_secs(20);
/// The most people and proposals that are remembered.
const MOST: usize = 256;

#[derive(Debug, Default)]
pub(in crate::tui) struct Readers {
    /// Until when somebody is taken to read it.
    others: BTreeMap<(ProposalId, Person), Duration>,
    /// When the others were told last.
    told: BTreeMap<ProposalId, Duration>,
}

impl UiState {
    /// Somebody else says that they read this.
    pub fn somebody_reads(&mut self, id: ProposalId, by: Person, now: Now) {
        let others = &mut self.queue.readers.others;
        others.retain(|_, until| *until > now.boot);
        if others.len() < MOST || others.contains_key(&(id, by.clone())) {
            others.insert((id, by), now.boot.saturating_add(READS));
        }
    }

    /// Who else reads it, in the order of their names.
    pub(in crate::tui) fn readers(&self, id: ProposalId, now: Now) -> Vec<&Person> {
        let others = self.queue.readers.others.iter();
        let theirs = others.filter(|((of, _), until)| *of == id && **until > now.boot);
        theirs.map(|((_, person), _)| person).collect()
    }

    /// After a key of the person: what the others are to be told that they read, if anything.
    pub fn reads(&mut self, state: &BrokerState, now: Now) -> Option<ProposalId> {
        let entry = self.entry(state).filter(|_| self.view() == View::Queue)?;
        let id = entry.proposal.id;
        if !entry.awaits_decision() || entry.is_drill() || entry.poll().is_none() {
            return None;
        }
        let told = &mut self.queue.readers.told;
        told.retain(|_, at| at.saturating_add(AGAIN) > now.boot);
        if told.contains_key(&id) || told.len() >= MOST {
            return None;
        }
        told.insert(id, now.boot);
        Some(id)
    }
}
