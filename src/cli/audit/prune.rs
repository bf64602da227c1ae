//! `countersign audit prune`.

use jiff::Timestamp;

use crate::audit::kept;
use crate::config::{self, Surroundings};
use crate::error::Failure;
use crate::model::visible;

use super::super::Globals;
use super::super::out::print;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, globals: &Globals) -> Result<u8, Failure> {
    let usage = |e: &dyn std::fmt::Display| Failure::usage(e.to_string());
    let around = Surroundings::of_process().map_err(|e| usage(&e))?;
    let config = config::load_in(&globals.options(), &around).map_err(|e| usage(&e))?;
    let days = config.audit.retention_days;
    if days == 0 {
        return Err(Failure::usage(
            "everything is kept: `retention_days` under `[audit]` is 0; a number of days limits it",
        ));
    }
    let state = &config.paths.state_dir;
    let old = kept::outdated(state, days, Timestamp::now())
        .map_err(|e| Failure::general(format!("cannot list {}: {e}", state.display())))?;
    for path in &old {
        if !args.dry_run {
            std::fs::remove_file(path)
                .map_err(|e| Failure::general(format!("cannot remove {}: {e}", path.display())))?;
        }
        print(|out| writeln!(out, "{}", visible(&path.display().to_string())))?;
    }
    let done = if args.dry_run {
        "would be removed"
    } else {
        "removed"
    };
    let s = if old.len() == 1 { "" } else { "s" };
    eprintln!(
        "{} kept run{s} older than {days} days {done}; the log keeps its records",
        old.len()
    );
    Ok(0)
}
