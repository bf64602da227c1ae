//! An index beside the log: SQLite, derived from the log, thrown away when the two disagree, and never the truth.
//!
//! It says where the records of a proposal stand and which proposals a question selects. What is shown is read from the
//! log again and hashed again ([`lines`]). Each use first reads what was written since, and judges it as every reader
//! does: the index has the state of that judgement ([`Stopped`]). It holds for the very files that were read: others,
//! changed ones and copies are read from their beginning ([`stamp`]).

mod anew;
mod compare;
mod divide;
mod feed;
mod find;
mod hidden;
mod known;
mod lines;
mod noted;
mod row;
mod schema;
mod select;
mod stamp;
mod told;
mod whole;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use jiff::Timestamp;
use nix::fcntl::{Flock, FlockArg, OFlag};
use nix::sys::statvfs::statvfs;
use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};

use super::apart;
use super::cases::{Cases, Person};
use super::contents::Look;
use super::error::{AuditError, Damage, Faults};
use super::judge::{self, Judging, Stopped};
use super::layout::{Layout, open_regular, owned};
use super::line::{LINE_MAX, LineRole, Sealed, unseal};
use super::lines::{Lines, OneByOne};
use super::lock;
use super::log::Log;
use super::put_back;
use super::scan::Walk;
use crate::model::{DrillPlan, ProposalId};
pub(super) use compare::Comparison;
use feed::{Feed, To};
pub(super) use known::Known;
use lines::Kept;
pub use noted::Noted;
pub(super) use noted::note;
use stamp::{Since, Stamps};
pub(super) use whole::SHORT;

const FILE: &str = "v1.sqlite3";
/// While it is made.
const NEW: &str = "new.sqlite3";
/// What SQLite has not put into the file yet.
const WAL: &str = "v1.sqlite3-wal";
/// These, and what SQLite puts beside them.
const FILES: [&str; 6] = [
    noted::FILE,
    FILE,
    WAL,
    "v1.sqlite3-shm",
    NEW,
    "new.sqlite3-journal",
];

/// Why there is no answer from the index. Everything but [`IndexError::Log`] and [`IndexError::Changed`] is answered from
/// the log alone.
#[derive(Debug, thiserror::Error)]
pub(super) enum IndexError {
    #[error("{0}")]
    Log(#[from] AuditError),
    #[error("{0}")]
    Changed(Damage),
    #[error("the index cannot be read: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("the index cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("the index has a value that cannot be")]
    Odd,
    #[error("it does not say what the log says of proposal {0}")]
    Lies(ProposalId),
    #[error("it does not say what the log says: {0}")]
    Differs(String),
    #[error("the log is damaged")]
    Damaged,
    #[error("the index cannot be used: {0}")]
    Other(String),
}

impl From<serde_json::Error> for IndexError {
    fn from(_: serde_json::Error) -> Self {
        Self::Odd
    }
}

/// Who is told how much of a long reading is done: bytes that were read, and of how many. First with 0.
pub type Telling<'a> = &'a dyn Fn(u64, u64);

/// Where reading stopped.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Resume {
    stamps: Stamps,
    walk: Walk,
    judged: Stopped,
    /// Who had the dashboard open, and its drills.
    here: Option<Person>,
    plan: Option<(Timestamp, DrillPlan)>,
}

/// The index of a log, as of when it was opened.
pub(super) struct Index {
    log: Log,
    connection: Rc<Connection>,
    kept: Kept,
    resume: Resume,
    pub faults: Faults,
    /// Sequence number of the last record.
    pub records: u64,
    /// Device and inode of its file, if that is kept.
    file: Option<(u64, u64)>,
    /// Whether this opening read all of the log for it, or compared it with all of the log.
    sure: bool,
}

/// Where records are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Segments,
    Journal,
}

