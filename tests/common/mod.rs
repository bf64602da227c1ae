//! A dashboard in a real pseudo-terminal, and an agent on its real socket.
//!
//! Nothing here can grant: tests press keys, as a person does. Tests wait for a visible effect or
//! an answer, never for a fixed time.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod agent;
pub mod dash;
pub mod given;
pub mod interpreters;
pub mod processes;
pub mod python;
/// Not in benchmarks: it takes time.
#[cfg(test)]
pub mod schema;
