//! The bytes after the last sound line, and whether they were acknowledged.
//!
//! A crash leaves an incomplete end: a line without its line feed, zeros, parts of a batch. A start moves that
//! to quarantine. Acknowledged records are never removed without a person. Records were acknowledged if the
//! journal or the note says so, or if a record of a later batch follows, since a batch begins only when the
//! preceding one is durable.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use super::error::Damage;
use super::layout::{Layout, open_regular, segment_name};
use super::line::{LINE_MAX, LineRole, unseal};
use super::mark::Mark;
use super::scan::{Head, Scanned};

/// More than a crash leaves: a batch is far smaller than its longest line can be, and only the last batch is not durable.
const MOST: u64 = 2 * LINE_MAX as u64;

/// The end of a log.
#[derive(Debug)]
pub(super) enum Tail {
    /// The log ends with a sound line.
    Whole,
    /// This many bytes after the last sound line were never acknowledged.
    Unfinished(u64),
    /// Acknowledged records are damaged or missing.
    Lost(Damage),
}

/// Judges the end of a log that nobody writes to, after recovery from the journal.
pub(super) fn look(
    layout: &Layout,
    scanned: &Scanned,
    acknowledged: Option<Mark>,
) -> io::Result<Tail> {
    let head = scanned.head;
    let lost_through = acknowledged.filter(|mark| *mark > head.mark());
    if let Some(damage) = &scanned.damage {
        let lost = || Ok(Tail::Lost(damage.clone()));
        if lost_through.is_some() || head.segment == 0 || !scanned.beginning_known {
            return lost();
        }
        if !in_last_segment(layout, &head)? {
            return lost();
        }
        let there = open_regular(&layout.segment(head.segment))?.metadata()?;
        return match there.len().saturating_sub(head.offset) {
            0 | MOST.. => lost(),
            _ if rest_was_acknowledged(layout, &head)? => lost(),
            bytes => Ok(Tail::Unfinished(bytes)),
        };
    }
    if let Some(mark) = lost_through {
        return Ok(Tail::Lost(gone(&head, mark)));
    }
    Ok(scanned.torn.map_or(Tail::Whole, Tail::Unfinished))
}

fn gone(head: &Head, mark: Mark) -> Damage {
    Damage {
        file: format!("log/{}", segment_name(head.segment)),
        line: None,
        seq: Some(head.seq + 1),
        what: format!(
            "what follows byte {} is gone: the log was durable up to byte {} of log/{}",
            head.offset,
            mark.offset,
            segment_name(mark.segment)
        ),
    }
}

/// Whether the sound lines end in the last segment.
fn in_last_segment(layout: &Layout, head: &Head) -> io::Result<bool> {
    Ok(layout.segments()?.last() == Some(&head.segment))
}

/// Whether the lines after the sound part prove that some of them were acknowledged. Also true if the first of
/// them is intact but does not continue the chain: no crash leaves that.
fn rest_was_acknowledged(layout: &Layout, head: &Head) -> io::Result<bool> {
    let mut first = true;
    let mut acknowledged = false;
    lines(layout, head.segment, head.offset, |line| {
        match unseal(line).map(|sealed| sealed.place) {
            Err(_) => {}
            Ok(_) if first => acknowledged = true,
            Ok(LineRole::Header { .. }) => acknowledged = true,
            Ok(LineRole::Record { batch, .. }) => acknowledged |= batch > head.seq + 1,
        }
        first = false;
    })?;
    Ok(acknowledged)
}

/// Passes every line of a segment from an offset on to `visit`; an overlong line in pieces.
pub(super) fn lines(
    layout: &Layout,
    segment: u64,
    offset: u64,
    mut visit: impl FnMut(&[u8]),
) -> io::Result<()> {
    let mut file: File = open_regular(&layout.segment(segment))?;
    file.seek(SeekFrom::Start(offset))?;
    let mut reader = BufReader::with_capacity(256 * 1024, file);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let read = (&mut reader)
            .take(LINE_MAX as u64)
            .read_until(b'\n', &mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        visit(buffer.strip_suffix(b"\n").unwrap_or(&buffer));
    }
}

#[cfg(test)]
#[path = "tail_tests.rs"]
mod tests;
