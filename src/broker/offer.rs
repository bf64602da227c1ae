//! What a host asks other people: one version of a proposal with everything that a person decides on, and what the host
//! says of it afterwards.
//!
//! Both are JSON that the host signs as it stands (namespace `host@countersign`); a reviewer checks the signature over the
//! bytes before anything is read.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::{
    AgentClaim, Ballot, Before, Bound, BoundInput, Digest, GrantDigest, Nonce, Peer, Person,
    ProposalId, Role, Setting, State, Terms, Tier, Verdict, Viewed, VoteKind,
};
use crate::policy::Policy;

/// The most bytes of an offer: code, inputs, verdict and policy, each bounded by itself, as JSON.
pub const OFFER_MAX: usize = 512 * 1024;
/// The most bytes of a statement.
pub const STATEMENT_MAX: usize = 64 * 1024;

/// One version of a proposal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    pub format: OfferFormat,
    /// The host's name, and the fingerprint of its key.
    pub host: String,
    pub host_key: String,
    pub proposal: ProposalId,
    /// Counted from 1.
    pub version: u32,
    pub proposed_at: Timestamp,
    pub deadline: Timestamp,
    pub agent: Option<AgentClaim>,
    pub peer: Peer,
    /// The person whose agent asks, if it is anybody's.
    pub asker: Option<Person>,
    /// Who may veto it, by the host's files at that time: a hint, which the host checks with each vote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vetoers: Vec<Person>,
    /// Whom it asks, in the order in which they were asked. Others may vote as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<Person>,
    /// Everybody whose grant could count, by the host's files at that time: a hint, which the host checks with each vote. An older
    /// host says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub able: Option<BTreeSet<Person>>,
    /// Why no votes could grant it, by the host's files at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hopeless: Option<String>,
    /// What the host's log says beside it. An older host says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Before>,
    pub title: Option<String>,
    pub reason: Option<String>,
    pub traceparent: Option<String>,
    pub code: Arc<str>,
    /// The code as the agent proposed it, if somebody edited it.
    pub edited_from: Option<Arc<str>>,
    /// Without their texts.
    pub inputs: Vec<BoundInput>,
    pub verdict: Verdict,
    pub policy: Policy,
    pub tier: Tier,
    pub environment: Digest,
    /// What the verdict rests on beside code, policy and inputs.
    pub setting: Setting,
    pub grant: GrantDigest,
    pub terms: Terms,
    pub nonce: Nonce,
}

/// The word that an offer begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OfferFormat {
    #[default]
    #[serde(rename = "countersign offer 1")]
    V1,
}

/// Why bytes are no offer that can be decided on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadOffer {
    #[error("it has {0} bytes; at most {OFFER_MAX} are read")]
    TooLong(usize),
    #[error("it is no offer of this version: {0}")]
    Format(String),
    #[error("what it says a grant binds is not what its fields give")]
    OtherGrant,
    #[error("its policy is not the one of its verdict")]
    OtherPolicy,
    #[error("it asks for no votes")]
    NoTerms,
}

impl Offer {
    /// The bytes that the host signs.
    pub fn bytes(&self) -> Vec<u8> {
        // It holds strings, numbers and words, so serialising cannot fail.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The bytes that the host signs, if they are no more than an offer has. What was before gives way to what is asked.
    pub fn fitting(&mut self) -> Option<Vec<u8>> {
        let fits = |bytes: &Vec<u8>| bytes.len() <= OFFER_MAX;
        let whole = self.bytes();
        if fits(&whole) {
            return Some(whole);
        }
        let granted = self.before.iter_mut().flat_map(|b| &mut b.granted);
        granted.for_each(|one| one.text = None);
        Some(self.bytes()).filter(fits).or_else(|| {
            self.before = None;
            Some(self.bytes()).filter(fits)
        })
    }

    /// Reads the bytes of an offer, and checks that its fields fit each other: what a grant binds is computed again.
    pub fn read(bytes: &[u8]) -> Result<Self, BadOffer> {
        if bytes.len() > OFFER_MAX {
            return Err(BadOffer::TooLong(bytes.len()));
        }
        let offer: Self =
            serde_json::from_slice(bytes).map_err(|e| BadOffer::Format(e.to_string()))?;
        if offer.terms.is_empty() || offer.terms != Terms::of(&offer.policy.grant, &offer.verdict) {
            return Err(BadOffer::NoTerms);
        }
        if offer.verdict.policy != offer.policy.reference() {
            return Err(BadOffer::OtherPolicy);
        }
        match offer.bound().digest() == offer.grant {
            true => Ok(offer),
            false => Err(BadOffer::OtherGrant),
        }
    }

    fn bound(&self) -> Bound<'_> {
        Bound {
            id: self.proposal,
            code: Digest::of(self.code.as_bytes()),
            inputs: &self.inputs,
            told: self.policy.tells_private(),
            profile: &self.policy.name,
            policy: self.policy.sha256,
            limits: &self.policy.limits,
            tier: self.tier,
            environment: self.environment,
        }
    }

