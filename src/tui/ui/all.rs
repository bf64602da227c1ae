//! `D`: all that an agent has waiting, denied with one reason. More than one proposal is asked for first, so that keys
//! typed by mistake deny one at most.

use crossterm::event::KeyCode;

use crate::broker::BrokerState;
use crate::clock::Now;
use crate::model::{AgentId, ProposalId};

use super::super::action::Action;
use super::super::claim;
use super::super::keys::{Command, Key, Meaning};
use super::super::words;
use super::pausing::{NAME, Turn};
use super::reasons::{Denial, Reason};
use super::{Notice, Over, Prompt, UiState};

/// An agent, and what it had waiting when a person asked. What comes later is not denied with it.
#[derive(Debug)]
pub(in crate::tui) struct AllOf {
    pub agent: AgentId,
    ids: Vec<ProposalId>,
}

impl AllOf {
    /// Those that still wait.
    pub fn waiting(&self, state: &BrokerState) -> Vec<ProposalId> {
        let waits = |id: &ProposalId| {
            let entry = state.entry(*id);
            entry.is_some_and(|entry| entry.awaits_decision())
        };
        self.ids.iter().copied().filter(waits).collect()
    }
}

/// The pending proposals of this agent: the same process under the same name.
fn pending_of(state: &BrokerState, agent: &AgentId) -> Vec<ProposalId> {
    state
        .pending()
        .filter(|entry| entry.awaits_decision() && entry.proposal.is_by(agent))
        .map(|entry| entry.proposal.id)
        .collect()
}

/// How many others wait that are of this name and of another process.
pub(in crate::tui) fn of_namesakes(state: &BrokerState, agent: &AgentId) -> usize {
    let others = state.pending().filter(|entry| {
        let p = &entry.proposal;
        entry.awaits_decision() && p.agent_name() == agent.name && !p.is_by(agent)
    });
    others.count()
}

impl UiState {
    /// `D`: asks whether all of them are meant, or for the reason if there is one at most.
    pub(super) fn ask_denial_of_all(&mut self, state: &BrokerState) {
        let Some(agent) = self.agent_at_hand(state) else {
            self.remarks.notice = Some(Notice::NothingSelected);
            return;
        };
        let ids = pending_of(state, &agent);
        let all = AllOf { agent, ids };
        self.over = Over::Prompt(match all.ids.len() {
            0 => Prompt::DenyAll {
                all,
                reason: Reason::default(),
            },
            1 => Prompt::DenyAll {
                all,
                reason: self.reason(),
            },
            _ => Prompt::AskAll(all),
        });
    }

    /// A key in the question or in the field behind it. `meant`: whether no other input came shortly before.
    /// `None`: the key is the field's.
    pub(super) fn on_all(
        &mut self,
        state: &BrokerState,
        key: Key,
        meant: bool,
    ) -> Option<Vec<Action>> {
        let Over::Prompt(Prompt::AskAll(all) | Prompt::DenyAll { all, .. }) = &self.over else {
            return None;
        };
        if key.is(KeyCode::Tab) {
            let agent = all.agent.clone();
            self.over.close();
            return Some(self.turn(state, agent, Turn::Over));
        }
        if matches!(self.over, Over::Prompt(Prompt::DenyAll { .. })) {
            return None;
        }
        if key.is(KeyCode::Esc) {
            self.over.close();
        } else if self.common.keys.meaning(None, key) == Meaning::Does(Command::Confirm) {
            self.go_on(key, meant);
        }
        Some(Vec::new())
    }

    /// From the question to the reason.
    fn go_on(&mut self, key: Key, meant: bool) {
        if !meant {
            self.remarks.notice = Some(Notice::Idle(words::again(&key.to_string()).into()));
            return;
        }
        if let Over::Prompt(Prompt::AskAll(all)) = std::mem::take(&mut self.over) {
            let reason = self.reason();
            self.over = Over::Prompt(Prompt::DenyAll { all, reason });
        }
    }

    /// Denies them with this reason.
    pub(super) fn deny_all(
        &mut self,
        state: &BrokerState,
        all: &AllOf,
        reason: &str,
        now: Now,
    ) -> Vec<Action> {
        let reason = (!reason.is_empty()).then(|| reason.to_owned());
        let ids = all.waiting(state);
        let later = pending_of(state, &all.agent)
            .len()
            .saturating_sub(ids.len());
        if ids.is_empty() && later == 0 {
            self.remarks.notice = Some(words::NOTHING_OF_AGENT.into());
        }
        if later > 0 {
            let whom = claim::drawn(&claim::named(&all.agent.name, NAME));
            self.remarks.notice = Some(words::came_later(later, &whom).into());
        }
        if !ids.is_empty() {
            self.attention.denial = Some(Denial::new(now.boot));
        }
        self.queue.denied.extend(&ids);
        for id in &ids {
            self.remember_decision(state, *id, false, now);
        }
        let deny = |id| Action::Deny {
            id,
            reason: reason.clone(),
            viewed: self.viewed(state, id),
        };
        ids.into_iter().map(deny).collect()
    }
}
