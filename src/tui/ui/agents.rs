//! Screen 3: agents with what they did, and the policies below them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::broker::{BrokerState, Tally};
use crate::clock::Now;
use crate::model::{AgentId, ProposalId};

use super::super::action::Action;
use super::super::claim;
use super::super::keys::Command;
use super::super::words;
use super::moving::step;
use super::pausing::Turn;
use super::{Detail, OnScreen, UiState};

/// Columns of an agent's name in a message.
const NAME: usize = 24;

/// The part of screen 3 that has the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::tui) enum Part {
    #[default]
    Agents,
    Policies,
}

/// Screen 3.
#[derive(Default)]
pub(in crate::tui) struct AgentsScreen {
    pub part: Part,
    /// The selected agent.
    pub at: Option<AgentId>,
    /// First row shown of the agents.
    pub first: usize,
    /// First row shown of the policies.
    pub top: usize,
    /// Whether the policies are shown with all details.
    pub detail: Detail,
}

/// One agent on screen 3.
#[derive(Clone, Debug)]
pub(in crate::tui) struct AgentRow {
    pub agent: AgentId,
    pub tally: Tally,
    pub connected: bool,
    pub paused: bool,
}

/// The agents that proposed something or are connected.
pub(super) fn agents_of(state: &BrokerState) -> BTreeMap<AgentId, Tally> {
    let (known, _) = state.agents();
    let mut all: BTreeMap<AgentId, Tally> = known.clone();
    for agent in state.connected_agents() {
        let process = (agent.uid, agent.pid);
        // A process that proposed is listed under the names that it gave then.
        if !known.keys().any(|known| (known.uid, known.pid) == process) {
            all.entry(agent).or_default();
        }
    }
    all
}

/// The agents that proposed something, are connected or paused: those with something undecided first, then the
/// busiest, then the latest.
pub(in crate::tui) fn agent_rows(state: &BrokerState, now: Now) -> Vec<AgentRow> {
    let mut all = agents_of(state);
    let connected: BTreeSet<(u32, i32)> = state
        .connected_agents()
        .map(|agent| (agent.uid, agent.pid))
        .collect();
    for pause in state.pauses() {
        all.entry(pause.agent.clone()).or_default();
    }
    let mut rows: Vec<AgentRow> = all
        .into_iter()
        .map(|(agent, tally)| AgentRow {
            paused: super::is_paused(state, &agent),
            connected: connected.contains(&(agent.uid, agent.pid)),
            agent,
            tally,
        })
        .collect();
    rows.sort_by_cached_key(|row| {
        // Tenths, so that agents do not change places all the time.
        let rate = (row.tally.per_minute(now.boot) * 10.0) as u64;
        (
            Reverse(row.tally.undecided),
            Reverse(rate),
            Reverse(row.tally.last),
            row.agent.clone(),
        )
    });
    rows
}

impl UiState {
    /// Opens screen 3 with its first agent selected.
    pub(super) fn open_agents(&mut self, state: &BrokerState, now: Now) {
        self.place = OnScreen::Agents(AgentsScreen::default());
        self.keep_agent(state, now);
    }

    /// Selects the first agent if the selected one is gone. No other change of the rows moves the selection.
    pub(super) fn keep_agent(&mut self, state: &BrokerState, now: Now) {
        let OnScreen::Agents(screen) = &mut self.place else {
            return;
        };
        let rows = agent_rows(state, now);
        let there = |at: &AgentId| rows.iter().any(|row| row.agent == *at);
        if !screen.at.as_ref().is_some_and(there) {
            screen.at = rows.first().map(|row| row.agent.clone());
        }
    }

    pub(super) fn on_agents(
        &mut self,
        state: &BrokerState,
        command: Command,
        now: Now,
    ) -> Vec<Action> {
        let OnScreen::Agents(screen) = &mut self.place else {
            return Vec::new();
        };
        match command {
            Command::Back => self.place = OnScreen::Queue,
            Command::NextPane | Command::PreviousPane => {
                screen.part = match screen.part {
                    Part::Agents => Part::Policies,
                    Part::Policies => Part::Agents,
                };
            }
            Command::Details => {
                screen.part = Part::Policies;
                screen.detail = screen.detail.other();
            }
            Command::Open if screen.part == Part::Agents => self.go_to_agent(state, now),
            Command::DenyAll => self.ask_denial_of_all(state),
            Command::Pause => return self.turn_agent(state, Turn::Pause),
            Command::Resume => return self.turn_agent(state, Turn::Resume),
            _ if screen.part == Part::Agents => self.move_agent(state, command, now),
            _ => self.scroll_over(command),
        }
        Vec::new()
    }

    fn move_agent(&mut self, state: &BrokerState, command: Command, now: Now) {
        let page = self.frame.list_rows;
        let OnScreen::Agents(screen) = &mut self.place else {
            return;
        };
        let rows = agent_rows(state, now);
        let at = rows
            .iter()
            .position(|r| Some(&r.agent) == screen.at.as_ref());
        let last = rows.len().saturating_sub(1);
        let to = step(command, at.unwrap_or(0), last, page);
        if let Some(row) = to.and_then(|to| rows.get(to)) {
            screen.at = Some(row.agent.clone());
        }
    }

    /// `Enter`: selects the agent's first waiting proposal, in the order of the queue.
    fn go_to_agent(&mut self, state: &BrokerState, now: Now) {
        let Some(agent) = self.agent_at_hand(state) else {
            return;
        };
        let own = |id: &ProposalId| {
            let entry = state.entry(*id);
            entry.is_some_and(|e| e.awaits_decision() && e.proposal.is_by(&agent))
        };
        let listed = self.queue.lists.walk().find(&own);
        let first = listed.or_else(|| state.pending().map(|e| e.proposal.id).find(&own));
        match first {
            Some(id) => {
                self.place = OnScreen::Queue;
                self.select(id, now);
                self.focus_on(super::Pane::Queue);
                self.unhide(state, id);
                self.redocument(state, now);
            }
            None => {
                let whom = claim::drawn(&claim::named(&agent.name, NAME));
                self.remarks.notice = Some(words::deny_all(0, &whom).into());
            }
        }
    }
}
