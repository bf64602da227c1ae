//! The folder of `--out`: files are never written through links, and only regular files are
//! replaced.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat, renameat};
use nix::sys::stat::{Mode, SFlag, fstatat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::error::Failure;

/// The folder that files are written into. It is opened before there is anything to write, so that
/// an unusable folder is a usage error and not a failure after a person has decided.
pub struct Folder {
    path: PathBuf,
    held: OwnedFd,
}

impl Folder {
    /// Opens the folder and creates it if it is missing.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let odd = |what: &str, e: io::Error| {
            Failure::usage(format!("cannot {what} {}: {e}", path.display()))
        };
        std::fs::create_dir_all(path).map_err(|e| odd("make the folder", e))?;
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let held = nix::fcntl::open(path, flags, Mode::empty())
            .map_err(|e| odd("open the folder", e.into()))?;
        nix::unistd::faccessat(
            &held,
            ".",
            nix::unistd::AccessFlags::W_OK | nix::unistd::AccessFlags::X_OK,
            AtFlags::AT_EACCESS,
        )
        .map_err(|e| odd("write into", e.into()))?;
        Ok(Self {
            path: path.to_owned(),
            held,
        })
    }

    pub fn shown(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }

    /// Writes a file completely or not at all, and creates the folders in its name. A regular file
    /// of the same name is replaced.
    pub fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        match name.split_once('/') {
            Some((folder, rest)) => self.inner(folder)?.write(rest, content),
            None => self.put(name, content),
        }
    }

    /// Opens a folder inside this one; creates it if it is missing and follows no link.
    fn inner(&self, name: &str) -> io::Result<Self> {
        match nix::sys::stat::mkdirat(&self.held, name, Mode::from_bits_truncate(0o777)) {
            Ok(()) | Err(Errno::EEXIST) => {}
            Err(e) => return Err(e.into()),
        }
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let held = openat(&self.held, name, flags, Mode::empty()).map_err(|e| match e {
            Errno::ENOTDIR | Errno::ELOOP => io::Error::new(
                io::ErrorKind::AlreadyExists,
                "something that is no folder has the name of one",
            ),
            e => e.into(),
        })?;
        Ok(Self {
            path: self.path.join(name),
            held,
        })
    }

    fn put(&self, name: &str, content: &[u8]) -> io::Result<()> {
        self.is_replaceable(name)?;
        let part = format!(".{name}.{}.part", std::process::id());
        // `O_EXCL` does not follow a link that somebody put there.
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
        let mode = Mode::from_bits_truncate(0o666);
        let mut file = File::from(openat(&self.held, part.as_str(), flags, mode)?);
        let written = file
            .write_all(content)
            .and_then(|()| file.sync_all())
            .and_then(|()| self.is_replaceable(name))
            .and_then(|()| Ok(renameat(&self.held, part.as_str(), &self.held, name)?));
        if written.is_err() {
            let _ = unlinkat(&self.held, part.as_str(), UnlinkatFlags::NoRemoveDir);
        }
        written
    }

    fn is_replaceable(&self, name: &str) -> io::Result<()> {
        match fstatat(&self.held, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Err(Errno::ENOENT) => Ok(()),
            Err(e) => Err(e.into()),
            Ok(about) if about.st_mode & SFlag::S_IFMT.bits() == SFlag::S_IFREG.bits() => Ok(()),
            Ok(_) => Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "something that is no regular file has this name",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_regular_files_are_replaced_and_no_link_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("a/b");
        let folder = Folder::open(&out).unwrap();
        folder.write("one.txt", b"1").unwrap();
        folder.write("one.txt", b"2").unwrap();
        assert_eq!(std::fs::read(out.join("one.txt")).unwrap(), b"2");
        let secret = dir.path().join("secret");
        std::fs::write(&secret, "s").unwrap();
        symlink(&secret, out.join("link")).unwrap();
        symlink("nowhere", out.join("dangling")).unwrap();
        std::fs::create_dir(out.join("folder")).unwrap();
        for name in ["link", "dangling", "folder"] {
            let error = folder.write(name, b"x").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{name}");
        }
        folder.write("sub/two/x.csv", b"x").unwrap();
        assert_eq!(std::fs::read(out.join("sub/two/x.csv")).unwrap(), b"x");
        symlink(dir.path(), out.join("away")).unwrap();
        for name in ["away/secret", "one.txt/x"] {
            let error = folder.write(name, b"x").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{name}");
        }
        assert_eq!(std::fs::read(&secret).unwrap(), b"s");
        let entries: Vec<_> = std::fs::read_dir(&out).unwrap().collect();
        assert_eq!(entries.len(), 6, "no partial files remain");
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_is_a_usage_error() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        for path in [file.clone(), file.join("below")] {
            assert!(Folder::open(&path).is_err(), "{}", path.display());
        }
    }
}
