//! What a host says itself of its log: that it is not the one that it signed. It publishes no checkpoint of such a log, so this is how
//! others hear of it. It stands among its checkpoints, under the size of the newest that it had signed.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ballot::{Key, signed_by};
use crate::desk::engine::CheckpointRow;
use crate::model::HOST_NAMESPACE;

use super::published::{Link, Published};

/// The host's own word that its log is not the one that it signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Admitted {
    /// Counted together with its checkpoints: one with a greater number, of a log that has all again, ends the doubt.
    pub number: u64,
    /// By the host's clock.
    pub at: Timestamp,
    /// Records that the log had when that was found.
    pub has: u64,
    /// The newest checkpoint that it had signed: size and root.
    pub signed: Link,
    /// The newest of its checkpoints that the log still has, if another log grew on it.
    pub base: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    format: Format,
    host: String,
    /// Fingerprint of the host's key.
    host_key: String,
    doubt: Admitted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Format {
    #[serde(rename = "countersign doubt 1")]
    V1,
}

/// What a host published about its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    Checkpoint(Published),
    Doubt(Admitted),
}

impl Said {
    /// Reads a row that stands under the name of the host with this key.
    ///
    /// # Errors
    /// Why it is not believed, in words.
    pub fn read(key: &Key, row: &CheckpointRow) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Any {
            format: String,
        }
        let any = serde_json::from_slice(&row.body);
        if !any.is_ok_and(|Any { format }| format == "countersign doubt 1") {
            return Published::read(key, row).map(Self::Checkpoint);
        }
        signed_by(key, &row.signature, HOST_NAMESPACE, &row.body)
            .map_err(|why| format!("the host did not sign this: {why}"))?;
        let body: Body = serde_json::from_slice(&row.body).map_err(|e| e.to_string())?;
        if body.host != row.host || body.host_key != key.fingerprint() {
            return Err("it is another host's".to_owned());
        }
        match body.doubt.signed.0 == row.size {
            true => Ok(Self::Doubt(body.doubt)),
            false => Err("it was moved".to_owned()),
        }
    }
}

impl Admitted {
    /// The bytes that the host is to sign.
    pub fn bytes(&self, (host, host_key): (&str, &str)) -> Vec<u8> {
        let body = Body {
            format: Format::V1,
            host: host.to_owned(),
            host_key: host_key.to_owned(),
            doubt: self.clone(),
        };
        // Strings and numbers: serialising cannot fail.
        serde_json::to_vec(&body).unwrap_or_default()
    }

    /// What its operator reads, and what they can do.
    pub fn here(&self) -> String {
        format!("{}. {REMEDY}", self.what())
    }

    /// What its operator reads.
    pub fn what(&self) -> String {
        self.said("", "this log", "this host")
    }

    /// One sentence with the same numbers, whoever reads it.
    fn said(&self, by: &str, log: &str, host: &str) -> String {
        let Self {
            has,
            signed: (signed, _),
            ..
        } = self;
        match (has < signed, self.base) {
            (true, _) => {
                format!("ROLLED BACK{by}: {log} has {has} records after {signed} had been signed")
            }
            (false, Some(base)) => format!(
                "ROLLED BACK, then a FORK{by}: {log} went on from {base} records after {signed} had been signed"
            ),
            (false, None) => format!(
                "FORK{by}: the first {signed} records of {log} are not those that {host} signed"
            ),
        }
    }
}

/// What its operator can do.
pub const REMEDY: &str = "Stop the host and put the newer state folder back, with its checkpoints; if that is lost, give the host a new \
                          key (desk.md, \"A host that was rolled back\")";

impl fmt::Display for Admitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = self.said(", by its own word", "its log", "it");
        write!(f, "{said}; nothing is granted there")
    }
}

/// For a root that nobody has.
#[cfg(test)]
pub(super) fn admitted(number: u64, has: u64, signed: u64, base: Option<u64>) -> Admitted {
    Admitted {
        number,
        at: Timestamp::UNIX_EPOCH,
        has,
        signed: (signed, crate::model::Digest::of(b"x")),
        base,
    }
}
