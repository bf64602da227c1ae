//! SHA-256 of files by what tells them apart, kept between starts: reading a whole environment takes
//! a second, and hardly anything of it ever changes.
//!
//! An entry is as good as the file it lies in: whoever can write that could say that a changed file
//! is the old one. So it counts only if it is a plain file of this user's that nobody else can read
//! or write, in a folder that nobody else can write to. Somebody who is this user already can change
//! more than that (README, what is not promised).

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use sha2::{Digest as _, Sha256};

use super::hash::Sum;
use super::walk::Stamp;

/// First bytes of the file; another version begins anew.
const MAGIC: &[u8; 16] = b"cs environment 1";
/// Five numbers and a sum.
const RECORD: usize = 5 * 8 + 32;
/// Entries that are kept of files that were not met this time, of other environments.
const OTHERS_MAX: usize = 200_000;
const BYTES_MAX: u64 = (4 * OTHERS_MAX * RECORD) as u64;

/// What is known of files that were read before.
#[derive(Debug, Default)]
pub struct Cache {
    path: PathBuf,
    known: HashMap<Stamp, Sum>,
    met: HashMap<Stamp, Sum>,
    /// Whether it has something that the file has not.
    is_new: bool,
}

impl Cache {
    /// Knows nothing where there is no file, or none to be trusted.
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

    /// Writes what is new. `now` in nanoseconds since the epoch: what claims to have been changed
    /// later than that may be changed again without a trace, and is not kept.
    ///
    /// # Errors
    /// When it cannot be written; nothing is lost but time.
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
        // As others make it: where a run's own user has to find the environment.
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
        // 0600 from the start.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&bytes)?;
        file.persist(&self.path).map_err(|e| e.error)?;
        self.is_new = false;
        Ok(())
    }
}

/// The file's bytes, if only this user can have written them.
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

/// None of a file that is not whole: it may be half of another one.
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
