//! The file in which a person edits a proposal's code: in a folder of its own that nobody else can enter, and read
//! back through the descriptor of that folder. Whatever is not plainly the person's text is refused.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;
use nix::unistd::Uid;

use crate::model::{ProposalId, file_name};

/// Most characters of a title in the file's name.
const SLUG: usize = 40;
/// Most folders that are tried: earlier edits of the same proposal can have left theirs.
const FOLDERS: u32 = 1000;

/// A file to edit, and its folder.
#[derive(Debug)]
pub struct Draft {
    folder: OwnedFd,
    place: PathBuf,
    name: String,
}

/// Why a text is not taken; the words follow "nothing changed:".
#[derive(Debug, thiserror::Error)]
pub enum NotTaken {
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("the file is gone")]
    Gone,
    #[error("the file is a link or no regular file")]
    NotRegular,
    #[error("the file belongs to another user")]
    NotOwn,
    #[error("the file has a second name (a hard link)")]
    Linked,
    #[error("the file changed while it was read")]
    Changing,
    #[error("the code is empty")]
    Empty,
    #[error("the code is longer than {0} bytes")]
    TooLong(u64),
    #[error("the text is not UTF-8")]
    NotUtf8,
}

impl Draft {
    /// Writes the code into a new file below `<state>/edits`.
    pub fn new(
        state_dir: &Path,
        id: ProposalId,
        title: Option<&str>,
        code: &str,
    ) -> io::Result<Self> {
        let edits = state_dir.join("edits");
        make(&edits)?;
        let id = id.to_string();
        let id = &id[id.len() - 8..];
        let mut numbers = (1..FOLDERS).map(|n| match n {
            1 => edits.join(id),
            n => edits.join(format!("{id}-{n}")),
        });
        let place = loop {
            let place = numbers.next().ok_or(io::ErrorKind::AlreadyExists)?;
            match DirBuilder::new().mode(0o700).create(&place) {
                Ok(()) => break place,
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        };
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let folder = open(&place, flags, Mode::empty())?;
        private(&File::from(folder.try_clone()?).metadata()?)?;
        let slug = file_name::slug(title.unwrap_or_default(), SLUG);
        let draft = Self {
            folder,
            place,
            name: format!("{}.py", slug.as_deref().unwrap_or("proposal")),
        };
        let flags =
            OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let mode = Mode::S_IRUSR | Mode::S_IWUSR;
        let written = openat(&draft.folder, draft.name.as_str(), flags, mode)
            .map_err(io::Error::from)
            .and_then(|file| File::from(file).write_all(code.as_bytes()));
        match written {
            Ok(()) => Ok(draft),
            Err(e) => {
                draft.remove();
                Err(e)
            }
        }
    }

    pub fn path(&self) -> PathBuf {
        self.place.join(&self.name)
    }

    /// The text, whatever way an editor replaced the file.
    pub fn read(&self, most: u64) -> Result<String, NotTaken> {
        // Without O_NONBLOCK a FIFO would never open.
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let file = match openat(
            self.folder.as_fd(),
            self.name.as_str(),
            flags,
            Mode::empty(),
        ) {
            Ok(file) => File::from(file),
            Err(nix::errno::Errno::ENOENT) => return Err(NotTaken::Gone),
            Err(nix::errno::Errno::ELOOP | nix::errno::Errno::ENXIO) => {
                return Err(NotTaken::NotRegular);
            }
            Err(e) => return Err(io::Error::from(e).into()),
        };
        let before = file.metadata()?;
        if !before.is_file() {
            return Err(NotTaken::NotRegular);
        }
        if before.uid() != Uid::effective().as_raw() {
            return Err(NotTaken::NotOwn);
        }
        if before.nlink() != 1 {
            return Err(NotTaken::Linked);
        }
        let mut bytes = Vec::new();
        (&file).take(most + 1).read_to_end(&mut bytes)?;
        let read = bytes.len() as u64;
        if read > most {
            return Err(NotTaken::TooLong(most));
        }
        let stamp = |m: &fs::Metadata| {
            (
                m.len(),
                m.mtime(),
                m.mtime_nsec(),
                m.ctime(),
                m.ctime_nsec(),
                m.nlink(),
            )
        };
        let after = file.metadata()?;
        if stamp(&before) != stamp(&after) || after.len() != read {
            return Err(NotTaken::Changing);
        }
        if bytes.is_empty() {
            return Err(NotTaken::Empty);
        }
        String::from_utf8(bytes).map_err(|_| NotTaken::NotUtf8)
    }

    /// Removes the folder and everything that an editor left in it.
    pub fn remove(&self) {
        if let Err(e) = fs::remove_dir_all(&self.place) {
            tracing::warn!("{} could not be removed: {e}", self.place.display());
        }
    }
}

/// Makes the folder of all drafts; one that is there must be private.
fn make(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
        _ => {}
    }
    private(&fs::symlink_metadata(folder)?)
}

fn private(meta: &fs::Metadata) -> io::Result<()> {
    let own = meta.uid() == Uid::effective().as_raw();
    match meta.is_dir() && own && meta.mode() & 0o077 == 0 {
        true => Ok(()),
        false => Err(io::Error::other(
            "the folder for edits is not a folder of your own with mode 0700",
        )),
    }
}

#[cfg(test)]
#[path = "draft_tests.rs"]
mod tests;
