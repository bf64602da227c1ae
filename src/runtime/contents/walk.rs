//! Every file below some folders with what tells it from another without reading it.
//!
//! Asked for while a person reads a sheet, so it is quick: names come a folder at a time, each file is one call
//! relative to its open folder, and all processors work on it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    /// Only that it is there counts: what is in it has entries of its own.
    Folder,
    Link,
    /// A socket, a pipe or a device: never opened.
    Other,
}

/// Tells an entry that was not touched since. The last time, of the latest change, nobody can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    pub device: u64,
    pub inode: u64,
    pub bytes: u64,
    /// Nanoseconds since the epoch.
    pub modified: i64,
    pub changed: i64,
}

/// One entry as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub kind: EntryKind,
    pub stamp: Stamp,
    /// Whether a file has another name somewhere.
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
            // Its times change with every file that comes and goes, which is seen by itself.
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

/// By whole path. A path's bytes are compared, not its parts: that is what takes the time.
pub type Table = HashMap<OsString, Entry>;

/// Far above any environment: what has more is somebody's home.
pub const ENTRIES_MAX: usize = 1_000_000;

/// Threads that walk: more wait for the same disk.
const THREADS_MAX: usize = 4;

/// What to walk.
#[derive(Clone, Debug)]
pub struct Places {
    /// Files and folders, none below another.
    pub roots: Vec<PathBuf>,
    /// Folders that Python imports from.
    pub imported: Vec<PathBuf>,
    /// Those of them that are a standard library.
    pub libraries: Vec<PathBuf>,
}

impl Places {
    /// The packages beside a standard library, if this environment does not import from there: they
    /// belong to everybody who uses that interpreter.
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

    /// Whether it is a root or below one.
    pub fn covers(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }
}

/// How many threads work at once.
pub fn threads() -> usize {
    thread::available_parallelism()
        .map_or(1, std::num::NonZero::get)
        .min(THREADS_MAX)
}

/// Folders that wait, and how many are being read.
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

/// Everything there is now. What vanishes while it is read is not there.
///
/// # Errors
/// With the path: a folder that cannot be read for another reason than its mode, or far too many
/// entries.
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
        // This thread is one of them: without another one it does all.
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

    /// The next folder; none once nothing waits and nobody is at work.
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

    /// The entries of one folder go to `found`; its folders are the value.
    fn read(&self, folder: &Path, found: &mut Vec<(OsString, Entry)>) -> io::Result<Vec<PathBuf>> {
        let mut below = Vec::new();
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            // Gone, or nobody's here to read: then no run reads it either.
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

    /// A link to a file elsewhere brings in that file. One to a folder elsewhere leads nowhere in a
    /// jail, and is only what it says.
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
