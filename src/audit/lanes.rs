//! What waits for the writer, in two lanes: a person's decisions, and what became of them, overtake
//! what agents asked for.
//!
//! Each lane keeps its order. A batch is of one lane, so that a decision is never written behind
//! contents that a flood brought, and waits for one batch of them at most.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::model::{Blob, Lane, LogEvent, Ticket};

/// Records of one group commit.
const BATCH: usize = 512;
/// Bytes of contents after which a batch takes no further record.
const BATCH_BYTES: usize = 1024 * 1024;

/// After so long without work the writer looks whether its log is still where it was.
const QUIET: Duration = Duration::from_secs(2);

/// A record on its way.
pub(super) struct Entry {
    pub lane: Lane,
    pub ticket: Ticket,
    pub event: LogEvent,
    pub blobs: Vec<Blob>,
}

/// What the writer has to do next.
pub(super) enum Work {
    Commit(Vec<Entry>),
    /// Nothing came for a while.
    Quiet,
    /// Everything that was handed over before the close is written.
    Close,
}

/// The two lanes; every clone is the same.
#[derive(Clone, Default)]
pub(super) struct Lanes {
    shared: Arc<(Mutex<Waiting>, Condvar)>,
}

#[derive(Default)]
struct Waiting {
    person: VecDeque<Entry>,
    agents: VecDeque<Entry>,
    /// The writer has nothing to do, and nobody has called it yet.
    idle: bool,
    closing: bool,
    /// Nothing is taken in any more.
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
        // A call is a system call, also where nobody waits for it.
        if std::mem::take(&mut waiting.idle) {
            self.shared.1.notify_one();
        }
    }

    /// Lets the writer end once it has written what waits.
    pub fn close(&self) {
        self.waiting().closing = true;
        self.shared.1.notify_one();
    }

    /// The writer is down: what waits is dropped, and so is all that comes.
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

    /// No step that is taken under the lock can panic half-way.
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
