//! Where the checkpoints of a log are, for the commands that compare it with them.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::audit::{Signed, Store, TlogError, VerifierKey, Vouched};
use crate::config;
use crate::error::Failure;
use crate::model::visible;

use super::super::Globals;
use super::super::out::tell;

/// Longest file that is read.
const FILE_MAX: u64 = 64 * 1024;

#[derive(Debug, Default, clap::Args)]
pub struct Place {
    /// The folder of checkpoints, if it is not the configured one or the one beside the state folder
    #[arg(long, value_name = "DIR")]
    checkpoints: Option<PathBuf>,
}

impl Place {
    /// The folder of this log's checkpoints.
    pub fn store(&self, globals: &Globals, state_dir: &Path) -> Store {
        if let Some(named) = &self.checkpoints {
            return Store::at(named);
        }
        // Mistakes in the configuration must not keep anybody from looking at a log.
        let configured = config::load(&globals.options()).ok();
        let configured = configured.and_then(|config| config.audit.checkpoints);
        if let Some(store) = configured.as_deref().map(Store::at) {
            // It may be about the user's own log, and this one a copy of another.
            let here = std::fs::canonicalize(state_dir).ok();
            if here.is_some() && store.log().ok().flatten() == here {
                return store;
            }
        }
        Store::beside(state_dir)
    }
}

/// What the newest checkpoint says of the log. Says why if it cannot be read.
pub fn vouched(globals: &Globals, state_dir: &Path) -> Vouched {
    let store = Place::default().store(globals, state_dir);
    Vouched::of(&store).unwrap_or_else(|e| {
        let why = e.to_string();
        tell(&format!(
            "the log's checkpoints are of no use: {}",
            visible(&why)
        ));
        Vouched::Nothing
    })
}

/// A verifier key, or a file that has one.
pub fn key(text: &str) -> Result<VerifierKey, Failure> {
    let parsed = match text.contains('+') {
        true => text.parse(),
        false => {
            let bytes = read(Path::new(text))?;
            String::from_utf8_lossy(&bytes).trim().parse()
        }
    };
    parsed.map_err(|e: TlogError| Failure::usage(format!("--key: {e}")))
}

/// A checkpoint in a file.
pub fn checkpoint(path: &Path, key: &VerifierKey) -> Result<Result<Signed, TlogError>, Failure> {
    Ok(Signed::read(&read(path)?, key))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read =
        std::fs::File::open(path).and_then(|file| file.take(FILE_MAX + 1).read_to_end(&mut bytes));
    read.map_err(|e| {
        let path = path.display().to_string();
        Failure::usage(format!("{} cannot be read: {e}", visible(&path)))
    })?;
    Ok(bytes)
}