impl Index {
    /// Opens the index of a log and reads what was written since. Makes it first if necessary, which reads the whole log.
    /// Where it cannot be kept, it is made anew. What `checks` it comes before what only the journal has.
    pub fn open(
        log: &Log,
        making: Telling<'_>,
        checks: impl FnOnce(&mut Self) -> Result<(), IndexError>,
    ) -> Result<Self, IndexError> {
        let Ok(folder) = own_folder(&log.layout) else {
            return Self::anew(log, making);
        };
        let _turn = turn(&folder, FlockArg::LockExclusive)?;
        let mut index = Self::up_to_date(log, &folder, making)?;
        checks(&mut index)?;
        index.overlay()?;
        Ok(index)
    }

    /// The index in the state folder, up to date with the segments. Makes it first if necessary.
    pub fn kept(log: &Log) -> Result<Self, IndexError> {
        let folder = own_folder(&log.layout)?;
        let _turn = turn(&folder, FlockArg::LockExclusive)?;
        Self::up_to_date(log, &folder, &|_, _| {})
    }

    /// For who keeps the index open while the log grows: reads on from where it stopped, without a look at what it read
    /// before. If others used the index meanwhile, or removed it, it is opened again.
    pub fn followed(mut self) -> Result<Self, IndexError> {
        let folder = own_folder(&self.log.layout)?;
        let _turn = turn(&folder, FlockArg::LockExclusive)?;
        if self.is_as_left(&folder).unwrap_or(false) {
            self.go_on(&|_, _| {})?;
            return Ok(self);
        }
        let log = self.log.clone();
        drop(self);
        Self::up_to_date(&log, &folder, &|_, _| {})
    }

    fn is_as_left(&self, folder: &Path) -> Result<bool, IndexError> {
        let select = "SELECT at FROM stopped";
        let at: String = self.connection.query_one(select, [], |row| row.get(0))?;
        let same = Some(identity(&folder.join(FILE))?) == self.file;
        Ok(same && at == serde_json::to_string(&self.resume)?)
    }

    fn up_to_date(log: &Log, folder: &Path, making: Telling<'_>) -> Result<Self, IndexError> {
        let found = kept(&log.layout, &folder.join(FILE), Believed::Stamps);
        let found = found.or_else(|_| copied(&log.layout, folder));
        let making_it = found.is_err();
        let (connection, resume) = match found {
            Ok(found) => found,
            Err(_) => made(log, folder, making)?,
        };
        let mut index = Self::at(log, connection, resume);
        index.file = identity(&folder.join(FILE)).ok();
        index.sure = making_it;
        index.go_on(&|_, _| {})?;
        if index.sure {
            let _ = note(&log.layout, index.records, "what made it from the log");
        }
        Ok(index)
    }

    fn at(log: &Log, connection: Connection, resume: Resume) -> Self {
        Self {
            log: log.clone(),
            connection: Rc::new(connection),
            kept: Kept::default(),
            faults: resume.judged.faults.clone(),
            records: 0,
            resume,
            file: None,
            sure: false,
        }
    }

    /// Reads what was written since.
    fn go_on(&mut self, telling: Telling<'_>) -> Result<(), IndexError> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        self.read_on(Source::Segments, telling)?;
        self.connection.execute_batch("COMMIT")?;
        Ok(())
    }

    /// If nobody writes the log, what a killed dashboard left in the journal belongs to it. It is never kept.
    fn overlay(&mut self) -> Result<(), IndexError> {
        let layout = &self.log.layout;
        let holder = lock::holder(layout).map_err(|e| AuditError::io(layout.lock(), "read", e))?;
        if holder.writes_nothing() {
            if self.connection.is_autocommit() {
                self.connection.execute_batch("BEGIN")?;
            }
            self.read_on(Source::Journal, &|_, _| {})?;
        }
        Ok(())
    }

