//! The folder of `--out`: files are never written through links, nor under names that programs read by themselves.
//! Nothing is replaced unless `--force` says so, and then regular files only.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat, renameat};
use nix::sys::stat::{Mode, SFlag, fstatat};
use nix::unistd::{UnlinkatFlags, linkat, unlinkat};
use rustix::fs::{RenameFlags, renameat_with};

use crate::error::Failure;
use crate::model::file_name;
use crate::paths::{Make, because, open_folder};

/// The folder that files are written into. It is opened before there is anything to write, so that
/// an unusable folder is a usage error and not a failure after a person has decided.
pub struct Folder {
    path: PathBuf,
    held: OwnedFd,
}

/// Who may read what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// As the umask says. A file that has the same content already is as good as written.
    Shared,
    /// Its owner alone.
    Private,
}

/// What becomes of another file of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    Stay,
    /// A regular one is replaced.
    Go,
}

impl Others {
    /// `force`: the flag.
    pub const fn of(force: bool) -> Self {
        match force {
            true => Self::Go,
            false => Self::Stay,
        }
    }
}

/// What stood there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    New,
    Replaced,
    /// The same content.
    Same,
}

impl Written {
    pub const fn verb(self) -> &'static str {
        match self {
            Self::New => "wrote",
            Self::Replaced => "replaced",
            Self::Same => "already there, the same:",
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
    pub fn write(
        &self,
        name: &str,
        content: &[u8],
        kind: Kind,
        others: Others,
    ) -> io::Result<Written> {
        file_name::may_be_saved(name)
            .map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        self.below(name, content, kind, others)
    }

    fn below(&self, name: &str, content: &[u8], kind: Kind, others: Others) -> io::Result<Written> {
        match name.split_once('/') {
            Some((folder, rest)) => self.inner(folder, kind)?.below(rest, content, kind, others),
            None if kind == Kind::Shared && self.has(name, content) => Ok(Written::Same),
            None => self.put(name, content, kind, others),
        }
    }

    /// Whether a regular file of this name has this content.
    fn has(&self, name: &str, content: &[u8]) -> bool {
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let Ok(held) = openat(&self.held, name, flags, Mode::empty()) else {
            return false;
        };
        let file = File::from(held);
        let about = file.metadata();
        if !about.is_ok_and(|about| about.is_file() && about.len() == content.len() as u64) {
            return false;
        }
        let mut there = Vec::new();
        let read = file.take(content.len() as u64 + 1).read_to_end(&mut there);
        read.is_ok() && there == content
    }

    /// Opens a folder inside this one; creates it if it is missing and follows no link.
    fn inner(&self, name: &str, kind: Kind) -> io::Result<Self> {
        let mode = Mode::from_bits_truncate(match kind {
            Kind::Shared => 0o777,
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

    fn put(&self, name: &str, content: &[u8], kind: Kind, others: Others) -> io::Result<Written> {
        self.fill(name, kind, others, |file| file.write_all(content))
    }

    /// Writes a file of a name that the person gave, for its owner alone, while its content is made. Nothing is left if
    /// `content` fails.
    pub fn write_with(
        &self,
        name: &str,
        others: Others,
        content: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<Written> {
        self.fill(name, Kind::Private, others, content)
    }

    fn fill(
        &self,
        name: &str,
        kind: Kind,
        others: Others,
        content: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<Written> {
        let there = self.may_be_put(name, others)?;
        let part = format!(".{name}.{}.part", std::process::id());
        // `O_EXCL` does not follow a link that somebody put there.
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
        let mode = Mode::from_bits_truncate(match kind {
            Kind::Shared => 0o666,
            Kind::Private => 0o600,
        });
        let mut file = File::from(openat(&self.held, part.as_str(), flags, mode)?);
        let written = content(&mut file)
            .and_then(|()| file.sync_all())
            .and_then(|()| self.may_be_put(name, others))
            .and_then(|_| self.take_name(&part, name, others));
        if written.is_err() {
            let _ = unlinkat(&self.held, part.as_str(), UnlinkatFlags::NoRemoveDir);
        }
        written.map(|()| there)
    }

    fn take_name(&self, part: &str, name: &str, others: Others) -> io::Result<()> {
        let flags = match others {
            Others::Go => RenameFlags::empty(),
            Others::Stay => RenameFlags::NOREPLACE,
        };
        let renamed = renameat_with(&self.held, part, &self.held, name, flags);
        match renamed.map_err(|e| Errno::from_raw(e.raw_os_error())) {
            // A file system without such flags: a hard link replaces nothing either.
            Err(Errno::EINVAL | Errno::ENOSYS) if others == Others::Stay => {
                linkat(&self.held, part, &self.held, name, AtFlags::empty())?;
                Ok(unlinkat(&self.held, part, UnlinkatFlags::NoRemoveDir)?)
            }
            Err(Errno::ENOSYS) => Ok(renameat(&self.held, part, &self.held, name)?),
            done => Ok(done?),
        }
    }

    fn may_be_put(&self, name: &str, others: Others) -> io::Result<Written> {
        match fstatat(&self.held, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Err(Errno::ENOENT) => Ok(Written::New),
            Err(e) => Err(e.into()),
            Ok(about) if about.st_mode & SFlag::S_IFMT.bits() != SFlag::S_IFREG.bits() => {
                Err(io::Error::new(
                    io::ErrorKind::AlreadyExists,
                    "something that is no regular file has this name",
                ))
            }
            Ok(_) if others == Others::Stay => Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "another file of this name is there already; --force replaces it, or name another folder",
            )),
            Ok(_) => Ok(Written::Replaced),
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
        let put = |name, content, others| folder.write(name, content, Kind::Shared, others);
        put("one.txt", b"1", Others::Stay).unwrap();
        assert_eq!(put("one.txt", b"1", Others::Stay).unwrap(), Written::Same);
        let error = put("one.txt", b"2", Others::Stay).unwrap_err();
        assert!(error.to_string().contains("--force replaces it"), "{error}");
        assert_eq!(std::fs::read(out.join("one.txt")).unwrap(), b"1");
        assert_eq!(put("one.txt", b"2", Others::Go).unwrap(), Written::Replaced);
        assert_eq!(std::fs::read(out.join("one.txt")).unwrap(), b"2");
        let secret = dir.path().join("secret");
        std::fs::write(&secret, "s").unwrap();
        symlink(&secret, out.join("link")).unwrap();
        symlink("nowhere", out.join("dangling")).unwrap();
        std::fs::create_dir(out.join("folder")).unwrap();
        for name in ["link", "dangling", "folder"] {
            for others in [Others::Stay, Others::Go] {
                // The content behind the link is the same.
                let error = put(name, b"s", others).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{name}");
            }
        }
        put("sub/two/x.csv", b"x", Others::Stay).unwrap();
        assert_eq!(std::fs::read(out.join("sub/two/x.csv")).unwrap(), b"x");
        symlink(dir.path(), out.join("away")).unwrap();
        for name in ["away/secret", "one.txt/x"] {
            let error = put(name, b"x", Others::Go).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{name}");
        }
        assert_eq!(std::fs::read(&secret).unwrap(), b"s");
        let entries: Vec<_> = std::fs::read_dir(&out).unwrap().collect();
        assert_eq!(entries.len(), 6, "no partial files remain");
    }

    #[test]
    fn a_private_file_is_for_its_owner_and_replaces_nothing_by_itself() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let put = |name, content| folder.write(name, content, Kind::Private, Others::Stay);
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
        // One with the same content may be open to others.
        assert!(put("sub/a.txt", b"1").is_err() && put("sub/a.txt", b"2").is_err());
        assert_eq!(std::fs::read(dir.path().join("sub/a.txt")).unwrap(), b"1");
        let forced = folder.write("sub/a.txt", b"3", Kind::Private, Others::Go);
        assert_eq!(forced.unwrap(), Written::Replaced);
        assert_eq!(mode("sub/a.txt"), 0o600);
        symlink("nowhere", dir.path().join("link")).unwrap();
        assert!(put("link", b"2").is_err());
        // Also where the file came between the look and the rename.
        std::fs::write(dir.path().join("part"), "2").unwrap();
        std::fs::write(dir.path().join("mine"), "1").unwrap();
        assert!(folder.take_name("part", "mine", Others::Stay).is_err());
        assert_eq!(std::fs::read(dir.path().join("mine")).unwrap(), b"1");
    }

    #[test]
    fn no_name_that_programs_read_by_themselves_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        for name in [".bashrc", ".ssh/authorized_keys", "a/.env", "../x"] {
            for kind in [Kind::Shared, Kind::Private] {
                let error = folder.write(name, b"x", kind, Others::Go).unwrap_err();
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
