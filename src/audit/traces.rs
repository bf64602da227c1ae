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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_without_a_file_are_no_trace() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = dir.path().join("blobs");
        assert!(!holds_a_file(&blobs).unwrap());
        fs::create_dir_all(blobs.join("ab")).unwrap();
        assert!(!holds_a_file(&blobs).unwrap());
        fs::write(blobs.join("ab/cd"), "").unwrap();
        assert!(holds_a_file(&blobs).unwrap());
    }

    /// A log would begin anew over what cannot be read.
    #[test]
    fn a_folder_that_cannot_be_read_is_not_an_empty_one() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = dir.path().join("blobs");
        fs::write(&blobs, "").unwrap();
        assert!(holds_a_file(&blobs).is_err());
    }
}
