//! Who is at the other end of a connection.

use serde::{Deserialize, Serialize};

/// A connected process as the kernel vouches for it (SO_PEERCRED); `exe` is a hint that can
/// be imitated. Quotas count per peer, which is a uid and a pid, and per uid.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Peer {
    pub uid: u32,
    pub gid: u32,
    pub pid: i32,
    /// Base name of `/proc/<pid>/exe`, where it could be read.
    pub exe: Option<String>,
}
