//! What a host remembers in its state folder: what it published itself, and what it saw of others. An engine that was rewritten does
//! not reach that.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::audit::Ends;
use crate::model::Digest;

use super::admitted::Admitted;
use super::chain::Chain;
use super::published::Link;

const OWN: &str = "desk/published.json";
const SEEN: &str = "desk/seen.json";
const DOUBT: &str = "desk/doubt.json";
const FILE_MAX: u64 = 16 * 1024 * 1024;
/// Earlier checkpoints of one host that are remembered.
const EARLIER_MAX: usize = 64;
/// With more than these the file is not written again for each of them: an earlier place costs reading only.
const ENDS_MAX: usize = 4096;

/// What this host published last.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Own {
    pub last: Option<Last>,
    /// Which final records are still to be proved.
    pub ends: Ends,
}

/// A checkpoint as it was published.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Last {
    /// Fingerprint of the host's key.
    pub key: String,
    pub size: u64,
    pub root: Digest,
    pub number: u64,
    pub body: String,
    pub signature: String,
}

/// What was seen of other hosts, by their names.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sight(pub BTreeMap<String, Seen>);

/// The newest checkpoint of a host that fits all that was seen of it before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Fingerprint of the host's key.
    pub key: String,
    pub size: u64,
    pub root: Digest,
    pub number: u64,
    pub at: Timestamp,
    /// The oldest first.
    pub earlier: Vec<(u64, Digest, u64)>,
    /// Why nothing of it is signed any more.
    pub doubt: Option<String>,
    /// That its log is not the one that it signed, by its own word. Nothing of it is signed meanwhile.
    #[serde(default)]
    pub admitted: Option<Admitted>,
}

/// That this host's log is not the one that it signed, as it says so to others. It is kept in the folder that it is about, so it goes
/// when the newer one is put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnDoubt {
    /// Fingerprint of the host's key.
    pub key: String,
    pub admitted: Admitted,
    pub body: String,
    pub signature: String,
    /// Why others cannot hear it, if so.
    #[serde(default)]
    pub unheard: Option<String>,
}

impl OwnDoubt {
    /// # Errors
    /// If there is a file that cannot be read.
    pub fn open(state_dir: &Path, key: &str) -> Result<Option<Self>, String> {
        let doubt: Option<Self> = read(&state_dir.join(DOUBT))?;
        // What another key signed says nothing of this one's log.
        Ok(doubt.filter(|doubt| doubt.key == key))
    }

    /// That others do not hear it, for the operator.
    pub fn silence(&self) -> Option<String> {
        let why = self.unheard.as_ref()?;
        Some(format!(
            "OTHERS DO NOT HEAR IT, and it is tried again: {why}"
        ))
    }

    /// # Errors
    /// If it cannot be written.
    pub fn keep(&self, state_dir: &Path) -> Result<(), String> {
        write(&state_dir.join(DOUBT), &Some(self))
    }

    /// The log is again the one that was signed.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn end(state_dir: &Path) -> Result<(), String> {
        let path = state_dir.join(DOUBT);
        fs::remove_file(&path).map_err(|e| format!("{}: {e}", path.display()))
    }
}

impl Own {
    /// # Errors
    /// If there is a file that cannot be read.
    pub fn open(state_dir: &Path, key: &str) -> Result<Self, String> {
        let mut own: Self = read(&state_dir.join(OWN))?;
        // To others, another key is another host.
        own.last = own.last.filter(|last| last.key == key);
        Ok(own)
    }

    /// # Errors
    /// If it cannot be written.
    pub fn keep(&self, state_dir: &Path) -> Result<(), String> {
        write(&state_dir.join(OWN), self)
    }

    /// Whether what is still to be proved is short enough to be written often.
    pub fn is_short(&self) -> bool {
        self.ends.left() <= ENDS_MAX
    }
}

/// What was seen from this state folder.
///
/// # Errors
/// If there is a file that cannot be read.
pub fn read_seen(state_dir: &Path) -> Result<Sight, String> {
    read(&state_dir.join(SEEN))
}

impl Sight {
    /// # Errors
    /// If it cannot be written.
    pub fn keep(&self, state_dir: &Path) -> Result<(), String> {
        write(&state_dir.join(SEEN), self)
    }
}

impl Seen {
    pub fn link(&self) -> Link {
        (self.size, self.root)
    }

    /// Goes on to a checkpoint that extends this one.
    pub fn goes_on(&mut self, (size, root): Link, number: u64, at: Timestamp) {
        self.earlier.push((self.size, self.root, self.number));
        if self.earlier.len() > EARLIER_MAX {
            self.earlier.remove(0);
        }
        (self.size, self.root, self.number, self.at) = (size, root, number, at);
    }

    pub fn tell(&self, chain: &mut Chain) {
        for (size, root, number) in &self.earlier {
            chain.know((*size, *root), *number, self.at);
        }
        chain.know(self.link(), self.number, self.at);
        if let Some(admitted) = &self.admitted {
            chain.admit(admitted.clone());
        }
    }
}

fn read<T: DeserializeOwned + Default>(path: &Path) -> Result<T, String> {
    let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(nix::libc::O_NOFOLLOW);
    let file = match options.open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(T::default()),
        file => file.map_err(|e| failed(&e))?,
    };
    let mut bytes = Vec::new();
    let read = file.take(FILE_MAX).read_to_end(&mut bytes);
    read.map_err(|e| failed(&e))?;
    serde_json::from_slice(&bytes).map_err(|e| failed(&e))
}

/// Replaces the file, durably.
fn write(path: &Path, value: &impl Serialize) -> Result<(), String> {
    let new: PathBuf = path.with_extension("new");
    let written = || -> io::Result<()> {
        let bytes = serde_json::to_vec(value)?;
        match fs::remove_file(&new) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        match path.parent() {
            Some(folder) => File::open(folder)?.sync_all(),
            None => Ok(()),
        }
    };
    written().map_err(|e| format!("{}: {e}", path.display()))
}
