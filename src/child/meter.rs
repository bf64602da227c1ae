//! Measures the processes of a released child from outside: from `/proc`, never from the child.

use std::io;

use crate::model::Usage;
use crate::sandbox::procfs::{self, Stat, Status};

/// The processes of one child.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    /// The payload's parent, which the child's orphans get as their parent too.
    root: Stat,
    /// Resident memory of the payload in kibibytes before its release.
    held_kib: u64,
}

impl Meter {
    /// `pid`: a held payload.
    pub(super) fn of(pid: i32, held_kib: u64) -> io::Result<Self> {
        let root = procfs::stat(procfs::stat(pid)?.parent)?;
        Ok(Self { root, held_kib })
    }

    /// The current use; `None` if the child is gone.
    pub fn read(&self) -> Option<Usage> {
        let same = |now: Stat| now.started == self.root.started;
        let is_there = || procfs::stat(self.root.pid).is_ok_and(same);
        if !is_there() {
            return None;
        }
        let mut usage = Usage::default();
        for found in procfs::descendants(self.root.pid).ok()? {
            let Ok(status) = Status::read(found.pid) else {
                continue;
            };
            usage.processes += 1;
            let kib = status.resident_kib().saturating_sub(self.held_kib);
            usage.memory_kib = usage.memory_kib.max(kib);
            usage.cpu_ms = usage.cpu_ms.max(found.cpu_ms());
        }
        usage.peak_kib = usage.memory_kib;
        // Another process may have got the number while this one read.
        is_there().then_some(usage)
    }
}
