//! What stands behind the last sound line, and whether anybody was promised it.
//!
//! A crash leaves the end of what was being written: a line without its end, zeros, parts of a batch. A
//! start sets that aside. What was acknowledged never goes without a person: it was, where the journal or
//! a note say so, or where a record of a later batch stands behind it, since a batch begins once the one
//! before it is durable.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use super::error::Damage;
use super::layout::{Layout, open_regular, segment_name};
use super::line::{LINE_MAX, LineRole, unseal};
use super::mark::Mark;
use super::scan::{Head, Scanned};

/// The end of a log.
#[derive(Debug)]
pub(super) enum Tail {
    /// It ends with a sound line.
    Whole,
    /// So many bytes behind the last sound line were promised to nobody.
    Unfinished(u64),
    /// What was promised is damaged or gone.
    Lost(Damage),
}

/// Looks at a log that nobody writes to, once the journal has put back what it can.
pub(super) fn look(
    layout: &Layout,
    scanned: &Scanned,
    acknowledged: Option<Mark>,
) -> io::Result<Tail> {
    let head = scanned.head;
    let promised = acknowledged.filter(|mark| *mark > head.mark());
    if let Some(damage) = &scanned.damage {
        let lost = || Ok(Tail::Lost(damage.clone()));
        if promised.is_some() || head.segment == 0 || !scanned.vouched {
            return lost();
        }
        if !at_the_end(layout, &head)? || promised_by_itself(layout, &head)? {
            return lost();
        }
        let there = open_regular(&layout.segment(head.segment))?.metadata()?;
        return match there.len().saturating_sub(head.offset) {
            0 => lost(),
            bytes => Ok(Tail::Unfinished(bytes)),
        };
    }
    if let Some(mark) = promised {
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

/// Whether the last segment is the one in which the sound lines end.
fn at_the_end(layout: &Layout, head: &Head) -> io::Result<bool> {
    Ok(layout.segments()?.last() == Some(&head.segment))
}

/// Whether what stands behind the sound lines was acknowledged by what it says itself. A line that is
/// intact and does not follow is no trace of a crash either.
fn promised_by_itself(layout: &Layout, head: &Head) -> io::Result<bool> {
    let mut first = true;
    let mut promised = false;
    lines(layout, head.segment, head.offset, |line| {
        match unseal(line).map(|sealed| sealed.place) {
            Err(_) => {}
            Ok(_) if first => promised = true,
            Ok(LineRole::Header { .. }) => promised = true,
            Ok(LineRole::Record { batch, .. }) => promised |= batch > head.seq + 1,
        }
        first = false;
    })?;
    Ok(promised)
}

/// Shows every line of a segment from a place on; one that is longer than any record, in pieces.
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
