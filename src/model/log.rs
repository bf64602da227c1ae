//! The events of the audit log. The audit module adds sequence numbers, clocks and hashes.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    About, Accesses, AgentClaim, AgentId, Artifact, BoundInput, Digest, Drill, DrillPlan,
    DrilledLog, Exit, GrantDigest, HeardVote, Isolation, LimitKind, Limits, Nonce, Pace, Peer,
    Person, Preflight, ProposalId, Reviewer, RunError, RunEvent, State, Terms, Tier, Timing,
    Verdict, Viewed, Vote, VoteKind,
};

/// One step in the life of a dashboard or a proposal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LogEvent {
    /// The dashboard started.
    Opened {
        version: String,
        by: Reviewer,
        tier: Tier,
        environment: Option<Digest>,
        /// The layers of each tier in use on this machine.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        preflight: Vec<Preflight>,
        /// The drills of this dashboard, if it makes any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        drills: Option<DrillPlan>,
    },
    /// A proposal was accepted and judged. Its code and the inputs that its agent brought are blobs.
    Proposed(Box<ProposedLog>),
    /// The verdict blocked it.
    Blocked { id: ProposalId },
    /// A person edited its code, which was judged anew. Durable before it can be granted. The edited
    /// code is a blob.
    Edited(Box<EditedLog>),
    /// A person granted it. Durable before the child is made.
    Granted(Box<GrantedLog>),
    /// The child is made and held. Durable before it is released.
    Started {
        id: ProposalId,
        isolation: Isolation,
    },
    /// The run ended. Durable before the outcome is reported to the agent. Output is in blobs.
    Finished(Box<FinishedLog>),
    /// A person denied it.
    Denied {
        id: ProposalId,
        reason: Option<String>,
        by: Reviewer,
        viewed: Viewed,
    },
    /// A person's signed vote counts, for now: whether the grant that it is part of is given, is decided by all of them.
    Voted(Box<VotedLog>),
    /// Votes on it did not count, and why. Repetitions are counted in one record.
    VoteRefused {
        id: ProposalId,
        /// Who it says it is from.
        voter: Person,
        vote: VoteKind,
        why: String,
        via: Via,
        count: u64,
    },
    /// Nobody decided it for a while, so everybody else who may decide it is asked too.
    Escalated {
        id: ProposalId,
        /// Who was asked before, in that order.
        asked: Vec<Person>,
        also: Vec<Person>,
    },
    /// In the log of a reviewer: how a proposal of another host ended, by that host's word.
    Settled {
        id: ProposalId,
        /// The host's name.
        host: String,
        state: State,
        message: String,
        /// Who had voted, as far as the host told this person.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        votes: Vec<HeardVote>,
    },
    /// A drill ended. No other record ends one, unless the dashboard was killed.
    Drilled(Box<DrilledLog>),
    /// Nobody decided in time.
    Expired { id: ProposalId },
    /// The agent withdrew it, or its connection closed.
    Withdrawn { id: ProposalId, disconnected: bool },
    /// The dashboard ended before a decision.
    Unattended { id: ProposalId },
    /// The run could not be started or completed.
    Failed {
        id: ProposalId,
        state: State,
        message: String,
    },
    /// A person pressed the kill key or closed the dashboard. Without `by`, the agent's connection closed.
    Killed {
        id: ProposalId,
        by: Option<Reviewer>,
    },
    /// A peer's requests were refused. Repetitions are counted in one record.
    Refused {
        peer: Peer,
        code: i64,
        message: String,
        count: u64,
    },
    /// A person paused an agent: its new proposals are refused until a person resumes it or the dashboard ends.
    Paused { agent: AgentId, by: Reviewer },
    /// A person ended a pause.
    Resumed { agent: AgentId, by: Reviewer },
    /// Files of the Python environment changed after it was read. Proposals granted for it do not run.
    EnvironmentChanged {
        /// Digest before the change.
        environment: Digest,
        /// Paths of changed files inside the environment.
        what: String,
    },
    /// Bytes of the log or the journal were moved to quarantine: an incomplete end that a crash left, or
    /// damaged parts in a repair that a person ordered.
    Recovered {
        /// File name of the segment, or of the journal.
        segment: String,
        /// Where these bytes began.
        offset: u64,
        bytes: u64,
        sha256: Digest,
        /// File name in the `quarantine` folder.
        quarantined: String,
        /// Acknowledged records that are lost, as described to the person.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lost: Option<String>,
        /// Who ordered the repair; `None` if nothing acknowledged was lost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Reviewer>,
    },
    /// A person runs the code of a kept run unconfined, for their own use. Durable before it starts.
    Replicated {
        id: ProposalId,
        digest: Digest,
        by: Reviewer,
    },
    /// A person removed the oldest segments under retention. Durable before any of them is removed.
    Pruned {
        /// Number of the last removed segment.
        through_segment: u64,
        /// Sequence number of its last record.
        through_seq: u64,
        /// Hash of its last line, which the next segment's header also names.
        head: Digest,
        /// Days for which records are retained.
        retention_days: u64,
        /// The queries of a legal hold, if there was one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hold: Vec<String>,
        /// What was removed. Earlier versions did not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gap: Option<Box<Gap>>,
        by: Reviewer,
    },
    /// A person erased contents of a proposal. Durable before the first of them is removed.
    Erased {
        id: ProposalId,
        contents: Vec<ErasedContent>,
        reason: String,
        by: Reviewer,
    },
    /// Checkpoints of the log began to lack something: they are not made, not kept elsewhere, or contradict the log.
    Unanchored { reason: String },
    /// A host of the desk, this one or another one, published a checkpoint that does not fit the one that it signed before.
    Doubted { host: String, reason: String },
    /// The dashboard closed the log in an orderly way.
    Closed,
}

