//! Screen 2: the contents of the log, read away from the loop.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tokio::sync::mpsc::UnboundedSender;

use crate::audit::query::Query;
use crate::audit::{AuditError, History, Log, Logged, Teller, story};
use crate::model::{LogEvent, ProposalId};
use crate::tui::{AuditPage, AuditRow};

use super::Input;

/// Rows loaded around the proposal whose records are shown.
const ROWS_BESIDE: usize = 200;
/// Lines shown of one blob; `audit show` prints all of them.
const BLOB_LINES: usize = 2000;

/// Characters of a text in a sentence; the records have all of it.
const QUOTED: usize = 400;

/// What screen 2 asks for.
#[derive(Clone, Copy, Debug)]
pub enum Wanted {
    /// Rows from this position on; 0 is the newest.
    Page { offset: usize, count: usize },
    /// The records of one proposal.
    Record(ProposalId),
}

/// Reads what is wanted; the page comes back through the inbox. If the log cannot be read, the page
/// says so.
pub fn load(state_dir: PathBuf, wanted: Wanted, inbox: UnboundedSender<Input>) {
    tokio::task::spawn_blocking(move || {
        let _ = inbox.send(Input::Audit(page(&state_dir, wanted)));
    });
}

/// Compares every blob with its digest once, which may take long; the start checked only the
/// records.
pub fn check(state_dir: PathBuf, inbox: UnboundedSender<Input>) {
    tokio::task::spawn_blocking(move || {
        let report = Log::open(&state_dir).and_then(|log| log.verify());
        let first = match &report {
            Ok(report) => report.first().map(ToString::to_string),
            Err(e) => Some(e.to_string()),
        };
        if let Some(first) = first {
            tracing::warn!("the log is damaged: {first}");
            let _ = inbox.send(Input::Damaged(first));
        }
    });
}

fn page(state_dir: &Path, wanted: Wanted) -> AuditPage {
    read(state_dir, wanted).unwrap_or_else(|e| AuditPage {
        damage: Some(e.to_string()),
        ..AuditPage::default()
    })
}

fn read(state_dir: &Path, wanted: Wanted) -> Result<AuditPage, AuditError> {
    let log = Log::open(state_dir)?;
    let mut answers = log.answers()?;
    let all = Query::default();
    let total = answers.count(&all)?;
    let (offset, count, detail) = match wanted {
        Wanted::Page { offset, count } => (offset.min(total), count, None),
        Wanted::Record(id) => {
            let at = answers.newer(&all, id)?.unwrap_or(0);
            let history = answers.records(id)?;
            (
                at.saturating_sub(ROWS_BESIDE / 2),
                ROWS_BESIDE,
                Some(detail(&log, &history)),
            )
        }
    };
    let rows = answers.page(&all, offset, count)?;
    Ok(AuditPage {
        rows: rows.iter().map(row).collect(),
        offset,
        total,
        detail,
        damage: answers.faults().first().map(ToString::to_string),
    })
}

fn row(p: &Logged) -> AuditRow {
    AuditRow {
        time: p
            .time
            .to_zoned(TimeZone::system())
            .strftime("%m-%d %H:%M:%S")
            .to_string(),
        id: Some(p.id),
        agent: p.agent.clone(),
        profile: p.profile.clone(),
        verdict: p.verdict.to_string(),
        state: p.state.to_string(),
        title: p.title.clone().unwrap_or_default(),
    }
}

/// One proposal in sentences, its code and output, and its records with their fields.
fn detail(log: &Log, history: &History) -> Vec<String> {
    let time =
        |at: Timestamp, form: &str| at.to_zoned(TimeZone::system()).strftime(form).to_string();
    let mut lines = story(
        &history.records,
        Teller {
            at: &|at| time(at, "%Y-%m-%d %H:%M:%S"),
            given: &quoted,
        },
    );
    lines.push(String::new());
    for (name, digest) in history.records.iter().flat_map(|r| r.event.texts()) {
        lines.push(format!("{name}:"));
        match log.blob(&digest) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                let shown = text.split_terminator('\n').take(BLOB_LINES);
                lines.extend(shown.map(|l| format!("      {l}")));
            }
            Err(why) => lines.push(format!("    {digest}: {why}")),
        }
        lines.push(String::new());
    }
    lines.push("The records, as they were written:".to_owned());
    for record in &history.records {
        let at = time(record.ts, "%Y-%m-%d %H:%M:%S%.3f");
        lines.push(format!("{at} {}, seq {}", record.event.kind(), record.seq));
        // A LogEvent was read from JSON, so it can be written as JSON.
        let fields = serde_json::to_value(&record.event).unwrap_or_default();
        for (name, value) in fields.as_object().into_iter().flatten() {
            if !matches!(name.as_str(), "kind" | "id" | "events" | "accesses") && !value.is_null() {
                lines.push(format!("    {name}: {value}"));
            }
        }
        if let LogEvent::Finished(finished) = &record.event {
            lines.extend(finished.monitored().iter().map(|l| format!("    {l}")));
        }
        lines.push(String::new());
    }
    if history.unknown > 0 {
        lines.push(format!(
            "{} records of a later version are not shown",
            history.unknown
        ));
    }
    lines
}

/// A text in quotes, as JSON has it: nothing in it ends the quotes or the line.
fn quoted(text: &str) -> String {
    let cut: String = text.chars().take(QUOTED).collect();
    let more = if cut.len() < text.len() { " ..." } else { "" };
    format!("{}{more}", serde_json::Value::from(cut))
}
