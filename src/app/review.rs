//! Screen 2: the contents of the log, read away from the loop.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tokio::sync::mpsc::UnboundedSender;

use crate::audit::query::{Own, Query};
use crate::audit::{
    Answers, Apart, AuditError, History, Log, Logged, Person, Record, Store, Vouched, own_by,
    own_said,
};
use crate::model::{Digest, LogEvent, ProposalId};
use crate::tui::{AuditPage, AuditRow, Dossier};

use super::Input;

/// The log that screen 2 is about.
#[derive(Clone, Debug)]
pub struct Source {
    pub state_dir: PathBuf,
    pub checkpoints: Store,
    /// Where its index is kept by a program that writes nothing into the state folder.
    pub apart: Option<Arc<Apart>>,
    /// Proposals whose votes are not shown, because the person has not voted yet.
    pub sealed: BTreeSet<ProposalId>,
}

impl Source {
    /// # Errors
    /// When there is no log, or it cannot be read.
    pub fn open(&self) -> Result<Log, AuditError> {
        let log = Log::open(&self.state_dir)?;
        Ok(match &self.apart {
            Some(place) => log.apart(place.clone()),
            None => log,
        })
    }
}

/// What screen 2 asks for.
#[derive(Clone, Copy, Debug)]
pub enum Wanted {
    /// Rows from this position on; 0 is the newest.
    Page { offset: usize, count: usize },
    /// The records of one proposal.
    Record(ProposalId),
}

/// The rows that a question selects, in the language of [`crate::audit::query`].
#[derive(Clone, Debug)]
pub struct Asked {
    pub query: String,
    pub wanted: Wanted,
}

