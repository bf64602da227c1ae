//! The run's own folder: made by the broker, filled by the payload, removed with its contents.
//!
//! The contents are hostile: thousands of nested folders, folders without permissions, links.
//! Removing uses at most three descriptors, follows no link and does not recurse.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::{Mode, fchmod};
use nix::unistd::{UnlinkatFlags, unlinkat};

/// The snippet's working directory and output folder.
pub const OUTPUT: &str = "out";
/// Folder for the caches of libraries, which are not output.
pub const HOME: &str = "home";

/// Prefix of the name of a run's folder.
pub const PREFIX: &str = "countersign-run-";

/// Makes an empty folder with mode 0700 and a name that cannot be guessed.
pub fn make() -> io::Result<PathBuf> {
    let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?.keep();
    // The helper may be in another mount namespace, so the path must be absolute and without
    // symlinks.
    folder.canonicalize()
}

/// Opens the output folder. The descriptor keeps referring to this folder even if something is
/// mounted or moved, and after the payload's mounts are gone.
pub fn output(scratch: &Path) -> nix::Result<OwnedFd> {
    nix::fcntl::open(
        &scratch.join(OUTPUT),
        OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC,
        Mode::empty(),
    )
}

/// An open parent folder, through which the run's folder can be removed although the helper's own
/// view of the file system is read-only: a descriptor keeps the mount it was opened on.
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

    /// Removes the folder and its contents. A missing folder is a success.
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
            // The owner removed the permissions of the folder: opens it with O_PATH and restores
            // them through that.
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
    // fchmod refuses O_PATH descriptors; the magic link refers to exactly the same inode.
    nix::sys::stat::fchmodat(
        nix::fcntl::AT_FDCWD,
        format!("/proc/self/fd/{}", place.as_raw_fd()).as_str(),
        Mode::S_IRWXU,
        nix::sys::stat::FchmodatFlags::FollowSymlink,
    )
}

/// Empties a folder. The contents of a subfolder are first moved up here, so that depth needs
/// neither stack nor descriptors.
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
    fn deeply_nested_folders_are_removed() {
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
