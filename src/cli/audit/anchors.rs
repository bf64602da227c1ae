//! Where the checkpoints of a log are, for the commands that compare it with them.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::audit::{Signed, Store, TlogError, VerifierKey};
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

/// How many records the newest checkpoint says there are. Says why if it cannot be checked.
pub fn length(globals: &Globals, state_dir: &Path) -> u64 {
    let store = Place::default().store(globals, state_dir);
    let latest = match store.key() {
        Ok(Some(key)) => store.latest(&key),
        Ok(None) => return 0,
        Err(e) => Err(e),
    };
    match latest {
        Ok(signed) => signed.map_or(0, |signed| signed.checkpoint.size),
        Err(e) => {
            let why = e.to_string();
            tell(&format!(
                "the log's checkpoints are of no use: {}",
                visible(&why)
            ));
            0
        }
    }
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
