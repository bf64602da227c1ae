//! The shared suites in tier `kernel`, and attacks that only this tier stops. What a library does and what code gets from the
//! guard is tested in `warm`: a cold start differs by its start alone, which is most of its time.

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
