//! The suites against tier `kernel`, and what only it stops.

pub const TIER: crate::model::Tier = crate::model::Tier::Kernel;
/// Whether runs find a place that waits.
pub const WARM: bool = false;

use super::test_bench::{begin, run_spec};

#[path = "artifact_tests.rs"]
mod artifacts;
#[path = "attacks_tests.rs"]
mod attacks;
#[path = "convert_tests.rs"]
mod convert;
#[path = "jail_tests.rs"]
mod jail;
#[path = "layers_tests.rs"]
mod layers;
#[path = "library_tests.rs"]
mod library;
#[path = "lifetime_tests.rs"]
mod lifetime;
#[path = "ordinary_tests.rs"]
mod ordinary;
#[path = "reaching_tests.rs"]
mod reaching;
#[path = "refusal_tests.rs"]
mod refusal;
#[path = "soak_tests.rs"]
mod soak;
#[path = "table_tests.rs"]
mod table;
#[path = "value_tests.rs"]
mod value;
