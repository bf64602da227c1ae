//! The shared suites in tier `kernel`, and attacks that only this tier stops.

pub const TIER: crate::model::Tier = crate::model::Tier::Kernel;
/// Whether runs find a waiting slot.
pub const WARM: bool = false;

use crate::executor::tests::bench::{begin, run_spec};

#[path = "artifact.rs"]
mod artifacts;
#[path = "attacks.rs"]
mod attacks;
#[path = "convert.rs"]
mod convert;
#[path = "digest.rs"]
mod digest;
#[path = "inside.rs"]
mod inside;
#[path = "jail.rs"]
mod jail;
#[path = "layers.rs"]
mod layers;
#[path = "library.rs"]
mod library;
#[path = "lifetime.rs"]
mod lifetime;
#[path = "ordinary.rs"]
mod ordinary;
#[path = "reaching.rs"]
mod reaching;
#[path = "refusal.rs"]
mod refusal;
#[path = "soak.rs"]
mod soak;
#[path = "table.rs"]
mod table;
#[path = "usage.rs"]
mod usage;
#[path = "value.rs"]
mod value;
