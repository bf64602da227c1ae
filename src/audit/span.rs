//! The order of records that one dashboard writes: it opens the log, writes and closes it.
//!
//! A killed dashboard does not close the log, so `opened` may follow any record. Records of a recovery and of
//! commands stand outside. Clocks are compared only between records of one dashboard: CLOCK_BOOTTIME never
//! goes back while one program writes. The wall clock can be set at any time, so neither `ts` nor deadlines,
//! which depend on it, are judged.
//!
//! Pauses of agents belong to one dashboard: it pauses an agent once, resumes only what is paused, and its end ends
//! them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::line::Record;
use crate::model::{AgentId, LogEvent};

/// Whether a dashboard has the log open, according to the records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Span {
    /// Earlier records are missing, in quarantine, or of a later version.
    #[default]
    Unknown,
    Open,
    Closed,
}

/// Judges the records of the dashboards that wrote a log, one after the other.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Spans {
    now: Span,
    /// Boot and clock of the current dashboard's last record.
    last: Option<(String, u64)>,
    /// The agents that the current dashboard paused; `None` if not all of its records are known.
    paused: Option<BTreeSet<AgentId>>,
}

impl Spans {
    /// Forgets the state: the records before the next one are unknown.
    pub fn unknown(&mut self) {
        self.now = Span::Unknown;
        self.last = None;
        self.paused = None;
    }

    /// Judges the next record.
    ///
    /// # Errors
    /// A description, when no dashboard can have written the record here. The next record is then judged as if
    /// this one were right.
    pub fn step(&mut self, record: &Record) -> Result<(), String> {
        let kind = record.event.kind();
        let before = self.now;
        let after = match record.event {
            LogEvent::Opened { .. } => {
                self.last = Some(clock(record));
                self.paused = Some(BTreeSet::new());
                Span::Open
            }
            LogEvent::Closed => Span::Closed,
            // The quarantined bytes may contain an `opened` or a `closed`.
            LogEvent::Recovered { .. } => {
                self.unknown();
                return Ok(());
            }
            // Written by a command, without a dashboard.
            LogEvent::Pruned { .. } | LogEvent::Replicated { .. } | LogEvent::Erased { .. } => {
                self.last = None;
                return Ok(());
            }
            _ => Span::Open,
        };
        self.now = after;
        if before == Span::Closed && !matches!(record.event, LogEvent::Opened { .. }) {
            return Err(format!("`{kind}` while no dashboard had the log open"));
        }
        self.check_clock(record)
            .and(self.check_pause(&record.event))
    }

    /// Checks that a pause begins once and ends only if it began.
    fn check_pause(&mut self, event: &LogEvent) -> Result<(), String> {
        let Some(paused) = &mut self.paused else {
            return Ok(());
        };
        match event {
            LogEvent::Paused { agent, .. } if !paused.insert(agent.clone()) => {
                Err("`paused` of an agent that was paused".to_owned())
            }
            LogEvent::Resumed { agent, .. } if !paused.remove(agent) => {
                Err("`resumed` of an agent that was not paused".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Checks that the monotonic clock does not go back.
    fn check_clock(&mut self, record: &Record) -> Result<(), String> {
        let Some(last) = &mut self.last else {
            return Ok(());
        };
        match std::mem::replace(last, clock(record)) {
            (boot, _) if boot != record.boot_id => Err(format!(
                "`{}` in another boot of the machine (`{}`) than the record before it, `{boot}`, which the \
                 same dashboard wrote",
                record.event.kind(),
                record.boot_id
            )),
            (_, ns) if ns > record.mono_ns => Err(format!(
                "`{}` is {} ns older than the record before it, by a clock that does not go back",
                record.event.kind(),
                ns - record.mono_ns
            )),
            _ => Ok(()),
        }
    }
}

fn clock(record: &Record) -> (String, u64) {
    (record.boot_id.clone(), record.mono_ns)
}

#[cfg(test)]
#[path = "span_tests.rs"]
mod tests;
