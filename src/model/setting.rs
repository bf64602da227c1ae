//! What is known about a run when its code is judged.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Tier;

/// What a verdict depends on besides the code and the policy. Rules skip what is unknown; the default knows
/// nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The tier that the run will at least have. A policy can require a stronger one.
    pub tier: Option<Tier>,
    /// The names that the proposal's inputs bind.
    pub inputs: Option<BTreeSet<String>>,
    /// The data sets that an input may name.
    pub datasets: BTreeSet<String>,
    pub python: Option<Installed>,
}

/// The Python that runs use: its version and its modules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// `sys.version_info[:2]`.
    pub version: (u32, u32),
    /// Top-level modules that some policy lists and that are not installed.
    pub missing: BTreeSet<String>,
    /// Top-level modules that are installed, without the standard library; empty if unknown.
    pub present: BTreeSet<String>,
    /// The releases of the distributions that are here, by their names.
    pub releases: BTreeMap<String, String>,
}

impl Installed {
    /// Whether a policy lists the module with this dotted path and it is not installed.
    pub fn lacks(&self, path: &str) -> bool {
        let top = path.split('.').next().unwrap_or(path);
        self.missing.contains(top)
    }

    /// Whether a top-level module that no policy lists is certainly not installed.
    pub fn surely_lacks(&self, top: &str) -> bool {
        !self.present.is_empty() && !self.present.contains(top)
    }
}
