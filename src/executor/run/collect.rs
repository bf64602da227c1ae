//! Collects the files that a run left in its output folder, once every process of the run is dead.
//!
//! The folder is reached through the descriptor that was opened before the snippet ran, and its
//! subfolders one by one from there: no link is followed. Collected are regular files with a single
//! name, at most three folders deep, under plain names. Links, pipes, deeper folders, names that no
//! snippet could open and the reserved names of the run's own result are left out, each with its reason.

use std::ffi::{CStr, CString};
use std::fs::{File, Permissions};
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use nix::fcntl::{AtFlags, OFlag, openat};
use nix::sys::stat::{Mode, SFlag, fstatat};

use crate::model::file_name::{self, Renamed};
use crate::model::{Artifact, Blob, LeftOut, Limits, Reason};

use crate::executor::data::media;
use crate::executor::fault::{Fault, Why};
use crate::sandbox::scratch::open_folder;

/// Maximum size of all files of one run together: they pass through memory on their way to the log.
pub const TOTAL_MAX: u64 = 128 * 1024 * 1024;

/// Maximum size of one file, whatever the policy says: the log reads back no more.
const FILE_MAX: u64 = 64 * 1024 * 1024;

/// Maximum number of names to examine; a folder with more exceeds its limit in any case.
const NAMES_MAX: usize = 20_000;

/// The files of a run.
#[derive(Debug, Default)]
pub struct Collected {
    pub artifacts: Vec<Artifact>,
    /// The contents, in the same order.
    pub blobs: Vec<Blob>,
    /// Number of entries that are not collected.
    pub left_out: u64,
    /// The first entries that are not collected, with their reasons.
    pub refused: Vec<LeftOut>,
    /// Files beyond the number that the policy collects: those written last.
    pub unkept: Vec<String>,
    /// Files that are kept under another name than the run gave them.
    pub renamed: Vec<Renamed>,
    /// Which limit the files exceed, and by what. Nothing is collected then.
    pub excess: Option<String>,
    /// Why nothing could be read, although the run left something.
    pub unread: Option<String>,
}

impl Collected {
    fn over(what: String) -> Self {
        Self {
            excess: Some(what),
            ..Self::default()
        }
    }

    /// The name that the run gave the file which is kept under this name.
    pub fn left_as<'a>(&'a self, kept: &'a str) -> &'a str {
        let mut renamed = self.renamed.iter();
        renamed
            .find(|file| file.kept == kept)
            .map_or(kept, |file| &file.left)
    }

    /// Lets the run be reported anyway: what it printed, how it ended, how long it took.
    pub fn unread(fault: Fault) -> Self {
        tracing::warn!(detail = %fault.detail, "{fault}");
        Self {
            unread: Some(fault.to_string()),
            ..Self::default()
        }
    }
}

/// Reads the files in the folder, ordered by name. Nothing is collected if the policy allows no
/// file.
pub fn collect(folder: &OwnedFd, limits: &Limits) -> Result<Collected, Fault> {
    let mut collected = Collected::default();
    let mut total = 0u64;
    let Some(names) = names(folder)? else {
        return Ok(Collected::over(format!(
            "it left more than {NAMES_MAX} files; at most {} are collected",
            limits.artifacts
        )));
    };
    // Examined first and read afterwards: nothing changes any more, and this way only one file is
    // open at a time.
    let mut files = Vec::new();
    for name in names {
        let Some(reason) = refused(folder, &name, limits) else {
            files.push(name);
            continue;
        };
        collected.left_out += 1;
        if collected.refused.len() < LeftOut::MOST {
            let left_out = LeftOut::new(name.to_bytes(), reason);
            collected.refused.push(left_out);
        }
    }
    let (files, unkept) = first(folder, files, limits.artifacts);
    collected.unkept = unkept;
    for (kept, left) in named(&files) {
        let Some(Found { file, bytes, .. }) = open(folder, left) else {
            continue;
        };
        let most = limits.artifact_bytes.min(FILE_MAX);
        if bytes > most {
            return Ok(Collected::over(format!(
                "{kept} has {bytes} bytes; at most {most} of a file are collected"
            )));
        }
        total = total.saturating_add(bytes);
        if total > TOTAL_MAX {
            return Ok(Collected::over(format!(
                "its files have more than {TOTAL_MAX} bytes together, the most that is collected"
            )));
        }
        let mut content = Vec::new();
        let read = file.take(bytes).read_to_end(&mut content);
        if read.is_err() || content.len() as u64 != bytes {
            return Err(Fault::new(
                Why::FileUnread,
                format!("{kept}: {} of {bytes} bytes", content.len()),
            ));
        }
        let blob = Blob::of(&content);
        if let Some(left) = left.to_str().ok().filter(|left| *left != kept) {
            let (left, kept) = (left.to_owned(), kept.clone());
            collected.renamed.push(Renamed { left, kept });
        }
        collected.artifacts.push(Artifact {
            media_type: media::of(&kept, &content).to_owned(),
            bytes,
            sha256: blob.sha256.hex(),
            name: kept,
        });
        collected.blobs.push(blob);
    }
    Ok(collected)
}

