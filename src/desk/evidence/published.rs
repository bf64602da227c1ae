//! A checkpoint as a host publishes it: the note that its log's key signed, with proofs that it extends earlier ones, signed by the
//! host's key. That binds the two keys to each other.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::audit::{Signed, Tree, VerifierKey, extends};
use crate::ballot::{Key, signed_by};
use crate::desk::engine::CheckpointRow;
use crate::model::{Digest, HOST_NAMESPACE};

/// The most checkpoints from which one is proved to extend them.
pub const FROM_MAX: usize = 4;

/// What a host signs. The size and the root are those of the note.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    format: Format,
    host: String,
    /// Fingerprint of the host's key.
    host_key: String,
    /// Counted by the host, from 1. A log that was rolled back counts some numbers twice.
    number: u64,
    at: Timestamp,
    /// The verifier key of the note: `name+hash+base64`.
    log_key: String,
    /// C2SP `tlog-checkpoint`.
    note: String,
    from: Vec<From>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Format {
    #[serde(rename = "countersign checkpoint 1")]
    V1,
}

/// That it extends an earlier one: RFC 6962, section 2.1.2.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct From {
    size: u64,
    root: Digest,
    path: Vec<Digest>,
}

/// Size and root of an earlier checkpoint.
pub type Link = (u64, Digest);

/// A published checkpoint whose signatures and proofs hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    pub size: u64,
    pub root: Digest,
    pub number: u64,
    /// By the host's clock.
    pub at: Timestamp,
    /// What it extends.
    pub from: Vec<Link>,
}

impl Published {
    /// The bytes that the host is to sign. What does not fit into the tree, or into the row, is left out.
    pub fn bytes(
        (host, host_key): (&str, &str),
        number: u64,
        at: Timestamp,
        tree: &Tree,
        earlier: &[u64],
    ) -> Vec<u8> {
        /// Some room is left below the most that a row may have.
        const BODY_MAX: usize = 15 * 1024;
        let from = earlier.iter().filter(|size| **size < tree.size());
        let from = from.filter_map(|size| {
            Some(From {
                size: *size,
                root: tree.root_at(*size)?,
                path: tree.since(*size)?,
            })
        });
        let mut body = Body {
            format: Format::V1,
            host: host.to_owned(),
            host_key: host_key.to_owned(),
            number,
            at,
            log_key: tree.key.to_string(),
            note: tree.signed.by_its_log(&tree.key),
            from: from.take(FROM_MAX).collect(),
        };
        loop {
            // Strings and numbers: serialising cannot fail.
            let bytes = serde_json::to_vec(&body).unwrap_or_default();
            if bytes.len() <= BODY_MAX || body.from.pop().is_none() {
                return bytes;
            }
        }
    }

    /// Reads a row that stands under the name of the host with this key.
    ///
    /// # Errors
    /// Why it is not believed, in words.
    pub fn read(key: &Key, row: &CheckpointRow) -> Result<Self, String> {
        signed_by(key, &row.signature, HOST_NAMESPACE, &row.body)
            .map_err(|why| format!("the host did not sign this: {why}"))?;
        let body: Body = serde_json::from_slice(&row.body).map_err(|e| e.to_string())?;
        if body.host != row.host || body.host_key != key.fingerprint() {
            return Err("it is another host's".to_owned());
        }
        let log_key: VerifierKey = body.log_key.parse().map_err(|e| format!("{e}"))?;
        let signed = Signed::read(body.note.as_bytes(), &log_key).map_err(|e| e.to_string())?;
        let (size, root) = (signed.checkpoint.size, signed.checkpoint.root);
        if size != row.size {
            return Err(format!(
                "it is of {size} records and stands under {}",
                row.size
            ));
        }
        if body.from.len() > FROM_MAX {
            return Err(format!("it has more than {FROM_MAX} proofs"));
        }
        for from in &body.from {
            if !extends((from.size, from.root), (size, root), &from.path) {
                return Err(format!(
                    "its proof from {} records does not lead to it",
                    from.size
                ));
            }
        }
        Ok(Self {
            size,
            root,
            number: body.number,
            at: body.at,
            from: body.from.iter().map(|f| (f.size, f.root)).collect(),
        })
    }
}

/// What a host signs about another one's checkpoint: that it extends all that it saw of it. Nobody parses it.
pub fn cosigned_text(
    (host, host_key): (&str, &str),
    (size, root): Link,
    cosigner: &str,
) -> Vec<u8> {
    format!(
        "countersign cosignature 1\nhost {host}\nkey {host_key}\nsize {size}\nroot {}\nby {cosigner}\n",
        root.hex()
    )
    .into_bytes()
}
