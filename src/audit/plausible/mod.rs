//! What a record of a sound chain says although this program never writes it: looks that are longer than there was anything
//! to look at, grants of what was not shown or not in time, runs that took longer than they could, fields that contradict
//! those of another record.
//!
//! [`super::life`] and [`super::span`] judge the order of records; here is what their fields cannot have, by rooms: who
//! opened the dashboard (`session`), what was asked (`asked`), decided (`decided`), granted (`granted`), by which votes
//! (`votes`), what ran (`ran`), and what is gone (`gone`). Durations are compared by a clock that nobody can set (CLOCK_BOOTTIME within one boot); times of
//! the wall only until somebody sets it (`clock`). A field that an earlier version did not write is nothing odd, and neither
//! is a digest of what was replaced by [`crate::secrets`].

mod asked;
mod clock;
mod decided;
mod gone;
mod granted;
mod ran;
mod session;
mod texts;
mod votes;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

pub use clock::ClockSet;

use super::error::{Damage, Named};
use super::layout::Layout;
use super::line::Record;
use super::scan::Line;
use crate::model::{Digest, Drill, LogEvent, ProposalId, grouped};

/// Rounding, and what passes between a measurement and its record.
const ROUNDING: Duration = Duration::from_secs(1);
/// How long a decision that came in time can wait for the disk.
const LATE: Duration = Duration::from_secs(60);

/// What one proposal said so far.
#[derive(Debug)]
struct Told {
    boot: Arc<str>,
    asked: Duration,
    last: Duration,
    /// How long a person had for it, if the record says so.
    time: Option<Duration>,
    /// Of the verdict on what would be granted.
    findings: u64,
    /// Of the code that would be granted.
    lines: u64,
    shown: decided::Shown,
    /// Identifies the inputs.
    inputs: Digest,
    /// Digests may be of what secrets were replaced by.
    is_redacted: bool,
    drill: Option<Drill>,
    allowed: ran::Allowed,
}

/// Judges the records of a log, or of one proposal, in their order.
#[derive(Debug, Default)]
pub(super) struct Plausible {
    told: HashMap<ProposalId, Told>,
    boots: Option<Arc<str>>,
    session: session::Session,
    /// `None` for single proposals.
    had: Option<gone::Had>,
    /// Whether the wall's clock was set since a dashboard was opened.
    is_set: bool,
    clocks: clock::Clocks,
    votes: votes::Votes,
    layout: Option<Layout>,
    /// Where the last record stands: its file, line and number.
    file: String,
    last: Option<(u64, u64)>,
    pub odd: Named,
}

impl Plausible {
    /// For all records of a log.
    pub fn of_log(layout: &Layout) -> Self {
        Self {
            session: session::Session::of_log(),
            had: Some(gone::Had::default()),
            ..Self::of_one(layout)
        }
    }

    /// For the records of one proposal.
    pub fn of_one(layout: &Layout) -> Self {
        Self {
            layout: Some(layout.clone()),
            ..Self::default()
        }
    }

    /// Where the wall's clock was set.
    pub fn set(&self) -> &[ClockSet] {
        &self.clocks.set
    }

    /// How many votes have a signature that was checked, and how many have a text that cannot be made again.
    pub fn votes(&self) -> (u64, u64) {
        (self.votes.checked, self.votes.unchecked)
    }

    /// A record of a later version.
    pub fn later(&mut self) {
        self.session.unknown();
        self.told.clear();
        self.votes.unknown();
        if let Some(had) = &mut self.had {
            had.cut();
        }
    }

    pub fn read(&mut self, line: &Line<'_>, record: &Record) {
        let damage = |what: String| Damage {
            file: line.file.to_owned(),
            line: Some(line.number),
            seq: Some(line.seq),
            what,
        };
        // Another dashboard makes ids by another clock.
        self.is_set &= !matches!(record.event, LogEvent::Opened { .. });
        let back = self.clocks.back(record).filter(|_| self.had.is_some());
        self.is_set |= self.clocks.read(record);
        if self.had.is_some() {
            self.last = Some((line.number, line.seq));
            if self.file != line.file {
                line.file.clone_into(&mut self.file);
            }
        }
        if let Some(had) = &mut self.had
            && !had.begins(record)
        {
            had.cut();
        }
        let (here, before) = self.session.read(record, &damage);
        self.odd.join(before);
        let gone = |had: &mut gone::Had| had.read(record);
        let voted = self.votes.read(record);
        let what = self
            .fields(record)
            .or(voted)
            .or(here)
            .or(self.had.as_mut().and_then(gone))
            .or_else(|| {
                let (kind, ms) = (record.event.kind(), grouped(millis(back?)));
                Some(format!("`{kind}` is {ms} ms older than the record before it, by a clock that does not go back"))
            });
        if let Some(what) = what {
            self.odd.add(damage(what));
        }
    }

