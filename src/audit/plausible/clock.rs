//! Where the wall clock was set while records were written.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::super::line::Record;
use super::super::open::UNKNOWN_BOOT;
use super::ROUNDING;

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
    boot: String,
    mono: Duration,
    wall: Timestamp,
}

/// A clock that is corrected a little was not set.
pub(super) const SET: SignedDuration = SignedDuration::from_secs(60);

#[derive(Debug, Default)]
pub(super) struct Clocks {
    last: Option<Clock>,
    pub set: Vec<ClockSet>,
}

impl Clocks {
    /// By how much this record is older than the one before it, by the clock of their boot.
    pub fn back(&self, record: &Record) -> Option<Duration> {
        let last = self.last.as_ref()?;
        let is_same = last.boot == record.boot_id && record.boot_id != UNKNOWN_BOOT;
        let back = last
            .mono
            .checked_sub(Duration::from_nanos(record.mono_ns))?;
        (is_same && back > ROUNDING).then_some(back)
    }

    /// By how much the last record is newer than now, if it is of this boot.
    pub fn ahead(&self, boot: &str, now: Duration) -> Option<Duration> {
        let last = self.last.as_ref()?;
        let is_same = last.boot == boot && boot != UNKNOWN_BOOT;
        let ahead = last.mono.checked_sub(now)?;
        (is_same && ahead > ROUNDING).then_some(ahead)
    }

    /// Whether the clock was set before this record.
    pub fn read(&mut self, record: &Record) -> bool {
        let mono = Duration::from_nanos(record.mono_ns);
        let Some(last) = &mut self.last else {
            self.last = Some(Clock {
                boot: record.boot_id.clone(),
                mono,
                wall: record.ts,
            });
            return false;
        };
        let passed = record.ts.duration_since(last.wall);
        let by = match last.boot == record.boot_id {
            true => {
                let signed = |time: Duration| SignedDuration::try_from(time).unwrap_or_default();
                let there = signed(mono) - signed(last.mono);
                Some(passed - there).filter(|by| by.abs() >= SET)
            }
            false => Some(passed).filter(SignedDuration::is_negative),
        };
        if last.boot != record.boot_id {
            last.boot.clone_from(&record.boot_id);
        }
        (last.mono, last.wall) = (mono, record.ts);
        let seconds = by.map(|by| by.as_secs());
        self.set.extend(seconds.map(|seconds| ClockSet {
            seq: record.seq,
            seconds,
        }));
        seconds.is_some()
    }
}
