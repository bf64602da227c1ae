//! Kills everything a run started, wherever it is.
//!
//! The helper is a subreaper: a process that leaves its parent, its group or its session still
//! becomes the helper's child when its parent dies. So the tree below the helper is complete.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Uid;

use super::super::procfs::{self, Stat};
use super::super::raw::{self, Reaped, Side};

/// How long killing may take before the run is reported as not clean. Only processes stuck in the
/// kernel need this long.
const PATIENCE: Duration = Duration::from_secs(10);

/// Kills and reaps every process below this one and passes each reaped process to `reaped`. `uid`
/// is the run's own user, if it has one. Returns whether no process is left.
pub fn sweep(uid: Option<u32>, mut reaped: impl FnMut(Reaped)) -> bool {
    let until = Instant::now() + PATIENCE;
    let me = std::process::id() as i32;
    loop {
        if reap_all(&mut reaped) {
            return true;
        }
        match uid {
            // Called even if no living process was read: the kernel knows better than a listing.
            Some(uid) => kill_user(uid),
            None => {
                let alive = living(me);
                // Stops all processes before killing them. A dead process frees room for another
                // fork, a stopped one does not, so a fork bomb runs out of processes.
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
        // The kernel needs a moment to end a process, and does not announce it for processes that
        // are not yet our children.
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Reaps ended children. Returns whether no child is left, and so nothing below this process.
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
        // The pid may have been reused. The pidfd keeps its process, so that is compared first.
        let Ok(pidfd) = raw::pidfd_open(process.pid) else {
            continue;
        };
        if procfs::stat(process.pid).is_ok_and(|now| now.started == process.started) {
            let _: io::Result<()> = raw::pidfd_signal(pidfd.as_fd(), signal);
        }
    }
}

/// Runs kill(-1) as the run's own user: it reaches all processes of that user in one step that no
/// fork can escape. Only called in a child that has verifiably become that user.
fn kill_user(uid: u32) {
    match raw::fork() {
        Ok(Side::Parent(pid)) => {
            // kill(-1) spares the sender, so it ends by itself.
            let pid = nix::unistd::Pid::from_raw(pid);
            loop {
                match waitpid(pid, Some(WaitPidFlag::WUNTRACED)) {
                    // The child has the run's user by then, so the run may stop it. The next
                    // attempt may be faster.
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
