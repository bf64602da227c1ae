//! Traces that show that a state folder without segments once had a log.
//!
//! All of them are made after the first segment is durable, so a first start that ends early leaves none.

use std::fs;
use std::io;
use std::path::Path;

use super::layout::{Layout, journal_name};
use super::mark::Note;

/// Describes the first trace of a log.
pub(super) fn of(layout: &Layout) -> io::Result<Option<String>> {
    if Note::of(layout)?.begun {
        return Ok(Some("`lock` says that a log was begun".to_owned()));
    }
    for number in [0, 1] {
        if layout.journal(number).symlink_metadata().is_ok() {
            return Ok(Some(format!("`{}` is there", journal_name(number))));
        }
    }
    for (folder, path) in [
        ("blobs", layout.blobs()),
        ("quarantine", layout.quarantine()),
    ] {
        if holds_a_file(&path)? {
            return Ok(Some(format!("`{folder}` is not empty")));
        }
    }
    Ok(None)
}

fn holds_a_file(folder: &Path) -> io::Result<bool> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(e),
    };
    for entry in entries {
        let entry = entry?;
        if !entry.file_type()?.is_dir() || holds_a_file(&entry.path())? {
            return Ok(true);
        }
    }
    Ok(false)
}
