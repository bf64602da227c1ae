//! That a proposal's final record is in a checkpoint that the host published.

use serde::{Deserialize, Serialize};

use crate::audit::{Record, includes};
use crate::desk::hosts::Hosts;
use crate::model::{Digest, ProposalId, State};

use super::published::Link;

/// The most bytes of a record that is published.
pub const RECORD_MAX: usize = 256 * 1024;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    format: Format,
    host: String,
    host_key: String,
    proposal: ProposalId,
    /// The record's number in the log.
    seq: u64,
    /// As it stands in the log, without its line feed: secrets were replaced before.
    record: String,
    /// The checkpoint.
    size: u64,
    root: Digest,
    /// RFC 6962, section 2.1.1.
    path: Vec<Digest>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Format {
    #[serde(rename = "countersign proof 1")]
    V1,
}

/// A final record that is in the log of a checkpoint. Whether the host published that checkpoint is still to be looked up.
#[derive(Clone, Debug)]
pub struct Proved {
    pub checkpoint: Link,
    pub state: State,
    pub record: Record,
}

impl Proved {
    /// The bytes that the host is to sign; `None` if the record is too long, or no text.
    pub fn bytes(
        (host, host_key): (&str, &str),
        proposal: ProposalId,
        (seq, line): (u64, Vec<u8>),
        (size, root): Link,
        path: Vec<Digest>,
    ) -> Option<Vec<u8>> {
        let record = String::from_utf8(line).ok()?;
        let body = Body {
            format: Format::V1,
            host: host.to_owned(),
            host_key: host_key.to_owned(),
            proposal,
            seq,
            record,
            size,
            root,
            path,
        };
        let fits = body.record.len() <= RECORD_MAX;
        fits.then(|| serde_json::to_vec(&body).ok()).flatten()
    }

    /// Reads what stands under the name of a host and a proposal.
    ///
    /// # Errors
    /// Why it proves nothing, in words.
    pub fn read(
        hosts: &Hosts,
        (host, proposal): (&str, ProposalId),
        bytes: &[u8],
        signature: &str,
    ) -> Result<Self, String> {
        hosts.check(host, bytes, signature)?;
        let body: Body = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
        let key = hosts.key(host).map(|key| key.fingerprint());
        if body.host != host || Some(body.host_key.as_str()) != key {
            return Err("it is another host's".to_owned());
        }
        let line = body.record.as_bytes();
        if includes(body.seq, line, body.size, &body.path) != Some(body.root) {
            return Err("the proof does not lead to its checkpoint".to_owned());
        }
        let record = Record::read(line)?;
        let state = record.event.state().filter(|state| state.is_final());
        match state {
            Some(state) if record.event.id() == Some(proposal) && body.proposal == proposal => {
                Ok(Self {
                    checkpoint: (body.size, body.root),
                    state,
                    record,
                })
            }
            _ => Err("the record that it proves is not the final one of this proposal".to_owned()),
        }
    }
}
