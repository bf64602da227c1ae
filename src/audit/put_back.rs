//! Recovery from the journal after a crash of the machine: readers find what the segments and files lack, and
//! the next start puts it back.
//!
//! Only bytes that are missing or zero, as a crash leaves them, are written, and only lines that continue the
//! chain. Other bytes of a segment are never overwritten. Incomplete batches go to quarantine. Batches that
//! contradict the log, or were acknowledged but do not continue it, stop the start.

use std::collections::{BTreeSet, HashMap};
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::OFlag;

use super::aside;
use super::disk::{make_folder, write_whole};
use super::error::{AuditError, Damage};
use super::frame::{self, Frame};
use super::journal::FILE_MAX;
use super::layout::{Layout, journal_name, open_regular, segment_name};
use super::line::{LineRole, unseal};
use super::lines::Ahead;
use super::mark::{Mark, Marker, Note};
use super::scan::{Boundary, Head, Line, Scanned, Walk};
use super::settler::{Homes, Places};
use super::tail::{self, Tail};
use crate::model::{Digest, LogEvent, visible};

/// The content of the journal's files; empty after an orderly end.
pub(super) type Contents = [Vec<u8>; 2];

/// The result of comparing the journal with a log that is sound up to some line.
#[derive(Default)]
pub(super) struct Findings<'a> {
    /// Lines that continue the log but are missing in it: segment, offset, bytes.
    pub lines: Vec<(u64, u64, &'a [u8])>,
    /// Number of records in `lines`.
    pub records: u64,
    pub blobs: Vec<(Digest, &'a [u8])>,
    pub segments: BTreeSet<u64>,
    /// For each file, the offset from which its content cannot be put back.
    pub left: [Option<usize>; 2],
    /// The first batch that contradicts the log.
    pub contradiction: Option<Damage>,
    /// How far the log was acknowledged according to the journal and the note.
    pub acknowledged: Option<Mark>,
}

/// The result of [`put_back`].
#[derive(Default)]
pub(super) struct PutBack {
    /// Events for what was moved to quarantine. The caller must record them.
    pub aside: Vec<LogEvent>,
    pub acknowledged: Option<Mark>,
}

/// Finds faults in the journal and at the end of a log that nobody writes to. Records that a killed dashboard
/// left only in the journal belong to the log: they are passed to `visit`, and `scanned` then ends after them.
pub(super) fn check(
    layout: &Layout,
    scanned: &mut Scanned,
    mut visit: impl FnMut(&Line<'_>) -> Result<(), String>,
) -> Result<Option<Damage>, AuditError> {
    let contents = read(layout)?;
    let found = compare(layout, &scanned.head, &contents)?;
    if found.contradiction.is_some() {
        // Damage in the log itself tells a person more.
        return Ok(found.contradiction.filter(|_| scanned.damage.is_none()));
    }
    if !found.lines.is_empty() && scanned.damage.is_some() {
        return Ok(Some(Damage {
            file: format!("log/{}", segment_name(scanned.head.segment)),
            line: None,
            seq: Some(scanned.head.seq + 1),
            what: format!(
                "{} records are in the journal and damaged here from byte {} on, as a crash of the \
                 machine leaves them; the next start of the dashboard puts them back",
                found.records, scanned.head.offset
            ),
        }));
    }
    for (segment, _, lines) in &found.lines {
        continue_with(layout, scanned, *segment, lines, &mut visit)?;
        if scanned.damage.is_some() {
            return Ok(scanned.damage.clone());
        }
    }
    let tail = tail::look(layout, scanned, found.acknowledged)
        .map_err(|e| AuditError::io(layout.log(), "read", e))?;
    match tail {
        Tail::Lost(damage) => return Ok(Some(damage)),
        // A segment that was made and has nothing yet lacks nothing.
        Tail::Unfinished(0) | Tail::Whole => {}
        Tail::Unfinished(bytes) => return Ok(unfinished(layout, &scanned.head, bytes)),
    }
    let left = found.left.iter().enumerate();
    Ok(left
        .filter_map(|(number, at)| Some((number, (*at)?)))
        .map(|(number, at)| Damage {
            file: journal_name(number),
            line: None,
            seq: None,
            what: format!(
                "from byte {at} on it is incomplete or does not continue the log, as after a crash or in a \
                 copy of a log that was being written; the next start of the dashboard moves these bytes to \
                 quarantine"
            ),
        })
        .next())
}

/// Judges lines of the journal as if they were at the end of the segment. A bad one is recorded as damage of
/// the log.
fn continue_with(
    layout: &Layout,
    scanned: &mut Scanned,
    segment: u64,
    lines: &[u8],
    visit: &mut impl FnMut(&Line<'_>) -> Result<(), String>,
) -> Result<(), AuditError> {
    let file = format!("log/{}", segment_name(segment));
    let path = layout.segment(segment);
    let before = usize::try_from(scanned.head.offset).unwrap_or(usize::MAX);
    let before = bytes_at(&path, 0, before).map_err(|e| AuditError::io(path, "read", e))?;
    let mut number = before.iter().filter(|b| **b == b'\n').count() as u64;
    for line in lines.split_inclusive(|b| *b == b'\n') {
        let bytes = line.strip_suffix(b"\n").unwrap_or(line);
        number += 1;
        let seq = scanned.head.seq + 1;
        let read = unseal(bytes).map_err(str::to_owned).and_then(|sealed| {
            let boundary = Boundary {
                segment,
                seq,
                hash: sealed.hash,
            };
            visit(&Line {
                file: &file,
                number,
                offset: scanned.head.offset,
                seq,
                v: sealed.v,
                boundary,
                bytes,
                ahead: Ahead::default(),
            })?;
            Ok(sealed.hash)
        });
        match read {
            Ok(hash) => {
                scanned.head.hash = hash;
                scanned.head.record = Some(hash);
                scanned.head.seq = seq;
                scanned.head.offset += line.len() as u64;
                scanned.torn = None;
            }
            Err(what) => {
                scanned.damage = Some(Damage {
                    file,
                    line: Some(number),
                    seq: Some(seq),
                    what: visible(&what).into_owned(),
                });
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The incomplete end as damage; `None` if a writer completed it in the meantime.
fn unfinished(layout: &Layout, head: &Head, bytes: u64) -> Option<Damage> {
    let there = std::fs::symlink_metadata(layout.segment(head.segment));
    if there.is_ok_and(|m| m.len() != head.offset + bytes) {
        return None;
    }
    Some(Damage {
        file: format!("log/{}", segment_name(head.segment)),
        line: None,
        seq: Some(head.seq + 1),
        what: format!(
            "the {bytes} bytes from byte {} on are incomplete, as a crash leaves them; the next start of \
             the dashboard moves them to quarantine",
            head.offset
        ),
    })
}

/// Completes the log from the journal and empties the journal. `from`: how far the log was read already, and found
/// sound. The caller must hold the lock and must not have written anything. A log that remains damaged is not changed; the caller's own scan reports it.
pub(super) fn put_back(layout: &Layout, from: &Walk) -> Result<PutBack, AuditError> {
    let contents = read(layout)?;
    if contents.iter().all(Vec::is_empty) {
        let note = Note::of(layout).map_err(|e| AuditError::io(layout.lock(), "read", e))?;
        return Ok(PutBack {
            aside: Vec::new(),
            acknowledged: note.acknowledged,
        });
    }
    let io = |e| AuditError::io(layout.log(), "recovered", e);
    let homes = Homes::of(layout).map_err(io)?;
    loop {
        let mut walk = from.clone();
        walk.go_on(layout, |_| Ok(()))?;
        let scanned = walk.scanned();
        let found = compare(layout, &scanned.head, &contents)?;
        if let Some(damage) = found.contradiction.as_ref()
            && scanned.damage.is_none()
        {
            return Err(AuditError::Damaged {
                dir: layout.state.clone(),
                damage: damage.clone(),
            });
        }
        if found.contradiction.is_none() && !found.lines.is_empty() {
            for (segment, offset, lines) in &found.lines {
                write_lines(&layout.segment(*segment), *offset, lines).map_err(io)?;
            }
            tracing::info!("{} records of the log were put back", found.records);
            continue;
        }
        let acknowledged = found.acknowledged;
        let aside = match tail::look(layout, &scanned, acknowledged).map_err(io)? {
            Tail::Lost(_) => Vec::new(),
            Tail::Whole | Tail::Unfinished(_) => {
                finish(layout, &homes, &found, &contents, &scanned.head).map_err(io)?
            }
        };
        return Ok(PutBack {
            aside,
            acknowledged,
        });
    }
}

/// Restores blobs, syncs everything and empties the journal, once the log is complete or ends in bytes that
/// were never acknowledged.
fn finish(
    layout: &Layout,
    homes: &Homes,
    found: &Findings<'_>,
    contents: &Contents,
    head: &Head,
) -> io::Result<Vec<LogEvent>> {
    blobs(layout, &found.blobs)?;
    let mut segments = found.segments.clone();
    segments.insert(head.segment);
    let digests = found.blobs.iter().map(|(digest, _)| *digest);
    let places = Places {
        segments,
        contents: digests.collect(),
    };
    homes.settle(layout, &places)?;
    Marker::open(layout)?.note(head.mark())?;
    let mut aside = Vec::new();
    for (number, (left, bytes)) in found.left.iter().zip(contents).enumerate() {
        if let Some(at) = left {
            aside.push(set_aside(layout, number, *at, &bytes[*at..])?);
        }
    }
    empty(layout)?;
    Ok(aside)
}

/// Writes the blobs that are missing.
pub(super) fn blobs<B: AsRef<[u8]>>(layout: &Layout, blobs: &[(Digest, B)]) -> io::Result<()> {
    for (digest, bytes) in blobs {
        let bytes = bytes.as_ref();
        let (folder, path) = layout.blob(digest);
        if Digest::of(bytes) == *digest && missing(&path, bytes)? {
            make_folder(&folder)?;
            write_whole(&path, bytes)?;
        }
    }
    Ok(())
}

/// Empties the journal durably.
pub(super) fn empty(layout: &Layout) -> io::Result<()> {
    for number in 0..2 {
        match OpenOptions::new().write(true).open(layout.journal(number)) {
            Ok(file) => {
                file.set_len(0)?;
                file.sync_all()?;
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

fn set_aside(layout: &Layout, number: usize, at: usize, bytes: &[u8]) -> io::Result<LogEvent> {
    let used = bytes.iter().rposition(|b| *b != 0).map_or(0, |end| end + 1);
    aside::keep(layout, journal_name(number), at as u64, &bytes[..used])
}

/// The blobs in the journal. Their files may not exist yet.
pub(super) fn on_the_way(layout: &Layout) -> HashMap<Digest, Vec<u8>> {
    let Ok(files) = read(layout) else {
        return HashMap::new();
    };
    let frames = files.iter().flat_map(|bytes| frame::read(bytes).frames);
    frames
        .flat_map(|frame| frame.blobs)
        .filter(|(digest, bytes)| Digest::of(bytes) == *digest)
        .map(|(digest, bytes)| (digest, bytes.to_vec()))
        .collect()
}

pub(super) fn read(layout: &Layout) -> Result<Contents, AuditError> {
    let one = |number| {
        let path = layout.journal(number);
        let mut bytes = Vec::new();
        match open_regular(&path).and_then(|file| file.take(FILE_MAX).read_to_end(&mut bytes)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(AuditError::io(path, "read", e)),
            _ => Ok(bytes),
        }
    };
    Ok([one(0)?, one(1)?])
}

/// Compares the journal with a log that is sound up to `head`.
pub(super) fn compare<'a>(
    layout: &Layout,
    head: &Head,
    contents: &'a Contents,
) -> Result<Findings<'a>, AuditError> {
    let note = Note::of(layout).map_err(|e| AuditError::io(layout.lock(), "read", e))?;
    let mut found = Findings {
        acknowledged: note.acknowledged,
        ..Findings::default()
    };
    let mut frames: Vec<(usize, Frame<'a>)> = Vec::new();
    for (number, bytes) in contents.iter().enumerate() {
        let turn = frame::read(bytes);
        found.left[number] = turn.broken;
        found.acknowledged = found.acknowledged.max(turn.beyond);
        frames.extend(turn.frames.into_iter().map(|frame| (number, frame)));
    }
    if frames.is_empty() {
        return Ok(found);
    }
    let log = layout.log();
    let first = layout
        .segments()
        .map_err(|e| AuditError::io(log, "read", e))?;
    let first = first.first().copied().unwrap_or(1);
    frames.sort_by_key(|(_, frame)| (frame.segment, frame.offset));
    let mut end = *head;
    for (number, frame) in &frames {
        // Retention removed the segment.
        if frame.segment < first {
            continue;
        }
        found.acknowledged = found.acknowledged.max(Some(frame.end()));
        let path = layout.segment(frame.segment);
        let there = match bytes_at(&path, frame.offset, frame.lines.len()) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(AuditError::io(path, "read", e)),
        };
        let to = frame.end().offset;
        let sound = frame.segment < end.segment || to <= end.offset;
        if frame.segment <= end.segment && sound {
            // The log has these lines already, or an earlier frame adds them.
            if there != frame.lines && (frame.segment, to) <= (head.segment, head.offset) {
                found
                    .contradiction
                    .get_or_insert_with(|| contradiction(*number, frame));
                continue;
            }
        } else if frame.segment == end.segment
            && let Some(rest) = end.offset.checked_sub(frame.offset)
        {
            let rest = &frame.lines[rest as usize..];
            if !fits(&there, frame.lines) {
                found
                    .contradiction
                    .get_or_insert_with(|| contradiction(*number, frame));
                continue;
            }
            let Some((seq, hash)) = follows(rest, &end) else {
                found
                    .contradiction
                    .get_or_insert_with(|| contradiction(*number, frame));
                continue;
            };
            if there != frame.lines {
                found.records += seq - end.seq;
                found.lines.push((frame.segment, end.offset, rest));
            }
            (end.seq, end.hash, end.offset) = (seq, hash, to);
        } else {
            let left = &mut found.left[*number];
            *left = Some(left.map_or(frame.at, |at| at.min(frame.at)));
            continue;
        }
        found.segments.insert(frame.segment);
        found.blobs.extend(frame.blobs.iter().copied());
    }
    Ok(found)
}

fn contradiction(number: usize, frame: &Frame<'_>) -> Damage {
    Damage {
        file: format!("log/{}", segment_name(frame.segment)),
        line: None,
        seq: None,
        what: format!(
            "{} bytes from byte {} on differ from those in {}: one of the two files was changed after it \
             was written",
            frame.lines.len(),
            frame.offset,
            journal_name(number)
        ),
    }
}

/// Whether `there` can be what a crash left of `bytes`: a prefix in which some bytes are zero.
fn fits(there: &[u8], bytes: &[u8]) -> bool {
    there.iter().zip(bytes).all(|(t, b)| t == b || *t == 0)
}

/// The sequence number and hash after these lines; `None` if they do not continue the log.
pub(super) fn follows(lines: &[u8], end: &Head) -> Option<(u64, Digest)> {
    if !end.headed {
        return None;
    }
    let (mut seq, mut hash) = (end.seq, end.hash);
    for line in lines.split_inclusive(|b| *b == b'\n') {
        let sealed = unseal(line.strip_suffix(b"\n")?).ok()?;
        seq += 1;
        if sealed.prev != hash
            || !matches!(sealed.place, LineRole::Record { seq: s, .. } if s == seq)
        {
            return None;
        }
        hash = sealed.hash;
    }
    Some((seq, hash))
}

/// Reads up to `count` bytes; fewer at the end of the file.
pub(super) fn bytes_at(path: &Path, offset: u64, count: usize) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    let there = file.metadata()?.len().saturating_sub(offset);
    let mut bytes = vec![0; count.min(usize::try_from(there).unwrap_or(usize::MAX))];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

fn write_lines(path: &Path, offset: u64, lines: &[u8]) -> io::Result<()> {
    let file = OpenOptions::new()
        .write(true)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .open(path)?;
    file.write_all_at(lines, offset)
}

/// Whether a blob must be written: it is absent, or incomplete as a crash leaves it. A blob that was changed
/// is kept, so that a check reports it.
fn missing(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let mut there = Vec::new();
    match open_regular(path).and_then(|f| f.take(bytes.len() as u64 + 1).read_to_end(&mut there)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(e) => Err(e),
        Ok(_) => Ok(there != bytes && there.len() <= bytes.len() && fits(&there, bytes)),
    }
}

#[cfg(test)]
#[path = "put_back_tests.rs"]
mod tests;
