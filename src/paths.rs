//! Paths: the XDG folders, the flags that replace them, and the checks of files that must be trusted.
//!
//! Resolves names and reads small files; creates nothing but the folder that a person named to save into ([`open_folder`]).

mod folder;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use etcetera::BaseStrategy as _;
use nix::libc::O_NONBLOCK;
use nix::unistd::{getegid, geteuid};

pub use folder::{Make, UnusableFolder, because, open_folder};

/// The administrator's folder. Its `config.toml` and `policies/*.toml` are binding for all users.
pub const ADMIN_DIR: &str = "/etc/countersign";

/// Largest file that [`read_trusted`] reads: it is for configurations and policies, not for data.
const TRUSTED_BYTES_MAX: u64 = 1024 * 1024;

/// The XDG base folders (freedesktop.org Base Directory Specification) with `countersign` added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    pub config: PathBuf,
    pub state: PathBuf,
    pub data: PathBuf,
    pub cache: PathBuf,
    /// `None` if `XDG_RUNTIME_DIR` is unset or not absolute.
    pub runtime: Option<PathBuf>,
}

/// Without a home folder there are no XDG folders.
#[derive(Debug, thiserror::Error)]
#[error("no home folder is known: set HOME")]
pub struct NoHome;

impl Folders {
    /// Reads `HOME` and the `XDG_*` variables.
    pub fn from_environment() -> Result<Self, NoHome> {
        let base = etcetera::base_strategy::Xdg::new().map_err(|_| NoHome)?;
        let own = |folder: PathBuf| folder.join("countersign");
        Ok(Self {
            config: own(base.config_dir()),
            state: own(base
                .state_dir()
                .unwrap_or_else(|| base.home_dir().join(".local/state"))),
            data: own(base.data_dir()),
            cache: own(base.cache_dir()),
            runtime: base.runtime_dir().map(own),
        })
    }
}

/// All paths of this process, resolved once at the start and absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The user's configuration file; it must exist only if a flag named it.
    pub config_file: PathBuf,
    /// The folder of the audit log.
    pub state_dir: PathBuf,
    /// The managed Python environment.
    pub data_dir: PathBuf,
    /// Files that can be recreated: preflight results, caches.
    pub cache_dir: PathBuf,
    /// The user's policy files.
    pub policy_dir: PathBuf,
    /// The administrator's policy files; no flag or variable changes this path.
    pub admin_policy_dir: PathBuf,
    /// Where agents connect.
    pub socket: PathBuf,
}

impl Paths {
    /// `<runtime>/agent.sock`, or `<state-dir>/run/agent.sock` without a runtime folder.
    pub fn default_socket(folders: &Folders, state_dir: &Path) -> PathBuf {
        match &folders.runtime {
            Some(runtime) => runtime.join("agent.sock"),
            None => state_dir.join("run").join("agent.sock"),
        }
    }
}

/// Who may own a file that controls the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The administrator's files.
    Root,
    /// The user's files.
    RootOrUser,
}

/// A file that was not read, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct UntrustedFile {
    pub path: PathBuf,
    #[source]
    pub why: Distrust,
}

/// Why a file was not read, without its name.
#[derive(Debug, thiserror::Error)]
pub enum Distrust {
    #[error("cannot be read: {0}")]
    Read(io::Error),
    #[error("not a regular file")]
    NotAFile,
    #[error("larger than {TRUSTED_BYTES_MAX} bytes")]
    TooLarge,
    #[error("not UTF-8: the first bad byte is at offset {offset}")]
    NotUtf8 { offset: usize },
    #[error("owned by uid {uid}; it must belong to {wanted}")]
    Owner { uid: u32, wanted: String },
    #[error("others can write it (mode {mode:04o}); run `chmod go-w` on it")]
    Writable { mode: u32 },
    #[error(
        "others can write this folder (mode {mode:04o}) and so put another file in place of what is \
         read; run `chmod go-w` on it, or keep the file elsewhere"
    )]
    WritableFolder { mode: u32 },
    #[error("was replaced while it was checked; try again")]
    Exchanged,
}

