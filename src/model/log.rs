//! What the audit log says happened. The audit module adds sequence, clocks and hashes.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Accesses, AgentClaim, Artifact, BoundInput, Digest, Exit, GrantDigest, Isolation, LimitKind,
    Limits, Peer, Preflight, ProposalId, Reviewer, RunError, RunEvent, State, Tier, Timing,
    Verdict, Viewed,
};

/// One step of the dashboard's or a proposal's life.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LogEvent {
    /// The dashboard started.
    Opened {
        version: String,
        by: Reviewer,
        tier: Tier,
        environment: Option<Digest>,
        /// What each tier in use consists of here.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        preflight: Vec<Preflight>,
    },
    /// A proposal was accepted and judged. Its code and what its agent brought are blobs.
    Proposed(Box<ProposedLog>),
    /// The verdict ended it at once.
    Blocked { id: ProposalId },
    /// A person granted it. Durable before the child may start.
    Granted(Box<GrantedLog>),
    /// The child is made and held; durable before it is released.
    Started {
        id: ProposalId,
        isolation: Isolation,
    },
    /// The run ended. Durable before the agent hears it. Output is a blob.
    Finished(Box<FinishedLog>),
    /// A person denied it.
    Denied {
        id: ProposalId,
        reason: Option<String>,
        by: Reviewer,
        viewed: Viewed,
    },
    /// Nobody decided in time.
    Expired { id: ProposalId },
    /// The agent took it back, or its connection closed.
    Withdrawn { id: ProposalId, disconnected: bool },
    /// The dashboard went away before a decision.
    Unattended { id: ProposalId },
    /// It could not be run, or not be run to its end.
    Failed {
        id: ProposalId,
        state: State,
        message: String,
    },
    /// A person pressed the kill key or closes the dashboard; nobody where its agent's closed
    /// connection did it.
    Killed {
        id: ProposalId,
        by: Option<Reviewer>,
    },
    /// A peer's requests were refused; repeats are counted into one record.
    Refused {
        peer: Peer,
        code: i64,
        message: String,
        count: u64,
    },
    /// Files of the Python environment were changed since it was read; what was granted for it does not
    /// run.
    EnvironmentChanged {
        /// As it was.
        environment: Digest,
        /// Paths inside it.
        what: String,
    },
    /// The log or the journal ended in what was not whole, as a crash leaves them, or a person had what is
    /// damaged set aside. Its bytes are kept.
    Recovered {
        /// File name of the segment, or of the journal.
        segment: String,
        /// Where in it that began.
        offset: u64,
        bytes: u64,
        sha256: Digest,
        /// File name in the `quarantine` folder.
        quarantined: String,
        /// What was acknowledged and is lost by it, as the person was told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lost: Option<String>,
        /// Who said so; nobody where nothing was lost that anybody had been promised.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Reviewer>,
    },
    /// A person runs the code of a kept run for themselves, unconfined. Durable before it starts.
    Replicated {
        id: ProposalId,
        digest: Digest,
        by: Reviewer,
    },
    /// A person removed the oldest segments, whose time was over. Durable before any of them goes.
    Pruned {
        /// Number of the last segment that goes.
        through_segment: u64,
        /// Sequence number of its last record.
        through_seq: u64,
        /// Hash of its last line, which the next segment's header names too.
        head: Digest,
        /// Days after which records went.
        retention_days: u64,
        by: Reviewer,
    },
    /// The dashboard closed in good order.
    Closed,
}

/// The content of [`LogEvent::Proposed`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProposedLog {
    pub id: ProposalId,
    pub digest: Digest,
    pub profile: String,
    pub policy_sha256: String,
    pub agent: Option<AgentClaim>,
    pub peer: Peer,
    pub title: Option<String>,
    pub reason: Option<String>,
    /// Brought contents are left out here (`text` is empty) and kept as blobs by `sha256`.
    pub inputs: Vec<BoundInput>,
    pub verdict: Verdict,
    pub expires_at: Timestamp,
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
    /// Whether a private data set is among the inputs and the policy tells its values.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private_told: bool,
    pub by: Reviewer,
    pub viewed: Viewed,
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
    /// What the agent is given beside it: the outcome's `result`, as JSON. `None` where that is `null`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_sha256: Option<Digest>,
    pub error: Option<RunError>,
    pub artifacts: Vec<Artifact>,
    /// What the broker noted of private data sets, then what the child's guard said while it ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<RunEvent>,
    /// Of the contract `scoped`: what its scopes and core functions were asked, as the child counted it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub accesses: BTreeMap<String, Accesses>,
    /// Why what it printed and left is in no blob. The digests say what it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unkept: Option<String>,
}

