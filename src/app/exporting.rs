//! Writes what screen 2's question selects into a new folder, away from the loop. Only a person's key starts it.

mod going;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat, renameat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::audit::bundle::{self, Anchor, bundle};
use crate::audit::export::{ExportError, Format, export};
use crate::audit::query::Query;
use crate::audit::{Answers, Apart, Log, Signed, Store, VerifierKey, Vouched};
use crate::model::grouped;
use crate::paths::{Make, because, open_folder};
use crate::tui::{ExportAs, ExportGoes, Exporting};

use super::files::folder_of;
use super::review::Source;
use going::Going;
pub use going::Underway;

/// The page of a bundle; without it a folder is no whole bundle.
const PAGE: &str = "index.html";

/// How often it is told how far an export is.
const TELLS: Duration = Duration::from_millis(250);

/// What is heard of an export.
#[derive(Clone, Debug)]
pub enum ExportNews {
    Goes(ExportGoes),
    /// What became of it.
    Ended(String),
}

/// Starts a thread of its own, and says how far it is and what became of it. It goes on for as long as what is returned is
/// kept.
pub fn start(
    source: Source,
    wanted: Exporting,
    back: impl Fn(ExportNews) + Clone + Send + 'static,
) -> Underway {
    let going = Arc::new(Going::default());
    let (shared, not) = (going.clone(), back.clone());
    let work = move || {
        let home = std::env::var_os("HOME");
        let export = || {
            let said = folder_of(&wanted.folder, home.as_deref())
                .and_then(|folder| write(&source, &wanted, &folder, &shared));
            said.unwrap_or_else(|why| format!("nothing is exported: {why}"))
        };
        let tell = back.clone();
        let said = thread::scope(|scope| {
            let tells = thread::Builder::new().spawn_scoped(scope, || tell_of(&shared, tell));
            let said = export();
            shared.ended.store(true, Ordering::SeqCst);
            if let Ok(tells) = tells {
                tells.thread().unpark();
            }
            said
        });
        back(ExportNews::Ended(said));
    };
    let spawned = thread::Builder::new()
        .name("export".to_owned())
        .spawn(work)
        .map_err(|e| not(ExportNews::Ended(format!("nothing is exported: {e}"))));
    let thread = spawned.ok();
    Underway { going, thread }
}

fn tell_of(going: &Going, back: impl Fn(ExportNews)) {
    loop {
        thread::park_timeout(TELLS);
        if going.ended.load(Ordering::SeqCst) {
            return;
        }
        back(ExportNews::Goes(going.goes()));
    }
}

/// Says how much went where. What cannot be written whole is removed again.
fn write(
    source: &Source,
    wanted: &Exporting,
    folder: &Path,
    going: &Going,
) -> Result<String, String> {
    let query = Query::parse(&wanted.query, Timestamp::now()).map_err(|e| e.to_string())?;
    if query.own().is_some() {
        return Err("an export is of proposals; without a query it has all records".to_owned());
    }
    apart(folder, &source.state_dir)?;
    if fs::symlink_metadata(folder).is_ok() {
        return Err(there_already(folder));
    }
    let vouched = Vouched::of(&source.checkpoints).map_err(|e| e.to_string())?;
    let log = source.open().map_err(|e| e.to_string())?.vouched(vouched);
    if wanted.format == ExportAs::Bundle {
        // Before the whole log is read for it.
        newest(&source.checkpoints)?;
        let mut quick = log.answers().map_err(|e| e.to_string())?;
        bundle::fits(&mut quick, &query).map_err(|e| why(&e))?;
    }
    let index = Apart::new().map_err(|e| e.to_string())?;
    let index = Arc::new(index);
    let log = log.apart(index.clone());
    // Others rely on it, so it is not taken from the index in the state folder.
    let reading = |read, bytes| {
        if read == 0 {
            going.reads(&index, bytes);
        }
    };
    let mut answers = log.answers_anew(&reading).map_err(|e| e.to_string())?;
    sound(&answers)?;
    if wanted.format == ExportAs::Bundle {
        bundle::fits(&mut answers, &query).map_err(|e| why(&e))?;
    }
    if !going.begins_to_write() {
        return Err(ExportError::Stopped.to_string());
    }
    let own = Own::make(folder)?;
    let done = match format_of(wanted.format) {
        Some((format, name)) => records(&own, &mut answers, &query, format, name, going),
        None => whole_bundle(
            &own,
            source,
            &log,
            &mut answers,
            (&query, &wanted.query),
            going,
        ),
    };
    match done {
        Ok(said) => Ok(format!("wrote {said} into {}", wanted.folder)),
        Err(why) => {
            own.remove();
            Err(why)
        }
    }
}

