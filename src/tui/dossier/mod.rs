//! The page of one proposal of the log: what happened, the code with its findings, the verdict, what a person changed,
//! the inputs, the isolation, the output and the files, and whether all of it is as it was written.
//!
//! Made away from the loop, of records and contents that were hashed again. A copied log may be crafted: texts of it
//! stand in quotes within sentences, or behind a gutter in which they cannot print. Nothing of the page can be granted.

mod page;
mod parts;
mod replay;

pub(super) use replay::Replay;

#[cfg(test)]
pub(super) mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::audit::{Earlier, History, Playback, Record, erased};
use crate::model::{Digest, LogEvent, ProposalId, State, StreamName, VerdictKind};

use super::diff::Diff;
use super::gutter::Gutter;
use super::theme::Role;
use super::words::dossier as words;

/// Lines of one text that the page shows.
const LINES: usize = 2000;
/// Lines of a file that the page shows, and bytes of a file that it reads.
const FILE_LINES: usize = 40;
const FILE_BYTES: u64 = 1024 * 1024;
/// Characters of a text within a sentence.
const QUOTED: usize = 400;

/// One proposal, in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dossier {
    pub id: ProposalId,
    /// Whether it waits or runs, as far as the log says.
    is_open: bool,
    /// What became of it, and the verdict on what was decided.
    state: Option<State>,
    verdict: Option<VerdictKind>,
    parts: Vec<(Part, Vec<Row>)>,
    /// What the run printed, if the log has it.
    plays: Option<Arc<Playback>>,
}

/// A part of the page, in the order in which they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Timeline,
    Code,
    Verdict,
    Diff,
    Inputs,
    Isolation,
    Output,
    Files,
    Records,
}

impl Part {
    const fn name(self) -> &'static str {
        match self {
            Self::Timeline => words::TIMELINE,
            Self::Code => words::CODE,
            Self::Verdict => words::VERDICT,
            Self::Diff => words::DIFF,
            Self::Inputs => words::INPUTS,
            Self::Isolation => words::ISOLATION,
            Self::Output => words::OUTPUT,
            Self::Files => words::FILES,
            Self::Records => words::RECORDS,
        }
    }
}

/// A paragraph of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Row {
    /// A sentence of the program, with texts of others in quotes.
    Told(String, Role),
    /// The same behind how long after the one before.
    Timed(String, String),
    /// The same behind a label: the program's, or a name that is plain or in quotes.
    Field(String, String, Role),
    /// A line of code: its number, its parts with their colours, and whether a finding is about it.
    Code(usize, Vec<(String, Role)>, bool),
    /// A finding, below its line.
    Finding(String, Role),
    Diff(Arc<Diff>),
    /// A line of another text: an input that came along, or what a run printed.
    Line(Gutter, usize, String),
}

/// Where a content comes from.
pub type Contents<'a> = &'a dyn Fn(&Digest) -> Result<Vec<u8>, String>;

impl Dossier {
    /// Collects the page. Takes its time for colours and differences. `earlier`: what was granted before to its agent under
    /// its title. `signed`: how many records the latest checkpoint signs.
    pub fn of(
        id: ProposalId,
        history: &History,
        earlier: Option<Earlier>,
        contents: Contents<'_>,
        signed: u64,
        zone: &TimeZone,
    ) -> Self {
        let mut texts = BTreeMap::new();
        for (_, digest) in history.records.iter().flat_map(|r| r.event.texts()) {
            let read = || contents(&digest);
            texts.entry(digest).or_insert_with(read);
        }
        let earlier = earlier.map(|earlier| {
            let code = contents(&earlier.code);
            let code = code.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            (earlier, code)
        });
        let source = Source {
            id,
            history,
            earlier,
            contents,
            texts,
            signed,
            zone,
        };
        let parts = vec![
            (Part::Timeline, source.timeline()),
            (Part::Code, source.code()),
            (Part::Verdict, source.verdict()),
            (Part::Diff, source.diff()),
            (Part::Inputs, source.inputs()),
            (Part::Isolation, source.isolation()),
            (Part::Output, source.output()),
            (Part::Files, source.files()),
            (Part::Records, source.records()),
        ];
        let records = &history.records;
        let played = source.finished();
        let played = played.map(|f| Playback::reading(f, records, contents));
        let plays = played.and_then(Result::ok).map(Arc::new);
        let plays = plays.filter(|played| !played.steps.is_empty());
        Self {
            id,
            is_open: source.stands().is_some(),
            state: source.events().filter_map(LogEvent::state).last(),
            verdict: source.judged(),
            parts,
            plays,
        }
    }

