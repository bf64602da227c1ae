//! `countersign audit`: the log, without the dashboard.

mod anchored;
pub(super) mod anchors;
mod bundle;
mod desk;
mod erase;
mod export;
mod fields;
mod list;
mod meter;
mod playback;
mod prove;
mod prune;
mod question;
mod repair;
mod review;
mod show;
mod sign;
mod stats;
mod verify;

use std::path::Path;

use clap::Subcommand;

pub(super) use list::later;
pub(super) use question::not_for_hyphens;

use serde_json::json;

use crate::audit::query::Query;
use crate::audit::{Answers, AuditError, Basis, Faults, Log, Noted, Telling, gap, index_of};
use crate::error::Failure;
use crate::model::grouped;

use super::Globals;
use super::out::{state_dir, tell};
use meter::Meter;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The review screen in plain lines for screen readers and Braille displays
    #[arg(long)]
    pub plain: bool,
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// One line for each proposal, newest first
    List(list::Args),
    /// Everything the log knows of one proposal
    Show(show::Args),
    /// Write what a query selects for others: records, a table, or a bundle that can be checked
    Export(export::Args),
    /// Play the output of a run back in its timing
    Playback(playback::Args),
    /// How people decided, how agents fared, and how many drills were caught
    Stats(stats::Args),
    /// Whether the log is as it was written
    Verify(verify::Args),
    /// Prove to others that a record is in the log
    Prove(prove::Args),
    /// What all hosts of the desk did, as far as what they signed proves it
    Desk(desk::Args),
    /// Set aside what of a log is damaged, after a person at the terminal said so
    Repair(repair::Args),
    /// Erase contents of one proposal, after a person at the terminal said so
    Erase(erase::Args),
    /// Remove kept code and whole log segments that are older than `audit.retention_days`
    Prune(prune::Args),
}

const PLAIN: &str = "`--plain` belongs to the review screen: `countersign audit --plain`; the other commands print lines anyway";

/// Runs the command and returns the exit code.
pub fn run(args: &Args, globals: &Globals) -> Result<u8, Failure> {
    if args.plain && args.command.is_some() {
        return Err(Failure::usage(PLAIN.to_owned()));
    }
    // It reads no log of this machine.
    if let Some(Command::Desk(args)) = &args.command {
        return desk::run(args, globals);
    }
    let dir = state_dir(globals)?;
    // Who names a folder may have a copy before them that is to stay as it is.
    let watched = globals.state_dir.is_some() && !index_of(&dir).exists();
    let code = answer(args, globals, &dir);
    let made = index_of(&dir);
    if watched && made.exists() {
        tell(&format!(
            "made {}: derived from the log, and can be deleted; `countersign audit` makes none",
            made.display()
        ));
    }
    code
}

fn answer(args: &Args, globals: &Globals, dir: &Path) -> Result<u8, Failure> {
    let open = |none: u8| {
        let opened = Log::open(dir).map(|log| log.vouched(anchors::vouched(globals, dir)));
        opened.map_err(|e| match e {
            AuditError::None { .. } => Failure::with_code(
                none,
                format!("{e}; a dashboard makes one, --state-dir names another folder"),
            ),
            e => failed(&e),
        })
    };
    match &args.command {
        Some(Command::List(args)) => list::run(args, || open(1)),
        Some(Command::Show(args)) => show::run(args, &open(1)?),
        Some(Command::Export(args)) => export::run(args, || open(1), globals, dir),
        Some(Command::Playback(args)) => playback::run(args, &open(1)?),
        Some(Command::Stats(args)) => stats::run(args, &open(1)?),
        Some(Command::Verify(args)) => verify::run(args, &open(2)?, globals, dir),
        Some(Command::Prove(args)) => prove::run(args, &open(1)?, globals, dir),
        Some(Command::Repair(args)) => repair::run(args, &open(2)?, globals, dir),
        Some(Command::Erase(args)) => erase::run(args, &open(1)?, globals),
        Some(Command::Prune(args)) => prune::run(args, globals),
        Some(Command::Desk(args)) => desk::run(args, globals),
        None => review::run(args.plain, globals, dir),
    }
}

