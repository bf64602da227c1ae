//! Proofs that a record is in the log: C2SP `tlog-proof`, with the record itself as the extra data.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::checkpoint::Signed;
use super::error::TlogError;
use super::tree::{self, Nodes};
use crate::model::Digest;

/// The text of a proof.
///
/// # Errors
/// When hashes cannot be read, or what was read does not lead to the checkpoint's root.
pub fn proof(line: &[u8], seq: u64, signed: &Signed, nodes: &impl Nodes) -> io::Result<String> {
    let size = signed.checkpoint.size;
    let index = seq.checked_sub(1).ok_or(io::ErrorKind::InvalidInput)?;
    let path = tree::inclusion(nodes, index, size)?;
    if tree::leads_to(index, size, tree::leaf(line), &path) != Some(signed.checkpoint.root) {
        return Err(io::Error::other(TlogError::OtherRoot { size }));
    }
    let path: String = path.iter().map(hash_line).collect();
    Ok(format!(
        "c2sp.org/tlog-proof@v1\nextra {}\nindex {index}\n{path}\n{}",
        STANDARD.encode(line),
        signed.note.print()
    ))
}

/// A hash as proofs write it.
pub fn hash_line(hash: &Digest) -> String {
    format!("{}\n", STANDARD.encode(hash.as_bytes()))
}