/// Refuses a folder below the log's own: the log stays as it is.
fn apart(folder: &Path, state_dir: &Path) -> Result<(), String> {
    let place = |at: &Path| fs::metadata(at).map(|meta| (meta.dev(), meta.ino()));
    let Ok(own) = place(state_dir) else {
        return Ok(());
    };
    // What is not there yet is made below the nearest folder that is.
    let there = folder.ancestors().find_map(|at| fs::canonicalize(at).ok());
    let mut above = there.iter().flat_map(|at| at.ancestors());
    match above.any(|at| place(at).is_ok_and(|at| at == own)) {
        true => Err(format!(
            "{} is inside the folder of the log itself; name a folder elsewhere",
            folder.display()
        )),
        false => Ok(()),
    }
}

/// The file of a format; a bundle has many.
const fn format_of(wanted: ExportAs) -> Option<(Format, &'static str)> {
    match wanted {
        ExportAs::Records => Some((Format::Jsonl, "records.jsonl")),
        ExportAs::Csv => Some((Format::Csv, "proposals.csv")),
        ExportAs::Ocsf => Some((Format::Ocsf, "events.ocsf.jsonl")),
        ExportAs::Bundle => None,
    }
}

fn there_already(folder: &Path) -> String {
    let shown = folder.display();
    format!("{shown} is there already, and nothing is overwritten; name another folder")
}

/// A damaged log is not exported.
fn sound(answers: &Answers) -> Result<(), String> {
    match answers.faults().first() {
        Some(damage) => Err(format!(
            "the log is damaged: {damage}; `countersign audit export` prints everything up to there"
        )),
        None => Ok(()),
    }
}

fn records(
    own: &Own,
    answers: &mut Answers,
    query: &Query,
    format: Format,
    name: &str,
    going: &Going,
) -> Result<String, String> {
    let begun = unfinished(name);
    let mut out = BufWriter::with_capacity(1024 * 1024, own.file(&begun)?);
    let is_all = format == Format::Jsonl && query.is_empty();
    let of = match is_all {
        true => answers.lines(),
        false => answers.count(query).map(|n| n as u64),
    };
    let of = of.map_err(|e| e.to_string())?;
    let mut goes = |done| {
        going.wrote(match is_all {
            true => ExportGoes::Records { done, of },
            false => ExportGoes::Proposals { done, of },
        })
    };
    let exported = export(answers, query, format, &mut out, &mut goes).map_err(|e| why(&e))?;
    out.flush().map_err(|e| e.to_string())?;
    sound(answers)?;
    own.finish(&begun, name)?;
    let records = some(exported.records, "record");
    Ok(match exported.proposals {
        Some(n) => format!("{name}, {} with {records},", some(n, "proposal")),
        None => format!("{name}, {records}, the whole log,"),
    })
}

/// What signs a bundle.
fn newest(store: &Store) -> Result<(VerifierKey, Signed), String> {
    let key = store.key().map_err(|e| e.to_string())?;
    let signed = match &key {
        Some(key) => store.latest(key).map_err(|e| e.to_string())?,
        None => None,
    };
    key.zip(signed).ok_or_else(|| {
        "there is no checkpoint yet: one is made every 64 records, and each minute in which something was recorded"
            .to_owned()
    })
}

fn whole_bundle(
    own: &Own,
    source: &Source,
    log: &Log,
    answers: &mut Answers,
    (query, asked): (&Query, &str),
    going: &Going,
) -> Result<String, String> {
    let store = &source.checkpoints;
    let (key, signed) = newest(store)?;
    let prover = log.prover(store, &signed);
    let begun = store.begun(&key).map_err(|e| e.to_string())?;
    let anchor = Anchor {
        key: &key,
        signed: &signed,
        begun: begun.as_ref(),
        prover: &prover,
    };
    let begun = unfinished(PAGE);
    let mut page = BufWriter::new(own.file(&begun)?);
    let mut put = |name: &str, content: &[u8]| {
        let mut file = own.file(name).map_err(std::io::Error::other)?;
        file.write_all(content)
    };
    let of = answers.count(query).map_err(|e| e.to_string())? as u64;
    let mut goes = |done| going.wrote(ExportGoes::Proposals { done, of });
    let done = bundle(
        answers,
        (query, asked),
        &anchor,
        &mut put,
        &mut page,
        &mut goes,
    );
    let done = done.map_err(|e| why(&e))?;
    page.flush().map_err(|e| e.to_string())?;
    sound(answers)?;
    own.finish(&begun, PAGE)?;
    Ok(format!(
        "a bundle, {} with {} and {} (people open {PAGE}),",
        some(done.proposals, "proposal"),
        some(done.records, "record"),
        some(done.contents, "content")
    ))
}

