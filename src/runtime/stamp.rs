//! Tells within milliseconds whether a managed environment is still as it was made.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

use super::PythonEnv;
use super::lock;
use super::probe::{Identity, Probed};
use crate::model::Digest;

/// The file in the environment's folder that is written last: a folder without it is incomplete.
const NAME: &str = "countersign.json";
const CAP: u64 = 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Stamp {
    /// The digest of the lock file of the environment.
    lock: Digest,
    executable: Identity,
    /// Folders of installed packages. They change when a package is installed, removed or upgraded.
    site_packages: Vec<(PathBuf, Identity)>,
    env: PythonEnv,
}

/// Marks the environment as complete.
pub(super) fn write(folder: &Path, probed: &Probed) -> io::Result<()> {
    let identity = |path: &Path| Identity::of(path).map_err(io::Error::other);
    let stamp = Stamp {
        lock: lock::digest(),
        executable: identity(&probed.env.executable)?,
        site_packages: probed
            .site_packages
            .iter()
            .map(|p| Ok((p.clone(), identity(p)?)))
            .collect::<io::Result<_>>()?,
        env: probed.env.clone(),
    };
    let temporary = folder.join(format!("{NAME}.tmp"));
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o644)
        .open(&temporary)?;
    file.write_all(&serde_json::to_vec(&stamp)?)?;
    file.sync_all()?;
    fs::rename(&temporary, folder.join(NAME))?;
    File::open(folder)?.sync_all()
}

/// The environment in `folder`, if it is sound and made from this version's lock file.
pub(super) fn read(folder: &Path) -> Option<PythonEnv> {
    let stamp = sound(folder)?;
    (stamp.lock == lock::digest()).then_some(stamp.env)
}

/// The environment in `folder`, if it is sound and made from another version's lock file.
pub(super) fn read_other(folder: &Path) -> Option<PythonEnv> {
    let stamp = sound(folder)?;
    (stamp.lock != lock::digest()).then_some(stamp.env)
}

/// Holds the environment in `folder` while the value lives, so that nobody removes it as unwanted.
/// `None` if somebody is removing it.
pub(super) fn hold(folder: &Path) -> Option<Flock<File>> {
    Flock::lock(stamp_of(folder)?, FlockArg::LockSharedNonblock).ok()
}

/// Whether somebody holds the environment in `folder`. An environment without a stamp is not held.
pub(super) fn is_held(folder: &Path) -> bool {
    stamp_of(folder).is_some_and(|file| Flock::lock(file, FlockArg::LockExclusiveNonblock).is_err())
}

fn stamp_of(folder: &Path) -> Option<File> {
    File::open(folder.join(NAME)).ok()
}

/// The stamp of the environment in `folder`, if it is complete, belongs to this user or root, and
/// neither interpreter nor packages have changed since.
fn sound(folder: &Path) -> Option<Stamp> {
    let file = stamp_of(folder)?;
    let meta = file.metadata().ok()?;
    let uid = nix::unistd::geteuid().as_raw();
    let ours = |uid_there: u32| uid_there == uid || uid_there == 0;
    if !meta.is_file() || !ours(meta.uid()) || meta.mode() & 0o022 != 0 {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(CAP).read_to_end(&mut bytes).ok()?;
    let stamp: Stamp = serde_json::from_slice(&bytes).ok()?;
    let same = |path: &Path, then: Identity| Identity::of(path).is_ok_and(|now| now == then);
    let unchanged = fs::canonicalize(folder).is_ok_and(|f| f == stamp.env.prefix)
        && same(&stamp.env.executable, stamp.executable)
        && !stamp.site_packages.is_empty()
        && stamp.site_packages.iter().all(|(p, i)| same(p, *i));
    unchanged.then_some(stamp)
}
