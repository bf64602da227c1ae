//! How far the Python environment is.

use super::{Digest, Installed};

/// The managed Python environment.
#[derive(Clone, Debug, PartialEq)]
pub enum Environment {
    /// Being made. `done` of `total` steps; `step` says what is happening.
    Making { step: String, done: u64, total: u64 },
    /// Usable. `digest` covers the contents of every file that a run can load.
    Ready {
        digest: Digest,
        label: String,
        installed: Installed,
    },
    /// Files of one that was usable are others now; they are being read again. `what` names them, inside
    /// the environment.
    Changed { what: String },
    /// Cannot be used; `message` says the remedy.
    Failed { message: String },
}