    fn read_on(&mut self, source: Source, telling: Telling<'_>) -> Result<(), IndexError> {
        let layout = self.log.layout.clone();
        let stamps = Stamps::of(&layout, std::iter::empty())?;
        let resume = std::mem::take(&mut self.resume);
        let cases = Cases::after(resume.here, resume.plan);
        let mut kept = std::mem::take(&mut self.kept);
        if source == Source::Journal {
            kept.journal_follows();
        }
        let mut feed = Feed::new(
            self.connection.clone(),
            self.log.clone(),
            kept,
            cases,
            To::Write,
        )?;
        let mut judging = Judging::resumed(&layout, Look::There, resume.judged);
        let mut walk = resume.walk;
        let mut scanned = walk.scanned();
        let apart = layout.index_apart();
        let chain = match source {
            Source::Segments => {
                let mut lines: Box<dyn Lines> = match walk.scanned().head.segment {
                    0 => judge::lines(&layout, Look::There),
                    _ => Box::new(OneByOne::default()),
                };
                let (of, mut read) = (layout.segment_bytes()?, 0);
                walk.go_on_with(&layout, &mut *lines, |line| {
                    let bytes = line.bytes.len() as u64 + 1;
                    read += bytes;
                    telling(read, of);
                    if let Some(apart) = apart {
                        apart.read(bytes);
                    }
                    judging.line(line, &mut feed)
                })?;
                scanned = walk.scanned();
                scanned.damage.clone()
            }
            Source::Journal => {
                let damage =
                    put_back::check(&layout, &mut scanned, |line| judging.line(line, &mut feed))?;
                // A writer may have started in the meantime.
                let alone = lock::holder(&layout).is_ok_and(lock::Holder::writes_nothing);
                damage.filter(|_| alone).or(scanned.damage.clone())
            }
        };
        let judged = judging.stopped();
        let (cases, kept) = feed.end()?;
        self.kept = kept;
        self.records = scanned.head.seq;
        self.faults = Faults {
            chain,
            ..judged.faults.clone()
        };
        let faulty = judged.faults.blobs.first.iter().map(|d| d.file.as_str());
        let stamps = stamps.with(Stamps::of(&layout, faulty)?);
        self.resume = Resume {
            stamps,
            walk,
            judged,
            here: cases.here,
            plan: cases.plan,
        };
        if source == Source::Segments {
            self.connection.execute(
                "INSERT OR REPLACE INTO stopped (only, at) VALUES (1, ?1)",
                [serde_json::to_string(&self.resume)?],
            )?;
        }
        Ok(())
    }

    /// How many records are of a later version.
    pub fn later(&self) -> u64 {
        self.resume.judged.later
    }

    /// Whether others can write it: its file is in a folder, and not without a name.
    pub fn is_kept(&self) -> bool {
        self.file.is_some()
    }

    /// Whether it says what the log says: this opening read all of the log for it, or compared it with all of the log.
    pub fn is_sure(&self) -> bool {
        self.sure || !self.is_kept()
    }

    pub fn plan(&self) -> Option<(Timestamp, DrillPlan)> {
        self.resume.plan
    }
}

/// Nanoseconds since 1970.
fn nanos(at: Timestamp) -> i64 {
    i64::try_from(at.as_nanosecond()).unwrap_or(match at < Timestamp::UNIX_EPOCH {
        true => i64::MIN,
        false => i64::MAX,
    })
}

/// A person in two columns from this one on.
fn person(row: &Row<'_>, from: usize) -> rusqlite::Result<Option<Person>> {
    let uid: Option<u32> = row.get(from)?;
    let login: Option<String> = row.get(from + 1)?;
    Ok(uid.map(|uid| Person {
        uid,
        login: login.map(Into::into),
    }))
}

