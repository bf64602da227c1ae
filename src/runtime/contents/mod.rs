//! The contents of an environment: every file that a run can load from the interpreter, the
//! standard library and site-packages. They are read once, and checked again before each run.
//!
//! Reading gives the digest that a grant binds. A check compares what the kernel reports of each
//! file (device, inode, size, both times). That takes milliseconds and misses no change, because
//! nobody can set the change time. Opening the sheet starts a check; from then on a watch (`watch`)
//! reports touched files, so that a grant shortly afterwards does not wait. The system's shared
//! libraries belong to the system and are not checked, except `libpython`.

mod cache;
mod hash;
#[cfg(test)]
mod tests;
mod walk;
mod watch;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sha2::{Digest as _, Sha256};

use self::cache::Cache;
use self::hash::Unread;
use self::walk::{EntryKind, Places, Table, walk};
use self::watch::Watch;
use super::managed::Progress;
use super::{PythonEnv, RuntimeError};
use crate::model::{Digest, visible};

/// Prefixes that contain more than a Python.
const SHARED_PREFIXES: [&str; 3] = ["/", "/usr", "/usr/local"];

/// How often to read an environment again that changed during the read.
const ATTEMPTS: usize = 5;

/// Two changes within one tick of the kernel's clock (HZ=100) have the same time.
const TICK: Duration = Duration::from_millis(20);
/// The tick of file systems that count whole seconds, or two in the oldest ones.
const COARSE_TICK: Duration = Duration::from_secs(2);

/// Maximum number of changes to name; more are only counted.
const NAMED_MAX: usize = 3;

/// How long a look at every file covers changes that a watch does not report.
const LOOK_HOLDS: Duration = Duration::from_secs(60);

/// Maximum number of characters of a named path.
const SHOWN_MAX: usize = 120;

/// An environment whose files were read.
#[derive(Debug)]
pub struct Measured {
    /// The environment; its digest covers the contents.
    pub env: Arc<PythonEnv>,
    places: Places,
    table: Table,
    /// The first change that was found. After a change the environment never counts as the same
    /// again.
    spoiled: OnceLock<Change>,
    last: Mutex<Last>,
}

/// The last look at every file.
#[derive(Debug)]
enum Last {
    /// No look that a watch continues.
    None,
    /// The time at which the look began. The watch is older and reports what was touched since.
    Watched(Instant, Watch),
    /// This environment cannot be watched, so each look covers every file.
    Unwatchable,
}

impl Last {
    fn holds(&self) -> bool {
        matches!(self, Self::Watched(then, watch)
            if then.elapsed() < LOOK_HOLDS && watch.is_silent())
    }

    /// A watch that covers the look.
    fn take(&mut self, places: &Places, table: &Table) -> Option<Watch> {
        match std::mem::replace(self, Self::None) {
            Self::Watched(_, watch) if watch.is_silent() => return Some(watch),
            Self::Watched(..) | Self::None => {}
            Self::Unwatchable => {
                *self = Self::Unwatchable;
                return None;
            }
        }
        match Watch::over(places, table) {
            Ok(watch) => Some(watch),
            Err(why) => {
                tracing::info!("each grant looks at the whole environment: {why}");
                *self = Self::Unwatchable;
                None
            }
        }
    }
}

