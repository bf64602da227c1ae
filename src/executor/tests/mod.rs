//! The executor's test suites, with a real Python and the real binary as helper. `kernel`,
//! `process` and `warm` run the shared suites, each in its tier.

#[path = "../../../tests/common/sandbox.rs"]
pub mod attack_table;
pub mod bench;
mod chart;
mod counting;
mod disclosed;
mod ending;
pub mod entry;
mod environment;
mod event;
mod feature;
mod formats;
mod kernel;
pub mod look;
mod missing;
mod private;
mod process;
mod scoped;
mod spelled;
mod users;
mod warm;
