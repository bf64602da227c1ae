//! Verifies a log: the chain, the sequence, the lives of proposals, and every blob that a record names.

use jiff::Timestamp;
use serde::Serialize;

use super::contents::Look;
use super::error::{self, AuditError, Damage};
use super::index::{self, Comparison, Telling};
use super::judge::{self, Read, Reader};
use super::layout::Layout;
use super::life::Lives;
use super::line::Record;
use super::open::boot_id;
use super::plausible::{ClockSet, Plausible};
use super::scan::Line;
use crate::clock::Now;
use crate::model::{Gap, LogEvent, ProposalId, grouped};

/// The result of a verification.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Whether no fault was found.
    pub consistent: bool,
    /// Number of records in the sound part of the chain.
    pub records: u64,
    pub segments: u64,
    /// Retention removed the records up to this sequence number, according to a later record that names the
    /// hash of the last one.
    pub removed_through: Option<u64>,
    /// What retention removed, by the records that are left of it, the oldest first.
    pub removals: Vec<Removed>,
    /// Hash of the last sound line, 64 hex digits.
    pub head: String,
    /// Number of blobs that match their digests.
    pub blobs: u64,
    /// How many contents are gone because a person erased them, according to the log's own records.
    pub erased: u64,
    /// How many are there although they are recorded as erased: the next start removes them.
    pub unerased: u64,
    /// How many records, the last ones, are only in the journal, as a killed dashboard leaves them. The next
    /// start puts them into the segment.
    pub in_journal: u64,
    /// Number of records of later versions; the chain covers them as well.
    pub unknown: u64,
    /// What persons and retention erased of contents, according to the log's own records, the oldest first.
    pub erasures: Vec<ErasedBy>,
    /// Repairs that persons ordered, according to the log's own records.
    pub repairs: Vec<Repaired>,
    /// Pieces of files that were set aside, by starts after a crash and by repairs, the oldest first.
    pub set_aside: Vec<SetAside>,
    /// Where the chain breaks; nothing after it was checked.
    pub damage: Option<Damage>,
    /// The first 20 intact records that state something impossible.
    pub impossible: Vec<Damage>,
    /// How many such records there are.
    pub impossible_count: u64,
    /// The first 20 records of a sound chain that say what this program never writes.
    pub odd: Vec<Damage>,
    /// How many such records there are.
    pub odd_count: u64,
    /// How many votes have a signature that is over what their record says, or an odd one.
    pub votes: u64,
    /// How many are over a text of which a secret was replaced, so that nobody can check them.
    pub votes_unchecked: u64,
    /// Where the wall clock was set by a minute or more, against the one that nobody can set.
    pub clock_set: Vec<ClockSet>,
    /// The first 20 blobs that are missing or changed, each with the first record that names it.
    pub bad_blobs: Vec<Damage>,
    /// How many blobs are missing or changed.
    pub bad_blob_count: u64,
    /// How the index, which answers questions, differed from the log. It was removed then.
    pub index: Option<Damage>,
    /// Whether there was an index of this log, and all of it but the words of codes was compared.
    pub index_compared: bool,
}

/// Records that retention removed, as their `pruned` record says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// The `pruned` record.
    pub seq: u64,
    pub at: Timestamp,
    /// The person.
    pub uid: u32,
    pub through_seq: u64,
    pub retention_days: u64,
    pub gap: Option<Box<Gap>>,
}

impl Removed {
    fn of(record: &Record) -> Option<Self> {
        let LogEvent::Pruned {
            through_seq,
            retention_days,
            gap,
            by,
            ..
        } = &record.event
        else {
            return None;
        };
        Some(Self {
            seq: record.seq,
            at: record.ts,
            uid: by.uid,
            through_seq: *through_seq,
            retention_days: *retention_days,
            gap: gap.clone(),
        })
    }

    /// Which retention removed it.
    pub fn why(&self) -> String {
        let bytes = self.gap.as_deref().and_then(|gap| gap.retention_bytes);
        match bytes {
            Some(bytes) => format!("retention: {} bytes", grouped(bytes)),
            None => format!("retention: {} days", self.retention_days),
        }
    }
}

/// What a view of the log says of what is not in it, by the records of its removals, the newest first. `at` writes a time.
///
/// Segments go from the oldest on, so the newest removal names the end of all that is gone.
pub fn gap(removals: &[Record], at: &dyn Fn(Timestamp) -> String) -> Option<String> {
    let last = Removed::of(removals.first()?)?;
    let before = match last.gap.as_deref() {
        Some(gap) => format!(
            "records up to {} (seq 1-{})",
            at(gap.newest),
            last.through_seq
        ),
        None => format!("records up to seq {}", last.through_seq),
    };
    let more = match removals.len() {
        1 => "",
        _ => ", the last of them",
    };
    Some(format!(
        "{before} were removed{more} on {} by uid {}: {}; seq {} says so",
        at(last.at),
        last.uid,
        last.why(),
        last.seq
    ))
}

/// A loss of acknowledged records that a person agreed to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repaired {
    /// The `recovered` record.
    pub seq: u64,
    pub at: Timestamp,
    /// The person.
    pub uid: Option<u32>,
    /// What was lost, as the person saw it.
    pub lost: String,
}

impl Repaired {
    fn of(record: &Record) -> Option<Self> {
        let LogEvent::Recovered { lost, by, .. } = &record.event else {
            return None;
        };
        Some(Self {
            seq: record.seq,
            at: record.ts,
            uid: by.as_ref().map(|by| by.uid),
            lost: lost.clone()?,
        })
    }
}

/// Contents that were erased, as an `erased` record says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErasedBy {
    /// The `erased` record.
    pub seq: u64,
    pub at: Timestamp,
    /// The person.
    pub uid: u32,
    pub id: ProposalId,
    pub contents: u64,
    pub reason: String,
}

