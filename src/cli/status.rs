//! `countersign status`: one line for a status bar.

use serde_json::json;

use crate::audit::{AuditError, Log, Summary};
use crate::error::Failure;

use super::Globals;
use super::out::{print, print_json, state_dir};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print a JSON object instead
    #[arg(long)]
    json: bool,
}

/// Runs the command; the value is the exit code: 0 with a dashboard and a sound log, else 1.
pub fn run(args: &Args, globals: &Globals) -> Result<u8, Failure> {
    let dir = state_dir(globals)?;
    let summary = match Log::open(&dir).and_then(|log| log.summary()) {
        Ok(summary) => Some(summary),
        Err(AuditError::None { .. }) => None,
        Err(e) => return Err(Failure::general(e.to_string())),
    };
    let log = match &summary {
        None => "none",
        Some(s) if s.faults.first().is_some() => "damaged",
        Some(_) => "ok",
    };
    let here = summary.as_ref().filter(|s| s.dashboard);
    if args.json {
        let line = json!({
            "dashboard": here.is_some(),
            "pid": here.and_then(|s| s.pid),
            // Without a dashboard nobody can decide: what it left is pending no more.
            "pending": here.map_or(0, |s| s.pending),
            "running": here.map_or(0, |s| s.running),
            "records": summary.as_ref().map_or(0, |s| s.records),
            "log": log,
        });
        print_json(&line.to_string())?;
    } else {
        print(|out| writeln!(out, "{}", line(here, log)))?;
    }
    if let Some(damage) = summary.as_ref().and_then(|s| s.faults.first()) {
        return Err(Failure::general(format!("the log is damaged: {damage}")));
    }
    Ok(u8::from(here.is_none()))
}

fn line(here: Option<&Summary>, log: &str) -> String {
    match here {
        Some(s) => format!("{} pending · {} running · log {log}", s.pending, s.running),
        None => format!("no dashboard · log {log}"),
    }
}
