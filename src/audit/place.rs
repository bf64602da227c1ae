//! Checks that the open files of a log are still found under their paths.
//!
//! A descriptor still accepts writes after its file was removed, renamed by a log rotator, truncated by
//! another program, or hidden by a mount: every write and sync succeeds, and no reader will ever see the
//! record. A record therefore counts as written only after this check.

use std::ffi::{CStr, CString};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

use super::layout::{Layout, segment_name};

/// The identity of a file or folder, independent of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Id {
    device: (u32, u32),
    inode: u64,
}

/// The attributes that are checked after each sync.
#[derive(Clone, Copy, Debug)]
struct Seen {
    id: Id,
    links: u32,
    length: u64,
}

impl Seen {
    /// Requests nothing else: after a query of a file's times, the kernel keeps them to the nanosecond, and the
    /// next sync must write the inode as well.
    fn at(folder: BorrowedFd<'_>, name: &CStr, flags: AtFlags) -> io::Result<Self> {
        let what = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::NLINK | StatxFlags::SIZE;
        let seen = statx(folder, name, flags, what)?;
        Ok(Self {
            id: Id {
                device: (seen.stx_dev_major, seen.stx_dev_minor),
                inode: seen.stx_ino,
            },
            links: seen.stx_nlink,
            length: seen.stx_size,
        })
    }

    /// Does not follow a link.
    fn under(folder: &File, name: &CStr) -> io::Result<Self> {
        Self::at(folder.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW)
    }

    fn of(file: &File) -> io::Result<Self> {
        Self::at(file.as_fd(), c"", AtFlags::EMPTY_PATH)
    }
}

/// An open file and the name under which it must be found.
#[derive(Debug)]
pub(super) struct Held {
    name: CString,
    /// Path inside the state folder, for messages.
    shown: String,
    id: Id,
}

impl Held {
    pub fn of(file: &File, shown: String) -> io::Result<Self> {
        let name = Path::new(&shown).file_name().unwrap_or_default();
        Ok(Self {
            name: CString::new(name.as_bytes())?,
            id: Seen::of(file)?.id,
            shown,
        })
    }

    /// Checks that the name leads to the open file, and that the file has this length.
    ///
    /// # Errors
    /// [`Misplaced`] otherwise.
    fn check(&self, folder: &File, length: Option<u64>) -> io::Result<()> {
        let there = same(&self.shown, Seen::under(folder, &self.name), self.id)?;
        if there.links == 0 {
            return Err(gone(&self.shown));
        }
        length.map_or(Ok(()), |length| uncut(&self.shown, there.length, length))
    }
}

/// The folders, the lock and the segment that a writer uses.
#[derive(Debug)]
pub(super) struct LogLocation {
    path: CString,
    state: File,
    log: File,
    state_id: Id,
    log_id: Id,
    blobs_id: Id,
    lock_id: Id,
    segment: Held,
}

/// Why the log's files are not in place. The text is for a person.
#[derive(Debug)]
pub(super) struct Misplaced(String);

impl fmt::Display for Misplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misplaced {}

impl Misplaced {
    fn error(text: String) -> io::Error {
        io::Error::other(Self(text))
    }
}

impl LogLocation {
    pub fn of(layout: &Layout, segment: &File, number: u64) -> io::Result<Self> {
        let (state, log) = (File::open(&layout.state)?, File::open(layout.log())?);
        Ok(Self {
            path: CString::new(layout.state.as_os_str().as_bytes())?,
            state_id: Seen::of(&state)?.id,
            log_id: Seen::under(&state, c"log")?.id,
            blobs_id: Seen::under(&state, c"blobs")?.id,
            lock_id: Seen::under(&state, c"lock")?.id,
            segment: Held::of(segment, shown(number))?,
            state,
            log,
        })
    }

    /// Checks the next segment from now on.
    pub fn switch_to(&mut self, segment: &File, number: u64) -> io::Result<()> {
        self.segment = Held::of(segment, shown(number))?;
        Ok(())
    }

    /// Checks every path, and the length of the segment.
    ///
    /// # Errors
    /// [`Misplaced`]. Checks from the outermost folder in, so that the error names what a person must restore.
    pub fn check(&self, length: u64) -> io::Result<()> {
        // The state folder may be a link; its content may not.
        let state = Seen::at(CWD, &self.path, AtFlags::empty());
        same(&self.path.to_string_lossy(), state, self.state_id)?;
        for (name, path, id) in [
            ("log", c"log", self.log_id),
            ("blobs", c"blobs", self.blobs_id),
            ("lock", c"lock", self.lock_id),
        ] {
            same(name, Seen::under(&self.state, path), id)?;
        }
        self.segment.check(&self.log, Some(length))
    }

    /// Checks a file that is directly in the state folder.
    pub fn check_file(&self, file: &Held, length: Option<u64>) -> io::Result<()> {
        file.check(&self.state, length)
    }
}

fn shown(segment: u64) -> String {
    format!("log/{}", segment_name(segment))
}

/// The length of an open file.
pub(super) fn length(file: &File) -> io::Result<u64> {
    Ok(Seen::of(file)?.length)
}

/// Compares a file's length with the expected one.
pub(super) fn uncut(name: &str, found: u64, length: u64) -> io::Result<()> {
    if found == length {
        return Ok(());
    }
    Err(Misplaced::error(format!(
        "{name} is {found} bytes long where {length} were written: another program changed it; \
         stop that program, then start again"
    )))
}

fn gone(name: &str) -> io::Error {
    Misplaced::error(format!(
        "{name} is gone: it was removed or renamed while the log was written (by a log rotator or a \
         clean-up?); put it back, then start again"
    ))
}

fn same(name: &str, found: io::Result<Seen>, id: Id) -> io::Result<Seen> {
    match found {
        Ok(seen) if seen.id == id => Ok(seen),
        Ok(_) => Err(Misplaced::error(format!(
            "{name} is not the one the log was opened with: it was replaced, or something was \
             mounted over it; put the old one back, then start again"
        ))),
        Err(e)
            if matches!(
                e.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Err(gone(name))
        }
        Err(e) => Err(Misplaced::error(format!("{name} cannot be checked: {e}"))),
    }
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
