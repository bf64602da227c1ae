//! `countersign audit prune`.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use clap::ValueEnum;
use jiff::Timestamp;

use crate::app::reviewer;
use crate::audit::query::Query;
use crate::audit::{self, AuditError, Erasure, Log, Order, Pruned, Store, kept};
use crate::config::{self, Config, Surroundings};
use crate::error::Failure;
use crate::model::{ErasedPart, ProposalId, visible};
use crate::secrets::Secrets;

use super::super::out::{print, tell};
use super::super::{Globals, amounts};
use super::list::seconds;
use super::{failed, sign, whole};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,
    /// Remove only what is older than this, which is no less than `audit.retention_days`, whatever it takes: 30, 30d, 4w
    #[arg(long, value_name = "DAYS", value_parser = amounts::days)]
    older_than: Option<u64>,
    /// Remove no more segments once the log takes at most this many bytes: 500000000, 500MB, 2GB
    #[arg(long, value_name = "BYTES", value_parser = amounts::bytes)]
    down_to: Option<u64>,
    /// Go by this machine's clock, also where the log's own time is behind it
    #[arg(long)]
    by_the_clock: bool,
    /// What to remove
    #[arg(long, value_enum, default_value = "all")]
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Kept code, segments, and the blobs that no other record names
    All,
    /// Kept code only
    Code,
    /// Segments and their blobs only
    Log,
}

