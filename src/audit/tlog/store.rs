//! The folder of checkpoints: outside the log's folder, so that what happens to one need not happen to the other.
//!
//! It has `key` (signs, 0600; none if a command signs), `key.pub` (checks; give it to others), `log` (which state folder it
//! belongs to), `latest` (the newest checkpoint), `begun` (since when the key signs), `fault` (why there is no newer one)
//! and, derived from the log, `hashes` and `tree.json`.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

use super::begun::Begun;
use super::checkpoint::Signed;
use super::error::TlogError;
use super::keys::{Kind, SignerKey, VerifierKey};
use super::note::{NOTE_MAX, Note};
use super::signer::{KeyCommand, Signer};
use super::tree::{Nodes, kept, position};
use crate::audit::AuditError;
use crate::audit::layout::{open_regular, owned, sync_dir};
use crate::audit::scan::Walk;
use crate::model::{Digest, visible};

/// Why a folder of checkpoints cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Unsafe(#[from] AuditError),
    #[error("{}: {source}", path.display())]
    Content { path: PathBuf, source: TlogError },
    #[error("{}: others can read this key (mode {mode:04o}); they may have signed with it", path.display())]
    OpenKey { path: PathBuf, mode: u32 },
    #[error("{}: these are the checkpoints of the log in {}", path.display(), log.display())]
    OtherLog { path: PathBuf, log: PathBuf },
    #[error("{}: another dashboard uses it", .0.display())]
    InUse(PathBuf),
    #[error("{}: it is gone, and a checkpoint is there that it would check", .0.display())]
    KeyGone(PathBuf),
    #[error(
        "{}: it is gone, with the newest checkpoint (`latest`), and the hashes of the records that were signed are there",
        .0.display()
    )]
    AllGone(PathBuf),
    #[error("{}: it is gone, and {left}, which follows the first checkpoint, is there", path.display())]
    LatestGone { path: PathBuf, left: &'static str },
    #[error(
        "{}: the key that signs is gone, and there are checkpoints that it signed; set `key_command` if a command did, or move \
         the folder away and keep it: another key and another log's name then begin",
        .0.display()
    )]
    SignerGone(PathBuf),
    #[error(
        "`key_command` signs checkpoints, and {} is a key that signs them too; leave `key_command` out, or move the key's \
         folder away and keep it: another log's name then begins",
        .0.display()
    )]
    TwoKeys(PathBuf),
    #[error(
        "{}: the checkpoints here are signed by {}, and `key_public` is {}; move the folder away and keep it: another log's \
         name then begins",
        path.display(), visible(.there), visible(.wanted)
    )]
    OtherKey {
        path: PathBuf,
        there: String,
        wanted: String,
    },
}

impl StoreError {
    /// Whether the folder was read, and contradicts itself.
    pub fn contradicts(&self) -> bool {
        matches!(
            self,
            Self::Content { .. } | Self::KeyGone(_) | Self::AllGone(_) | Self::LatestGone { .. }
        )
    }

    /// Whether this reader may not read it, which says nothing of what is there.
    pub fn denies(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied)
    }
}

/// What is written after the first checkpoint.
const AFTER: [&str; 2] = ["begun", "tree.json"];

/// A folder of checkpoints.
#[derive(Clone, Debug)]
pub struct Store {
    dir: PathBuf,
}

/// Where the notary goes on after a restart.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Place {
    pub walk: Walk,
    pub size: u64,
}

