//! `countersign audit prune`.

use jiff::Timestamp;

use crate::app::reviewer;
use crate::audit::{self, AuditError, Log, Pruned, kept};
use crate::config::{self, Surroundings};
use crate::error::Failure;
use crate::model::visible;

use super::super::Globals;
use super::super::out::{print, tell};
use super::failed;

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
    let now = Timestamp::now();
    let old = kept::outdated(state, days, now)
        .map_err(|e| Failure::general(format!("cannot list {}: {e}", state.display())))?;
    // The log first: if it cannot be written, nothing is removed.
    let records = match (Log::open(state), audit::older_than(days, now)) {
        (Err(AuditError::None { .. }), _) | (_, None) => Pruned::default(),
        (Err(e), _) => return Err(failed(&e)),
        (Ok(log), Some(before)) if args.dry_run => {
            audit::outdated_segments(&log, before).map_err(|e| failed(&e))?
        }
        (Ok(log), Some(before)) => {
            audit::prune(&log, before, days, reviewer::here()).map_err(|e| failed(&e))?
        }
    };
    for path in &old {
        if !args.dry_run {
            std::fs::remove_file(path)
                .map_err(|e| Failure::general(format!("cannot remove {}: {e}", path.display())))?;
        }
    }
    print(|out| {
        for path in &old {
            writeln!(out, "{}", visible(&path.display().to_string()))?;
        }
        for segment in &records.segments {
            let path = state.join(&segment.file);
            writeln!(out, "{}", visible(&path.display().to_string()))?;
        }
        Ok(())
    })?;
    let done = if args.dry_run {
        "would be removed"
    } else {
        "removed"
    };
    tell(&format!("older than {days} days, {done}:"));
    tell(&format!("  {}", count(old.len() as u64, "kept run")));
    for segment in &records.segments {
        let said = count(segment.records, "record");
        tell(&format!(
            "  {} of {said}, {} bytes, the newest of {}",
            segment.file, segment.bytes, segment.newest
        ));
    }
    let blobs = count(records.blobs, "blob");
    tell(&format!(
        "  {blobs} of {} bytes that no other record names",
        records.blob_bytes
    ));
    if records.blobs_stay {
        tell("  no blobs, since some records are of a later version");
    }
    if !args.dry_run && !records.segments.is_empty() {
        tell("the log has a record of it, and `audit verify` goes on from there");
    }
    Ok(0)
}

fn count(n: u64, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{n} {what}{s}")
}
