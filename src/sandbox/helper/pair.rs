//! Tier `process`: splits the helper into two processes; each ends the run if the other is killed.
//!
//! Without a pid namespace only the supervisor's direct child dies with it; the child's forks live
//! on. So the process that the broker started stays as the reaper of the supervising one: it
//! inherits what that leaves, and kills it. If the reaper is killed, the supervisor sees the end of
//! a pipe. Only root or a process of the same user can kill both at once; where no control group
//! can be made, such a run may outlive them.

use std::os::fd::OwnedFd;

use nix::fcntl::OFlag;
use nix::libc;
use nix::sys::prctl;
use nix::unistd::pipe2;

use super::super::raw::{self, Side, Wait};
use super::super::scratch;
use super::{Attempt, Prepared, Refusal, Step, tree};

/// Which half this process is.
pub enum Half {
    /// Supervises the run. The descriptor reaches its end when the other half ends.
    Works(OwnedFd),
    /// Only waits for the supervising half.
    Watches(Watched),
}

/// The supervising half as the waiting half sees it.
pub struct Watched {
    pid: i32,
    /// Only the waiting half holds it open.
    _alive: OwnedFd,
}

/// Forks. Both halves share what was prepared.
pub fn divide() -> Result<Half, Refusal> {
    let (gone, alive) = pipe2(OFlag::O_CLOEXEC).step(Step::MakePipe)?;
    match raw::fork().step(Step::Fork)? {
        Side::Parent(pid) => Ok(Half::Watches(Watched { pid, _alive: alive })),
        Side::Child => {
            drop(alive);
            // Children do not inherit this setting.
            prctl::set_child_subreaper(true).step(Step::BecomeReaper)?;
            Ok(Half::Works(gone))
        }
    }
}

impl Watched {
    /// Waits for the other half, and kills and removes what that leaves if it is killed. The
    /// broker's socket stays open until then: its end tells the broker that nothing is left.
    pub fn outlive(self, prepared: Prepared, held: &scratch::Held) -> Result<(), Refusal> {
        let Prepared {
            identity,
            cgroup,
            view,
            payload,
        } = prepared;
        // Closes this half's ends of the payload's pipes, so that the broker sees the end of the
        // output as soon as the other half reports the end.
        drop(payload);
        if !self.was_killed() {
            return Ok(());
        }
        tree::sweep(identity.map(|identity| identity.uid), |_| {});
        drop(cgroup);
        view.dissolve();
        held.remove().step(Step::RemoveFolder)
    }

    fn was_killed(&self) -> bool {
        loop {
            match raw::reap(Wait::Block) {
                Ok(Some(one)) if one.pid == self.pid => return libc::WIFSIGNALED(one.status),
                Ok(_) => {}
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return true,
            }
        }
    }
}
