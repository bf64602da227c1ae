//! The shared suites in tier `process`. The guard is the same in every tier and tested in this one.

pub const TIER: crate::model::Tier = crate::model::Tier::Process;
/// Whether runs find a waiting slot.
pub const WARM: bool = false;

use crate::executor::tests::bench::{begin, run_spec};

#[path = "artifact.rs"]
mod artifacts;
#[path = "attacks.rs"]
mod attacks;
#[path = "checkpoint.rs"]
mod checkpoints;
#[path = "convert.rs"]
mod convert;
#[path = "digest.rs"]
mod digest;
#[path = "guard.rs"]
mod guard;
#[path = "inside.rs"]
mod inside;
#[path = "layers.rs"]
mod layers;
#[path = "lifetime.rs"]
mod lifetime;
#[path = "refusal.rs"]
mod refusal;
#[path = "soak.rs"]
mod soak;
#[path = "table.rs"]
mod table;
#[path = "usage.rs"]
mod usage;
