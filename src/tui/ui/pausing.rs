//! Pausing and resuming an agent: from the prompt of `D`, and by the commands `pause` and `resume`.

use std::collections::BTreeSet;

use crate::broker::{BrokerState, Refused};
use crate::model::{AgentId, Proposal};

use super::super::action::Action;
use super::super::claim;
use super::super::words;
use super::agents::agents_of;
use super::{Notice, OnScreen, UiState};

/// Columns of an agent's name in a message.
pub(super) const NAME: usize = 24;

/// What a person wants of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Pause,
    Resume,
    /// Whichever it is not.
    Over,
}

impl UiState {
    /// The agent that commands are about: the one selected on screen 3, else that of the selected proposal.
    pub(super) fn agent_at_hand(&self, state: &BrokerState) -> Option<AgentId> {
        match self.place() {
            OnScreen::Agents(screen) => screen.at.clone(),
            OnScreen::Queue | OnScreen::Audit(_) => {
                self.entry(state).map(|entry| entry.proposal.agent_id())
            }
        }
    }

    /// Pauses or resumes the agent at hand.
    pub(super) fn turn_agent(&mut self, state: &BrokerState, turn: Turn) -> Vec<Action> {
        match self.agent_at_hand(state) {
            Some(agent) => self.turn(state, agent, turn),
            None => {
                self.remarks.notice = Some(Notice::NothingSelected);
                Vec::new()
            }
        }
    }

    pub(super) fn turn(&mut self, state: &BrokerState, agent: AgentId, turn: Turn) -> Vec<Action> {
        let whom = spoken(&agent.name);
        if state.audit.is_down() || state.is_closing() {
            self.remarks.notice = Some(words::NO_PAUSE.into());
            return Vec::new();
        }
        if state.pauses_elsewhere() {
            self.remarks.notice = Some(Refused::NotHere.to_string().into());
            return Vec::new();
        }
        let paused = is_paused(state, &agent);
        let (said, action) = match (turn, paused) {
            (Turn::Pause | Turn::Over, false) => {
                let covered = Covered::by(state, |uid, pid, name| agent.covers(uid, pid, name));
                let said = words::now_paused(&whom, &covered.others(&agent.name), covered.waiting);
                (said, Some(Action::Pause(agent)))
            }
            (Turn::Resume | Turn::Over, true) => {
                let covered = Covered::freed(state, &agent);
                let said = words::resumed(&whom, &covered.others(&agent.name), covered.waiting);
                (said, Some(Action::Resume(agent)))
            }
            (Turn::Pause, true) => (words::paused_already(&whom), None),
            (Turn::Resume, false) => (words::not_paused(&whom), None),
        };
        self.remarks.notice = Some(said.into());
        action.into_iter().collect()
    }
}

/// The agents that a pause or its end is about.
struct Covered {
    names: BTreeSet<String>,
    /// How many of their proposals wait.
    waiting: usize,
}

impl Covered {
    fn by(state: &BrokerState, covers: impl Fn(u32, i32, &str) -> bool) -> Self {
        let covered = |agent: &AgentId| covers(agent.uid, agent.pid, &agent.name);
        let names = agents_of(state).into_keys().filter(covered);
        let waits = |p: &Proposal| covers(p.peer.uid, p.peer.pid, p.agent_name());
        Self {
            names: names.map(|agent| agent.name).collect(),
            waiting: state
                .pending()
                .filter(|entry| entry.awaits_decision() && waits(&entry.proposal))
                .count(),
        }
    }

    /// What the end of this agent's pauses frees: what another pause covers too stays paused.
    fn freed(state: &BrokerState, agent: &AgentId) -> Self {
        let ends = |pause: &AgentId| pause.covers(agent.uid, agent.pid, &agent.name);
        Self::by(state, |uid, pid, name| {
            let mut over = state
                .pauses()
                .iter()
                .map(|pause| &pause.agent)
                .filter(|pause| pause.covers(uid, pid, name))
                .peekable();
            over.peek().is_some() && over.all(ends)
        })
    }

    /// The names beside this one, as they are drawn.
    fn others(&self, name: &str) -> Vec<String> {
        let others = self.names.iter().filter(|other| *other != name);
        others.map(|other| spoken(other)).collect()
    }
}

/// An agent's name in a sentence.
pub(super) fn spoken(name: &str) -> String {
    claim::drawn(&claim::named(name, NAME))
}

/// Whether a pause covers this agent.
pub(in crate::tui) fn is_paused(state: &BrokerState, agent: &AgentId) -> bool {
    state.is_paused(agent.uid, agent.pid, &agent.name)
}
