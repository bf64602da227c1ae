//! `countersign audit stats`.

use std::io::{self, Write};

use jiff::Timestamp;
use serde_json::json;

use crate::audit::{Count, FAST, Log, OfAgent, OfReviewer, Runs, Since, Stats};
use crate::error::Failure;
use crate::model::grouped;

use super::super::out::{print, print_json, tell};
use super::super::status::Format;
use super::list::{claim, later, seconds};
use super::question::{about_proposals, question};
use super::{answers_to, basis_json, failed, tell_basis, whole};

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Count only these proposals and drills; `audit list --keys` explains it
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// Count only what was decided or ended since: 12h, 7d or 4w ago, or a day such as 2026-11-01
    #[arg(long, value_name = "TIME")]
    since: Option<Since>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Answer from the log itself, all of which is read, and not from its index
    #[arg(long)]
    from_log: bool,
}

const EXAMPLES: &str = "\
Examples:
  countersign audit stats --since 7d                 the last week
  countersign audit stats by:ana                     one reviewer's decisions, with her rows of them
  countersign audit stats 'private:yes drill:no'     what had private data

\"In a row\" is told where the query selects by reviewer and time alone (by:, since:, until:): other queries leave out
decisions between those that they select.";

/// Characters shown of a name.
const NAME: usize = 24;

pub fn run(args: &Args, log: &Log) -> Result<u8, Failure> {
    let query = question(&args.query)?;
    about_proposals(&query)?;
    let since = args.since.map(|since| since.at(Timestamp::now()));
    let query = match since {
        Some(since) => query.since(since),
        None => query,
    };
    let mut answers = answers_to(log, &query, "stats", args.from_log)?;
    let stats = answers.stats(&query).map_err(|e| failed(&e))?;
    if args.json || args.format == Format::Json {
        let mut json = json!(stats);
        json["since"] = json!(since);
        json["counted_from"] = basis_json(&answers);
        print_json(&format!("{json:#}"))?;
    } else {
        let rows = query.keeps_rows();
        print(|out| text(out, &stats, since, rows))?;
    }
    if answers.unknown() > 0 {
        tell(&later(answers.unknown()));
    }
    tell_basis(&answers);
    whole(answers.faults())
}

/// `rows`: no decision is left out between those that were counted.
fn text(
    out: &mut dyn Write,
    stats: &Stats,
    since: Option<Timestamp>,
    rows: bool,
) -> io::Result<()> {
    let since = since.map_or(String::new(), |at| format!(" since {}", seconds(at)));
    writeln!(
        out,
        "{}{since}, drills apart; {} expired before anybody decided",
        count(stats.proposals, "proposal"),
        grouped(stats.expired)
    )?;
    writeln!(
        out,
        "days and hours are those of {}; times that end with Z are UTC",
        stats.zone
    )?;
    if !rows {
        writeln!(
            out,
            "how many in a row is not told: the query leaves out decisions between these"
        )?;
    }
    for reviewer in stats.reviewers.iter().filter(|r| r.has_decided()) {
        writeln!(out)?;
        of_reviewer(out, reviewer)?;
    }
    if !stats.agents.is_empty() {
        writeln!(
            out,
            "\n{:NAME$}  {:>10}  proposed  granted  denied  expired  blocked  flagged  failed  median look",
            "agent", "uid"
        )?;
        for agent in &stats.agents {
            of_agent(out, agent)?;
        }
    }
    of_days(out, stats)?;
    of_runs(out, &stats.runs)?;
    of_drills(out, stats)
}

fn of_reviewer(out: &mut dyn Write, r: &OfReviewer) -> io::Result<()> {
    let name = claim(r.login.as_deref().unwrap_or("-"), NAME);
    writeln!(out, "reviewer {name} (uid {})", r.uid)?;
    let n = grouped;
    writeln!(out, "  {} granted, {} denied", n(r.granted), n(r.denied))?;
    if let Some(rate) = r.grant_rate {
        writeln!(out, "  {:.0} % of these decisions are grants", 100.0 * rate)?;
    }
    writeln!(
        out,
        "  looked for less than {} s: {}{}",
        FAST.as_secs(),
        count(r.fast, "decision"),
        in_a_row(r.fast_streak.map(n))
    )?;
    writeln!(out, "  decisions by the hour: {}", hours(&r.hours))?;
    writeln!(
        out,
        "  median look {}{}",
        look(r.median_look_ms),
        in_a_row(r.streak.map(|n| count(n, "grant")))
    )?;
    if let Some(rate) = r.not_all_seen_rate {
        writeln!(
            out,
            "  granted before all findings were seen: {} of {} ({:.0} %)",
            n(r.not_all_seen),
            count(r.granted, "grant"),
            100.0 * rate
        )?;
    }
    writeln!(
        out,
        "  flagged code granted faster than it can be read, and asked for again: {}",
        n(r.asked_again)
    )?;
    writeln!(out, "  drills: {}", caught(&r.drills))
}

