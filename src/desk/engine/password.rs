//! The file of a password: its reader's alone.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use nix::libc::O_NONBLOCK;
use nix::unistd::geteuid;

use crate::model::visible;

const BYTES_MAX: u64 = 1024;

/// The first line of a file that belongs to this user or root and that nobody else can read.
///
/// # Errors
/// What is wrong with the file and what would be right, in words.
pub fn read_password(path: &Path) -> Result<String, String> {
    let name = path.display().to_string();
    let name = visible(&name);
    let failed = |e: std::io::Error| format!("{name}: {e}");
    // Nothing waits for the other end of a pipe.
    let open = OpenOptions::new()
        .read(true)
        .custom_flags(O_NONBLOCK)
        .open(path);
    let file = open.map_err(failed)?;
    let meta = file.metadata().map_err(failed)?;
    if !meta.is_file() {
        return Err(format!("{name} is no file"));
    }
    let me = geteuid().as_raw();
    if ![0, me].contains(&meta.uid()) {
        let owner = meta.uid();
        return Err(format!(
            "{name} belongs to uid {owner}; it has to be yours or root's"
        ));
    }
    let mode = meta.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(format!(
            "others can read or write {name} (mode {mode:03o}): chmod 600 makes it its owner's, and the password is known by now: change it"
        ));
    }
    let mut text = String::new();
    file.take(BYTES_MAX + 1)
        .read_to_string(&mut text)
        .map_err(failed)?;
    if text.len() as u64 > BYTES_MAX {
        return Err(format!(
            "{name} is longer than {BYTES_MAX} bytes, so it is no password"
        ));
    }
    let line = text.strip_suffix('\n').unwrap_or(&text);
    match line.is_empty() || line.contains(['\n', '\0']) {
        true => Err(format!("{name} must have one line, the password")),
        false => Ok(line.to_owned()),
    }
}