/// A change since the contents were read: paths inside the environment, for a person and the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change(String);

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Measured {
    /// Reads everything that `cache` does not know. `cache` is a file of this user, made if
    /// missing.
    ///
    /// # Errors
    /// If something cannot be read, or keeps changing during the read.
    pub fn of(
        env: PythonEnv,
        cache: &Path,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, RuntimeError> {
        let places = places(&env);
        let mut cache = Cache::open(cache);
        let mut restless = String::new();
        let mut say = |done, total| {
            progress(Progress {
                step: "MB read of the environment's files".to_owned(),
                done,
                total,
            });
        };
        for _ in 0..ATTEMPTS {
            let table = settled(&places)?;
            let digest = match hash::all(&table, &mut cache, &mut say) {
                Ok(sums) => digest(&env, &sums),
                Err(Unread::Changed(path)) => {
                    restless = inside(&env, &path);
                    continue;
                }
                Err(Unread::Failed(path, source)) => {
                    return Err(RuntimeError::Unreadable { path, source });
                }
            };
            if let Some(change) = difference(&env, &table, &look(&places)?) {
                restless = change.0;
                continue;
            }
            if let Err(e) = cache.save(now()) {
                tracing::warn!("every start reads the whole environment: {e}");
            }
            return Ok(Self {
                env: Arc::new(PythonEnv { digest, ..env }),
                places,
                table,
                spoiled: OnceLock::new(),
                last: Mutex::new(Last::None),
            });
        }
        Err(RuntimeError::Restless { what: restless })
    }

    /// The first change, which is the answer from then on; `None` if nothing changed. Answers at
    /// once if every file was looked at in the last minute and a watch reports none touched since;
    /// otherwise looks at every file.
    pub fn change(&self) -> Option<Change> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if self.spoiled.get().is_none() && last.holds() {
            return None;
        }
        self.look_under(&mut last)
    }

    /// Looks at every file again, without reading it. The first change is the answer from then on.
    pub fn look(&self) -> Option<Change> {
        self.look_under(&mut self.last.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn look_under(&self, last: &mut Last) -> Option<Change> {
        if let Some(known) = self.spoiled.get() {
            return Some(known.clone());
        }
        // The watch starts before the look, so that no change falls between them.
        let watch = last.take(&self.places, &self.table);
        let began = Instant::now();
        let change = match walk(&self.places) {
            Ok(now) => difference(&self.env, &self.table, &now),
            Err((path, e)) => Some(Change(format!(
                "{} cannot be looked at ({})",
                inside(&self.env, &path),
                e.kind()
            ))),
        };
        if let Some(change) = change {
            return Some(self.spoiled.get_or_init(|| change).clone());
        }
        if let Some(watch) = watch {
            *last = Last::Watched(began, watch);
        }
        None
    }

    /// Number of files and folders in it.
    pub fn entries(&self) -> usize {
        self.table.len()
    }
}

/// The places that a run can load from: the interpreter, its standard library, the environment.
fn places(env: &PythonEnv) -> Places {
    let mut all: BTreeSet<PathBuf> = [&env.executable, &env.base_prefix, &env.prefix]
        .into_iter()
        .chain(&env.sys_path)
        .filter(|path| {
            !SHARED_PREFIXES
                .iter()
                .any(|prefix| *path == Path::new(prefix))
        })
        .cloned()
        .collect();
    all.extend(shared_python(env));
    let mut roots: Vec<PathBuf> = Vec::new();
    // Sorted, so that a folder comes before its contents.
    for path in all {
        if !roots.iter().any(|outer| path.starts_with(outer)) {
            roots.push(path);
        }
    }
    Places {
        roots,
        imported: env.sys_path.clone(),
        libraries: env
            .sys_path
            .iter()
            .filter(|path| path.join("os.py").is_file())
            .cloned()
            .collect(),
    }
}

/// The interpreter's own shared library, if that is among the system's.
fn shared_python(env: &PythonEnv) -> Vec<PathBuf> {
    let (major, minor, _) = env.version;
    let name = format!("libpython{major}.{minor}");
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64"]
        .into_iter()
        .flat_map(|base| [PathBuf::from(base), Path::new(base).join(&triplet)])
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            let file = path.file_name().unwrap_or_default().as_encoded_bytes();
            file.starts_with(name.as_bytes())
        })
        .filter_map(|path| path.canonicalize().ok())
        .collect()
}

fn look(places: &Places) -> Result<Table, RuntimeError> {
    walk(places).map_err(|(path, source)| RuntimeError::Unreadable { path, source })
}

