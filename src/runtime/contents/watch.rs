//! Tells whether anything in an environment was touched since the last look at all of it. The
//! kernel records that (inotify(7)), so the answer takes microseconds.
//!
//! The kernel watches names. Files with another name outside, and the targets of links that lead
//! outside, are therefore checked themselves. Changes that no watch reports (a write through a
//! mapping, a change by another machine) are found by the whole look, whose answer is valid only
//! for a minute. File systems that other machines write to are not watched.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use nix::sys::statfs::{
    BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC, FsType, OVERLAYFS_SUPER_MAGIC,
    TMPFS_MAGIC, XFS_SUPER_MAGIC, statfs,
};

use super::walk::{Entry, EntryKind, Places, Table};

/// File systems on which only this kernel makes changes (the first is also ext2 and ext3).
const LOCAL: [FsType; 6] = [
    EXT4_SUPER_MAGIC,
    XFS_SUPER_MAGIC,
    BTRFS_SUPER_MAGIC,
    F2FS_SUPER_MAGIC,
    TMPFS_MAGIC,
    OVERLAYFS_SUPER_MAGIC,
];

/// With more unwatched files than this, the whole look is as quick.
const ALONE_MAX: usize = 1000;

/// Device and inode.
type Identity = (u64, u64);

/// A watch on every folder of an environment.
#[derive(Debug)]
pub struct Watch {
    inotify: Inotify,
    /// The roots of the walk.
    roots: Vec<(PathBuf, Identity)>,
    /// Files that can change through a name that is not watched.
    alone: Vec<(PathBuf, Entry)>,
    /// Links that lead outside, and their targets.
    links: Vec<(PathBuf, PathBuf)>,
}

impl Watch {
    /// Watches everything in `table`. Only a walk that begins afterwards gives the state that the
    /// watch starts from.
    ///
    /// # Errors
    /// What cannot be watched and why; then only a whole look finds changes.
    pub fn over(places: &Places, table: &Table) -> Result<Self, String> {
        let inotify = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK)
            .map_err(|e| format!("no watch can be made ({e})"))?;
        let mut watch = Self {
            inotify,
            roots: roots(places)?,
            alone: Vec::new(),
            links: Vec::new(),
        };
        for (path, entry) in table {
            watch.add(Path::new(path), *entry, places)?;
        }
        if watch.alone.len() > ALONE_MAX {
            return Err(format!("{} files have several names", watch.alone.len()));
        }
        Ok(watch)
    }

    fn add(&mut self, path: &Path, entry: Entry, places: &Places) -> Result<(), String> {
        match entry.kind {
            EntryKind::Folder => self.folder(path).map_err(|e| named(path, &e)),
            EntryKind::Link => {
                match fs::canonicalize(path) {
                    Ok(target) if places.covers(&target) => {}
                    Ok(target) => self.links.push((path.to_owned(), target)),
                    Err(_) => {}
                }
                Ok(())
            }
            EntryKind::File | EntryKind::Other => {
                let beyond = places.roots.iter().any(|root| root == path) || !places.covers(path);
                if entry.several || beyond {
                    self.alone.push((path.to_owned(), entry));
                }
                Ok(())
            }
        }
    }

    fn folder(&self, path: &Path) -> Result<(), String> {
        let kind = statfs(path).map_err(|e| e.to_string())?.filesystem_type();
        if !LOCAL.contains(&kind) {
            return Err("its file system may be changed by another machine".to_owned());
        }
        let touched = AddWatchFlags::IN_MODIFY
            | AddWatchFlags::IN_ATTRIB
            | AddWatchFlags::IN_CREATE
            | AddWatchFlags::IN_DELETE
            | AddWatchFlags::IN_MOVE
            | AddWatchFlags::IN_CLOSE_WRITE
            | AddWatchFlags::IN_DELETE_SELF
            | AddWatchFlags::IN_MOVE_SELF
            | AddWatchFlags::IN_ONLYDIR
            | AddWatchFlags::IN_DONT_FOLLOW;
        let added = self.inotify.add_watch(path, touched);
        added.map(drop).map_err(|e| e.to_string())
    }

    /// Whether nothing was touched since the watch was made. After a change the watch is useless.
    pub fn is_silent(&self) -> bool {
        matches!(self.inotify.read_events(), Err(Errno::EAGAIN))
            && self
                .roots
                .iter()
                .all(|(root, then)| now(root) == Some(*then))
            && self
                .links
                .iter()
                .all(|(link, then)| fs::canonicalize(link).is_ok_and(|now| now == *then))
            && self.alone.iter().all(|(path, then)| {
                fs::symlink_metadata(path).is_ok_and(|meta| Entry::of(&meta) == *then)
            })
    }
}

fn roots(places: &Places) -> Result<Vec<(PathBuf, Identity)>, String> {
    let found = places.roots.iter().map(|root| {
        let now = now(root).ok_or_else(|| named(root, "it is not there"))?;
        Ok((root.clone(), now))
    });
    found.collect()
}

fn now(path: &Path) -> Option<Identity> {
    let meta = fs::symlink_metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

fn named(path: &Path, why: &str) -> String {
    let name = path.file_name().unwrap_or(OsStr::new("/"));
    format!("{} cannot be watched: {why}", name.to_string_lossy())
}
