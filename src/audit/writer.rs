//! The thread that writes the log.
//!
//! It takes the records that wait (group commit), a person's lane first, replaces secrets in them, stores blobs before the lines that
//! name them, appends the lines, syncs everything at once, and only then reports each ticket. If descriptors
//! or space run out for a record's blobs, that record is left out and only its ticket fails. After any other
//! error nothing more is written: a failed sync may have dropped pages, and a second one would succeed without
//! them.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::disk::Disk;
use super::error;
use super::lanes::{Entry, Lanes, Work};
use super::line::{self, LINE_MAX};
use super::lock::Lock;
use crate::clock::Now;
use crate::model::{Blob, Digest, Lane, LogEvent, Ticket};
use crate::secrets::{Kept, Redacted, Redactor, Salts, Secrets};

/// The end of the chain.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// Sequence number of the last record.
    pub seq: u64,
    /// Hash of the last line.
    pub hash: Digest,
    pub boot_id: String,
}

/// A log that is open for writing, before its thread is started.
pub struct Writer {
    disk: Box<dyn Disk>,
    chain: Chain,
    /// Number and length of the current segment.
    segment: u64,
    bytes: u64,
    segment_bytes: u64,
    redactor: Redactor,
    lock: Option<Lock>,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("chain", &self.chain)
            .field("segment", &self.segment)
            .finish_non_exhaustive()
    }
}

/// What the writer reports, from its own thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriterEvent {
    /// The record of this ticket is on the disk, with its blobs and everything before it in the chain.
    Durable {
        ticket: Ticket,
        lane: Lane,
        seq: u64,
    },
    /// The blobs of this ticket's record could not be stored, so the record is not in the log. The log
    /// continues.
    Unrecorded {
        ticket: Ticket,
        lane: Lane,
        reason: String,
    },
    /// Nothing more will be written. Tickets not reported so far never will be.
    Down { reason: String },
}

/// The records whose blobs are durable, and reports of the others.
type Stored = (Vec<Ready>, Vec<WriterEvent>);

/// A record without secrets that waits for its line.
struct Ready {
    lane: Lane,
    ticket: Ticket,
    record: Redacted,
}

fn unrecorded(entry: &Ready, error: &std::io::Error) -> WriterEvent {
    WriterEvent::Unrecorded {
        ticket: entry.ticket,
        lane: entry.lane,
        reason: error::reason("the blobs that the record names cannot be stored", error),
    }
}

/// Passes records to the writer.
#[derive(Clone)]
pub struct WriterHandle {
    lanes: Lanes,
    thread: Arc<Mutex<Option<JoinHandle<()>>>>,
    /// Held until the handle is closed, even after the log went down, so that nobody else can write.
    lock: Arc<Mutex<Option<Arc<Lock>>>>,
}

impl fmt::Debug for WriterHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriterHandle").finish_non_exhaustive()
    }
}

impl WriterHandle {
    /// Submits a record in the agents' lane; see [`WriterHandle::submit_in`].
    pub fn submit(&self, ticket: Ticket, event: LogEvent, blobs: Vec<Blob>) {
        self.submit_in(Lane::Agents, ticket, event, blobs);
    }

    /// Submits a record without blocking. The answer is [`WriterEvent::Durable`], in the order of the calls for
    /// one lane, or [`WriterEvent::Unrecorded`]. After [`WriterEvent::Down`] records are dropped without an
    /// answer.
    pub fn submit_in(&self, lane: Lane, ticket: Ticket, event: LogEvent, blobs: Vec<Blob>) {
        self.lanes.push(Entry {
            lane,
            ticket,
            event,
            blobs,
        });
    }

    /// Writes nothing more, as after an error: the log was found damaged.
    pub fn down(&self) {
        self.lanes.end();
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = &*lock {
            lock.down();
        }
    }

