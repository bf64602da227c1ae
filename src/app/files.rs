//! Draws, opens and saves files of runs, away from the loop. Their contents come from the log's own
//! copy.
//!
//! Another program has more rights than the run had, so it gets nothing that it could obey: a
//! picture is decoded by a worker and made anew, and text is handed over as `.txt`, whatever its
//! name. Pages (HTML, SVG), spreadsheets and documents can act when they are opened and are not.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedSender;

use crate::executor::Sources;
use crate::figure::{self, Undrawn};
use crate::model::{Artifact, Digest, file_name, for_editors, grouped};
use crate::paths::{Make, because, open_folder};
use crate::tui::Saving;

use super::Input;
use super::memory::Recalled;

/// The desktop's opener.
const OPENER: &str = "xdg-open";

/// The most bytes of a text that is opened.
const TEXT_MAX: usize = 8 * 1024 * 1024;

/// What makes a text more than text: a program that looks at the content, not at the name, could
/// take it for a page, a script or a launcher.
const ACTS: [&str; 15] = [
    "<html",
    "<!doctype",
    "<script",
    "<svg",
    "<head",
    "<body",
    "<title",
    "<iframe",
    "<a ",
    "<h1",
    "<style",
    "<?xml",
    "<meta",
    "[desktop entry]",
    "[internetshortcut]",
];
/// The same at the beginning of a text.
const BEGINNINGS: [&str; 4] = ["#!", "%!", "%pdf", "{\\rtf"];

pub struct Files {
    shared: Arc<Shared>,
    inbox: UnboundedSender<Input>,
    /// One worker at a time.
    turn: Arc<Semaphore>,
}

struct Shared {
    /// A lasting path of this program.
    exe: PathBuf,
    sources: Arc<Sources>,
    /// The copies that were opened; removed with the dashboard.
    copies: Mutex<Copies>,
}

#[derive(Default)]
struct Copies {
    /// Only its owner can enter it.
    folder: Option<TempDir>,
    made: usize,
}

impl Files {
    pub fn new(exe: PathBuf, sources: Arc<Sources>, inbox: UnboundedSender<Input>) -> Self {
        let shared = Arc::new(Shared {
            exe,
            sources,
            copies: Mutex::default(),
        });
        Self {
            shared,
            inbox,
            turn: Arc::new(Semaphore::new(1)),
        }
    }

    /// Reports the pictures of these digests, once each is small.
    pub fn draw(&self, pictures: Vec<Digest>) {
        for digest in pictures {
            let (shared, inbox, turn) =
                (self.shared.clone(), self.inbox.clone(), self.turn.clone());
            tokio::spawn(async move {
                let _turn = turn.acquire().await;
                let work = tokio::task::spawn_blocking(move || {
                    let png = (shared.sources.left)(&digest).map_err(|_| Undrawn::Unread)?;
                    figure::small(&shared.exe, &png)
                });
                let found = work.await.unwrap_or(Err(Undrawn::Failed));
                let _ = inbox.send(Input::Recalled(Recalled::Figure(digest, found)));
            });
        }
    }

    /// Opens a copy of the file in another program; reports what became of it.
    pub fn open(&self, file: Artifact) {
        self.work(move |shared| {
            if !has_display() {
                return Err(
                    "no display here (perhaps over ssh), so nothing can be opened; save it instead"
                        .to_owned(),
                );
            }
            let copy = shared.copy(&file)?;
            launch(&copy)?;
            Ok(format!("{} is opened outside", file.name))
        });
    }

    /// Saves copies of the files; reports what became of them.
    pub fn save(&self, wanted: Saving) {
        self.work(move |shared| {
            let folder = folder_of(&wanted.folder, std::env::var_os("HOME").as_deref())
                .map_err(|why| format!("nothing is saved: {why}"))?;
            save_all(&folder, &wanted, |file| shared.content(file))
        });
    }

    fn work(&self, work: impl FnOnce(&Shared) -> Result<String, String> + Send + 'static) {
        let (shared, inbox) = (self.shared.clone(), self.inbox.clone());
        tokio::task::spawn_blocking(move || {
            let said = work(&shared).unwrap_or_else(|why| why);
            let _ = inbox.send(Input::Recalled(Recalled::Told(said)));
        });
    }
}

