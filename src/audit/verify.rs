//! Checks a log: chain, sequence, the lives of proposals, and that every blob a record names is there and right.

use jiff::Timestamp;
use serde::Serialize;

use super::contents::Look;
use super::error::{self, AuditError, Damage};
use super::judge::{self, Read};
use super::layout::Layout;
use super::line::Record;
use crate::model::LogEvent;

/// What a check found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Whether everything that was checked is right.
    pub consistent: bool,
    /// Records that are there and in their place.
    pub records: u64,
    pub segments: u64,
    /// Records up to this sequence number were removed under retention, as a later record says that
    /// names the end of their chain.
    pub removed_through: Option<u64>,
    /// Hash of the last sound line, 64 hex digits.
    pub head: String,
    /// Blobs that were read and are what their names say.
    pub blobs: u64,
    /// The last so many of the records stand in the journal only, as a dashboard that was killed leaves
    /// them; the next start puts them in their place.
    pub in_journal: u64,
    /// Records of later versions; the chain covers them all the same.
    pub unknown: u64,
    /// What a person had set aside of this log, as its own records say.
    pub repairs: Vec<Repaired>,
    /// The first thing wrong in the chain; nothing after it was looked at.
    pub damage: Option<Damage>,
    /// The first 20 records in their place that tell of what cannot have happened.
    pub impossible: Vec<Damage>,
    /// How many there are.
    pub impossible_count: u64,
    /// The first 20 blobs that are missing or changed, each with the first record that names it.
    pub bad_blobs: Vec<Damage>,
    /// How many blobs are missing or changed.
    pub bad_blob_count: u64,
}

/// Something acknowledged that the log has no more, because a person said so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repaired {
    /// The record that says it.
    pub seq: u64,
    pub at: Timestamp,
    /// Who said so.
    pub uid: Option<u32>,
    /// What was lost, as the person was told.
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

impl Report {
    /// The first bad record.
    pub fn first(&self) -> Option<&Damage> {
        error::first(&self.impossible, &self.bad_blobs, self.damage.as_ref())
    }

    /// Up to where an anchor outside the folder vouches for the log. There is none yet: whoever can
    /// write the folder can cut its end off, or write all of it anew, unseen.
    pub fn anchored_through(&self) -> Option<u64> {
        None
    }
}

pub(super) fn verify(layout: &Layout) -> Result<Report, AuditError> {
    let mut repairs = Vec::new();
    let judged = judge::read(layout, Look::Read, |read| {
        if let Read::Record(_, record) = read {
            repairs.extend(Repaired::of(&record));
        }
    })?;
    let (head, removed) = (judged.scanned.head, judged.scanned.removed);
    let faults = judged.faults;
    Ok(Report {
        consistent: faults.first().is_none(),
        records: head.seq - removed.map_or(0, |removed| removed.seq),
        segments: head.segment - removed.map_or(0, |removed| removed.segment),
        removed_through: removed.map(|removed| removed.seq),
        head: head.hash.hex(),
        blobs: judged.blobs,
        in_journal: judged.in_journal,
        unknown: judged.later,
        repairs,
        damage: faults.chain,
        impossible: faults.lives.first,
        impossible_count: faults.lives.count,
        bad_blobs: faults.blobs.first,
        bad_blob_count: faults.blobs.count,
    })
}
