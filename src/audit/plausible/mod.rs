//! What a record of a sound chain says although this program never writes it: looks that are longer than there was anything
//! to look at, grants of what was not shown or not in time, runs that took longer than they could.
//!
//! [`super::life`] and [`super::span`] judge the order of records; here is what their fields cannot have. Only clocks that
//! nobody can set are compared (CLOCK_BOOTTIME within one boot): the wall's can be put back at any time. A field that an
//! earlier version did not write is nothing odd.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::error::{Damage, Named};
use super::line::Record;
use super::scan::Line;
use crate::model::{LogEvent, ProposalId, Viewed, grouped};

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
    started: Option<Duration>,
}

/// Judges the records of a log, or of one proposal, in their order.
#[derive(Debug, Default)]
pub(super) struct Plausible {
    told: HashMap<ProposalId, Told>,
    boots: Option<Arc<str>>,
    opened: Opened,
    pub odd: Named,
    clock: Option<Clock>,
    pub set: Vec<ClockSet>,
}

/// The wall clock was set while records were written: nothing odd, but their times do not say by themselves when
/// something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClockSet {
    /// The first record that has the new time.
    pub seq: u64,
    /// By how much, in seconds; less than 0 if it was put back. Between two boots only what was put back is known.
    pub seconds: i64,
}

/// What the clocks said at a record.
#[derive(Debug)]
struct Clock {
    boot: Arc<str>,
    mono: Duration,
    wall: Timestamp,
}

/// A clock that is corrected a little was not set.
const SET: SignedDuration = SignedDuration::from_secs(60);

/// Whether a dashboard opened the log before.
#[derive(Debug, Default)]
enum Opened {
    /// Nobody asks: single proposals, or a log whose beginning is not there.
    #[default]
    Unknown,
    /// Not yet: the records so far that only a dashboard writes, and the first ones.
    Not(Named),
    Yes,
}

impl Plausible {
    /// For all records of a log.
    pub fn of_log() -> Self {
        Self {
            opened: Opened::Not(Named::default()),
            ..Self::default()
        }
    }

    pub fn read(&mut self, line: &Line<'_>, record: &Record) {
        let damage = |what: String| Damage {
            file: line.file.to_owned(),
            line: Some(line.number),
            seq: Some(line.seq),
            what,
        };
        if let Some(what) = self.fields(record) {
            self.odd.add(damage(what));
        }
        self.opens(record, damage);
        self.clock(record);
    }

    fn clock(&mut self, record: &Record) {
        let now = Clock {
            boot: self.boot(record),
            mono: Duration::from_nanos(record.mono_ns),
            wall: record.ts,
        };
        let Some(last) = self.clock.replace(now) else {
            return;
        };
        let passed = record.ts.duration_since(last.wall);
        let by = match *last.boot == *record.boot_id {
            true => {
                let mono = |time: Duration| SignedDuration::try_from(time).unwrap_or_default();
                let there = mono(Duration::from_nanos(record.mono_ns)) - mono(last.mono);
                Some(passed - there).filter(|by| by.abs() >= SET)
            }
            false => Some(passed).filter(SignedDuration::is_negative),
        };
        if let Some(by) = by {
            self.set.push(ClockSet {
                seq: record.seq,
                seconds: by.as_secs(),
            });
        }
    }

    fn opens(&mut self, record: &Record, damage: impl Fn(String) -> Damage) {
        let Opened::Not(before) = &mut self.opened else {
            return;
        };
        match &record.event {
            LogEvent::Opened { .. } => {
                let before = std::mem::take(before);
                self.odd.join(before);
                self.opened = Opened::Yes;
            }
            // The bytes in quarantine may have it.
            LogEvent::Recovered { .. } => self.opened = Opened::Unknown,
            _ if record.seq == 1 || before.count > 0 => {
                let kind = record.event.kind();
                before.add(damage(format!(
                    "`{kind}` before a dashboard opened the log"
                )));
            }
            // The beginning was removed.
            _ => self.opened = Opened::Unknown,
        }
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
                time: time.filter(|time: &Duration| !time.is_zero()),
                findings: p.verdict.findings.len() as u64,
                started: None,
            };
            self.told.insert(id, told);
            return None;
        }
        let boot = self.boot(record);
        let told = self.told.get_mut(&id)?;
        // Nobody can compare clocks of two boots.
        if told.boot != boot {
            self.told.remove(&id);
            return None;
        }
        let odd = told.fields(&record.event, now);
        if record.event.state().is_some_and(|state| state.is_final()) {
            self.told.remove(&id);
        }
        odd
    }
}

impl Told {
    fn fields(&mut self, event: &LogEvent, now: Duration) -> Option<String> {
        let kind = event.kind();
        let last = std::mem::replace(&mut self.last, now);
        if now < last {
            return Some(format!(
                "`{kind}` is {} ms older than the proposal's record before it, by a clock that does not go back",
                grouped(millis(last.saturating_sub(now)))
            ));
        }
        let since = now.saturating_sub(self.asked);
        match event {
            LogEvent::Edited(e) => {
                self.findings = e.verdict.findings.len() as u64;
                None
            }
            LogEvent::Granted(g) => {
                let shown = g.viewed.findings_shown;
                if shown < self.findings {
                    let s = if self.findings == 1 { "" } else { "s" };
                    return Some(format!(
                        "`granted` although {shown} of {} finding{s} had been shown",
                        self.findings
                    ));
                }
                if let Some(time) = self.time.filter(|time| since > *time + LATE) {
                    return Some(format!(
                        "`granted` {} s after its time of {} s was over",
                        grouped(since.saturating_sub(time).as_secs()),
                        grouped(time.as_secs())
                    ));
                }
                looked(kind, &g.viewed, since)
            }
            LogEvent::Denied { viewed, .. } => looked(kind, viewed, since),
            LogEvent::Drilled(d) => looked(kind, d.viewed.as_ref()?, since),
            LogEvent::Started { .. } => {
                self.started = Some(now);
                None
            }
            LogEvent::Finished(f) => {
                let there = now.saturating_sub(self.started?);
                let ran = Duration::from_millis(f.duration_ms);
                (ran > there + ROUNDING).then(|| {
                    format!(
                        "`finished` after {} ms, {} ms after it was started",
                        grouped(f.duration_ms),
                        grouped(millis(there))
                    )
                })
            }
            _ => None,
        }
    }
}

fn looked(kind: &str, viewed: &Viewed, since: Duration) -> Option<String> {
    let ms = viewed.selected_ms.max(viewed.focused_ms.unwrap_or(0));
    if Duration::from_millis(ms) > since + ROUNDING {
        return Some(format!(
            "`{kind}` after a look of {} ms, {} ms after it was proposed",
            grouped(ms),
            grouped(millis(since))
        ));
    }
    let focused = viewed.focused_ms.filter(|ms| *ms > viewed.selected_ms)?;
    Some(format!(
        "`{kind}` after {} ms of a look with the focus, in {} ms of a look",
        grouped(focused),
        grouped(viewed.selected_ms)
    ))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "plausible_tests.rs"]
mod tests;
