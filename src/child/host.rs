//! The hosts, which look after a child.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::sandbox::cgroup::Owner;
use crate::sandbox::events::Events;
use crate::sandbox::{raw, scratch};

use super::leftovers;

/// How long a helper may take to kill and clean up before it is killed itself.
pub(super) const HELPER_MAX: Duration = Duration::from_secs(20);

/// Looks after a child, and ends it when it is dropped.
pub trait Host: Send {
    /// The helper's process number.
    fn helper(&self) -> i32;

    /// Number of processes between the helper and the payload in the process tree.
    fn between(&self) -> usize;

    /// The kind of start, for the local log: `cold` or `warm`.
    fn start(&self) -> &'static str;

    /// The child's folder, if this host made one for this child alone.
    fn folder(&self) -> Option<&PathBuf>;
}

/// The helper of a cold start, which serves only this child.
pub struct Helper {
    process: Option<Child>,
    number: i32,
    /// Closing it ends the child; so does the end of this process.
    lifeline: Option<OwnedFd>,
    scratch: PathBuf,
}

impl Helper {
    pub(super) fn new(process: Child, lifeline: OwnedFd, scratch: PathBuf) -> Self {
        Self {
            number: process.id() as i32,
            process: Some(process),
            lifeline: Some(lifeline),
            scratch,
        }
    }

    pub(crate) const fn number(&self) -> i32 {
        self.number
    }

    #[cfg(test)]
    pub(crate) const fn scratch(&self) -> &PathBuf {
        &self.scratch
    }
}

impl std::fmt::Debug for Helper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Helper")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl Host for Helper {
    fn helper(&self) -> i32 {
        self.number
    }

    fn between(&self) -> usize {
        // Pid 1 of the jail, or in tier `process` the other half of the helper.
        1
    }

    fn start(&self) -> &'static str {
        "cold"
    }

    fn folder(&self) -> Option<&PathBuf> {
        Some(&self.scratch)
    }
}

impl Drop for Helper {
    /// Leaves nothing of the child. The lifeline is closed first, which ends the helper.
    fn drop(&mut self) {
        self.lifeline.take();
        if let Some(process) = self.process.take() {
            dismiss(process);
        }
        // The helper has removed the folder, unless it was killed.
        if let Err(e) = scratch::Held::open(&self.scratch).and_then(|held| held.remove()) {
            tracing::error!("a run's folder could not be removed: {e}");
        }
    }
}

/// Waits for a helper whose lifeline has ended, and reaps it.
fn dismiss(mut helper: Child) {
    // Until it is reaped, no other process can get its pid.
    let owner = Owner::of(helper.id() as i32);
    let until = Instant::now() + HELPER_MAX;
    let gone = raw::pidfd_open(helper.id() as i32).is_ok_and(|pidfd| {
        while Instant::now() < until {
            match Events::new().on((), pidfd.as_fd()).wait(Some(until)) {
                Ok(happened) if happened.is_empty() => {}
                Ok(_) => return true,
                Err(_) => return false,
            }
        }
        false
    });
    if !gone {
        tracing::error!("the sandbox helper had to be killed");
        let _ = helper.kill();
    }
    let well = helper.wait().is_ok_and(|status| status.success());
    if let (false, Ok(owner)) = (well, owner) {
        leftovers::remove_of(owner);
    }
}