/// The files under the names by which they are kept, in their order.
fn named(files: &[CString]) -> Vec<(String, &CString)> {
    let paths: Vec<&str> = files.iter().filter_map(|path| path.to_str().ok()).collect();
    let mut named: Vec<_> = file_name::kept_as(&paths).into_iter().zip(files).collect();
    named.sort();
    named
}

struct Found {
    file: File,
    bytes: u64,
    /// Time of the last write, in seconds and nanoseconds.
    written: (i64, i64),
}

/// The files to collect, those written first, ordered by name; and the names of the others.
fn first(folder: &OwnedFd, mut files: Vec<CString>, most: u64) -> (Vec<CString>, Vec<String>) {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    if files.len() <= most {
        return (files, Vec::new());
    }
    files.sort_by_cached_key(|name| {
        let written = open(folder, name).map(|found| found.written);
        (written, name.clone())
    });
    let unkept = files.split_off(most);
    files.sort();
    let names = unkept
        .into_iter()
        .filter_map(|name| name.into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    (files, names)
}

/// Why the entry is not collected; `None` for a file that is.
fn refused(folder: &OwnedFd, name: &CStr, limits: &Limits) -> Option<Reason> {
    if limits.artifacts == 0 {
        return Some(Reason::NoFiles);
    }
    let plain = name
        .to_str()
        .ok()
        .filter(|name| name.split('/').all(file_name::is_usable));
    let Some(plain) = plain else {
        return Some(Reason::Name);
    };
    if Artifact::is_reserved(plain) {
        return Some(Reason::Reserved);
    }
    let about = place(folder, plain).and_then(|(above, last)| {
        let folder = above.as_ref().unwrap_or(folder);
        fstatat(folder, last, AtFlags::AT_SYMLINK_NOFOLLOW).ok()
    });
    let Some(about) = about else {
        return Some(Reason::Unreadable);
    };
    match SFlag::from_bits_truncate(about.st_mode) & SFlag::S_IFMT {
        SFlag::S_IFLNK => Some(Reason::Link),
        // Folders that are not too deep are searched instead.
        SFlag::S_IFDIR => Some(Reason::Deep),
        SFlag::S_IFREG if about.st_nlink > 1 => Some(Reason::Link),
        SFlag::S_IFREG => open(folder, name).is_none().then_some(Reason::Unreadable),
        _ => Some(Reason::Special),
    }
}

/// The parent folder of the path, unless that is the top one, and the name in it.
fn place<'a>(top: &OwnedFd, path: &'a str) -> Option<(Option<OwnedFd>, &'a str)> {
    match path.rsplit_once('/') {
        Some((above, last)) => Some((Some(folder(top, above)?), last)),
        None => Some((None, path)),
    }
}

/// Opens the file if it is a regular one with a plain name and no other name.
fn open(folder: &OwnedFd, name: &CStr) -> Option<Found> {
    let plain = name
        .to_str()
        .ok()
        .filter(|name| file_name::is_usable_path(name))?;
    let (above, last) = place(folder, plain)?;
    let folder = above.as_ref().unwrap_or(folder);
    // A pipe in its place must not block; a run cannot make a device there.
    let flags = OFlag::O_RDONLY
        | OFlag::O_NOFOLLOW
        | OFlag::O_NONBLOCK
        | OFlag::O_NOCTTY
        | OFlag::O_CLOEXEC;
    let file = File::from(openat(folder, last, flags, Mode::empty()).ok()?);
    let meta = file.metadata().ok()?;
    (meta.is_file() && meta.nlink() == 1).then(|| Found {
        bytes: meta.size(),
        written: (meta.mtime(), meta.mtime_nsec()),
        file,
    })
}

/// Opens a subfolder without following a link.
fn folder(top: &OwnedFd, path: &str) -> Option<OwnedFd> {
    let mut at: Option<OwnedFd> = None;
    for part in path.split('/') {
        let part = CString::new(part).ok()?;
        at = Some(open_folder(at.as_ref().unwrap_or(top).as_fd(), &part).ok()?);
    }
    at
}

