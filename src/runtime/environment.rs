//! What is known of a usable Python.

use std::collections::BTreeSet;
use std::fs;
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
    /// Which of these top-level modules it does not have.
    pub fn lacking<'a>(&self, modules: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
        let names = self.tops();
        let lacking = modules.filter(|module| !names.contains(*module));
        lacking.map(str::to_owned).collect()
    }

    /// What stands where top-level modules are looked for, by the names they would have.
    pub fn tops(&self) -> BTreeSet<String> {
        self.sys_path
            .iter()
            .filter_map(|folder| fs::read_dir(folder).ok())
            .flat_map(|entries| entries.flatten())
            .filter_map(|entry| entry.file_name().into_string().ok())
            // A package's folder, `six.py`, `_cffi.cpython-311-x86_64-linux-gnu.so`.
            .map(|name| name.split('.').next().unwrap_or_default().to_owned())
            .collect()
    }

    /// Files and folders that the interpreter needs, each once.
    pub fn needs(&self) -> Vec<PathBuf> {
        let mut needs: Vec<PathBuf> = [&self.executable, &self.base_prefix, &self.prefix]
            .into_iter()
            .chain(&self.sys_path)
            // `sys.path` names a zip of the standard library that most installations lack.
            .filter(|path| path.exists())
            .cloned()
            .collect();
        needs.sort();
        needs.dedup();
        needs
    }

    /// `Python 3.11.7, 27 packages`.
    pub fn label(&self) -> String {
        let (a, b, c) = self.version;
        format!("Python {a}.{b}.{c}, {} packages", self.distributions.len())
    }
}
