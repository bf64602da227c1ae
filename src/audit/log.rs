//! Reads a log: the list of proposals, one proposal's records, the open proposals.
//!
//! Works while a dashboard writes, and on a copied state folder.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::apart::Apart;
use super::cases::{Case, Cases, Course, Person};
use super::contents::Look;
use super::error::{AuditError, Faults};
use super::index::Telling;
use super::judge::{self, Judged, Read};
use super::layout::{Layout, open_regular};
use super::line::Record;
use super::lock::{self, Holder};
use super::plausible::Plausible;
use super::put_back;
use super::query::{self, Texts};
use super::salts;
use super::scan::Line;
use super::tlog::{self, Comparing, Prover, Signed, Store, TlogError};
use super::traces;
use super::verify::{self, Report};
use super::voters::Voter;
use super::vouched::Vouched;
use crate::model::{AgentId, Digest, LogEvent, ProposalId, Reviewer, State, VerdictKind};

/// Largest blob that is read into memory.
const BLOB_MAX: u64 = 64 * 1024 * 1024;

/// A state folder, for reading.
#[derive(Clone, Debug)]
pub struct Log {
    pub(super) layout: Layout,
    /// What else must hold of it.
    pub(super) vouched: Vouched,
}

/// One proposal as the list shows it. Its text comes from an agent: print it only through
/// [`crate::model::visible`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Logged {
    /// When it was proposed.
    pub time: Timestamp,
    pub id: ProposalId,
    /// The agent's name for itself, else its executable's, else `unnamed`.
    pub agent: String,
    pub profile: String,
    /// Of what was granted, else of what was proposed.
    pub verdict: VerdictKind,
    pub state: State,
    pub title: Option<String>,
    /// Whether the dashboard itself made it; the agent is then that of another proposal.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drill: bool,
    /// Whether a person granted other code than was proposed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
    /// Who voted on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Voter>,
    /// `None` while it waits.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settled>,
}

/// A decision, or an end without one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Settled {
    #[serde(rename = "decided_at")]
    pub at: Timestamp,
    /// Who decided.
    #[serde(rename = "decided_by")]
    pub by: Option<Person>,
    /// From the proposal on, by the wall clock.
    #[serde(rename = "took_ms", serialize_with = "millis")]
    pub after: Option<Duration>,
    /// How long it was looked at.
    #[serde(rename = "looked_ms", serialize_with = "millis")]
    pub looked: Option<Duration>,
    /// How long the run took.
    #[serde(rename = "ran_ms", serialize_with = "millis")]
    pub ran: Option<Duration>,
}

#[allow(clippy::ref_option, reason = "serde passes a reference")]
fn millis<S: serde::Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
        .serialize(to)
}

impl Settled {
    fn of(case: &Case) -> Option<Self> {
        (case.course != Course::Waits).then(|| Self {
            at: case.at,
            by: case.by.clone().filter(|_| case.viewed.is_some()),
            after: case.at.duration_since(case.asked.at).try_into().ok(),
            looked: case.looked(),
            ran: case.ran.as_ref().map(|ran| ran.time),
        })
    }
}

/// The list of all proposals up to where the chain ends or breaks.
#[derive(Clone, Debug)]
pub struct Listing {
    /// Newest first.
    pub proposals: Vec<Logged>,
    /// Number of records of a later version. They may concern these proposals or others.
    pub unknown: u64,
    pub faults: Faults,
}

/// The beginning or the end of a pause. The agent's name is a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PauseLogged {
    pub time: Timestamp,
    /// `paused` or `resumed`.
    pub kind: &'static str,
    pub agent: AgentId,
    pub by: Reviewer,
}

/// The pauses of a log.
#[derive(Clone, Debug)]
pub struct Pauses {
    /// Newest first.
    pub all: Vec<PauseLogged>,
    /// Number of records of a later version.
    pub unknown: u64,
    pub faults: Faults,
}

/// All records of one proposal, oldest first.
#[derive(Clone, Debug)]
pub struct History {
    pub records: Vec<Record>,
    /// Number of the proposal's records of a later version.
    pub unknown: u64,
    pub faults: Faults,
}

/// The open proposals, counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    pub pending: u64,
    /// Granted or running.
    pub running: u64,
    /// Sequence number of the last record.
    pub records: u64,
    /// Number of records of a later version.
    pub unknown: u64,
    pub dashboard: Option<Dashboard>,
    pub faults: Faults,
}

/// A dashboard that runs on a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dashboard {
    /// `None` if unknown.
    pub pid: Option<i32>,
    /// It shows AUDIT DOWN: it cannot write records, so it runs nothing.
    pub down: bool,
}

