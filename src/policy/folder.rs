//! Policy files on disk: finds them, and checks that nobody else can have written them.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::PolicyError;
use super::resolved::SetBy;
use crate::paths::{Trust, read_trusted};

/// The folder's `*.toml` files, sorted; empty if there is no folder.
pub(super) fn files(dir: &Path) -> Result<Vec<PathBuf>, PolicyError> {
    let fault = |error| PolicyError::new(dir, format!("cannot be read: {error}"));
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(fault(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(fault)?.path();
        if path.extension().is_some_and(|e| e == "toml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Whether a file is in the folder, whichever path leads to it.
pub(super) fn contains(dir: &Path, file: &Path) -> bool {
    let parent = file.parent().filter(|p| !p.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    match (fs::canonicalize(dir), fs::canonicalize(parent)) {
        (Ok(dir), Ok(parent)) => dir == parent,
        _ => false,
    }
}

/// Reads a file that only root or, for a user's file, the user can have written.
pub(super) fn read(path: &Path, set_by: SetBy) -> Result<String, PolicyError> {
    let trust = match set_by {
        SetBy::Program | SetBy::Administrator => Trust::Root,
        SetBy::User => Trust::RootOrUser,
    };
    // The error may concern the folder instead of the file, so keep its path.
    read_trusted(path, trust).map_err(|e| PolicyError::new(e.path, e.why.to_string()))
}
