//! Ensures a single writer for a state folder.
//!
//! The file `lock` carries an open-file-description lock (F_OFD_SETLK). The kernel releases it however the
//! process ends. Unlike flock(2), it can be queried without being taken, so that a reader never makes a
//! starting dashboard fail. Removing or replacing the file would let in a second writer; therefore the folder
//! of the segments is locked too, with flock(2).
//!
//! A lock on the first byte means that a dashboard runs, a lock on the others that its log can be written. A
//! dashboard whose log went down releases the others and keeps the first byte until it ends.

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

/// Number and interval of attempts to lock the folder: a reader that tests the lock holds it for a moment.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// The lock, held as long as this value lives.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    /// Released on drop. `None` if the file system cannot lock folders.
    _folder: Option<Flock<File>>,
}

/// A write lock from byte `start` of the lock file on.
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
    /// Takes the lock; the error names the holder.
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
        // The file may have been replaced before it was locked, and another dashboard may hold the new one.
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
            // The holder's `lock` file was removed, and its pid with it.
            return Err(locked(None));
        }
        let note = Note::read(&file).map_err(|e| AuditError::io(&path, "read", e))?;
        // A full disk must not stop the start here: the log's own error says more.
        let _ = note.write(&file);
        Ok(Self {
            file,
            _folder: match folder {
                Folder::Got(lock) => Some(lock),
                Folder::Taken | Folder::Unknown => None,
            },
        })
    }

    /// Announces that this process writes no more. Others still may not, as long as this value lives.
    pub fn down(&self) {
        let _ = fcntl(&self.file, FcntlArg::F_OFD_SETLK(&none(1)));
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Unlock explicitly: a child between fork and exec may have a copy of the descriptor.
        let _ = fcntl(&self.file, FcntlArg::F_OFD_SETLK(&none(0)));
    }
}

enum Folder {
    Got(Flock<File>),
    Taken,
    /// The file system cannot lock folders.
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

/// Whether a dashboard uses this folder now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    Nobody,
    Somebody {
        /// `None` if unknown.
        pid: Option<i32>,
        /// The dashboard can no longer write its log.
        down: bool,
    },
}

impl Holder {
    /// Whether nobody writes the log.
    pub fn writes_nothing(self) -> bool {
        matches!(self, Self::Nobody | Self::Somebody { down: true, .. })
    }
}

/// Queries the lock without taking it. In a copied folder nobody holds it.
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
        // The holder cannot write its next record, since `lock` is missing.
        Ok(Folder::Taken) => Ok(Holder::Somebody {
            pid: None,
            down: true,
        }),
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(Holder::Nobody),
    }
}

/// Whether somebody holds the lock from byte `start` on.
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