    /// Whether it waits or runs, as far as the log says: its page changes.
    pub(super) const fn is_open(&self) -> bool {
        self.is_open
    }

    pub(super) fn state(&self) -> Option<&'static str> {
        self.state.map(State::as_str)
    }

    pub(super) fn judged(&self) -> Option<&'static str> {
        self.verdict.map(VerdictKind::as_str)
    }

    /// What the run printed, to be played; `None` if nothing is there.
    pub(super) const fn plays(&self) -> Option<&Arc<Playback>> {
        self.plays.as_ref()
    }

    /// The part's number in the order of the page.
    pub(super) fn place(&self, part: Part) -> Option<usize> {
        self.parts.iter().position(|(is, _)| *is == part)
    }
}

/// What the page is made of.
struct Source<'a> {
    id: ProposalId,
    history: &'a History,
    /// What was granted before, and its code, or why that is not there.
    earlier: Option<(Earlier, Result<String, String>)>,
    contents: Contents<'a>,
    /// The contents that the records name, or why they are not there.
    texts: BTreeMap<Digest, Result<Vec<u8>, String>>,
    signed: u64,
    zone: &'a TimeZone,
}

impl Source<'_> {
    fn events(&self) -> impl Iterator<Item = &LogEvent> {
        self.history.records.iter().map(|record| &record.event)
    }

    fn first<'s, T>(&'s self, of: impl Fn(&'s LogEvent) -> Option<T>) -> Option<T> {
        let records: &'s [Record] = &self.history.records;
        records.iter().find_map(|record| of(&record.event))
    }

    fn time(&self, at: Timestamp) -> String {
        let at = at.to_zoned(self.zone.clone());
        at.strftime("%Y-%m-%d %H:%M:%S").to_string()
    }

    /// Who erased a content and when, if a record says so.
    fn erased(&self, digest: &Digest) -> Option<String> {
        erased(&self.history.records, digest, &|at| self.time(at))
    }

    fn text(&self, digest: &Digest) -> Result<String, String> {
        match self.texts.get(digest) {
            Some(Ok(bytes)) => Ok(String::from_utf8_lossy(bytes).into_owned()),
            Some(Err(why)) => {
                let why = self.erased(digest).unwrap_or_else(|| why.clone());
                Err(format!("{}{}: {why}", words::NOT_HERE, digest.hex()))
            }
            None => Err(format!("{}{}", words::NOT_HERE, digest.hex())),
        }
    }

    /// The lines of a content behind the gutter, or why it is not there.
    fn lines(&self, digest: &Digest, stream: StreamName) -> Vec<Row> {
        let text = match self.text(digest) {
            Ok(text) => text,
            Err(why) => return vec![Row::Told(why, Role::Bad)],
        };
        let mut rows = behind(&text, stream, LINES);
        rows.extend(self.rest(text.split_terminator('\n').count()));
        rows
    }

    /// How many lines the page leaves out.
    fn rest(&self, lines: usize) -> Option<Row> {
        let more = lines.saturating_sub(LINES);
        let said = || words::more_lines(more, &self.id.to_string());
        (more > 0).then(|| Row::Told(said(), Role::Dim))
    }

    /// What it waits for, if it has not ended.
    fn stands(&self) -> Option<&'static str> {
        let last = self.events().filter_map(LogEvent::state).last();
        match last {
            Some(State::Pending) => Some(words::WAITS),
            Some(State::Granted) => Some(words::STARTS),
            Some(State::Running) => Some(words::RUNS),
            _ => None,
        }
    }
}

/// The first lines of a text of others behind the gutter, in which they cannot print.
fn behind(text: &str, stream: StreamName, most: usize) -> Vec<Row> {
    let gutter = Gutter::of(stream, 0);
    let lines = text.split_terminator('\n').take(most).zip(1..);
    lines
        .map(|(line, n)| Row::Line(gutter, n, line.to_owned()))
        .collect()
}

/// A text in quotes, as JSON has it: nothing in it ends the quotes or the line.
fn quoted(text: &str) -> String {
    let cut: String = text.chars().take(QUOTED).collect();
    let more = if cut.len() < text.len() { " ..." } else { "" };
    format!("{}{more}", serde_json::Value::from(cut))
}

/// A name: in quotes unless it is plain.
fn name(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:".contains(c);
    match !text.is_empty() && text.len() <= QUOTED && text.chars().all(plain) {
        true => text.to_owned(),
        false => quoted(text),
    }
}
