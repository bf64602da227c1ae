//! What the rows of a question come to: statistics, facets, and what is written of them.

use crate::audit::By;
use crate::model::grouped;

use super::super::super::action::{ExportAs, ExportGoes};

pub const STATISTICS: &str = "STATISTICS";
pub const READING: &str = "reads the log …";
pub const REVIEWERS: &str = "REVIEWERS";
pub const AGENTS_SUMMED: &str = "AGENTS";
pub const OVER_TIME: &str = "OVER TIME";
pub const INSIDE_RUNS: &str = "SCOPES AND LIMITS INSIDE RUNS";
pub const DRILLS_SUMMED: &str = "DRILLS";
pub const NOTHING_TO_COUNT: &str = "The rows have nothing to count.";
pub const NO_ACCESS_COUNTED: &str = "no run of the contract scoped";

pub const DECISIONS: &str = "decisions";
pub const GRANTS: &str = "grants";
pub const LOOK: &str = "look";
pub const UNDER_FAST: &str = "under 5 s";
/// Grants before all findings were seen.
pub const UNSEEN: &str = "unseen";
pub const HOURS: &str = "hours";
pub const DRILLS: &str = "drills";
pub const PROPOSALS: &str = "proposals";
pub const OUTCOMES: &str = "outcomes";
pub const LIMITS: &str = "limits";
pub const RUNS: &str = "runs";
pub const SCOPES: &str = "scopes";
/// Those that are not told one by one.
pub const MORE_REVIEWERS: &str = "reviewers";
pub const MORE_AGENTS: &str = "agents";

pub fn uid(uid: u32) -> String {
    format!("  uid {uid}")
}

fn some(n: u64, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {what}{s}", grouped(n))
}

/// What holds for all of it. `part`: a query left out decisions between the rows.
pub fn counted(expired: u64, zone: &str, part: bool) -> String {
    let expired = grouped(expired);
    let rows = match part {
        true => "; \"in a row\" only without a query, or with by:, since: and until: alone",
        false => "",
    };
    format!("{expired} expired before anybody decided; days and hours of {zone}{rows}")
}

pub fn decisions(granted: u64, denied: u64) -> String {
    format!(
        "{}: {} granted, {} denied",
        grouped(granted + denied),
        grouped(granted),
        grouped(denied)
    )
}

pub fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// `median 6.2 s`.
pub fn median(ms: Option<u64>) -> String {
    match ms {
        None => "no look was timed".to_owned(),
        Some(ms) => format!("median {}.{} s", grouped(ms / 1000), ms % 1000 / 100),
    }
}

/// Decisions after a short look, of all.
pub fn fast(fast: u64, all: u64) -> String {
    format!("{} of {}", grouped(fast), some(all, "decision"))
}

pub fn not_all_seen(some: u64, granted: u64) -> String {
    let share = match granted {
        0 => String::new(),
        all => format!(" ({})", percent(some as f64 / all as f64)),
    };
    format!(
        "{} of {}{share} before all findings were seen",
        grouped(some),
        self::some(granted, "grant")
    )
}

pub fn fast_streak(streak: u64) -> String {
    format!(", {} of them in a row", grouped(streak))
}

/// What the cells of a day's hours mean.
pub fn by_hour(most: u64, hour: usize) -> String {
    format!("0 to 23 h, most at {hour} h: {}", grouped(most))
}

pub fn drills(shown: u64, caught: u64, granted: u64, unanswered: u64) -> String {
    format!(
        "{} met, {} caught, {} granted, {} unanswered",
        grouped(shown),
        grouped(caught),
        grouped(granted),
        grouped(unanswered)
    )
}

pub const NO_DRILLS: &str = "none";

/// Granted, denied, expired and blocked.
pub fn outcomes([granted, denied, expired, blocked]: [u64; 4]) -> String {
    format!(
        "{} granted, {} denied, {} expired, {} blocked",
        grouped(granted),
        grouped(denied),
        grouped(expired),
        grouped(blocked)
    )
}

/// Of one agent's proposals.
pub fn flagged_and_failed(flagged: u64, all: u64, failed: u64) -> String {
    let share = match all {
        0 => String::new(),
        all => format!(" ({})", percent(flagged as f64 / all as f64)),
    };
    format!(
        "; {} flagged{share}; {} failed",
        grouped(flagged),
        some(failed, "run")
    )
}

/// `days`: how many stand in one cell.
pub fn by_day(first: &str, last: &str, days: usize) -> String {
    match days {
        1 => format!("a cell a day, · without any, {first} to {last}"),
        days => format!("a cell for {days} days, · without any, {first} to {last}"),
    }
}

pub fn most_on(all: u64, most: u64, day: &str) -> String {
    format!("{} in all, most on {day}: {}", grouped(all), grouped(most))
}

pub fn ended(runs: u64) -> String {
    format!("{} ended", grouped(runs))
}

pub const NO_LIMIT: &str = "none was met";

