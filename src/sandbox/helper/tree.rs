//! Killing everything a run started, wherever it hid.
//!
//! The helper is a subreaper: what leaves its parent, its group or its session still becomes the
//! helper's child when its parent dies, so the tree below the helper is all there is.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Uid;

use super::super::procfs::{self, Stat};
use super::super::raw::{self, Reaped, Side};

/// How long killing may take before the run is reported as not clean. Processes stuck in the
/// kernel are all that can need it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Kills and reaps every process below this one. `uid` is the run's own user, where it has one.
/// Each reaped process is told to `reaped`. Returns whether none is left.
pub fn sweep(uid: Option<u32>, mut reaped: impl FnMut(Reaped)) -> bool {
    let until = Instant::now() + PATIENCE;
    let me = std::process::id() as i32;
    loop {
        if reap_all(&mut reaped) {
            return true;
        }
        match uid {
            // Also where none is seen to live: what the kernel says counts, not what was read.
            Some(uid) => kill_user(uid),
            None => {
                let alive = living(me);
                // Stopped first: one that dies frees a place for another to be forked into, one
                // that is stopped keeps it, so a fork bomb runs out of places.
                signal_all(&alive, Signal::SIGSTOP);
                signal_all(&alive, Signal::SIGKILL);
            }
        }
        if reap_all(&mut reaped) {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
        // Death takes the kernel a moment; nothing announces it for processes that are not yet
        // our children.
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Reaps what has ended. Whether no child is left: nothing below this process exists then.
fn reap_all(reaped: &mut impl FnMut(Reaped)) -> bool {
    loop {
        match raw::reap(raw::Wait::No) {
            Ok(Some(one)) => reaped(one),
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

fn living(root: i32) -> Vec<Stat> {
    procfs::descendants(root)
        .unwrap_or_default()
        .into_iter()
        .filter(|p| p.state != 'Z' && p.state != 'X')
        .collect()
}

fn signal_all(processes: &[Stat], signal: Signal) {
    for process in processes {
        // The number may mean another process by now; what the pidfd holds is compared first.
        let Ok(pidfd) = raw::pidfd_open(process.pid) else {
            continue;
        };
        if procfs::stat(process.pid).is_ok_and(|now| now.started == process.started) {
            let _: io::Result<()> = raw::pidfd_signal(pidfd.as_fd(), signal);
        }
    }
}

/// kill(-1) as the run's own user reaches all of its processes in one step that no fork slips
/// through. Only ever called in a child that has become that user and proved it.
fn kill_user(uid: u32) {
    match raw::fork() {
        Ok(Side::Parent(pid)) => {
            // Its own signal spares the sender; it ends by itself.
            let pid = nix::unistd::Pid::from_raw(pid);
            loop {
                match waitpid(pid, Some(WaitPidFlag::WUNTRACED)) {
                    // It has the run's user by then, so the run may stop it. The next one may be
                    // faster.
                    Ok(WaitStatus::Stopped(..)) => {
                        let _ = nix::sys::signal::kill(pid, Signal::SIGKILL);
                    }
                    Err(Errno::EINTR) => {}
                    _ => break,
                }
            }
        }
        Ok(Side::Child) => {
            let user = Uid::from_raw(uid);
            let changed = nix::unistd::setresuid(user, user, user).is_ok()
                && nix::unistd::getresuid().is_ok_and(|ids| {
                    [ids.real, ids.effective, ids.saved] == [user; 3] && !user.is_root()
                });
            if changed {
                let everyone = nix::unistd::Pid::from_raw(-1);
                let _ = nix::sys::signal::kill(everyone, Signal::SIGKILL);
            }
            raw::exit_now(0);
        }
        Err(_) => {}
    }
}