    /// All records of a log are read. `now` is the time by the clock of this boot.
    pub fn ends(&mut self, boot: &str, now: Duration) {
        let (Some((number, seq)), Some(ahead)) = (self.last, self.clocks.ahead(boot, now)) else {
            return;
        };
        self.odd.add(Damage {
            file: self.file.clone(),
            line: Some(number),
            seq: Some(seq),
            what: format!(
                "it is {} ms newer than now, by a clock that nobody sets",
                grouped(millis(ahead))
            ),
        });
    }

    fn boot(&mut self, record: &Record) -> Arc<str> {
        match &self.boots {
            Some(boot) if **boot == *record.boot_id => boot.clone(),
            _ => self.boots.insert(record.boot_id.as_str().into()).clone(),
        }
    }

    /// What the fields of the next record cannot be.
    fn fields(&mut self, record: &Record) -> Option<String> {
        let id = record.event.id()?;
        let now = Duration::from_nanos(record.mono_ns);
        if let LogEvent::Proposed(p) = &record.event {
            let time = p.expires_at.duration_since(record.ts).try_into().ok();
            let told = Told {
                boot: self.boot(record),
                asked: now,
                last: now,
                time: time.filter(|time: &Duration| !time.is_zero() && !self.is_set),
                findings: p.verdict.findings.len() as u64,
                lines: p.verdict.source.lines,
                shown: decided::Shown::of(p),
                inputs: granted::inputs(&p.inputs),
                is_redacted: p.kept.is_some() || !record.redacted.is_empty(),
                drill: p.drill.clone(),
                allowed: ran::Allowed::default(),
            };
            self.told.insert(id, told);
            // Only a whole log says whether the clock was set.
            let timed = self.had.is_some() && !self.is_set;
            let timed = || timed.then(|| asked::timed(p, record.ts)).flatten();
            return asked::proposed(p).or_else(timed);
        }
        let boot = self.boot(record);
        let told = self.told.get_mut(&id)?;
        // Nobody can compare clocks of two boots.
        if told.boot != boot {
            self.told.remove(&id);
            return None;
        }
        let odd = told.fields(record, now, self.layout.as_ref());
        if record.event.state().is_some_and(|state| state.is_final()) {
            self.told.remove(&id);
        }
        odd
    }
}

impl Told {
    fn fields(
        &mut self,
        record: &Record,
        now: Duration,
        layout: Option<&Layout>,
    ) -> Option<String> {
        let kind = record.event.kind();
        let last = std::mem::replace(&mut self.last, now);
        if now < last {
            return Some(format!(
                "`{kind}` is {} ms older than the proposal's record before it, by a clock that does not go back",
                grouped(millis(last.saturating_sub(now)))
            ));
        }
        let since = now.saturating_sub(self.asked);
        match &record.event {
            LogEvent::Edited(e) => {
                self.findings = e.verdict.findings.len() as u64;
                self.lines = e.verdict.source.lines;
                self.shown.edited(&e.verdict);
                self.is_redacted |= e.kept.is_some() || !record.redacted.is_empty();
                asked::edited(e)
            }
            LogEvent::Granted(g) => {
                self.allowed.granted = Some(now);
                self.allowed.output = Some(g.limits.output_bytes);
                let is_redacted = self.is_redacted || !record.redacted.is_empty();
                let digest = || granted::contradicts(g, &self.inputs, layout);
                let digest = || (!is_redacted).then(digest).flatten();
                self.granted(&g.viewed, since)
                    .or_else(|| self.seen(kind, &g.viewed))
                    .or_else(digest)
            }
            LogEvent::Denied { viewed, .. } => {
                decided::looked(kind, viewed, since).or_else(|| self.seen(kind, viewed))
            }
            LogEvent::Drilled(_) => self.drilled(&record.event, since),
            LogEvent::Expired { .. } => self.expired(since),
            LogEvent::Started { .. } => {
                self.allowed.started = Some(now);
                None
            }
            LogEvent::Finished(f) => ran::finished(f, &self.allowed, now, layout),
            _ => None,
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod forged_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod votes_tests;