impl Shared {
    fn content(&self, file: &Artifact) -> Result<Vec<u8>, String> {
        let digest = file
            .sha256
            .parse()
            .map_err(|_| "it has no digest".to_owned())?;
        (self.sources.left)(&digest)
            .map_err(|why| format!("the log's copy of {} cannot be used: {why}", file.name))
    }

    /// A copy that another program can open without harm.
    fn copy(&self, file: &Artifact) -> Result<PathBuf, String> {
        let content = self.content(file)?;
        let (bytes, extension) = if file.media_type == "image/png" {
            let anew = figure::anew(&self.exe, &content);
            (
                anew.map_err(|why| format!("{} is not opened: {why}", file.name))?,
                "png",
            )
        } else {
            harmless(file, &content)?;
            (content, "txt")
        };
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        copies
            .write(file, &bytes, extension)
            .map_err(|e| format!("no copy could be made: {e}"))
    }
}

impl Copies {
    fn write(
        &mut self,
        file: &Artifact,
        bytes: &[u8],
        extension: &str,
    ) -> std::io::Result<PathBuf> {
        let folder = match &self.folder {
            Some(folder) => folder,
            None => {
                let made = tempfile::Builder::new()
                    .prefix("countersign-open-")
                    .permissions(Permissions::from_mode(0o700))
                    .tempdir()?;
                self.folder.insert(made)
            }
        };
        self.made += 1;
        let last = file.name.rsplit('/').next().unwrap_or("file");
        let name = format!("{}-{last}.{extension}", self.made);
        let path = folder.path().join(name);
        let mut copy = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        copy.write_all(bytes)?;
        Ok(path)
    }
}

/// Whether this is text that no program takes for more.
fn harmless(file: &Artifact, content: &[u8]) -> Result<(), String> {
    let refused = |why: &str| {
        Err(format!(
            "{} is not opened: {why}; it can be saved",
            file.name
        ))
    };
    let text = [
        "text/plain",
        "text/csv",
        "text/tab-separated-values",
        "application/json",
        "application/jsonl",
    ];
    if !text.contains(&file.media_type.as_str()) {
        return refused("only pictures (PNG) and text are");
    }
    if content.len() > TEXT_MAX {
        return refused("it is longer than 8 MB");
    }
    let Ok(text) = std::str::from_utf8(content) else {
        return refused("it is not UTF-8");
    };
    if let Some((line, hazard)) = for_editors::hazards(text).next() {
        return refused(&format!("line {line} {}", hazard.words()));
    }
    let lower = text.to_ascii_lowercase();
    let start = lower.trim_start_matches('\u{feff}').trim_start();
    let acts = ACTS.iter().any(|tag| lower.contains(tag));
    if acts || BEGINNINGS.iter().any(|mark| start.starts_with(mark)) {
        return refused("another program could take it for a page or a script");
    }
    Ok(())
}

fn has_display() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    set("DISPLAY") || set("WAYLAND_DISPLAY")
}

/// Starts the opener without a shell and without our terminal.
fn launch(path: &Path) -> Result<(), String> {
    let mut opener = Command::new(OPENER)
        .arg(path)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => {
                format!("{OPENER} is not installed, so nothing can be opened; save it instead")
            }
            _ => format!("{OPENER} could not be started: {e}"),
        })?;
    // It may stay as long as the program it starts.
    let reaped = std::thread::Builder::new()
        .name("opener".to_owned())
        .spawn(move || drop(opener.wait()));
    reaped.map(drop).map_err(|e| e.to_string())
}

/// The folder that a person typed.
pub(super) fn folder_of(typed: &str, home: Option<&OsStr>) -> Result<PathBuf, String> {
    let path = match (typed.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            Path::new(home).join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(typed),
    };
    if path.is_absolute() {
        return Ok(path);
    }
    Err("write a folder that begins with / or ~/".to_owned())
}

/// The folder flags: a link in its place is refused.
const FOLDER: OFlag = OFlag::O_RDONLY
    .union(OFlag::O_DIRECTORY)
    .union(OFlag::O_NOFOLLOW)
    .union(OFlag::O_CLOEXEC);

