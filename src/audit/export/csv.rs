//! CSV as RFC 4180 has it: one row for each proposal. Texts of others have a mark for every hidden character, and none
//! of them begins what a spreadsheet takes for a formula (OWASP, "CSV injection").

use std::borrow::Cow;
use std::io::{self, Write};

use super::super::Told;
use super::super::cases::{Case, Course};
use super::super::voters::{Voter, deciders};
use crate::model::{DrillEnd, Exit, LogEvent, Person, visible};

/// A column: its name, and its cell.
type Column = (&'static str, fn(&Told) -> String);

const COLUMNS: [Column; 34] = [
    ("time", |t| t.case.asked.at.to_string()),
    ("id", |t| t.case.id.to_string()),
    ("agent", |t| t.case.agent.1.to_string()),
    ("agent_uid", |t| {
        proposed(t, |p| match p.peer.gateway {
            None => p.peer.uid.to_string(),
            Some(_) => p.peer.account(),
        })
    }),
    ("agent_pid", |t| proposed(t, |p| p.peer.pid.to_string())),
    ("profile", |t| t.case.asked.profile.to_string()),
    ("title", |t| {
        t.case.asked.title.as_deref().unwrap_or("").to_owned()
    }),
    ("reason", |t| {
        t.case.asked.reason.as_deref().unwrap_or("").to_owned()
    }),
    ("verdict", |t| t.case.judged().verdict.to_string()),
    ("rules", |t| t.case.judged().rules.join(" ")),
    ("capabilities", |t| {
        let caps = t.case.judged().caps.iter();
        caps.map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }),
    ("data", |t| t.case.asked.data.join(" ")),
    ("private", |t| yes(t.case.asked.private)),
    ("drill", |t| yes(t.case.drill.is_some())),
    ("edited", |t| yes(t.case.edited.is_some())),
    ("state", |t| t.case.state.as_str().to_owned()),
    ("decision", |t| decision(&t.case).to_owned()),
    ("decided_at", |t| match t.case.course {
        Course::Waits => String::new(),
        _ => t.case.at.to_string(),
    }),
    ("decided_by", |t| by(&t.case).unwrap_or_default()),
    ("decided_by_uid", |t| {
        let by = t.case.by.as_ref().filter(|_| t.case.viewed.is_some());
        by.map_or(String::new(), |by| by.uid.to_string())
    }),
    ("took_ms", |t| {
        let took = t.case.took();
        took.map_or(String::new(), |took| took.as_millis().to_string())
    }),
    ("looked_ms", |t| {
        let looked = t.case.looked();
        looked.map_or(String::new(), |looked| looked.as_millis().to_string())
    }),
    ("denial", |t| {
        t.case.denial.as_deref().unwrap_or("").to_owned()
    }),
    ("run_ms", |t| {
        finished(t, |f| Some(f.duration_ms.to_string()))
    }),
    ("exit", |t| {
        finished(t, |f| {
            Some(match &f.exit {
                Exit::Code(code) => code.to_string(),
                Exit::Signal(name) => name.clone(),
            })
        })
    }),
    ("limit", |t| {
        finished(t, |f| f.limit.map(|limit| limit.as_str().to_owned()))
    }),
    ("error", |t| {
        finished(t, |f| f.error.as_ref().map(|e| e.kind.as_str().to_owned()))
    }),
    ("files", |t| {
        let files = t.case.ran.as_ref().map(|ran| ran.files.join(" "));
        files.unwrap_or_default()
    }),
    ("code_sha256", |t| {
        let edited = t.case.edited.as_ref().map(|edit| edit.digest);
        edited.unwrap_or(t.case.asked.digest).hex()
    }),
    ("first_seq", |t| {
        t.records
            .first()
            .map_or(String::new(), |r| r.seq.to_string())
    }),
    ("last_seq", |t| {
        t.records
            .last()
            .map_or(String::new(), |r| r.seq.to_string())
    }),
    ("traceparent", |t| {
        proposed(t, |p| p.traceparent.clone().unwrap_or_default())
    }),
    ("decided_by_votes", |t| {
        let people = deciders(&t.case.votes).into_iter();
        people.map(Person::as_str).collect::<Vec<_>>().join(" ")
    }),
    ("votes", |t| {
        let votes = t.case.votes.iter().map(Voter::words);
        votes.collect::<Vec<_>>().join("; ")
    }),
];

/// Writes the names of the columns.
pub(super) fn heading(out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    write!(out, "{}\r\n", names.join(","))
}

/// Writes one proposal.
pub(super) fn row(out: &mut dyn Write, told: &Told) -> io::Result<()> {
    for (n, (_, cell)) in COLUMNS.iter().enumerate() {
        if n > 0 {
            out.write_all(b",")?;
        }
        out.write_all(quoted(&inert(&cell(told))).as_bytes())?;
    }
    out.write_all(b"\r\n")
}

fn yes(is: bool) -> String {
    if is { "yes" } else { "no" }.to_owned()
}

/// What became of it as far as a person is concerned.
fn decision(case: &Case) -> &'static str {
    match case.course {
        Course::Waits | Course::Other => "",
        Course::Granted => "granted",
        Course::Denied => "denied",
        Course::Expired => "expired",
        Course::Drilled(DrillEnd::Caught) => "drill caught",
        Course::Drilled(DrillEnd::Granted) => "drill granted",
        Course::Drilled(DrillEnd::Unanswered) => "drill unanswered",
    }
}

