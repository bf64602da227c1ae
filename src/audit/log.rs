//! Reads a log: the list of proposals, one proposal's records, what is still open.
//!
//! Read only. Works while a dashboard writes and on a copied state folder.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::{AuditError, Damage};
use super::layout::{Layout, open_regular};
use super::line::Record;
use super::lock::{self, Holder};
use super::put_back;
use super::scan::{Scanned, scan};
use super::verify::{self, Report};
use crate::model::{Digest, ProposalId, State, VerdictKind};

/// Largest blob that is read back whole.
const BLOB_MAX: u64 = 64 * 1024 * 1024;

/// A state folder, for reading.
#[derive(Clone, Debug)]
pub struct Log {
    pub(super) layout: Layout,
}

/// One proposal as the list shows it. Text in it is an agent's: show it only through
/// [`crate::model::visible`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Logged {
    /// When it was proposed.
    pub time: Timestamp,
    pub id: ProposalId,
    /// The agent's name for itself, else its executable's, else `unnamed`.
    pub agent: String,
    pub profile: String,
    pub verdict: VerdictKind,
    pub state: State,
    pub title: Option<String>,
}

/// The list, newest first, of everything before the first damage.
#[derive(Clone, Debug)]
pub struct Listing {
    pub proposals: Vec<Logged>,
    pub damage: Option<Damage>,
}

/// All records of one proposal, oldest first.
#[derive(Clone, Debug)]
pub struct History {
    pub records: Vec<Record>,
    /// Records of it that this version does not understand.
    pub unknown: u64,
    pub damage: Option<Damage>,
}

/// What is open now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    pub pending: u64,
    /// Granted or running.
    pub running: u64,
    /// Sequence number of the last record.
    pub records: u64,
    /// Whether a dashboard has the log open for writing, and its pid where it could be told.
    pub dashboard: bool,
    pub pid: Option<i32>,
    pub damage: Option<Damage>,
}

/// The parts of a record that the list needs; the rest is skipped unread.
#[derive(Debug, Deserialize)]
pub(super) struct Step {
    kind: String,
    pub ts: Timestamp,
    pub id: Option<ProposalId>,
    state: Option<State>,
    profile: Option<String>,
    agent: Option<Name>,
    peer: Option<Exe>,
    title: Option<String>,
    verdict: Option<Kind>,
}

#[derive(Debug, Deserialize)]
struct Name {
    name: String,
}

#[derive(Debug, Deserialize)]
struct Exe {
    exe: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Kind {
    verdict: VerdictKind,
}

impl Step {
    pub fn parse(line: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(line).map_err(|e| format!("it is no record: {e}"))
    }

    /// What [`crate::model::LogEvent::state`] says, without the rest of the event.
    pub fn state_after(&self) -> Option<State> {
        Some(match self.kind.as_str() {
            "proposed" => State::Pending,
            "blocked" => State::Blocked,
            "granted" => State::Granted,
            "started" => State::Running,
            "finished" | "failed" => return self.state,
            "denied" => State::Denied,
            "expired" => State::Expired,
            "withdrawn" => State::Withdrawn,
            "unattended" => State::Unattended,
            _ => return None,
        })
    }

    fn proposed(self) -> Option<Logged> {
        if self.kind != "proposed" {
            return None;
        }
        Some(Logged {
            time: self.ts,
            id: self.id?,
            agent: self
                .agent
                .map(|a| a.name)
                .filter(|n| !n.is_empty())
                .or(self.peer.and_then(|p| p.exe))
                .unwrap_or_else(|| "unnamed".to_owned()),
            profile: self.profile.unwrap_or_default(),
            verdict: self.verdict?.verdict,
            state: State::Pending,
            title: self.title,
        })
    }
}

impl Log {
    /// Finds the log of a state folder.
    ///
    /// # Errors
    /// When there is none, or its folder cannot be read.
    pub fn open(state_dir: &Path) -> Result<Self, AuditError> {
        let layout = Layout::at(state_dir);
        match layout.segments() {
            Ok(_) => Ok(Self { layout }),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Err(AuditError::None {
                dir: state_dir.to_owned(),
            }),
            Err(e) => Err(AuditError::io(layout.log(), "read", e)),
        }
    }

    /// Every proposal with the state it is in, newest first.
    pub fn proposals(&self) -> Result<Listing, AuditError> {
        let mut all: Vec<Logged> = Vec::new();
        let mut at: HashMap<ProposalId, usize> = HashMap::new();
        let scanned = scan(&self.layout, |line| {
            let step = Step::parse(line.bytes)?;
            let Some(id) = step.id else { return Ok(()) };
            let state = step.state_after();
            if let Some(known) = at.get(&id).and_then(|i| all.get_mut(*i)) {
                known.state = state.unwrap_or(known.state);
            } else if let Some(logged) = step.proposed() {
                at.insert(id, all.len());
                all.push(logged);
            }
            Ok(())
        })?;
        all.reverse();
        Ok(Listing {
            proposals: all,
            damage: self.damage(scanned)?,
        })
    }

