//! Reads a long log with all processors: pieces of a segment are hashed and parsed, and the contents that their records
//! name are looked at, by threads. The walk takes the lines in the log's order, so that it finds the same faults in the same
//! words as one that reads alone.
//!
//! Memory is bounded: a few pieces are on the way at a time.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::contents::{self, Look};
use super::layout::{Layout, open_regular};
use super::line::{LINE_MAX, LineRole, Record, Sealed, VERSION};
use super::lines::{Ahead, Lined, Lines, Looked, sealed};

/// How much of a segment is one piece, unless a line is longer.
const PIECE: usize = 128 * 1024;
/// How many pieces a thread may be ahead.
const AHEAD: usize = 2;
/// More threads than this are never of use: the walk itself takes a part of the time.
const MOST: usize = 8;

/// Lines of a piece, with what was found out of them.
struct Piece {
    bytes: Vec<u8>,
    lines: Vec<Found>,
    looked: Looked,
}

struct Found {
    at: Range<usize>,
    sealed: Result<Sealed, &'static str>,
    record: Option<Result<Box<Record>, String>>,
}

struct Job {
    bytes: Vec<u8>,
    done: Sender<Piece>,
}

/// The lines of a log, read ahead.
pub(super) struct Parallel {
    jobs: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
    piece: usize,
    segment: Option<File>,
    /// The beginning of a line whose end was not read yet.
    rest: Vec<u8>,
    on_the_way: VecDeque<Receiver<Piece>>,
    now: Piece,
    next: usize,
}

impl Parallel {
    /// Looks at contents as [`Contents`](contents::Contents) does.
    ///
    /// # Errors
    /// When there are no threads to be had.
    pub fn of(layout: &Layout, look: Look) -> io::Result<Self> {
        Self::with_pieces(layout, look, PIECE)
    }

    pub fn with_pieces(layout: &Layout, look: Look, piece: usize) -> io::Result<Self> {
        let (jobs, work) = channel::<Job>();
        let work = Arc::new(Mutex::new(work));
        let count = thread::available_parallelism().map_or(1, |n| n.get().min(MOST));
        let thread = |_| {
            let (work, layout) = (work.clone(), layout.clone());
            let builder = thread::Builder::new().name("audit reader".to_owned());
            builder.spawn(move || {
                loop {
                    let job = work.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(job) = job else { return };
                    // Whoever asked may have found a fault before this piece.
                    let _ = job.done.send(Piece::of(&layout, look, job.bytes));
                }
            })
        };
        Ok(Self {
            threads: (0..count).map(thread).collect::<io::Result<_>>()?,
            jobs: Some(jobs),
            piece,
            segment: None,
            rest: Vec::new(),
            on_the_way: VecDeque::new(),
            now: Piece::empty(),
            next: 0,
        })
    }

    /// Reads on, as far as there is room.
    fn hand_out(&mut self) -> io::Result<()> {
        while self.segment.is_some() && self.on_the_way.len() < AHEAD * self.threads.len().max(1) {
            let bytes = self.read()?;
            if bytes.is_empty() {
                return Ok(());
            }
            let (done, piece) = channel();
            self.on_the_way.push_back(piece);
            let ended = || io::Error::other("the threads that read the log ended");
            let jobs = self.jobs.as_ref().ok_or_else(ended)?;
            jobs.send(Job { bytes, done }).map_err(|_| ended())?;
        }
        Ok(())
    }

    /// Whole lines; only the last ones of a segment, and those that are longer than any record, lack their end.
    fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = std::mem::take(&mut self.rest);
        loop {
            let Some(segment) = &mut self.segment else {
                return Ok(bytes);
            };
            let before = bytes.len();
            segment.take(self.piece as u64).read_to_end(&mut bytes)?;
            if bytes.len() == before {
                self.segment = None;
                return Ok(bytes);
            }
            if let Some(end) = bytes[before..].iter().rposition(|b| *b == b'\n') {
                self.rest = bytes.split_off(before + end + 1);
                return Ok(bytes);
            }
            if bytes.len() > LINE_MAX {
                // The walk ends there.
                self.segment = None;
                return Ok(bytes);
            }
        }
    }
}

impl Lines for Parallel {
    fn begin(&mut self, path: &Path, offset: u64) -> io::Result<()> {
        let mut segment = open_regular(path)?;
        segment.seek(SeekFrom::Start(offset))?;
        self.segment = Some(segment);
        self.rest.clear();
        self.on_the_way.clear();
        self.now = Piece::empty();
        self.next = 0;
        Ok(())
    }

    fn next(&mut self) -> io::Result<Option<Lined<'_>>> {
        while self.next == self.now.lines.len() {
            self.hand_out()?;
            let Some(piece) = self.on_the_way.pop_front() else {
                return Ok(None);
            };
            let failed = |_| io::Error::other("a thread that reads the log failed");
            self.now = piece.recv().map_err(failed)?;
            self.next = 0;
            self.hand_out()?;
        }
        let found = &mut self.now.lines[self.next];
        self.next += 1;
        let ahead = Ahead {
            record: found.record.take().into(),
            looked: Some(&self.now.looked),
        };
        Ok(Some(Lined {
            bytes: &self.now.bytes[found.at.clone()],
            sealed: found.sealed,
            ahead,
        }))
    }
}

impl Drop for Parallel {
    fn drop(&mut self) {
        self.on_the_way.clear();
        self.jobs = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Piece {
    fn empty() -> Self {
        Self {
            bytes: Vec::new(),
            lines: Vec::new(),
            looked: Looked::new(),
        }
    }

    fn of(layout: &Layout, look: Look, bytes: Vec<u8>) -> Self {
        let mut lines = Vec::new();
        let mut looked = Looked::new();
        let mut begin = 0;
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            // A line that is too long is cut where it is too long.
            let line = &line[..line.len().min(LINE_MAX + 1)];
            let sealed = sealed(line);
            let is_record =
                |s: &Sealed| s.v <= VERSION && matches!(s.place, LineRole::Record { .. });
            let record = match sealed.as_ref().is_ok_and(is_record) {
                true => Some(Record::parse(&line[..line.len() - 1]).map(Box::new)),
                false => None,
            };
            if let Some(Ok(record)) = &record {
                for named in contents::named_by(&record.event) {
                    let look = look.at(&record.event);
                    looked
                        .entry(named.digest)
                        .or_insert_with(|| contents::check(layout, &named, look));
                }
            }
            lines.push(Found {
                at: begin..begin + line.len(),
                sealed,
                record,
            });
            begin += line.len();
        }
        Self {
            bytes,
            lines,
            looked,
        }
    }
}

#[cfg(test)]
#[path = "ahead_tests.rs"]
mod tests;
