//! What can be wrong with keys, notes and checkpoints. Each is named, so that a person knows what to look at.

use crate::model::visible;

/// Why something is not a checkpoint of this log.
#[derive(Debug, thiserror::Error)]
pub enum TlogError {
    #[error("not a verifier key: {0}; one reads `name+hash+base64`")]
    Key(&'static str),
    #[error("not a signed note: {0}")]
    Note(&'static str),
    #[error("not a checkpoint: {0}")]
    Checkpoint(&'static str),
    #[error("not the beginning of this log's checkpoints: {0}")]
    Begun(&'static str),
    #[error("unknown key: it is signed by {}, and the key here is {}", visible(.found), visible(.wanted))]
    UnknownKey { wanted: String, found: String },
    #[error("bad signature: {} did not sign this text", visible(.0))]
    BadSignature(String),
    #[error("other origin: it is a checkpoint of {}, and the log here is {}", visible(.found), visible(.wanted))]
    OtherOrigin { wanted: String, found: String },
    #[error(
        "the log is shorter than the checkpoint: it has {records} records, and {size} were signed"
    )]
    Shorter { records: u64, size: u64 },
    #[error(
        "another root at size {size}: the log's first {size} records are not the ones that were signed"
    )]
    OtherRoot { size: u64 },
    #[error(
        "the records up to seq {0} were removed under retention, and their hashes are not kept here, so the log cannot \
         be compared with the checkpoint"
    )]
    NoBeginning(u64),
    #[error(
        "the record of the removal up to seq {0} states another root than the hashes that are kept: it is not the record \
         of this gap"
    )]
    Gap(u64),
    #[error(
        "the record of a removal up to seq {through}, seq {seq}, states no root, and no checkpoint signs it, though there are \
         checkpoints of these records: this program did not remove them"
    )]
    NoRoot { seq: u64, through: u64 },
}
