//! Actions the dashboard requests from the shell, and the data the shell supplies beside the core's
//! state.

use std::path::PathBuf;
use std::sync::Arc;

use crate::audit::{Facets, Stats};
use crate::model::{AgentId, Artifact, Digest, GrantDigest, Preflight, ProposalId, Tier, Viewed};

use super::dossier::Dossier;

/// The result of a key press. Only `app` carries it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The sheet was confirmed.
    Grant(GrantRequest),
    Deny {
        id: ProposalId,
        /// `None` when nothing was typed.
        reason: Option<String>,
        viewed: Viewed,
    },
    Kill {
        id: ProposalId,
    },
    /// Opens the code in the person's editor.
    Edit {
        id: ProposalId,
    },
    /// Refuse new proposals of this agent.
    Pause(AgentId),
    Resume(AgentId),
    Quit,
    /// Screen 2 needs `count` of a question's rows starting at `offset` (0 is the newest); the answer comes through
    /// [`super::UiState::set_audit`] with the same question.
    LoadAudit {
        query: String,
        offset: usize,
        count: usize,
    },
    /// Screen 2 needs one proposal's records as `detail`.
    ShowRecord {
        query: String,
        id: ProposalId,
    },
    /// Screen 2 needs what the rows of a question come to; the answer comes through [`super::UiState::set_sums`].
    SumUp {
        query: String,
        what: Sum,
    },
    /// The diff between an earlier code in the log and this one; the answer comes through
    /// [`super::UiState::set_diff`] with the same number.
    Compare(Comparison),
    /// A file of a run is to be opened by another program.
    Open(Artifact),
    Save(Saving),
    /// What a question selects goes into a folder.
    Export(Exporting),
    /// The focused pane's text is to be sent to the terminal's clipboard.
    Copy,
    Suspend,
}

/// What became of an edit. Paths are below the state folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditNews {
    /// Neither variable names an editor.
    NoEditor,
    /// The editor's command cannot be split into words.
    BadCommand,
    /// The editor cannot be started, or its file not be made.
    NotStarted(String),
    /// It left the code as it was.
    Unchanged,
    /// The file cannot be taken, or the editor failed: nothing changed. The text is in this folder, if it differs.
    NotTaken(String, Option<PathBuf>),
    /// The edit is being analysed.
    Taken,
    /// It came too late, and the text is in this folder.
    TooLate(String, PathBuf),
}

/// Asks to save files of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saving {
    pub files: Vec<Artifact>,
    /// As it was typed.
    pub folder: String,
    /// The new folder in it that the files go into.
    pub own: String,
}

/// Asks to write what a question selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exporting {
    pub query: String,
    pub format: ExportAs,
    /// The new folder, as it was typed.
    pub folder: String,
}

/// How far an export is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExportGoes {
    #[default]
    Begins,
    /// Bytes of the log.
    Reads {
        read: u64,
        of: u64,
    },
    /// So many were written; `of` is 0 if nobody knows how many there are.
    Records {
        done: u64,
        of: u64,
    },
    Proposals {
        done: u64,
        of: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportAs {
    Records,
    Csv,
    Ocsf,
    Bundle,
}

impl ExportAs {
    pub const ALL: [Self; 4] = [Self::Records, Self::Csv, Self::Ocsf, Self::Bundle];

    /// The next one; the first comes after the last.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Records => Self::Csv,
            Self::Csv => Self::Ocsf,
            Self::Ocsf => Self::Bundle,
            Self::Bundle => Self::Records,
        }
    }
}

/// Asks for a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The digest of the earlier code.
    pub earlier: Digest,
    /// The earlier code, if it is at hand. Else the log has it.
    pub text: Option<Arc<str>>,
    pub code: Arc<str>,
    pub number: u64,
}

/// A confirmation, bound to what the sheet showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantRequest {
    pub id: ProposalId,
    pub digest: GrantDigest,
    pub viewed: Viewed,
}

