//! Opening a folder that a person named, to write into it: no link that somebody else made leads elsewhere.
//!
//! Each part of the path is opened below the one before it, and never through a link by the kernel: a link is read here,
//! and followed only if root or the user made it. So nothing can be exchanged between the look and the use.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat, readlinkat};
use nix::sys::stat::{Mode, SFlag, fstat, mkdirat};
use nix::unistd::geteuid;

use super::is_outside_namespace;

/// The most links on the way, as the kernel has it.
const LINKS_MAX: usize = 40;

/// One part of a path: whatever stands there, a link itself too.
const PART: OFlag = OFlag::O_PATH
    .union(OFlag::O_NOFOLLOW)
    .union(OFlag::O_CLOEXEC);
const FOLDER: OFlag = OFlag::O_RDONLY
    .union(OFlag::O_DIRECTORY)
    .union(OFlag::O_CLOEXEC);

/// Which missing folders are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Make {
    /// The last one, for its owner alone.
    Last,
    /// All, as the umask says.
    All,
}

/// Why a folder cannot be used, with the part of the path that prevents it and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnusableFolder {
    #[error("{0} does not exist; make it first, or name another folder")]
    Missing(PathBuf),
    #[error("{0} is no folder; name another one")]
    NotAFolder(PathBuf),
    #[error(
        "{path} is a link that uid {owner} made; only your own and root's are followed, so name the folder where it leads"
    )]
    ForeignLink { path: PathBuf, owner: u32 },
    #[error("{0} leads through too many links; name the folder where they lead")]
    Links(PathBuf),
    #[error("{path} cannot be {what}: {}", because(*.why))]
    System {
        path: PathBuf,
        what: &'static str,
        why: Errno,
    },
}

/// What an error of the system means and what to do.
pub fn because(error: Errno) -> String {
    let remedy = match error {
        Errno::EACCES | Errno::EPERM => "name a folder that you may write to",
        Errno::EROFS => "name a folder on a disk that can be written to",
        Errno::ENOSPC => "free some space on its disk, then do it again",
        Errno::EDQUOT => "remove some of your files there, then do it again",
        Errno::ENAMETOOLONG => "name a folder with a shorter path",
        Errno::EMFILE | Errno::ENFILE => "close some programs, then do it again",
        Errno::ENOENT => "somebody removed it meanwhile; do it again",
        _ => "name another folder",
    };
    let said = error.desc();
    let mut letters = said.chars();
    let first = letters.next().map(|c| c.to_ascii_lowercase());
    let said: String = first.into_iter().chain(letters).collect();
    format!("{said}; {remedy}")
}

/// Opens the folder that a person named.
pub fn open_folder(path: &Path, make: Make) -> Result<OwnedFd, UnusableFolder> {
    let system = |path: &Path, what, why| UnusableFolder::System {
        path: path.to_owned(),
        what,
        why,
    };
    let start = |path: &'static str| {
        let opened = open(path, FOLDER, Mode::empty());
        opened.map_err(|why| system(Path::new(path), "opened", why))
    };
    let (mut at, mut here) = match path.is_absolute() {
        true => (start("/")?, PathBuf::from("/")),
        false => (start(".")?, PathBuf::new()),
    };
    let mut left: VecDeque<OsString> = parts(path).collect();
    let mut links = 0;
    while let Some(name) = left.pop_front() {
        let next = here.join(&name);
        let part = match openat(&at, &*name, PART, Mode::empty()) {
            Err(Errno::ENOENT) if make == Make::All || left.is_empty() => {
                match mkdirat(&at, &*name, mode(make)) {
                    Ok(()) | Err(Errno::EEXIST) => {}
                    Err(why) => return Err(system(&next, "made", why)),
                }
                openat(&at, &*name, PART, Mode::empty())
            }
            part => part,
        };
        let part = part.map_err(|why| match why {
            Errno::ENOENT => UnusableFolder::Missing(next.clone()),
            why => system(&next, "opened", why),
        })?;
        let about = fstat(&part).map_err(|why| system(&next, "opened", why))?;
        match SFlag::from_bits_truncate(about.st_mode) & SFlag::S_IFMT {
            SFlag::S_IFDIR => (at, here) = (part, next),
            SFlag::S_IFLNK => {
                links += 1;
                if links > LINKS_MAX {
                    return Err(UnusableFolder::Links(next));
                }
                if !may_lead(about.st_uid, geteuid().as_raw()) {
                    let owner = about.st_uid;
                    return Err(UnusableFolder::ForeignLink { path: next, owner });
                }
                // The link that was opened, whatever has its name now.
                let target = readlinkat(&part, "").map_err(|why| system(&next, "read", why))?;
                let target = PathBuf::from(target);
                if target.is_absolute() {
                    (at, here) = (start("/")?, PathBuf::from("/"));
                }
                for name in parts(&target).collect::<Vec<_>>().into_iter().rev() {
                    left.push_front(name);
                }
            }
            _ => return Err(UnusableFolder::NotAFolder(next)),
        }
    }
    openat(&at, ".", FOLDER, Mode::empty()).map_err(|why| system(&here, "opened", why))
}

