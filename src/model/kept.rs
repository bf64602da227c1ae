//! A successful run whose code is kept for the user.

use std::sync::Arc;

use jiff::Timestamp;

use super::{BoundInput, Digest, ProposalId};

/// The fields of the kept file's header, and the code.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptRun {
    pub id: ProposalId,
    /// When the run ended.
    pub at: Timestamp,
    /// Digest of the code.
    pub digest: Digest,
    pub profile: String,
    /// The agent's name for itself.
    pub agent: Option<String>,
    pub title: Option<String>,
    pub inputs: Arc<[BoundInput]>,
    pub code: Arc<str>,
}