/// A part of the log that [`LogEvent::Pruned`] removes. A checkpoint after that record signs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    pub first_seq: u64,
    pub records: u64,
    /// Times of its oldest and its newest record.
    pub oldest: Timestamp,
    pub newest: Timestamp,
    /// Hash of the line before it; zeros at the beginning of the log.
    pub before: Digest,
    /// Root of the Merkle tree (RFC 6962) of all records up to its end; `None` if no checkpoint went so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<Digest>,
    /// How many contents go with it.
    pub contents: u64,
    /// The bytes for which log, contents and kept code are retained, if they are why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention_bytes: Option<u64>,
}

/// A content that a record names and that was erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasedContent {
    pub part: ErasedPart,
    pub sha256: Digest,
}

/// What a content was to its proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErasedPart {
    /// As proposed and as edited.
    Code,
    /// What the run printed, and its result.
    Output,
    /// What the run left, and what the agent brought.
    Files,
}

impl ErasedPart {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Output => "output",
            Self::Files => "files",
        }
    }
}

/// The content of [`LogEvent::Proposed`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProposedLog {
    pub id: ProposalId,
    pub digest: Digest,
    /// The blob of its code, if secrets were replaced in it; `digest` is then salted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Digest>,
    pub profile: String,
    pub policy_sha256: String,
    pub agent: Option<AgentClaim>,
    pub peer: Peer,
    pub title: Option<String>,
    pub reason: Option<String>,
    /// The agent's claim, in the syntax of W3C Trace Context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// Inputs that the agent brought have an empty `text` here; their content is a blob named by `sha256`.
    pub inputs: Vec<BoundInput>,
    pub verdict: Verdict,
    pub expires_at: Timestamp,
    /// Set if the dashboard itself made it: agent and peer are then those of a real proposal, which has no part in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drill: Option<Drill>,
}

/// The content of [`LogEvent::Edited`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EditedLog {
    pub id: ProposalId,
    /// What was edited: the code as proposed, or the last edit.
    pub from: Digest,
    /// What the person made of it.
    pub digest: Digest,
    /// The blob of its code, if secrets were replaced in it; `digest` is then salted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Digest>,
    pub profile: String,
    pub policy_sha256: String,
    /// The verdict on the edited code.
    pub verdict: Verdict,
    pub by: Reviewer,
}

/// The content of [`LogEvent::Granted`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GrantedLog {
    pub id: ProposalId,
    pub digest: Digest,
    pub grant_digest: GrantDigest,
    pub profile: String,
    pub policy_sha256: String,
    pub limits: Limits,
    pub tier: Tier,
    pub environment: Digest,
    pub inputs: Vec<BoundInput>,
    /// Whether an input is a private data set whose values the policy lets the agent see.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private_told: bool,
    /// Who confirmed it; if votes granted, whose program counted them.
    pub by: Reviewer,
    /// What that person looked at; if votes granted, what the last of them did.
    pub viewed: Viewed,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub votes: Option<Votes>,
}

/// The content of [`LogEvent::Voted`]: all that its signature is over, so that it can be verified again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VotedLog {
    pub id: ProposalId,
    /// Which version of the offer, counted from 1: each edit makes a new one.
    pub version: u32,
    /// The host's name, and the fingerprint of its key.
    pub host: String,
    pub host_key: String,
    pub offer: Digest,
    pub code: Digest,
    pub grant: GrantDigest,
    pub terms: Terms,
    pub nonce: Nonce,
    pub deadline: Timestamp,
    pub vote: Vote,
    /// Fingerprint of the key that signed it.
    pub key: String,
    /// Set if it is a security key: whether it was touched, and whether it checked a PIN or a fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub touched: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    pub via: Via,
    /// In the log of a reviewer: what their host asked about. It is no part of what is signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<Box<About>>,
}

