//! Repairs a log of which something is damaged or gone that somebody was promised.
//!
//! Only a person may say so, and is shown first what is lost by it. The log goes on from its last sound
//! record; what the journal still has of what follows is put back; everything else is copied to
//! `quarantine/` before anything of it goes, and `recovered` records say what, and who said so. Whatever a
//! crash leaves of a repair is a log that is damaged or one that is repaired.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use jiff::Timestamp;
use serde::Deserialize;

use super::aside;
use super::contents::Look;
use super::error::{AuditError, Damage};
use super::judge::judge;
use super::layout::{Layout, journal_name, segment_name, sync_dir};
use super::line::{LineRole, unseal};
use super::lock::Lock;
use super::log::Log;
use super::mark::Marker;
use super::open::{SEGMENT_BYTES, boot_id, open_locked};
use super::put_back;
use super::salvage::{Salvage, salvage};
use super::scan::{Head, Scanned};
use super::tail::{self, Tail};
use super::writer::Chain;
use crate::model::{LogEvent, Reviewer};

/// What a repair would do; nothing is done before [`Repair::carry_out`]. Nobody else can write meanwhile.
#[derive(Debug)]
pub struct Repair {
    layout: Layout,
    lock: Lock,
    head: Head,
    rest: Salvage,
    files: Vec<Going>,
    told: Loss,
}

/// What a person is shown. Text in it may be an agent's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Why the dashboard does not start.
    pub damage: Damage,
    /// Sequence number of the last record that stays; 0 where none does.
    pub stays_through: u64,
    /// Records behind it that the journal has, and that are put back.
    pub put_back: u64,
    /// What goes to `quarantine/`.
    pub files: Vec<LostFile>,
}

/// One file, or the end of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostFile {
    /// Path inside the state folder.
    pub file: String,
    /// From this byte on.
    pub offset: u64,
    pub bytes: u64,
    /// Records in it that are intact, in their order.
    pub records: Vec<LostRecord>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostRecord {
    pub seq: u64,
    pub ts: Option<Timestamp>,
    pub kind: String,
    pub id: Option<String>,
}

#[derive(Debug)]
enum Going {
    Segment { number: u64, offset: u64 },
    Journal { number: usize },
}

/// Of a record that is not believed, for showing it.
#[derive(Default, Deserialize)]
struct Claim {
    ts: Option<Timestamp>,
    #[serde(default)]
    kind: String,
    id: Option<String>,
}

impl Log {
    /// What a repair of this log would do; `None` where it needs none: it is sound, or a start of the
    /// dashboard repairs it by itself.
    ///
    /// # Errors
    /// When a dashboard has it, it cannot be read, or nothing sound is left that it could go on from.
    pub fn repair(&self) -> Result<Option<Repair>, AuditError> {
        let layout = self.layout.clone();
        layout.make()?;
        let lock = Lock::take(&layout)?;
        let read = |e| AuditError::io(layout.log(), "read", e);
        let judged = judge(&layout, Look::There, |_| {})?;
        let scanned = judged.scanned;
        let rest = salvage(&layout, &scanned)?;
        let damage = match rest.against.clone() {
            Some(damage) if scanned.damage.is_none() => damage,
            _ if rest.comes_back => return Ok(None),
            _ => match tail::look(&layout, &scanned, rest.acknowledged).map_err(read)? {
                Tail::Lost(damage) => damage,
                Tail::Whole | Tail::Unfinished(_) => return Ok(None),
            },
        };
        goes_on(&layout, &scanned, &damage)?;
        let head = scanned.head;
        let mut files = Vec::new();
        let mut told = Loss {
            damage,
            stays_through: head.seq,
            put_back: rest.records,
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
            told.files.push(LostFile {
                file: format!("log/{}", segment_name(number)),
                offset,
                bytes,
                records,
            });
            files.push(Going::Segment { number, offset });
        }
        for (number, going) in rest.going.iter().enumerate() {
            if let Some(going) = going {
                let lines = going.lines.iter();
                told.files.push(LostFile {
                    file: journal_name(number),
                    offset: 0,
                    bytes: going.bytes,
                    records: lines.filter_map(|line| claimed(line)).collect(),
                });
                files.push(Going::Journal { number });
            }
        }
        Ok(Some(Repair {
            layout,
            lock,
            head,
            rest,
            files,
            told,
        }))
    }
}

