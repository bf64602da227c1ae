//! The handle on a run: release it, kill it, from any thread.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::eventfd::{EfdFlags, EventFd};

/// One run's two switches. Neither can be taken back.
#[derive(Debug)]
pub struct Switch {
    /// Wakes the run's thread; absent only when the system had no descriptor left, and then the
    /// run never starts.
    wake: Option<EventFd>,
    release: AtomicBool,
    kill: AtomicBool,
}

impl Switch {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            wake: EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK).ok(),
            release: AtomicBool::new(false),
            kill: AtomicBool::new(false),
        })
    }

    /// What becomes readable when a switch was thrown.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.wake.as_ref().map(AsFd::as_fd)
    }

    pub fn quiet(&self) {
        if let Some(wake) = &self.wake {
            let _ = wake.read();
        }
    }

    pub fn released(&self) -> bool {
        self.release.load(Ordering::SeqCst)
    }

    pub fn killed(&self) -> bool {
        self.kill.load(Ordering::SeqCst)
    }

    pub fn throw_kill(&self) {
        self.throw(&self.kill);
    }

    fn throw(&self, switch: &AtomicBool) {
        switch.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Has the run's thread look at what changed.
    pub fn wake(&self) {
        if let Some(wake) = &self.wake {
            // Full only after 2^64 − 2 calls; then it is readable all the more.
            let _ = wake.write(1);
        }
    }
}

/// Reads on until the run is killed: what is given to a run can take long to read.
pub struct Until<'a, R> {
    pub inner: R,
    pub switch: &'a Switch,
}

impl<R: Read> Read for Until<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.switch.killed() {
            return Err(stopped());
        }
        self.inner.read(buffer)
    }
}

/// What a preparation ends with whose run was killed. Not `Interrupted`: readers try again then.
pub(super) fn stopped() -> io::Error {
    io::Error::other("the run was stopped")
}

/// Holds a run. Dropping it kills what still runs.
#[derive(Debug)]
pub struct Control {
    switch: Arc<Switch>,
}

impl Control {
    pub(super) fn new(switch: Arc<Switch>) -> Self {
        Self { switch }
    }

    /// Lets the held child read its snippet. Before it is ready this is remembered.
    pub fn release(&self) {
        self.switch.throw(&self.switch.release);
    }

    /// Ends the run at whatever stage it is. May be called any number of times.
    pub fn kill(&self) {
        self.switch.throw_kill();
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.kill();
    }
}
