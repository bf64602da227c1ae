//! Records that wait for the writer, in two lanes: a person's decisions and their outcomes overtake records
//! of agents' requests.
//!
//! Each lane keeps its order. A batch comes from one lane only, so that a decision waits for at most one batch
//! of agents' records, even during a flood.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::model::{Blob, Lane, LogEvent, Ticket};

/// Most records in one batch.
const BATCH: usize = 512;
/// A batch that has this many bytes of blobs takes no further record.
const BATCH_BYTES: usize = 1024 * 1024;

/// After this time without work the writer checks that its log is still in place.
const QUIET: Duration = Duration::from_secs(2);

/// A record that waits for the writer.
pub(super) struct Entry {
    pub lane: Lane,
    pub ticket: Ticket,
    pub event: LogEvent,
    pub blobs: Vec<Blob>,
}

/// What the writer has to do next.
pub(super) enum Work {
    Commit(Vec<Entry>),
    /// No record came for [`QUIET`].
    Quiet,
    /// Every record that was pushed before the close is written.
    Close,
}

/// The two lanes. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Lanes {
    shared: Arc<(Mutex<Waiting>, Condvar)>,
}

#[derive(Default)]
struct Waiting {
    person: VecDeque<Entry>,
    agents: VecDeque<Entry>,
    /// The writer waits and has not been notified yet.
    idle: bool,
    closing: bool,
    /// The writer is down; records are dropped.
    over: bool,
}

impl Lanes {
    pub fn push(&self, entry: Entry) {
        let mut waiting = self.waiting();
        if waiting.over || waiting.closing {
            return;
        }
        match entry.lane {
            Lane::Person => waiting.person.push_back(entry),
            Lane::Agents => waiting.agents.push_back(entry),
        }
        // Notifying costs a system call even if nobody waits.
        if std::mem::take(&mut waiting.idle) {
            self.shared.1.notify_one();
        }
    }

    /// Ends the writer after it has written the waiting records.
    pub fn close(&self) {
        self.waiting().closing = true;
        self.shared.1.notify_one();
    }

    /// The writer is down: drops the waiting records and all that follow.
    pub fn end(&self) {
        let mut waiting = self.waiting();
        waiting.over = true;
        waiting.person.clear();
        waiting.agents.clear();
    }

    /// Waits for work.
    pub fn next(&self) -> Work {
        let mut waiting = self.waiting();
        loop {
            let Waiting { person, agents, .. } = &mut *waiting;
            let lane = if person.is_empty() { agents } else { person };
            let batch = batch(lane);
            if !batch.is_empty() {
                return Work::Commit(batch);
            }
            if waiting.closing {
                return Work::Close;
            }
            waiting.idle = true;
            let woken = self.shared.1.wait_timeout(waiting, QUIET);
            let timeout;
            (waiting, timeout) = woken.unwrap_or_else(PoisonError::into_inner);
            if timeout.timed_out() && std::mem::take(&mut waiting.idle) && !waiting.closing {
                return Work::Quiet;
            }
        }
    }

    /// A poisoned lock is ignored: nothing done under it can panic halfway.
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn batch(lane: &mut VecDeque<Entry>) -> Vec<Entry> {
    let mut batch = Vec::new();
    let mut bytes = 0;
    while batch.len() < BATCH
        && bytes < BATCH_BYTES
        && let Some(entry) = lane.pop_front()
    {
        bytes += entry.blobs.iter().map(|b| b.bytes.len()).sum::<usize>();
        batch.push(entry);
    }
    batch
}
