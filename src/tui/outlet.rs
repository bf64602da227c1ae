//! Output to the terminal through a writer thread, so that a blocked terminal delays neither a
//! deadline nor the exit.
//!
//! A terminal blocks while its other end does not read: a hung connection, a stopped multiplexer.
//! write(2) then blocks until it reads again.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Retry interval for a terminal that accepts nothing and is in non-blocking mode.
const RETRY: Duration = Duration::from_millis(10);

/// The output in progress.
#[derive(Default)]
struct Way {
    /// Queued for the thread, not yet written.
    waiting: Vec<u8>,
    /// The thread holds bytes that the terminal may not have accepted.
    writing: bool,
    /// Why writing has failed for good.
    failed: Option<(io::ErrorKind, String)>,
}

#[derive(Default)]
struct Shared {
    way: Mutex<Way>,
    changed: Condvar,
}

impl Shared {
    fn way(&self) -> MutexGuard<'_, Way> {
        // Code under the lock cannot panic.
        self.way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Accepts bytes without waiting; [`Outlet::settle`] reports whether they were written.
pub struct Outlet {
    shared: Arc<Shared>,
    /// Written to the outlet, but not flushed to the thread.
    held: Vec<u8>,
}

impl Outlet {
    /// Starts the thread that writes to `out` for the rest of the process.
    pub fn open(mut out: impl Write + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        std::thread::Builder::new()
            .name("terminal".to_owned())
            .spawn(move || serve(&theirs, &mut out))?;
        Ok(Self {
            shared,
            held: Vec::new(),
        })
    }

    /// Waits at most `most` until the terminal has accepted everything; `false` on timeout.
    ///
    /// # Errors
    /// After a failed write; nothing more is written from then on.
    pub fn settle(&self, most: Duration) -> io::Result<bool> {
        let until = Instant::now() + most;
        let mut way = self.shared.way();
        loop {
            if let Some((kind, why)) = &way.failed {
                return Err(io::Error::new(*kind, why.clone()));
            }
            if way.waiting.is_empty() && !way.writing {
                return Ok(true);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            way = self
                .shared
                .changed
                .wait_timeout(way, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    /// Hands the written bytes to the thread. Does not wait.
    fn flush(&mut self) -> io::Result<()> {
        let mut way = self.shared.way();
        way.waiting.append(&mut self.held);
        self.shared.changed.notify_all();
        Ok(())
    }
}

impl Clone for Outlet {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            held: Vec::new(),
        }
    }
}

fn serve(shared: &Shared, out: &mut impl Write) {
    let mut way = shared.way();
    loop {
        if way.waiting.is_empty() {
            way = shared
                .changed
                .wait(way)
                .unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        let bytes = std::mem::take(&mut way.waiting);
        way.writing = true;
        drop(way);
        let written = write_all(out, &bytes);
        way = shared.way();
        way.writing = false;
        if let Err(e) = written {
            way.failed = Some((e.kind(), e.to_string()));
            way.waiting.clear();
        }
        shared.changed.notify_all();
        if way.failed.is_some() {
            return;
        }
    }
}

fn write_all(out: &mut impl Write, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match out.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => bytes = bytes.get(n..).unwrap_or_default(),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            // Another program that has the terminal open made it non-blocking.
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(RETRY),
            Err(e) => return Err(e),
        }
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};

    /// Takes one write for each permission.
    struct Slow(Receiver<()>, Sender<Vec<u8>>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.0.recv() {
                Ok(()) => {
                    self.1.send(bytes.to_vec()).unwrap();
                    Ok(bytes.len())
                }
                Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn bytes_go_in_without_waiting_and_come_out_in_order() {
        let (permit, permitted) = channel();
        let (took, taken) = channel();
        let mut outlet = Outlet::open(Slow(permitted, took)).unwrap();
        assert!(outlet.settle(Duration::ZERO).unwrap());
        for bytes in [b"one", b"two"] {
            outlet.write_all(bytes).unwrap();
            outlet.flush().unwrap();
        }
        assert!(!outlet.settle(Duration::from_millis(1)).unwrap());
        let mut all = Vec::new();
        while all.len() < 6 {
            permit.send(()).unwrap();
            all.extend(taken.recv().unwrap());
        }
        assert_eq!(all, b"onetwo");
        assert!(outlet.settle(Duration::from_secs(60)).unwrap());
    }

    #[test]
    fn a_failed_write_is_reported_from_then_on() {
        let (permit, permitted) = channel();
        let (took, _taken) = channel();
        let mut outlet = Outlet::open(Slow(permitted, took)).unwrap();
        drop(permit);
        outlet.write_all(b"x").unwrap();
        outlet.flush().unwrap();
        for _ in 0..2 {
            let error = outlet.settle(Duration::from_secs(60)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        }
    }
}
