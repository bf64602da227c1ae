//! The one place where a grant comes into being.
//!
//! A [`Grant`] has private fields, is neither `Clone` nor `Deserialize`, and is built only by
//! [`grant`]. The executor takes it by value.

use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::clock::Now;
use crate::model::{
    BoundInput, CodeFacts, Digest, Environment, GrantDigest, Limits, Proposal, ProposalId,
    Reviewer, State, Tier, Viewed,
};
use crate::policy::Policy;

use super::state::{BrokerState, Entry};

/// A person's confirmation, bound to what the sheet showed. Made by the dashboard's sheet.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmation {
    pub id: ProposalId,
    /// What the sheet showed; the grant is refused when it is no longer what would run.
    pub digest: GrantDigest,
    pub by: Reviewer,
    pub viewed: Viewed,
}

/// The right to run one proposal once.
#[derive(Debug)]
pub struct Grant {
    proposal: Arc<Proposal>,
    inputs: Arc<[BoundInput]>,
    policy: Arc<Policy>,
    tier: Tier,
    environment: Digest,
    facts: Option<CodeFacts>,
    digest: GrantDigest,
    at: Now,
    deadline: Duration,
}

impl Grant {
    pub fn id(&self) -> ProposalId {
        self.proposal.id
    }
    pub fn proposal(&self) -> &Arc<Proposal> {
        &self.proposal
    }
    pub fn inputs(&self) -> &Arc<[BoundInput]> {
        &self.inputs
    }
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }
    pub fn limits(&self) -> &Limits {
        &self.policy.limits
    }
    pub fn tier(&self) -> Tier {
        self.tier
    }
    /// Digest of the Python environment it may run in.
    pub fn environment(&self) -> Digest {
        self.environment
    }
    /// What the analyser read, for the child to compare.
    pub fn facts(&self) -> Option<CodeFacts> {
        self.facts
    }
    pub fn digest(&self) -> GrantDigest {
        self.digest
    }
    /// When the person confirmed; the timings of the outcome count from here.
    pub fn at(&self) -> Now {
        self.at
    }
    /// Boot time at which the proposal expires; nothing may be released at or after it.
    pub(super) fn deadline(&self) -> Duration {
        self.deadline
    }
}

/// Why a confirmation does not become a grant. The text is for the person at the dashboard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("no such proposal")]
    Unknown,
    #[error("already {0}")]
    NotPending(State),
    #[error("the time to decide is over")]
    TooLate,
    #[error("the verdict does not allow a grant")]
    Verdict,
    #[error("the Python environment is not ready")]
    NoEnvironment,
    #[error("the audit log cannot be written; nothing runs")]
    AuditDown,
    #[error("what would run is no longer what the sheet showed; look again")]
    Changed,
    #[error("the dashboard is closing")]
    Closing,
}

/// What the grant of this entry would bind right now, or why none is possible. The sheet shows
/// it; [`grant`] compares it.
pub fn grant_digest(state: &BrokerState, entry: &Entry) -> Result<GrantDigest, Refused> {
    let Environment::Ready {
        digest: environment,
        ..
    } = &state.environment
    else {
        return Err(Refused::NoEnvironment);
    };
    let (Some(policy), Some(inputs)) = (state.policy_of(entry), entry.inputs.as_ref()) else {
        return Err(Refused::Verdict);
    };
    Ok(bind(
        &entry.proposal,
        inputs,
        &policy,
        state.tier_for(&policy),
        *environment,
    ))
}

/// SHA-256 over a labelled, length-prefixed list of everything that changes what the run means.
fn bind(
    proposal: &Proposal,
    inputs: &[BoundInput],
    policy: &Policy,
    tier: Tier,
    environment: Digest,
) -> GrantDigest {
    let mut hash = Sha256::new();
    let mut put = |label: &str, value: &[u8]| {
        for part in [label.as_bytes(), value] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    };
    put("format", b"countersign grant 1");
    put("proposal", proposal.id.to_string().as_bytes());
    put("code", proposal.digest.as_bytes());
    for input in inputs {
        // A BoundInput serialises without failing: it holds strings, numbers and digests.
        let kind = serde_json::to_vec(&input.kind).unwrap_or_default();
        put("input", input.name.as_bytes());
        put("input kind", &kind);
        put("input content", input.sha256.as_bytes());
        if policy.tells(input) {
            put("input values", b"told");
        }
    }
    put("profile", policy.name.as_bytes());
    put("policy", policy.sha256.as_bytes());
    put(
        "limits",
        &serde_json::to_vec(&policy.limits).unwrap_or_default(),
    );
    put("tier", tier.as_str().as_bytes());
    put("environment", environment.as_bytes());
    GrantDigest(Digest::from_bytes(hash.finalize().into()))
}

/// Turns a confirmation into a grant, or says why not. The only constructor of [`Grant`].
///
/// The deadline is checked here on boot time (timers miss suspend); a tie denies.
pub(super) fn grant(
    state: &BrokerState,
    confirmation: &Confirmation,
    now: Now,
) -> Result<Grant, Refused> {
    let entry = state.entry(confirmation.id).ok_or(Refused::Unknown)?;
    if state.is_closing() {
        return Err(Refused::Closing);
    }
    if state.audit.is_down() {
        return Err(Refused::AuditDown);
    }
    if entry.state != State::Pending {
        return Err(Refused::NotPending(entry.state));
    }
    if now.boot >= entry.deadline {
        return Err(Refused::TooLate);
    }
    if !entry
        .verdict
        .as_ref()
        .is_some_and(|v| v.verdict.grantable())
        || !entry.announced
    {
        return Err(Refused::Verdict);
    }
    if grant_digest(state, entry)? != confirmation.digest {
        return Err(Refused::Changed);
    }
    let (
        Some(policy),
        Some(inputs),
        Environment::Ready {
            digest: environment,
            ..
        },
    ) = (
        state.policy_of(entry),
        entry.inputs.clone(),
        &state.environment,
    )
    else {
        return Err(Refused::NoEnvironment);
    };
    Ok(Grant {
        proposal: entry.proposal.clone(),
        inputs,
        tier: state.tier_for(&policy),
        policy,
        environment: *environment,
        facts: entry.verdict.as_ref().and_then(|v| v.facts),
        digest: confirmation.digest,
        at: now,
        deadline: entry.deadline,
    })
}
