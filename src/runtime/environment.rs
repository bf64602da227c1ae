//! Describes a usable Python.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::model::Digest;

/// A Python that answered the questions about itself. All paths are real paths: no shim, no
/// symlink.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PythonEnv {
    /// `realpath(sys.executable)`: the interpreter itself, never a shell shim.
    pub executable: PathBuf,
    /// `sys.version_info[:3]`.
    pub version: (u32, u32, u32),
    /// `sys.base_prefix`: the parent of the standard library.
    pub base_prefix: PathBuf,
    /// `sys.prefix`: the environment.
    pub prefix: PathBuf,
    /// The child's `sys.path`: first the standard library, then site-packages folders.
    pub sys_path: Vec<PathBuf>,
    /// The installed distributions, as normalised name (PEP 503) and version.
    pub distributions: Vec<(String, String)>,
    /// SHA-256 over version, paths and distributions. For a [`super::Measured`] environment it also
    /// covers the contents of every file that a run can load.
    pub digest: Digest,
}

impl PythonEnv {
    /// The given top-level modules that it does not have.
    pub fn lacking<'a>(&self, modules: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
        let names = self.tops();
        let lacking = modules.filter(|module| !names.contains(*module));
        lacking.map(str::to_owned).collect()
    }

    /// The names of the top-level modules found in its module folders.
    pub fn tops(&self) -> BTreeSet<String> {
        self.sys_path
            .iter()
            .filter_map(|folder| fs::read_dir(folder).ok())
            .flat_map(|entries| entries.flatten())
            .filter_map(|entry| entry.file_name().into_string().ok())
            // Such as a package's folder, `six.py` or `_cffi.cpython-311-x86_64-linux-gnu.so`.
            .map(|name| name.split('.').next().unwrap_or_default().to_owned())
            .collect()
    }

    /// The files and folders that the interpreter needs, without duplicates.
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

    /// For example `Python 3.11.7, 27 packages`.
    pub fn label(&self) -> String {
        let (a, b, c) = self.version;
        format!("Python {a}.{b}.{c}, {} packages", self.distributions.len())
    }
}
