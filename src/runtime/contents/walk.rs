//! Lists every file below some folders with its stamp, which identifies its state without reading
//! it.
//!
//! This runs while a person reads a sheet, so it must be quick: it lists whole folders, makes one
//! call per file relative to the open folder, and uses all processors.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    /// Only its existence is compared; its contents are entries themselves.
    Folder,
    Link,
    /// A socket, pipe or device, which is never opened.
    Other,
}

/// Identifies an entry that was not touched. Nobody can set the last time, the change time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    pub device: u64,
    pub inode: u64,
    pub bytes: u64,
    /// Nanoseconds since the epoch.
    pub modified: i64,
    pub changed: i64,
}

/// The current state of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub kind: EntryKind,
    pub stamp: Stamp,
    /// Whether the file has several names.
    pub several: bool,
}

impl Entry {
    pub fn of(meta: &Metadata) -> Self {
        let kind = match meta.file_type() {
            t if t.is_file() => EntryKind::File,
            t if t.is_dir() => EntryKind::Folder,
            t if t.is_symlink() => EntryKind::Link,
            _ => EntryKind::Other,
        };
        let stamp = match kind {
            // The times of a folder change with every entry that is added or removed, and those
            // changes are found by themselves.
            EntryKind::Folder => Stamp {
                device: 0,
                inode: 0,
                bytes: 0,
                modified: 0,
                changed: 0,
            },
            EntryKind::File | EntryKind::Link | EntryKind::Other => Stamp::of(meta),
        };
        Self {
            kind,
            stamp,
            several: kind != EntryKind::Folder && meta.nlink() > 1,
        }
    }
}

impl Stamp {
    pub fn of(meta: &Metadata) -> Self {
        let ns = |s: i64, ns: i64| s.saturating_mul(1_000_000_000).saturating_add(ns);
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            bytes: meta.len(),
            modified: ns(meta.mtime(), meta.mtime_nsec()),
            changed: ns(meta.ctime(), meta.ctime_nsec()),
        }
    }
}

/// Entries by whole path. Paths are compared as bytes, because comparing their components takes too
/// long.
pub type Table = HashMap<OsString, Entry>;

/// Far more than any environment has; a folder with more is probably somebody's home.
pub const ENTRIES_MAX: usize = 1_000_000;

/// Maximum number of walking threads; more would wait for the same disk.
const THREADS_MAX: usize = 4;

/// What to walk.
#[derive(Clone, Debug)]
pub struct Places {
    /// Files and folders, of which none is below another.
    pub roots: Vec<PathBuf>,
    /// Folders that Python imports from.
    pub imported: Vec<PathBuf>,
    /// Those folders in `imported` that are a standard library.
    pub libraries: Vec<PathBuf>,
}

impl Places {
    /// Whether to skip this folder: packages beside a standard library belong to every user of that
    /// interpreter, and this environment may not import from there.
    fn skips(&self, folder: &Path) -> bool {
        folder
            .file_name()
            .is_some_and(|name| name == "site-packages" || name == "dist-packages")
            && self
                .libraries
                .iter()
                .any(|library| folder.parent() == Some(library))
            && !self.imported.iter().any(|path| path.starts_with(folder))
    }

    /// Whether the path is a root or below one.
    pub fn covers(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }
}

/// Number of threads to use.
pub fn threads() -> usize {
    thread::available_parallelism()
        .map_or(1, std::num::NonZero::get)
        .min(THREADS_MAX)
}

/// The folders to read, and the number being read.
struct Queue {
    waiting: Vec<PathBuf>,
    busy: usize,
    seen: usize,
    failed: Option<(PathBuf, io::Error)>,
}

struct Walk<'a> {
    places: &'a Places,
    queue: Mutex<Queue>,
    more: Condvar,
}

