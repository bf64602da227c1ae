//! Reads the journal of a damaged log: what a repair can put back, and what it loses.

use super::error::{AuditError, Damage};
use super::frame::{self, Frame};
use super::layout::Layout;
use super::mark::Mark;
use super::put_back::{bytes_at, compare, follows, read};
use super::scan::{Head, Scanned};
use crate::model::Digest;

/// The usable and the lost content of the journal.
#[derive(Debug)]
pub(super) struct Salvage {
    /// Lines that continue the sound ones, whatever the segment has in their place.
    pub lines: Vec<u8>,
    /// The end of the log after `lines`.
    pub end: Head,
    /// Number of records in `lines`.
    pub records: u64,
    pub blobs: Vec<(Digest, Vec<u8>)>,
    /// For each file, what the repaired log will not contain.
    pub discarded: [Option<Discarded>; 2],
    pub contradiction: Option<Damage>,
    /// Whether the dashboard's next start puts records back without a repair.
    pub start_restores: bool,
    pub acknowledged: Option<Mark>,
}

/// A file of the journal with content that the log will not have.
#[derive(Debug)]
pub(super) struct Discarded {
    pub bytes: u64,
    /// The lines of its complete batches that are lost.
    pub lines: Vec<Vec<u8>>,
}

/// Searches the journal of a log that is sound up to some line.
pub(super) fn salvage(layout: &Layout, scanned: &Scanned) -> Result<Salvage, AuditError> {
    let contents = read(layout)?;
    let head = scanned.head;
    let found = compare(layout, &head, &contents)?;
    let segments = layout
        .segments()
        .map_err(|e| AuditError::io(layout.log(), "read", e))?;
    let first = segments.first().copied().unwrap_or(1);
    let mut salvage = Salvage {
        lines: Vec::new(),
        end: head,
        records: 0,
        blobs: Vec::new(),
        discarded: [None, None],
        start_restores: found.contradiction.is_none() && !found.lines.is_empty(),
        contradiction: found.contradiction,
        acknowledged: found.acknowledged,
    };
    let turns = contents.each_ref().map(|bytes| frame::read(bytes));
    let mut frames: Vec<_> = turns.iter().flat_map(|turn| &turn.frames).collect();
    // Batches of segments removed by retention are not a loss.
    frames.retain(|frame| frame.segment >= first);
    frames.sort_by_key(|frame| frame.mark());
    for frame in frames {
        salvage.take(frame);
    }
    for ((discarded, turn), bytes) in salvage.discarded.iter_mut().zip(&turns).zip(&contents) {
        let stays = |frame: &Frame<'_>| {
            let put_back = head.mark() < frame.end() && frame.end() <= salvage.end.mark();
            frame.segment < first || put_back || log_has(layout, frame, &head)
        };
        if turn.broken.is_some() || !turn.frames.iter().all(stays) {
            let frames = turn.frames.iter().filter(|frame| !stays(frame));
            let lines = frames.flat_map(|frame| frame.lines.split(|b| *b == b'\n'));
            *discarded = Some(Discarded {
                bytes: bytes.len() as u64,
                lines: lines.map(<[u8]>::to_vec).collect(),
            });
        }
    }
    Ok(salvage)
}

impl Salvage {
    fn take(&mut self, frame: &Frame<'_>) {
        for (digest, bytes) in &frame.blobs {
            if Digest::of(bytes) == *digest {
                self.blobs.push((*digest, bytes.to_vec()));
            }
        }
        let end = self.end;
        if frame.segment != end.segment || frame.end() <= end.mark() {
            return;
        }
        let new = end.offset.checked_sub(frame.offset);
        let new = new.and_then(|at| frame.lines.get(usize::try_from(at).ok()?..));
        if let Some(new) = new
            && let Some((seq, hash)) = follows(new, &end)
        {
            self.lines.extend_from_slice(new);
            self.records += seq - end.seq;
            self.end = Head {
                seq,
                hash,
                record: Some(hash),
                offset: frame.end().offset,
                ..end
            };
        }
    }
}

/// Whether the sound part of the log has exactly these lines.
fn log_has(layout: &Layout, frame: &Frame<'_>, head: &Head) -> bool {
    let path = layout.segment(frame.segment);
    frame.end() <= head.mark()
        && bytes_at(&path, frame.offset, frame.lines.len()).is_ok_and(|there| there == frame.lines)
}