impl UntrustedFile {
    /// Whether the file does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(&self.why, Distrust::Read(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

/// Reads a text file that controls the program.
///
/// Refuses the file unless its owner is one that `trust` allows, and nobody else can write or replace it, or
/// any folder or link on the way to it. Checks the opened file instead of its name, so that it cannot be
/// replaced between the check and the read.
pub fn read_trusted(path: &Path, trust: Trust) -> Result<String, UntrustedFile> {
    let distrust = |why| UntrustedFile {
        path: path.to_owned(),
        why,
    };
    let read = |error| distrust(Distrust::Read(error));
    // Opening a FIFO would otherwise block forever.
    let mut file = File::options()
        .read(true)
        .custom_flags(O_NONBLOCK)
        .open(path)
        .map_err(read)?;
    let meta = file.metadata().map_err(read)?;
    if !meta.is_file() {
        return Err(distrust(Distrust::NotAFile));
    }
    check_owner(meta.uid(), trust).map_err(distrust)?;
    if meta.mode() & 0o022 != 0 {
        return Err(distrust(Distrust::Writable {
            mode: meta.mode() & 0o7777,
        }));
    }
    let found = check_route(path, trust)?;
    let named = std::fs::symlink_metadata(&found).map_err(read)?;
    if (named.dev(), named.ino()) != (meta.dev(), meta.ino()) {
        return Err(distrust(Distrust::Exchanged));
    }

    let mut bytes = Vec::new();
    file.by_ref()
        .take(TRUSTED_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(read)?;
    if bytes.len() as u64 > TRUSTED_BYTES_MAX {
        return Err(distrust(Distrust::TooLarge));
    }
    String::from_utf8(bytes).map_err(|e| {
        distrust(Distrust::NotUtf8 {
            offset: e.utf8_error().valid_up_to(),
        })
    })
}

/// Resolves a path as the kernel does, link by link, and checks every folder and link on the way: whoever can
/// write one of them can replace the file. Returns the path of the file itself.
///
/// The user's own group may write to a folder (umask 002 is common). A sticky folder, such as `/tmp`, is
/// allowed on the way, since others cannot rename or remove what is not theirs. It must not be the folder of
/// the file, or of a link in place of the file, since anybody can add files there.
fn check_route(path: &Path, trust: Trust) -> Result<PathBuf, UntrustedFile> {
    const LINKS_MAX: usize = 40;
    let distrust = |at: &Path, why| UntrustedFile {
        path: at.to_owned(),
        why,
    };
    let read = |at: &Path, error| distrust(at, Distrust::Read(error));
    let absolute = std::path::absolute(path).map_err(|e| read(path, e))?;
    let mut left: Vec<OsString> = names(&absolute);
    let mut here = PathBuf::from("/");
    let mut links = 0;
    while let Some(name) = left.pop() {
        if name == ".." {
            here.pop();
            continue;
        }
        check_folder(&here, trust, left.is_empty())?;
        let next = here.join(&name);
        let meta = std::fs::symlink_metadata(&next).map_err(|e| read(&next, e))?;
        if !meta.is_symlink() {
            here = next;
            continue;
        }
        links += 1;
        if links > LINKS_MAX {
            return Err(read(path, io::Error::from_raw_os_error(nix::libc::ELOOP)));
        }
        check_owner(meta.uid(), trust).map_err(|why| distrust(&next, why))?;
        let target = std::fs::read_link(&next).map_err(|e| read(&next, e))?;
        if target.is_absolute() {
            here = PathBuf::from("/");
        }
        left.extend(names(&target));
    }
    Ok(here)
}

/// The components of a path in reverse order, without a leading `/`.
fn names(path: &Path) -> Vec<OsString> {
    let name = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    let mut names: Vec<OsString> = path.components().filter_map(name).collect();
    names.reverse();
    names
}

fn check_folder(folder: &Path, trust: Trust, holds_file: bool) -> Result<(), UntrustedFile> {
    let distrust = |why| UntrustedFile {
        path: folder.to_owned(),
        why,
    };
    let meta = std::fs::symlink_metadata(folder).map_err(|e| distrust(Distrust::Read(e)))?;
    let sticky = meta.mode() & 0o1000 != 0 && !holds_file;
    let by_group =
        meta.mode() & 0o020 != 0 && (trust == Trust::Root || meta.gid() != getegid().as_raw());
    if !sticky && (meta.mode() & 0o002 != 0 || by_group) {
        return Err(distrust(Distrust::WritableFolder {
            mode: meta.mode() & 0o7777,
        }));
    }
    if !holds_file && is_outside_namespace(meta.uid()) {
        return Ok(());
    }
    check_owner(meta.uid(), trust).map_err(distrust)
}

/// Whether an owner is unknown because of a user namespace: there the kernel reports every owner from outside
/// with the same uid, even the machine's root, who owns `/`.
fn is_outside_namespace(uid: u32) -> bool {
    const OVERFLOW: u32 = 65534;
    let all = |map: String| map.split_whitespace().eq(["0", "0", "4294967295"]);
    uid == OVERFLOW && !std::fs::read_to_string("/proc/self/uid_map").is_ok_and(all)
}

fn check_owner(uid: u32, trust: Trust) -> Result<(), Distrust> {
    let own = geteuid().as_raw();
    let trusted = uid == 0 || (trust == Trust::RootOrUser && uid == own);
    if trusted {
        return Ok(());
    }
    Err(Distrust::Owner {
        uid,
        wanted: match trust {
            Trust::RootOrUser if own != 0 => format!("uid {own} or root"),
            _ => "root".to_owned(),
        },
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn folders(runtime: Option<&str>) -> Folders {
        Folders {
            config: "/home/a/.config/countersign".into(),
            state: "/home/a/.local/state/countersign".into(),
            data: "/home/a/.local/share/countersign".into(),
            cache: "/home/a/.cache/countersign".into(),
            runtime: runtime.map(PathBuf::from),
        }
    }

    #[test]
    fn the_socket_is_in_the_runtime_folder_or_else_in_the_state_folder() {
        let state = Path::new("/s");
        assert_eq!(
            Paths::default_socket(&folders(Some("/run/user/1/countersign")), state),
            Path::new("/run/user/1/countersign/agent.sock")
        );
        assert_eq!(
            Paths::default_socket(&folders(None), state),
            Path::new("/s/run/agent.sock")
        );
    }

    #[test]
    fn a_file_that_others_can_write_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        std::fs::write(&path, "theme = \"dark\"").unwrap();
        for (mode, fine) in [(0o600, true), (0o644, true), (0o664, false), (0o606, false)] {
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            let read = read_trusted(&path, Trust::RootOrUser);
            assert_eq!(read.is_ok(), fine, "{mode:o}: {read:?}");
        }
    }

    #[test]
    fn a_file_in_a_folder_that_others_can_write_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("open");
        std::fs::create_dir(&folder).unwrap();
        let path = folder.join("config.toml");
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        for (mode, fine) in [(0o700, true), (0o777, false), (0o1777, false)] {
            std::fs::set_permissions(&folder, PermissionsExt::from_mode(mode)).unwrap();
            assert_eq!(
                read_trusted(&path, Trust::RootOrUser).is_ok(),
                fine,
                "{mode:o}"
            );
        }
    }

    /// With a link, both the folders of the link and those of its target are checked.
    #[test]
    fn a_file_that_others_can_replace_by_any_folder_or_link_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let mode = |name: &str, mode| {
            std::fs::set_permissions(at(name), PermissionsExt::from_mode(mode)).unwrap();
        };
        for folder in ["open", "open/inner", "sticky", "sticky/inner", "own"] {
            std::fs::create_dir(at(folder)).unwrap();
        }
        for file in [
            "open/a.toml",
            "open/inner/a.toml",
            "sticky/a.toml",
            "sticky/inner/a.toml",
            "own/a.toml",
        ] {
            std::fs::write(at(file), "").unwrap();
            mode(file, 0o600);
        }
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, at(name)).unwrap();
        };
        link("../open/a.toml", "own/open.toml");
        link("../open/inner/a.toml", "own/inner.toml");
        link("../open/inner", "own/folder");
        link("../sticky/a.toml", "own/sticky.toml");
        link("../sticky/inner/a.toml", "own/held.toml");
        link("../own/a.toml", "open/own.toml");
        link("../own/a.toml", "sticky/own.toml");
        link("open.toml", "own/twice.toml");
        link("a.toml", "own/same.toml");
        link("round.toml", "own/round.toml");
        mode("open", 0o777);
        mode("sticky", 0o1777);
        for (file, fine) in [
            ("own/a.toml", true),
            ("own/same.toml", true),
            ("own/../own/a.toml", true),
            // In a sticky folder, others cannot rename or remove what is not theirs.
            ("sticky/inner/a.toml", true),
            ("own/held.toml", true),
            ("sticky/a.toml", false),
            ("own/sticky.toml", false),
            ("sticky/own.toml", false),
            ("open/a.toml", false),
            ("open/own.toml", false),
            ("open/inner/a.toml", false),
            ("own/open.toml", false),
            ("own/inner.toml", false),
            ("own/folder/a.toml", false),
            ("own/twice.toml", false),
        ] {
            match read_trusted(&at(file), Trust::RootOrUser) {
                Ok(_) => assert!(fine, "{file}"),
                Err(e) => {
                    let said = e.to_string();
                    assert!(
                        !fine && said.contains("others can write this folder"),
                        "{file}: {said}"
                    );
                    let folder = if said.contains("1777") {
                        "/sticky: "
                    } else {
                        "/open: "
                    };
                    assert!(said.contains(folder), "{file}: {said}");
                }
            }
        }
        assert!(read_trusted(&at("own/round.toml"), Trust::RootOrUser).is_err());
        if geteuid().is_root() {
            std::os::unix::fs::chown(at("own"), Some(12345), None).unwrap();
            let said = read_trusted(&at("own/a.toml"), Trust::RootOrUser)
                .unwrap_err()
                .to_string();
            assert!(said.contains("/own: owned by uid 12345"), "{said}");
        }
    }

    #[test]
    fn files_of_other_users_are_not_read() {
        let own = geteuid().as_raw();
        assert!(check_owner(0, Trust::Root).is_ok());
        assert!(check_owner(own, Trust::RootOrUser).is_ok());
        assert!(check_owner(own + 1, Trust::RootOrUser).is_err());
        assert!(check_owner(own + 1, Trust::Root).is_err());
    }

    #[test]
    fn a_fifo_a_folder_and_invalid_utf8_are_refused_without_blocking() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRUSR).unwrap();
        let why = |path: &Path| read_trusted(path, Trust::RootOrUser).unwrap_err().why;
        assert!(matches!(why(&fifo), Distrust::NotAFile));
        assert!(matches!(why(dir.path()), Distrust::NotAFile));
        let text = dir.path().join("latin1");
        std::fs::write(&text, b"ab\xe9").unwrap();
        std::fs::set_permissions(&text, PermissionsExt::from_mode(0o600)).unwrap();
        assert!(matches!(why(&text), Distrust::NotUtf8 { offset: 2 }));
        let missing = read_trusted(&dir.path().join("none"), Trust::RootOrUser).unwrap_err();
        assert!(missing.is_missing());
    }
}
