//! The process at the other end of a connection.

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
