//! Countersign: a person countersigns every piece of agent-written Python before it runs.
//!
//! The modules are ordered from the top down: each uses only those below it in this list
//! (`tests/it/architecture` checks this). ARCHITECTURE.md explains the flow.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "countersign builds on Linux only: its limits are enforced by the Linux kernel, and limits \
     that a system does not enforce are not pretended"
);

pub mod cli;

pub mod app;

pub mod mcp;

pub mod tui;

pub mod desk;

pub mod ipc;

pub mod figure;

pub mod executor;

pub mod child;

pub mod sandbox;

pub mod runtime;

pub mod analysis;

pub mod audit;

pub mod broker;

pub mod config;

pub mod policy;

pub mod ballot;

pub mod chart;

pub mod hook;

pub mod secrets;

pub mod model;

pub mod clock;
pub mod error;
pub mod paths;

/// Requirements of tests that a machine may not meet.
#[cfg(test)]
#[path = "../tests/common/given.rs"]
pub(crate) mod given;
