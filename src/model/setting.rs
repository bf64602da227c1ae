//! What is known of a run before its code is judged.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Tier;

/// What a verdict rests on beside the code and the policy. What is not known judges nothing: the default
/// knows nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The tier that the run would have at least; the policy's counts where it is stronger.
    pub tier: Option<Tier>,
    /// The names that the proposal's inputs bind.
    pub inputs: Option<BTreeSet<String>>,
    /// The data sets that an input may name.
    pub datasets: BTreeSet<String>,
    pub python: Option<Installed>,
}

/// What the Python of the runs is and lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// `sys.version_info[:2]`.
    pub version: (u32, u32),
    /// Top-level modules that some policy lists and that are not here.
    pub missing: BTreeSet<String>,
    /// Top-level modules that are here, beside those of the standard library; none where nobody looked.
    pub present: BTreeSet<String>,
    /// The releases of the distributions that are here, by their names.
    pub releases: BTreeMap<String, String>,
}

impl Installed {
    /// Whether a module, by its dotted path, is missing here.
    pub fn lacks(&self, path: &str) -> bool {
        let top = path.split('.').next().unwrap_or(path);
        self.missing.contains(top)
    }

    /// Whether a top-level module that nobody lists is missing here, as far as somebody looked.
    pub fn surely_lacks(&self, top: &str) -> bool {
        !self.present.is_empty() && !self.present.contains(top)
    }
}
