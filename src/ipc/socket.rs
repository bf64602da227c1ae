//! The socket in the file system, created so that only the users named by the owner can reach it.
//!
//! The folder belongs to the user and has mode 0700; the socket has 0600. With `[socket]` they have
//! 0710 and 0660 and belong to the configured group. A socket that nobody answers is replaced, a
//! live one is refused, and anything else at that path stops the start.
//!
//! The folder is opened once and everything happens relative to that descriptor, so that renaming
//! the folder cannot redirect it. A lock file decides between two dashboards that start at once,
//! and the socket gets its final name only once its mode is right and it listens.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, TryLockError};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, openat, renameat};
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, connect, listen, socket,
};
use nix::sys::stat::{FchmodatFlags, FileStat, Mode, SFlag, fchmod, fchmodat, fstat, fstatat};
use nix::unistd::{Gid, Group, Uid, UnlinkatFlags, fchown, fchownat, geteuid, unlinkat};
use tokio::net::UnixListener;

/// Length of `sun_path` in unix(7), without the final NUL.
const PATH_MAX: usize = 107;

/// Where to listen, and who may connect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketConfig {
    /// An absolute path.
    pub path: PathBuf,
    /// Uids besides the user's own that may connect.
    pub allow_uids: Vec<u32>,
    /// The group that may reach the socket if `allow_uids` is not empty; without it, the user's
    /// own.
    pub group: Option<String>,
}

impl SocketConfig {
    fn shared(&self) -> bool {
        !self.allow_uids.is_empty()
    }
}

/// Why the socket could not be created.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    #[error("{}: another dashboard is listening there; close it, or give this one its own --socket", .0.display())]
    Live(PathBuf),
    #[error("{}: a symlink; the socket must lie there itself, remove the link", .0.display())]
    Symlink(PathBuf),
    #[error("{}: not a socket; remove it or choose another --socket", .0.display())]
    NotASocket(PathBuf),
    #[error("{}: not a folder", .0.display())]
    NotAFolder(PathBuf),
    #[error("{}: owned by uid {uid}, not by you (uid {own})", path.display())]
    Owner { path: PathBuf, uid: u32, own: u32 },
    #[error("{}: mode {mode:04o} lets others in; it must be {wanted:04o}: {remedy}", path.display())]
    Mode {
        path: PathBuf,
        mode: u32,
        wanted: u32,
        remedy: String,
    },
    #[error("{}: {length} bytes; a socket's path has at most {PATH_MAX}: choose a shorter --socket", path.display())]
    TooLong { path: PathBuf, length: usize },
    #[error("{}: names no file; give the socket itself, such as /run/me/agent.sock", .0.display())]
    NoName(PathBuf),
    #[error("{}: a folder; give the socket itself, such as {}", .0.display(), .0.join("agent.sock").display())]
    Folder(PathBuf),
    #[error("[socket] group `{0}`: there is no such group")]
    NoGroup(String),
    #[error("cannot {doing} {}: {source}", path.display())]
    System {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

/// A listening socket at its final path. Dropping it removes the socket.
#[derive(Debug)]
pub struct Listener {
    pub(super) socket: UnixListener,
    pub(super) allow_uids: Vec<u32>,
    place: SocketLocation,
    made: (u64, u64),
    /// Held as long as this dashboard lives; the kernel releases the lock when it dies.
    lock: File,
}

impl Listener {
    /// Creates folder and socket and listens. Must run within a tokio runtime.
    #[expect(
        clippy::unused_async,
        reason = "only a runtime can await it, and it needs one"
    )]
    pub async fn bind(config: &SocketConfig) -> Result<Self, SocketError> {
        let place = SocketLocation::open(config)?;
        let lock = place.lock()?;
        place.clear()?;
        let (socket, made) = place.listen(config)?;
        let socket = std::os::unix::net::UnixListener::from(socket);
        let socket = UnixListener::from_std(socket).map_err(|source| SocketError::System {
            doing: "listen at",
            path: config.path.clone(),
            source,
        })?;
        Ok(Self {
            socket,
            allow_uids: config.allow_uids.clone(),
            place,
            made,
            lock,
        })
    }

    /// Where agents connect.
    pub fn path(&self) -> &Path {
        &self.place.path
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Remove only the socket created here: somebody may have put another file in its place.
        if let Ok(stat) = self.place.stat(&self.place.name)
            && (stat.st_dev, stat.st_ino) == self.made
        {
            let _ = self.place.remove(&self.place.name);
        }
        // A process that is just being started may hold a copy of the lock for a moment longer.
        let _ = self.lock.unlock();
    }
}

/// The opened folder and the socket's name in it.
#[derive(Debug)]
struct SocketLocation {
    folder: OwnedFd,
    folder_path: PathBuf,
    name: OsString,
    path: PathBuf,
}

