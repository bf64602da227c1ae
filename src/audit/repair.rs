//! Repairs a log in which acknowledged records are damaged or missing.
//!
//! Only a person may order a repair, and first sees what it loses. The log continues from its last sound
//! record. Later records that the journal still has are put back. Everything else is copied to `quarantine/`
//! before it is removed, and `recovered` records state what was lost and who ordered the repair. A crash
//! during a repair leaves a log that is either still damaged or repaired.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use jiff::Timestamp;
use serde::Deserialize;

use super::aside;
use super::contents::Look;
use super::error::{AuditError, Damage};
use super::judge::{Read, judge};
use super::layout::{Layout, journal_name, segment_name, sync_dir};
use super::life::Lives;
use super::line::{LineRole, Record, unseal};
use super::lock::Lock;
use super::log::Log;
use super::mark::Marker;
use super::open::{SEGMENT_BYTES, boot_id, open_locked};
use super::put_back;
use super::salvage::{Salvage, salvage};
use super::scan::{Head, Scanned};
use super::tail::{self, Tail};
use super::writer::Chain;
use crate::model::{LogEvent, ProposalId, Reviewer, State};
use crate::secrets::{Redactor, Secrets};

/// A planned repair. Nothing changes before [`Repair::carry_out`]. Holds the lock, so nobody else can write.
#[derive(Debug)]
pub struct Repair {
    layout: Layout,
    lock: Lock,
    head: Head,
    rest: Salvage,
    files: Vec<Removal>,
    /// Ends what was open there.
    ends: Vec<LogEvent>,
    loss: Loss,
    secrets: Secrets,
}

/// What a person is shown before the repair. Its text may come from an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Why the dashboard does not start.
    pub damage: Damage,
    /// Sequence number of the last record that stays; 0 if none does.
    pub stays_through: u64,
    /// Number of later records that are put back from the journal.
    pub put_back: u64,
    /// What was open when the last record that stays was written. Its further records are lost, so nobody can say whether
    /// it ran.
    pub open: Vec<(ProposalId, State)>,
    /// What is moved to `quarantine/`.
    pub files: Vec<LostFile>,
}

/// A file, or the end of one, that is moved to quarantine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostFile {
    /// Path inside the state folder.
    pub file: String,
    /// Where the lost part begins.
    pub offset: u64,
    pub bytes: u64,
    /// Intact records in it, in order.
    pub records: Vec<LostRecord>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostRecord {
    pub seq: u64,
    pub ts: Option<Timestamp>,
    pub kind: String,
    pub id: Option<String>,
}

/// How a proposal ends whose end was lost.
const UNKNOWN: &str = "its later records are lost, and a repair set aside what was left of them: whether it ran is unknown";

/// What is removed from the log after a copy is in quarantine.
#[derive(Debug)]
enum Removal {
    Segment { number: u64, offset: u64 },
    Journal { number: usize },
}

/// What a lost record claims, for display only.
#[derive(Default, Deserialize)]
struct Claim {
    ts: Option<Timestamp>,
    #[serde(default)]
    kind: String,
    id: Option<String>,
}

impl Log {
    /// Plans a repair; `None` if none is needed, because the log is sound or the dashboard's next start
    /// recovers it.
    ///
    /// # Errors
    /// When a dashboard has the log open, it cannot be read, or nothing sound is left to continue from.
    pub fn repair(&self) -> Result<Option<Repair>, AuditError> {
        let layout = self.layout.clone();
        layout.make()?;
        let lock = Lock::take(&layout)?;
        let read = |e| AuditError::io(layout.log(), "read", e);
        let judged = judge(&layout, Look::There, &mut |_: Read<'_>| {})?;
        let scanned = judged.scanned;
        let rest = salvage(&layout, &scanned)?;
        let damage = match rest.contradiction.clone() {
            Some(damage) if scanned.damage.is_none() => damage,
            _ if rest.start_restores => return Ok(None),
            _ => match tail::look(&layout, &scanned, rest.acknowledged).map_err(read)? {
                Tail::Lost(damage) => damage,
                Tail::Whole | Tail::Unfinished(_) => return Ok(None),
            },
        };
        can_continue(&layout, &scanned, &damage)?;
        let head = scanned.head;
        let mut files = Vec::new();
        // If the journal has everything that was acknowledged, the next start knows what became of them.
        let whole = rest
            .acknowledged
            .is_some_and(|mark| mark <= rest.end.mark());
        let (open, ends) = match whole {
            true => (Vec::new(), Vec::new()),
            false => left_open(judged.lives, &rest),
        };
        let mut loss = Loss {
            damage,
            stays_through: head.seq,
            put_back: rest.records,
            open,
            files: Vec::new(),
        };
        for number in layout.segments().map_err(read)? {
            let offset = match number.cmp(&head.segment) {
                std::cmp::Ordering::Less => continue,
                std::cmp::Ordering::Equal => head.offset,
                std::cmp::Ordering::Greater => 0,
            };
            let meta = fs::symlink_metadata(layout.segment(number)).map_err(read)?;
            let bytes = meta.len().saturating_sub(offset);
            if bytes == 0 && offset > 0 {
                continue;
            }
            let mut records = Vec::new();
            tail::lines(&layout, number, offset, |line| {
                records.extend(claimed(line));
            })
            .map_err(read)?;
            loss.files.push(LostFile {
                file: format!("log/{}", segment_name(number)),
                offset,
                bytes,
                records,
            });
            files.push(Removal::Segment { number, offset });
        }
        for (number, discarded) in rest.discarded.iter().enumerate() {
            if let Some(discarded) = discarded {
                let lines = discarded.lines.iter();
                loss.files.push(LostFile {
                    file: journal_name(number),
                    offset: 0,
                    bytes: discarded.bytes,
                    records: lines.filter_map(|line| claimed(line)).collect(),
                });
                files.push(Removal::Journal { number });
            }
        }
        Ok(Some(Repair {
            layout,
            lock,
            head,
            rest,
            files,
            ends,
            loss,
            secrets: Secrets::here([]),
        }))
    }
}

/// Fails unless the log has a sound beginning from which it can continue.
fn can_continue(layout: &Layout, scanned: &Scanned, damage: &Damage) -> Result<(), AuditError> {
    if let Some(place) = scanned.later.clone() {
        let dir = layout.state.clone();
        return Err(AuditError::Later { dir, place });
    }
    if scanned.head.segment > 0 && scanned.beginning_known {
        return Ok(());
    }
    Err(AuditError::Beyond {
        dir: layout.state.clone(),
        damage: damage.clone(),
    })
}

/// What is open at the repaired log's end, and the records that end it.
fn left_open(mut lives: Lives, rest: &Salvage) -> (Vec<(ProposalId, State)>, Vec<LogEvent>) {
    for line in rest.lines.split(|b| *b == b'\n') {
        if let Ok(record) = Record::parse(line) {
            let _ = lives.step(&record.event);
        }
    }
    let open = lives.open();
    let ends = open.iter().map(|(id, _)| {
        let unknown = LogEvent::Failed {
            id: *id,
            state: State::Error,
            message: UNKNOWN.to_owned(),
        };
        match lives.step(&unknown) {
            Ok(()) => unknown,
            // A drill, which never runs.
            Err(_) => LogEvent::Unattended { id: *id },
        }
    });
    let ends = ends.collect();
    (open, ends)
}

/// What an intact line, of a segment or of the journal, claims about its record.
fn claimed(line: &[u8]) -> Option<LostRecord> {
    let LineRole::Record { seq, .. } = unseal(line).ok()?.place else {
        return None;
    };
    let claim: Claim = serde_json::from_slice(line).unwrap_or_default();
    Some(LostRecord {
        seq,
        ts: claim.ts,
        kind: claim.kind,
        id: claim.id,
    })
}

impl Loss {
    /// Number of intact records that are lost.
    pub fn records(&self) -> u64 {
        let records = self.files.iter().flat_map(|file| &file.records);
        let lost: BTreeSet<u64> = records.map(|record| record.seq).collect();
        let stay = self.stays_through + self.put_back;
        lost.into_iter().filter(|seq| *seq > stay).count() as u64
    }

