//! Keeps the index of a long log up to date while a dashboard writes, in a thread of its own.
//!
//! The writer never waits for it: it says only that it wrote, once in a while, and what was written is read from the log.
//! If the thread is behind, or ends, the index is older than the log, and whoever uses it next reads what is missing.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use super::index::{self, Index, IndexError};
use super::layout::Layout;
use super::log::Log;
use super::open::LONG;
use super::vouched::Vouched;

/// How often the index is brought up to date.
const EVERY: Duration = Duration::from_secs(5);
/// How long the end waits for the index.
const LAST: Duration = Duration::from_millis(500);

/// The thread.
#[derive(Debug)]
pub struct Feeder {
    wrote: SyncSender<()>,
    /// Dropped to end the thread.
    stop: Sender<()>,
    ended: Receiver<()>,
}

/// Says that the log was written. Never blocks.
#[derive(Clone, Debug)]
pub struct Fed(SyncSender<()>);

impl Fed {
    pub fn wrote(&self) {
        // If the thread has not taken the last word yet, it reads this record too.
        let _ = self.0.try_send(());
    }
}

impl Feeder {
    /// Starts the thread for the log of a state folder.
    ///
    /// # Errors
    /// When there is no thread to be had; the log does not need it.
    pub fn start(state_dir: &Path) -> io::Result<Self> {
        Self::start_with(state_dir, LONG, EVERY)
    }

    fn start_with(state_dir: &Path, long: u64, every: Duration) -> io::Result<Self> {
        let (wrote, written) = sync_channel(1);
        let (stop, stopped) = channel();
        let (done, ended) = channel();
        let log = Log {
            vouched: Vouched::Nothing,
            layout: Layout::at(state_dir),
        };
        thread::Builder::new()
            .name("audit index".to_owned())
            .spawn(move || {
                feed(&log, long, every, &written, &stopped);
                drop(done);
            })?;
        Ok(Self { wrote, stop, ended })
    }

    pub fn fed(&self) -> Fed {
        Fed(self.wrote.clone())
    }

    /// Call when the log is closed: brings the index up to date a last time, if that takes no longer than a moment.
    pub fn finish(self) {
        drop((self.wrote, self.stop));
        let _ = self.ended.recv_timeout(LAST);
    }
}

fn feed(log: &Log, long: u64, every: Duration, written: &Receiver<()>, stopped: &Receiver<()>) {
    let mut open: Option<Index> = None;
    // One word stays in the channel while the thread waits: further ones cost the writer no system call.
    while written.recv().is_ok() {
        let last = stopped.recv_timeout(every) == Err(RecvTimeoutError::Disconnected);
        if log.layout.segment_bytes().is_ok_and(|bytes| bytes >= long) {
            let followed = match open.take() {
                Some(index) => index.followed(),
                None => Index::kept(log),
            };
            match followed {
                Ok(index) => open = Some(index),
                Err(e) => {
                    tracing::warn!("the index was not brought up to date: {e}");
                    if !matches!(e, IndexError::Log(_)) {
                        let _ = index::forget(&log.layout);
                    }
                }
            }
        }
        if last {
            return;
        }
    }
}

#[cfg(test)]
#[path = "feeder_tests.rs"]
mod tests;