    /// Every record of one proposal, oldest first; none when the log does not know it.
    pub fn records(&self, id: ProposalId) -> Result<History, AuditError> {
        let mut records = Vec::new();
        let mut unknown = 0;
        let scanned = scan(&self.layout, |line| {
            if Step::parse(line.bytes)?.id == Some(id) {
                match Record::parse(line.bytes) {
                    Ok(record) => records.push(record),
                    Err(_) => unknown += 1,
                }
            }
            Ok(())
        })?;
        Ok(History {
            records,
            unknown,
            damage: self.damage(scanned)?,
        })
    }

    /// Checks everything that can be checked without an anchor outside the folder.
    pub fn verify(&self) -> Result<Report, AuditError> {
        verify::verify(&self.layout)
    }

    /// How many proposals are open, and whether a dashboard is there to decide them.
    pub fn summary(&self) -> Result<Summary, AuditError> {
        let mut open: HashMap<ProposalId, State> = HashMap::new();
        let scanned = scan(&self.layout, |line| {
            let step = Step::parse(line.bytes)?;
            if let (Some(id), Some(state)) = (step.id, step.state_after()) {
                if state.is_final() {
                    open.remove(&id);
                } else {
                    open.insert(id, state);
                }
            }
            Ok(())
        })?;
        let records = scanned.head.seq;
        let holder = self.holder()?;
        let pending = open.values().filter(|s| **s == State::Pending).count() as u64;
        Ok(Summary {
            pending,
            running: open.len() as u64 - pending,
            records,
            dashboard: holder != Holder::Nobody,
            pid: match holder {
                Holder::Somebody(pid) => pid,
                Holder::Nobody => None,
            },
            damage: self.damage(scanned)?,
        })
    }

    /// Whether a dashboard has the log open for writing, and its pid where it could be told.
    /// Reads no record.
    pub fn writer(&self) -> Result<Option<Option<i32>>, AuditError> {
        Ok(match self.holder()? {
            Holder::Nobody => None,
            Holder::Somebody(pid) => Some(pid),
        })
    }

    /// The content of a blob, once it was found to be what its name says.
    ///
    /// # Errors
    /// In words, when it is missing, changed or too large.
    pub fn blob(&self, digest: &Digest) -> Result<Vec<u8>, String> {
        let (_, path) = self.layout.blob(digest);
        let absent = |e: &std::io::Error| e.kind() == std::io::ErrorKind::NotFound;
        let mut opened = open_regular(&path);
        if opened.as_ref().is_err_and(absent) {
            if let Some(bytes) = put_back::on_the_way(&self.layout).remove(digest) {
                return Ok(bytes);
            }
            // It may have got its file since.
            opened = open_regular(&path);
        }
        let file = opened.map_err(|e| match absent(&e) {
            true => "it is missing".to_owned(),
            false => format!("it cannot be read: {e}"),
        })?;
        let mut bytes = Vec::new();
        file.take(BLOB_MAX + 1)
            .read_to_end(&mut bytes)
            .map_err(|e| format!("it cannot be read: {e}"))?;
        if bytes.len() as u64 > BLOB_MAX {
            return Err("it is larger than any blob".to_owned());
        }
        if Digest::of(&bytes) != *digest {
            return Err("its content is not what its name says".to_owned());
        }
        Ok(bytes)
    }

    fn holder(&self) -> Result<Holder, AuditError> {
        lock::holder(&self.layout).map_err(|e| AuditError::io(self.layout.lock(), "read", e))
    }

    fn damage(&self, scanned: Scanned) -> Result<Option<Damage>, AuditError> {
        damage(&self.layout, scanned)
    }
}

/// The first thing wrong. An incomplete last line is, and so is what only the journal has, unless a
/// writer may be in the middle of it.
pub(super) fn damage(layout: &Layout, scanned: Scanned) -> Result<Option<Damage>, AuditError> {
    let holder = lock::holder(layout).map_err(|e| AuditError::io(layout.lock(), "read", e))?;
    if holder != Holder::Nobody {
        return Ok(scanned.damage);
    }
    // A writer may have begun since.
    let alone = || lock::holder(layout).is_ok_and(|holder| holder == Holder::Nobody);
    if let Some(damage) = put_back::check(layout, &scanned)?.filter(|_| alone()) {
        return Ok(Some(damage));
    }
    let Some(torn) = scanned.torn.filter(|_| scanned.damage.is_none()) else {
        return Ok(scanned.damage);
    };
    let head = scanned.head;
    // The writer may have ended its line and gone since.
    let grown = std::fs::symlink_metadata(layout.segment(head.segment))
        .is_ok_and(|m| m.len() != head.offset + torn);
    if grown {
        return Ok(None);
    }
    Ok(Some(Damage {
        file: format!("log/{}", super::layout::segment_name(head.segment)),
        line: None,
        seq: Some(head.seq + 1),
        what: format!(
            "it ends in an incomplete line of {torn} bytes from byte {}, as a crash leaves one; \
             the next start of the dashboard sets it aside",
            head.offset
        ),
    }))
}