/// All current entries. An entry that disappears during the walk counts as missing.
///
/// # Errors
/// The path and the error: a folder that cannot be read for a reason other than its mode, or far
/// too many entries.
pub fn walk(places: &Places) -> Result<Table, (PathBuf, io::Error)> {
    let mut table = Table::new();
    let mut waiting = Vec::new();
    for root in &places.roots {
        match fs::symlink_metadata(root) {
            Ok(meta) => {
                let entry = Entry::of(&meta);
                if entry.kind == EntryKind::Folder {
                    waiting.push(root.clone());
                }
                table.insert(root.clone().into_os_string(), entry);
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err((root.clone(), e)),
        }
    }
    let walk = Walk {
        places,
        queue: Mutex::new(Queue {
            waiting,
            busy: 0,
            seen: 0,
            failed: None,
        }),
        more: Condvar::new(),
    };
    let lists = thread::scope(|scope| {
        // This thread works too, and does everything if no other can be started.
        let others: Vec<_> = (1..threads())
            .filter_map(|_| {
                thread::Builder::new()
                    .spawn_scoped(scope, || walk.work())
                    .ok()
            })
            .collect();
        let mut lists = vec![walk.work()];
        lists.extend(others.into_iter().map(|other| {
            other.join().unwrap_or_else(|_| {
                walk.fail(PathBuf::new(), io::Error::other("a thread ended"));
                Vec::new()
            })
        }));
        lists
    });
    if let Some(failed) = walk.queue().failed.take() {
        return Err(failed);
    }
    table.reserve(lists.iter().map(Vec::len).sum());
    table.extend(lists.into_iter().flatten());
    Ok(table)
}

impl Walk<'_> {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, path: PathBuf, error: io::Error) {
        self.queue().failed.get_or_insert((path, error));
        self.more.notify_all();
    }

    /// The next folder; `None` once none waits and no thread is busy.
    fn next(&self) -> Option<PathBuf> {
        let mut queue = self.queue();
        loop {
            if queue.failed.is_some() {
                return None;
            }
            if let Some(folder) = queue.waiting.pop() {
                queue.busy += 1;
                return Some(folder);
            }
            if queue.busy == 0 {
                return None;
            }
            queue = self
                .more
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn work(&self) -> Vec<(OsString, Entry)> {
        let mut found = Vec::new();
        while let Some(folder) = self.next() {
            let before = found.len();
            let read = self.read(&folder, &mut found);
            let mut queue = self.queue();
            queue.busy -= 1;
            queue.seen += found.len() - before;
            let crowded = queue.seen > ENTRIES_MAX;
            match read {
                Ok(below) => queue.waiting.extend(below),
                Err(e) => {
                    queue.failed.get_or_insert((folder, e));
                }
            }
            if crowded {
                let many = format!("more than {ENTRIES_MAX} files");
                let place = self.places.roots.first().cloned().unwrap_or_default();
                queue.failed.get_or_insert((place, io::Error::other(many)));
            }
            drop(queue);
            self.more.notify_all();
        }
        found
    }

    /// Appends the entries of one folder to `found` and returns its subfolders.
    fn read(&self, folder: &Path, found: &mut Vec<(OsString, Entry)>) -> io::Result<Vec<PathBuf>> {
        let mut below = Vec::new();
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            // The folder is gone or not readable for us; then no run can read it either.
            Err(e) if is_out_of_reach(&e) => return Ok(below),
            Err(e) => return Err(e),
        };
        for entry in entries {
            let entry = entry?;
            let meta = match entry.metadata() {
                Ok(meta) => meta,
                Err(e) if is_out_of_reach(&e) => continue,
                Err(e) => return Err(e),
            };
            let path = entry.path();
            let entry = Entry::of(&meta);
            match entry.kind {
                EntryKind::Folder if self.places.skips(&path) => continue,
                EntryKind::Folder => below.push(path.clone()),
                EntryKind::Link => self.follow(&path, found),
                EntryKind::File | EntryKind::Other => {}
            }
            found.push((path.into_os_string(), entry));
        }
        Ok(below)
    }

    /// Adds the target of a link to a file elsewhere. A link to a folder elsewhere leads nowhere in
    /// a jail, so only its target path counts.
    fn follow(&self, link: &Path, found: &mut Vec<(OsString, Entry)>) {
        if let Ok(target) = fs::canonicalize(link)
            && !self.places.covers(&target)
            && let Ok(meta) = fs::symlink_metadata(&target)
            && meta.is_file()
        {
            found.push((target.into_os_string(), Entry::of(&meta)));
        }
    }
}

fn is_out_of_reach(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::NotADirectory
    )
}
