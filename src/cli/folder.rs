//! The folder of `--out`: files are never written through links, nor under names that programs read by themselves.
//! `submit` replaces regular files and says so; `audit show` replaces nothing.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, RenameFlags, openat, renameat, renameat2};
use nix::sys::stat::{Mode, SFlag, fstatat};
use nix::unistd::{UnlinkatFlags, linkat, unlinkat};

use crate::error::Failure;
use crate::model::file_name;
use crate::paths::{Make, because, open_folder};

/// The folder that files are written into. It is opened before there is anything to write, so that
/// an unusable folder is a usage error and not a failure after a person has decided.
pub struct Folder {
    path: PathBuf,
    held: OwnedFd,
}

/// How files are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Replaces regular files.
    Replacing,
    /// Replaces nothing; only its owner can read it.
    Private,
}

/// What stood there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    New,
    Replaced,
}

impl Written {
    pub const fn verb(self) -> &'static str {
        match self {
            Self::New => "wrote",
            Self::Replaced => "replaced",
        }
    }
}

impl Folder {
    /// Opens the folder and creates it if it is missing; see [`open_folder`] for links.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let held = open_folder(path, Make::All).map_err(|why| Failure::usage(why.to_string()))?;
        nix::unistd::faccessat(
            &held,
            ".",
            nix::unistd::AccessFlags::W_OK | nix::unistd::AccessFlags::X_OK,
            AtFlags::AT_EACCESS,
        )
        .map_err(|why| {
            let path = path.display();
            Failure::usage(format!("{path} cannot be written to: {}", because(why)))
        })?;
        Ok(Self {
            path: path.to_owned(),
            held,
        })
    }

    pub fn shown(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }

    /// Writes a file completely or not at all, and creates the folders in its name.
    pub fn write(&self, name: &str, content: &[u8], kind: Kind) -> io::Result<Written> {
        file_name::may_be_saved(name)
            .map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        self.below(name, content, kind)
    }

    fn below(&self, name: &str, content: &[u8], kind: Kind) -> io::Result<Written> {
        match name.split_once('/') {
            Some((folder, rest)) => self.inner(folder, kind)?.below(rest, content, kind),
            None => self.put(name, content, kind),
        }
    }

    /// Opens a folder inside this one; creates it if it is missing and follows no link.
    fn inner(&self, name: &str, kind: Kind) -> io::Result<Self> {
        let mode = Mode::from_bits_truncate(match kind {
            Kind::Replacing => 0o777,
            Kind::Private => 0o700,
        });
        match nix::sys::stat::mkdirat(&self.held, name, mode) {
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

    fn put(&self, name: &str, content: &[u8], kind: Kind) -> io::Result<Written> {
        let there = self.may_be_put(name, kind)?;
        let part = format!(".{name}.{}.part", std::process::id());
        // `O_EXCL` does not follow a link that somebody put there.
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
        let mode = Mode::from_bits_truncate(match kind {
            Kind::Replacing => 0o666,
            Kind::Private => 0o600,
        });
        let mut file = File::from(openat(&self.held, part.as_str(), flags, mode)?);
        let written = file
            .write_all(content)
            .and_then(|()| file.sync_all())
            .and_then(|()| self.may_be_put(name, kind))
            .and_then(|_| self.take_name(&part, name, kind));
        if written.is_err() {
            let _ = unlinkat(&self.held, part.as_str(), UnlinkatFlags::NoRemoveDir);
        }
        written.map(|()| there)
    }

    fn take_name(&self, part: &str, name: &str, kind: Kind) -> io::Result<()> {
        let flags = match kind {
            Kind::Replacing => RenameFlags::empty(),
            Kind::Private => RenameFlags::RENAME_NOREPLACE,
        };
        match renameat2(&self.held, part, &self.held, name, flags) {
            // A file system without such flags: a hard link replaces nothing either.
            Err(Errno::EINVAL | Errno::ENOSYS) if kind == Kind::Private => {
                linkat(&self.held, part, &self.held, name, AtFlags::empty())?;
                Ok(unlinkat(&self.held, part, UnlinkatFlags::NoRemoveDir)?)
            }
            Err(Errno::ENOSYS) => Ok(renameat(&self.held, part, &self.held, name)?),
            done => Ok(done?),
        }
    }

    fn may_be_put(&self, name: &str, kind: Kind) -> io::Result<Written> {
        match fstatat(&self.held, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Err(Errno::ENOENT) => Ok(Written::New),
            Err(e) => Err(e.into()),
            Ok(_) if kind == Kind::Private => Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "a file of this name is there already; name another folder",
            )),
            Ok(about) if about.st_mode & SFlag::S_IFMT.bits() == SFlag::S_IFREG.bits() => {
                Ok(Written::Replaced)
            }
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
        folder.write("one.txt", b"1", Kind::Replacing).unwrap();
        let again = folder.write("one.txt", b"2", Kind::Replacing).unwrap();
        assert_eq!(again.verb(), "replaced");
        assert_eq!(std::fs::read(out.join("one.txt")).unwrap(), b"2");
        let secret = dir.path().join("secret");
        std::fs::write(&secret, "s").unwrap();
        symlink(&secret, out.join("link")).unwrap();
        symlink("nowhere", out.join("dangling")).unwrap();
        std::fs::create_dir(out.join("folder")).unwrap();
        for name in ["link", "dangling", "folder"] {
            let error = folder.write(name, b"x", Kind::Replacing).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{name}");
        }
        folder
            .write("sub/two/x.csv", b"x", Kind::Replacing)
            .unwrap();
        assert_eq!(std::fs::read(out.join("sub/two/x.csv")).unwrap(), b"x");
        symlink(dir.path(), out.join("away")).unwrap();
        for name in ["away/secret", "one.txt/x"] {
            let error = folder.write(name, b"x", Kind::Replacing).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{name}");
        }
        assert_eq!(std::fs::read(&secret).unwrap(), b"s");
        let entries: Vec<_> = std::fs::read_dir(&out).unwrap().collect();
        assert_eq!(entries.len(), 6, "no partial files remain");
    }

    #[test]
    fn a_private_file_is_for_its_owner_and_replaces_nothing() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let put = |name, content| folder.write(name, content, Kind::Private);
        assert_eq!(put("sub/a.txt", b"1").unwrap(), Written::New);
        let mode = |name| {
            dir.path()
                .join(name)
                .metadata()
                .unwrap()
                .permissions()
                .mode()
                & 0o777
        };
        assert_eq!((mode("sub"), mode("sub/a.txt")), (0o700, 0o600));
        assert!(put("sub/a.txt", b"2").is_err());
        assert_eq!(std::fs::read(dir.path().join("sub/a.txt")).unwrap(), b"1");
        symlink("nowhere", dir.path().join("link")).unwrap();
        assert!(put("link", b"2").is_err());
        // Also where the file came between the look and the rename.
        std::fs::write(dir.path().join("part"), "2").unwrap();
        std::fs::write(dir.path().join("mine"), "1").unwrap();
        assert!(folder.take_name("part", "mine", Kind::Private).is_err());
        assert_eq!(std::fs::read(dir.path().join("mine")).unwrap(), b"1");
    }

    #[test]
    fn no_name_that_programs_read_by_themselves_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        for name in [".bashrc", ".ssh/authorized_keys", "a/.env", "../x"] {
            for kind in [Kind::Replacing, Kind::Private] {
                let error = folder.write(name, b"x", kind).unwrap_err();
                assert_eq!(error.to_string(), file_name::READ_BY_ITSELF, "{name}");
            }
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
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
