//! Who connected, as reported by the kernel.

use std::io;
use std::path::Path;

use tokio::net::UnixStream;

use crate::model::Peer;

/// Reads SO_PEERCRED (unix(7)): uid, gid and pid at the time of `connect`. The executable's name is
/// only a hint: the process may have been replaced since, and a program can have any name.
pub(super) fn of(stream: &UnixStream) -> io::Result<Peer> {
    let credentials = stream.peer_cred()?;
    // 0 if the peer is in a pid namespace that is not visible from here.
    let pid = credentials.pid().unwrap_or(0);
    Ok(Peer {
        uid: credentials.uid(),
        gid: credentials.gid(),
        pid,
        exe: executable(pid),
        gateway: None,
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