impl Logged {
    pub(super) fn of(case: &Case) -> Self {
        let text = |text: &Arc<str>| text.as_ref().to_owned();
        Self {
            time: case.asked.at,
            id: case.id,
            agent: text(&case.agent.1),
            profile: text(&case.asked.profile),
            verdict: case.judged().verdict,
            state: case.state,
            title: case.asked.title.as_ref().map(text),
            drill: case.drill.is_some(),
            edited: case.edited.is_some(),
            votes: case.votes.clone(),
            settled: Settled::of(case),
        }
    }
}

impl PauseLogged {
    pub(super) fn of(time: Timestamp, event: &LogEvent) -> Option<Self> {
        match event {
            LogEvent::Paused { agent, by } | LogEvent::Resumed { agent, by } => Some(Self {
                time,
                kind: event.kind(),
                agent: agent.clone(),
                by: by.clone(),
            }),
            _ => None,
        }
    }
}

impl Texts for Log {
    fn code(&self, case: &Case) -> Vec<String> {
        let edited = case.edited.as_ref().map(|edit| edit.digest);
        let codes = [Some(case.asked.digest), edited].into_iter().flatten();
        // A code that cannot be read is one of the listing's faults.
        codes
            .filter_map(|digest| self.blob(&digest).ok())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .collect()
    }

    fn output(&self, case: &Case) -> Vec<String> {
        let printed = case.ran.iter().flat_map(|ran| &ran.printed);
        printed
            .filter_map(|digest| self.blob(digest).ok())
            .map(|bytes| query::beginning(&bytes))
            .collect()
    }
}

/// Where a state folder has the index of its log. It is derived, and may not be there.
pub fn index_of(state_dir: &Path) -> PathBuf {
    Layout::at(state_dir).index()
}

impl Log {
    /// Finds the log of a state folder. A log that is missing but left traces is found too, as damaged.
    ///
    /// # Errors
    /// When there never was a log, or the folder cannot be read.
    pub fn open(state_dir: &Path) -> Result<Self, AuditError> {
        let layout = Layout::at(state_dir);
        let there = match layout.segments() {
            Ok(segments) => !segments.is_empty(),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => false,
            Err(e) => return Err(AuditError::io(layout.log(), "read", e)),
        };
        let trace = || traces::of(&layout).map_err(|e| AuditError::io(state_dir, "read", e));
        if there || trace()?.is_some() {
            let vouched = Vouched::Nothing;
            return Ok(Self { layout, vouched });
        }
        Err(AuditError::None {
            dir: state_dir.to_owned(),
        })
    }

    /// The same log for who writes nothing into its folder: its index is in a private place.
    #[must_use]
    pub fn apart(mut self, place: Arc<Apart>) -> Self {
        self.layout = self.layout.apart(place);
        self
    }

    /// Every proposal with its current state, newest first.
    pub fn proposals(&self) -> Result<Listing, AuditError> {
        let (cases, unknown, faults) = self.cases()?;
        Ok(Listing {
            proposals: cases.all.iter().rev().map(Logged::of).collect(),
            unknown,
            faults,
        })
    }

    /// What became of every proposal, and what stands in the way of believing it.
    pub fn cases(&self) -> Result<(Cases, u64, Faults), AuditError> {
        let mut cases = Cases::default();
        let judged = judge::read(&self.layout, Look::There, |read| {
            if let Read::Record(_, record) = read {
                cases.learn(record.seq, record.ts, &record.event);
            }
        })?;
        for case in &mut cases.all {
            case.state = judged.lives.state(case.id).unwrap_or(case.state);
        }
        let later = judged.later;
        Ok((cases, later, self.vouched_for(judged)?))
    }

    /// Answers from a log that contradicts this are damaged.
    #[must_use]
    pub fn vouched(mut self, vouched: Vouched) -> Self {
        self.vouched = vouched;
        self
    }

    /// Adds what contradicts the newest checkpoint in a log with so many records.
    pub(super) fn vouch(&self, records: u64, faults: &mut Faults) -> Result<(), AuditError> {
        self.vouched.compare(&self.layout, records, faults)
    }

    fn vouched_for(&self, judged: Judged) -> Result<Faults, AuditError> {
        let mut faults = judged.faults;
        self.vouch(judged.scanned.head.seq, &mut faults)?;
        Ok(faults)
    }

    /// When agents were paused and resumed, newest first.
    pub fn pauses(&self) -> Result<Pauses, AuditError> {
        let mut all = Vec::new();
        let judged = judge::read(&self.layout, Look::There, |read| {
            if let Read::Record(_, record) = read {
                all.extend(PauseLogged::of(record.ts, &record.event));
            }
        })?;
        all.reverse();
        Ok(Pauses {
            all,
            unknown: judged.later,
            faults: self.vouched_for(judged)?,
        })
    }

