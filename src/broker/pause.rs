//! Agents that a person paused. Their new proposals are refused; everything else goes on.
//!
//! A pause covers the process, whatever it calls itself, and the name under the same uid, whatever process uses it.
//! It does not cover another process under another name: the kernel does not know that it is the same agent.

use serde_json::json;

use crate::clock::Now;
use crate::model::{AgentId, LogEvent, Peer, Reviewer};

use super::effect::{Effect, RpcError};
use super::state::{BrokerState, Then};

/// When a paused agent may ask again: a person is not expected to resume it sooner.
const RETRY_MS: u64 = 10_000;
/// When to ask again while the record of the pause is being written.
const RECORDING_MS: u64 = 1_000;

/// A pause that is in force.
#[derive(Clone, Debug)]
pub struct Pause {
    pub agent: AgentId,
    number: u64,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It holds, but agents are not told of it yet.
    Recording,
    Told,
    /// It holds until the record of its end is durable.
    Ending,
}

#[derive(Debug, Default)]
pub(super) struct Pauses {
    all: Vec<Pause>,
    next: u64,
}

impl Pauses {
    /// Refuses a proposal of a paused agent. Who paused it is not said.
    pub fn check(&self, peer: &Peer, name: &str) -> Result<(), RpcError> {
        let Some(pause) = self
            .all
            .iter()
            .find(|p| p.agent.covers(peer.uid, peer.pid, name))
        else {
            return Ok(());
        };
        let (message, ms) = match pause.stage {
            Stage::Recording => ("no proposal of this agent is taken now", RECORDING_MS),
            Stage::Told | Stage::Ending => (
                "a person paused this agent; its new proposals are refused until a person resumes it",
                RETRY_MS,
            ),
        };
        let expected = "wait; `check`, `status`, `wait`, `withdraw` and `artifact` go on";
        Err(RpcError::new(RpcError::TOO_MANY, message)
            .with_data(json!({"retry_after_ms": ms, "expected": expected})))
    }

    pub fn recorded(&mut self, number: u64) {
        let found = self.all.iter_mut().find(|p| p.number == number);
        if let Some(pause) = found.filter(|p| p.stage == Stage::Recording) {
            pause.stage = Stage::Told;
        }
    }

    pub fn end(&mut self, number: u64) {
        self.all.retain(|p| p.number != number);
    }
}

impl BrokerState {
    /// The pauses in force, oldest first.
    pub fn pauses(&self) -> &[Pause] {
        &self.pauses.all
    }

    /// Whether new proposals of this process under this name are refused.
    pub fn is_paused(&self, uid: u32, pid: i32, name: &str) -> bool {
        let covers = |p: &Pause| p.agent.covers(uid, pid, name);
        self.pauses.all.iter().any(covers)
    }

    /// Whether a pause is for others to make: a seat has no agents of its own.
    pub const fn pauses_elsewhere(&self) -> bool {
        self.settings.seat().is_some()
    }

    pub(super) fn pause(&mut self, agent: AgentId, by: Reviewer, now: Now, fx: &mut Vec<Effect>) {
        let holds = |p: &Pause| p.agent == agent && p.stage != Stage::Ending;
        if self.pauses_elsewhere() {
            return;
        }
        if self.closing || self.audit.is_down() || self.pauses.all.iter().any(holds) {
            return;
        }
        let number = self.pauses.next;
        self.pauses.next += 1;
        self.pauses.all.push(Pause {
            agent: agent.clone(),
            number,
            stage: Stage::Recording,
        });
        let event = LogEvent::Paused { agent, by };
        self.record_decided(event, Vec::new(), Then::TellPause(number), now, fx);
    }

    pub(super) fn resume(
        &mut self,
        agent: &AgentId,
        by: &Reviewer,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        if self.closing || self.audit.is_down() {
            return;
        }
        let mut ended = Vec::new();
        for pause in &mut self.pauses.all {
            let covers = pause.agent.covers(agent.uid, agent.pid, &agent.name);
            if covers && pause.stage != Stage::Ending {
                pause.stage = Stage::Ending;
                ended.push((pause.number, pause.agent.clone()));
            }
        }
        for (number, agent) in ended {
            let by = by.clone();
            let event = LogEvent::Resumed { agent, by };
            self.record_decided(event, Vec::new(), Then::EndPause(number), now, fx);
        }
    }
}
