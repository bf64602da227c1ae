//! The salts of code with secrets: `salts/<id>`, 32 random bytes each, for the eyes of the owner only.
//!
//! The record of such code has an HMAC under its salt in the place of a plain digest. Whoever has the code and the state
//! folder can show that it is the one. Salts are in no index, export or bundle.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};

use nix::fcntl::OFlag;

use super::layout::{Layout, open_regular, sync_dir};
use crate::model::{Digest, LogEvent, ProposalId};
use crate::secrets::{Salt, salted};

/// Makes the salt of a proposal. One that is there stays.
pub(super) fn make(layout: &Layout, id: ProposalId) -> io::Result<Salt> {
    match DirBuilder::new().mode(0o700).create(layout.salts()) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
        Err(_) => {}
        Ok(()) => sync_dir(&layout.state)?,
    }
    let created = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .open(layout.salt(id));
    match created {
        Ok(mut file) => {
            let salt = Salt::new().ok_or_else(|| io::Error::other("no randomness"))?;
            file.write_all(salt.as_bytes())?;
            // Before the record that needs it.
            file.sync_all()?;
            sync_dir(&layout.salts())?;
            Ok(salt)
        }
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => of(layout, id),
        Err(e) => Err(e),
    }
}

fn of(layout: &Layout, id: ProposalId) -> io::Result<Salt> {
    let mut bytes = Vec::new();
    open_regular(&layout.salt(id))?
        .take(33)
        .read_to_end(&mut bytes)?;
    let bytes = bytes.try_into();
    let bytes = bytes.map_err(|_| io::Error::other("it is not 32 bytes long"))?;
    Ok(Salt::from_bytes(bytes))
}

/// Whether these bytes are the code that a record names; `None` if it names none.
///
/// # Errors
/// Why that cannot be told.
pub(super) fn is_code(
    layout: &Layout,
    event: &LogEvent,
    code: &[u8],
) -> Result<Option<bool>, String> {
    let (id, digest, kept) = match event {
        LogEvent::Proposed(p) => (p.id, p.digest, p.kept),
        LogEvent::Edited(e) => (e.id, e.digest, e.kept),
        _ => return Ok(None),
    };
    if kept.is_none() {
        return Ok(Some(Digest::of(code) == digest));
    }
    let salt = of(layout, id).map_err(|e| format!("its salt, salts/{id}, cannot be read: {e}"))?;
    Ok(Some(salted(&salt, code) == digest))
}
