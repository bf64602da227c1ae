//! A proposed snippet.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{AgentId, Code, Drill, InputRequest, Peer, ProposalId};

/// What an agent says about itself. Nothing here is verified; it is always shown as a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentClaim {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// The params of `propose`, as received.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    pub code: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentClaim>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, InputRequest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_s: Option<u64>,
    #[serde(default)]
    pub stream: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The trace that it is a part of, by its agent's word: see [`super::is_traceparent`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
}

/// An accepted proposal. It never changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    pub id: ProposalId,
    /// The code as its agent proposed it. A person can edit what would run: see `Entry::code`.
    pub proposed: Code,
    pub profile: String,
    pub title: Option<String>,
    pub reason: Option<String>,
    pub agent: Option<AgentClaim>,
    pub peer: Peer,
    pub stream: bool,
    pub idempotency_key: Option<String>,
    pub traceparent: Option<String>,
    /// Set if the dashboard itself made it: nothing of it can be granted, and it counts for no agent.
    /// Agent and peer are then those of a real proposal.
    pub drill: Option<Drill>,
}

impl Proposal {
    /// See [`agent_name`].
    pub fn agent_name(&self) -> &str {
        agent_name(self.agent.as_ref(), &self.peer)
    }

    /// Whether this agent proposed it: the same process under the same name.
    pub fn is_by(&self, agent: &AgentId) -> bool {
        (self.peer.uid, self.peer.pid) == (agent.uid, agent.pid) && self.agent_name() == agent.name
    }

    /// What the agent says of itself and of this, but for what it wants to run.
    pub fn claims(&self) -> impl Iterator<Item = &str> {
        let of_agent = self.agent.iter().flat_map(|agent| {
            let rest = [&agent.version, &agent.session, &agent.model];
            std::iter::once(&agent.name).chain(rest.into_iter().flatten())
        });
        let of_this = [&self.title, &self.reason, &self.traceparent];
        of_agent
            .chain(of_this.into_iter().flatten())
            .map(String::as_str)
    }

    pub fn agent_id(&self) -> AgentId {
        AgentId {
            uid: self.peer.uid,
            pid: self.peer.pid,
            name: self.agent_name().to_owned(),
            gateway: self.peer.gateway.clone(),
        }
    }
}

/// The agent's name for itself, else the executable's name, else `unnamed`.
pub fn agent_name<'a>(claim: Option<&'a AgentClaim>, peer: &'a Peer) -> &'a str {
    claim
        .map(|a| a.name.as_str())
        .filter(|n| !n.is_empty())
        .or(peer.exe.as_deref().filter(|exe| !exe.is_empty()))
        .unwrap_or("unnamed")
}
