//! Folders and files whose modes let others in.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nix::unistd::geteuid;

use super::Check;
use super::fix::{Fix, chmod};
use crate::paths::{Distrust, Paths, UntrustedFile};

/// Whether somebody else can get at the log or the socket; `None` if nobody can.
pub(super) fn check(paths: &Paths) -> Option<Check> {
    let state = &paths.state_dir;
    // The state folder itself may be read by others; what the log is in may not.
    let mut wanted = vec![(state.clone(), 0o022)];
    wanted.extend(["log", "blobs", "quarantine"].map(|name| (state.join(name), 0o077)));
    if let Some(folder) = paths.socket.parent()
        && is_own(folder)
        && is_of_the_socket_alone(folder, &paths.socket)
    {
        wanted.push((folder.to_owned(), 0o067));
    }
    let open: Vec<_> = wanted
        .iter()
        .filter(|(path, bits)| path.metadata().is_ok_and(|m| m.mode() & bits != 0))
        .collect();
    if open.is_empty() {
        return None;
    }
    let named: Vec<String> = open.iter().map(|(p, _)| p.display().to_string()).collect();
    let remedy: Vec<String> = open.iter().map(|(path, bits)| chmod(path, *bits)).collect();
    let found = format!("others can get into {}", named.join(", "));
    let mut check = Check::missing("folders", found, remedy.join("; "));
    for (path, bits) in open {
        check = tightened(check, path, *bits);
    }
    Some(check)
}

/// A folder with something else in it, such as /tmp, is not to be shut to others.
fn is_of_the_socket_alone(folder: &Path, socket: &Path) -> bool {
    let Some(name) = socket.file_name().and_then(|name| name.to_str()) else {
        return false;
    };
    std::fs::read_dir(folder).is_ok_and(|all| {
        all.flatten()
            .all(|entry| entry.file_name().to_string_lossy().starts_with(name))
    })
}

/// What can be done about a file that is not read because others can write it.
pub(super) fn of_file(check: Check, file: &UntrustedFile) -> Check {
    match file.why {
        Distrust::Writable { .. } | Distrust::WritableFolder { .. } => {
            tightened(check, &file.path, 0o022)
        }
        _ => check,
    }
}

fn tightened(check: Check, path: &Path, bits: u32) -> Check {
    match Fix::tighten(path, bits) {
        Some(fix) => check.fixed_by([fix]),
        None if is_own(path) => check,
        None => check.by_root(chmod(path, bits)),
    }
}

fn is_own(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| m.uid() == geteuid().as_raw())
}