/// Whether a link of this owner is followed.
fn may_lead(owner: u32, me: u32) -> bool {
    owner == 0 || owner == me || is_outside_namespace(owner)
}

fn mode(make: Make) -> Mode {
    match make {
        Make::Last => Mode::S_IRWXU,
        Make::All => Mode::from_bits_truncate(0o777),
    }
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn put(folder: &OwnedFd, name: &str) {
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL;
        openat(folder, name, flags, Mode::S_IRUSR).unwrap();
    }

    #[test]
    fn links_of_the_user_lead_on_wherever_they_stand() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("real/deep")).unwrap();
        symlink("real", at("link")).unwrap();
        symlink(at("real"), at("absolute")).unwrap();
        symlink("../link", at("real/up")).unwrap();
        for (n, typed) in [
            "link/deep",
            "absolute/deep",
            "link/up/up/deep",
            "real/../link/./deep",
        ]
        .into_iter()
        .enumerate()
        {
            put(
                &open_folder(&at(typed), Make::Last).unwrap(),
                &format!("f{n}"),
            );
            assert!(at(&format!("real/deep/f{n}")).exists(), "{typed}");
        }
        assert!(may_lead(0, 1000) && may_lead(1000, 1000) && !may_lead(1001, 1000));
    }

    #[test]
    fn only_the_last_folder_is_made_or_all_of_them() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        open_folder(&at("new"), Make::Last).unwrap();
        let mode = at("new").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(
            open_folder(&at("a/b"), Make::Last).unwrap_err(),
            UnusableFolder::Missing(at("a"))
        );
        open_folder(&at("a/b/c"), Make::All).unwrap();
        assert!(at("a/b/c").is_dir());
    }

    #[test]
    fn what_is_in_the_way_is_named_with_a_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), "").unwrap();
        symlink("round", at("round")).unwrap();
        let said = |path: &Path| open_folder(path, Make::Last).unwrap_err().to_string();
        let file = at("file").display().to_string();
        for typed in ["file", "file/below"] {
            assert_eq!(
                said(&at(typed)),
                format!("{file} is no folder; name another one")
            );
        }
        assert!(said(&at("round")).contains("too many links"));
        let missing = said(&at("no/such"));
        assert!(missing.ends_with("/no does not exist; make it first, or name another folder"));
        assert!(said(Path::new("/proc/new")).starts_with("/proc/new cannot be made: "));
        let foreign = UnusableFolder::ForeignLink {
            path: at("link"),
            owner: 1001,
        };
        assert!(
            foreign
                .to_string()
                .contains("/link is a link that uid 1001 made; ")
        );
    }

    #[test]
    fn every_error_is_said_in_words() {
        for error in [
            Errno::ENOENT,
            Errno::EACCES,
            Errno::ENOSPC,
            Errno::EIO,
            Errno::EROFS,
        ] {
            let said = because(error);
            assert!(
                said.contains("; ") && !said.contains(&format!("{error:?}")),
                "{said}"
            );
        }
    }
}
