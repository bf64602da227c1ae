//! The journal: makes a batch durable with one sync, whatever the batch consists of.
//!
//! A batch's lines and its small contents go into one frame of one file, and the frame is synced. Then
//! the lines go to the segment without waiting for the disk, and the contents to their files without
//! waiting for the files ([`super::settler`]). Readers look for a content in both; what a crash takes,
//! [`super::put_back`] puts back. Two files take turns: while one is written, everything the other one
//! vouches for is synced in its own place, and then it is free. Its bytes are written over, not
//! appended, so that a sync needs no change of the file's size.

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
use super::settler::{Places, Settled, Settler, Turn, lasting, settled};
use crate::model::{Blob, Digest};

/// Bytes after which the files change turns.
const TURN: u64 = 8 * 1024 * 1024;
/// A batch that is longer goes to its own place at once.
const LONGEST: usize = 16 * 1024 * 1024;
/// No file of a journal is longer.
pub(super) const FILE_MAX: u64 = TURN + LONGEST as u64 + *STEP.end() + HEADER as u64;
/// The file grows in steps: few of them, and no large one for a log of a few records.
const STEP: std::ops::RangeInclusive<u64> = 64 * 1024..=1024 * 1024;
/// Room for the lines that name the contents.
const LINES: u64 = 128 * 1024;

/// The open journal.
#[derive(Debug)]
pub(super) struct Journal {
    files: [Arc<File>; 2],
    held: [Held; 2],
    /// Which of the files is written, from where on, and how far it reaches.
    turn: usize,
    at: u64,
    length: u64,
    nonce: [u8; NONCE],
    /// What this turn vouches for in its own place.
    places: Places,
    /// The last frame: its room is used again.
    frame: Vec<u8>,
    /// The end of what was made durable here.
    end: Option<Mark>,
    settler: Settler,
    /// Until everything that the other file vouches for is in its own place.
    settling: Option<Settled>,
}

impl Journal {
    /// Both files must be empty: what they hold is put back before.
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

    /// Takes a content for the next batch, beside so many bytes that it has already. `false`: it
    /// cannot, and the content is to be made durable as a file of its own.
    pub fn take(&mut self, blob: &Blob, beside: usize) -> io::Result<bool> {
        let bytes = beside + blob.bytes.len();
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

    /// Makes a batch durable: lines that go to `offset` of a segment, and contents that were taken.
    ///
    /// # Errors
    /// One that is [`error::ran_out`] has left no trace; the batch can be made durable elsewhere.
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
        // Behind the last frame there is no trace of an earlier turn.
        self.frame.resize(self.frame.len() + HEADER, 0);
        self.uncut()?;
        self.room_to(end + HEADER as u64)?;
        let file = &self.files[self.turn];
        file.write_all_at(&self.frame, self.at)?;
        file.sync_data().map_err(lasting)?;
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

    /// Bytes that were cut off would come back as zeros.
    fn uncut(&self) -> io::Result<()> {
        let found = place::length(&self.files[self.turn])?;
        place::uncut(&journal_name(self.turn), found, self.length)
    }

    /// Makes the file reach so far, by zeros.
    fn room_to(&mut self, end: u64) -> io::Result<()> {
        if self.length >= end {
            return Ok(());
        }
        self.uncut()?;
        let file = &self.files[self.turn];
        while self.length < end {
            let step = self.length.clamp(*STEP.start(), *STEP.end());
            if let Err(e) = file.write_all_at(&vec![0; step as usize], self.length) {
                // What it got takes room from what follows.
                file.set_len(self.length).map_err(lasting)?;
                return Err(e);
            }
            self.length += step;
        }
        Ok(())
    }

    /// Makes sure that the next start finds the journal where it looks for it.
    pub fn check(&self, place: &LogLocation) -> io::Result<()> {
        self.held.iter().enumerate().try_for_each(|(number, held)| {
            place.check_file(held, (number == self.turn).then_some(self.length))
        })
    }

    /// Makes contents that were taken durable as files of their own.
    pub fn settle_blobs(&self, blobs: &[Blob]) -> io::Result<()> {
        settled(&self.settler.settle(Turn::of(digests(blobs).collect())))
    }

    /// Where this turn has come to its end, the other file takes over; this one is free again when
    /// everything is in its own place.
    fn turned(&mut self) -> io::Result<()> {
        if self.at < TURN {
            return Ok(());
        }
        if let Some(settling) = self.settling.take()
            && let Err(e) = settled(&settling)
        {
            // What is owed is tried again.
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

    /// Everything goes to its own place, and the journal vouches for nothing any more.
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

/// Tells one turn's frames from what an earlier turn left behind them.
fn nonce() -> io::Result<[u8; NONCE]> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(|e| io::Error::other(e.to_string()))?;
    Ok(nonce)
}