    /// The loss in one sentence, for the log.
    fn words(&self) -> String {
        let stays = self.stays_through + self.put_back;
        format!(
            "{}; the log continues after seq {stays}, and {} later intact records are moved to quarantine",
            self.damage,
            self.records()
        )
    }
}

impl Repair {
    pub fn loss(&self) -> &Loss {
        &self.loss
    }

    /// What its records are searched for.
    #[must_use]
    pub fn redacts(mut self, secrets: Secrets) -> Self {
        self.secrets = secrets;
        self
    }

    /// Carries out the repair. `by` is the person who saw [`Self::loss`] and agreed.
    ///
    /// # Errors
    /// When a file cannot be read or written. The log is then either damaged as before or repaired.
    pub fn carry_out(self, by: &Reviewer) -> Result<(), AuditError> {
        let layout = &self.layout;
        let mut records = Vec::new();
        for removal in &self.files {
            let aside = self.keep(removal);
            records.push(aside.map_err(|e| AuditError::io(layout.quarantine(), "written", e))?);
        }
        if records.is_empty() {
            // Nothing is left to copy, but the loss must still be recorded.
            let name = segment_name(self.head.segment);
            let aside = aside::keep(layout, name, self.head.offset, b"");
            records.push(aside.map_err(|e| AuditError::io(layout.quarantine(), "written", e))?);
        }
        for record in &mut records {
            if let LogEvent::Recovered { lost, by: who, .. } = record {
                *lost = Some(self.loss.words());
                *who = Some(by.clone());
            }
        }
        records.extend(self.ends.iter().cloned());
        let io = |e| AuditError::io(layout.log(), "repaired", e);
        put_back::blobs(layout, &self.rest.blobs).map_err(io)?;
        let mut head = self.head;
        let mut chain = Chain {
            seq: self.rest.end.seq,
            hash: self.rest.end.hash,
            boot_id: boot_id(),
        };
        let redactor = Redactor::new(self.secrets.clone());
        aside::replace(
            layout,
            (&mut head, &mut chain),
            &self.rest.lines,
            &records,
            redactor,
        )?;
        self.remove_later().map_err(io)?;
        // Only now forget that more was acknowledged.
        Marker::open(layout)
            .and_then(|marker| marker.note(head.mark()))
            .and_then(|()| put_back::empty(layout))
            .map_err(io)?;
        drop(open_locked(self.layout, self.lock, SEGMENT_BYTES)?);
        Ok(())
    }

    fn keep(&self, removal: &Removal) -> io::Result<LogEvent> {
        let (path, name, offset) = match removal {
            Removal::Segment { number, offset } => {
                (self.layout.segment(*number), segment_name(*number), *offset)
            }
            Removal::Journal { number } => (self.layout.journal(*number), journal_name(*number), 0),
        };
        aside::keep_rest(&self.layout, name, &path, offset)
    }

    fn remove_later(&self) -> io::Result<()> {
        for removal in self.files.iter().rev() {
            if let Removal::Segment { number, .. } = removal
                && *number > self.head.segment
            {
                fs::remove_file(self.layout.segment(*number))?;
            }
        }
        sync_dir(&self.layout.log())
    }
}

#[cfg(test)]
#[path = "repair_tests.rs"]
mod tests;
