//! What a decision consists of: the person's confirmation, and the grant it can become.
//!
//! Only this module and its submodule see the fields of a [`Grant`]. It is neither `Clone` nor
//! `Deserialize`, and only [`grant::grant`] builds it. The executor takes it by value.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::Now;
use crate::model::{
    BoundInput, Code, CodeFacts, Digest, GrantDigest, Limits, Proposal, ProposalId, Reviewer,
    State, Tier, Viewed,
};
use crate::policy::Policy;

use super::state::LogDoubt;

pub(super) mod grant;

/// A person's confirmation, bound to what the sheet showed. Created by the dashboard's sheet.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmation {
    pub id: ProposalId,
    /// What the sheet showed. The grant is refused if something else would run now.
    pub digest: GrantDigest,
    pub by: Reviewer,
    pub viewed: Viewed,
}

/// What a grant rests on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Consent<'a> {
    /// The person at the terminal, where the policy asks for nobody else.
    Person(&'a Confirmation),
    /// Signed votes on this proposal.
    Votes(ProposalId),
}

impl Consent<'_> {
    const fn id(self) -> ProposalId {
        match self {
            Self::Person(confirmation) => confirmation.id,
            Self::Votes(id) => id,
        }
    }
}

/// The right to run one proposal once.
///
/// The run that it allows consumes it:
///
/// ```
/// use countersign::broker::{Effect, Grant};
///
/// fn once(grant: Box<Grant>) -> [Effect; 1] {
///     [Effect::Execute(grant)]
/// }
/// ```
///
/// so that a second run does not compile,
///
/// ```compile_fail,E0382
/// use countersign::broker::{Effect, Grant};
///
/// fn twice(grant: Box<Grant>) -> [Effect; 2] {
///     [Effect::Execute(grant), Effect::Execute(grant)]
/// }
/// ```
///
/// and neither does a run that nobody granted:
///
/// ```
/// use countersign::broker::{Effect, Grant};
/// use countersign::model::ProposalId;
///
/// fn granted(_: ProposalId, grant: Box<Grant>) -> Effect {
///     Effect::Execute(grant)
/// }
/// ```
///
/// ```compile_fail,E0308
/// use countersign::broker::{Effect, Grant};
/// use countersign::model::ProposalId;
///
/// fn granted(id: ProposalId, _: Box<Grant>) -> Effect {
///     Effect::Execute(Box::new(id))
/// }
/// ```
///
/// A grant cannot be turned into another one, not even by replacing one field:
///
/// ```
/// use countersign::broker::Grant;
///
/// fn same(grant: Grant) -> Grant {
///     grant
/// }
/// ```
///
/// ```compile_fail,E0451
/// use countersign::broker::Grant;
/// use countersign::model::Tier;
///
/// fn other(grant: Grant, tier: Tier) -> Grant {
///     Grant { tier, ..grant }
/// }
/// ```
#[derive(Debug)]
pub struct Grant {
    proposal: Arc<Proposal>,
    code: Code,
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
    /// What runs: the code as proposed, or what a person made of it.
    pub fn code(&self) -> &Code {
        &self.code
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
    /// Digest of the Python environment that the run may use.
    pub fn environment(&self) -> Digest {
        self.environment
    }
    /// Whether the run may use this environment. The core asks before a child is created, with
    /// the environment last reported to it; the executor asks about the environment that it
    /// received. Both use this check because the two arrive over different channels.
    pub fn is_for(&self, environment: Digest) -> bool {
        self.environment == environment
    }
    /// What the analyser read, for the child to compare with its own reading.
    pub fn facts(&self) -> Option<CodeFacts> {
        self.facts
    }
    pub fn digest(&self) -> GrantDigest {
        self.digest
    }
    /// When the person confirmed; the timings of the outcome start here.
    pub fn at(&self) -> Now {
        self.at
    }
    /// Boot time at which the proposal expires; nothing may be released at or after it.
    pub(super) fn deadline(&self) -> Duration {
        self.deadline
    }
}

impl From<&LogDoubt> for Refused {
    fn from(doubt: &LogDoubt) -> Self {
        match doubt {
            LogDoubt::Unreadable(_) => Self::LogUnreadable,
            LogDoubt::Contradicted(_) => Self::LogContradicted,
        }
    }
}

/// Why a confirmation does not become a grant. The text is shown to the person at the dashboard.
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
    #[error("the audit log cannot be read; nothing is granted until it can")]
    LogUnreadable,
    #[error("the audit log is not the one that was signed; nothing is granted")]
    LogContradicted,
    #[error("what would run is no longer what the sheet showed; look again")]
    Changed,
    #[error("it is not shown to its agent yet")]
    Unannounced,
    #[error("your edit is still being analysed")]
    Revising,
    #[error("your edit could not be recorded; the code is as it was")]
    Unrecorded,
    #[error("the dashboard is closing")]
    Closing,
    /// Everything else would have allowed it; the person's vote is one of those that its policy asks for.
    #[error("its policy asks for signed votes")]
    Votes,
    #[error("its policy asks for votes, and `[desk]` of config.toml is not there or not ready")]
    NoDesk,
    #[error("who may vote is not known: {0}")]
    NoElectorate(String),
    /// Told to the voter, who may be elsewhere.
    #[error(
        "its host could not read who may vote, so no vote counts there until that is mended; then vote again"
    )]
    Unreadable,
    #[error("uid {0} is nobody's in people.toml, and its policy asks for signed votes")]
    NoPerson(u32),
    #[error("your vote would not count: {0}")]
    MayNotVote(String),
    #[error("your vote is being signed")]
    Signing,
    #[error("your vote is in; the others' are awaited")]
    Voted,
    #[error("{0}: no grant is signed for what two programs judge differently")]
    Differs(String),
    #[error("that is done where it runs, not from a reviewer's seat")]
    NotHere,
    #[error("it is too long to be offered to other people")]
    TooLongToOffer,
    #[error("no votes can grant it: {0}")]
    Vain(String),
    #[error("no role may see all the data sets that it uses ([desk.routes] of config.toml)")]
    NobodySees,
    /// Everything else would have allowed it. Never shown: [`super::drill`] ends the drill.
    #[error("it was a drill")]
    Drill,
}
