//! What records say of records before them: erased contents, repeated runs, removed segments.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

use jiff::{SignedDuration, Timestamp};

use super::super::line::Record;
use super::clock::SET;
use crate::model::{Digest, ErasedPart, LogEvent, ProposalId, grouped};

/// What each proposal has: contents by what they are to it, and the code that was granted. A keyed hash of each suffices:
/// among a million records one of some 3,000 others would pass for one of them, and nobody knows which.
#[derive(Debug, Default)]
pub(super) struct Had {
    all: HashSet<u32>,
    by: RandomState,
    has_begun: bool,
    /// Not all records before are read.
    is_cut: bool,
}

impl Had {
    fn key(&self, id: ProposalId, part: Option<ErasedPart>, digest: &Digest) -> u32 {
        let hash = self.by.hash_one((id, part, digest));
        (hash >> 32) as u32
    }

    /// What was read so far is not all that there was.
    pub fn cut(&mut self) {
        self.is_cut = true;
        self.all = HashSet::new();
    }

    /// Whether this is the first record of a log, or one before it was read.
    pub fn begins(&mut self, record: &Record) -> bool {
        std::mem::replace(&mut self.has_begun, true) || record.seq == 1
    }

    pub fn read(&mut self, record: &Record) -> Option<String> {
        if let LogEvent::Pruned { .. } = record.event {
            return pruned(record);
        }
        if self.is_cut {
            return None;
        }
        match &record.event {
            LogEvent::Erased { id, contents, .. } => contents.iter().find_map(|content| {
                let key = self.key(*id, Some(content.part), &content.sha256);
                (!self.all.contains(&key)).then(|| {
                    format!(
                        "`erased` {}, a content that {id} does not have as {}",
                        content.sha256,
                        content.part.as_str()
                    )
                })
            }),
            LogEvent::Replicated { id, digest, .. } => {
                let key = self.key(*id, None, digest);
                (!self.all.contains(&key))
                    .then(|| format!("`replicated` names other code than was granted ({id})"))
            }
            event => {
                let id = event.id()?;
                for content in event.parts() {
                    let key = self.key(id, Some(content.part), &content.sha256);
                    self.all.insert(key);
                }
                if let LogEvent::Granted(g) = event {
                    let key = self.key(id, None, &g.digest);
                    self.all.insert(key);
                }
                None
            }
        }
    }
}

/// Whether a removal for its age removed only what was old enough.
fn pruned(record: &Record) -> Option<String> {
    let LogEvent::Pruned {
        retention_days,
        gap,
        ..
    } = &record.event
    else {
        return None;
    };
    let gap = gap.as_ref()?;
    if gap.retention_bytes.is_some() {
        return None;
    }
    let hours = i64::try_from(*retention_days).ok()?.checked_mul(24)?;
    let age = SignedDuration::try_from_hours(hours)?;
    let before: Timestamp = record.ts.checked_sub(age).ok()?.checked_add(SET).ok()?;
    (*retention_days == 0 || gap.newest > before).then(|| {
        format!(
            "`pruned` what was younger than {} days: its newest record is of {:.0}",
            grouped(*retention_days),
            gap.newest
        )
    })
}
