//! Which files `check` reads: the named ones, and the `*.py` files in folders, in path order.

use std::path::{Path, PathBuf};

use crate::error::Failure;

/// The files behind the arguments, sorted; `-` is kept. A path that does not exist is a usage
/// error; a file that cannot be read gets a verdict.
pub(super) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            files.push(path.clone());
        } else if path.is_dir() {
            folder(path, &mut files, 0)?;
        } else if path.symlink_metadata().is_ok() {
            files.push(path.clone());
        } else {
            return Err(Failure::usage(format!(
                "{}: no such file or folder",
                path.display()
            )));
        }
    }
    files.sort();
    files.dedup();
    Ok(files)
}

fn folder(dir: &Path, files: &mut Vec<PathBuf>, depth: usize) -> Result<(), Failure> {
    if depth > 100 {
        return Err(Failure::usage(format!(
            "{}: nested too deep",
            dir.display()
        )));
    }
    let entries = std::fs::read_dir(dir)
        .map_err(|e| Failure::usage(format!("{}: cannot be read: {e}", dir.display())))?;
    for entry in entries {
        // An entry that cannot be listed could be anything, so it must not pass.
        let entry = entry.map_err(|e| Failure::usage(format!("{}: {e}", dir.display())))?;
        let path = entry.path();
        let python = path.extension().is_some_and(|e| e == "py");
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => folder(&path, files, depth + 1)?,
            Ok(kind) if kind.is_file() && python => files.push(path),
            // A link to a folder could form a loop. A link to a file counts as a file, even if it
            // is broken.
            Ok(kind) if kind.is_symlink() && python && !path.is_dir() => files.push(path),
            _ => {}
        }
    }
    Ok(())
}
