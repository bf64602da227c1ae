//! The outcome object of protocol.md §4.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::left_out::LeftOut;
use super::{Digest, ProposalId, State, Tier, Verdict, grouped};

/// Everything that came of a proposal.
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
    /// The same proposal may be made again.
    Same,
    /// A changed snippet may fare better.
    Changed,
    /// Asking again is pointless.
    No,
}

/// What ended the waiting. Says nothing about who decided or how long they looked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    pub kind: DecisionKind,
    pub at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub edited: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
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
    /// Per profile; `null` where the contract has none.
    pub result: Value,
    pub artifacts: Vec<Artifact>,
    /// Things in its output folder that do not come back: those of the next field, as many of them as are
    /// listed there, and the withheld.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub artifacts_left_out: u64,
    /// Things that are not collected, each with its reason: at most [`LeftOut::MOST`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts_refused: Vec<LeftOut>,
    /// Files over as many as its policy collects, by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts_unkept: Vec<String>,
    /// Files that are not handed out because they may hold private data.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub artifacts_withheld: u64,
    /// At most [`RunEvent::MOST`], in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<RunEvent>,
    /// Of the contract `scoped`: how often each of [`Accesses::OF`] was asked. Empty elsewhere, and where the
    /// child did not come to its report.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub accesses: BTreeMap<String, Accesses>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature serde asks for
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

/// A typed error without anything of the host in it.
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

/// A file the run left. Names match `[A-Za-z0-9._-]{1,100}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    pub name: String,
    pub media_type: String,
    pub bytes: u64,
    /// 64 hex digits.
    pub sha256: String,
}

impl Artifact {
    /// The name under which stdout is kept where a frame does not carry all of it.
    pub const STDOUT: &'static str = "stdout";

    /// The name under which every run's result is found again.
    pub const RESULT: &'static str = "result";

    /// Segments of a name at most: folders and the file's own.
    pub const SEGMENTS: usize = 4;

    /// Whether a file may be called so: one to four segments, joined by `/`; see [`Self::is_segment`].
    pub fn is_name(name: &str) -> bool {
        name.split('/').count() <= Self::SEGMENTS && name.split('/').all(Self::is_segment)
    }

    /// Whether a file or a folder may be called so: `[A-Za-z0-9._-]{1,100}`, and not what every folder
    /// calls itself and the one above.
    pub fn is_segment(name: &str) -> bool {
        (1..=100).contains(&name.len())
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
            && name != "."
            && name != ".."
    }
}

/// What the guard inside the child refused, saw crossed or ended, while it ran. The child's own
/// word but for the limits that were seen from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEvent {
    /// `refused`, `text`, `system`, `files`, `scope`, [`Self::CROSSING`], `limit`, `facts` or `more`; for the
    /// person and the log also [`Self::PRIVATE`] and [`Self::ENVIRONMENT`].
    pub kind: String,
    pub message: String,
    /// The snippet's own line, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl RunEvent {
    /// What an earlier run left was read, replaced or removed, as its profile allows.
    pub const CROSSING: &'static str = "crossing";
    /// The broker's own word on a private data set, for the person and the log and not for agents.
    pub const PRIVATE: &'static str = "private";
    /// What changed in the environment before the run could be let go; not for agents either.
    pub const ENVIRONMENT: &'static str = "environment";
    /// More than these are counted, not kept.
    pub const MOST: usize = 50;
    /// Characters of a message.
    pub const MESSAGE_MAX: usize = 300;
}

/// How often a snippet was given what it asked of a scope or of the core functions, and how often not.
/// The child's own count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accesses {
    pub allowed: u64,
    pub blocked: u64,
}

impl Accesses {
    /// What is counted: the scopes of the contract `scoped`, and its functions `log`, `log_level` and
    /// `reason`.
    pub const OF: [&'static str; 5] = ["private", "public", "system", "local", "functions"];

    /// `private 3 allowed, 1 blocked · public 2 allowed, 0 blocked`: what was asked at all, in the order of
    /// [`Self::OF`].
    pub fn line(of: &BTreeMap<String, Self>) -> String {
        let asked = Self::OF.into_iter().filter_map(|name| {
            let Self { allowed, blocked } = *of.get(name)?;
            (allowed > 0 || blocked > 0).then(|| {
                let (allowed, blocked) = (grouped(allowed), grouped(blocked));
                format!("{name} {allowed} allowed, {blocked} blocked")
            })
        });
        asked.collect::<Vec<_>>().join(" · ")
    }
}
