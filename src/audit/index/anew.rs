//! An index that one process makes for itself from the log.
//!
//! What lies in the state folder can be written by every process of its user, so what others are to rely on is not
//! answered from there. This index has no name: SQLite removes its file as soon as it is open, and it goes with the
//! process.

use std::path::PathBuf;

use nix::unistd::{AccessFlags, access};

use super::super::log::Log;
use super::{Index, IndexError, Resume, Telling, has_room, schema};

impl Index {
    /// Reads the whole log into an index that nobody else can open, and that is not kept: in a file of mode 0600 without
    /// a name, outside the state folder, with at most 16 MB of it in memory.
    pub fn anew(log: &Log, making: Telling<'_>) -> Result<Self, IndexError> {
        making(0, log.layout.segment_bytes()?);
        has_room(log, &temporary())?;
        let mut index = Self::at(log, schema::private()?, Resume::default());
        index.go_on(making)?;
        index.overlay()?;
        Ok(index)
    }
}

/// Where SQLite makes such a file.
fn temporary() -> PathBuf {
    let named = ["SQLITE_TMPDIR", "TMPDIR"].map(std::env::var_os);
    let usual = ["/var/tmp", "/usr/tmp", "/tmp"].map(PathBuf::from);
    let mut all = named.into_iter().flatten().map(PathBuf::from).chain(usual);
    all.find(|dir| dir.is_dir() && access(dir, AccessFlags::W_OK | AccessFlags::X_OK).is_ok())
        .unwrap_or_else(|| ".".into())
}