impl ErasedBy {
    fn of(record: &Record) -> Option<Self> {
        let LogEvent::Erased {
            id,
            contents,
            reason,
            by,
        } = &record.event
        else {
            return None;
        };
        Some(Self {
            seq: record.seq,
            at: record.ts,
            uid: by.uid,
            id: *id,
            contents: contents.len() as u64,
            reason: reason.clone(),
        })
    }
}

/// A piece of a file that is in quarantine, as a `recovered` record says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SetAside {
    /// The `recovered` record.
    pub seq: u64,
    pub at: Timestamp,
    /// Who ordered it; nobody if it was an end that a crash left incomplete.
    pub uid: Option<u32>,
    /// File name of the segment, or of the journal.
    pub from: String,
    pub bytes: u64,
    /// File name in the folder `quarantine`.
    pub file: String,
}

impl SetAside {
    fn of(record: &Record) -> Option<Self> {
        let LogEvent::Recovered {
            segment,
            bytes,
            quarantined,
            by,
            ..
        } = &record.event
        else {
            return None;
        };
        Some(Self {
            seq: record.seq,
            at: record.ts,
            uid: by.as_ref().map(|by| by.uid),
            from: segment.clone(),
            bytes: *bytes,
            file: quarantined.clone(),
        })
    }
}

impl Report {
    /// Whether no record says that anything was removed, erased or set aside, and no beginning is missing.
    pub fn nothing_removed(&self) -> bool {
        self.removed_through.is_none()
            && self.removals.is_empty()
            && self.erasures.is_empty()
            && self.repairs.is_empty()
            && self.set_aside.is_empty()
    }

    /// The fault with the lowest sequence number.
    pub fn first(&self) -> Option<&Damage> {
        let first = error::first(&self.impossible, &self.bad_blobs, self.damage.as_ref());
        first.or(self.index.as_ref())
    }
}

/// What goes along with a verification.
struct Along<V> {
    visit: V,
    plausible: Plausible,
    erasures: Vec<ErasedBy>,
    repairs: Vec<Repaired>,
    set_aside: Vec<SetAside>,
    removals: Vec<Removed>,
    index: Option<Comparison>,
}

impl<V: FnMut(&Line<'_>)> Reader for Along<V> {
    fn meets(&mut self, id: ProposalId, lives: &mut Lives) {
        if let Some(index) = &mut self.index {
            index.comes(id, lives);
        }
    }

    fn reads(&mut self, read: Read<'_>, lives: &mut Lives) {
        if let Some(index) = &mut self.index {
            index.compares(&read, lives);
        }
        match read {
            Read::Record(line, record) => {
                (self.visit)(line);
                self.plausible.read(line, &record);
                self.erasures.extend(ErasedBy::of(&record));
                self.repairs.extend(Repaired::of(&record));
                self.set_aside.extend(SetAside::of(&record));
                self.removals.extend(Removed::of(&record));
            }
            Read::Later(line, _) => {
                (self.visit)(line);
                self.plausible.later();
            }
        }
    }
}

/// `visit` is given the line of each record, and `telling` hears how far it is. An index that does not say what the log
/// says is removed; of one that does, a note says that `by` compared them.
pub(super) fn verify(
    layout: &Layout,
    by: &str,
    telling: Telling<'_>,
    mut visit: impl FnMut(&Line<'_>),
) -> Result<Report, AuditError> {
    let of = layout.segment_bytes().unwrap_or(0);
    let mut read = 0;
    let visit = |line: &Line<'_>| {
        read += line.bytes.len() as u64 + 1;
        telling(read, of);
        visit(line);
    };
    let mut along = Along {
        visit,
        plausible: Plausible::of_log(layout),
        erasures: Vec::new(),
        repairs: Vec::new(),
        set_aside: Vec::new(),
        removals: Vec::new(),
        index: Comparison::begin(layout),
    };
    let judged = judge::read_by(layout, Look::Read, &mut along)?;
    let Along {
        mut plausible,
        erasures,
        repairs,
        set_aside,
        removals,
        index,
        ..
    } = along;
    plausible.ends(&boot_id(), Now::read().boot);
    // What follows damage was not read.
    let index = index.filter(|_| judged.faults.chain.is_none());
    let index_compared = index.is_some();
    let through = index.as_ref().map_or(0, Comparison::through);
    let index = index.and_then(Comparison::end);
    if index.is_some() {
        index::distrust(layout);
    } else if index_compared {
        // A convenience: nothing depends on it.
        let _ = index::note(layout, through, by);
    }
    let clock_set = plausible.set().to_vec();
    let (votes, votes_unchecked) = plausible.votes();
    let (head, removed) = (judged.scanned.head, judged.scanned.removed);
    let faults = judged.faults;
    Ok(Report {
        consistent: faults.first().is_none() && index.is_none(),
        records: head.seq - removed.map_or(0, |removed| removed.seq),
        segments: head.segment - removed.map_or(0, |removed| removed.segment),
        removed_through: removed.map(|removed| removed.seq),
        removals,
        head: head.hash.hex(),
        blobs: judged.blobs,
        erased: judged.erased,
        unerased: judged.unerased.len() as u64,
        in_journal: judged.in_journal,
        unknown: judged.later,
        erasures,
        repairs,
        set_aside,
        damage: faults.chain,
        impossible: faults.lives.first,
        impossible_count: faults.lives.count,
        odd: plausible.odd.first,
        odd_count: plausible.odd.count,
        votes,
        votes_unchecked,
        clock_set,
        bad_blobs: faults.blobs.first,
        bad_blob_count: faults.blobs.count,
        index,
        index_compared,
    })
}