/// How a vote came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// At this program's own terminal.
    Terminal(Reviewer),
    /// Over the local socket, from a process of this uid.
    Socket { uid: u32, pid: i32 },
    /// Over the engine, from this login of it.
    Engine { login: String },
}

/// What [`LogEvent::Granted`] names if votes granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Votes {
    /// Whose votes, in the order in which they came.
    pub by: Vec<Person>,
    pub offer: Digest,
    /// SHA-256 of the files that say who may vote, as they were.
    pub signers: Digest,
    pub people: Digest,
    pub revoked: Digest,
}

/// The content of [`LogEvent::Finished`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FinishedLog {
    pub id: ProposalId,
    pub state: State,
    pub exit: Exit,
    pub limit: Option<LimitKind>,
    pub duration_ms: u64,
    pub timing_us: Timing,
    pub stdout_sha256: Digest,
    pub stderr_sha256: Digest,
    pub stdout_bytes: u64,
    pub stderr_bytes: u64,
    pub stdout_truncated: bool,
    pub stderr_truncated: bool,
    /// When what was printed. Empty in logs of earlier versions.
    #[serde(default, skip_serializing_if = "Pace::is_empty")]
    pub pace: Pace,
    /// The outcome's `result`, as JSON. `None` if it is `null`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_sha256: Option<Digest>,
    pub error: Option<RunError>,
    pub artifacts: Vec<Artifact>,
    /// The broker's notes on private data sets, then the guard's events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<RunEvent>,
    /// Contract `scoped`: accesses to its scopes and core functions, as counted by the child.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub accesses: BTreeMap<String, Accesses>,
    /// Why the output is not kept in blobs. The digests still identify it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unkept: Option<String>,
    /// Files that were not searched for secrets, because they are no text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsearched: Vec<String>,
}

impl ProposedLog {
    /// The blob of its code.
    pub fn code(&self) -> Digest {
        self.kept.unwrap_or(self.digest)
    }
}

impl EditedLog {
    /// The blob of its code.
    pub fn code(&self) -> Digest {
        self.kept.unwrap_or(self.digest)
    }
}

impl FinishedLog {
    /// The blobs of what it printed and returned, as far as they are kept and not empty.
    pub fn printed(&self) -> impl Iterator<Item = (&'static str, Digest)> {
        let streams = [
            ("stdout", self.stdout_sha256, self.stdout_bytes),
            ("stderr", self.stderr_sha256, self.stderr_bytes),
        ];
        let streams = streams.into_iter().filter(|(_, _, bytes)| *bytes > 0);
        let streams = streams.map(|(name, digest, _)| (name, digest));
        let all = streams.chain(self.result_sha256.map(|digest| ("result", digest)));
        all.filter(|_| self.unkept.is_none())
    }

    /// The run's events, one per line, and the sum of its accesses.
    pub fn monitored(&self) -> Vec<String> {
        let events = self.events.iter().map(|event| {
            let line = event.line.map_or(String::new(), |l| format!(" line {l}"));
            let by = match event.kind.as_str() {
                RunEvent::PRIVATE | RunEvent::ENVIRONMENT => "",
                _ => "guard: ",
            };
            format!("{by}{}{line}: {}", event.kind, event.message)
        });
        let accesses = Accesses::line(&self.accesses);
        let counted = (!accesses.is_empty()).then(|| format!("guard: accesses: {accesses}"));
        events.chain(counted).collect()
    }
}

impl LogEvent {
    /// The proposal that the event belongs to, if any.
    pub fn id(&self) -> Option<ProposalId> {
        match self {
            Self::Proposed(p) => Some(p.id),
            Self::Edited(e) => Some(e.id),
            Self::Granted(g) => Some(g.id),
            Self::Finished(f) => Some(f.id),
            Self::Drilled(d) => Some(d.id),
            Self::Voted(v) => Some(v.id),
            Self::VoteRefused { id, .. }
            | Self::Escalated { id, .. }
            | Self::Settled { id, .. }
            | Self::Blocked { id }
            | Self::Started { id, .. }
            | Self::Denied { id, .. }
            | Self::Expired { id }
            | Self::Withdrawn { id, .. }
            | Self::Unattended { id }
            | Self::Failed { id, .. }
            | Self::Killed { id, .. }
            | Self::Erased { id, .. }
            | Self::Replicated { id, .. } => Some(*id),
            Self::Opened { .. }
            | Self::Refused { .. }
            | Self::Paused { .. }
            | Self::Resumed { .. }
            | Self::EnvironmentChanged { .. }
            | Self::Recovered { .. }
            | Self::Pruned { .. }
            | Self::Unanchored { .. }
            | Self::Doubted { .. }
            | Self::Closed => None,
        }
    }

