//! What the journal has of a log that stays damaged: what a repair can put back, and what it loses.

use super::error::{AuditError, Damage};
use super::frame::{self, Frame};
use super::layout::Layout;
use super::mark::Mark;
use super::put_back::{bytes_at, compare, follows, read};
use super::scan::{Head, Scanned};
use crate::model::Digest;

/// What the journal has.
#[derive(Debug)]
pub(super) struct Salvage {
    /// Lines that continue the sound ones, whatever stands in their place, and where they end.
    pub lines: Vec<u8>,
    pub end: Head,
    pub records: u64,
    pub blobs: Vec<(Digest, Vec<u8>)>,
    /// Of each file that holds something that will not be in the log.
    pub going: [Option<Going>; 2],
    pub against: Option<Damage>,
    /// Whether a start puts something back by itself.
    pub comes_back: bool,
    pub acknowledged: Option<Mark>,
}

/// A file of the journal that holds something else than the log.
#[derive(Debug)]
pub(super) struct Going {
    pub bytes: u64,
    /// Of its whole batches.
    pub lines: Vec<Vec<u8>>,
}

/// Looks through the journal beside a log that is sound up to some line.
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
        going: [None, None],
        comes_back: found.against.is_none() && !found.lines.is_empty(),
        against: found.against,
        acknowledged: found.acknowledged,
    };
    let turns = contents.each_ref().map(|bytes| frame::read(bytes));
    let mut frames: Vec<_> = turns.iter().flat_map(|turn| &turn.frames).collect();
    // What was removed under retention is nobody's loss.
    frames.retain(|frame| frame.segment >= first);
    frames.sort_by_key(|frame| frame.mark());
    for frame in frames {
        salvage.take(frame);
    }
    for ((going, turn), bytes) in salvage.going.iter_mut().zip(&turns).zip(&contents) {
        let stays = |frame: &Frame<'_>| {
            let put_back = head.mark() < frame.end() && frame.end() <= salvage.end.mark();
            frame.segment < first || put_back || stands(layout, frame, &head)
        };
        if turn.broken.is_some() || !turn.frames.iter().all(stays) {
            let frames = turn.frames.iter().filter(|frame| !stays(frame));
            let lines = frames.flat_map(|frame| frame.lines.split(|b| *b == b'\n'));
            *going = Some(Going {
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
                offset: frame.end().offset,
                ..end
            };
        }
    }
}

/// Whether the sound part of the log has these very lines.
fn stands(layout: &Layout, frame: &Frame<'_>, head: &Head) -> bool {
    let path = layout.segment(frame.segment);
    frame.end() <= head.mark()
        && bytes_at(&path, frame.offset, frame.lines.len()).is_ok_and(|there| there == frame.lines)
}
