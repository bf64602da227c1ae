//! Who connected, as the kernel vouches for it.

use std::io;
use std::path::Path;

use tokio::net::UnixStream;

use crate::model::Peer;

/// Reads SO_PEERCRED (unix(7)): uid, gid and pid at the time of `connect`. The executable's name
/// is a hint: the process may have been replaced since, and any program can be called anything.
pub(super) fn of(stream: &UnixStream) -> io::Result<Peer> {
    let credentials = stream.peer_cred()?;
    // 0 where the peer lives in a pid namespace that cannot be seen from here.
    let pid = credentials.pid().unwrap_or(0);
    Ok(Peer {
        uid: credentials.uid(),
        gid: credentials.gid(),
        pid,
        exe: executable(pid),
    })
}

fn executable(pid: i32) -> Option<String> {
    if pid <= 0 {
        return None;
    }
    let target = std::fs::read_link(Path::new("/proc").join(pid.to_string()).join("exe")).ok()?;
    let name = target.file_name()?.to_string_lossy().into_owned();
    Some(name.strip_suffix(" (deleted)").unwrap_or(&name).to_owned())
}
