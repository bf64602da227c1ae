//! The managed environment: made once in the user's data folder, and reused.
//!
//! `<data>/python/<lock>-<version>/` is a virtual environment with a stamp that is written last. It
//! is made in a folder beside that and then renamed, under a lock: concurrent setups wait for each
//! other, and an interrupted one leaves nothing that looks complete. The environment of another
//! version's lock file is removed once that of this version is made, unless a dashboard holds it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use super::find::find_base;
use super::install::Install;
use super::probe::{Probed, examine};
use super::{PythonEnv, RuntimeError, lock, stamp};

/// Prefix of folders that are not finished or no longer wanted.
const UNFINISHED: &str = ".making-";

/// The progress of making the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The current step, for a person; it contains nothing that needs escaping.
    pub step: String,
    /// Steps done of `total`; never decreases.
    pub done: u64,
    pub total: u64,
}

/// A managed environment in use, which is not replaced.
#[derive(Debug)]
pub struct Held {
    _lock: Flock<File>,
}

/// The managed environments of one data folder.
#[derive(Clone, Debug)]
pub struct Managed {
    root: PathBuf,
}

impl Managed {
    /// Names the folder without touching it.
    pub fn at(data_dir: &Path) -> Self {
        Self {
            root: data_dir.join("python"),
        }
    }

    /// The environment, if a complete and unchanged one exists. Takes milliseconds and starts no
    /// process.
    pub fn ready(&self) -> Option<PythonEnv> {
        self.latest(stamp::read)
    }

    /// An environment of another version, which the next [`Managed::make`] replaces.
    pub fn other(&self) -> Option<PythonEnv> {
        self.latest(stamp::read_other)
    }

