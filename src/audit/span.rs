//! Which records a dashboard's own life allows: it opens the log, writes, and closes it.
//!
//! A dashboard that is killed closes nothing, so an `opened` may follow anything. What a start sets
//! aside and what a person does from the command line stand outside. Clocks are judged only within one
//! such life: CLOCK_BOOTTIME never goes back while one program writes. The wall clock may be set at any
//! time, so neither `ts` nor a deadline, which is kept by it, is judged.

use super::line::Record;
use crate::model::LogEvent;

/// Whether a dashboard has the log open, as far as its records say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Span {
    /// The log's beginning, which may have been removed or set aside, or a place where a later version
    /// wrote.
    #[default]
    Unknown,
    Open,
    Closed,
}

/// The lives of the dashboards that wrote a log, one after the other.
#[derive(Debug, Default)]
pub(super) struct Spans {
    now: Span,
    /// Boot and clock of the last record of the dashboard that opened the log.
    last: Option<(String, u64)>,
}

impl Spans {
    /// The records before the next one are not known.
    pub fn unknown(&mut self) {
        self.now = Span::Unknown;
        self.last = None;
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// In words, when no dashboard can have written it there. The next one is then judged by what this
    /// one says.
    pub fn step(&mut self, record: &Record) -> Result<(), String> {
        let kind = record.event.kind();
        let before = self.now;
        let after = match record.event {
            LogEvent::Opened { .. } => {
                self.last = Some(clock(record));
                Span::Open
            }
            LogEvent::Closed => Span::Closed,
            // What was set aside may be an `opened` or a `closed`.
            LogEvent::Recovered { .. } => {
                self.unknown();
                return Ok(());
            }
            // Of a command without a dashboard.
            LogEvent::Pruned { .. } | LogEvent::Replicated { .. } => {
                self.last = None;
                return Ok(());
            }
            _ => Span::Open,
        };
        self.now = after;
        if before == Span::Closed && !matches!(record.event, LogEvent::Opened { .. }) {
            return Err(format!("`{kind}` while no dashboard had the log open"));
        }
        self.forward(record)
    }

    /// The clock that nobody can set does not go back.
    fn forward(&mut self, record: &Record) -> Result<(), String> {
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