impl SocketLocation {
    fn open(config: &SocketConfig) -> Result<Self, SocketError> {
        let path = config.path.clone();
        let length = path.as_os_str().len();
        if length > PATH_MAX {
            return Err(SocketError::TooLong { path, length });
        }
        let (Some(folder_path), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(SocketError::NoName(path));
        };
        if std::fs::symlink_metadata(&path).is_ok_and(|m| m.is_dir()) {
            return Err(SocketError::Folder(path));
        }
        let folder_path = folder_path.to_owned();
        let name = name.to_owned();
        let system = |doing, source: io::Error| SocketError::System {
            doing,
            path: folder_path.clone(),
            source,
        };
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder_path)
            .or_else(|e| match std::fs::symlink_metadata(&folder_path) {
                // If something other than a folder is there, the check below names it.
                Ok(_) => Ok(()),
                Err(_) => Err(e),
            })
            .map_err(|e| system("make", e))?;
        let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_RDONLY;
        let folder = open(&folder_path, flags, Mode::empty()).map_err(|e| {
            let link = std::fs::symlink_metadata(&folder_path).is_ok_and(|m| m.is_symlink());
            match e {
                Errno::ELOOP | Errno::ENOTDIR if link => SocketError::Symlink(folder_path.clone()),
                Errno::ENOTDIR => SocketError::NotAFolder(folder_path.clone()),
                _ => system("open", e.into()),
            }
        })?;
        let place = Self {
            folder,
            folder_path,
            name,
            path,
        };
        place.check_folder(config)?;
        Ok(place)
    }

    /// Checks owner and mode of the folder. Our own folder is changed to the configured mode. One
    /// that others can enter stops the start, because its contents may be theirs.
    fn check_folder(&self, config: &SocketConfig) -> Result<(), SocketError> {
        let stat = fstat(&self.folder).map_err(|e| self.system("look at", e))?;
        check_owner(&self.folder_path, &stat)?;
        // Set-group-id is inherited on some file systems and grants no access.
        let mode = stat.st_mode & 0o5777;
        let wanted = if config.shared() { 0o710 } else { 0o700 };
        let refuse = |remedy: String| SocketError::Mode {
            path: self.folder_path.clone(),
            mode,
            wanted,
            remedy,
        };
        if mode != 0o700 && mode != 0o710 {
            // A folder with something else in it, such as /tmp, is not to be shut to others.
            let own = format!(
                "choose a folder of its own with --socket, such as {}",
                self.folder_path.join("countersign/agent.sock").display()
            );
            return Err(refuse(match self.is_only_ours() {
                true => format!("run `chmod {wanted:o} {}`", self.folder_path.display()),
                false => own,
            }));
        }
        if mode == 0o700 && config.shared() && !self.is_only_ours() {
            return Err(refuse(
                "other files lie in it, so it is not opened to a group; choose a folder of its \
                 own with --socket"
                    .to_owned(),
            ));
        }
        if let Some(gid) = group(config)?
            && stat.st_gid != gid.as_raw()
        {
            fchown(&self.folder, None, Some(gid))
                .map_err(|e| self.system("give the [socket] group (you must be in it) to", e))?;
        }
        if mode != wanted {
            fchmod(&self.folder, Mode::from_bits_truncate(wanted))
                .map_err(|e| self.system("set the mode of", e))?;
        }
        Ok(())
    }

    /// Whether the folder contains only the socket and its companion files.
    fn is_only_ours(&self) -> bool {
        let ours = [self.name.clone(), self.lock_name(), self.fresh_name()];
        std::fs::read_dir(&self.folder_path)
            .is_ok_and(|all| all.flatten().all(|e| ours.contains(&e.file_name())))
    }

    fn lock_name(&self) -> OsString {
        with_ending(&self.name, ".lock")
    }

    /// The socket's name until it is ready.
    fn fresh_name(&self) -> OsString {
        with_ending(&self.name, ".new")
    }

    fn lock(&self) -> Result<File, SocketError> {
        let name = self.lock_name();
        let flags = OFlag::O_CREAT | OFlag::O_RDWR | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let fd = openat(
            &self.folder,
            name.as_os_str(),
            flags,
            Mode::S_IRUSR | Mode::S_IWUSR,
        )
        .map_err(|e| match e {
            Errno::ELOOP => SocketError::Symlink(self.folder_path.join(&name)),
            e => self.system("lock a file in", e),
        })?;
        let file = File::from(fd);
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(SocketError::Live(self.path.clone())),
            Err(TryLockError::Error(source)) => Err(SocketError::System {
                doing: "lock",
                path: self.folder_path.join(name),
                source,
            }),
        }
    }

    /// Makes sure that nothing at the socket's path is in use or belongs to somebody else.
    fn clear(&self) -> Result<(), SocketError> {
        let stat = match self.stat(&self.name) {
            Ok(stat) => stat,
            Err(Errno::ENOENT) => return Ok(()),
            Err(e) => return Err(self.system("look at", e)),
        };
        match SFlag::from_bits_truncate(stat.st_mode & SFlag::S_IFMT.bits()) {
            SFlag::S_IFLNK => return Err(SocketError::Symlink(self.path.clone())),
            SFlag::S_IFSOCK => {}
            _ => return Err(SocketError::NotASocket(self.path.clone())),
        }
        check_owner(&self.path, &stat)?;
        let mode = stat.st_mode & 0o7777;
        if mode != 0o600 && mode != 0o660 {
            return Err(SocketError::Mode {
                path: self.path.clone(),
                mode,
                wanted: 0o600,
                remedy: format!("remove it: `rm {}`", self.path.display()),
            });
        }
        match self.is_answered() {
            Ok(true) => Err(SocketError::Live(self.path.clone())),
            Ok(false) => Ok(()),
            Err(e) => Err(self.system("connect to", e)),
        }
    }

    /// Whether somebody listens at the socket's path. The lock already rules out another dashboard,
    /// but it may be a different program.
    fn is_answered(&self) -> nix::Result<bool> {
        let probe = stream_socket()?;
        match connect(probe.as_raw_fd(), &self.address(&self.name)?) {
            // EAGAIN: a listener with a full queue.
            Ok(()) | Err(Errno::EAGAIN) => Ok(true),
            Err(Errno::ECONNREFUSED | Errno::ENOENT) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Listens under the temporary name, then renames it to the final one.
    fn listen(&self, config: &SocketConfig) -> Result<(OwnedFd, (u64, u64)), SocketError> {
        let fresh = self.fresh_name();
        match self.remove(&fresh) {
            Ok(()) | Err(Errno::ENOENT) => {}
            Err(e) => return Err(self.system("clear", e)),
        }
        let made = self.listen_as(&fresh, config);
        if made.is_err() {
            let _ = self.remove(&fresh);
        }
        made
    }

    fn listen_as(
        &self,
        fresh: &OsString,
        config: &SocketConfig,
    ) -> Result<(OwnedFd, (u64, u64)), SocketError> {
        let gid = group(config)?;
        let mode = if config.shared() { 0o660 } else { 0o600 };
        let steps = || -> nix::Result<(OwnedFd, (u64, u64))> {
            let socket = stream_socket()?;
            bind(socket.as_raw_fd(), &self.address(fresh)?)?;
            if let Some(gid) = gid {
                let flags = AtFlags::AT_SYMLINK_NOFOLLOW;
                fchownat(&self.folder, fresh.as_os_str(), None, Some(gid), flags)?;
            }
            // Only we can write in the folder, so this name is the socket that was just bound.
            fchmodat(
                &self.folder,
                fresh.as_os_str(),
                Mode::from_bits_truncate(mode),
                FchmodatFlags::FollowSymlink,
            )?;
            listen(&socket, Backlog::MAXCONN)?;
            let stat = self.stat(fresh)?;
            renameat(
                &self.folder,
                fresh.as_os_str(),
                &self.folder,
                self.name.as_os_str(),
            )?;
            Ok((socket, (stat.st_dev, stat.st_ino)))
        };
        steps().map_err(|e| SocketError::System {
            doing: "listen at",
            path: self.path.clone(),
            source: e.into(),
        })
    }

    /// The address of a name in the opened folder, even if the folder's path has changed.
    fn address(&self, name: &OsString) -> nix::Result<UnixAddr> {
        let mut path = PathBuf::from(format!("/proc/self/fd/{}", self.folder.as_raw_fd()));
        path.push(name);
        UnixAddr::new(&path)
    }

    fn stat(&self, name: &OsString) -> nix::Result<FileStat> {
        fstatat(
            self.folder.as_fd(),
            name.as_os_str(),
            AtFlags::AT_SYMLINK_NOFOLLOW,
        )
    }

    fn remove(&self, name: &OsString) -> nix::Result<()> {
        unlinkat(&self.folder, name.as_os_str(), UnlinkatFlags::NoRemoveDir)
    }

    fn system(&self, doing: &'static str, errno: Errno) -> SocketError {
        SocketError::System {
            doing,
            path: self.folder_path.clone(),
            source: errno.into(),
        }
    }
}

fn stream_socket() -> nix::Result<OwnedFd> {
    socket(
        AddressFamily::Unix,
        SockType::Stream,
        SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK,
        None,
    )
}

fn check_owner(path: &Path, stat: &FileStat) -> Result<(), SocketError> {
    let own = geteuid();
    if Uid::from_raw(stat.st_uid) == own {
        return Ok(());
    }
    Err(SocketError::Owner {
        path: path.to_owned(),
        uid: stat.st_uid,
        own: own.as_raw(),
    })
}

/// The configured group, if the socket is shared and a group is named.
fn group(config: &SocketConfig) -> Result<Option<Gid>, SocketError> {
    let Some(name) = config.group.as_ref().filter(|_| config.shared()) else {
        return Ok(None);
    };
    match Group::from_name(name) {
        Ok(Some(group)) => Ok(Some(group.gid)),
        Ok(None) => Err(SocketError::NoGroup(name.clone())),
        Err(e) => Err(SocketError::System {
            doing: "look up the group of",
            path: config.path.clone(),
            source: e.into(),
        }),
    }
}

fn with_ending(name: &OsString, ending: &str) -> OsString {
    let mut name = name.clone();
    name.push(ending);
    name
}
