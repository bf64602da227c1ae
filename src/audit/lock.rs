//! One writer for a state folder.
//!
//! An open-file-description lock (F_OFD_SETLK): it goes with the process however that ends, and,
//! unlike flock(2), can be asked about without taking it, so that a reader never makes a starting
//! dashboard fail.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc;

use super::AuditError;
use super::layout::{Layout, open_regular};

/// Held as long as this value lives.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

/// The whole file, for writing.
fn whole() -> libc::flock {
    libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
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
        match fcntl(&file, FcntlArg::F_OFD_SETLK(&whole())) {
            Ok(_) => {}
            Err(Errno::EAGAIN | Errno::EACCES) => {
                return Err(AuditError::Locked {
                    dir: layout.state.clone(),
                    pid: written_pid(&file),
                });
            }
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
        let begun = says_begun(&file).map_err(|e| AuditError::io(&path, "read", e))?;
        let lock = Self { file };
        lock.write(begun);
        Ok(lock)
    }

    /// Notes that there is a log from here on.
    pub fn begin(&self) {
        self.write(true);
    }

    /// For people and for [`begun`]: the lock itself is the kernel's. A full disk must not stop the start
    /// here, the log will say so better.
    fn write(&self, begun: bool) {
        let begun = if begun { BEGUN } else { "" };
        let text = format!("{}\n{begun}", std::process::id());
        let _ = self
            .file
            .write_all_at(text.as_bytes(), 0)
            .and_then(|()| self.file.set_len(text.len() as u64));
    }
}

/// The second line of the file, once there is a log.
const BEGUN: &str = "log\n";

/// Whether a log was begun, as far as the file is there to say so.
pub(super) fn begun(layout: &Layout) -> io::Result<bool> {
    match open_regular(&layout.lock()) {
        Ok(file) => says_begun(&file),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

fn says_begun(file: &File) -> io::Result<bool> {
    Ok(text(file)?.lines().nth(1) == Some(BEGUN.trim_end()))
}

/// What the file says; no more than it ever holds is read.
fn text(file: &File) -> io::Result<String> {
    let mut bytes = vec![0; 64];
    let read = file.read_at(&mut bytes, 0)?;
    Ok(String::from_utf8_lossy(&bytes[..read]).into_owned())
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A process that is being started may have a copy of the descriptor for a moment longer.
        let none = libc::flock {
            l_type: libc::F_UNLCK as libc::c_short,
            ..whole()
        };
        let _ = fcntl(&self.file, FcntlArg::F_OFD_SETLK(&none));
    }
}

/// Whether a dashboard writes to this folder now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    Nobody,
    /// Its pid, where it could be told.
    Somebody(Option<i32>),
}

/// Asks without taking the lock. In a copied folder nobody holds it.
pub(super) fn holder(layout: &Layout) -> io::Result<Holder> {
    let file = match open_regular(&layout.lock()) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Holder::Nobody),
        Err(e) => return Err(e),
    };
    let mut question = whole();
    fcntl(&file, FcntlArg::F_OFD_GETLK(&mut question))?;
    Ok(if question.l_type == libc::F_UNLCK as libc::c_short {
        Holder::Nobody
    } else {
        Holder::Somebody(written_pid(&file))
    })
}

fn written_pid(file: &File) -> Option<i32> {
    let text = text(file).ok()?;
    text.lines().next()?.parse().ok().filter(|p| *p > 0)
}
