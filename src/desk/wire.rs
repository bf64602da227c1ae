//! What goes over the local socket: one JSON object a line.

use serde::{Deserialize, Serialize};

use crate::model::{Person, ProposalId, Vote};

/// The version of these lines.
pub const PROTOCOL: u32 = 1;
/// The most bytes of a line: an offer as a JSON string of JSON, and its signature.
pub const LINE_MAX: usize = 2 * 1024 * 1024;
/// The most bytes of a line that a reviewer sends.
pub const VOTE_MAX: usize = 32 * 1024;

/// What a host signed, as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    pub body: String,
    /// In the armour of OpenSSH.
    pub signature: String,
}

/// From the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FromHost {
    /// The first line.
    Hello {
        protocol: u32,
        host: String,
        /// Whom the host takes the peer for.
        you: Person,
    },
    Offer(Signed),
    Statement(Signed),
    /// A hint: somebody reads this.
    Claim {
        proposal: ProposalId,
        by: Person,
    },
    /// Why the host ends the connection.
    Refused {
        why: String,
    },
}

/// To the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ToHost {
    Vote {
        proposal: ProposalId,
        version: u32,
        vote: Vote,
    },
    Claim {
        proposal: ProposalId,
    },
}

/// A line with its line feed.
pub fn line(value: &impl Serialize) -> Vec<u8> {
    // Strings, numbers and words: serialising cannot fail.
    let mut bytes = serde_json::to_vec(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
