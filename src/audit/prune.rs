//! Retention: removes whole segments, oldest first. A record states which, and where the chain continues.
//!
//! The record becomes durable first and contains the hash of the last removed line. Then the segments are
//! removed durably, oldest first, so that a crash can only leave a log without some of its beginning, which
//! the record explains. The record is as trustworthy as the chain: whoever can write the folder can forge both.

use std::collections::HashSet;
use std::fs;
use std::io;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::contents::{Look, named_by};
use super::error::AuditError;
use super::index;
use super::judge::{self, Read};
use super::layout::{Layout, sync_dir};
use super::scan::Boundary;
use super::{Log, open};
use crate::model::{Digest, LogEvent, ProposalId, Reviewer};

/// What is to be removed, or was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// Oldest first.
    pub segments: Vec<OldSegment>,
    /// Number of blobs that no remaining record names.
    pub blobs: u64,
    pub blob_bytes: u64,
    /// Blobs are kept because records of a later version may name them.
    pub blobs_stay: bool,
    /// The first old segment that a legal hold keeps, and with it all that follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldBack>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HeldBack {
    /// Path inside the state folder.
    pub file: String,
    /// Held proposals that have records in it.
    pub proposals: u64,
}

/// What may be removed.
#[derive(Clone, Debug)]
pub struct Order {
    /// Only segments whose records are all older than this.
    before: Timestamp,
    /// None once the log takes no more bytes than this.
    down_to: Option<u64>,
    held: HashSet<ProposalId>,
    hold: Vec<String>,
}

impl From<Timestamp> for Order {
    fn from(before: Timestamp) -> Self {
        Self {
            before,
            down_to: None,
            held: HashSet::new(),
            hold: Vec::new(),
        }
    }
}

impl Order {
    /// Stops once the segments take no more than this.
    #[must_use]
    pub fn down_to(mut self, bytes: Option<u64>) -> Self {
        self.down_to = bytes;
        self
    }

