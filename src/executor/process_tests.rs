//! The suites against tier `process`; the guard is the same in every tier, and tested in this one.

pub const TIER: crate::model::Tier = crate::model::Tier::Process;
/// Whether runs find a place that waits.
pub const WARM: bool = false;

use super::test_bench::{begin, run_spec};

#[path = "artifact_tests.rs"]
mod artifacts;
#[path = "attacks_tests.rs"]
mod attacks;
#[path = "checkpoint_tests.rs"]
mod checkpoints;
#[path = "convert_tests.rs"]
mod convert;
#[path = "guard_tests.rs"]
mod guard;
#[path = "layers_tests.rs"]
mod layers;
#[path = "library_tests.rs"]
mod library;
#[path = "lifetime_tests.rs"]
mod lifetime;
#[path = "refusal_tests.rs"]
mod refusal;
#[path = "soak_tests.rs"]
mod soak;
#[path = "table_tests.rs"]
mod table;
