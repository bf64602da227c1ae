//! The shell of `countersign audit`: screen 2 alone, over a log that is only read.
//!
//! Nothing here can decide: there is no core, no socket, no queue, no executor and no writer of a log, and what the
//! screen can ask for ([`Reading`]) has no decision in it. The architecture test checks what this folder may name.

mod setup;
mod shell;
mod vouch;

use crate::error::Failure;

pub use setup::{Setup, prepare};

/// Opens the review screen until a person leaves it. Returns the exit code.
///
/// # Errors
/// What prevented the start, in a sentence for a person.
pub fn run(setup: Setup) -> Result<u8, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|e| Failure::general(format!("cannot start: {e}")))?;
    let apart = setup.apart();
    let ended = runtime.block_on(shell::run(setup));
    // What is still being read is of no use to anybody.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    apart.remove();
    ended
}
