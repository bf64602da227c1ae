//! Finds programs by absolute path, so that nothing of a relative `PATH` signs for a person.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Looked at first, in this order.
const FOLDERS: [&str; 3] = ["/usr/bin", "/bin", "/usr/local/bin"];

/// The program of this name, in the usual folders or else in an absolute one of `PATH`.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let others = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    FOLDERS
        .iter()
        .map(PathBuf::from)
        .chain(others)
        .map(|folder| folder.join(name))
        .find(|program| is_program(program))
}

fn is_program(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
