//! What the payload of tier `process` sees of the file system.
//!
//! Under a root dashboard everything is read-only except the run's own folder, which is a memory
//! file system of limited size. If the interpreter or environment is in a folder that the run's
//! user may not enter (a 0700 home), an empty folder covers it, and only the needed paths reappear
//! in it, read-only. The rest of the home disappears. The dashboard of an ordinary user cannot do
//! any of this in this tier.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::libc::{MOUNT_ATTR_NODEV, MOUNT_ATTR_NOSUID, MOUNT_ATTR_RDONLY};
use nix::mount::{MntFlags, MsFlags, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::stat::Mode;
use nix::unistd::{Gid, Uid, chown};

use crate::model::Limits;

use super::super::protocol::Order;
use super::super::scratch;
use super::identity::Identity;
use super::layer::{Layer, on};
use super::mounts::{attributes, mount_at};
use super::{Attempt, Reason, Refusal, Step};

/// The payload's view, for the lifetime of the helper.
pub struct View {
    /// The run's folder, if a file system is mounted on it.
    mounted: Option<PathBuf>,
}

impl View {
    /// Makes the view for the jail of tier `kernel`, which the run's own user assembles: under
    /// root, only the needed paths are mounted where that user can reach them.
    pub fn reachable(order: &Order, identity: Option<&Identity>) -> Result<Self, Refusal> {
        if identity.is_some() {
            unshare(CloneFlags::CLONE_NEWNS).step(Step::MakeMountNamespace)?;
            private()?;
            cover(order)?;
        }
        Ok(Self { mounted: None })
    }

    /// Makes the view for tier `process`.
    pub fn make(order: &Order, identity: Option<&Identity>) -> Result<Self, Refusal> {
        let Some(identity) = identity else {
            make_folders(&order.scratch, None)?;
            return Ok(Self { mounted: None });
        };
        match unshare(CloneFlags::CLONE_NEWNS) {
            Ok(()) => {}
            // Root lacks CAP_SYS_ADMIN, as in most containers.
            Err(Errno::EPERM) => return Self::without_namespace(order, identity),
            Err(e) => return Err(Refusal::new(Step::MakeMountNamespace, e)),
        }
        private()?;
        cover(order)?;
        if on(Layer::View) {
            read_only(Path::new("/"), 0)?;
            shared_memory()?;
        }
        let size = scratch_bytes(&order.limits);
        let options = format!(
            "mode=0700,uid={0},gid={0},size={size},nr_inodes=8192",
            identity.uid
        );
        mount_at(
            Some(OsStr::new("tmpfs")),
            &order.scratch,
            Some("tmpfs"),
            MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC,
            Some(&options),
        )
        .step(Step::MakeFolder)?;
        make_folders(&order.scratch, Some(identity.uid))?;
        Ok(Self {
            mounted: Some(order.scratch.clone()),
        })
    }

    /// Without a mount namespace, everything needed must be reachable as it is.
    fn without_namespace(order: &Order, identity: &Identity) -> Result<Self, Refusal> {
        for path in order.needs.iter().chain([&order.scratch]) {
            if let Some(folder) = first_closed(path) {
                return Err(Refusal::new(
                    Reason::EnvironmentOutOfReach,
                    folder.display(),
                ));
            }
        }
        let (user, group) = (Uid::from_raw(identity.uid), Gid::from_raw(identity.uid));
        chown(&order.scratch, Some(user), Some(group)).step(Step::MakeFolder)?;
        make_folders(&order.scratch, Some(identity.uid))?;
        Ok(Self { mounted: None })
    }

    /// Unmounts the run's file system, so that the folder can be removed.
    pub fn dissolve(&self) {
        if let Some(folder) = &self.mounted {
            // A failure shows when the folder is removed.
            let _ = umount2(folder.as_path(), MntFlags::MNT_DETACH);
        }
    }
}

/// Mounts a small /dev/shm of the run's own, where multiprocessing keeps its semaphores; no other
/// limit counts it. It disappears with the helper's mount namespace.
fn shared_memory() -> Result<(), Refusal> {
    let shm = Path::new("/dev/shm");
    if !shm.is_dir() {
        return Ok(());
    }
    mount_at(
        Some(OsStr::new("tmpfs")),
        shm,
        Some("tmpfs"),
        MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC,
        Some("mode=1777,size=16m,nr_inodes=256"),
    )
    .step(Step::MakeSharedMemory)
}

/// Hides later mounts from the rest of the machine.
fn private() -> Result<(), Refusal> {
    mount_at(
        None,
        Path::new("/"),
        None,
        MsFlags::MS_REC | MsFlags::MS_PRIVATE,
        None,
    )
    .step(Step::KeepMountsPrivate)
}

/// Room for a few files of the maximum size; never more than a gibibyte of memory.
pub fn scratch_bytes(limits: &Limits) -> u64 {
    const MIB: u64 = 1024 * 1024;
    (limits.file_size_mb.saturating_mul(4)).clamp(16, 1024) * MIB
}

fn make_folders(scratch: &Path, uid: Option<u32>) -> Result<(), Refusal> {
    for name in [scratch::OUTPUT, scratch::HOME] {
        let folder = scratch.join(name);
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .step(Step::MakeFolder)?;
        if let Some(uid) = uid {
            chown(&folder, Some(Uid::from_raw(uid)), Some(Gid::from_raw(uid)))
                .step(Step::MakeFolder)?;
        }
    }
    Ok(())
}

/// The topmost folder on the way to `path` that a user without special rights may not enter. `path`
/// itself counts if it is a folder that such a user may not list.
fn first_closed(path: &Path) -> Option<PathBuf> {
    let mut way: Vec<&Path> = path.ancestors().collect();
    way.reverse();
    way.into_iter()
        .find(|step| {
            let Ok(meta) = std::fs::metadata(step) else {
                // A missing path is not closed; using it fails later with its name.
                return false;
            };
            let wanted = if *step == path { 0o005 } else { 0o001 };
            meta.is_dir() && meta.mode() & wanted != wanted
        })
        .map(Path::to_path_buf)
}

/// Covers every closed folder and mounts the needed paths below it again.
fn cover(order: &Order) -> Result<(), Refusal> {
    let mut closed: BTreeMap<PathBuf, Vec<(&Path, OwnedFd)>> = BTreeMap::new();
    for path in &order.needs {
        let Some(folder) = first_closed(path) else {
            continue;
        };
        let needed = closed.entry(folder.clone()).or_default();
        // The closed folder itself cannot be opened up, only paths below it.
        if *path != folder {
            let place = open(path, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty())
                .step(Step::OpenEnvironment)?;
            needed.push((path, place));
        }
    }
    let scratch_closed = order.scratch.parent().and_then(first_closed);
    if let Some(folder) = &scratch_closed {
        closed.entry(folder.clone()).or_default();
    }
    for (folder, mut needed) in closed {
        if folder == Path::new("/") {
            return Err(Refusal::new(Reason::RootFolderClosed, "/ lacks o+x"));
        }
        mount_at(
            Some(OsStr::new("tmpfs")),
            &folder,
            Some("tmpfs"),
            MsFlags::MS_NOSUID | MsFlags::MS_NODEV,
            Some("mode=0755,size=1m,nr_inodes=4096"),
        )
        .step(Step::CoverClosedFolder)?;
        needed.sort_by_key(|(path, _)| path.components().count());
        let mut bound: Vec<&Path> = Vec::new();
        for (path, place) in &needed {
            if bound.iter().any(|outer| path.starts_with(outer)) {
                continue;
            }
            bind(place, path)?;
            bound.push(path);
        }
        if scratch_closed.as_ref() == Some(&folder) {
            make_way(&order.scratch)?;
        }
    }
    Ok(())
}

/// Creates the folder `path` and its parents, which every user may pass through.
fn make_way(path: &Path) -> Result<(), Refusal> {
    let before = nix::sys::stat::umask(Mode::from_bits_truncate(0o022));
    let made = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(path);
    nix::sys::stat::umask(before);
    made.step(Step::CoverClosedFolder)
}

fn bind(place: &OwnedFd, path: &Path) -> Result<(), Refusal> {
    const DOING: Step = Step::BringBackEnvironment;
    let source = format!("/proc/self/fd/{}", place.as_raw_fd());
    if std::fs::metadata(&source).step(DOING)?.is_dir() {
        make_way(path)?;
    } else {
        if let Some(parent) = path.parent() {
            make_way(parent)?;
        }
        std::fs::File::create_new(path).step(DOING)?;
    }
    mount_at(
        Some(OsStr::new(&source)),
        path,
        None,
        MsFlags::MS_BIND | MsFlags::MS_REC,
        None,
    )
    .step(DOING)?;
    read_only(path, MOUNT_ATTR_NODEV)
}

/// Makes the mount and all mounts below it read-only, without set-id programs.
fn read_only(path: &Path, more: u64) -> Result<(), Refusal> {
    let set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | more;
    attributes(path, set, true, Step::MakeReadOnly)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_topmost_closed_folder_is_found() {
        let top = tempfile::tempdir().unwrap();
        let root = top.path().canonicalize().unwrap();
        let deep = root.join("a/b");
        std::fs::create_dir_all(&deep).unwrap();
        let mode = |path: &Path, mode| {
            std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        };
        mode(&root, 0o755);
        mode(&root.join("a"), 0o711);
        mode(&deep, 0o711);
        assert_eq!(first_closed(&deep), Some(deep.clone()));
        mode(&deep, 0o755);
        assert_eq!(first_closed(&deep), None);
        mode(&root, 0o700);
        assert_eq!(first_closed(&deep), Some(root));
    }
}
