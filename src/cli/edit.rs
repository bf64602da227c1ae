//! Files of others' settings: read, shown as they would change, and replaced in one step.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use similar::TextDiff;

use crate::error::Failure;

/// Longer settings are not read.
const BYTES_MAX: u64 = 4 << 20;

/// The file itself, and behind a link what it leads to: the link stays.
pub(super) fn behind(path: PathBuf) -> Result<PathBuf, Failure> {
    match path.canonicalize() {
        Ok(behind) => Ok(behind),
        Err(e) if path.is_symlink() => Err(Failure::usage(format!(
            "{} is a link that leads nowhere: {e}",
            path.display()
        ))),
        Err(_) => Ok(path),
    }
}

/// What is in the file, if it is there.
pub(super) fn read(path: &Path) -> Result<Option<String>, Failure> {
    let wrong = |e: String| Failure::usage(format!("{} cannot be read: {e}", path.display()));
    // A pipe in its place must not block.
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(nix::libc::O_NONBLOCK);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(wrong(e.to_string())),
    };
    if !file.metadata().is_ok_and(|m| m.is_file()) {
        return Err(wrong("it is no regular file".to_owned()));
    }
    let mut text = String::new();
    file.take(BYTES_MAX + 1)
        .read_to_string(&mut text)
        .map_err(|e| wrong(e.to_string()))?;
    match text.len() as u64 > BYTES_MAX {
        true => Err(wrong(format!("it has more than {BYTES_MAX} bytes"))),
        false => Ok(Some(text)),
    }
}

/// What would change.
pub(super) fn diff(path: &Path, before: &str, after: &str) -> String {
    let name = path.display().to_string();
    let diff = TextDiff::from_lines(before, after);
    diff.unified_diff().header(&name, &name).to_string()
}

/// Replaces the file in one step, if it is still what was shown.
pub(super) fn write(path: &Path, before: Option<&str>, after: &str) -> io::Result<()> {
    let folder = path
        .parent()
        .ok_or_else(|| io::Error::other("it has no folder"))?;
    let now = match std::fs::read(path) {
        Ok(bytes) => Some(bytes),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(e),
    };
    if now.as_deref() != before.map(str::as_bytes) {
        return Err(io::Error::other("it changed meanwhile"));
    }
    if after.is_empty() {
        return std::fs::remove_file(path);
    }
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new();
    let mut file = file.prefix(".countersign-").tempfile_in(folder)?;
    file.write_all(after.as_bytes())?;
    if before.is_some() {
        file.as_file()
            .set_permissions(std::fs::metadata(path)?.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}
