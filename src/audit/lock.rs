//! One writer for a state folder.
//!
//! An open-file-description lock (F_OFD_SETLK): it goes with the process however that ends, and,
//! unlike flock(2), can be asked about without taking it, so that a reader never makes a starting
//! dashboard fail.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

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
        let mut file = OpenOptions::new()
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
                    pid: written_pid(&mut file),
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
        // For people: the lock itself is the kernel's. A full disk must not stop the start here,
        // the log will say so better.
        let _ = file
            .set_len(0)
            .and_then(|()| file.write_all(format!("{}\n", std::process::id()).as_bytes()));
        Ok(Self { file })
    }
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
    let mut file = match open_regular(&layout.lock()) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Holder::Nobody),
        Err(e) => return Err(e),
    };
    let mut question = whole();
    fcntl(&file, FcntlArg::F_OFD_GETLK(&mut question))?;
    Ok(if question.l_type == libc::F_UNLCK as libc::c_short {
        Holder::Nobody
    } else {
        Holder::Somebody(written_pid(&mut file))
    })
}

fn written_pid(file: &mut File) -> Option<i32> {
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok().filter(|p| *p > 0)
}
