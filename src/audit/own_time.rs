//! What time it is by the log itself: a clock that was set ahead must not make all records old.
//!
//! Each record has the time of a clock that nobody sets (CLOCK_BOOTTIME) beside that of the wall. Within one boot of the
//! machine the former says what passed. Between two boots only the wall does, and of what it says no more counts than a
//! bound: a clock that is a year ahead ages the log by that bound, once.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::Log;
use super::contents::Look;
use super::error::AuditError;
use super::judge::{self, Read};
use super::open::boot_id;
use crate::clock::Now;

/// The time since the first record, as far as it is sure.
struct Passed {
    /// The most that counts between two boots.
    most: Duration,
    first: Option<Timestamp>,
    last: Option<(String, u64, Timestamp)>,
    total: Duration,
}

impl Passed {
    fn new(most: Duration) -> Self {
        Self {
            most,
            first: None,
            last: None,
            total: Duration::ZERO,
        }
    }

    fn step(&mut self, boot: &str, mono_ns: u64, at: Timestamp) {
        self.first.get_or_insert(at);
        let passed = match &self.last {
            None => Duration::ZERO,
            Some((same, before, _)) if same == boot => {
                // It does not go back: what it said before was false, and does not count.
                let back = Duration::from_nanos(before.saturating_sub(mono_ns));
                self.total = self.total.saturating_sub(back);
                Duration::from_nanos(mono_ns.saturating_sub(*before))
            }
            Some((_, _, before)) => {
                let by_wall = Duration::try_from(at.duration_since(*before));
                by_wall.unwrap_or_default().min(self.most)
            }
        };
        self.total = self.total.saturating_add(passed);
        match &mut self.last {
            Some((same, mono, wall)) if same == boot => (*mono, *wall) = (mono_ns, at),
            last => *last = Some((boot.to_owned(), mono_ns, at)),
        }
    }

    fn now(&self) -> Option<Timestamp> {
        let passed = SignedDuration::try_from(self.total).ok()?;
        self.first?.checked_add(passed).ok()
    }
}

/// The time by the log, which is never ahead of the wall's clock; `most` counts between two boots. `None` for a log without
/// records.
///
/// # Errors
/// When the log cannot be read.
pub fn own_time(log: &Log, most: Duration) -> Result<Option<Timestamp>, AuditError> {
    let mut passed = Passed::new(most);
    judge::read(&log.layout, Look::There, |read| {
        if let Read::Record(_, record) = read {
            passed.step(&record.boot_id, record.mono_ns, record.ts);
        }
    })?;
    let now = Now::read();
    if passed.first.is_some() {
        let boot = u64::try_from(now.boot.as_nanos()).unwrap_or(u64::MAX);
        passed.step(&boot_id(), boot, now.wall);
    }
    Ok(passed.now().map(|own| own.min(now.wall)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const DAY: u64 = 24 * 3600;

    fn at(days: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24 * (20_000 + days))
    }

    /// The days that passed by a log of these records: boot, days by the clock that nobody sets, days by the wall's.
    fn days(records: &[(&str, u64, i64)]) -> u64 {
        let mut passed = Passed::new(Duration::from_secs(3 * DAY));
        for (boot, mono, wall) in records {
            passed.step(boot, mono * DAY * 1_000_000_000, at(*wall));
        }
        let own = passed.now().unwrap().duration_since(passed.first.unwrap());
        own.as_secs().unsigned_abs() / DAY
    }

    #[test]
    fn what_passed_within_a_boot_counts_whatever_the_wall_says() {
        assert_eq!(days(&[("a", 1, 0), ("a", 41, 40)]), 40);
        // Set a year ahead, and back.
        assert_eq!(days(&[("a", 1, 0), ("a", 1, 365), ("a", 2, 366)]), 1);
        assert_eq!(days(&[("a", 1, 365), ("a", 11, 10)]), 10);
    }

    #[test]
    fn a_record_of_later_than_what_follows_in_its_boot_ages_nothing() {
        assert_eq!(days(&[("a", 1, 0), ("a", 367, 1), ("a", 3, 2)]), 2);
        assert_eq!(days(&[("a", 9, 0), ("a", 5, 1), ("a", 10, 2)]), 5);
    }

    #[test]
    fn between_boots_the_wall_counts_up_to_a_bound() {
        assert_eq!(days(&[("a", 9, 0), ("b", 0, 2), ("c", 0, 4)]), 4);
        assert_eq!(days(&[("a", 9, 0), ("b", 0, 365), ("b", 1, 366)]), 4);
        assert_eq!(days(&[("a", 9, 100), ("b", 0, 0), ("b", 5, 5)]), 5);
    }
}