impl FinishedLog {
    /// What was seen of the run while it ran, a line each: its events, and what its accesses come to.
    pub fn monitored(&self) -> Vec<String> {
        let told = self.events.iter().map(|event| {
            let line = event.line.map_or(String::new(), |l| format!(" line {l}"));
            let by = match event.kind.as_str() {
                RunEvent::PRIVATE | RunEvent::ENVIRONMENT => "",
                _ => "guard: ",
            };
            format!("{by}{}{line}: {}", event.kind, event.message)
        });
        let accesses = Accesses::line(&self.accesses);
        let counted = (!accesses.is_empty()).then(|| format!("guard: accesses: {accesses}"));
        told.chain(counted).collect()
    }
}

impl LogEvent {
    /// The proposal it belongs to, if any.
    pub fn id(&self) -> Option<ProposalId> {
        match self {
            Self::Proposed(p) => Some(p.id),
            Self::Granted(g) => Some(g.id),
            Self::Finished(f) => Some(f.id),
            Self::Blocked { id }
            | Self::Started { id, .. }
            | Self::Denied { id, .. }
            | Self::Expired { id }
            | Self::Withdrawn { id, .. }
            | Self::Unattended { id }
            | Self::Failed { id, .. }
            | Self::Killed { id, .. }
            | Self::Replicated { id, .. } => Some(*id),
            Self::Opened { .. }
            | Self::Refused { .. }
            | Self::EnvironmentChanged { .. }
            | Self::Recovered { .. }
            | Self::Pruned { .. }
            | Self::Closed => None,
        }
    }

    /// The state the proposal is in after this record; `None` where it changes none.
    pub fn state(&self) -> Option<State> {
        Some(match self {
            Self::Proposed(_) => State::Pending,
            Self::Blocked { .. } => State::Blocked,
            Self::Granted(_) => State::Granted,
            Self::Started { .. } => State::Running,
            Self::Finished(f) => f.state,
            Self::Denied { .. } => State::Denied,
            Self::Expired { .. } => State::Expired,
            Self::Withdrawn { .. } => State::Withdrawn,
            Self::Unattended { .. } => State::Unattended,
            Self::Failed { state, .. } => *state,
            Self::Killed { .. }
            | Self::Opened { .. }
            | Self::Refused { .. }
            | Self::EnvironmentChanged { .. }
            | Self::Recovered { .. }
            | Self::Replicated { .. }
            | Self::Pruned { .. }
            | Self::Closed => return None,
        })
    }

    /// The contents that it names for reading: what each is, an input's name as its agent gave it, and
    /// its digest. A run that printed nothing has none.
    pub fn texts(&self) -> Vec<(String, Digest)> {
        match self {
            Self::Proposed(p) => std::iter::once(("code".to_owned(), p.digest))
                .chain(
                    p.inputs
                        .iter()
                        .filter(|i| i.is_kept())
                        .map(|i| (format!("input {}", i.name), i.sha256)),
                )
                .collect(),
            Self::Finished(f) if f.unkept.is_none() => [
                ("stdout", f.stdout_sha256, f.stdout_bytes),
                ("stderr", f.stderr_sha256, f.stderr_bytes),
            ]
            .into_iter()
            .filter(|(_, _, bytes)| *bytes > 0)
            .map(|(name, digest, _)| (name, digest))
            .chain(f.result_sha256.map(|digest| ("result", digest)))
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
            Self::Granted(_) => "granted",
            Self::Started { .. } => "started",
            Self::Finished(_) => "finished",
            Self::Denied { .. } => "denied",
            Self::Expired { .. } => "expired",
            Self::Withdrawn { .. } => "withdrawn",
            Self::Unattended { .. } => "unattended",
            Self::Failed { .. } => "failed",
            Self::Killed { .. } => "killed",
            Self::Refused { .. } => "refused",
            Self::EnvironmentChanged { .. } => "environment_changed",
            Self::Recovered { .. } => "recovered",
            Self::Replicated { .. } => "replicated",
            Self::Pruned { .. } => "pruned",
            Self::Closed => "closed",
        }
    }
}

/// Content kept beside the log as a file named by its SHA-256.
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