/// All entries, read once every later change will show in the times.
fn settled(places: &Places) -> Result<Table, RuntimeError> {
    let table = look(places)?;
    let now = now();
    let latest = table
        .values()
        .map(|entry| entry.stamp)
        .filter(|stamp| stamp.changed <= now)
        .max_by_key(|stamp| stamp.changed);
    let Some(latest) = latest else {
        return Ok(table);
    };
    let whole = latest.changed % 1_000_000_000 == 0 && latest.modified % 1_000_000_000 == 0;
    let tick = if whole { COARSE_TICK } else { TICK };
    let age = Duration::from_nanos((now - latest.changed).unsigned_abs());
    match tick.checked_sub(age) {
        None => Ok(table),
        Some(left) => {
            std::thread::sleep(left);
            look(places)
        }
    }
}

/// Nanoseconds since the epoch, as in the times of files.
fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_nanos()).ok())
        .unwrap_or(0)
}

/// SHA-256 over a labelled, length-prefixed list.
fn digest(env: &PythonEnv, sums: &[hash::Summed<'_>]) -> Digest {
    let mut hash = Sha256::new();
    let mut put = |part: &[u8]| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    put(b"countersign environment 2");
    put(env.digest.as_bytes());
    for (path, entry, sum) in sums {
        put(path.as_encoded_bytes());
        put(match (entry.kind, sum) {
            (EntryKind::File, Some(_)) => b"file",
            (EntryKind::File, None) => b"file that cannot be read",
            (EntryKind::Folder, _) => b"folder",
            (EntryKind::Link, _) => b"link",
            (EntryKind::Other, _) => b"other",
        });
        put(sum.as_ref().map_or(&[], |sum| sum));
    }
    Digest::from_bytes(hash.finalize().into())
}

/// The changes from one table to the other. Byte code comes last, because it follows from the rest.
fn difference(env: &PythonEnv, before: &Table, now: &Table) -> Option<Change> {
    let mut changes: Vec<(&std::ffi::OsStr, EntryKind, &str)> = Vec::new();
    for (path, entry) in now {
        match before.get(path) {
            Some(then) if then == entry => {}
            Some(_) => changes.push((path, entry.kind, "was changed")),
            None => changes.push((path, entry.kind, "was added")),
        }
    }
    // If no entry changed and the count is the same, none is missing.
    if !changes.is_empty() || now.len() != before.len() {
        let gone = before.iter().filter(|(path, _)| !now.contains_key(*path));
        changes.extend(gone.map(|(path, entry)| (path.as_os_str(), entry.kind, "is gone")));
    }
    changes.sort_unstable_by_key(|(path, kind, _)| {
        let compiled = Path::new(path).extension().is_some_and(|e| e == "pyc");
        (*kind == EntryKind::Folder, compiled, *path)
    });
    let named: Vec<String> = changes
        .iter()
        .take(NAMED_MAX)
        .map(|(path, _, what)| format!("{} {what}", inside(env, Path::new(path))))
        .collect();
    let more = match changes.len().saturating_sub(named.len()) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    (!named.is_empty()).then(|| Change(format!("{}{more}", named.join(", "))))
}

/// The path inside the environment, without characters that control a terminal; only the name for a
/// file elsewhere.
fn inside(env: &PythonEnv, path: &Path) -> String {
    let inner = [&env.prefix, &env.base_prefix]
        .into_iter()
        .chain(&env.sys_path)
        .find_map(|root| path.strip_prefix(root).ok())
        .filter(|inner| !inner.as_os_str().is_empty())
        .or_else(|| path.file_name().map(Path::new))
        .unwrap_or(path);
    let shown = visible(&inner.to_string_lossy()).into_owned();
    let length = shown.chars().count();
    if length <= SHOWN_MAX {
        return shown;
    }
    // Keeps the end of the path, which is the file's own name.
    let end: String = shown.chars().skip(length - SHOWN_MAX).collect();
    format!("…{end}")
}
