//! The verdict object of protocol.md §3.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Digest, Flows};

/// The conclusion of the static pass. `Clear` means that no rule matched, not that the code is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VerdictKind {
    Clear,
    Flagged,
    Blocked,
    Unanalyzable,
}

impl VerdictKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Flagged => "flagged",
            Self::Blocked => "blocked",
            Self::Unanalyzable => "unanalyzable",
        }
    }

    /// Whether a person can grant it at all.
    pub const fn grantable(self) -> bool {
        matches!(self, Self::Clear | Self::Flagged)
    }
}

impl fmt::Display for VerdictKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Info,
    Low,
    Medium,
    High,
    Critical,
}

impl Severity {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The effect of a finding or a capability on the verdict, in ascending order of strength.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Note,
    Flag,
    Block,
}

impl Action {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Flag => "flag",
            Self::Block => "block",
        }
    }
}

/// What code can do, stated as facts before any judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Capability {
    FsRead,
    FsWrite,
    FsDelete,
    NetworkOut,
    NetworkListen,
    Exec,
    DynamicCode,
    Reflect,
    Deserialize,
    Native,
    ReadSystemState,
    ModifySystemState,
    DataRead,
    DataWrite,
    Unanalyzed,
}

impl Capability {
    pub const ALL: [Capability; 15] = [
        Self::FsRead,
        Self::FsWrite,
        Self::FsDelete,
        Self::NetworkOut,
        Self::NetworkListen,
        Self::Exec,
        Self::DynamicCode,
        Self::Reflect,
        Self::Deserialize,
        Self::Native,
        Self::ReadSystemState,
        Self::ModifySystemState,
        Self::DataRead,
        Self::DataWrite,
        Self::Unanalyzed,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FsRead => "FS_READ",
            Self::FsWrite => "FS_WRITE",
            Self::FsDelete => "FS_DELETE",
            Self::NetworkOut => "NETWORK_OUT",
            Self::NetworkListen => "NETWORK_LISTEN",
            Self::Exec => "EXEC",
            Self::DynamicCode => "DYNAMIC_CODE",
            Self::Reflect => "REFLECT",
            Self::Deserialize => "DESERIALIZE",
            Self::Native => "NATIVE",
            Self::ReadSystemState => "READ_SYSTEM_STATE",
            Self::ModifySystemState => "MODIFY_SYSTEM_STATE",
            Self::DataRead => "DATA_READ",
            Self::DataWrite => "DATA_WRITE",
            Self::Unanalyzed => "UNANALYZED",
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One match of one rule. Lines and columns count from 1, columns in Unicode scalar values;
/// the end is exclusive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub rule: String,
    pub name: String,
    pub severity: Severity,
    pub action: Action,
    pub message: String,
    pub hint: String,
    pub cwe: Vec<u32>,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
    pub capability: Option<Capability>,
}

impl Finding {
    /// The hint of a rule that asks for no change.
    pub const NO_REMEDY: &str = "nothing to do";

    /// What would change the verdict, if there is anything.
    pub fn remedy(&self) -> Option<&str> {
        Some(self.hint.as_str()).filter(|hint| !hint.is_empty() && *hint != Self::NO_REMEDY)
    }
}

impl Verdict {
    /// Whether the profile lets code do what it can: by the strongest finding about it.
    pub fn stance(&self, capability: Capability) -> &'static str {
        let of = self.findings.iter();
        let of = of.filter(|found| found.capability == Some(capability));
        match of.map(|found| found.action).max() {
            None | Some(Action::Note) => "allowed by the profile",
            Some(Action::Flag) => "left to a person by the profile",
            Some(Action::Block) => "refused by the profile",
        }
    }
}

/// One capability and every line that uses it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapabilityUse {
    pub capability: Capability,
    pub lines: Vec<u32>,
    pub detail: String,
}

/// One kind of use of a capability: what it touches and the lines on which it does, in ascending order, from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub capability: Capability,
    /// As in [`CapabilityUse::detail`], but of this use alone and never cut.
    pub detail: String,
    pub lines: Vec<u32>,
    /// The names of its files, as far as the text gives them.
    pub files: Vec<String>,
}

/// The policy that judged: its name and the SHA-256 of its text (64 hex digits).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyRef {
    pub profile: String,
    pub sha256: String,
}

/// Size and digest of the judged code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceStats {
    pub bytes: u64,
    pub lines: u64,
    /// 64 hex digits.
    pub sha256: String,
}

impl SourceStats {
    /// Counts lines as an editor does: a last line without a newline counts.
    pub fn of(code: &[u8]) -> Self {
        let newlines = code.iter().filter(|b| **b == b'\n').count() as u64;
        let open_end = u64::from(code.last().is_some_and(|b| *b != b'\n'));
        Self {
            bytes: code.len() as u64,
            lines: newlines + open_end,
            sha256: Digest::of(code).hex(),
        }
    }
}

/// The complete result of the static pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub verdict: VerdictKind,
    pub policy: PolicyRef,
    pub findings: Vec<Finding>,
    pub capabilities: Vec<CapabilityUse>,
    pub source: SourceStats,
    pub elapsed_us: u64,
    /// Not part of the reported verdict: the child compares them with what CPython parsed.
    #[serde(skip)]
    pub facts: Option<CodeFacts>,
    /// Not part of the reported verdict: the screen shows effects by them.
    #[serde(skip)]
    pub places: Vec<Place>,
    /// Not part of the reported verdict: where the data goes.
    #[serde(skip)]
    pub flows: Flows,
}

/// What the parser read, as two digests that another parser can reproduce: SHA-256 over the sorted, distinct
/// items, each preceded by its length in eight bytes (little-endian).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeFacts {
    /// Every identifier after NFKC; a dotted module name is one item.
    pub identifiers: Digest,
    /// Every literal except None, True, False, `...` and the parts of f-strings, each preceded by one letter
    /// for its type.
    pub constants: Digest,
}

impl Verdict {
    /// The verdict for `findings`: that of the strongest action.
    pub fn kind_of(findings: &[Finding]) -> VerdictKind {
        match findings.iter().map(|f| f.action).max() {
            Some(Action::Block) => VerdictKind::Blocked,
            Some(Action::Flag) => VerdictKind::Flagged,
            Some(Action::Note) | None => VerdictKind::Clear,
        }
    }
}