    /// Every record of one proposal, oldest first. Its blobs are read and checked. Empty if the log does not
    /// have the proposal.
    pub fn records(&self, id: ProposalId) -> Result<History, AuditError> {
        let mut records = Vec::new();
        let mut unknown = 0;
        let mut plausible = Plausible::of_one(&self.layout);
        let judged = judge::read(&self.layout, Look::ReadOf(id), |read| match read {
            Read::Record(line, record) if record.event.id() == Some(id) => {
                plausible.read(line, &record);
                records.push(*record);
            }
            Read::Later(_, proposal) if proposal == Some(id) => unknown += 1,
            _ => {}
        })?;
        let mut faults = self.vouched_for(judged)?;
        faults.lives.join(plausible.odd);
        Ok(History {
            records,
            unknown,
            faults,
        })
    }

    /// Checks everything that can be checked without a reference outside the folder.
    pub fn verify(&self) -> Result<Report, AuditError> {
        verify::verify(&self.layout, "a dashboard", &|_, _| {}, |_| {})
    }

    /// Like [`Self::verify`] and [`Self::compare`] in one reading.
    pub fn verify_signed(
        &self,
        store: Option<&Store>,
        signed: &[Signed],
    ) -> Result<(Report, Result<(), TlogError>), AuditError> {
        self.verify_telling(store, signed, &|_, _| {})
    }

    /// Like [`Self::verify_signed`]; `telling` hears how far that is.
    pub fn verify_telling(
        &self,
        store: Option<&Store>,
        signed: &[Signed],
        telling: Telling<'_>,
    ) -> Result<(Report, Result<(), TlogError>), AuditError> {
        let mut comparing = Comparing::with(store, signed);
        let visit = |line: &Line<'_>| comparing.record(line);
        let report = verify::verify(&self.layout, "`audit verify`", telling, visit)?;
        let last = report.removed_through.unwrap_or(0) + report.records;
        let compared = comparing.end(last, &report.removals);
        Ok((report, compared))
    }

    /// Whether the log extends these checkpoints of it. `store` has the hashes of records that retention removed.
    pub fn compare(
        &self,
        store: Option<&Store>,
        signed: &[Signed],
    ) -> Result<Result<(), TlogError>, AuditError> {
        tlog::compare(&self.layout, store, signed)
    }

    /// What proves that records are in the log that this checkpoint signs.
    pub fn prover(&self, store: &Store, signed: &Signed) -> Prover {
        Prover::of(&self.layout, store, signed)
    }

    /// Counts the open proposals, and says whether a dashboard runs that can decide them.
    pub fn summary(&self) -> Result<Summary, AuditError> {
        let judged = judge::read(&self.layout, Look::There, |_| {})?;
        let open = judged.lives.open();
        let pending = open.iter().filter(|(_, s)| *s == State::Pending).count() as u64;
        Ok(Summary {
            pending,
            running: open.len() as u64 - pending,
            records: judged.scanned.head.seq,
            unknown: judged.later,
            dashboard: self.writer()?,
            faults: self.vouched_for(judged)?,
        })
    }

    /// The dashboard that has the log open for writing, if any. Reads no records.
    pub fn writer(&self) -> Result<Option<Dashboard>, AuditError> {
        let holder = lock::holder(&self.layout);
        let holder = holder.map_err(|e| AuditError::io(self.layout.lock(), "read", e))?;
        Ok(match holder {
            Holder::Nobody => None,
            Holder::Somebody { pid, down } => Some(Dashboard { pid, down }),
        })
    }

    /// Whether these bytes are the code that a record names, also if the log has it without its secrets; `None` if the
    /// record names none.
    ///
    /// # Errors
    /// Why that cannot be told.
    pub fn is_code(&self, event: &LogEvent, code: &[u8]) -> Result<Option<bool>, String> {
        salts::is_code(&self.layout, event, code)
    }

    /// The content of a blob, checked against its digest.
    ///
    /// # Errors
    /// A description, when the blob is missing, changed or too large.
    pub fn blob(&self, digest: &Digest) -> Result<Vec<u8>, String> {
        let (_, path) = self.layout.blob(digest);
        let absent = |e: &std::io::Error| e.kind() == std::io::ErrorKind::NotFound;
        let mut opened = open_regular(&path);
        if opened.as_ref().is_err_and(absent) {
            if let Some(bytes) = put_back::on_the_way(&self.layout).remove(digest) {
                return Ok(bytes);
            }
            // The file may have been written in the meantime.
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
}