/// A log that is longer than this is read for more than a moment.
const LONG: u64 = 32 * 1024 * 1024;

/// Opens a log for the questions of one of these commands: the index of a short log is compared with all of it first.
/// Says so if that takes a while.
fn answers(log: &Log, command: &str) -> Result<Answers, Failure> {
    let by = format!("`audit {command}`");
    let opened = reading("once, for its index", |telling| {
        log.answers_compared(&by, telling)
    });
    opened.map_err(|e| failed(&e))
}

/// The same for what a query selects; `from_log`: the log itself is read for it.
fn answers_to(log: &Log, query: &Query, command: &str, from_log: bool) -> Result<Answers, Failure> {
    let by = format!("`audit {command}`");
    let opened = match from_log {
        true => reading("for this answer", |telling| log.answers_anew(telling)),
        false => reading("once, for its index", |telling| {
            log.answers_to(query, &by, telling)
        }),
    };
    opened.map_err(|e| failed(&e))
}

/// Says what the answers rest on, if that is an index that was not compared with the log for them.
fn tell_basis(answers: &Answers) {
    if let Basis::Index(noted) = answers.basis() {
        tell(&counted_from(noted.as_ref(), answers.records_read()));
    }
}

/// What a note says is printed as it is: it may be anybody's.
fn counted_from(noted: Option<&Noted>, records: Option<u64>) -> String {
    let compared = match noted {
        None => "and nothing says when that was last compared with the log".to_owned(),
        Some(Noted { through, at, by }) => {
            let of = records.map_or_else(String::new, |all| format!(" of {}", grouped(all)));
            format!(
                "last compared with the log {} through record {}{of} by {}",
                list::seconds(*at),
                grouped(*through),
                list::claim(by, 60)
            )
        }
    };
    format!("counted from the index, {compared}; `--from-log` reads the log itself")
}

/// The same for JSON.
fn basis_json(answers: &Answers) -> serde_json::Value {
    match answers.basis() {
        Basis::Log => json!({"source": "log"}),
        Basis::Compared => json!({"source": "index", "compared": true}),
        Basis::Index(last) => json!({"source": "index", "compared": false, "last_compared": last}),
    }
}

/// Opens a log for what others are to rely on: all of it is read. Says so if that takes a while.
fn evidence(log: &Log) -> Result<Answers, Failure> {
    let why = "what others rely on is not taken from its index";
    let opened = reading(why, |telling| log.answers_anew(telling));
    opened.map_err(|e| failed(&e))
}

/// Says that a long log is read, and how far that is.
fn reading<T>(why: &str, read: impl FnOnce(Telling<'_>) -> T) -> T {
    let meter = Meter::of("reading the log");
    let telling = |bytes, of| {
        if bytes == 0 && of > LONG {
            tell(&format!(
                "reading the whole log ({} MB), {why}",
                of / 1_000_000
            ));
        }
        meter.tell(bytes, of);
    };
    read(&telling)
}

fn failed(error: &AuditError) -> Failure {
    Failure::general(error.to_string())
}

/// Says what retention removed, so that no view of a log with a gap looks whole.
fn tell_gap(answers: &mut Answers) -> Result<(), Failure> {
    let removals = answers.removals().map_err(|e| failed(&e))?;
    if let Some(gap) = gap(&removals, &list::seconds) {
        tell(&gap);
    }
    Ok(())
}

/// Ends a command after it printed what precedes the damage.
fn whole(faults: &Faults) -> Result<u8, Failure> {
    let Some(first) = faults.first() else {
        return Ok(0);
    };
    if faults.index.as_ref() == Some(first) {
        return Err(Failure::general(format!(
            "the index was changed: {first}; it is removed, and what is shown is from the log"
        )));
    }
    let cut = match &faults.chain {
        Some(chain) if chain != first => ", and it ends early",
        // Others say that the log is not the one that was signed.
        Some(chain) if chain.line.is_some() || chain.file == "log" => ", what follows is not shown",
        _ => "",
    };
    Err(Failure::general(format!(
        "the log is damaged{cut}: {first}; `countersign audit verify` names what is wrong, up to where the chain breaks"
    )))
}
