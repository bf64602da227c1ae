//! What is known of a usable Python.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::model::Digest;

/// A Python that answered when it was asked about itself. All paths are real paths: no shim,
/// no symlink.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PythonEnv {
    /// `realpath(sys.executable)`: the interpreter itself, never a shell shim.
    pub executable: PathBuf,
    /// `sys.version_info[:3]`.
    pub version: (u32, u32, u32),
    /// `sys.base_prefix`: where the standard library lies.
    pub base_prefix: PathBuf,
    /// `sys.prefix`: the environment.
    pub prefix: PathBuf,
    /// What the child's `sys.path` is: standard library first, then site-packages folders.
    pub sys_path: Vec<PathBuf>,
    /// Distribution name (normalised, PEP 503) and version of what is installed.
    pub distributions: Vec<(String, String)>,
    /// Of an interpreter that was only asked: SHA-256 over its version, paths and distributions. Of a
    /// [`super::Measured`] one: also over the contents of every file that a run can load of it.
    pub digest: Digest,
}

impl PythonEnv {
    /// `Python 3.11.7, 27 packages`.
    pub fn label(&self) -> String {
        let (a, b, c) = self.version;
        format!("Python {a}.{b}.{c}, {} packages", self.distributions.len())
    }
}
