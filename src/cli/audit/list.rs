//! `countersign audit list`.

mod columns;

use std::convert::Infallible;
use std::io::{self, Write};

use jiff::Timestamp;
use serde::Serialize;

use crate::audit::query::Query;
use crate::audit::{
    Answers, AuditError, Log, Logged, PauseLogged, Pauses, Record, own_by, own_said,
};
use crate::error::Failure;
use crate::model::{Claimed, claimed, visible};

use super::super::amounts;
use super::super::out::{is_seen, print, print_rows_json, tell};
use super::super::rows::terminal_columns;
use super::question::{self, question};
use super::{answers_to, failed, tell_basis, tell_gap, whole};
use columns::Form;

#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// List only these, such as 'state:denied agent:etl* since:7d "read_csv"'; `audit list --keys` explains it
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// Print the keys of QUERY, each with an example
    #[arg(long, conflicts_with_all = ["query", "json", "limit", "pauses", "from_log"])]
    keys: bool,
    /// Print a JSON array instead
    #[arg(long)]
    json: bool,
    /// Print the newest N only
    #[arg(long, value_name = "N", value_parser = amounts::count)]
    limit: Option<usize>,
    /// List when agents were paused and resumed instead
    #[arg(long, conflicts_with = "query")]
    pauses: bool,
    /// Answer from the log itself, all of which is read, and not from its index
    #[arg(long)]
    from_log: bool,
}

const EXAMPLES: &str = "\
Examples:
  countersign audit list 'state:granted rule:NET* since:7d'   granted although flagged for the network
  countersign audit list 'state:granted look:<5s by:ana'      granted after less than 5 s on the screen
  countersign audit list 'state:denied shown:none,some'       denied before all findings were seen
  countersign audit list 'output:\"total 42\" private:yes'     runs on private data that printed these words
  countersign audit list seq:17                               the proposal that has record 17
  countersign audit list kind:removed                         what was pruned, erased or set aside by a repair
  countersign audit list kind:own since:7d                    records of the dashboard itself, which belong to no proposal

took: is the time from the proposal to the decision, look: how long the person had it on the screen. Times are UTC.";

/// Characters shown of an agent's name and of a title; `audit show` has the full text.
const AGENT: usize = 20;
const TITLE: usize = 100;
/// Characters shown of another text.
const TEXT: usize = 400;

pub fn run(args: &Args, log: impl FnOnce() -> Result<Log, Failure>) -> Result<u8, Failure> {
    if args.keys {
        print(|out| question::keys(out))?;
        return Ok(0);
    }
    let query = question(&args.query)?;
    let log = log()?;
    let mut answers = answers_to(&log, &query, "list", args.from_log)?;
    let most = args.limit.unwrap_or(usize::MAX);
    if let Some(own) = query.own() {
        let mut all = log.own(&own).map_err(|e| failed(&e))?;
        all.truncate(most);
        if all.is_empty() && own.is_of_removals() {
            tell("removed: nothing, as far as the log says");
        } else if all.is_empty() {
            tell("no such record");
        }
        let all = all.into_iter().map(OwnRow);
        let find = |each: &mut dyn FnMut(_) -> _| Ok({ all }.try_for_each(each));
        rows(args, None, &own_line, find)?;
    } else if args.pauses {
        let Pauses { mut all, .. } = answers.pauses().map_err(|e| failed(&e))?;
        all.truncate(most);
        let find = |each: &mut dyn FnMut(_) -> _| Ok(all.into_iter().try_for_each(each));
        rows(args, None, &pause, find)?;
    } else {
        let mut none = true;
        let find = |each: &mut dyn FnMut(_) -> _| {
            answers.each(&query, most, |found| {
                none = false;
                each(found)
            })
        };
        // Scripts read the lines; a person reads a heading, and what was edited.
        match is_seen() {
            true => {
                let form = Form::of(terminal_columns());
                let heading = |out: &mut dyn Write| form.heading(out);
                let row = |out: &mut dyn Write, p: &Logged| form.row(out, p);
                rows(args, Some(&heading), &row, find)?;
            }
            false => rows(args, None, &line, find)?,
        }
        if none && most > 0 && !query.is_empty() {
            tell_none(&args.query, &mut answers).map_err(|e| failed(&e))?;
        }
    }
    tell_gap(&mut answers)?;
    if answers.unknown() > 0 {
        tell(&later(answers.unknown()));
    }
    tell_basis(&answers);
    whole(answers.faults())
}

/// Says that nothing matches, and which term of the question left something if it were not there.
fn tell_none(words: &[String], answers: &mut Answers) -> Result<(), AuditError> {
    let all = answers.count(&Query::default())?;
    let proposals = if all == 1 { "proposal" } else { "proposals" };
    let mut widened = None;
    for (term, query) in question::without_one(words) {
        let found = answers.count(&query)?;
        if found > 0 {
            widened = Some(format!("; without `{term}`: {found}"));
            break;
        }
    }
    let mut newest = None;
    let found: Result<(), Infallible> = answers.each(&Query::default(), 1, |row| {
        newest = Some(row.time);
        Ok(())
    })?;
    let Ok(()) = found;
    // A copy may end long before today.
    let newest = newest.map_or_else(String::new, |at| {
        format!(", the newest of {},", seconds(at))
    });
    tell(&format!(
        "none of {all} {proposals}{newest} match{}",
        widened.unwrap_or_default()
    ));
    Ok(())
}

