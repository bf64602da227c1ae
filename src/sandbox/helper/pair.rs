//! Tier `process`: the helper in two, of which each ends the run when the other is killed.
//!
//! Without a pid namespace nothing dies with its supervisor but its own child: what that has forked
//! lives on. So the process that the broker started stays behind as the reaper of the one that
//! supervises, takes over what that leaves, and ends it. When the first is killed, the second sees
//! it by the end of a pipe. Both at once can only be killed by root, or by a process of the same
//! user: such a run may outlive them where no control group can be made.

use std::os::fd::OwnedFd;

use nix::fcntl::OFlag;
use nix::libc;
use nix::sys::prctl;
use nix::unistd::pipe2;

use super::super::raw::{self, Side, Wait};
use super::super::scratch;
use super::{Attempt, Prepared, Refusal, Step, tree};

/// Which of the two this process is.
pub enum Half {
    /// Supervises the run. The descriptor ends when the other half does.
    Works(OwnedFd),
    /// Only waits for the half that works.
    Watches(Watched),
}

/// The half that works, from the other's side.
pub struct Watched {
    pid: i32,
    /// Only this half has it open.
    _alive: OwnedFd,
}

/// Forks. What was made ready belongs to both.
pub fn divide() -> Result<Half, Refusal> {
    let (gone, alive) = pipe2(OFlag::O_CLOEXEC).step(Step::MakePipe)?;
    match raw::fork().step(Step::Fork)? {
        Side::Parent(pid) => Ok(Half::Watches(Watched { pid, _alive: alive })),
        Side::Child => {
            drop(alive);
            // Not inherited.
            prctl::set_child_subreaper(true).step(Step::BecomeReaper)?;
            Ok(Half::Works(gone))
        }
    }
}

impl Watched {
    /// Stays for as long as the other half, and ends and removes what that leaves when it is
    /// killed. The broker's socket stays open until then: its end says that nothing is left.
    pub fn outlive(self, prepared: Prepared, held: &scratch::Held) -> Result<(), Refusal> {
        let Prepared {
            identity,
            cgroup,
            view,
            payload,
        } = prepared;
        // Its ends of the pipes: what was printed is at its end when the other half says so.
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