/// Who decided; nobody if nobody did.
fn by(case: &Case) -> Option<String> {
    case.viewed?;
    let by = case.by.as_ref()?;
    Some(match by.login.as_deref() {
        Some(login) => login.to_owned(),
        None => format!("uid {}", by.uid),
    })
}

fn proposed(told: &Told, cell: impl Fn(&crate::model::ProposedLog) -> String) -> String {
    let found = told.records.iter().find_map(|r| match &r.event {
        LogEvent::Proposed(p) => Some(cell(p)),
        _ => None,
    });
    found.unwrap_or_default()
}

fn finished(told: &Told, cell: impl Fn(&crate::model::FinishedLog) -> Option<String>) -> String {
    let found = told.records.iter().find_map(|r| match &r.event {
        LogEvent::Finished(f) => cell(f),
        _ => None,
    });
    found.unwrap_or_default()
}

/// A text in which nothing begins a formula: an apostrophe stands before each sign that could, at the beginning and
/// after each character that some spreadsheet takes for the end of a cell.
fn inert(text: &str) -> Cow<'_, str> {
    let mut out = String::with_capacity(text.len());
    let mut begins = true;
    for c in visible(text).chars() {
        let starts = matches!(c, '=' | '+' | '-' | '@' | '\u{ff1d}' | '\u{ff0b}' | '\u{ff0d}' | '\u{ff20}')
            // Marks of a tab, a line feed and a carriage return.
            || matches!(c, '\u{2409}' | '\u{240a}' | '\u{240d}');
        if begins && starts {
            out.push('\'');
        }
        begins = matches!(
            c,
            ',' | ';' | '|' | '"' | '\'' | '\u{2409}' | '\u{240a}' | '\u{240d}'
        ) || begins && c == ' ';
        out.push(c);
    }
    Cow::Owned(out)
}

/// A cell: in quotation marks if it has any character that means something in CSV.
fn quoted(cell: &str) -> Cow<'_, str> {
    let plain = |c: char| !matches!(c, ',' | ';' | '\t' | '"' | '\'' | '\r' | '\n' | ' ' | '|');
    if cell.chars().all(plain) {
        return Cow::Borrowed(cell);
    }
    Cow::Owned(format!("\"{}\"", cell.replace('"', "\"\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_begins_a_formula_in_any_spreadsheet() {
        for (text, cell) in [
            ("=1+1", "\"'=1+1\""),
            ("=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""),
            ("+1", "\"'+1\""),
            ("-2+3", "\"'-2+3\""),
            ("@SUM(1)", "\"'@SUM(1)\""),
            ("\t=1", "\"'␉'=1\""),
            ("\r=1", "\"'␍'=1\""),
            ("\n=1", "\"'␊'=1\""),
            ("  =1", "\"  '=1\""),
            ("＝1", "\"'＝1\""),
            ("x;=1", "\"x;'=1\""),
            ("x\",=1", "\"x\"\",'=1\""),
            ("", ""),
            ("a=b-c", "a=b-c"),
            ("sales, 2026", "\"sales, 2026\""),
            ("\u{1b}[2J\u{202e}", "␛[2J\\u{202E}"),
        ] {
            assert_eq!(quoted(&inert(text)), cell, "{text:?}");
        }
    }
}
