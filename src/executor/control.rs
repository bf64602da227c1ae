//! The handle on a run: releases or kills it from any thread.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::eventfd::{EfdFlags, EventFd};

/// The two switches of one run. Neither can be reset.
#[derive(Debug)]
pub struct Switch {
    /// Wakes the run's thread. `None` only if the system had no descriptor left; then the run never
    /// starts.
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

    /// Becomes readable when a switch is thrown.
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

    /// Makes the run's thread check what changed.
    pub fn wake(&self) {
        if let Some(wake) = &self.wake {
            // The counter is full only after 2^64 − 2 calls, and is readable then anyway.
            let _ = wake.write(1);
        }
    }
}

/// A reader that stops when the run is killed: the inputs of a run can take long to read.
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

/// The error of a preparation whose run was killed. Its kind is not `Interrupted`, because readers
/// retry on that.
pub(super) fn stopped() -> io::Error {
    io::Error::other("the run was stopped")
}

/// Holds a run. Dropping it kills the run.
#[derive(Debug)]
pub struct Control {
    switch: Arc<Switch>,
}

impl Control {
    pub(super) fn new(switch: Arc<Switch>) -> Self {
        Self { switch }
    }

    /// Lets the held child read its snippet. Takes effect later if the child is not ready yet.
    pub fn release(&self) {
        self.switch.throw(&self.switch.release);
    }

    /// Ends the run at any stage. May be called repeatedly.
    pub fn kill(&self) {
        self.switch.throw_kill();
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.kill();
    }
}
