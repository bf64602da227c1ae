//! The layout of a state folder, and the checks of its ownership and mode.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::fcntl::OFlag;

use super::AuditError;
use super::apart::Apart;
use crate::model::{Digest, ProposalId};

/// Paths inside a state folder.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub state: PathBuf,
    index: IndexPlace,
}

/// Where what is derived from the log is kept.
#[derive(Clone, Debug)]
enum IndexPlace {
    /// In the state folder.
    Beside,
    /// In a private folder of a process that writes nothing into the state folder.
    Apart(Arc<Apart>),
}

impl Layout {
    pub fn at(state: &Path) -> Self {
        Self {
            state: state.to_owned(),
            index: IndexPlace::Beside,
        }
    }

    /// The same folder for who writes nothing into it.
    pub fn apart(self, place: Arc<Apart>) -> Self {
        Self {
            index: IndexPlace::Apart(place),
            ..self
        }
    }

    /// The private place of the index, if it has one.
    pub fn index_apart(&self) -> Option<&Apart> {
        match &self.index {
            IndexPlace::Beside => None,
            IndexPlace::Apart(place) => Some(place),
        }
    }

    pub fn log(&self) -> PathBuf {
        self.state.join("log")
    }

    pub fn blobs(&self) -> PathBuf {
        self.state.join("blobs")
    }

    pub fn quarantine(&self) -> PathBuf {
        self.state.join("quarantine")
    }

    /// One of the two files of the journal.
    pub fn journal(&self, number: usize) -> PathBuf {
        self.state.join(journal_name(number))
    }

    /// The folder of what is derived from the log, and can be thrown away.
    pub fn index(&self) -> PathBuf {
        self.state.join("index")
    }

    /// There while an erasure is not complete.
    pub fn erasing(&self) -> PathBuf {
        self.state.join("erasing")
    }

    pub fn salts(&self) -> PathBuf {
        self.state.join("salts")
    }

    /// What the digest of redacted code is salted with.
    pub fn salt(&self, id: ProposalId) -> PathBuf {
        self.salts().join(id.to_string())
    }

    pub fn lock(&self) -> PathBuf {
        self.state.join("lock")
    }

    pub fn segment(&self, number: u64) -> PathBuf {
        self.log().join(segment_name(number))
    }

    /// The folder and the file of a blob.
    pub fn blob(&self, digest: &Digest) -> (PathBuf, PathBuf) {
        let hex = digest.hex();
        let folder = self.blobs().join(&hex[..2]);
        let file = folder.join(hex);
        (folder, file)
    }

    /// Makes the folders, accessible only to this user.
    ///
    /// # Errors
    /// When a folder cannot be made, belongs to another user, or lets other users in.
    pub fn make(&self) -> Result<(), AuditError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.state)
            .map_err(|e| AuditError::io(&self.state, "created", e))?;
        // The state folder itself may be a link and readable by others; the folders in it may not.
        let meta = fs::metadata(&self.state).map_err(|e| AuditError::io(&self.state, "read", e))?;
        owned(&self.state, &meta, 0o022)?;
        for folder in [self.log(), self.blobs(), self.quarantine()] {
            match DirBuilder::new().mode(0o700).create(&folder) {
                Err(e) if e.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(AuditError::io(folder, "created", e));
                }
                _ => {}
            }
            let meta =
                fs::symlink_metadata(&folder).map_err(|e| AuditError::io(&folder, "read", e))?;
            owned(&folder, &meta, 0o077)?;
        }
        sync_dir(&self.state).map_err(|e| AuditError::io(&self.state, "made durable", e))
    }

    /// Numbers of the existing segments, ascending. Other file names are ignored.
    pub fn segments(&self) -> io::Result<Vec<u64>> {
        let mut numbers = Vec::new();
        for entry in fs::read_dir(self.log())? {
            let name = entry?.file_name();
            if let Some(number) = name.to_str().and_then(segment_number) {
                numbers.push(number);
            }
        }
        numbers.sort_unstable();
        Ok(numbers)
    }
}

impl Layout {
    /// How long all segments are together.
    pub fn segment_bytes(&self) -> io::Result<u64> {
        let segments = self.segments()?.into_iter();
        let lengths = segments.map(|n| Ok(fs::symlink_metadata(self.segment(n))?.len()));
        lengths.sum()
    }
}

pub(super) fn journal_name(number: usize) -> String {
    format!("journal-{number}")
}

pub(super) fn segment_name(number: u64) -> String {
    format!("{number:08}.jsonl")
}

fn segment_number(name: &str) -> Option<u64> {
    let number = name.strip_suffix(".jsonl")?.parse().ok()?;
    (segment_name(number) == name).then_some(number)
}

/// Refuses a path that is not a folder of this user or that lets other users in.
pub(super) fn owned(path: &Path, meta: &fs::Metadata, forbidden: u32) -> Result<(), AuditError> {
    let refuse = |problem: String, remedy: String| {
        Err(AuditError::Unsafe {
            path: path.to_owned(),
            problem,
            remedy,
        })
    };
    let uid = nix::unistd::geteuid().as_raw();
    if !meta.is_dir() {
        return refuse(
            "is not a folder".to_owned(),
            "move it away, or choose another folder with --state-dir".to_owned(),
        );
    }
    if meta.uid() != uid {
        return refuse(
            format!("belongs to uid {}, not to you (uid {uid})", meta.uid()),
            "choose a folder of your own with --state-dir".to_owned(),
        );
    }
    let mode = meta.mode() & 0o777;
    if mode & forbidden != 0 {
        return refuse(
            format!("lets other users in (mode {mode:04o})"),
            format!("run: chmod {:o} {}", mode & !forbidden, path.display()),
        );
    }
    Ok(())
}

/// Makes the entries of a folder durable.
pub(super) fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Opens a regular file for reading. Links are not followed; a pipe or device is refused without blocking.
pub(super) fn open_regular(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(file)
}
