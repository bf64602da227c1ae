//! Identifiers.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A connection to the socket, numbered by the listener; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnId(pub u64);

/// One request of one connection, numbered by the connection; never reused. The connection remembers its
/// JSON-RPC id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u64);

/// One piece of work for the analyser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobId(pub u64);

/// A proposal's id: a UUIDv7 (RFC 9562), so ids sort by the time they were made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProposalId(Uuid);

impl ProposalId {
    /// A fresh id. Reads the wall clock, so the core never calls it: its callers pass ids in.
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }

    pub const fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid)
    }

    pub const fn uuid(&self) -> Uuid {
        self.0
    }

    /// When it was made, by the wall clock; `None` if it is no UUIDv7.
    pub fn made_at(&self) -> Option<Timestamp> {
        let (seconds, nanos) = self.0.get_timestamp()?.to_unix();
        let is_v7 = self.0.get_version_num() == 7;
        let at = Timestamp::new(i64::try_from(seconds).ok()?, i32::try_from(nanos).ok()?);
        at.ok().filter(|_| is_v7)
    }

    /// The last eight hex digits: the random part, which differs even for ids of the same time.
    pub fn short(&self) -> String {
        let text = self.0.simple().to_string();
        text[24..].to_owned()
    }
}

impl Default for ProposalId {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for ProposalId {
    type Err = uuid::Error;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Uuid::parse_str(s).map(Self)
    }
}
