//! Policies: the built-in ones, and files that extend, tighten and widen them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use countersign::policy::{Places, Policy, PolicyError};

mod administrator;
mod builtins;
mod command;
mod files;
mod grants;
use crate::common::given;
mod widening;

fn write(dir: &Path, name: &str, text: &str) -> std::path::PathBuf {
    let path = dir.join(format!("{name}.toml"));
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    path
}

/// Loads a user's folder, without an administrator's.
fn load(user: &Path) -> Result<Vec<Arc<Policy>>, PolicyError> {
    countersign::policy::load(&Places {
        admin: user.join("no administrator"),
        user: user.to_owned(),
    })
}

/// The error of loading a folder with only this file.
fn load_error(name: &str, text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), name, text);
    load(dir.path()).unwrap_err().to_string()
}

/// A file with its own rules that lets private values be told.
const TELL: &str = "name = \"open\"\ncontract = \"analysis\"\n[data]\nprivate = \"tell\"\n";