/// The sorted paths in the folder and its searched subfolders; `None` if there are too many.
fn names(top: &OwnedFd) -> Result<Option<Vec<CString>>, Fault> {
    let mut names = Vec::new();
    let mut waiting = vec![String::new()];
    let mut seen = 0;
    while let Some(prefix) = waiting.pop() {
        let inner = match prefix.strip_suffix('/') {
            None => None,
            Some(path) => match folder(top, path) {
                Some(folder) => Some(folder),
                None => continue,
            },
        };
        for (name, is_folder) in entries(inner.as_ref().unwrap_or(top))? {
            seen += 1;
            if seen > NAMES_MAX {
                return Ok(None);
            }
            let path = [prefix.as_bytes(), name.to_bytes()].concat();
            // Its files can have valid names only if its own name is valid.
            let enter = name.to_str().ok().filter(|name| {
                is_folder
                    && file_name::is_usable(name)
                    && prefix.matches('/').count() + 1 < Artifact::SEGMENTS
            });
            match enter {
                Some(name) => waiting.push(format!("{prefix}{name}/")),
                None => names.push(CString::new(path).map_err(|e| odd(e.into()))?),
            }
        }
    }
    names.sort();
    Ok(Some(names))
}

fn odd(e: std::io::Error) -> Fault {
    Fault::new(Why::FolderUnread, e)
}

