//! Pausing and resuming an agent: from the prompt of `D`, and by the commands `pause` and `resume`.

use crate::broker::BrokerState;
use crate::model::AgentId;

use super::super::action::Action;
use super::super::claim;
use super::super::words;
use super::{Notice, OnScreen, UiState};

/// Columns of an agent's name in a message.
const NAME: usize = 24;

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
        let whom = claim::drawn(&claim::named(&agent.name, NAME));
        if state.audit.is_down() || state.is_closing() {
            self.remarks.notice = Some(words::NO_PAUSE.into());
            return Vec::new();
        }
        let paused = is_paused(state, &agent);
        let (said, action) = match (turn, paused) {
            (Turn::Pause | Turn::Over, false) => {
                (words::now_paused(&whom), Some(Action::Pause(agent)))
            }
            (Turn::Resume | Turn::Over, true) => {
                (words::resumed(&whom), Some(Action::Resume(agent)))
            }
            (Turn::Pause, true) => (words::paused_already(&whom), None),
            (Turn::Resume, false) => (words::not_paused(&whom), None),
        };
        self.remarks.notice = Some(said.into());
        action.into_iter().collect()
    }
}

/// Whether a pause covers this agent.
pub(in crate::tui) fn is_paused(state: &BrokerState, agent: &AgentId) -> bool {
    state.is_paused(agent.uid, agent.pid, &agent.name)
}