    /// What these queries select stays, with everything that is newer than its oldest segment.
    #[must_use]
    pub fn hold(mut self, queries: &[String], held: HashSet<ProposalId>) -> Self {
        self.held = held;
        self.hold = queries.to_vec();
        self
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OldSegment {
    /// Path inside the state folder.
    pub file: String,
    pub records: u64,
    /// Time of its newest record.
    pub newest: Timestamp,
    pub bytes: u64,
}

/// The time `days` before `now`; `None` if it is before every timestamp.
pub fn older_than(days: u64, now: Timestamp) -> Option<Timestamp> {
    let hours = i64::try_from(days).unwrap_or(i64::MAX / 100).min(100_000) * 24;
    now.checked_sub(SignedDuration::from_hours(hours)).ok()
}

struct Plan {
    report: Pruned,
    numbers: Vec<u64>,
    /// Where the removed part ends.
    end: Option<Boundary>,
    blobs: Vec<Digest>,
}

/// What [`prune`] would remove now. Changes nothing, and works while a dashboard runs.
///
/// # Errors
/// When the log cannot be read or is damaged.
pub fn outdated_segments(log: &Log, order: impl Into<Order>) -> Result<Pruned, AuditError> {
    Ok(plan(&log.layout, &order.into())?.report)
}

/// Removes the oldest segments in which every record is old enough and no proposal is open or held, and the
/// blobs that only they name. The last segment is always kept.
///
/// The record of the gap is like any other: a checkpoint made after it signs it with everything before it.
///
/// # Errors
/// Those of [`open`], for example when a dashboard has the log open. The next call removes what this one
/// could not.
pub fn prune(
    log: &Log,
    order: impl Into<Order>,
    days: u64,
    by: Reviewer,
) -> Result<Pruned, AuditError> {
    let order = order.into();
    let layout = &log.layout;
    let opened = open(&layout.state)?;
    // `opened` holds the lock from here on.
    let plan = plan(layout, &order)?;
    let handle = match plan.end {
        // Nothing to record, but the lock must be held while blobs are removed.
        None => opened.writer.start(Box::new(|_| {})),
        Some(end) => {
            let event = LogEvent::Pruned {
                through_segment: end.segment,
                through_seq: end.seq,
                head: end.hash,
                retention_days: days,
                hold: order.hold,
                by,
            };
            super::open::write_one(&layout.state, opened, event)?
        }
    };
    let removed = remove(layout, &plan);
    handle.close();
    removed.map_err(|e| AuditError::io(layout.log(), "pruned", e))?;
    Ok(plan.report)
}

fn remove(layout: &Layout, plan: &Plan) -> io::Result<()> {
    for number in &plan.numbers {
        fs::remove_file(layout.segment(*number))?;
        sync_dir(&layout.log())?;
    }
    for digest in &plan.blobs {
        match fs::remove_file(layout.blob(digest).1) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
    index::forget(layout)
}

/// What [`plan`] reads of one segment.
struct Seen {
    end: Boundary,
    newest: Timestamp,
    first_seq: u64,
    /// Proposals that have records in it.
    ids: HashSet<ProposalId>,
    blobs: HashSet<Digest>,
    unknown: bool,
}

fn plan(layout: &Layout, order: &Order) -> Result<Plan, AuditError> {
    let mut seen: Vec<Seen> = Vec::new();
    let mut file = String::new();
    let judged = judge::read(layout, Look::There, |read| {
        let line = match &read {
            Read::Record(line, _) | Read::Later(line, _) => *line,
        };
        if line.file != file || seen.is_empty() {
            file = line.file.to_owned();
            seen.push(Seen {
                end: line.boundary,
                newest: Timestamp::MIN,
                first_seq: line.seq,
                ids: HashSet::new(),
                blobs: HashSet::new(),
                unknown: false,
            });
        }
        let Some(segment) = seen.last_mut() else {
            return;
        };
        segment.end = line.boundary;
        let Read::Record(_, record) = read else {
            segment.unknown = true;
            return;
        };
        segment.newest = segment.newest.max(record.ts);
        segment.ids.extend(record.event.id());
        let named = named_by(&record.event).into_iter();
        segment.blobs.extend(named.map(|blob| blob.digest));
    })?;
    let last = judged.scanned.head.segment;
    if let Some(damage) = judged.faults.chain {
        return Err(AuditError::Damaged {
            dir: layout.state.clone(),
            damage,
        });
    }
    let open: HashSet<ProposalId> = judged.lives.open().into_iter().map(|(id, _)| id).collect();
    let goes = |segment: &Seen| {
        segment.end.segment < last
            && segment.newest < order.before
            && !segment.unknown
            && segment.ids.is_disjoint(&open)
    };
    let is_held = |segment: &Seen| !segment.ids.is_disjoint(&order.held);
    let bytes = |segment: &Seen| {
        let path = layout.segment(segment.end.segment);
        fs::symlink_metadata(path).map_or(0, |m| m.len())
    };
    let mut left: u64 = seen.iter().map(bytes).sum();
    let mut count = 0;
    let mut held = None;
    for segment in seen.iter().take_while(|segment| goes(segment)) {
        if order.down_to.is_some_and(|most| left <= most) {
            break;
        }
        if is_held(segment) {
            held = Some(HeldBack {
                file: format!("log/{}", super::layout::segment_name(segment.end.segment)),
                proposals: segment.ids.intersection(&order.held).count() as u64,
            });
            break;
        }
        left -= bytes(segment).min(left);
        count += 1;
    }
    let (old, rest) = seen.split_at(count);
    let end = old.last().map(|segment| segment.end);
    // A segment without records goes with those around it: what stays must have no gap.
    let numbers = layout.segments();
    let mut numbers = numbers.map_err(|e| AuditError::io(layout.log(), "read", e))?;
    numbers.retain(|number| end.is_some_and(|end| *number <= end.segment));
    let mut plan = Plan {
        report: Pruned {
            blobs_stay: rest.iter().any(|segment| segment.unknown),
            held,
            ..Pruned::default()
        },
        numbers,
        end,
        blobs: Vec::new(),
    };
    for segment in old {
        plan.report.segments.push(OldSegment {
            file: format!("log/{}", super::layout::segment_name(segment.end.segment)),
            records: segment.end.seq + 1 - segment.first_seq,
            newest: segment.newest,
            bytes: bytes(segment),
        });
    }
    if !plan.report.blobs_stay {
        let named: HashSet<&Digest> = rest.iter().flat_map(|segment| &segment.blobs).collect();
        let unnamed = |digest: &Digest| !named.contains(digest);
        let all = blobs(layout).map_err(|e| AuditError::io(layout.blobs(), "read", e))?;
        for (digest, bytes) in all.into_iter().filter(|(digest, _)| unnamed(digest)) {
            plan.report.blobs += 1;
            plan.report.blob_bytes += bytes;
            plan.blobs.push(digest);
        }
    }
    Ok(plan)
}

/// Every blob with its size. Files with other names are ignored.
fn blobs(layout: &Layout) -> io::Result<Vec<(Digest, u64)>> {
    let mut found = Vec::new();
    for folder in fs::read_dir(layout.blobs())? {
        let folder = folder?;
        if !folder.file_type()?.is_dir() {
            continue;
        }
        for entry in fs::read_dir(folder.path())? {
            let entry = entry?;
            let digest = entry.file_name().to_str().and_then(|n| n.parse().ok());
            if let Some(digest) = digest
                && layout.blob(&digest).1 == entry.path()
            {
                found.push((digest, entry.metadata()?.len()));
            }
        }
    }
    Ok(found)
}
