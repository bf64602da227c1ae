//! When the index was last compared with the log, and by what: a note beside it.
//!
//! Whoever can write the index can write the note, so nothing depends on it: no exit code, and no answer. It tells a
//! person how old the last comparison is.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::super::layout::{Layout, open_regular};
use super::own_folder;

pub(super) const FILE: &str = "compared.json";
/// A note is shorter.
const MOST: u64 = 4096;

/// A comparison of the index with the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// The last record that was compared.
    pub through: u64,
    pub at: Timestamp,
    /// What compared them, in words.
    pub by: String,
}

/// Notes a comparison that found the same, up to this record.
pub(in crate::audit) fn note(layout: &Layout, through: u64, by: &str) -> io::Result<()> {
    let folder = own_folder(layout).map_err(io::Error::other)?;
    let noted = Noted {
        through,
        at: Timestamp::now(),
        by: by.to_owned(),
    };
    let new = folder.join(format!("{FILE}.{}", std::process::id()));
    let written = || {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(&serde_json::to_vec(&noted)?)?;
        fs::rename(&new, folder.join(FILE))
    };
    written().inspect_err(|_| drop(fs::remove_file(&new)))
}

/// The last comparison, as the note says.
pub(super) fn noted(layout: &Layout) -> Option<Noted> {
    let file = open_regular(&own_folder(layout).ok()?.join(FILE)).ok()?;
    let mut text = Vec::new();
    file.take(MOST).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}
