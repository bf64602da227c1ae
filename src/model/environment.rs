//! The state of the Python environment.

use super::{Digest, Installed};

/// The managed Python environment.
#[derive(Clone, Debug, PartialEq)]
pub enum Environment {
    /// Being made: `done` of `total` steps; `step` names the current one.
    Making { step: String, done: u64, total: u64 },
    /// Usable. `digest` covers the contents of every file that a run can load.
    Ready {
        digest: Digest,
        label: String,
        installed: Installed,
    },
    /// Files of a usable environment have changed and are being read again. `what` names their paths inside
    /// the environment.
    Changed { what: String },
    /// Unusable; `message` names the remedy.
    Failed { message: String },
}