    fn latest(&self, read: impl Fn(&Path) -> Option<PythonEnv>) -> Option<PythonEnv> {
        let uid = nix::unistd::geteuid().as_raw();
        let meta = fs::symlink_metadata(&self.root).ok()?;
        if !meta.is_dir() || meta.uid() != uid || meta.mode() & 0o022 != 0 {
            return None;
        }
        let found = fs::read_dir(&self.root).ok()?;
        found
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
                let folder = !hidden && entry.file_type().ok()?.is_dir();
                folder.then(|| read(&entry.path()))?
            })
            .max_by_key(|env| env.version)
    }

    /// Keeps another version from replacing a managed environment while the value lives. `None` if
    /// there is nothing to keep: the environment is the user's own or already being removed.
    pub fn hold(env: &PythonEnv) -> Option<Held> {
        stamp::hold(&env.prefix).map(|lock| Held { _lock: lock })
    }

    /// Makes the environment, or waits for another process that makes it.
    ///
    /// # Errors
    /// Each error contains a remedy: no Python, no venv module, no network, a package that differs
    /// from the lock, a full disk, a folder that cannot be written.
    pub fn make(&self, progress: &mut dyn FnMut(Progress)) -> Result<PythonEnv, RuntimeError> {
        self.make_with(progress, find_base)
    }

    fn make_with(
        &self,
        progress: &mut dyn FnMut(Progress),
        find: impl FnOnce() -> Result<Probed, RuntimeError>,
    ) -> Result<PythonEnv, RuntimeError> {
        if let Some(env) = self.ready() {
            return Ok(env);
        }
        self.folder()?;
        let lock = self.lock(progress)?;
        // The previous holder of the lock may have made it.
        if let Some(env) = self.ready() {
            return Ok(env);
        }
        self.sweep();
        let other = self.other();
        if other.is_some() {
            progress(Progress {
                step: "replacing the environment of another version".to_owned(),
                done: 0,
                total: 1,
            });
        }
        let made = self.make_anew(progress, find, &lock);
        match (made, other) {
            (Err(error), Some(other)) => Err(error.beside(&other)),
            (Ok(env), _) => {
                self.retire();
                Ok(env)
            }
            (Err(error), None) => Err(error),
        }
    }

    /// Call only with the lock held.
    fn make_anew(
        &self,
        progress: &mut dyn FnMut(Progress),
        find: impl FnOnce() -> Result<Probed, RuntimeError>,
        lock: &File,
    ) -> Result<PythonEnv, RuntimeError> {
        let base = find()?;
        let making = Making(
            self.root
                .join(format!("{UNFINISHED}{}", std::process::id())),
        );
        let log = self.root.join("setup.log");
        Install {
            base: &base,
            folder: &making.0,
            log: log.clone(),
            lock,
        }
        .run(progress)?;
        // Probed before and after the rename, because the result contains paths.
        let made = examine(&making.0.join("bin/python"))?;
        if let Some(missing) = missing(&made.env) {
            return Err(RuntimeError::Incomplete { missing, log });
        }
        let folder = self.root.join(lock::folder(base.env.version));
        self.put_in_place(&making.0, &folder)
            .map_err(|e| RuntimeError::folder(&folder, "made", &e))?;
        let probed = examine(&folder.join("bin/python"))?;
        stamp::write(&folder, &probed).map_err(|e| RuntimeError::folder(&folder, "made", &e))?;
        self.ready().ok_or_else(|| RuntimeError::Folder {
            path: folder,
            problem: "was made but did not pass its check".to_owned(),
            remedy: "see that nothing else changes it and run `countersign setup` again".to_owned(),
        })
    }

    /// Makes the folder. Others may read it: a run may belong to another user with fewer rights.
    fn folder(&self) -> Result<(), RuntimeError> {
        let refuse = |problem: String, remedy: &str| RuntimeError::Folder {
            path: self.root.clone(),
            problem,
            remedy: remedy.to_owned(),
        };
        DirBuilder::new()
            .recursive(true)
            .mode(0o755)
            .create(&self.root)
            .map_err(|e| RuntimeError::folder(&self.root, "created", &e))?;
        let meta = fs::symlink_metadata(&self.root)
            .map_err(|e| RuntimeError::folder(&self.root, "read", &e))?;
        if !meta.is_dir() {
            return Err(refuse("is not a folder".to_owned(), "move it away"));
        }
        if meta.uid() != nix::unistd::geteuid().as_raw() {
            return Err(refuse(
                format!("belongs to uid {}", meta.uid()),
                "the environment needs a folder of your own",
            ));
        }
        if meta.mode() & 0o022 != 0 {
            return Err(refuse(
                "can be written by others, who could change what runs".to_owned(),
                "take that away with chmod go-w",
            ));
        }
        Ok(())
    }

    fn lock(&self, progress: &mut dyn FnMut(Progress)) -> Result<Flock<File>, RuntimeError> {
        let path = self.root.join("lock");
        let failed = |e: io::Error| RuntimeError::folder(&path, "locked", &e);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        let file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(lock),
            Err((file, Errno::EWOULDBLOCK)) => file,
            Err((_, e)) => return Err(failed(e.into())),
        };
        progress(Progress {
            step: "waiting for another setup to finish".to_owned(),
            done: 0,
            total: 1,
        });
        let mut file = Some(file);
        while let Some(waiting) = file.take() {
            match Flock::lock(waiting, FlockArg::LockExclusive) {
                Ok(lock) => return Ok(lock),
                Err((again, Errno::EINTR)) => file = Some(again),
                Err((_, e)) => return Err(failed(e.into())),
            }
        }
        Err(failed(io::Error::other("the lock was lost")))
    }

    /// Removes what interrupted processes left. Call only with the lock held.
    fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.root) else {
            return;
        };
        for entry in entries.flatten() {
            if entry
                .file_name()
                .as_encoded_bytes()
                .starts_with(UNFINISHED.as_bytes())
            {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Removes the environments of other lock files that no dashboard holds. Call only with the
    /// lock held.
    fn retire(&self) {
        let Ok(entries) = fs::read_dir(&self.root) else {
            return;
        };
        for entry in entries.flatten() {
            let folder = entry.path();
            let name = entry.file_name();
            if !name.to_str().is_some_and(lock::is_of_another) || stamp::is_held(&folder) {
                continue;
            }
            // If this is interrupted, the next sweep removes the rest.
            let going = self.root.join(format!(
                "{UNFINISHED}{}-{}",
                std::process::id(),
                name.display()
            ));
            if fs::rename(&folder, &going).is_ok() {
                let _ = fs::remove_dir_all(&going);
            }
        }
    }

    /// Renames the new environment to its final name; an unusable one there is removed.
    fn put_in_place(&self, made: &Path, folder: &Path) -> io::Result<()> {
        let old = self
            .root
            .join(format!("{UNFINISHED}{}-old", std::process::id()));
        match fs::rename(folder, &old) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
        fs::rename(made, folder)?;
        let _ = fs::remove_dir_all(&old);
        File::open(&self.root)?.sync_all()
    }
}

/// The first locked package that the environment lacks.
fn missing(env: &PythonEnv) -> Option<String> {
    lock::packages()
        .into_iter()
        .find(|name| !env.distributions.iter().any(|(there, _)| there == name))
        .map(str::to_owned)
}

/// A folder that is removed on drop unless it was renamed.
struct Making(PathBuf);

impl Drop for Making {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
#[path = "managed_tests.rs"]
mod tests;
