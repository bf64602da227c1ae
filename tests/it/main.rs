//! Tests of the whole program: one binary, a module for each promise.
//!
//! `cargo test --test it e2e` runs one module.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/asking.rs"]
mod asking;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/sandbox.rs"]
mod sandbox;
#[path = "../common/hostile.rs"]
mod texts;

/// The module's name in the samples.
mod model {
    pub use countersign::model::*;
}
#[path = "../../benches/audit/made.rs"]
mod made;
#[allow(dead_code)]
#[path = "../../src/audit/samples.rs"]
mod samples;

mod analysis_differential;
mod architecture;
mod attacks;
mod audit;
mod bundles;
mod check_cli;
mod cli;
mod clients;
mod columns;
mod config;
mod contracts;
mod descriptors;
mod desk;
mod dist;
mod drawn;
mod drills;
mod e2e;
mod edited_index;
mod edits;
mod erasing;
mod exports;
mod files;
mod hints;
mod host;
mod hostile;
mod kills;
mod lint;
mod mcp;
mod mouse;
mod nodes;
mod notices;
mod pauses;
mod plain;
mod plausible;
mod policy;
mod proofs;
mod prune;
mod questions;
mod recording;
mod recovery;
mod refusals;
mod replicate;
mod review;
mod rules;
mod runner;
mod runtime;
mod sandbox_attacks;
mod saving;
mod schema;
mod seats;
mod secrets;
mod seeds;
mod setting;
mod slips;
mod socket;
mod status;
mod steps;
mod study;
mod sums;
mod syntax;
mod tampering;
mod terminal;
mod unbound;
mod votes;