    /// What a vote on it is over. `bytes`: its own, as signed.
    pub fn ballot(&self, bytes: &[u8]) -> Ballot {
        Ballot {
            proposal: self.proposal,
            host: self.host_key.clone(),
            offer: Digest::of(bytes),
            code: Digest::of(self.code.as_bytes()),
            grant: self.grant,
            terms: self.terms.digest(),
            nonce: self.nonce,
            deadline: self.deadline,
        }
    }

    /// What it says of people.
    pub fn may_vote(&self) -> MayVote {
        MayVote {
            asks: self.asks.clone(),
            vetoers: self.vetoers.clone(),
            able: self.able.clone(),
            hopeless: self.hopeless.clone(),
        }
    }

    /// Whose votes its terms ask for or take as a veto: everybody's if it is empty.
    pub fn roles(&self) -> BTreeSet<Role> {
        let rules = &self.terms.0;
        match rules.iter().any(|rule| rule.roles.is_empty()) {
            true => BTreeSet::new(),
            false => rules
                .iter()
                .flat_map(|rule| rule.roles.iter().chain(&rule.veto))
                .cloned()
                .collect(),
        }
    }
}

/// What a host says of an offer after it made it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    pub format: StatementFormat,
    pub host: String,
    pub host_key: String,
    pub proposal: ProposalId,
    pub version: u32,
    /// Counted by the host, over all of its statements.
    pub number: u64,
    pub at: Timestamp,
    /// Who may read it: `None` for everybody who may see the offer.
    pub to: Option<Person>,
    pub says: Says,
}

/// The word that a statement begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StatementFormat {
    #[default]
    #[serde(rename = "countersign statement 1")]
    V1,
}

/// What a statement says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Says {
    /// The person's vote is in the log. To that person, with all votes that are: nobody sees them before their own.
    Counted {
        vote: VoteKind,
        /// What is still missing, in words; empty if nothing is.
        missing: Vec<String>,
        votes: Vec<SeenVote>,
    },
    /// The person's vote does not count.
    NotCounted { vote: VoteKind, why: String },
    /// Everybody else who may decide it is asked too. These are all.
    Escalated { asks: Vec<Person> },
    /// The files of who may vote changed.
    MayVote(MayVote),
    /// It has another state. Nothing can be decided any more unless that is `pending`.
    State { state: State, message: String },
}

/// What an offer says of people, by the host's files at another time: hints, which the host checks with each vote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MayVote {
    /// Those of whom it asks who may still vote on it.
    pub asks: Vec<Person>,
    pub vetoers: Vec<Person>,
    /// As in the offer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub able: Option<BTreeSet<Person>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hopeless: Option<String>,
}

/// A vote as those see it who voted too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenVote {
    pub voter: Person,
    pub vote: VoteKind,
    pub at: Timestamp,
    pub viewed: Viewed,
    pub reason: Option<String>,
    /// Fingerprint of the key.
    pub key: String,
    /// Whether a security key was touched; `None` if it is none.
    pub touched: Option<bool>,
}

impl Statement {
    /// Whether it answers a vote, or says that none matters any more.
    pub fn answers(&self) -> bool {
        match self.says {
            Says::Counted { .. } | Says::NotCounted { .. } => true,
            Says::Escalated { .. } | Says::MayVote(_) => false,
            Says::State { state, .. } => state != State::Pending,
        }
    }

    /// The bytes that the host signs.
    pub fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// # Errors
    /// A description, when the bytes are no statement.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() > STATEMENT_MAX {
            return Err(format!("it has {} bytes", bytes.len()));
        }
        serde_json::from_slice(bytes).map_err(|e| e.to_string())
    }
}

/// What is handed to those who carry it to reviewers.
#[derive(Clone, Debug, PartialEq)]
pub enum Publication {
    Offer {
        id: ProposalId,
        version: u32,
        deadline: Timestamp,
        roles: BTreeSet<Role>,
        bytes: Arc<[u8]>,
    },
    Statement(Box<Statement>),
}