/// The names in one folder, and whether each is a folder.
fn entries(folder: &OwnedFd) -> Result<Vec<(CString, bool)>, Fault> {
    let held = format!("/proc/self/fd/{}", folder.as_raw_fd());
    // The run may have removed the permissions of its user, who may be ours.
    let _ = std::fs::set_permissions(&held, Permissions::from_mode(0o700));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&held).map_err(odd)? {
        let entry = entry.map_err(odd)?;
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let name = CString::new(entry.file_name().into_encoded_bytes());
        found.push((name.map_err(|e| odd(e.into()))?, is_folder));
        if found.len() > NAMES_MAX {
            break;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    fn limits() -> Limits {
        Limits {
            artifacts: 3,
            artifact_bytes: 100,
            ..Limits::default()
        }
    }

    fn kept_names(collected: &Collected) -> Vec<&str> {
        let artifacts = collected.artifacts.iter();
        artifacts.map(|file| file.name.as_str()).collect()
    }

    fn collected_from(folder: &Path, limits: &Limits) -> Collected {
        let fd = OwnedFd::from(File::open(folder).unwrap());
        collect(&fd, limits).unwrap()
    }

    #[test]
    fn only_plain_files_of_the_folder_are_collected() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "s").unwrap();
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("b.csv"), "a,b\n1,2\n").unwrap();
        std::fs::write(at("a.txt"), "x").unwrap();
        symlink(outside.path().join("secret"), at("link")).unwrap();
        symlink(at("a.txt"), at("own-link")).unwrap();
        std::fs::hard_link(outside.path().join("secret"), at("hard")).unwrap();
        std::fs::create_dir_all(at("folder/b/c/d")).unwrap();
        std::fs::write(at("folder/inner"), "x").unwrap();
        std::fs::write(at("folder/b/c/deep"), "deep").unwrap();
        std::fs::write(at("folder/b/c/d/deeper"), "x").unwrap();
        symlink(outside.path(), at("folder/out")).unwrap();
        std::fs::create_dir(at("odd\tfolder")).unwrap();
        std::fs::write(at("odd\tfolder/x"), "x").unwrap();
        nix::unistd::mkfifo(&at("pipe"), Mode::S_IRWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        std::fs::write(at("back\\slash"), "x").unwrap();
        std::fs::write(at("n\u{7f}"), "x").unwrap();
        std::fs::write(at("..."), "dots").unwrap();
        let five = Limits {
            artifacts: 5,
            ..limits()
        };
        let collected = collected_from(dir.path(), &five);
        assert_eq!(collected.excess, None);
        let names = kept_names(&collected);
        assert_eq!(
            names,
            ["...", "a.txt", "b.csv", "folder/b/c/deep", "folder/inner"]
        );
        assert_eq!(&*collected.blobs[3].bytes, b"deep");
        assert_eq!(collected.artifacts[2].media_type, "text/csv");
        assert_eq!(
            collected.artifacts[2].sha256,
            Blob::of(b"a,b\n1,2\n").sha256.hex()
        );
        assert_eq!(&*collected.blobs[1].bytes, b"x");
        assert_eq!(collected.left_out, 10);
        let reason_of = |name: &str| {
            let named = |one: &&LeftOut| one.name.as_deref() == Some(name);
            collected.refused.iter().find(named).map(|one| one.reason)
        };
        for (name, reason) in [
            ("link", Reason::Link),
            ("own-link", Reason::Link),
            ("hard", Reason::Link),
            ("folder/b/c/d", Reason::Deep),
            ("folder/out", Reason::Link),
            ("odd\\tfolder", Reason::Name),
            ("back\\slash", Reason::Name),
            ("n\\u{7f}", Reason::Name),
            ("pipe", Reason::Special),
            ("socket", Reason::Special),
        ] {
            assert_eq!(
                reason_of(name),
                Some(reason),
                "{name}: {:?}",
                collected.refused
            );
        }
    }

    #[test]
    fn files_with_names_from_data_are_kept_under_plain_names() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("Q1 2024")).unwrap();
        for name in [
            "North America.csv",
            "North_America.csv",
            "Q1 2024/Zürich.csv",
        ] {
            std::fs::write(at(name), name).unwrap();
        }
        let collected = collected_from(dir.path(), &limits());
        let kept: Vec<_> = collected
            .artifacts
            .iter()
            .zip(&collected.blobs)
            .map(|(file, blob)| {
                (
                    file.name.as_str(),
                    std::str::from_utf8(&blob.bytes).unwrap(),
                )
            })
            .collect();
        assert_eq!(
            kept,
            [
                ("North_America-2.csv", "North America.csv"),
                ("North_America.csv", "North_America.csv"),
                ("Q1_2024/Zuerich.csv", "Q1 2024/Zürich.csv"),
            ]
        );
        assert_eq!(
            collected.left_as("Q1_2024/Zuerich.csv"),
            "Q1 2024/Zürich.csv"
        );
        assert_eq!(collected.left_as("North_America.csv"), "North_America.csv");
    }

    #[test]
    fn no_file_takes_the_name_of_the_runs_result_or_output() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("stdout")).unwrap();
        for name in ["result", "stdout/a.txt", "Result", "result.json"] {
            std::fs::write(at(name), "fake").unwrap();
        }
        let collected = collected_from(dir.path(), &limits());
        assert_eq!(kept_names(&collected), ["Result", "result.json"]);
        let refused =
            ["result", "stdout/a.txt"].map(|name| LeftOut::new(name.as_bytes(), Reason::Reserved));
        assert_eq!(
            (collected.refused, collected.left_out),
            (refused.to_vec(), 2)
        );
    }

    #[test]
    fn refused_files_are_counted_and_the_first_are_named() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..30 {
            std::fs::write(dir.path().join(format!("a {n:02}\u{1b}")), "x").unwrap();
        }
        let collected = collected_from(dir.path(), &limits());
        assert_eq!(
            (collected.refused.len(), collected.left_out),
            (LeftOut::MOST, 30)
        );
        assert_eq!(collected.refused[0].name.as_deref(), Some("a 00\\u{1b}"));
    }

    #[test]
    fn only_the_first_files_written_are_kept_and_the_others_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let at = |seconds| std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        for (name, seconds) in [("d", 1), ("b", 2), ("a", 3), ("e", 4), ("c", 4)] {
            let file = File::create(dir.path().join(name)).unwrap();
            file.set_modified(at(seconds)).unwrap();
        }
        let collected = collected_from(dir.path(), &limits());
        assert_eq!(kept_names(&collected), ["a", "b", "d"]);
        assert_eq!(
            (collected.unkept, collected.excess),
            (vec!["c".into(), "e".into()], None)
        );
    }

    #[test]
    fn an_exceeded_limit_is_named_with_the_amount_reached() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            std::fs::write(dir.path().join(name), "x").unwrap();
        }
        std::fs::write(dir.path().join("c"), [0u8; 101]).unwrap();
        let collected = collected_from(dir.path(), &limits());
        assert_eq!(
            collected.excess.as_deref(),
            Some("c has 101 bytes; at most 100 of a file are collected")
        );
        // A sparse file counts with its apparent size.
        let wide = Limits {
            artifact_bytes: u64::MAX,
            ..limits()
        };
        let hole = |name: &str, bytes| {
            let file = File::create(dir.path().join(name)).unwrap();
            file.set_len(bytes).unwrap();
        };
        hole("c", FILE_MAX + 1);
        assert!(
            collected_from(dir.path(), &wide)
                .excess
                .unwrap()
                .starts_with("c has")
        );
        for name in ["a", "b", "c"] {
            hole(name, FILE_MAX);
        }
        assert!(
            collected_from(dir.path(), &wide)
                .excess
                .unwrap()
                .contains("together")
        );
    }

    #[test]
    fn a_policy_that_allows_no_file_collects_none() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "x").unwrap();
        let none = Limits {
            artifacts: 0,
            ..limits()
        };
        let collected = collected_from(dir.path(), &none);
        assert!(collected.artifacts.is_empty() && collected.excess.is_none());
        assert_eq!(collected.left_out, 1);
        assert_eq!(collected.refused[0].reason, Reason::NoFiles);
    }
}