pub fn run(args: &Args, globals: &Globals) -> Result<u8, Failure> {
    let usage = |e: &dyn std::fmt::Display| Failure::usage(e.to_string());
    let around = Surroundings::of_process().map_err(|e| usage(&e))?;
    let config = config::load_in(&globals.options(), &around).map_err(|e| usage(&e))?;
    let least = config.audit.retention_days;
    let state = &config.paths.state_dir;
    let log = match Log::open(state) {
        Err(AuditError::None { .. }) => None,
        log => Some(log.map_err(|e| failed(&e))?),
    };
    let now = match (&log, args.by_the_clock) {
        (Some(log), false) => time(log, &config)?,
        _ => Timestamp::now(),
    };
    let most = Some(config.audit.retention_bytes).filter(|bytes| *bytes > 0);
    let kinds = kinds(&config, now);
    if least == 0 && most.is_none() && kinds.is_empty() {
        return Err(Failure::usage(
            "everything is kept: `retention_days` and `retention_bytes` under `[audit]` are 0, and `[audit.retention]` is \
             empty; a number of days or of bytes limits it",
        ));
    }
    if least == 0 && args.older_than.is_some() {
        return Err(Failure::usage(
            "--older-than is for `retention_days` under `[audit]`, which is 0",
        ));
    }
    let days = args.older_than.unwrap_or(least);
    if days < least {
        return Err(Failure::usage(format!(
            "--older-than {days} is less than `retention_days` under `[audit]`, which keeps {least} days"
        )));
    }
    let hold = &config.audit.hold;
    let held = held(hold, log.as_ref())?;
    let mut old = match args.kind {
        Kind::Log => Vec::new(),
        _ if days == 0 => Vec::new(),
        Kind::All | Kind::Code => kept::outdated(state, days, now)
            .map_err(|e| Failure::general(format!("cannot list {}: {e}", state.display())))?,
    };
    let all = old.len();
    old.retain(|path| kept::run_of(path).is_none_or(|id| !held.contains(&id)));
    let stays = all - old.len();
    // The log first: if it cannot be written, nothing is removed.
    let before = audit::older_than(days, now).filter(|_| days > 0);
    // With an age of one's own the bytes say nothing: less goes than the configuration allows.
    let most = most.filter(|_| args.older_than.is_none());
    let store = config.audit.checkpoints.as_deref();
    let store = store.map_or_else(|| Store::beside(state), Store::at);
    // Flags remove less.
    let by_kind = args.kind == Kind::All && args.older_than.is_none() && args.down_to.is_none();
    let by_kind = log.clone().filter(|_| by_kind && !kinds.is_empty());
    let held_there = held.clone();
    let records = match log {
        None => Pruned::default(),
        _ if args.kind == Kind::Code => Pruned::default(),
        Some(log) => {
            let order = Order::of(before, most)
                .log_only(args.kind == Kind::Log)
                .signed_in(store)
                .down_to(args.down_to)
                .hold(hold, held)
                .redacts(Secrets::here(config.audit.secrets.iter().cloned()));
            match args.dry_run {
                true => audit::outdated_segments(&log, order),
                false => audit::prune(&log, order, days, reviewer::here()),
            }
            .map_err(|e| failed(&e))?
        }
    };
    let erased = match by_kind {
        None => None,
        Some(log) => {
            let limits = kinds.iter().map(|(part, (_, before))| (*part, *before));
            let planned = log.outdated_contents(&limits.collect(), &held_there, args.dry_run);
            let planned = planned.map_err(|e| failed(&e))?;
            planned
                .map(|erasure| erase(erasure, &kinds, args.dry_run))
                .transpose()?
        }
    };
    let any_erased = erased.is_some();
    old.retain(|path| !records.kept.contains(path));
    for path in &old {
        if !args.dry_run {
            std::fs::remove_file(path)
                .map_err(|e| Failure::general(format!("cannot remove {}: {e}", path.display())))?;
        }
    }
    print(|out| {
        for path in old.iter().chain(&records.kept) {
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
    let limits = [
        before.map(|_| format!("older than {days} days")),
        most.map(|most| format!("beyond {most} bytes in all")),
    ];
    let limits = limits
        .into_iter()
        .chain([(!kinds.is_empty()).then(|| words(&kinds))]);
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    tell(&format!("{}, {done}:", limits.join(" or ")));
    let kept = old.len() + records.kept.len();
    tell(&format!("  {}", count(kept as u64, "kept run")));
    for segment in &records.segments {
        let said = count(segment.records, "record");
        let last = segment.first_seq + segment.records - 1;
        tell(&format!(
            "  {} of {said} (seq {}-{last}), {} bytes, of {} to {}",
            segment.file, segment.first_seq, segment.bytes, segment.oldest, segment.newest
        ));
    }
    let blobs = count(records.blobs, "blob");
    tell(&format!(
        "  {blobs} of {} bytes that no other record names",
        records.blob_bytes
    ));
    if let Some(erased) = erased {
        tell(&erased);
    }
    if records.blobs_stay {
        tell("  no blobs, since some records are of a later version");
    }
    for query in hold {
        tell(&format!("on hold: {query}"));
    }
    if let Some(held) = &records.held {
        let proposals = count(held.proposals, "proposal");
        tell(&format!(
            "  {} has {proposals} of these: it stays, and so does everything after it",
            held.file
        ));
    }
    if stays > 0 {
        let stay = count(stays as u64, "kept run");
        tell(&format!("  {stay} of these stay"));
    }
    if !args.dry_run && (!records.segments.is_empty() || any_erased) {
        sign::now(&config, state);
    }
    if !args.dry_run && !records.segments.is_empty() {
        tell("the log has a record of it, and `audit verify` goes on from there");
    }
    Ok(0)
}

/// What time it is for retention: a clock that was set ahead must not make everything old.
fn time(log: &Log, config: &Config) -> Result<Timestamp, Failure> {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let now = Timestamp::now();
    let kinds = config.audit.retention;
    let all = [
        config.audit.retention_days,
        kinds.code,
        kinds.output,
        kinds.files,
    ];
    let Some(shortest) = all.into_iter().filter(|days| *days > 0).min() else {
        return Ok(now);
    };
    // A wrong clock costs a tenth of the shortest time.
    let tenth = u32::try_from(shortest / 10).unwrap_or(u32::MAX).max(1);
    let own = audit::own_time(log, DAY.saturating_mul(tenth)).map_err(|e| failed(&e))?;
    let own = own.unwrap_or(now);
    let behind = now.duration_since(own).as_hours() / 24;
    if behind > 0 {
        tell(&format!(
            "by the log's own time it is {}, {} before this machine's clock: the clock was set ahead, or nothing was recorded \
             for long; what is younger by the log stays, and --by-the-clock goes by the clock",
            seconds(own),
            count(behind.unsigned_abs(), "day")
        ));
    }
    Ok(own)
}

/// What a legal hold selects. A query that cannot be read, or a log that is damaged, stops everything.
pub(super) fn held(hold: &[String], log: Option<&Log>) -> Result<HashSet<ProposalId>, Failure> {
    let mut held = HashSet::new();
    let (Some(log), false) = (log, hold.is_empty()) else {
        return Ok(held);
    };
    let mut answers = log.answers_without_index().map_err(|e| failed(&e))?;
    for text in hold {
        let query = Query::parse_lasting(&visible(text)).map_err(|e| {
            let [question, marks] = e.marked();
            Failure::usage(format!(
                "`hold` under `[audit]` cannot be read, so nothing is removed: {e}"
            ))
            .and(question)
            .and(marks)
        })?;
        let found = answers.each(&query, usize::MAX, |logged| {
            held.insert(logged.id);
            Ok::<(), ()>(())
        });
        let _ = found.map_err(|e| failed(&e))?;
    }
    whole(answers.faults())?;
    Ok(held)
}

/// For each kind of content, the days for which it is kept and what is older.
type Kinds = BTreeMap<ErasedPart, (u64, Timestamp)>;

fn kinds(config: &Config, now: Timestamp) -> Kinds {
    let days = config.audit.retention;
    let all = [
        (ErasedPart::Code, days.code),
        (ErasedPart::Output, days.output),
        (ErasedPart::Files, days.files),
    ];
    let set = all.into_iter().filter(|(_, days)| *days > 0);
    set.filter_map(|(part, days)| Some((part, (days, audit::older_than(days, now)?))))
        .collect()
}

/// `code after 30 days, output after 7 days`.
fn words(kinds: &Kinds) -> String {
    let each = kinds.iter();
    let each: Vec<String> = each
        .map(|(part, (days, _))| format!("{} after {days} days", part.as_str()))
        .collect();
    each.join(", ")
}

/// Erases contents by their kinds, and says what that was.
fn erase(erasure: Erasure, kinds: &Kinds, dry_run: bool) -> Result<String, Failure> {
    let contents = count(erasure.contents, "content");
    let proposals = count(erasure.each.len() as u64, "proposal");
    let said = format!(
        "  {contents} of {} bytes of {proposals} by kind; the records stay and say so",
        erasure.bytes
    );
    if !dry_run {
        let reason = format!("retention: {}", words(kinds));
        let done = erasure.carry_out(&reason, &reviewer::here());
        done.map_err(|e| failed(&e))?;
    }
    Ok(said)
}

fn count(n: u64, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{n} {what}{s}")
}
