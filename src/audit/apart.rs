//! An index for who only reads a log: in a private folder of this process, so that nothing is written into the state
//! folder, which may be a copy, or another's.
//!
//! It begins as a copy of the index in the state folder if that is of this log, else it is made of the log.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

use super::layout::open_regular;

/// What became of the index so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Nobody asked for it yet.
    #[default]
    None,
    /// The one in the state folder was copied.
    Copied,
    /// It is being made: so many bytes of the log were read of so many.
    Making { read: u64, of: u64 },
    /// It was made of the log.
    Made,
}

/// A private folder for an index.
#[derive(Debug)]
pub struct Apart {
    folder: TempDir,
    stage: Mutex<Stage>,
    read: AtomicU64,
}

impl Apart {
    /// Makes the folder, for this user alone.
    ///
    /// # Errors
    /// When the system's folder for temporary files takes none.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            folder: tempfile::Builder::new()
                .prefix("countersign-index-")
                .tempdir()?,
            stage: Mutex::default(),
            read: AtomicU64::new(0),
        })
    }

    pub fn stage(&self) -> Stage {
        let stage = *self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        match stage {
            Stage::Making { of, .. } => Stage::Making {
                read: self.read.load(Ordering::Relaxed).min(of),
                of,
            },
            stage => stage,
        }
    }

    /// Removes the folder, also while another thread writes it.
    pub fn remove(&self) {
        // A file may be made while the others are removed.
        for _ in 0..3 {
            if fs::remove_dir_all(self.folder.path()).is_ok() {
                return;
            }
        }
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn set(&self, stage: Stage) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
    }

    pub(super) fn copied(&self) {
        self.set(Stage::Copied);
    }

    pub(super) fn begins(&self, of: u64) {
        self.read.store(0, Ordering::Relaxed);
        self.set(Stage::Making { read: 0, of });
    }

    pub(super) fn read(&self, bytes: u64) {
        self.read.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn ends(&self) {
        self.set(Stage::Made);
    }
}

/// What tells one state of a file from another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    file: (u64, u64),
    len: u64,
    changed: (i64, i64),
}

pub(super) fn stamp(path: &Path) -> io::Result<Stamp> {
    let meta = fs::symlink_metadata(path)?;
    Ok(Stamp {
        file: (meta.dev(), meta.ino()),
        len: meta.len(),
        changed: (meta.ctime(), meta.ctime_nsec()),
    })
}

/// Copies a regular file into a new one.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = open_regular(from)?;
    let mut to = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(to)?;
    io::copy(&mut from, &mut to).map(drop)
}

#[cfg(test)]
#[path = "apart_tests.rs"]
mod tests;
