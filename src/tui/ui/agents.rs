//! Screen 3: agents with what they did, and the policies below them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

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
    /// The selected agent; of folded ones, any.
    pub at: Option<AgentId>,
    /// The names whose processes have a row each.
    pub unfolded: BTreeSet<(u32, String)>,
    /// First row shown of the agents.
    pub first: usize,
    /// First row shown of the policies.
    pub top: usize,
    /// Whether the policies are shown with all details.
    pub detail: Detail,
}

/// What an agent did.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tui) struct Counts {
    pub undecided: usize,
    pub granted: u64,
    pub denied: u64,
    pub blocked: u64,
    pub per_minute: f64,
}

/// One agent on screen 3: a process under a name, or all processes of one user under that name.
#[derive(Clone, Debug)]
pub(in crate::tui) struct AgentRow {
    pub agent: AgentId,
    pub counts: Counts,
    /// How many of its processes are connected.
    pub connected: usize,
    pub paused: bool,
    /// Its processes, if they are folded into this row.
    pub folded: Vec<AgentId>,
    /// Boot time of its last proposal.
    last: Duration,
}

impl AgentRow {
    /// Whether the row is of this process.
    pub fn has(&self, agent: &AgentId) -> bool {
        self.agent == *agent || self.folded.contains(agent)
    }

    /// One row for this one and more processes of the same name.
    fn fold(mut self, others: Vec<Self>) -> Self {
        self.folded = vec![self.agent.clone()];
        for other in others {
            let (all, its) = (&mut self.counts, other.counts);
            all.undecided += its.undecided;
            all.granted += its.granted;
            all.denied += its.denied;
            all.blocked += its.blocked;
            all.per_minute += its.per_minute;
            self.connected += other.connected;
            self.paused |= other.paused;
            self.last = self.last.max(other.last);
            self.folded.push(other.agent);
        }
        self
    }
}

/// A user's name for processes.
fn name_of(agent: &AgentId) -> (u32, String) {
    (agent.uid, agent.name.clone())
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
/// busiest, then the latest. Processes of one name are one row, unless they are unfolded.
pub(in crate::tui) fn agent_rows(
    state: &BrokerState,
    now: Now,
    unfolded: &BTreeSet<(u32, String)>,
) -> Vec<AgentRow> {
    let mut all = agents_of(state);
    let connected: BTreeSet<(u32, i32)> = state
        .connected_agents()
        .map(|agent| (agent.uid, agent.pid))
        .collect();
    for pause in state.pauses() {
        all.entry(pause.agent.clone()).or_default();
    }
    let mut named: BTreeMap<(u32, String), Vec<AgentRow>> = BTreeMap::new();
    for (agent, tally) in all {
        let row = AgentRow {
            paused: super::is_paused(state, &agent),
            connected: usize::from(connected.contains(&(agent.uid, agent.pid))),
            counts: Counts {
                undecided: tally.undecided,
                granted: tally.granted,
                denied: tally.denied,
                blocked: tally.blocked,
                per_minute: tally.per_minute(now.boot),
            },
            last: tally.last,
            folded: Vec::new(),
            agent,
        };
        named.entry(name_of(&row.agent)).or_default().push(row);
    }
    let mut groups: Vec<Vec<AgentRow>> = Vec::new();
    for (name, mut rows) in named {
        if rows.len() > 1 && !unfolded.contains(&name) {
            let others = rows.split_off(1);
            rows = rows
                .into_iter()
                .map(|row| row.fold(others.clone()))
                .collect();
        }
        rows.sort_by_cached_key(order);
        groups.push(rows);
    }
    groups.sort_by_cached_key(|rows| rows.first().map(order));
    groups.into_iter().flatten().collect()
}

/// By what waits, then by the rate, in tenths, so that agents do not change places all the time.
fn order(row: &AgentRow) -> (Reverse<usize>, Reverse<u64>, Reverse<Duration>, AgentId) {
    let rate = (row.counts.per_minute * 10.0) as u64;
    (
        Reverse(row.counts.undecided),
        Reverse(rate),
        Reverse(row.last),
        row.agent.clone(),
    )
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
        let rows = agent_rows(state, now, &screen.unfolded);
        let there = |at: &AgentId| rows.iter().any(|row| row.has(at));
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
        let folded = self.folded_at_hand(state, now);
        let folds = self.folds(state);
        let open = self.key(Command::Open);
        let OnScreen::Agents(screen) = &mut self.place else {
            return Vec::new();
        };
        let on_agents = screen.part == Part::Agents;
        match command {
            // A decision is about one process.
            Command::DenyAll | Command::Pause | Command::Resume if folded > 0 => {
                self.remarks.notice = Some(words::unfold_first(folded, &open).into());
            }
            Command::Open | Command::Details if on_agents && folded > 0 => {
                screen.unfolded.extend(screen.at.as_ref().map(name_of));
            }
            Command::Details if on_agents && folds => self.fold_agent(),
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

    /// How many processes are folded into the selected row; 0 if it is one process.
    pub(in crate::tui) fn folded_at_hand(&self, state: &BrokerState, now: Now) -> usize {
        let OnScreen::Agents(screen) = &self.place else {
            return 0;
        };
        let selected = screen.at.as_ref();
        let rows = agent_rows(state, now, &screen.unfolded);
        let mut rows = rows.iter();
        let row = rows.find(|row| selected.is_some_and(|at| row.has(at)));
        row.map_or(0, |row| row.folded.len())
    }

    /// Whether the selected row is one of several that were unfolded.
    fn folds(&self, state: &BrokerState) -> bool {
        let OnScreen::Agents(AgentsScreen {
            at: Some(at),
            unfolded,
            ..
        }) = &self.place
        else {
            return false;
        };
        let alike = |other: &&AgentId| (other.uid, &other.name) == (at.uid, &at.name);
        unfolded.contains(&name_of(at)) && agents_of(state).keys().filter(alike).count() > 1
    }

    fn fold_agent(&mut self) {
        if let OnScreen::Agents(screen) = &mut self.place
            && let Some(at) = &screen.at
        {
            screen.unfolded.remove(&name_of(at));
        }
    }

    fn move_agent(&mut self, state: &BrokerState, command: Command, now: Now) {
        let page = self.frame.list_rows;
        let OnScreen::Agents(screen) = &mut self.place else {
            return;
        };
        let rows = agent_rows(state, now, &screen.unfolded);
        let selected = screen.at.as_ref();
        let at = rows
            .iter()
            .position(|r| selected.is_some_and(|at| r.has(at)));
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
