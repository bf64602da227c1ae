//! The process at the other end of a connection, and the agent in it.

use serde::{Deserialize, Serialize};

/// A connected process as reported by the kernel (SO_PEERCRED). `exe` is only a hint, since any program can
/// imitate it. Quotas count per peer, that is, per uid and pid, and per uid.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Peer {
    pub uid: u32,
    pub gid: u32,
    pub pid: i32,
    /// Base name of `/proc/<pid>/exe`, if readable.
    pub exe: Option<String>,
}

/// An agent as people tell agents apart: the kernel's uid and pid, and the name shown for it, which is a claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AgentId {
    pub uid: u32,
    pub pid: i32,
    pub name: String,
}

impl AgentId {
    /// Whether this is the same process, or the same name under the same uid.
    pub fn covers(&self, uid: u32, pid: i32, name: &str) -> bool {
        self.uid == uid && (self.pid == pid || self.name == name)
    }
}