fn in_a_row(most: Option<String>) -> String {
    most.map_or_else(String::new, |most| format!(", at most {most} in a row"))
}

fn of_agent(out: &mut dyn Write, a: &OfAgent) -> io::Result<()> {
    let n = grouped;
    writeln!(
        out,
        "{:NAME$}  {:>10}  {:>8}  {:>7}  {:>6}  {:>7}  {:>7}  {:>7}  {:>6}  {:>11}",
        claim(&a.name, NAME),
        a.uid,
        n(a.proposed),
        n(a.granted),
        n(a.denied),
        n(a.expired),
        n(a.blocked),
        n(a.flagged),
        n(a.failed),
        look(a.median_look_ms)
    )
}

/// `9 h: 3, 14 h: 12`.
fn hours(hours: &[u64; 24]) -> String {
    let used = hours.iter().enumerate().filter(|(_, count)| **count > 0);
    let used: Vec<String> = used
        .map(|(hour, count)| format!("{hour} h: {}", grouped(*count)))
        .collect();
    match used.is_empty() {
        true => "none".to_owned(),
        false => used.join(", "),
    }
}

fn of_days(out: &mut dyn Write, stats: &Stats) -> io::Result<()> {
    let (Some(first), Some(last)) = (stats.days.first(), stats.days.last()) else {
        return Ok(());
    };
    let most = stats.days.iter().rev().max_by_key(|day| day.proposals);
    let most = most.unwrap_or(first);
    let granted = stats.days.iter().rev().max_by_key(|day| day.granted);
    let granted = granted.unwrap_or(first);
    writeln!(
        out,
        "\ndays {} to {}: at most {} ({}), {} ({})",
        first.day,
        last.day,
        count(most.proposals, "proposal"),
        most.day,
        count(granted.granted, "grant"),
        granted.day
    )
}

fn of_runs(out: &mut dyn Write, runs: &Runs) -> io::Result<()> {
    let limits: Vec<String> = runs
        .limits
        .iter()
        .map(|(limit, n)| format!("{limit} {}", grouped(*n)))
        .collect();
    let met = match limits.is_empty() {
        true => "no limit was met".to_owned(),
        false => format!("limits met: {}", limits.join(", ")),
    };
    writeln!(out, "\nruns: {} ended, {met}", grouped(runs.ended))?;
    for (scope, of) in &runs.scopes {
        writeln!(
            out,
            "  scope {scope}: {}, {} allowed, {} blocked",
            count(of.runs, "run"),
            grouped(of.allowed),
            grouped(of.blocked)
        )?;
    }
    Ok(())
}

fn of_drills(out: &mut dyn Write, stats: &Stats) -> io::Result<()> {
    let drills = &stats.drills;
    writeln!(out, "\ndrills: {}", caught(&drills.all))?;
    for (harm, count) in &drills.by_harm {
        writeln!(out, "  {:12}  {}", harm.as_str(), caught(count))?;
    }
    match &drills.plan {
        Some(plan) => writeln!(
            out,
            "  about every {}, seed {} (dashboard of {})",
            count(plan.plan.every, "decision"),
            plan.plan.seed,
            seconds(plan.opened)
        ),
        None => writeln!(out, "  `every` under [drills] in config.toml turns them on"),
    }
}

/// `2 of 3 answered caught (67 %), 1 unanswered`.
fn caught(count: &Count) -> String {
    let n = grouped;
    let rate = match count.rate {
        _ if count.shown == 0 => return "none".to_owned(),
        None => return format!("{} unanswered", n(count.unanswered)),
        Some(rate) => rate,
    };
    let unanswered = match count.unanswered {
        0 => String::new(),
        some => format!(", {} unanswered", n(some)),
    };
    format!(
        "{} of {} answered caught ({:.0} %){unanswered}",
        n(count.caught),
        n(count.answered()),
        100.0 * rate
    )
}

/// `1.2 s`.
fn look(ms: Option<u64>) -> String {
    match ms {
        None => "-".to_owned(),
        Some(ms) => format!("{}.{} s", grouped(ms / 1000), ms % 1000 / 100),
    }
}

fn count(n: u64, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {what}{s}", grouped(n))
}
