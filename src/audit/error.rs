//! What can be wrong with a log.

use std::fmt;
use std::io;
use std::path::PathBuf;

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

use super::place::Misplaced;

/// Why a log cannot be opened, written or read. The text is for a person.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error(
        "the audit log in {} is in use by another dashboard{}; close that one, or choose another \
         folder with --state-dir", dir.display(), pid.map(|p| format!(" (pid {p})")).unwrap_or_default()
    )]
    Locked { dir: PathBuf, pid: Option<i32> },
    #[error("{} {problem}; {remedy}", path.display())]
    Unsafe {
        path: PathBuf,
        problem: String,
        remedy: String,
    },
    #[error(
        "the audit log in {} is damaged: {damage}. Nothing was changed; `countersign audit verify` \
         shows the state, `countersign audit repair` what can be repaired, and another --state-dir starts a \
         new log", dir.display()
    )]
    Damaged { dir: PathBuf, damage: Damage },
    #[error("{} cannot be {action}: {source}{}", path.display(), remedy(source))]
    Io {
        path: PathBuf,
        /// `read`, `created`, …
        action: &'static str,
        source: io::Error,
    },
    #[error(
        "a later version of Countersign wrote to the audit log in {} ({place}). Nothing was \
         changed; start the later version, or choose another folder with --state-dir", dir.display()
    )]
    Later { dir: PathBuf, place: Damage },
    #[error(
        "the audit log in {} cannot be repaired: {damage}, and nothing is left to continue from. \
         Nothing was changed; restore a copy, or choose another folder with --state-dir", dir.display()
    )]
    Beyond { dir: PathBuf, damage: Damage },
    #[error("there is no audit log in {}", dir.display())]
    None { dir: PathBuf },
}

impl AuditError {
    pub(super) fn io(path: impl Into<PathBuf>, action: &'static str, source: io::Error) -> Self {
        Self::Io {
            path: path.into(),
            action,
            source,
        }
    }
}

/// Why the writer stopped while doing `what`.
pub(super) fn reason(what: &str, error: &io::Error) -> String {
    match error.get_ref() {
        // The operation succeeded, but the log's files are not where they should be.
        Some(inner) if inner.is::<Misplaced>() => error.to_string(),
        _ => format!("{what}: {error}{}", remedy(error)),
    }
}

/// Whether descriptors, memory or space ran out before the operation had an effect. Earlier writes are not
/// in doubt then, and the next attempt may succeed.
pub(super) fn ran_out(error: &io::Error) -> bool {
    let Some(code) = error.raw_os_error() else {
        return false;
    };
    matches!(
        Errno::from_raw(code),
        Errno::EMFILE
            | Errno::ENFILE
            | Errno::ENOMEM
            | Errno::ENOSPC
            | Errno::EDQUOT
            | Errno::EFBIG
    )
}

/// What a person can do about an I/O error.
fn remedy(error: &io::Error) -> &'static str {
    if error.raw_os_error() == Some(Errno::EMFILE as i32) {
        return "; raise the limit of open files (`ulimit -n`) and start again";
    }
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space and start again"
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            "; the log needs a folder that can be written, see --state-dir"
        }
        io::ErrorKind::PermissionDenied => "; the log needs a folder of your own, see --state-dir",
        _ => "",
    }
}

/// A fault in a log, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// Path inside the state folder.
    pub file: String,
    /// Line of the file, counted from 1; `None` if the fault concerns the whole file.
    pub line: Option<u64>,
    /// Sequence number that the record has or should have.
    pub seq: Option<u64>,
    pub what: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, " line {line}")?;
        }
        if let Some(seq) = self.seq {
            write!(f, " (seq {seq})")?;
        }
        write!(f, ": {}", self.what)
    }
}

/// How many faults a report lists; the rest are only counted.
const NAMED: usize = 20;

/// The first faults of one sort, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    pub first: Vec<Damage>,
    pub count: u64,
}

impl Named {
    pub(super) fn add(&mut self, damage: Damage) {
        self.count += 1;
        if self.first.len() < NAMED {
            self.first.push(damage);
        }
    }

    /// Adds all of another list, and keeps the first by the log's order.
    pub(super) fn join(&mut self, other: Self) {
        self.count += other.count;
        self.first.extend(other.first);
        self.first.sort_by_key(|damage| damage.seq);
        self.first.truncate(NAMED);
    }

    /// Adds more, and keeps the first by the log's order.
    pub(super) fn and(&mut self, more: Vec<Damage>) {
        self.count += more.len() as u64;
        self.first.extend(more);
        self.first.sort_by_key(|damage| damage.seq);
        self.first.truncate(NAMED);
    }

    /// Adds those whose file is not named yet, in the log's order.
    pub(super) fn add_new(&mut self, found: Vec<Damage>) {
        for damage in found {
            if !self.first.iter().any(|known| known.file == damage.file) {
                self.add(damage);
            }
        }
        self.first.sort_by_key(|damage| damage.seq);
    }
}

/// All faults of a log. Every reader finds the same ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Faults {
    /// Where the chain breaks, or the first line that is not a record. Nothing after it was checked, and
    /// nothing can be appended to such a log.
    pub chain: Option<Damage>,
    /// Intact records that state an impossible history.
    pub lives: Named,
    /// Blobs that are missing or changed, each with the first record that names it.
    pub blobs: Named,
    /// How the index did not say what the log says. It was removed, and the answer is from the log.
    #[serde(skip)]
    pub index: Option<Damage>,
}

impl Faults {
    /// What is wrong with the log itself, for what the index has no part in.
    #[must_use]
    pub fn of_log(&self) -> Self {
        Self {
            index: None,
            ..self.clone()
        }
    }

    /// The fault with the lowest sequence number; what the log itself has comes first.
    pub fn first(&self) -> Option<&Damage> {
        let of_log = first(&self.lives.first, &self.blobs.first, self.chain.as_ref());
        of_log.or(self.index.as_ref())
    }
}

/// The earliest fault. Faults in records come before the break of the chain, since nothing is read after it.
pub(super) fn first<'a>(
    lives: &'a [Damage],
    blobs: &'a [Damage],
    chain: Option<&'a Damage>,
) -> Option<&'a Damage> {
    let found = [lives.first(), blobs.first()];
    let found = found.into_iter().flatten().min_by_key(|damage| damage.seq);
    found.or(chain)
}