/// Whether something is there that the log can go on from.
fn goes_on(layout: &Layout, scanned: &Scanned, damage: &Damage) -> Result<(), AuditError> {
    if let Some(place) = scanned.later.clone() {
        let dir = layout.state.clone();
        return Err(AuditError::Later { dir, place });
    }
    if scanned.head.segment > 0 && scanned.vouched {
        return Ok(());
    }
    Err(AuditError::Beyond {
        dir: layout.state.clone(),
        damage: damage.clone(),
    })
}

/// What an intact record says of itself, in its own segment or in a batch of the journal.
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
    /// Intact records that are lost, each once.
    pub fn records(&self) -> u64 {
        let records = self.files.iter().flat_map(|file| &file.records);
        let lost: BTreeSet<u64> = records.map(|record| record.seq).collect();
        let stay = self.stays_through + self.put_back;
        lost.into_iter().filter(|seq| *seq > stay).count() as u64
    }

    /// All of it in one sentence, for the log.
    fn words(&self) -> String {
        let stays = self.stays_through + self.put_back;
        format!(
            "{}; the log goes on after seq {stays}, and {} intact records behind it are set aside",
            self.damage,
            self.records()
        )
    }
}

impl Repair {
    pub fn loss(&self) -> &Loss {
        &self.told
    }

    /// Does it: `by` saw what is lost, and said so.
    ///
    /// # Errors
    /// When a file cannot be read or written. The log is then as damaged as before, or repaired.
    pub fn carry_out(self, by: &Reviewer) -> Result<(), AuditError> {
        let layout = &self.layout;
        let mut records = Vec::new();
        for going in &self.files {
            let aside = self.keep(going);
            records.push(aside.map_err(|e| AuditError::io(layout.quarantine(), "written", e))?);
        }
        if records.is_empty() {
            // Nothing is left of what was there: it is said all the same.
            let name = segment_name(self.head.segment);
            let aside = aside::keep(layout, name, self.head.offset, b"");
            records.push(aside.map_err(|e| AuditError::io(layout.quarantine(), "written", e))?);
        }
        for record in &mut records {
            if let LogEvent::Recovered { lost, by: who, .. } = record {
                *lost = Some(self.told.words());
                *who = Some(by.clone());
            }
        }
        let io = |e| AuditError::io(layout.log(), "repaired", e);
        put_back::blobs(layout, &self.rest.blobs).map_err(io)?;
        let mut head = self.head;
        let mut chain = Chain {
            seq: self.rest.end.seq,
            hash: self.rest.end.hash,
            boot_id: boot_id(),
        };
        aside::replace(layout, (&mut head, &mut chain), &self.rest.lines, &records)?;
        self.remove_later().map_err(io)?;
        // From here on nothing says any more that there was more.
        Marker::open(layout)
            .and_then(|marker| marker.note(head.mark()))
            .and_then(|()| put_back::empty(layout))
            .map_err(io)?;
        drop(open_locked(self.layout, self.lock, SEGMENT_BYTES)?);
        Ok(())
    }

    fn keep(&self, going: &Going) -> io::Result<LogEvent> {
        let (path, name, offset) = match going {
            Going::Segment { number, offset } => {
                (self.layout.segment(*number), segment_name(*number), *offset)
            }
            Going::Journal { number } => (self.layout.journal(*number), journal_name(*number), 0),
        };
        let bytes = aside::from(&path, offset)?;
        aside::keep(&self.layout, name, offset, &bytes)
    }

    fn remove_later(&self) -> io::Result<()> {
        for going in self.files.iter().rev() {
            if let Going::Segment { number, .. } = going
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
