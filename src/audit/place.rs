//! Whether what is written still lies where it is looked for.
//!
//! A descriptor goes on taking bytes after its file was removed, renamed by a log rotator, cut by
//! another program, or covered by a mount: every write and every sync succeeds, and no reader will
//! ever see the record. What was written therefore counts only once it is found under its path.

use std::ffi::{CStr, CString};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

use super::layout::{Layout, segment_name};

/// A file or folder, whatever its name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Id {
    device: (u32, u32),
    inode: u64,
}

/// What is looked at after each sync.
#[derive(Clone, Copy, Debug)]
struct Seen {
    id: Id,
    links: u32,
    length: u64,
}

impl Seen {
    /// Asks for nothing else: where somebody looked at a file's times, the kernel keeps them to the
    /// nanosecond from then on, and the next sync has to write the inode, too.
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

    /// A link is looked at, not followed.
    fn under(folder: &File, name: &CStr) -> io::Result<Self> {
        Self::at(folder.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW)
    }

    fn of(file: &File) -> io::Result<Self> {
        Self::at(file.as_fd(), c"", AtFlags::EMPTY_PATH)
    }
}

/// An open file and the name it has to have in its folder.
#[derive(Debug)]
pub(super) struct Held {
    name: CString,
    /// Its path in the state folder.
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

    /// Looks for it under its name, and holds it against the length it should have. What is found
    /// there is the open file itself, its link count and its length included.
    ///
    /// # Errors
    /// [`Misplaced`].
    fn check(&self, folder: &File, length: Option<u64>) -> io::Result<()> {
        let there = same(&self.shown, Seen::under(folder, &self.name), self.id)?;
        if there.links == 0 {
            return Err(gone(&self.shown));
        }
        length.map_or(Ok(()), |length| uncut(&self.shown, there.length, length))
    }
}

/// The folders, the lock and the segment that a writer goes on with.
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

/// Why the log is not where it was. The text is for a person.
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

    /// The next segment.
    pub fn goes_on(&mut self, segment: &File, number: u64) -> io::Result<()> {
        self.segment = Held::of(segment, shown(number))?;
        Ok(())
    }

    /// Holds everything against its path, and the segment also against the length it should have.
    ///
    /// # Errors
    /// [`Misplaced`], from the outside in: what is named first is what a person has to put back.
    pub fn check(&self, length: u64) -> io::Result<()> {
        // The state folder may be a link, what lies in it may not.
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

    /// The same for a file of the state folder itself.
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

/// Holds a file's length against the one it should have.
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
            "{name} is another one than the log was opened with: it was replaced, or something was \
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
        Err(e) => Err(Misplaced::error(format!("{name} cannot be looked at: {e}"))),
    }
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
