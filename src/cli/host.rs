//! `countersign host`: a dashboard without a screen.

use crate::app::{self, Role};
use crate::error::Failure;

use super::Globals;
use super::out::tell;

/// Serves agents and reviewers until a signal, and returns the exit code. Standard input is not read.
pub fn run(globals: &Globals) -> Result<u8, Failure> {
    // No other process of our uid may attach to us or read our memory (as far as guide.md
    // promises).
    nix::sys::prctl::set_dumpable(false)
        .map_err(|e| Failure::general(format!("cannot shut others out of this process: {e}")))?;
    let config = globals.load()?;
    app::descriptors::make_room(&app::descriptors::bounds(&config))?;
    let reading = |bytes: u64| {
        tell(&format!(
            "reading the whole log ({} MB): there is no index that is of it",
            bytes / 1_000_000
        ));
    };
    let setup = app::prepare(&config, Role::Host, true, &reading)?;
    app::host(&config, setup, &tell)
}