    /// Writes the submitted records, ends the thread and unlocks the folder.
    pub fn close(self) {
        self.lanes.close();
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
        *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Writer {
    pub(super) fn new(
        disk: Box<dyn Disk>,
        chain: Chain,
        segment: u64,
        bytes: u64,
        segment_bytes: u64,
        lock: Option<Lock>,
    ) -> Self {
        Self {
            disk,
            chain,
            segment,
            bytes,
            segment_bytes,
            redactor: Redactor::new(Secrets::here([])),
            lock,
        }
    }

    /// Looks for these secrets from now on, and for no others. What is returned tells where the log has contents in
    /// which some were replaced.
    pub fn redacts(&mut self, secrets: Secrets) -> Kept {
        self.redactor.looks_for(secrets);
        self.redactor.kept()
    }

    /// Where the salts of code with secrets are kept.
    pub(super) fn salts(&mut self, salts: Salts) {
        self.redactor.salts(salts);
    }

    /// Sequence number of the last record, which is durable.
    pub(super) fn durable(&self) -> u64 {
        self.chain.seq
    }

    /// Makes a record durable before the thread is started.
    pub(super) fn write_first(&mut self, event: LogEvent) -> Result<(), String> {
        self.write_together(vec![event])
    }

    /// Makes records durable with one sync before the thread is started.
    pub(super) fn write_together(&mut self, events: Vec<LogEvent>) -> Result<(), String> {
        let entry = |event| Entry {
            lane: Lane::Person,
            ticket: Ticket::Unawaited,
            event,
            blobs: Vec::new(),
        };
        self.commit(events.into_iter().map(entry).collect())?;
        Ok(())
    }

    /// Starts the thread. `on` is called from it and must not block for long.
    pub fn start(mut self, on: Box<dyn Fn(WriterEvent) + Send>) -> WriterHandle {
        let lanes = Lanes::default();
        let lock = self.lock.take().map(Arc::new);
        let held = lock.clone();
        let waiting = lanes.clone();
        // Shared only so that it can still be called here if the thread cannot be started.
        let on = Arc::new(Mutex::new(on));
        let report = on.clone();
        let thread = std::thread::Builder::new()
            .name("audit".to_owned())
            .spawn(move || {
                let on = report.lock().unwrap_or_else(PoisonError::into_inner);
                let say = |event| {
                    if let (WriterEvent::Down { .. }, Some(lock)) = (&event, &held) {
                        lock.down();
                    }
                    on(event);
                };
                self.serve(&waiting, &say);
                drop(held);
            });
        let thread = match thread {
            Ok(thread) => Some(thread),
            Err(e) => {
                if let Some(lock) = &lock {
                    lock.down();
                }
                let on = on.lock().unwrap_or_else(PoisonError::into_inner);
                on(WriterEvent::Down {
                    reason: format!("the log's thread cannot be started: {e}"),
                });
                None
            }
        };
        WriterHandle {
            lanes,
            thread: Arc::new(Mutex::new(thread)),
            lock: Arc::new(Mutex::new(lock)),
        }
    }

    fn serve(mut self, waiting: &Lanes, on: &dyn Fn(WriterEvent)) {
        loop {
            let work = match waiting.next() {
                Work::Commit(batch) => Some(batch),
                Work::Quiet => None,
                Work::Close => return,
            };
            let work = || match work {
                Some(batch) => self.commit(batch),
                None => self.look().map(|()| Vec::new()),
            };
            let done = catch_unwind(AssertUnwindSafe(work))
                .unwrap_or_else(|_| Err("the log's writer failed".to_owned()));
            match done {
                Ok(events) => events.into_iter().for_each(on),
                Err(reason) => {
                    waiting.end();
                    on(WriterEvent::Down { reason });
                    return;
                }
            }
        }
    }

    /// Checks between records that readers still find the log, so that its removal is reported without
    /// waiting for the next record.
    fn look(&mut self) -> Result<(), String> {
        self.disk
            .look()
            .map_err(|e| error::reason("checking the log's files", &e))
    }

    /// Makes a batch durable and returns a report for each record. After an error the writer must not be used
    /// again.
    fn commit(&mut self, batch: Vec<Entry>) -> Result<Vec<WriterEvent>, String> {
        let failed = |what: &'static str| move |e: std::io::Error| error::reason(what, &e);
        let (batch, mut events) = self.keep_blobs(batch)?;
        if batch.is_empty() {
            return Ok(events);
        }
        if self.bytes >= self.segment_bytes {
            self.rotate()?;
        }
        let mut lines = Vec::new();
        let together = (batch.len() > 1).then_some(self.chain.seq + 1);
        for entry in batch {
            let (line, hash) = line::record(
                self.chain.seq + 1,
                together,
                &self.chain.boot_id,
                Now::read(),
                &entry.record,
                &self.chain.hash,
            )
            .map_err(|e| format!("a record cannot be written as JSON: {e}"))?;
            if line.len() > LINE_MAX {
                return Err(format!(
                    "a record of {} bytes; the longest allowed is {LINE_MAX}",
                    line.len()
                ));
            }
            lines.extend_from_slice(&line);
            self.chain.seq += 1;
            self.chain.hash = hash;
            events.push(WriterEvent::Durable {
                ticket: entry.ticket,
                lane: entry.lane,
                seq: self.chain.seq,
            });
        }
        self.disk
            .append(&lines)
            .map_err(failed("writing the log"))?;
        self.disk.sync().map_err(failed("syncing the log"))?;
        self.bytes += lines.len() as u64;
        Ok(events)
    }

    /// Stores the blobs of a batch. Records whose blobs cannot be stored are left out and reported.
    fn keep_blobs(&mut self, batch: Vec<Entry>) -> Result<Stored, String> {
        let (mut kept, mut left_out) = (Vec::new(), Vec::new());
        let mut blobs = false;
        for Entry {
            lane,
            ticket,
            event,
            blobs: contents,
        } in batch
        {
            let entry = Ready {
                lane,
                ticket,
                record: self.redactor.redact(event, contents),
            };
            match entry
                .record
                .blobs()
                .iter()
                .try_for_each(|b| self.disk.put(b))
            {
                Err(e) if error::ran_out(&e) => {
                    self.forget(&entry);
                    left_out.push(unrecorded(&entry, &e));
                }
                Err(e) => return Err(error::reason("writing a blob", &e)),
                Ok(()) => {
                    blobs |= !entry.record.blobs().is_empty();
                    kept.push(entry);
                }
            }
        }
        match blobs.then(|| self.disk.sync_blobs()) {
            None | Some(Ok(())) => {}
            Some(Err(e)) if error::ran_out(&e) => {
                let without: Vec<_>;
                (without, kept) = kept
                    .into_iter()
                    .partition(|entry| !entry.record.blobs().is_empty());
                without.iter().for_each(|entry| self.forget(entry));
                left_out.extend(without.iter().map(|entry| unrecorded(entry, &e)));
            }
            Some(Err(e)) => return Err(error::reason("syncing blobs", &e)),
        }
        Ok((kept, left_out))
    }

    /// A proposal that was not recorded has no other record.
    fn forget(&mut self, left_out: &Ready) {
        if let LogEvent::Proposed(p) = left_out.record.event() {
            self.redactor.forget(p.id);
        }
    }

    /// Begins the next segment. If descriptors or space run out, the current one continues.
    fn rotate(&mut self) -> Result<(), String> {
        let number = self.segment + 1;
        let (header, hash) =
            line::header(number, self.chain.seq + 1, Now::read(), &self.chain.hash)
                .map_err(|e| format!("a header cannot be written as JSON: {e}"))?;
        match self.disk.rotate(number, &header) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(e) => return Err(error::reason(&format!("beginning segment {number}"), &e)),
        }
        self.segment = number;
        self.bytes = header.len() as u64;
        self.chain.hash = hash;
        Ok(())
    }
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "crash_tests.rs"]
mod crash;
