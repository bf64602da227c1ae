//! Follows a log while a dashboard writes it: each look reads only what is new.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::AuditError;
use super::contents::Look;
use super::index::Index;
use super::judge::{Judging, Read, Reader};
use super::layout::Layout;
use super::life::Lives;
use super::lock::{self, Holder};
use super::log::{Dashboard, Log};
use super::open::LONG;
use super::scan::Walk;
use super::vouched::Vouched;
use crate::model::{LogEvent, ProposalId, State, VerdictKind};

/// What a status bar shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub dashboard: Option<Dashboard>,
    /// Whether there is a log.
    pub log: bool,
    pub damaged: bool,
    pub pending: u64,
    /// How many of the pending ones are flagged.
    pub flagged: u64,
    /// Granted or running.
    pub running: u64,
    /// When the first of the pending ones expires.
    pub expires_at: Option<Timestamp>,
}

/// What is kept of a proposal: whether it is flagged, and when it expires.
type Waiting = HashMap<ProposalId, (bool, Timestamp)>;

/// Whoever writes the log, the number of its last segment and that segment's length: while they stay the same, the
/// log does.
type Stamp = (Holder, u64, u64);

/// A log that is looked at again and again.
pub struct Watch {
    layout: Layout,
    stamp: Option<Stamp>,
    reading: Option<Reading>,
    counts: Counts,
    /// From which length on the index is asked.
    long: u64,
}

/// What was read so far.
struct Reading {
    walk: Walk,
    judging: Judging,
    waiting: Waiting,
    /// Whether it began behind proposals that it knows nothing of, because they had ended.
    begun_later: bool,
    /// Whether a record named one of these: it was judged without what went before.
    stranger: bool,
}

/// Takes in what is written.
struct Follower<'a> {
    waiting: &'a mut Waiting,
    unknown: bool,
    /// A record of an unknown proposal other than its first one.
    stranger: bool,
}

impl Reader for Follower<'_> {
    fn meets(&mut self, id: ProposalId, lives: &mut Lives) {
        self.unknown = !lives.knows(id);
    }

    fn reads(&mut self, read: Read<'_>, _lives: &mut Lives) {
        let Read::Record(_, record) = read else {
            return;
        };
        let first = matches!(record.event, LogEvent::Proposed(_));
        self.stranger |= record.event.id().is_some() && self.unknown && !first;
        learn(self.waiting, &record.event);
    }
}

fn learn(waiting: &mut Waiting, event: &LogEvent) {
    match event {
        LogEvent::Proposed(p) => {
            let flagged = p.verdict.verdict == VerdictKind::Flagged;
            waiting.insert(p.id, (flagged, p.expires_at));
        }
        LogEvent::Edited(e) => {
            if let Some((flagged, _)) = waiting.get_mut(&e.id) {
                *flagged = e.verdict.verdict == VerdictKind::Flagged;
            }
        }
        _ => {}
    }
}

impl Reading {
    /// Begins where the index of a long log ends, else at the log's beginning.
    fn begin(log: &Log, long: u64) -> Self {
        let is_long = log.layout.segment_bytes().is_ok_and(|bytes| bytes >= long);
        let mut waiting = Waiting::new();
        let found = is_long.then(|| {
            let index = Index::kept(log)?;
            index.handed_over(&mut |record| learn(&mut waiting, &record.event))
        });
        match found {
            Some(Ok((walk, judging))) => Self {
                walk,
                judging,
                waiting,
                begun_later: true,
                stranger: false,
            },
            _ => Self {
                walk: Walk::default(),
                judging: Judging::new(&log.layout, Look::There),
                waiting: Waiting::new(),
                begun_later: false,
                stranger: false,
            },
        }
    }

    fn go_on(&mut self, log: &Log) -> Result<(), AuditError> {
        let mut follower = Follower {
            waiting: &mut self.waiting,
            unknown: false,
            stranger: false,
        };
        let judging = &mut self.judging;
        judging.looks_again();
        self.walk
            .go_on(&log.layout, |line| judging.line(line, &mut follower))?;
        self.stranger = self.begun_later && follower.stranger;
        Ok(())
    }
}

