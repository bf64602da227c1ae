//! One writer for a state folder.
//!
//! The file `lock` has an open-file-description lock (F_OFD_SETLK): it goes with the process however that
//! ends, and, unlike flock(2), can be asked about without taking it, so that a reader never makes a
//! starting dashboard fail. Whoever removes or replaces that file lets in a second writer: so the folder
//! of the segments is locked too, by flock(2).
//!
//! The first byte of the lock means that a dashboard is there, the others that its log can be written:
//! one whose log went down gives those back and keeps the rest until it ends.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, Flock, FlockArg, OFlag, fcntl};
use nix::libc;

use super::AuditError;
use super::layout::{Layout, open_regular};
use super::mark::Note;

/// How often, and how far apart, the folder's lock is asked for: a reader who looks whether somebody has
/// it has it for a moment.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// Held as long as this value lives.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    /// Given back when it is dropped. `None` where the file system has no such locks.
    _folder: Option<Flock<File>>,
}

/// From this byte of the lock file on, for writing.
fn from(start: libc::off_t) -> libc::flock {
    libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: start,
        l_len: 0,
        l_pid: 0,
    }
}

fn none(start: libc::off_t) -> libc::flock {
    libc::flock {
        l_type: libc::F_UNLCK as libc::c_short,
        ..from(start)
    }
}

impl Lock {
    /// Takes the lock or says who has it.
    pub fn take(layout: &Layout) -> Result<Self, AuditError> {
        let path = layout.lock();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
            .open(&path)
            .map_err(|e| AuditError::io(&path, "opened", e))?;
        let locked = |pid| AuditError::Locked {
            dir: layout.state.clone(),
            pid,
        };
        match fcntl(&file, FcntlArg::F_OFD_SETLK(&from(0))) {
            Ok(_) => {}
            Err(Errno::EAGAIN | Errno::EACCES) => return Err(locked(written_pid(&file))),
            Err(e) => return Err(AuditError::io(&path, "locked", e.into())),
        }
        // Somebody may have replaced the file before it was locked, and another dashboard locked
        // the new one.
        let held = file.metadata().map(|m| (m.dev(), m.ino()));
        let there = fs::symlink_metadata(&path).map(|m| (m.dev(), m.ino()));
        if held.ok() != there.ok() {
            let replaced = io::Error::other("it was replaced in the meantime; start again");
            return Err(AuditError::io(&path, "locked", replaced));
        }
        let log = layout.log();
        let folder = folder(layout, FlockArg::LockExclusiveNonblock, TRIES)
            .map_err(|e| AuditError::io(&log, "locked", e))?;
        if matches!(folder, Folder::Taken) {
            // Whoever has it lost `lock`, and its pid with it.
            return Err(locked(None));
        }
        let note = Note::read(&file).map_err(|e| AuditError::io(&path, "read", e))?;
        // A full disk must not stop the start here, the log will say so better.
        let _ = note.write(&file);
        Ok(Self {
            file,
            _folder: match folder {
                Folder::Got(lock) => Some(lock),
                Folder::Taken | Folder::Unknown => None,
            },
        })
    }

    /// Says that nothing is written any more; nobody else may, as long as this value lives.
    pub fn down(&self) {
        let _ = fcntl(&self.file, FcntlArg::F_OFD_SETLK(&none(1)));
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A process that is being started may have a copy of the descriptor for a moment longer.
        let _ = fcntl(&self.file, FcntlArg::F_OFD_SETLK(&none(0)));
    }
}

enum Folder {
    Got(Flock<File>),
    Taken,
    /// Not every file system locks folders.
    Unknown,
}

fn folder(layout: &Layout, how: FlockArg, tries: u32) -> io::Result<Folder> {
    let mut file = File::open(layout.log())?;
    for tried in 1.. {
        file = match Flock::lock(file, how) {
            Ok(lock) => return Ok(Folder::Got(lock)),
            Err((_, Errno::EWOULDBLOCK)) if tried >= tries => return Ok(Folder::Taken),
            Err((file, Errno::EWOULDBLOCK)) => file,
            Err(_) => return Ok(Folder::Unknown),
        };
        thread::sleep(PAUSE);
    }
    Ok(Folder::Unknown)
}

/// Whether a dashboard has this folder now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    Nobody,
    Somebody {
        /// Where it could be told.
        pid: Option<i32>,
        /// Its log can be written no more.
        down: bool,
    },
}

impl Holder {
    /// Whether nothing is being written.
    pub fn writes_nothing(self) -> bool {
        matches!(self, Self::Nobody | Self::Somebody { down: true, .. })
    }
}

/// Asks without taking the lock. In a copied folder nobody holds it.
pub(super) fn holder(layout: &Layout) -> io::Result<Holder> {
    match open_regular(&layout.lock()) {
        Ok(file) if held(&file, 0)? => {
            return Ok(Holder::Somebody {
                pid: written_pid(&file),
                down: !held(&file, 1)?,
            });
        }
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    match folder(layout, FlockArg::LockSharedNonblock, 1) {
        // The next record of whoever has it will not be written: `lock` is gone.
        Ok(Folder::Taken) => Ok(Holder::Somebody {
            pid: None,
            down: true,
        }),
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(Holder::Nobody),
    }
}

/// Whether somebody has the lock from this byte on.
fn held(file: &File, start: libc::off_t) -> io::Result<bool> {
    let mut question = from(start);
    fcntl(file, FcntlArg::F_OFD_GETLK(&mut question))?;
    Ok(question.l_type != libc::F_UNLCK as libc::c_short)
}

fn written_pid(file: &File) -> Option<i32> {
    Note::read(file).ok()?.pid
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