/// The folder of the index, in a state folder of this user. Nothing is made in others' folders, not even by root.
fn own_folder(layout: &Layout) -> Result<PathBuf, AuditError> {
    if let Some(apart) = layout.index_apart() {
        return Ok(apart.folder().to_owned());
    }
    let log = layout.log();
    let meta = fs::symlink_metadata(&log).map_err(|e| AuditError::io(&log, "read", e))?;
    owned(&log, &meta, 0)?;
    let folder = layout.index();
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => {
            return Err(AuditError::io(&folder, "created", e));
        }
        _ => {}
    }
    let meta = fs::symlink_metadata(&folder).map_err(|e| AuditError::io(&folder, "read", e))?;
    owned(&folder, &meta, 0o077)?;
    Ok(folder)
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let meta = fs::symlink_metadata(path)?;
    Ok((meta.dev(), meta.ino()))
}

/// Waits until no other process changes the index.
fn turn(folder: &Path, how: FlockArg) -> Result<Flock<File>, IndexError> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .open(folder.join("lock"))?;
    Flock::lock(file, how).map_err(|(_, e)| IndexError::Io(e.into()))
}

/// For an index in a private place: takes a copy of the one in the state folder, if that is this user's, nobody changes it
/// meanwhile, and it is one of this log.
fn copied(layout: &Layout, folder: &Path) -> Result<(Connection, Resume), IndexError> {
    let other = |what: &str| Err(IndexError::Other(what.to_owned()));
    let Some(apart) = layout.index_apart() else {
        return other("the index is kept in the state folder");
    };
    if apart.is_distrusted() {
        return other("it did not say what the log says");
    }
    let beside = Layout::at(&layout.state).index();
    for (path, forbidden) in [(layout.log(), 0), (beside.clone(), 0o077)] {
        owned(&path, &fs::symlink_metadata(&path)?, forbidden)?;
    }
    let lock = open_regular(&beside.join("lock"))?;
    let Ok(_turn) = Flock::lock(lock, FlockArg::LockSharedNonblock) else {
        return other("another process changes the index");
    };
    let stamps = || [FILE, WAL].map(|name| apart::stamp(&beside.join(name)).ok());
    let before = stamps();
    remove(folder)?;
    for (name, there) in [FILE, WAL].iter().zip(&before) {
        if there.is_some() {
            apart::copy(&beside.join(name), &folder.join(name))?;
        }
    }
    // Who closes it last writes it without its turn.
    if stamps() != before {
        return other("the index changed while it was copied");
    }
    let found = kept(layout, &folder.join(FILE), Believed::LastLine)?;
    apart.copied();
    Ok(found)
}

/// What tells that the log ends where it was read to, if nothing was written since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Believed {
    /// The file system's word.
    Stamps,
    /// The last line and its hash.
    LastLine,
}

/// The index that is there, if it is one of this log.
fn kept(
    layout: &Layout,
    path: &Path,
    believed: Believed,
) -> Result<(Connection, Resume), IndexError> {
    let connection = schema::open(path)?;
    let at: String = connection.query_one("SELECT at FROM stopped", [], |row| row.get(0))?;
    let resume: Resume = serde_json::from_str(&at)?;
    let other = |what: &str| Err(IndexError::Other(what.to_owned()));
    if resume.walk.scanned().damage.is_some() {
        return other("it is of a damaged log");
    }
    match resume.stamps.now(layout)? {
        Since::Unchanged if believed == Believed::Stamps => {}
        Since::Unchanged if ends_there(layout, &resume.walk)? => {}
        Since::Grew if ends_as_read(layout, &resume.walk)? => {}
        Since::Unchanged | Since::Grew | Since::Changed => return other("the log is another one"),
    }
    Ok((connection, resume))
}