pub fn scope(allowed: u64, blocked: u64, runs: u64) -> String {
    format!(
        "{} allowed, {} blocked, in {}",
        grouped(allowed),
        grouped(blocked),
        some(runs, "run")
    )
}

pub fn more_rows_of(what: &str, more: usize) -> String {
    format!("and {} more {what}", grouped(more as u64))
}

pub const FACETS: &str = "FACETS";
/// Before a value that the question asks for.
pub const CHOSEN: &str = "✓";

pub const fn by(by: By) -> &'static str {
    match by {
        By::State => "state",
        By::Rule => "rule",
        By::Capability => "capability",
        By::Agent => "agent",
        By::Reviewer => "decided by, or had it open",
        By::Data => "data set",
        By::Profile => "profile",
        By::Day => "day",
    }
}

/// Values that have no row.
pub fn more_values(more: usize) -> String {
    format!("and {} more", grouped(more as u64))
}

pub fn spoken_facets(proposals: u64, values: usize, query: &str) -> String {
    format!(
        "{FACETS} of {}{query}: {}",
        some(proposals, "proposal"),
        some(values as u64, "value")
    )
}

/// One value, and its place among all of them. Whose it is comes first, so that no name passes for another kind.
pub fn spoken_value(
    (at, all): (usize, usize),
    by: &str,
    name: &str,
    count: u64,
    chosen: bool,
) -> String {
    let chosen = match chosen {
        true => ", the query asks for it",
        false => "",
    };
    format!(
        "{at} of {all}, {by} \"{}\": {}{chosen}",
        name.replace('"', "\\\""),
        some(count, "proposal")
    )
}

pub const EXPORTS: &str = "the export is under way";

/// How far it is.
pub fn export_goes(goes: ExportGoes) -> String {
    match goes {
        ExportGoes::Begins => "export under way".to_owned(),
        goes => format!("export under way: {}", so_far(goes)),
    }
}

fn so_far(goes: ExportGoes) -> String {
    let of = |done: u64, of: u64, what: &str| match of {
        0 => format!("{} written", some(done, what)),
        of => format!("{} of {} written", grouped(done), some(of, what)),
    };
    match goes {
        ExportGoes::Begins => "nothing is written yet".to_owned(),
        ExportGoes::Reads { read, of } => {
            let mb = |bytes: u64| grouped(bytes.div_ceil(1_000_000));
            format!("reads the log, {} of {} MB", mb(read), mb(of))
        }
        ExportGoes::Records { done, of: all } => of(done, all, "record"),
        ExportGoes::Proposals { done, of: all } => of(done, all, "proposal"),
    }
}

/// `quits`: the key.
pub fn quit_keys(quits: &str) -> String {
    format!("{quits} quits, any other key stays")
}

/// The question whether to quit nevertheless, then shorter.
pub fn quit_exports(goes: ExportGoes) -> [String; 2] {
    [
        format!("Quit and drop the export? {}.", so_far(goes)),
        "Quit and drop the export?".to_owned(),
    ]
}
pub const EXPORTS_ALREADY: &str = "an export is under way; the next can follow when it is done";
pub const NOTHING_TO_EXPORT: &str = "there is no row to export";
pub const ONLY_PROPOSALS: &str = "exports are of proposals, and kind: lists other records";
pub const WHOLE_FOLDER: &str = "write a folder that begins with / or ~/";
pub const NOT_EXPORTED: &str = "nothing is exported: a folder is missing";
pub const EXPORT_KEYS: &str = "Enter writes  Tab changes the format  Esc goes back";
/// While the folder is the one that was offered.
pub const EXPORT_KEYS_OFFERED: &str =
    "typing replaces it  Enter writes  Tab changes the format  Esc goes back";
pub const EXPORT_WHAT: &str = "EXPORT";

/// A format's name, and what it is.
pub const fn format(format: ExportAs) -> (&'static str, &'static str) {
    match format {
        ExportAs::Records => (
            "records",
            "the records as the log has them, one a line (JSONL)",
        ),
        ExportAs::Csv => (
            "csv",
            "one row for each proposal, safe to open in a spreadsheet",
        ),
        ExportAs::Ocsf => ("ocsf", "events of OCSF 1.8.0 for a SIEM, one a line"),
        ExportAs::Bundle => (
            "bundle",
            "records, proofs, contents and a page, for a stranger to check",
        ),
    }
}

pub fn export_as(format: ExportAs) -> String {
    format!("{} into", self::format(format).0)
}

/// The new folder, and who can read it.
pub const EXPORT_FOLDER: &str =
    "Tab changes the format. The folder must be new; it is for you alone.";

pub fn spoken_export(rows: Option<usize>, format: ExportAs, has: &str) -> String {
    let (name, what) = self::format(format);
    let rows = match rows {
        Some(rows) => some(rows as u64, "proposal"),
        None => "the rows".to_owned(),
    };
    format!(
        "export {rows} as {name} ({what}) into a new folder, \"{has}\". What is typed takes its place, Tab changes the \
         format, Enter writes, Esc goes back."
    )
}
