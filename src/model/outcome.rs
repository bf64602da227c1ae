//! The outcome object of protocol.md §4.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::file_name::Renamed;
use super::left_out::LeftOut;
use super::{Digest, ProposalId, State, Tier, Verdict, grouped};

/// The complete result of a proposal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub id: ProposalId,
    pub digest: Digest,
    pub state: State,
    /// One sentence for the agent: what happened and what to do.
    pub message: String,
    pub retry: Retry,
    pub verdict: Option<Verdict>,
    pub decision: Option<Decision>,
    pub run: Option<Run>,
}

/// Whether asking again makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Retry {
    /// The same proposal may succeed later.
    Same,
    /// A changed snippet may succeed.
    Changed,
    /// Proposing again is pointless.
    No,
}

/// What ended the waiting. Deliberately omits who decided and how long they looked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    pub kind: DecisionKind,
    pub at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the person edited the code.
    pub edited: bool,
    /// What was granted, if it was edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// A unified diff from what was proposed to what was granted, if it was edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecisionKind {
    Granted,
    Denied,
    Expired,
    Withdrawn,
    Blocked,
    Unattended,
}

/// What ran and how it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub exit: Exit,
    pub limit: Option<LimitKind>,
    pub duration_ms: u64,
    pub timing_us: Timing,
    pub stdout: String,
    pub stderr: String,
    pub stdout_bytes: u64,
    pub stderr_bytes: u64,
    pub stdout_truncated: bool,
    pub stderr_truncated: bool,
    pub isolation: Isolation,
    pub error: Option<RunError>,
    /// Depends on the profile's contract; `null` if the contract has no result.
    pub result: Value,
    pub artifacts: Vec<Artifact>,
    /// Number of entries in the output folder that are not returned: the refused ones, listed or not, and
    /// the withheld ones.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub artifacts_left_out: u64,
    /// Entries that are not collected, with reasons; at most [`LeftOut::MOST`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts_refused: Vec<LeftOut>,
    /// Names of files over the number that the policy collects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts_unkept: Vec<String>,
    /// Artifacts whose names differ from those that the run gave them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts_renamed: Vec<Renamed>,
    /// Number of files that are withheld because they may contain private data.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub artifacts_withheld: u64,
    /// Number of figures, as the child counts them, that were shown once as many were kept as the policy collects
    /// files.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub figures_unkept: u64,
    /// At most [`RunEvent::MOST`], in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<RunEvent>,
    /// Contract `scoped`: accesses to each of [`Accesses::OF`]. Empty for other contracts, and if the child
    /// ended before its report.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub accesses: BTreeMap<String, Accesses>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature that serde requires
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// How the process ended: `{"code":0}` or `{"signal":"SIGXCPU"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Exit {
    Code(i32),
    Signal(String),
}

/// Which limit ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LimitKind {
    Wall,
    Cpu,
    Memory,
    Processes,
    Files,
    Output,
    Ticks,
}

impl LimitKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Wall => "wall",
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::Files => "files",
            Self::Output => "output",
            Self::Ticks => "ticks",
        }
    }
}

/// Microseconds from the grant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    pub grant_to_start: u64,
    /// `null` when nothing was printed.
    pub grant_to_first_output: Option<u64>,
    pub grant_to_exit: u64,
}

/// What confined the run, read from outside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Isolation {
    pub tier: Tier,
    pub layers: Vec<String>,
}

/// A typed error that contains no information about the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunError {
    #[serde(rename = "type")]
    pub kind: RunErrorKind,
    pub message: String,
    /// The snippet's own line, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exception: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunErrorKind {
    PolicyViolation,
    ContractViolation,
    SnippetError,
    Timeout,
    TickLimit,
    MemoryLimit,
    OutputLimit,
    Cancelled,
    SandboxError,
}

impl RunErrorKind {
    /// Whether only the outside can know it: a child that claims it is not believed, so no word of it is a run's.
    pub const fn is_from_outside(self) -> bool {
        matches!(self, Self::Timeout | Self::OutputLimit | Self::Cancelled)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PolicyViolation => "PolicyViolation",
            Self::ContractViolation => "ContractViolation",
            Self::SnippetError => "SnippetError",
            Self::Timeout => "Timeout",
            Self::TickLimit => "TickLimit",
            Self::MemoryLimit => "MemoryLimit",
            Self::OutputLimit => "OutputLimit",
            Self::Cancelled => "Cancelled",
            Self::SandboxError => "SandboxError",
        }
    }
}

/// A collected file of the run. See [`Self::is_name`] for its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    pub name: String,
    pub media_type: String,
    pub bytes: u64,
    /// 64 hex digits.
    pub sha256: String,
}

impl Artifact {
    /// The name under which stdout is kept if it does not fit into one frame.
    pub const STDOUT: &'static str = "stdout";

    /// The name under which every run's result is kept.
    pub const RESULT: &'static str = "result";

    /// Most segments of a name, folders included.
    pub const SEGMENTS: usize = 4;

    /// Whether a file may have this name: one to four segments joined by `/`; see [`Self::is_segment`].
    pub fn is_name(name: &str) -> bool {
        name.split('/').count() <= Self::SEGMENTS && name.split('/').all(Self::is_segment)
    }

    /// Whether a file or folder may have this name: `[A-Za-z0-9._-]{1,100}`, except `.` and `..`.
    pub fn is_segment(name: &str) -> bool {
        (1..=100).contains(&name.len())
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
            && name != "."
            && name != ".."
    }
}

/// Something that the guard inside the child refused, noticed or ended. Reported by the child, except for
/// limits observed from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEvent {
    /// `refused`, `text`, `system`, `files`, `scope`, [`Self::CROSSING`], `limit`, `facts` or `more`; for the
    /// person and the log, but not for agents, also [`Self::PRIVATE`] and [`Self::ENVIRONMENT`].
    pub kind: String,
    pub message: String,
    /// The snippet's own line, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl RunEvent {
    /// Something that an earlier run left was read, replaced or removed, as the profile allows.
    pub const CROSSING: &'static str = "crossing";
    /// The broker's note on a private data set.
    pub const PRIVATE: &'static str = "private";
    /// A change of the environment before the run could be released.
    pub const ENVIRONMENT: &'static str = "environment";
    /// How many events are kept; the others are only counted.
    pub const MOST: usize = 50;
    /// Longest message, in characters.
    pub const MESSAGE_MAX: usize = 300;
}

/// How many accesses to a scope or to the core functions were allowed and blocked, as counted by the child.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accesses {
    pub allowed: u64,
    pub blocked: u64,
}

impl Accesses {
    /// The counters: the scopes of the contract `scoped`, and its functions `log`, `log_level` and `reason`.
    pub const OF: [&'static str; 5] = ["private", "public", "system", "local", "functions"];

    /// `private 3 allowed, 1 blocked · public 2 allowed, 0 blocked`: the counters that are not zero, in the
    /// order of [`Self::OF`].
    pub fn line(counts: &BTreeMap<String, Self>) -> String {
        let used = Self::OF.into_iter().filter_map(|name| {
            let Self { allowed, blocked } = *counts.get(name)?;
            (allowed > 0 || blocked > 0).then(|| {
                let (allowed, blocked) = (grouped(allowed), grouped(blocked));
                format!("{name} {allowed} allowed, {blocked} blocked")
            })
        });
        used.collect::<Vec<_>>().join(" · ")
    }
}
