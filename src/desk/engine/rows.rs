//! What is handed over, a type for each table. Bodies and signatures are opaque here.

use jiff::Timestamp;
use uuid::Uuid;

use crate::model::{Digest, Person, ProposalId, VoteKind};

/// Most bytes of a body: offers, statements and requests.
pub(super) const BODY_MAX: usize = 1024 * 1024;
/// Most bytes of a vote and of a checkpoint.
pub(super) const SMALL_MAX: usize = 16 * 1024;
/// Most bytes of a signature in its armour.
pub(super) const SIGNATURE_MAX: usize = 4096;

/// Most bytes of an offer's roles, with a comma between two.
pub(super) const ROLES_MAX: usize = 2048;

/// A proposal as a host offers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferRow {
    pub host: String,
    pub proposal: ProposalId,
    /// Counts the host's offers of one proposal: an edit is a new one.
    pub version: u32,
    /// Who may read it: people with one of these roles, every reviewer if there is none.
    pub roles: Vec<String>,
    pub deadline: Timestamp,
    pub body: Vec<u8>,
    pub signature: String,
}

/// A vote. The body is the JSON of a [`Vote`](crate::model::Vote); what stands beside it only says for what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoteRow {
    pub host: String,
    pub proposal: ProposalId,
    pub version: u32,
    pub kind: VoteKind,
    pub voter: Person,
    pub body: Vec<u8>,
    /// The reviewer's login. The engine writes it; what a reviewer says is not sent.
    pub login: String,
}

/// What a host says about a proposal, or in answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementRow {
    pub host: String,
    /// Or the request's id.
    pub proposal: ProposalId,
    /// Orders what the host says.
    pub seq: u64,
    /// Whom it is for: everybody who may read the offer if it is nobody.
    pub to: Option<Person>,
    /// The login whose request it answers, which alone may read it.
    pub gateway: Option<String>,
    pub occasion: Occasion,
    pub body: Vec<u8>,
    pub signature: String,
}

/// What a statement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Occasion {
    /// A vote arrived.
    Ack,
    Decision,
    Outcome,
    /// Who voted, for those who have.
    Tally,
    /// Its final record in the host's log, for auditors.
    Proof,
}

impl Occasion {
    pub const ALL: [Self; 5] = [
        Self::Ack,
        Self::Decision,
        Self::Outcome,
        Self::Tally,
        Self::Proof,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ack => "ack",
            Self::Decision => "decision",
            Self::Outcome => "outcome",
            Self::Tally => "tally",
            Self::Proof => "proof",
        }
    }
}

/// What an agent elsewhere asks of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRow {
    pub host: String,
    pub id: Uuid,
    pub deadline: Timestamp,
    pub body: Vec<u8>,
    /// The gateway's login. The engine writes it; what a gateway says is not sent.
    pub login: String,
}

/// That somebody reads a proposal: a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRow {
    pub host: String,
    pub proposal: ProposalId,
    pub person: Person,
}

/// A signed checkpoint of a host's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointRow {
    pub host: String,
    /// Records in the log.
    pub size: u64,
    pub body: Vec<u8>,
    pub signature: String,
}

/// One host's signature on another one's checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CosignatureRow {
    pub host: String,
    pub size: u64,
    /// The checkpoint's root.
    pub root: Digest,
    pub cosigner: String,
    pub signature: String,
}
