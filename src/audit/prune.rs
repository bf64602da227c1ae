//! Retention: removes whole segments, oldest first. A record states which, and where the chain continues.
//!
//! The record becomes durable first and contains the hash of the last removed line. Then the segments are
//! removed durably, oldest first, so that a crash can only leave a log without some of its beginning, which
//! the record explains. The record is as trustworthy as the chain: whoever can write the folder can forge both.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::contents::{Look, named_by};
use super::error::AuditError;
use super::index;
use super::judge::{self, Read};
use super::kept;
use super::layout::{Layout, sync_dir};
use super::line::GENESIS;
use super::scan::Boundary;
use super::tlog::{Store, root_of};
use super::{Log, open};
use crate::model::{Digest, Gap, LogEvent, ProposalId, Reviewer};
use crate::secrets::Secrets;

/// What is to be removed, or was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// Oldest first.
    pub segments: Vec<OldSegment>,
    /// Number of blobs that no remaining record names.
    pub blobs: u64,
    pub blob_bytes: u64,
    /// Kept runs of which no record remains.
    pub kept: Vec<PathBuf>,
    pub kept_bytes: u64,
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
    /// Segments whose records are all older than this.
    before: Option<Timestamp>,
    /// The oldest segments while segments, blobs and kept code together take more bytes than this.
    most: Option<u64>,
    /// None once the log takes no more bytes than this.
    down_to: Option<u64>,
    /// Whether kept code goes with its records.
    kept: bool,
    /// Has the hashes of the records, for the root of what goes.
    store: Option<Store>,
    held: HashSet<ProposalId>,
    hold: Vec<String>,
    secrets: Option<Secrets>,
}

impl From<Timestamp> for Order {
    fn from(before: Timestamp) -> Self {
        Self {
            before: Some(before),
            ..Self::of(None, None)
        }
    }
}

impl Order {
    /// What is older than `before`, and the oldest while everything takes more than `most` bytes.
    pub fn of(before: Option<Timestamp>, most: Option<u64>) -> Self {
        Self {
            before,
            most,
            down_to: None,
            kept: true,
            store: None,
            held: HashSet::new(),
            hold: Vec::new(),
            secrets: None,
        }
    }

    /// Leaves kept code alone.
    #[must_use]
    pub fn log_only(mut self, only: bool) -> Self {
        self.kept = !only;
        self
    }

    /// Where the checkpoints of this log are.
    #[must_use]
    pub fn signed_in(mut self, store: Store) -> Self {
        self.store = Some(store);
        self
    }

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

