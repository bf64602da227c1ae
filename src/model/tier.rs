//! Isolation tiers (protocol.md §6).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How strongly a run is confined, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    Process,
    Kernel,
    Container,
    Microvm,
}

impl Tier {
    pub const ALL: [Tier; 4] = [Self::Process, Self::Kernel, Self::Container, Self::Microvm];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Kernel => "kernel",
            Self::Container => "container",
            Self::Microvm => "microvm",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The name is not a tier.
#[derive(Debug, thiserror::Error)]
#[error("unknown tier `{0}`; the tiers are process, kernel, container, microvm")]
pub struct UnknownTier(pub String);

impl FromStr for Tier {
    type Err = UnknownTier;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|t| t.as_str() == s)
            .ok_or_else(|| UnknownTier(s.to_owned()))
    }
}

/// A tier that this machine supports, as found by a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preflight {
    pub tier: Tier,
    /// The layers that confine a run, as read from outside a confined process.
    pub layers: Vec<String>,
    /// What the tier leaves open and a person who grants should know, in a few words each.
    pub does_not_stop: Vec<String>,
}
