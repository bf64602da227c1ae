//! An index for who only reads a log: in a private folder of this process, so that nothing is written into the state
//! folder, which may be a copy, or another's.
//!
//! It begins as a copy of the index in the state folder if that is of this log, else it is made of the log.
//!
//! Each opening of the index needs its name (SQLite keeps a log beside it), so its files have names while the process lives. The
//! folder is locked for as long: one that nobody locks is of a process that was killed, and the next one removes it.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg, OFlag};
use nix::unistd::Uid;
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

/// How the name of a folder begins.
const PREFIX: &str = "countersign-index-";
/// A folder that is younger may be about to be locked by who made it.
const YOUNG: Duration = Duration::from_secs(60);

/// A private folder for an index.
#[derive(Debug)]
pub struct Apart {
    folder: TempDir,
    /// Says that this process lives.
    _lock: Option<Flock<File>>,
    stage: Mutex<Stage>,
    read: AtomicU64,
    /// Whether the index in the state folder was found to say something else than the log.
    distrusted: AtomicBool,
}

impl Apart {
    /// Makes the folder, for this user alone.
    ///
    /// # Errors
    /// When the system's folder for temporary files takes none.
    pub fn new() -> io::Result<Self> {
        Self::new_in(&std::env::temp_dir(), YOUNG)
    }

    fn new_in(place: &Path, young: Duration) -> io::Result<Self> {
        sweep(place, young);
        // Whatever the umask is: what it has is the log's.
        let folder = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(place)?;
        // A file system without locks: what is left there stays.
        let lock = open_folder(folder.path()).and_then(locked).ok();
        Ok(Self {
            folder,
            _lock: lock,
            stage: Mutex::default(),
            read: AtomicU64::new(0),
            distrusted: AtomicBool::new(false),
        })
    }

    /// How many bytes of the log were read into it.
    pub fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
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

    /// The index in the state folder is of no use to this process any more.
    pub(super) fn distrust(&self) {
        self.distrusted.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_distrusted(&self) -> bool {
        self.distrusted.load(Ordering::Relaxed)
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

/// Removes the folders that processes of this user left because they were killed. What cannot be removed stays.
fn sweep(place: &Path, young: Duration) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        if entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(PREFIX.as_bytes())
        {
            let _ = remove_dead(&entry.path(), young);
        }
    }
}

fn remove_dead(path: &Path, young: Duration) -> io::Result<()> {
    let folder = open_folder(path)?;
    let meta = folder.metadata()?;
    let age = meta.modified()?.elapsed().unwrap_or_default();
    if meta.uid() != Uid::effective().as_raw() || meta.mode() & 0o077 != 0 || age < young {
        return Ok(());
    }
    let _lock = locked(folder)?;
    // A link that took its place since is removed itself, and so is every link in it.
    fs::remove_dir_all(path)
}

/// Opens a folder, not what a link leads to.
fn open_folder(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits())
        .open(path)
}

fn locked(folder: File) -> io::Result<Flock<File>> {
    Flock::lock(folder, FlockArg::LockExclusiveNonblock).map_err(|(_, e)| e.into())
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