/// Facts about this dashboard for the header and the sheet; fixed at startup, except for the log
/// fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The default profile's label (`analysis`, `team (analysis + 1)`, `team (own rules)`).
    pub policy: String,
    /// The first hex digits of the default profile's SHA-256.
    pub policy_digest: String,
    pub tier: Tier,
    /// For each tier in use: its layers on this machine, and what it does not stop.
    pub tiers: Vec<Preflight>,
    /// Agents may run under the dashboard's own uid.
    pub agents_share_uid: bool,
    /// Where agents connect.
    pub socket: String,
    /// The command that proposes a file to this dashboard from another shell.
    pub submit: String,
    /// Data sets that could not be read at startup, each with the reason.
    pub absent: Vec<String>,
    /// The incomplete end of the log that a crash left and startup set aside.
    pub log_recovered: Option<String>,
    /// Why no checkpoint is made, or kept elsewhere.
    pub unanchored: Option<String>,
    /// Why the host of this seat, or the engine of this host's reviewers, is not reached.
    pub unreached: Option<String>,
    /// Why other hosts do not hear that this host's log is not the one that was signed.
    pub unheard: Option<String>,
    pub log: LogCheck,
    /// Set in a reviewer's seat.
    pub seat: Option<Seated>,
}

/// As whom one sits in a reviewer's seat, and which hosts it follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seated {
    pub person: String,
    pub hosts: Vec<Followed>,
    /// Hosts whose logs are not the ones that they signed, as it was heard last, with what they say.
    pub doubted: Vec<(String, String)>,
}

/// A host that a seat follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    pub name: String,
    /// Where it is.
    pub place: String,
    /// Why it is not reached, or not believed.
    pub away: Option<String>,
}

/// What is known of the log so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogCheck {
    /// The start believed the index; the log is read meanwhile.
    Running,
    /// Nothing bad was found.
    Sound,
    /// The first bad record.
    Damaged(String),
}

impl Header {
    /// One tier's layers, and what the tier does not stop.
    pub fn of(&self, tier: Tier) -> (&[String], &[String]) {
        self.tiers
            .iter()
            .find(|found| found.tier == tier)
            .map_or((&[], &[]), |found| (&found.layers, &found.does_not_stop))
    }
}

/// One proposal's line on screen 2.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditRow {
    /// When it was proposed.
    pub time: String,
    /// When it was decided or ended; empty while it waits.
    pub decided: String,
    /// Who decided; empty if nobody did.
    pub by: String,
    /// How long that took, for how long it was looked at, and how long the run took.
    pub after: String,
    pub looked: String,
    pub ran: String,
    pub id: Option<ProposalId>,
    pub agent: String,
    pub profile: String,
    pub verdict: String,
    pub state: String,
    pub title: String,
    /// The fields of a record that belongs to no proposal.
    pub own: Vec<String>,
}

/// What screen 2 can be told of all rows of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    Statistics,
    Facets,
}

/// The answer, or why there is none.
#[derive(Clone, Debug)]
pub struct Sums {
    /// The question whose rows were counted.
    pub query: String,
    pub answer: Result<Summed, String>,
}

#[derive(Clone, Debug)]
pub enum Summed {
    Statistics(Arc<Stats>),
    Facets(Facets),
}

/// The part of screen 2's data that is loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditPage {
    /// Newest first.
    pub rows: Vec<AuditRow>,
    /// The index of the first row; 0 is the newest record.
    pub offset: usize,
    pub total: usize,
    /// The question that selects the rows.
    pub query: String,
    /// The proposal whose page was asked for; `None` if rows were.
    pub asked: Option<ProposalId>,
    /// One proposal's page.
    pub dossier: Option<Arc<Dossier>>,
    /// The same proposal's records, one field per line.
    pub detail: Option<Vec<String>>,
    /// The first problem found in the part of the log that was checked.
    pub damage: Option<String>,
    /// How many bytes are read before the answer is there; these are the newest rows meanwhile.
    pub reading: Option<u64>,
    /// How many records the latest checkpoint signs; none without one.
    pub anchored: u64,
    /// The first record that was written under the key; 1 if that is not known.
    pub anchored_from: u64,
}
