//! A set of byte ranges: the parts of a document that were on the screen.

use std::collections::BTreeMap;
use std::ops::Range;

/// Disjoint, non-touching, sorted ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntervalSet {
    /// Start → end (exclusive).
    ranges: BTreeMap<usize, usize>,
}

impl IntervalSet {
    pub fn insert(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let (mut start, mut end) = (range.start, range.end);
        // Merges every range that overlaps or touches, from the right: amortised constant time.
        while let Some((&s, &e)) = self.ranges.range(..=end).next_back() {
            if e < start {
                break;
            }
            start = start.min(s);
            end = end.max(e);
            self.ranges.remove(&s);
        }
        self.ranges.insert(start, end);
    }

    pub fn covers(&self, range: &Range<usize>) -> bool {
        range.is_empty()
            || self
                .ranges
                .range(..=range.start)
                .next_back()
                .is_some_and(|(_, &end)| end >= range.end)
    }

    /// The first gap in `0..total`.
    pub fn first_gap(&self, total: usize) -> Option<Range<usize>> {
        let mut at = 0;
        for (&start, &end) in &self.ranges {
            if start > at {
                return Some(at..start.min(total)).filter(|r| !r.is_empty());
            }
            at = end;
        }
        (at < total).then_some(at..total)
    }

    pub fn iter(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.ranges.iter().map(|(&s, &e)| s..e)
    }

    pub fn clear(&mut self) {
        self.ranges.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_interval_set_agrees_with_a_set_of_points(ranges in prop::collection::vec((0_usize..60, 0_usize..20), 0..20)) {
            let mut set = IntervalSet::default();
            let mut points = [false; 100];
            for (start, len) in ranges {
                set.insert(start..start + len);
                points[start..start + len].fill(true);
            }
            for start in 0..80 {
                for end in start..80 {
                    prop_assert_eq!(set.covers(&(start..end)), points[start..end].iter().all(|p| *p));
                }
            }
            let gap = points.iter().position(|p| !p);
            prop_assert_eq!(set.first_gap(100).map(|r| r.start), gap);
            if let Some(gap) = set.first_gap(100) {
                prop_assert!(points[gap.clone()].iter().all(|p| !p));
                prop_assert!(gap.end == 100 || points[gap.end]);
            }
        }
    }
}