/// Whether the last line that was read stands where it was read to.
fn ends_there(layout: &Layout, walk: &Walk) -> Result<bool, IndexError> {
    let head = walk.scanned().head;
    let file = open_regular(&layout.segment(head.segment))?;
    let mut window = 64 * 1024;
    loop {
        let from = head.offset.saturating_sub(window);
        let mut bytes = vec![0; usize::try_from(head.offset - from).unwrap_or(0)];
        file.read_exact_at(&mut bytes, from)?;
        let Some(lines) = bytes.strip_suffix(b"\n") else {
            return Ok(false);
        };
        let begin = lines.iter().rposition(|b| *b == b'\n').map(|at| at + 1);
        match begin.or((from == 0).then_some(0)) {
            Some(begin) => {
                let sealed = unseal(&lines[begin..]);
                return Ok(sealed.is_ok_and(|s| (s.hash, last_seq(&s)) == (head.hash, head.seq)));
            }
            None if window >= LINE_MAX as u64 => return Ok(false),
            None => window *= 8,
        }
    }
}

/// The sequence number of the last record up to a line.
fn last_seq(sealed: &Sealed) -> u64 {
    match sealed.place {
        LineRole::Header { first_seq, .. } => first_seq.saturating_sub(1),
        LineRole::Record { seq, .. } => seq,
    }
}

/// Whether the last segment still ends, where it was read to, with the line that was read there: each line has the hash
/// of the one before it.
fn ends_as_read(layout: &Layout, walk: &Walk) -> Result<bool, IndexError> {
    let head = walk.scanned().head;
    let file = open_regular(&layout.segment(head.segment))?;
    let mut lines = BufReader::with_capacity(256 * 1024, file.take(head.offset));
    let mut line = Vec::new();
    let mut last = None;
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line)? == 0 {
            return Ok(last.is_none_or(|end| end == (head.hash, head.seq)));
        }
        let Ok(sealed) = unseal(line.strip_suffix(b"\n").unwrap_or(&line)) else {
            return Ok(false);
        };
        if last.is_some_and(|(hash, _)| hash != sealed.prev) {
            return Ok(false);
        }
        last = Some((sealed.hash, last_seq(&sealed)));
    }
}

/// Removes an index that did not say what the log says. A private one is not copied again.
pub(super) fn distrust(layout: &Layout) {
    if let Some(apart) = layout.index_apart() {
        apart.distrust();
    }
    // If it cannot be removed, it stays as wrong as it is said to be.
    let _ = forget(layout);
}

/// Removes the index, which may name what was removed from the log.
pub(super) fn forget(layout: &Layout) -> io::Result<()> {
    match own_folder(layout) {
        Ok(folder) => remove(&folder),
        // Nothing of ours is there.
        Err(_) => Ok(()),
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    for file in FILES {
        match fs::remove_file(folder.join(file)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
    Ok(())
}

/// The log needs the disk more than its index, which takes about a third of it.
fn has_room(log: &Log, folder: &Path) -> Result<(), IndexError> {
    const SPARE: u64 = 64 * 1024 * 1024;
    let disk = statvfs(folder).map_err(io::Error::from)?;
    let free = disk.blocks_available().saturating_mul(disk.fragment_size());
    match free < log.layout.segment_bytes()? / 2 + SPARE {
        true => Err(IndexError::Other("the disk has no room for it".to_owned())),
        false => Ok(()),
    }
}

/// Makes the index anew.
fn made(
    log: &Log,
    folder: &Path,
    telling: Telling<'_>,
) -> Result<(Connection, Resume), IndexError> {
    telling(0, log.layout.segment_bytes()?);
    let new = folder.join(NEW);
    remove(folder)?;
    has_room(log, folder)?;
    if let Some(apart) = log.layout.index_apart() {
        apart.begins(log.layout.segment_bytes()?);
    }
    let mut index = Index::at(log, schema::create(&new)?, Resume::default());
    let read = index.go_on(telling);
    if let Some(apart) = log.layout.index_apart() {
        apart.ends();
    }
    read?;
    let resume = index.resume.clone();
    drop(index);
    File::open(&new)?.sync_all()?;
    fs::rename(&new, folder.join(FILE))?;
    Ok((schema::open(&folder.join(FILE))?, resume))
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