/// Makes the run's own folder, in which nothing can be yet. `place`: its path.
fn make_own(folder: &OwnedFd, own: &str, place: &Path) -> Result<OwnedFd, String> {
    let place = place.display();
    mkdirat(folder.as_fd(), own, Mode::S_IRWXU).map_err(|e| match e {
        Errno::EEXIST => format!(
            "nothing is saved: {place} is there already, so these files were saved before; move it away to save them again"
        ),
        other => format!("nothing is saved: {place} cannot be made: {}", because(other)),
    })?;
    openat(folder.as_fd(), own, FOLDER, Mode::empty())
        .map_err(|e| format!("nothing is saved: {place} cannot be opened: {}", because(e)))
}

/// Saves the files in a new folder of their own, below the folder that a person named, except names that programs
/// read by themselves. Says what was saved and what was not.
fn save_all(
    folder: &Path,
    wanted: &Saving,
    content: impl Fn(&Artifact) -> Result<Vec<u8>, String>,
) -> Result<String, String> {
    let mut left: Vec<(&str, String)> = Vec::new();
    let mut files = Vec::new();
    for file in &wanted.files {
        match file_name::may_be_saved(&file.name) {
            Ok(()) => files.push(file),
            Err(why) => left.push((&file.name, why.to_owned())),
        }
    }
    if files.is_empty() {
        return Err(format!("nothing is saved{}", not_saved(&left)));
    }
    let place = Path::new(&wanted.folder).join(&wanted.own);
    let folder =
        open_folder(folder, Make::Last).map_err(|why| format!("nothing is saved: {why}"))?;
    let own = make_own(&folder, &wanted.own, &place)?;
    let mut saved = 0_usize;
    for file in files {
        let done = content(file).and_then(|bytes| {
            save(&own, &file.name, &bytes).map_err(|e| match e {
                Errno::EEXIST | Errno::ELOOP | Errno::ENOTDIR => {
                    "something is in its way".to_owned()
                }
                other => because(other),
            })
        });
        match done {
            Ok(()) => saved += 1,
            Err(why) => left.push((&file.name, why)),
        }
    }
    let told = not_saved(&left);
    let all = grouped(wanted.files.len() as u64);
    let s = if wanted.files.len() == 1 { "" } else { "s" };
    let done = match left.is_empty() {
        true => format!("saved {all} file{s}"),
        false => format!("saved {} of {all} file{s}", grouped(saved as u64)),
    };
    Ok(format!("{done} in {}{told}", place.display()))
}

/// `; not saved: ".bashrc", ".config/x" (a name that programs read by themselves)`.
fn not_saved(left: &[(&str, String)]) -> String {
    let mut said = String::new();
    for (i, (name, why)) in left.iter().enumerate() {
        said.push_str(match i {
            0 => "; not saved: ",
            _ => ", ",
        });
        said.push_str(&format!("\"{name}\""));
        if left.get(i + 1).is_none_or(|(_, next)| next != why) {
            said.push_str(&format!(" ({why})"));
        }
    }
    said
}

/// Writes one file, below the folder, through no link and over nothing.
fn save(folder: &OwnedFd, name: &str, bytes: &[u8]) -> Result<(), Errno> {
    let mut place = folder.try_clone().map_err(|_| Errno::EMFILE)?;
    let (folders, last) = name.rsplit_once('/').unwrap_or(("", name));
    for segment in folders.split('/').filter(|segment| !segment.is_empty()) {
        match mkdirat(place.as_fd(), segment, Mode::S_IRWXU) {
            Ok(()) | Err(Errno::EEXIST) => {}
            Err(e) => return Err(e),
        }
        place = openat(place.as_fd(), segment, FOLDER, Mode::empty())?;
    }
    let fresh =
        OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let made = openat(place.as_fd(), last, fresh, Mode::S_IRUSR | Mode::S_IWUSR)?;
    File::from(made).write_all(bytes).map_err(|e| {
        let _ = unlinkat(place.as_fd(), last, UnlinkatFlags::NoRemoveDir);
        Errno::from_raw(e.raw_os_error().unwrap_or(Errno::EIO as i32))
    })
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