impl Store {
    pub fn at(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
        }
    }

    /// The folder beside a state folder: `<state folder>-checkpoints`.
    pub fn beside(state_dir: &Path) -> Self {
        let state = fs::canonicalize(state_dir).unwrap_or_else(|_| state_dir.to_owned());
        let mut name = state.into_os_string();
        name.push("-checkpoints");
        Self { dir: name.into() }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether the key that signs lies here: whoever can read it can sign another log.
    pub fn has_private_key(&self) -> bool {
        self.file("key").exists()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn io(&self, name: &str) -> impl FnOnce(io::Error) -> StoreError + use<> {
        let path = self.file(name);
        move |source| StoreError::Io { path, source }
    }

    fn content(&self, name: &str) -> impl FnOnce(TlogError) -> StoreError + use<> {
        let path = self.file(name);
        move |source| StoreError::Content { path, source }
    }

    /// The file's content, `None` if there is none.
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let file = match open_regular(&self.file(name)) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(self.io(name)(e)),
        };
        let mut bytes = Vec::new();
        let read = file.take(NOTE_MAX as u64 + 1).read_to_end(&mut bytes);
        read.map_err(self.io(name))?;
        Ok(Some(bytes))
    }

    /// Replaces a file, durably.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let new = self.file(&format!("{name}.new"));
        let written = || {
            let _ = fs::remove_file(&new);
            let mut file = private().write(true).create_new(true).open(&new)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&new, self.file(name))?;
            sync_dir(&self.dir)
        };
        written().map_err(self.io(name))
    }

    /// The key that checks this log's checkpoints; `None` if there is none yet.
    pub fn key(&self) -> Result<Option<VerifierKey>, StoreError> {
        let Some(bytes) = self.read("key.pub")? else {
            let path = self.file("key.pub");
            return match self.read("latest")?.is_some() || self.left().is_some() {
                true => Err(StoreError::KeyGone(path)),
                // The key is made before them.
                false
                    if self
                        .hashes()
                        .is_ok_and(|hashes| hashes.is_empty().is_ok_and(|none| !none)) =>
                {
                    Err(StoreError::AllGone(path))
                }
                false => Ok(None),
            };
        };
        let text = String::from_utf8_lossy(&bytes);
        let key = text.trim_end().parse().map_err(self.content("key.pub"))?;
        Ok(Some(key))
    }

    /// The newest checkpoint; `None` if there is none yet.
    pub fn latest(&self, key: &VerifierKey) -> Result<Option<Signed>, StoreError> {
        let Some(bytes) = self.read("latest")? else {
            return match self.left() {
                None => Ok(None),
                Some(left) => Err(StoreError::LatestGone {
                    path: self.file("latest"),
                    left,
                }),
            };
        };
        Signed::read(&bytes, key)
            .map(Some)
            .map_err(self.content("latest"))
    }

    /// Since when this key signs; `None` if nothing says so, as from earlier versions.
    pub fn begun(&self, key: &VerifierKey) -> Result<Option<Begun>, StoreError> {
        let Some(bytes) = self.read("begun")? else {
            return Ok(None);
        };
        let begun = Begun::read(&bytes, key).map_err(self.content("begun"))?;
        Ok(Some(begun))
    }

    pub(super) fn keep_begun(&self, begun: &Note) -> Result<(), StoreError> {
        self.write("begun", begun.print().as_bytes())
    }

    /// What shows that there was a checkpoint.
    fn left(&self) -> Option<&'static str> {
        let there = |name: &&str| fs::symlink_metadata(self.file(name)).is_ok();
        AFTER.into_iter().find(there)
    }

    pub(super) fn keep(&self, signed: &Signed) -> Result<(), StoreError> {
        self.write("latest", signed.note.print().as_bytes())
    }

    /// Which log's checkpoints these are.
    pub fn log(&self) -> Result<Option<PathBuf>, StoreError> {
        use std::os::unix::ffi::OsStringExt as _;
        let bytes = self.read("log")?;
        Ok(bytes.map(|bytes| PathBuf::from(std::ffi::OsString::from_vec(bytes))))
    }

    /// Makes the folder for the log of this state folder, and locks it until the lock is dropped.
    pub(super) fn make(&self, state_dir: &Path) -> Result<Flock<File>, StoreError> {
        use std::os::unix::ffi::OsStrExt as _;
        let made = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.dir);
        made.map_err(self.io(""))?;
        let meta = fs::symlink_metadata(&self.dir).map_err(self.io(""))?;
        owned(&self.dir, &meta, 0o077)?;
        let lock = private()
            .write(true)
            .create(true)
            .truncate(false)
            .open(self.file("lock"));
        let lock = Flock::lock(
            lock.map_err(self.io("lock"))?,
            FlockArg::LockExclusiveNonblock,
        )
        .map_err(|_| StoreError::InUse(self.dir.clone()))?;
        match self.log()? {
            None => self.write("log", state_dir.as_os_str().as_bytes())?,
            Some(log) if log == state_dir => {}
            Some(log) => {
                let path = self.dir.clone();
                return Err(StoreError::OtherLog { path, log });
            }
        }
        Ok(lock)
    }

    /// Why the newest record is not signed or not handed on, as far as a dashboard told.
    pub fn fault(&self) -> Option<String> {
        let bytes = self.read("fault").ok()??;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Others are told on a best-effort basis; the person at the screen is told as well.
    pub(super) fn tell_fault(&self, why: Option<&str>) {
        let told = match why {
            Some(why) => self.write("fault", why.as_bytes()),
            None => match fs::remove_file(self.file("fault")) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => Err(self.io("fault")(e)),
                _ => Ok(()),
            },
        };
        if let Err(e) = told {
            tracing::warn!("checkpoints: {e}");
        }
    }

    /// Whether a command may sign here.
    ///
    /// # Errors
    /// If the folder has a key of its own, or what another key signed.
    pub fn is_for(&self, command: &KeyCommand) -> Result<(), StoreError> {
        let path = self.file("key");
        match fs::symlink_metadata(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(self.io("key")(e)),
            Ok(_) => return Err(StoreError::TwoKeys(path)),
        }
        let wanted = command.key();
        match self.key()? {
            Some(there) if there != *wanted && self.read("latest")?.is_some() => {
                Err(StoreError::OtherKey {
                    path: self.dir.clone(),
                    there: there.to_string(),
                    wanted: wanted.to_string(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Who signs: the command, or the key here, which is made at first need.
    pub(super) fn signer(&self, command: Option<&KeyCommand>) -> Result<Signer, StoreError> {
        let Some(command) = command else {
            return self.key_that_signs().map(Signer::File);
        };
        self.is_for(command)?;
        let public = format!("{}\n", command.key());
        if self.read("key.pub")?.as_deref() != Some(public.as_bytes()) {
            self.write("key.pub", public.as_bytes())?;
        }
        Ok(Signer::Command(command.clone()))
    }

    pub(super) fn key_that_signs(&self) -> Result<SignerKey, StoreError> {
        let path = self.file("key");
        let key = match open_regular(&path) {
            Ok(file) => {
                let mode = file.metadata().map_err(self.io("key"))?.mode() & 0o777;
                if mode & 0o077 != 0 {
                    return Err(StoreError::OpenKey { path, mode });
                }
                let bytes = self.read("key")?.unwrap_or_default();
                let text = String::from_utf8_lossy(&bytes);
                SignerKey::parse(&text).map_err(self.content("key"))?
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => match self.read("latest")? {
                None => {
                    // Where something was signed, another key does not begin unheard.
                    self.key()?;
                    self.new_key()?
                }
                Some(_) => return Err(StoreError::SignerGone(path)),
            },
            Err(e) => return Err(self.io("key")(e)),
        };
        let public = format!("{}\n", key.verifier);
        if self.read("key.pub")?.as_deref() != Some(public.as_bytes()) {
            self.write("key.pub", public.as_bytes())?;
        }
        Ok(key)
    }

    fn new_key(&self) -> Result<SignerKey, StoreError> {
        let (mut seed, mut name) = ([0; 32], [0; 16]);
        for bytes in [&mut seed[..], &mut name[..]] {
            getrandom::fill(bytes).map_err(|e| self.io("key")(io::Error::other(e)))?;
        }
        let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        let key = SignerKey::new(&format!("countersign/{name}"), Kind::Note, &seed);
        self.write("key", key.text().as_bytes())?;
        Ok(key)
    }

    pub(super) fn place(&self) -> Option<Place> {
        serde_json::from_slice(&self.read("tree.json").ok()??).ok()
    }

    pub(super) fn keep_place(&self, place: &Place) -> Result<(), StoreError> {
        let json = serde_json::to_vec(place).map_err(|e| self.io("tree.json")(e.into()))?;
        self.write("tree.json", &json)
    }

    /// The hashes of the tree, for reading.
    pub fn hashes(&self) -> io::Result<HashFile> {
        Ok(HashFile(open_regular(&self.file("hashes"))?))
    }

    pub(super) fn hashes_to_write(&self) -> Result<HashFile, StoreError> {
        let mut options = private();
        options.read(true).write(true).create(true).truncate(false);
        options.custom_flags(nix::libc::O_NOFOLLOW);
        let opened = options.open(self.file("hashes"));
        Ok(HashFile(opened.map_err(self.io("hashes"))?))
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// The hashes of complete subtrees, in the order in which they became complete.
#[derive(Debug)]
pub struct HashFile(File);

impl HashFile {
    /// Replaces what follows the hashes of a tree of this size.
    pub(super) fn append(&self, size: u64, hashes: &[Digest]) -> io::Result<()> {
        let bytes: Vec<u8> = hashes.iter().flat_map(|hash| *hash.as_bytes()).collect();
        self.0.write_all_at(&bytes, kept(size) * 32)
    }

    pub(super) fn is_empty(&self) -> io::Result<bool> {
        Ok(self.0.metadata()?.len() == 0)
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

impl Nodes for HashFile {
    fn node(&self, level: u32, n: u64) -> io::Result<Digest> {
        let mut bytes = [0; 32];
        self.0.read_exact_at(&mut bytes, position(level, n) * 32)?;
        Ok(Digest::from_bytes(bytes))
    }
}
