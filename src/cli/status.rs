//! `countersign status`: one line for a status bar.

mod bar;

use serde_json::json;

use crate::audit::{AuditError, Log, Summary};
use crate::error::Failure;
use crate::model::visible;

use super::Globals;
use super::audit::{anchors, later};
use super::out::{print, print_json, state_dir, tell};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print a JSON object instead
    #[arg(long)]
    json: bool,
    /// One line now and one at each change, until nobody reads it
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// How a bar reads the lines of --watch; json has text, tooltip and class, as waybar wants it
    #[arg(long, value_enum, default_value = "text", requires = "watch")]
    format: Format,
}

/// The form of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    Text,
    Json,
}

const DOWN: &str = "its log is down, and nothing is granted or runs: the screen says why; close it and start \
                    it again";

/// Runs the command and returns the exit code: 0 with a dashboard and an undamaged log, else 1.
pub fn run(args: &Args, globals: &Globals) -> Result<u8, Failure> {
    let dir = state_dir(globals)?;
    if args.watch {
        return bar::watch(&dir, args.format);
    }
    let opened = Log::open(&dir).map(|log| log.vouched(anchors::vouched(globals, &dir)));
    let summary = match opened.and_then(|log| log.answers()?.summary()) {
        Ok(summary) => Some(summary),
        Err(AuditError::None { .. }) => None,
        Err(e) => return Err(Failure::general(e.to_string())),
    };
    let here = summary.as_ref().and_then(|s| s.dashboard);
    let down = here.is_some_and(|d| d.down);
    let damage = summary.as_ref().and_then(|s| s.faults.first());
    let log = match (&summary, damage) {
        (None, _) => "none",
        _ if down => "down",
        (_, Some(_)) => "damaged",
        _ => "ok",
    };
    // Nobody can decide without a dashboard, or if the dashboard cannot record: then proposals that
    // the log has as open are no longer pending.
    let deciding = summary.as_ref().filter(|_| here.is_some() && !down);
    let count = |of: fn(&Summary) -> u64| deciding.map_or(0, of);
    let (pending, running) = (count(|s| s.pending), count(|s| s.running));
    let store = anchors::Place::default().store(globals, &dir);
    let fault = store.fault();
    if args.json {
        let key = store.key().ok().flatten();
        let begun = key.as_ref().and_then(|key| store.begun(key).ok().flatten());
        let signed = key.and_then(|key| store.latest(&key).ok().flatten());
        let signed = signed.map_or(0, |signed| signed.checkpoint.size);
        let line = json!({
            "dashboard": here.is_some(),
            "pid": here.and_then(|d| d.pid),
            "pending": pending,
            "running": running,
            "records": summary.as_ref().map_or(0, |s| s.records),
            "unknown": summary.as_ref().map_or(0, |s| s.unknown),
            "log": log,
            "checkpoints": store.dir().display().to_string(),
            "signed": signed,
            "signed_from": begun.as_ref().map(|begun| begun.from),
            "signed_since": begun.as_ref().map(|begun| begun.at),
            "checkpoints_fault": fault.as_deref().map(visible),
        });
        print_json(&line.to_string())?;
    } else {
        print(|out| match here {
            Some(_) => writeln!(out, "{pending} pending · {running} running · log {log}"),
            None => writeln!(out, "no dashboard · log {log}"),
        })?;
    }
    if let Some(why) = &fault {
        tell(&format!("checkpoints of the log: {}", visible(why)));
    }
    if let Some(unknown) = summary.as_ref().map(|s| s.unknown).filter(|n| *n > 0) {
        tell(&later(unknown));
    }
    let damaged = damage.map(|damage| format!("the log is damaged: {damage}"));
    if let Some(here) = here.filter(|d| d.down) {
        let pid = here
            .pid
            .map_or(String::new(), |pid| format!(" (pid {pid})"));
        let mut failure = Failure::general(format!("the dashboard{pid} is there, and {DOWN}"));
        failure.more.extend(damaged);
        return Err(failure);
    }
    match damaged {
        Some(damaged) => Err(Failure::general(damaged)),
        None => Ok(u8::from(here.is_none())),
    }
}