fn why(error: &ExportError) -> String {
    error.to_string()
}

/// The name of a file until it is whole.
fn unfinished(name: &str) -> String {
    format!("{name}.unfinished")
}

fn some(n: u64, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {what}{s}", grouped(n))
}

/// The new folder, for its owner alone.
struct Own {
    place: PathBuf,
    folder: OwnedFd,
    /// The files that were made in it.
    made: RefCell<Vec<String>>,
}

const FOLDER: OFlag = OFlag::O_RDONLY
    .union(OFlag::O_DIRECTORY)
    .union(OFlag::O_NOFOLLOW)
    .union(OFlag::O_CLOEXEC);
const FILE: OFlag = OFlag::O_WRONLY
    .union(OFlag::O_CREAT)
    .union(OFlag::O_EXCL)
    .union(OFlag::O_NOFOLLOW)
    .union(OFlag::O_CLOEXEC);

impl Own {
    fn make(place: &Path) -> Result<Self, String> {
        let shown = place.display();
        let (Some(parent), Some(name)) = (place.parent(), place.file_name()) else {
            return Err(format!("{shown} names no new folder"));
        };
        let parent = open_folder(parent, Make::Last).map_err(|e| e.to_string())?;
        mkdirat(parent.as_fd(), name, Mode::S_IRWXU).map_err(|e| match e {
            Errno::EEXIST => there_already(place),
            other => format!("{shown} cannot be made: {}", because(other)),
        })?;
        let folder = openat(parent.as_fd(), name, FOLDER, Mode::empty())
            .map_err(|e| format!("{shown} cannot be opened: {}", because(e)))?;
        Ok(Self {
            place: place.to_owned(),
            folder,
            made: RefCell::default(),
        })
    }

    /// A new file, below folders that a name has.
    fn file(&self, name: &str) -> Result<File, String> {
        let failed = |e: Errno| format!("{name} cannot be written: {}", because(e));
        let mut at = self.folder.try_clone().map_err(|e| e.to_string())?;
        let (folders, last) = name.rsplit_once('/').unwrap_or(("", name));
        for part in folders.split('/').filter(|part| !part.is_empty()) {
            match mkdirat(at.as_fd(), part, Mode::S_IRWXU) {
                Ok(()) | Err(Errno::EEXIST) => {}
                Err(e) => return Err(failed(e)),
            }
            at = openat(at.as_fd(), part, FOLDER, Mode::empty()).map_err(failed)?;
        }
        let mode = Mode::S_IRUSR | Mode::S_IWUSR;
        let made = openat(at.as_fd(), last, FILE, mode).map_err(failed)?;
        self.made.borrow_mut().push(name.to_owned());
        Ok(File::from(made))
    }

    /// Gives a file that is whole its name.
    fn finish(&self, begun: &str, name: &str) -> Result<(), String> {
        renameat(&self.folder, begun, &self.folder, name)
            .map_err(|e| format!("{name} cannot be written: {}", because(e)))
    }

    /// Removes what was made, and nothing else.
    fn remove(self) {
        let mut folders = BTreeSet::new();
        for name in self.made.into_inner() {
            let _ = unlinkat(&self.folder, name.as_str(), UnlinkatFlags::NoRemoveDir);
            let above = Path::new(&name).ancestors().skip(1);
            folders.extend(above.map(Path::to_owned));
        }
        // A folder comes after the one that it is in.
        for folder in folders.iter().rev().filter(|f| !f.as_os_str().is_empty()) {
            let _ = unlinkat(&self.folder, folder, UnlinkatFlags::RemoveDir);
        }
        let _ = fs::remove_dir(&self.place);
    }
}

#[cfg(test)]
#[path = "exporting_tests.rs"]
mod tests;
