//! Standard output, and the places that commands look at without reading the configuration.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use crate::error::Failure;
use crate::paths::Folders;

use super::Globals;

/// Writes to standard output. A reader that went away (`| head`) is no error.
pub(super) fn print(what: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    match what(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::general(format!("cannot print: {e}")))
        }
        _ => Ok(()),
    }
}

/// The state folder. No configuration file can move it, so a broken one does not hide the log.
pub(super) fn state_dir(globals: &Globals) -> Result<PathBuf, Failure> {
    match globals.options().state_dir {
        Some(dir) => Ok(dir),
        None => Folders::from_environment()
            .map(|f| f.state)
            .map_err(|e| Failure::usage(e.to_string())),
    }
}
