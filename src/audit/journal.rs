//! The journal makes a batch durable with one sync, whatever the batch consists of.
//!
//! A batch's lines and small blobs are written as one frame into one file, which is synced. Then the lines
//! are written to the segment without a sync, and [`super::settler`] writes the blobs' files in its own
//! thread. Readers look for a blob in both places. After a crash, [`super::put_back`] restores what the
//! segment and the files lack. Two files take turns: while one is written, everything in the other is synced
//! in its final place, which frees that file. Frames overwrite old bytes instead of extending the file, so
//! that a sync need not write the inode.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::Arc;

use nix::fcntl::OFlag;

use super::error;
use super::frame::{self, HEADER, NONCE};
use super::layout::{Layout, journal_name, sync_dir};
use super::mark::{Mark, Marker};
use super::place::{self, Held, LogLocation};
use super::settler::{Places, Settled, Settler, Turn, permanent, settled};
use crate::model::{Blob, Digest};

/// Bytes after which the other file takes its turn.
const TURN: u64 = 8 * 1024 * 1024;
/// Longest frame. A longer batch is synced in its final place at once.
const LONGEST: usize = 16 * 1024 * 1024;
/// Longest possible file of a journal.
pub(super) const FILE_MAX: u64 = TURN + LONGEST as u64 + *STEP.end() + HEADER as u64;
/// The file grows in steps that start small, so that a log of a few records stays small.
const STEP: std::ops::RangeInclusive<u64> = 64 * 1024..=1024 * 1024;
/// Space reserved for the lines that name the blobs.
const LINES: u64 = 128 * 1024;

/// The open journal.
#[derive(Debug)]
pub(super) struct Journal {
    files: [Arc<File>; 2],
    held: [Held; 2],
    /// The current file, the offset of the next frame, and the file's length.
    turn: usize,
    at: u64,
    length: u64,
    nonce: [u8; NONCE],
    /// What the frames of this turn contain: it must be synced in its final place before the file is reused.
    places: Places,
    /// The last frame; its buffer is reused.
    frame: Vec<u8>,
    /// End of the last batch that was made durable here.
    end: Option<Mark>,
    settler: Settler,
    /// Pending while the other file's content is being synced in its final place.
    settling: Option<Settled>,
}

impl Journal {
    /// Recovery must have restored and emptied both files before.
    pub fn open(layout: &Layout, marker: &Arc<Marker>) -> io::Result<Self> {
        let open = |number| {
            OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .custom_flags(OFlag::O_NOFOLLOW.bits())
                .open(layout.journal(number))
                .map(Arc::new)
        };
        let files = [open(0)?, open(1)?];
        let held = |number: usize| Held::of(&files[number], journal_name(number));
        sync_dir(&layout.state)?;
        Ok(Self {
            settler: Settler::start(layout, marker)?,
            length: place::length(&files[0])?,
            held: [held(0)?, held(1)?],
            files,
            turn: 0,
            at: 0,
            nonce: nonce()?,
            places: Places::default(),
            frame: Vec::new(),
            end: None,
            settling: None,
        })
    }