/// Reads what is wanted and hands the page back; of a long log that must be read first, the newest rows before it. If the
/// log cannot be read, the page says so.
pub fn load(source: Source, asked: Asked, back: impl Fn(AuditPage) + Send + 'static) {
    tokio::task::spawn_blocking(move || back(page(&source, asked, &back)));
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

/// `meanwhile` gets what can be shown before a long log is read.
fn page(source: &Source, asked: Asked, meanwhile: &dyn Fn(AuditPage)) -> AuditPage {
    let page = match Query::parse(&asked.query, Timestamp::now()) {
        Ok(query) => {
            let query = query.without_waiting_drills();
            let vouched = vouched(&source.checkpoints);
            let reading = |log: &Log, bytes: u64| {
                if let Some(page) = newest(log, bytes, &asked) {
                    meanwhile(page);
                }
            };
            read(source, &query, asked.wanted, vouched, &reading).map_err(|e| e.to_string())
        }
        // The screen sends none that it could not read.
        Err(e) => Err(e.to_string()),
    };
    let page = page.unwrap_or_else(|why| AuditPage {
        damage: Some(why),
        ..AuditPage::default()
    });
    AuditPage {
        query: asked.query,
        asked: match asked.wanted {
            Wanted::Record(id) => Some(id),
            Wanted::Page { .. } => None,
        },
        ..page
    }
}

/// What the newest checkpoint says. If it cannot be read, the notary tells.
pub fn vouched(checkpoints: &Store) -> Vouched {
    Vouched::of(checkpoints).unwrap_or_default()
}

fn read(
    source: &Source,
    all: &Query,
    wanted: Wanted,
    vouched: Vouched,
    reading: &dyn Fn(&Log, u64),
) -> Result<AuditPage, AuditError> {
    let (signed, from) = (vouched.size(), vouched.from());
    let log = source.open()?.vouched(vouched);
    if let (Some(own), Wanted::Page { offset, count }) = (all.own(), wanted) {
        return own_rows(&log, &own, (offset, count), (signed, from));
    }
    let mut answers = log.answers_telling(&|bytes| reading(&log, bytes))?;
    let damage = |answers: &Answers| answers.faults().first().map(ToString::to_string);
    let (offset, count) = match wanted {
        Wanted::Page { offset, count } => (offset, count),
        Wanted::Record(id) => {
            let mut history = answers.records(id)?;
            let is_sealed = source.sealed.contains(&id);
            if is_sealed {
                history.records.retain(|record| !is_vote(&record.event));
            }
            let earlier = answers.earlier_grant(&history)?;
            let contents = |digest: &Digest| log.blob(digest);
            let zone = TimeZone::system();
            let page = Dossier::of(id, &history, earlier, &contents, signed, &zone);
            // The screen has its rows, and to count and to find them takes longer than the page.
            return Ok(AuditPage {
                dossier: Some(Arc::new(page)),
                detail: Some(detail(&history, is_sealed)),
                damage: damage(&answers),
                anchored: signed,
                anchored_from: from,
                ..AuditPage::default()
            });
        }
    };
    let total = answers.count(all)?;
    let offset = offset.min(total);
    let rows = answers.page(all, offset, count)?;
    Ok(AuditPage {
        rows: rows.iter().map(row).collect(),
        offset,
        total,
        damage: damage(&answers),
        anchored: signed,
        anchored_from: from,
        ..AuditPage::default()
    })
}

/// Rows of records that belong to no proposal.
fn own_rows(
    log: &Log,
    own: &Own,
    (offset, count): (usize, usize),
    (signed, from): (u64, u64),
) -> Result<AuditPage, AuditError> {
    let all = log.own(own)?;
    let offset = offset.min(all.len());
    let some = all.iter().skip(offset).take(count);
    Ok(AuditPage {
        rows: some.map(|record| own_row(record, signed)).collect(),
        offset,
        total: all.len(),
        anchored: signed,
        anchored_from: from,
        ..AuditPage::default()
    })
}

fn own_row(record: &Record, signed: u64) -> AuditRow {
    let by = own_by(&record.event);
    let long = |at: Timestamp| time(at, "%Y-%m-%d %H:%M:%S");
    let given = |text: &str| serde_json::Value::from(text).to_string();
    let mut said = own_said(record, &given, &long);
    if record.seq <= signed {
        said.push_str("; signed by a checkpoint");
    }
    let mut own = vec![
        format!(
            "{} {}, seq {}",
            long(record.ts),
            record.event.kind(),
            record.seq
        ),
        format!("    {said}"),
    ];
    own.extend(fields(record));
    AuditRow {
        time: time(record.ts, SHORT),
        decided: time(record.ts, SHORT),
        by: by.map_or_else(String::new, |by| {
            by.login.clone().unwrap_or_else(|| by.uid.to_string())
        }),
        state: record.event.kind().to_owned(),
        title: said,
        own,
        ..AuditRow::default()
    }
}

/// A time of a row.
const SHORT: &str = "%m-%d %H:%M:%S";

fn time(at: Timestamp, form: &str) -> String {
    at.to_zoned(TimeZone::system()).strftime(form).to_string()
}

/// The newest rows while a log of so many bytes is read; nothing if that takes no longer than a moment, or if a question
/// or one proposal is asked for.
fn newest(log: &Log, bytes: u64, asked: &Asked) -> Option<AuditPage> {
    const LONG: u64 = 16_000_000;
    let Wanted::Page { offset: 0, count } = asked.wanted else {
        return None;
    };
    if bytes < LONG || !asked.query.is_empty() {
        return None;
    }
    let rows = log.newest(count).ok()?;
    Some(AuditPage {
        total: rows.len(),
        rows: rows.iter().map(row).collect(),
        reading: Some(bytes),
        ..AuditPage::default()
    })
}

fn row(p: &Logged) -> AuditRow {
    let time = |at: Timestamp| time(at, SHORT);
    let settled = p.settled.as_ref();
    let person = |by: &Person| match &by.login {
        Some(login) => login.to_string(),
        None => by.uid.to_string(),
    };
    AuditRow {
        time: time(p.time),
        decided: settled.map_or_else(String::new, |s| time(s.at)),
        by: settled
            .and_then(|s| s.by.as_ref())
            .map_or_else(String::new, person),
        after: settled
            .and_then(|s| s.after)
            .map_or_else(String::new, short),
        looked: settled
            .and_then(|s| s.looked)
            .map_or_else(String::new, short),
        ran: settled.and_then(|s| s.ran).map_or_else(String::new, short),
        id: Some(p.id),
        agent: p.agent.clone(),
        profile: p.profile.clone(),
        verdict: p.verdict.to_string(),
        state: p.state.to_string(),
        title: p.title.clone().unwrap_or_default(),
        own: Vec::new(),
    }
}

/// `41 ms`, `34 s`, `12 min`, `5 h`, `3 d`.
fn short(time: Duration) -> String {
    let s = time.as_secs();
    match s {
        0 => format!("{} ms", time.as_millis()),
        1..60 => format!("{s} s"),
        60..3600 => format!("{} min", s / 60),
        3600..172_800 => format!("{} h", s / 3600),
        _ => format!("{} d", s / 86_400),
    }
}

/// The records of one proposal with their fields.
fn detail(history: &History, is_sealed: bool) -> Vec<String> {
    let mut lines = Vec::new();
    lines.push("The records, as they were written:".to_owned());
    if is_sealed {
        lines.push("Votes are not among them before yours is in.".to_owned());
    }
    for record in &history.records {
        let at = time(record.ts, "%Y-%m-%d %H:%M:%S%.3f");
        lines.push(format!("{at} {}, seq {}", record.event.kind(), record.seq));
        lines.extend(fields(record));
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

const fn is_vote(event: &LogEvent) -> bool {
    matches!(event, LogEvent::Voted(_) | LogEvent::VoteRefused { .. })
}

/// The fields of a record as they were written.
fn fields(record: &Record) -> Vec<String> {
    // A LogEvent was read from JSON, so it can be written as JSON.
    let fields = serde_json::to_value(&record.event).unwrap_or_default();
    let fields = fields.as_object().into_iter().flatten();
    let shown = fields.filter(|(name, value)| {
        !matches!(name.as_str(), "kind" | "id" | "events" | "accesses") && !value.is_null()
    });
    shown
        .map(|(name, value)| format!("    {name}: {value}"))
        .collect()
}
