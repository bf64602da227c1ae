//! Caches the SHA-256 of files by their stamps between starts: reading a whole environment takes a
//! second, and most of it never changes.
//!
//! The cache file must be as trustworthy as the environment: a process that can write it could
//! declare a changed file unchanged. So it is used only if it is a plain file of this user that
//! nobody else can read or write, in a folder that nobody else can write to. A process that already
//! runs as this user can change more than that (README, what is not promised).

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use sha2::{Digest as _, Sha256};

use super::hash::Sum;
use super::walk::Stamp;

/// The first bytes of the file. A file of another version is discarded.
const MAGIC: &[u8; 16] = b"cs environment 1";
/// A record is five numbers and a sum.
const RECORD: usize = 5 * 8 + 32;
/// Number of entries to keep for files that were not seen this time, such as those of other
/// environments.
const OTHERS_MAX: usize = 200_000;
const BYTES_MAX: u64 = (4 * OTHERS_MAX * RECORD) as u64;

/// The sums of files that were read before.
#[derive(Debug, Default)]
pub struct Cache {
    path: PathBuf,
    known: HashMap<Stamp, Sum>,
    met: HashMap<Stamp, Sum>,
    /// Whether it has entries that the file lacks.
    is_new: bool,
}

impl Cache {
    /// Opens the cache; it is empty if the file is missing or not trusted.
    pub fn open(path: &Path) -> Self {
        let known = trusted(path).and_then(|bytes| decode(&bytes));
        Self {
            path: path.to_owned(),
            known: known.unwrap_or_default(),
            ..Self::default()
        }
    }

    pub fn known(&mut self, stamp: &Stamp) -> Option<Sum> {
        let sum = *self.known.get(stamp)?;
        self.met.insert(*stamp, sum);
        Some(sum)
    }

    pub fn learn(&mut self, stamp: &Stamp, sum: Sum) {
        self.is_new = true;
        self.met.insert(*stamp, sum);
    }

    /// Writes new entries. `now` is in nanoseconds since the epoch. A file with a later change time
    /// may change again without a trace, so its entry is not kept.
    ///
    /// # Errors
    /// If it cannot be written; that costs only time.
    pub fn save(&mut self, now: i64) -> io::Result<()> {
        if !self.is_new {
            return Ok(());
        }
        let Some(folder) = self.path.parent() else {
            return Ok(());
        };
        let others = self
            .known
            .iter()
            .filter(|(stamp, _)| !self.met.contains_key(*stamp))
            .take(OTHERS_MAX);
        // Uses the default mode, as for the other folders: the run's own user has to find the
        // environment there.
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o755)
            .create(folder)?;
        let mut bytes = MAGIC.to_vec();
        for (stamp, sum) in self.met.iter().chain(others) {
            if stamp.changed < now {
                encode(stamp, sum, &mut bytes);
            }
        }
        let check: Sum = Sha256::digest(&bytes).into();
        bytes.extend_from_slice(&check);
        // The file has mode 0600 from the start.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&bytes)?;
        file.persist(&self.path).map_err(|e| e.error)?;
        self.is_new = false;
        Ok(())
    }
}

/// The bytes of the file, if only this user can have written them.
fn trusted(path: &Path) -> Option<Vec<u8>> {
    let uid = nix::unistd::geteuid().as_raw();
    let folder = fs::metadata(path.parent()?).ok()?;
    if ![uid, 0].contains(&folder.uid()) || folder.mode() & 0o022 != 0 {
        return None;
    }
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
        .open(path)
        .ok()?;
    let meta = file.metadata().ok()?;
    if !meta.is_file() || meta.uid() != uid || meta.mode() & 0o077 != 0 || meta.nlink() != 1 {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn encode(stamp: &Stamp, sum: &Sum, out: &mut Vec<u8>) {
    for number in [stamp.device, stamp.inode, stamp.bytes] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    for time in [stamp.modified, stamp.changed] {
        out.extend_from_slice(&time.to_le_bytes());
    }
    out.extend_from_slice(sum);
}

/// `None` for an incomplete file: its records may be those of another one.
fn decode(bytes: &[u8]) -> Option<HashMap<Stamp, Sum>> {
    let (body, check) = bytes.split_last_chunk::<32>()?;
    if <Sum>::from(Sha256::digest(body)) != *check {
        return None;
    }
    let records = body.strip_prefix(MAGIC)?;
    records.chunks(RECORD).map(decode_one).collect()
}

fn decode_one(record: &[u8]) -> Option<(Stamp, Sum)> {
    let (numbers, sum) = record.split_last_chunk::<32>()?;
    let mut numbers = numbers
        .chunks_exact(8)
        .filter_map(|eight| eight.try_into().ok())
        .map(u64::from_le_bytes);
    let stamp = Stamp {
        device: numbers.next()?,
        inode: numbers.next()?,
        bytes: numbers.next()?,
        modified: numbers.next()?.cast_signed(),
        changed: numbers.next()?.cast_signed(),
    };
    Some((stamp, *sum))
}