    /// Takes a blob for the next batch, which already has `batch_bytes` bytes. `false` if there is no room; the
    /// caller must then sync the blob as a file.
    pub fn take(&mut self, blob: &Blob, batch_bytes: usize) -> io::Result<bool> {
        let bytes = batch_bytes + blob.bytes.len();
        if bytes > LONGEST / 2 {
            return Ok(false);
        }
        let room = match self.turned() {
            Ok(()) => self.room_to(self.at + bytes as u64 + LINES),
            Err(e) => Err(e),
        };
        match room {
            Ok(()) => Ok(self.settler.keep(blob)),
            Err(e) if error::ran_out(&e) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Makes a batch durable: lines for `offset` of a segment, and blobs that were taken.
    ///
    /// # Errors
    /// An error for which [`error::ran_out`] is true had no effect; the batch can be made durable elsewhere.
    pub fn commit(
        &mut self,
        segment: u64,
        offset: u64,
        lines: &[u8],
        blobs: &[Blob],
    ) -> io::Result<()> {
        self.turned()?;
        frame::write(&mut self.frame, &self.nonce, segment, offset, lines, blobs)?;
        if self.frame.len() > LONGEST {
            self.frame = Vec::new();
            return Err(nix::errno::Errno::EFBIG.into());
        }
        let end = self.at + self.frame.len() as u64;
        // A zero header ends the turn, so that no reader takes up a frame of an earlier turn.
        self.frame.resize(self.frame.len() + HEADER, 0);
        self.uncut()?;
        self.room_to(end + HEADER as u64)?;
        let file = &self.files[self.turn];
        file.write_all_at(&self.frame, self.at)?;
        file.sync_data().map_err(permanent)?;
        self.at = end;
        self.end = Some(Mark {
            segment,
            offset: offset + lines.len() as u64,
        });
        self.places.segments.insert(segment);
        self.places.contents.extend(digests(blobs));
        self.frame.shrink_to(TURN as usize);
        Ok(())
    }

    /// Fails if somebody truncated the file: writing past the end would turn the lost bytes into zeros.
    fn uncut(&self) -> io::Result<()> {
        let found = place::length(&self.files[self.turn])?;
        place::uncut(&journal_name(self.turn), found, self.length)
    }

    /// Extends the file with zeros to at least `end`.
    fn room_to(&mut self, end: u64) -> io::Result<()> {
        if self.length >= end {
            return Ok(());
        }
        self.uncut()?;
        let file = &self.files[self.turn];
        while self.length < end {
            let step = self.length.clamp(*STEP.start(), *STEP.end());
            if let Err(e) = file.write_all_at(&vec![0; step as usize], self.length) {
                // Give the partial extension back, since space is short.
                file.set_len(self.length).map_err(permanent)?;
                return Err(e);
            }
            self.length += step;
        }
        Ok(())
    }

    /// Checks that the next start will find the journal.
    pub fn check(&self, place: &LogLocation) -> io::Result<()> {
        self.held.iter().enumerate().try_for_each(|(number, held)| {
            place.check_file(held, (number == self.turn).then_some(self.length))
        })
    }

    /// Makes blobs that were taken durable as files.
    pub fn settle_blobs(&self, blobs: &[Blob]) -> io::Result<()> {
        settled(&self.settler.settle(Turn::of(digests(blobs).collect())))
    }

    /// Switches to the other file if this turn is over. This file is free again when all its content is
    /// synced in its final place.
    fn turned(&mut self) -> io::Result<()> {
        if self.at < TURN {
            return Ok(());
        }
        if let Some(settling) = self.settling.take()
            && let Err(e) = settled(&settling)
        {
            // Retry what the settler could not do.
            self.settling = Some(self.settler.settle(Turn::default()));
            return Err(e);
        }
        self.settling = Some(self.settler.settle(Turn {
            places: std::mem::take(&mut self.places),
            end: self.end,
            journal: Some(self.files[self.turn].clone()),
        }));
        self.turn = 1 - self.turn;
        self.at = 0;
        self.length = place::length(&self.files[self.turn])?;
        self.nonce = nonce()?;
        Ok(())
    }

    /// Syncs everything in its final place, then empties the journal.
    pub fn close(self) -> io::Result<()> {
        settled(&self.settler.settle(Turn {
            places: self.places,
            end: self.end,
            journal: None,
        }))?;
        for file in &self.files {
            file.set_len(0)?;
            file.sync_all()?;
        }
        Ok(())
    }
}

fn digests(blobs: &[Blob]) -> impl Iterator<Item = Digest> {
    blobs.iter().map(|blob| blob.sha256)
}

/// Distinguishes the frames of one turn from those of earlier turns.
fn nonce() -> io::Result<[u8; NONCE]> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(|e| io::Error::other(e.to_string()))?;
    Ok(nonce)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_takes_blobs_up_to_half_of_the_longest_frame() {
        let state = tempfile::tempdir().unwrap();
        let layout = Layout::at(state.path());
        layout.make().unwrap();
        std::fs::write(layout.lock(), "").unwrap();
        let marker = Arc::new(Marker::open(&layout).unwrap());
        let mut journal = Journal::open(&layout, &marker).unwrap();
        let blob = Blob::of(&[7; 100]);
        let most = 8 * 1024 * 1024 - blob.bytes.len();
        assert!(journal.take(&blob, most).unwrap());
        assert!(!journal.take(&blob, most + 1).unwrap());
    }
}
