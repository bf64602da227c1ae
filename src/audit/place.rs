//! Whether what is written still lies where it is looked for.
//!
//! A descriptor goes on taking bytes after its file was removed, renamed by a log rotator, cut by
//! another program, or covered by a mount: every write and every sync succeeds, and no reader will
//! ever see the record. What was written therefore counts only once it is found under its path.

use std::fmt;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::layout::{Layout, segment_name};

/// A file or folder, whatever its name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Id {
    device: u64,
    inode: u64,
}

impl From<&Metadata> for Id {
    fn from(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
        }
    }
}

/// The folders and the lock that a writer began with.
#[derive(Debug)]
pub(super) struct Place {
    state: Id,
    log: Id,
    blobs: Id,
    lock: Id,
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

impl Place {
    pub fn of(layout: &Layout) -> io::Result<Self> {
        let there = |path: &Path| fs::symlink_metadata(path).map(|meta| Id::from(&meta));
        Ok(Self {
            // The state folder may be a link, what lies in it may not.
            state: Id::from(&fs::metadata(&layout.state)?),
            log: there(&layout.log())?,
            blobs: there(&layout.blobs())?,
            lock: there(&layout.lock())?,
        })
    }

    /// Holds everything against its path, and the segment also against the length it should have.
    ///
    /// # Errors
    /// [`Misplaced`], from the outside in: what is named first is what a person has to put back.
    pub fn check(
        &self,
        layout: &Layout,
        segment: &File,
        number: u64,
        length: u64,
    ) -> io::Result<()> {
        let state = layout.state.display().to_string();
        same(&state, fs::metadata(&layout.state), self.state)?;
        for (name, path, id) in [
            ("log", layout.log(), self.log),
            ("blobs", layout.blobs(), self.blobs),
            ("lock", layout.lock(), self.lock),
        ] {
            same(name, fs::symlink_metadata(path), id)?;
        }
        let name = format!("log/{}", segment_name(number));
        let held = segment.metadata()?;
        let there = fs::symlink_metadata(layout.segment(number));
        found(&name, there, &held, Some(length))
    }
}

/// Holds an open file against what stands under its path, and against the length it should have.
pub(super) fn found(
    name: &str,
    there: io::Result<Metadata>,
    held: &Metadata,
    length: Option<u64>,
) -> io::Result<()> {
    same(name, there, Id::from(held))?;
    if held.nlink() == 0 {
        return Err(gone(name));
    }
    length.map_or(Ok(()), |length| uncut(name, held, length))
}

/// Holds an open file against the length it should have.
pub(super) fn uncut(name: &str, held: &Metadata, length: u64) -> io::Result<()> {
    if held.len() == length {
        return Ok(());
    }
    Err(Misplaced::error(format!(
        "{name} is {} bytes long where {length} were written: another program changed it; \
         stop that program, then start again",
        held.len()
    )))
}

fn gone(name: &str) -> io::Error {
    Misplaced::error(format!(
        "{name} is gone: it was removed or renamed while the log was written (by a log rotator or a \
         clean-up?); put it back, then start again"
    ))
}

fn same(name: &str, found: io::Result<Metadata>, id: Id) -> io::Result<()> {
    match found {
        Ok(meta) if Id::from(&meta) == id => Ok(()),
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
