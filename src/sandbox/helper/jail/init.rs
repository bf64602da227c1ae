//! Pid 1 of the jail. It reaps processes, reports how the payload ended, and by its own end kills
//! everything in its pid namespace.
//!
//! It gives up every capability and all descriptors but one, so that a payload that takes it over
//! gains nothing.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::time::Duration;

use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::prctl;

use super::super::{Attempt, Refusal, Step, identity};
use crate::sandbox::protocol::Lost;
use crate::sandbox::raw::{self, Reaped};

/// Number of the only descriptor it keeps.
const EXIT: i32 = 3;

/// Size of its report: status word, processor time in microseconds, peak in kibibytes, and how many
/// other processes the limits of processor time and of file size ended.
const WORD: usize = 4 + 8 + 8 + 4 + 4;

/// Waits until the payload has ended, reports how, and never returns. `cpu_s` is the limit of
/// processor time of each process in seconds.
pub fn reap_for(payload: i32, cpu_s: u64, exit: OwnedFd) -> ! {
    if let Some((ended, lost)) = close_all_but(&exit).and_then(|()| wait(payload, cpu_s)) {
        let cpu = u64::try_from(ended.cpu.as_micros()).unwrap_or(u64::MAX);
        let mut text = [0u8; WORD];
        text[..4].copy_from_slice(&ended.status.to_le_bytes());
        text[4..12].copy_from_slice(&cpu.to_le_bytes());
        text[12..20].copy_from_slice(&ended.peak_kib.to_le_bytes());
        text[20..24].copy_from_slice(&lost.cpu.to_le_bytes());
        text[24..].copy_from_slice(&lost.files.to_le_bytes());
        let _ = File::from(raw::adopt(EXIT)).write_all(&text);
    }
    raw::exit_now(0)
}

/// Reaps processes until it is killed. The jail outlives a zygote as long as runs of that zygote go
/// on.
pub fn reap_for_good(exit: OwnedFd) -> ! {
    if close_all_but(&exit).is_some() {
        loop {
            match raw::reap(raw::Wait::Block) {
                Ok(_) => {}
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                // No process is left in the jail.
                Err(_) => break,
            }
        }
    }
    raw::exit_now(0)
}

/// Gives up its capabilities in the jail. Call while errors can still be reported.
pub fn give_up() -> Result<(), Refusal> {
    prctl::set_dumpable(false).step(Step::KeepInitUnread)?;
    prctl::set_no_new_privs().step(Step::GiveUpPrivileges)?;
    identity::drop_all_capabilities()
}

/// Closes every descriptor except `exit`.
fn close_all_but(exit: &OwnedFd) -> Option<()> {
    let null = File::open("/dev/null").ok()?.into_raw_fd();
    // Moves the sources above the target numbers first, since a source may sit on another's target.
    // No object owns these descriptors, so none is closed twice.
    let above = |fd: BorrowedFd<'_>| fcntl(fd, FcntlArg::F_DUPFD_CLOEXEC(10)).ok();
    let exit = above(exit.as_fd())?;
    let null = above(raw::borrow(null))?;
    for target in 0..EXIT {
        raw::place(raw::borrow(null), target, true).ok()?;
    }
    raw::place(raw::borrow(exit), EXIT, true).ok()?;
    raw::close_from(EXIT as u32 + 1).ok()
}

fn wait(payload: i32, cpu_s: u64) -> Option<(Reaped, Lost)> {
    let mut lost = Lost::default();
    loop {
        match raw::reap(raw::Wait::Block) {
            Ok(Some(ended)) if ended.pid == payload => {
                // Pid 1 inherits the children that the payload never waited for.
                while let Ok(Some(one)) = raw::reap(raw::Wait::No) {
                    lost.count(one.status, one.cpu, cpu_s);
                }
                return Some((ended, lost));
            }
            Ok(Some(one)) => lost.count(one.status, one.cpu, cpu_s),
            Ok(None) => {}
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

/// Reads the report of [`reap_for`] after pid 1 has ended. `None` if pid 1 was killed before it
/// could write.
pub fn read_exit(exit: &OwnedFd, pid: i32) -> Option<(Reaped, Lost)> {
    let mut text = [0u8; WORD];
    if nix::unistd::read(exit, &mut text).ok()? != text.len() {
        return None;
    }
    let (status, rest) = text.split_first_chunk()?;
    let (cpu, rest) = rest.split_first_chunk()?;
    let (peak, rest) = rest.split_first_chunk()?;
    let (cpu_lost, files_lost) = rest.split_first_chunk()?;
    let ended = Reaped {
        pid,
        status: i32::from_le_bytes(*status),
        cpu: Duration::from_micros(u64::from_le_bytes(*cpu)),
        peak_kib: u64::from_le_bytes(*peak),
    };
    let lost = Lost {
        cpu: u32::from_le_bytes(*cpu_lost),
        files: u32::from_le_bytes(files_lost.try_into().ok()?),
    };
    Some((ended, lost))
}
