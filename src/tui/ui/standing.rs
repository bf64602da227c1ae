//! What is on the screen, and since when. A row counts as seen after [`DWELL`] on the screen;
//! pressing keys only scrolls.

use std::ops::Range;
use std::time::Duration;

use super::super::interval::IntervalSet;

/// How long a row must be on the screen to count as seen.
pub const DWELL: Duration = Duration::from_millis(150);

/// Ranges on the screen, sorted and disjoint, each with the boot time when it appeared.
#[derive(Clone, Debug, Default)]
pub(in crate::tui) struct Standing {
    ranges: Vec<(Range<usize>, Duration)>,
}

impl Standing {
    /// Records a frame, completely written at `at`, that shows exactly these ranges. Parts that the
    /// previous frame also showed keep their earlier times.
    pub fn show(&mut self, shown: impl IntoIterator<Item = Range<usize>>, at: Duration) {
        let mut now = IntervalSet::default();
        for range in shown {
            now.insert(range);
        }
        let before = std::mem::take(&mut self.ranges);
        for range in now.iter() {
            let mut from = range.start;
            let first = before.partition_point(|(r, _)| r.end <= from);
            for (old, since) in &before[first..] {
                if old.start >= range.end {
                    break;
                }
                self.push(from..old.start, at);
                self.push(from.max(old.start)..old.end.min(range.end), *since);
                from = old.end.min(range.end);
            }
            self.push(from..range.end, at);
        }
    }

    fn push(&mut self, range: Range<usize>, since: Duration) {
        if range.start < range.end {
            self.ranges.push((range, since));
        }
    }

    /// Lets no time count that these ranges have stood so far.
    pub fn begin_anew(&mut self, at: Duration) {
        for (_, since) in &mut self.ranges {
            *since = at;
        }
    }

    /// Records that none of the ranges are on the screen any more.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }

    /// The ranges shown long enough at `now`, ignoring the time before `from`.
    pub fn settled(&self, from: Duration, now: Duration) -> impl Iterator<Item = Range<usize>> {
        self.ranges
            .iter()
            .filter(move |(_, since)| ripe(*since, from) <= now)
            .map(|(range, _)| range.clone())
    }

    /// When the next range outside `seen` will have been shown long enough.
    pub fn due(&self, from: Duration, seen: &IntervalSet) -> Option<Duration> {
        self.ranges
            .iter()
            .filter(|(range, _)| !seen.covers(range))
            .map(|(_, since)| ripe(*since, from))
            .min()
    }
}

fn ripe(since: Duration, from: Duration) -> Duration {
    since.max(from).saturating_add(DWELL)
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)] // A list of ranges may have one.
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn settled(s: &Standing, from: u64, now: u64) -> Vec<Range<usize>> {
        s.settled(ms(from), ms(now)).collect()
    }

    #[test]
    fn a_range_counts_after_it_stood_for_the_dwell_and_not_before() {
        let mut s = Standing::default();
        s.show([0..10], ms(1000));
        assert!(settled(&s, 0, 1149).is_empty());
        assert_eq!(settled(&s, 0, 1150), [0..10]);
        // Time within the grace period does not count.
        assert!(settled(&s, 1500, 1649).is_empty());
        assert_eq!(settled(&s, 1500, 1650), [0..10]);
        let mut seen = IntervalSet::default();
        assert_eq!(s.due(ms(1500), &seen), Some(ms(1650)));
        seen.insert(0..10);
        assert_eq!(s.due(ms(1500), &seen), None);
    }

    #[test]
    fn what_stays_keeps_its_time_and_what_went_begins_anew() {
        let mut s = Standing::default();
        s.show([0..10, 20..30], ms(0));
        s.show([5..25], ms(100));
        assert_eq!(settled(&s, 0, 150), [5..10, 20..25]);
        s.show([0..30], ms(160));
        assert_eq!(settled(&s, 0, 160), [5..10, 20..25]);
        assert_eq!(settled(&s, 0, 250), [5..10, 10..20, 20..25]);
    }

    proptest! {
        /// Compares with a simple definition: a point counts if every frame of the last 150 ms had
        /// it.
        #[test]
        fn the_watch_agrees_with_points_that_are_watched_one_by_one(
            frames in prop::collection::vec((0_u64..90, prop::collection::vec((0_usize..40, 0_usize..15), 0..4)), 1..12),
        ) {
            let mut s = Standing::default();
            let mut since = [None; 60];
            let mut now = 0;
            for (wait, ranges) in frames {
                now += wait;
                let ranges: Vec<_> = ranges.into_iter().map(|(a, n)| a..a + n).collect();
                for (i, since) in since.iter_mut().enumerate() {
                    match ranges.iter().any(|r| r.contains(&i)) {
                        true => *since = since.or(Some(now)),
                        false => *since = None,
                    }
                }
                s.show(ranges, ms(now));
                for at in [now, now + 150] {
                    let settled = settled(&s, 0, at);
                    for (i, since) in since.iter().enumerate() {
                        let counts = since.is_some_and(|t| t + 150 <= at);
                        prop_assert_eq!(settled.iter().any(|r| r.contains(&i)), counts);
                    }
                }
            }
        }
    }
}
