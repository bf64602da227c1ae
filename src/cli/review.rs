//! `countersign review`: a reviewer's seat.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use crate::app;
use crate::app::Role;
use crate::app::seat::{Sitting, Where};
use crate::error::Failure;

use super::Globals;
use super::out::{is_seen, needs_size, tell};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where the host listens for reviewers; by default all hosts of `desk.url`, or that of `desk.socket`, as config.toml says
    pub host_socket: Option<PathBuf>,
    /// Plain lines for screen readers and Braille displays, instead of a drawn screen
    #[arg(long)]
    pub plain: bool,
}

/// Opens a seat and returns the exit code.
pub fn run(args: &Args, globals: &Globals) -> Result<u8, Failure> {
    if !std::io::stdin().is_terminal() || !is_seen() {
        return Err(Failure::usage(
            "a reviewer's seat needs a terminal on standard input and output: only keys pressed there can vote",
        ));
    }
    if !args.plain {
        needs_size(", and --plain needs none")?;
    }
    nix::sys::prctl::set_dumpable(false)
        .map_err(|e| Failure::general(format!("cannot shut others out of this process: {e}")))?;
    let mut config = globals.load()?;
    let desk = config.desk.as_ref();
    let has_url = desk.is_some_and(|desk| desk.url.is_some());
    let configured = desk
        .and_then(|desk| desk.socket.clone())
        .filter(|_| !has_url);
    let place = match args.host_socket.clone().or(configured) {
        Some(socket) => Where::Socket(socket),
        None => Where::Engine,
    };
    let sitting = Sitting::prepare(&config, &place)?;
    // A seat's log is its own: a dashboard of the same person may be open beside it.
    config.paths.state_dir = config.paths.state_dir.join("review");
    config.datasets.clear();
    config.drills.every = 0;
    let reading = |bytes: u64| {
        tell(&format!(
            "reading the log of this seat ({} MB)",
            bytes / 1_000_000
        ));
    };
    app::run(app::prepare(
        &config,
        Role::Seat(sitting),
        args.plain,
        &reading,
    )?)
}