impl Log {
    /// Watches a state folder; it need not have a log yet.
    pub fn watch(state_dir: &std::path::Path) -> Watch {
        Watch {
            layout: Layout::at(state_dir),
            stamp: None,
            reading: None,
            counts: Counts::default(),
            long: LONG,
        }
    }
}

impl Watch {
    /// The counts now.
    ///
    /// # Errors
    /// When a file cannot be read at all.
    pub fn look(&mut self) -> Result<&Counts, AuditError> {
        let stamp = self.stamp()?;
        if self.stamp == Some(stamp) {
            return Ok(&self.counts);
        }
        if self
            .stamp
            .is_some_and(|before| (stamp.1, stamp.2) < (before.1, before.2))
        {
            // It is another log, or one that lost its end.
            self.reading = None;
        }
        self.counts = self.read(stamp.0)?;
        self.stamp = Some(stamp);
        Ok(&self.counts)
    }

    /// Whether the log grew, or a dashboard came or went, since the last call. The first call says that it did.
    ///
    /// # Errors
    /// When a file cannot be read at all.
    pub fn changed(&mut self) -> Result<bool, AuditError> {
        let stamp = self.stamp()?;
        Ok(self.stamp.replace(stamp) != Some(stamp))
    }

    /// Whether a dashboard had the log open at the last look.
    pub fn is_written(&self) -> bool {
        self.stamp
            .is_some_and(|(holder, ..)| matches!(holder, Holder::Somebody { .. }))
    }

    fn stamp(&self) -> Result<Stamp, AuditError> {
        let holder = lock::holder(&self.layout);
        let holder = holder.map_err(|e| AuditError::io(self.layout.lock(), "read", e))?;
        let last = self.layout.segments().unwrap_or_default().pop();
        let length = last.map(|number| self.layout.segment(number).symlink_metadata());
        let length = length.and_then(Result::ok).map_or(0, |meta| meta.len());
        Ok((holder, last.unwrap_or(0), length))
    }

    fn read(&mut self, holder: Holder) -> Result<Counts, AuditError> {
        let dashboard = match holder {
            Holder::Nobody => None,
            Holder::Somebody { pid, down } => Some(Dashboard { pid, down }),
        };
        if holder.writes_nothing() {
            // Nobody can decide on what is open. The journal may have more than the segments, so all is read.
            self.reading = None;
            let summary = |log: Log| match log.layout.segment_bytes() {
                Ok(bytes) if bytes >= self.long => log.answers()?.summary(),
                _ => log.summary(),
            };
            let summary = match Log::open(&self.layout.state).and_then(summary) {
                Ok(summary) => Some(summary),
                Err(AuditError::None { .. }) => None,
                Err(e) => return Err(e),
            };
            return Ok(Counts {
                dashboard,
                log: summary.is_some(),
                damaged: summary.is_some_and(|s| s.faults.first().is_some()),
                ..Counts::default()
            });
        }
        let log = Log {
            vouched: Vouched::Nothing,
            layout: self.layout.clone(),
        };
        let mut reading = match self.reading.take() {
            Some(reading) => reading,
            None => Reading::begin(&log, self.long),
        };
        reading.go_on(&log)?;
        if reading.stranger {
            // The index has it.
            reading = Reading::begin(&log, self.long);
            reading.go_on(&log)?;
        }
        let Reading {
            walk,
            judging,
            waiting,
            ..
        } = self.reading.insert(reading);
        let open = judging.lives.open();
        let pending: HashSet<ProposalId> = open
            .iter()
            .filter(|(_, state)| *state == State::Pending)
            .map(|(id, _)| *id)
            .collect();
        waiting.retain(|id, _| pending.contains(id));
        let mut counts = Counts {
            dashboard,
            log: true,
            damaged: judging.faults().first().is_some() || walk.scanned().damage.is_some(),
            ..Counts::default()
        };
        counts.pending = pending.len() as u64;
        counts.running = open.len() as u64 - counts.pending;
        counts.flagged = waiting.values().filter(|(flagged, _)| *flagged).count() as u64;
        counts.expires_at = waiting.values().map(|(_, at)| *at).min();
        Ok(counts)
    }
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