    /// What its record is searched for.
    #[must_use]
    pub fn redacts(mut self, secrets: Secrets) -> Self {
        self.secrets = Some(secrets);
        self
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OldSegment {
    /// Path inside the state folder.
    pub file: String,
    pub first_seq: u64,
    pub records: u64,
    /// Times of its oldest and its newest record.
    pub oldest: Timestamp,
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
    gap: Option<Gap>,
    blobs: Vec<Digest>,
    /// Of proposals without records.
    salts: Vec<PathBuf>,
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
    let mut opened = open(&layout.state)?;
    if let Some(secrets) = order.secrets.clone() {
        opened.writer.redacts(secrets);
    }
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
                gap: plan.gap.clone().map(Box::new),
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
    // First, while its records are there: afterwards nothing says that it is to go.
    for path in &plan.report.kept {
        match fs::remove_file(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
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
    for path in &plan.salts {
        match fs::remove_file(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
    index::forget(layout)
}

/// What [`plan`] reads of one segment.
struct Seen {
    end: Boundary,
    oldest: Timestamp,
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
                oldest: Timestamp::MAX,
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
        segment.oldest = segment.oldest.min(record.ts);
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
        segment.end.segment < last && !segment.unknown && segment.ids.is_disjoint(&open)
    };
    let is_held = |segment: &Seen| !segment.ids.is_disjoint(&order.held);
    let bytes = |segment: &Seen| {
        let path = layout.segment(segment.end.segment);
        fs::symlink_metadata(path).map_or(0, |m| m.len())
    };
    let room = Room::of(layout, &seen)?;
    let mut left: u64 = seen.iter().map(bytes).sum();
    let mut all = left + room.with.iter().sum::<u64>() + room.apart;
    let mut count = 0;
    let mut held = None;
    let mut by_bytes = None;
    for (segment, with) in seen.iter().zip(&room.with).take_while(|(s, _)| goes(s)) {
        let is_old = order.before.is_some_and(|before| segment.newest < before);
        let over = order.most.filter(|most| all > *most);
        if !is_old && over.is_none() {
            break;
        }
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
        all -= (bytes(segment) + with).min(all);
        by_bytes = by_bytes.or(over.filter(|_| !is_old));
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
        gap: None,
        blobs: Vec::new(),
        salts: Vec::new(),
    };
    let stays: HashSet<&ProposalId> = rest.iter().flat_map(|segment| &segment.ids).collect();
    let went = old.iter().flat_map(|segment| &segment.ids);
    let went = went.filter(|id| !stays.contains(id));
    plan.salts = went
        .map(|id| layout.salt(*id))
        .filter(|salt| fs::symlink_metadata(salt).is_ok())
        .collect();
    if order.kept && count > 0 {
        let went = |id: &ProposalId| old.iter().any(|segment| segment.ids.contains(id));
        for (path, id, bytes) in room.kept {
            if went(&id) && !stays.contains(&id) {
                plan.report.kept.push(path);
                plan.report.kept_bytes += bytes;
            }
        }
    }
    for segment in old {
        plan.report.segments.push(OldSegment {
            file: format!("log/{}", super::layout::segment_name(segment.end.segment)),
            first_seq: segment.first_seq,
            records: segment.end.seq + 1 - segment.first_seq,
            oldest: segment.oldest,
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
    if let (Some(first), Some(end)) = (old.first(), plan.end) {
        // Segments that went before can have had no record.
        let removed = judged.scanned.removed.filter(|removed| removed.seq > 0);
        let before = removed.map(|removed| removed.hash);
        plan.gap = Some(Gap {
            first_seq: first.first_seq,
            records: end.seq + 1 - first.first_seq,
            oldest: old.iter().map(|s| s.oldest).min().unwrap_or(first.oldest),
            newest: old.iter().map(|s| s.newest).max().unwrap_or(first.newest),
            before: before.unwrap_or(GENESIS),
            root: order
                .store
                .as_ref()
                .and_then(|store| root_of(store, end.seq)),
            contents: plan.report.blobs,
            retention_bytes: by_bytes,
        });
    }
    Ok(plan)
}

/// What takes room beside the segments.
struct Room {
    /// For each segment, what goes with it: blobs and kept code that no later one has.
    with: Vec<u64>,
    /// Kept code without records.
    apart: u64,
    kept: Vec<(PathBuf, ProposalId, u64)>,
}

impl Room {
    fn of(layout: &Layout, seen: &[Seen]) -> Result<Self, AuditError> {
        let io = |e| AuditError::io(&layout.state, "read", e);
        let (mut last_blob, mut last_id) = (HashMap::new(), HashMap::new());
        for (n, segment) in seen.iter().enumerate() {
            last_blob.extend(segment.blobs.iter().map(|digest| (*digest, n)));
            last_id.extend(segment.ids.iter().map(|id| (*id, n)));
        }
        let mut room = Self {
            with: vec![0; seen.len()],
            apart: 0,
            kept: kept::all(&layout.state).map_err(io)?,
        };
        for (digest, bytes) in blobs(layout).map_err(io)? {
            // One that no record names goes with the first segment that goes.
            if let Some(n) = last_blob.get(&digest) {
                room.with[*n] += bytes;
            }
        }
        for (_, id, bytes) in &room.kept {
            match last_id.get(id) {
                Some(n) => room.with[*n] += bytes,
                None => room.apart += bytes,
            }
        }
        Ok(room)
    }
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

#[cfg(test)]
#[path = "prune_tests.rs"]
mod tests;