    /// The state of the proposal after this event; `None` if the event does not change it.
    pub fn state(&self) -> Option<State> {
        Some(match self {
            Self::Proposed(_) | Self::Edited(_) => State::Pending,
            Self::Blocked { .. } => State::Blocked,
            Self::Granted(_) => State::Granted,
            Self::Started { .. } => State::Running,
            Self::Finished(f) => f.state,
            Self::Denied { .. } => State::Denied,
            Self::Drilled(_) => State::Drilled,
            Self::Expired { .. } => State::Expired,
            Self::Withdrawn { .. } => State::Withdrawn,
            Self::Unattended { .. } => State::Unattended,
            Self::Failed { state, .. } | Self::Settled { state, .. } => *state,
            Self::Voted(_)
            | Self::VoteRefused { .. }
            | Self::Escalated { .. }
            | Self::Killed { .. }
            | Self::Opened { .. }
            | Self::Refused { .. }
            | Self::Paused { .. }
            | Self::Resumed { .. }
            | Self::EnvironmentChanged { .. }
            | Self::Recovered { .. }
            | Self::Replicated { .. }
            | Self::Pruned { .. }
            | Self::Erased { .. }
            | Self::Unanchored { .. }
            | Self::Doubted { .. }
            | Self::Closed => return None,
        })
    }

    /// The kept contents of this event by what they are to its proposal.
    pub fn parts(&self) -> Vec<ErasedContent> {
        let of = |part| move |sha256| ErasedContent { part, sha256 };
        match self {
            Self::Proposed(p) => {
                let brought = p.inputs.iter().filter(|i| i.is_kept());
                let brought = brought.map(|i| of(ErasedPart::Files)(i.sha256));
                std::iter::once(of(ErasedPart::Code)(p.code()))
                    .chain(brought)
                    .collect()
            }
            Self::Edited(e) => vec![of(ErasedPart::Code)(e.code())],
            Self::Finished(f) if f.unkept.is_none() => {
                let files = f.artifacts.iter().filter_map(|a| a.sha256.parse().ok());
                let printed = [f.stdout_sha256, f.stderr_sha256].into_iter();
                printed
                    .chain(f.result_sha256)
                    .map(of(ErasedPart::Output))
                    .chain(files.map(of(ErasedPart::Files)))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// The blobs of this event that a person can read: a label, which for an input contains the name that its
    /// agent gave it, and the digest. Empty output is left out.
    pub fn texts(&self) -> Vec<(String, Digest)> {
        match self {
            Self::Proposed(p) => std::iter::once(("code".to_owned(), p.code()))
                .chain(
                    p.inputs
                        .iter()
                        .filter(|i| i.is_kept())
                        .map(|i| (format!("input {}", i.name), i.sha256)),
                )
                .collect(),
            Self::Edited(e) => vec![("edited code".to_owned(), e.code())],
            Self::Finished(f) => f
                .printed()
                .map(|(name, digest)| (name.to_owned(), digest))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// The `kind` field's text.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Opened { .. } => "opened",
            Self::Proposed(_) => "proposed",
            Self::Blocked { .. } => "blocked",
            Self::Edited(_) => "edited",
            Self::Granted(_) => "granted",
            Self::Started { .. } => "started",
            Self::Finished(_) => "finished",
            Self::Denied { .. } => "denied",
            Self::Voted(_) => "voted",
            Self::VoteRefused { .. } => "vote_refused",
            Self::Escalated { .. } => "escalated",
            Self::Settled { .. } => "settled",
            Self::Drilled(_) => "drilled",
            Self::Expired { .. } => "expired",
            Self::Withdrawn { .. } => "withdrawn",
            Self::Unattended { .. } => "unattended",
            Self::Failed { .. } => "failed",
            Self::Killed { .. } => "killed",
            Self::Refused { .. } => "refused",
            Self::Paused { .. } => "paused",
            Self::Resumed { .. } => "resumed",
            Self::EnvironmentChanged { .. } => "environment_changed",
            Self::Recovered { .. } => "recovered",
            Self::Replicated { .. } => "replicated",
            Self::Pruned { .. } => "pruned",
            Self::Erased { .. } => "erased",
            Self::Unanchored { .. } => "unanchored",
            Self::Doubted { .. } => "doubted",
            Self::Closed => "closed",
        }
    }
}

/// Content that is stored with the log in a file named by its SHA-256.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    pub sha256: Digest,
    pub bytes: std::sync::Arc<[u8]>,
}

impl Blob {
    pub fn of(bytes: &[u8]) -> Self {
        Self {
            sha256: Digest::of(bytes),
            bytes: bytes.into(),
        }
    }
}
