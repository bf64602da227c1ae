//! The run's own folder: made by the broker, filled by the payload, removed with whatever is in it.
//!
//! What the payload left is hostile: thousands of nested folders, folders without permissions,
//! links. Removing holds three descriptors at most, follows no link and does not recurse.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::{Mode, fchmod};
use nix::unistd::{UnlinkatFlags, unlinkat};

/// Where the snippet runs: its working directory and output folder.
pub const OUTPUT: &str = "out";
/// Where libraries put caches that are no output.
pub const HOME: &str = "home";

/// What the name of a run's folder begins with.
pub const PREFIX: &str = "countersign-run-";

/// Makes an empty folder, 0700, of a name nobody could guess.
pub fn make() -> io::Result<PathBuf> {
    let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?.keep();
    // The helper may stand in another mount namespace: no symlink, no relative path.
    folder.canonicalize()
}

/// The output folder, held: what is collected from it later is what lies in it, whatever is
/// mounted or moved in the meantime, and although the payload's mounts are gone by then.
pub fn output(scratch: &Path) -> nix::Result<OwnedFd> {
    nix::fcntl::open(
        &scratch.join(OUTPUT),
        OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC,
        Mode::empty(),
    )
}

/// A held place from which the folder can be removed although the helper's own view of the file
/// system is read-only: a descriptor keeps the mount it was opened on.
pub struct Held {
    parent: OwnedFd,
    name: CString,
}

impl Held {
    pub fn open(folder: &Path) -> io::Result<Self> {
        let odd = || io::Error::new(io::ErrorKind::InvalidInput, "the run's folder has no name");
        let parent = folder.parent().ok_or_else(odd)?;
        let name = folder.file_name().ok_or_else(odd)?;
        Ok(Self {
            parent: nix::fcntl::open(
                parent,
                OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC,
                Mode::empty(),
            )?,
            name: CString::new(name.as_encoded_bytes())?,
        })
    }

    /// Removes the folder and everything in it. A folder that is not there is a success.
    pub fn remove(&self) -> io::Result<()> {
        let folder = match open_folder(self.parent.as_fd(), &self.name) {
            Err(Errno::ENOENT) => return Ok(()),
            other => other?,
        };
        empty(folder)?;
        match unlinkat(&self.parent, self.name.as_c_str(), UnlinkatFlags::RemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }
}

pub(crate) fn open_folder(at: BorrowedFd<'_>, name: &CStr) -> nix::Result<OwnedFd> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    match openat(at, name, flags, Mode::empty()) {
        Err(Errno::EACCES) => {
            // A folder its owner locked: opened as a place, unlocked through it.
            let place = openat(
                at,
                name,
                OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC,
                Mode::empty(),
            )?;
            unlock(&place)?;
            openat(at, name, flags, Mode::empty())
        }
        other => other,
    }
}

fn unlock(place: &OwnedFd) -> nix::Result<()> {
    // fchmod refuses O_PATH descriptors; the magic link names the same inode and no other.
    nix::sys::stat::fchmodat(
        nix::fcntl::AT_FDCWD,
        format!("/proc/self/fd/{}", place.as_raw_fd()).as_str(),
        Mode::S_IRWXU,
        nix::sys::stat::FchmodatFlags::FollowSymlink,
    )
}

/// Empties a folder. A folder inside it is emptied by moving what it holds up here first, so
/// that depth costs neither stack nor descriptors.
fn empty(top: OwnedFd) -> io::Result<()> {
    let mut moved = 0u64;
    loop {
        let names = entries(&top)?;
        if names.is_empty() {
            return Ok(());
        }
        for name in names {
            match unlinkat(&top, name.as_c_str(), UnlinkatFlags::NoRemoveDir) {
                Ok(()) | Err(Errno::ENOENT) => continue,
                Err(Errno::EISDIR | Errno::EPERM) => {}
                Err(e) => return Err(e.into()),
            }
            if unlinkat(&top, name.as_c_str(), UnlinkatFlags::RemoveDir).is_ok() {
                continue;
            }
            let inner = open_folder(top.as_fd(), &name)?;
            fchmod(&inner, Mode::S_IRWXU)?;
            for child in entries(&inner)? {
                match unlinkat(&inner, child.as_c_str(), UnlinkatFlags::NoRemoveDir) {
                    Ok(()) | Err(Errno::ENOENT) => continue,
                    Err(_) => {}
                }
                // A folder without write permission cannot be moved to another parent.
                fchmod(open_folder(inner.as_fd(), &child)?, Mode::S_IRWXU)?;
                moved += 1;
                let fresh = CString::new(format!("\u{1}{moved}-{}", std::process::id()))?;
                nix::fcntl::renameat(&inner, child.as_c_str(), &top, fresh.as_c_str())?;
            }
            unlinkat(&top, name.as_c_str(), UnlinkatFlags::RemoveDir)?;
        }
    }
}

/// The names in a folder.
pub(crate) fn entries(folder: &OwnedFd) -> io::Result<Vec<CString>> {
    std::fs::read_dir(format!("/proc/self/fd/{}", folder.as_raw_fd()))?
        .map(|entry| Ok(CString::new(entry?.file_name().into_encoded_bytes())?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn whatever_a_run_leaves_is_removed_and_nothing_else() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("keep"), "x").unwrap();
        let run = make().unwrap();
        symlink(outside.path(), run.join("link")).unwrap();
        std::fs::create_dir_all(run.join("a/b/c")).unwrap();
        std::fs::write(run.join("a/b/c/file"), "x").unwrap();
        nix::unistd::mkfifo(&run.join("a/fifo"), Mode::S_IRWXU).unwrap();
        std::fs::set_permissions(run.join("a/b"), PermissionsExt::from_mode(0o000)).unwrap();
        std::fs::set_permissions(run.join("a"), PermissionsExt::from_mode(0o500)).unwrap();
        Held::open(&run).unwrap().remove().unwrap();
        assert!(!run.exists());
        assert!(outside.path().join("keep").exists());
        Held::open(&run).unwrap().remove().unwrap();
    }

    #[test]
    fn depth_costs_nothing() {
        let run = make().unwrap();
        let mut at = nix::fcntl::open(&run, OFlag::O_DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..3_000 {
            nix::sys::stat::mkdirat(&at, "d", Mode::S_IRWXU).unwrap();
            at = openat(&at, "d", OFlag::O_DIRECTORY, Mode::empty()).unwrap();
        }
        drop(at);
        Held::open(&run).unwrap().remove().unwrap();
        assert!(!run.exists());
    }
}
