//! What a reviewer's log has beside their vote: what a host elsewhere asked about, and what it told of others' votes.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Person, VerdictKind, VoteKind};

/// What a reviewer's log says of the proposal of another host that they voted on. The texts are the agent's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    pub proposed_at: Timestamp,
    pub uid: u32,
    /// The agent's name.
    pub agent: String,
    pub title: Option<String>,
    pub profile: String,
    pub verdict: VerdictKind,
    /// How many findings it has.
    pub findings: u64,
    /// The names of data sets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
}

/// Somebody's vote at another host, by that host's word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeardVote {
    pub voter: Person,
    pub vote: VoteKind,
    pub at: Timestamp,
    /// Fingerprint of the key.
    pub key: String,
}