/// What writes something on its own.
type Prints<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// Prints the rows that `find` finds, each as soon as it is found, as lines below a heading or as JSON.
fn rows<T: Serialize>(
    args: &Args,
    heading: Option<Prints<'_>>,
    line: &dyn Fn(&mut dyn Write, &T) -> io::Result<()>,
    find: impl FnOnce(&mut dyn FnMut(T) -> io::Result<()>) -> Result<io::Result<()>, AuditError>,
) -> Result<(), Failure> {
    let mut ended = Ok(());
    let mut all = |found: Result<io::Result<()>, AuditError>| {
        found.unwrap_or_else(|e| {
            ended = Err(failed(&e));
            Ok(())
        })
    };
    if args.json {
        print_rows_json(|each| all(find(&mut |row| each(&serde_json::to_string_pretty(&row)?))))?;
    } else {
        let mut heading = heading;
        print(|out| {
            all(find(&mut |row| {
                if let Some(heading) = heading.take() {
                    heading(out)?;
                }
                line(out, &row)
            }))
        })?;
    }
    ended
}

/// A note about records that this version cannot show.
pub(in crate::cli) fn later(records: u64) -> String {
    match records {
        1 => "1 record is of a later version and is not understood".to_owned(),
        n => format!("{n} records are of a later version and are not understood"),
    }
}

fn line(out: &mut dyn Write, p: &Logged) -> std::io::Result<()> {
    let state = state(p);
    writeln!(
        out,
        "{}  {}  {:AGENT$}  {:8}  {:12}  {state:10}  {}",
        seconds(p.time),
        p.id,
        claim(&p.agent, AGENT),
        claim(&p.profile, AGENT),
        p.verdict,
        title(p, TITLE)
    )
}

fn title(p: &Logged, most: usize) -> String {
    let title = p.title.as_deref();
    title.map_or("-".to_owned(), |title| claim(title, most))
}

/// A drill is told from the start, in a column that no agent writes.
fn state(p: &Logged) -> &'static str {
    match p.drill {
        true if !p.state.is_final() => "drill",
        _ => p.state.as_str(),
    }
}

/// A record that belongs to no proposal. In JSON it is as it was written.
struct OwnRow(Record);

impl Serialize for OwnRow {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let line: serde_json::Value =
            serde_json::from_str(&self.0.line).map_err(serde::ser::Error::custom)?;
        line.serialize(to)
    }
}

fn own_line(out: &mut dyn Write, row: &OwnRow) -> std::io::Result<()> {
    let record = &row.0;
    let given = |text: &str| format!("\"{}\"", claim(text, TEXT).replace('"', "\\\""));
    let by = own_by(&record.event).map_or_else(String::new, |by| {
        let login = by.login.as_deref();
        let login = login.map_or_else(|| "-".to_owned(), |login| claim(login, AGENT));
        format!("  by {login} (uid {})", by.uid)
    });
    writeln!(
        out,
        "{}  seq {}  {}{by}  {}",
        seconds(record.ts),
        record.seq,
        record.event.kind(),
        own_said(record, &given, &seconds)
    )
}

fn pause(out: &mut dyn Write, p: &PauseLogged) -> std::io::Result<()> {
    let by =
        p.by.login
            .as_deref()
            .map_or_else(|| format!("uid {}", p.by.uid), |login| claim(login, AGENT));
    writeln!(
        out,
        "{}  {:<7}  {}  uid {}  pid {}  by {by}",
        seconds(p.time),
        p.kind,
        claim(&p.agent.name, AGENT),
        p.agent.uid,
        p.agent.pid,
    )
}

/// RFC 3339, UTC, without fractions.
pub(super) fn seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// An agent's text on one line: no hidden characters, and no run of spaces that looks like a new
/// column.
pub(super) fn claim(text: &str, longest: usize) -> String {
    let mut shown = String::new();
    for piece in claimed(text) {
        match piece {
            Claimed::Text(text) => shown.push_str(&visible(text)),
            Claimed::Mark(mark) => shown.push_str(mark.as_str()),
        }
    }
    let joined = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    if joined.chars().count() <= longest {
        return joined;
    }
    let mut cut: String = joined.chars().take(longest - 1).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_s_words_cannot_pass_for_columns_or_lines() {
        assert_eq!(claim("bot   analysis  clear", 40), "bot analysis clear");
        assert_eq!(claim("a\nb\x1b[2J", 40), "a␊b␛[2J");
        assert_eq!(claim("cl\u{430}ude", 40), "cl\\u{0430}ude");
        let long = claim(&"x".repeat(10_000), TITLE);
        assert_eq!(long.chars().count(), TITLE);
        assert!(long.ends_with('…'));
        assert_eq!(seconds(Timestamp::UNIX_EPOCH), "1970-01-01T00:00:00Z");
    }
}
