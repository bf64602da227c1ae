//! Whether the checkpoints of one host fit each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::Timestamp;

use crate::model::Digest;

use super::admitted::Admitted;
use super::published::{Link, Published};

/// Sizes of which two logs are known that are looked at. One says all.
const FORKS_MAX: usize = 16;

/// What is known of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The numbers that the host gave it: the least and the greatest.
    pub numbers: (u64, u64),
    pub at: Timestamp,
    /// Of what it is proved that it extends them.
    from: BTreeSet<Link>,
    cosigners: BTreeSet<String>,
}

/// The checkpoints of one host, each of which it signed.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    points: BTreeMap<Link, Point>,
    /// The last that it said itself of a log that is not the one it signed.
    admitted: Option<Admitted>,
}

/// What a host signed contradicts what it signed before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Two logs have the same size, and not the same records.
    Forked { size: u64 },
    /// It published fewer records after more.
    RolledBack { from: u64, to: u64 },
    /// Both: after `from` records had been signed, the log went on from `to` of them with others.
    WentOn { from: u64, to: u64 },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forked { size } => write!(
                f,
                "FORK: it signed two logs that differ within the first {size} records; one of them was rewritten"
            ),
            Self::RolledBack { from, to } => write!(
                f,
                "ROLLED BACK: it signed {to} records after it had signed {from}; an older log was put in the place of the newer one"
            ),
            Self::WentOn { from, to } => write!(
                f,
                "ROLLED BACK, then a FORK: its log went on from {to} records after {from} had been signed; an older log was put in the \
                 place of the newer one"
            ),
        }
    }
}

impl Chain {
    pub fn add(&mut self, published: &Published) {
        let Published {
            size,
            root,
            number,
            at,
            ref from,
        } = *published;
        self.know((size, root), number, at).from.extend(from);
    }

    /// Takes what was seen earlier, without its proofs.
    pub fn know(&mut self, link: Link, number: u64, at: Timestamp) -> &mut Point {
        let point = self.points.entry(link).or_insert_with(|| Point {
            numbers: (number, number),
            at,
            from: BTreeSet::new(),
            cosigners: BTreeSet::new(),
        });
        point.numbers = (point.numbers.0.min(number), point.numbers.1.max(number));
        point.at = point.at.min(at);
        point
    }

    /// Takes what the host says itself of its log.
    pub fn admit(&mut self, admitted: Admitted) {
        let number = self.admitted.as_ref().map_or(0, |last| last.number);
        if admitted.number > number {
            self.admitted = Some(admitted);
        }
    }

    /// That its log is not the one that it signed, by its own word; `None` once it signed a log that has all of that again.
    pub fn admitted(&self) -> Option<&Admitted> {
        self.admitted.as_ref().filter(|admitted| {
            let mut points = self.points.iter();
            let has_all = |((size, _), point): (&Link, &Point)| {
                *size >= admitted.signed.0 && point.numbers.1 > admitted.number
            };
            !points.any(has_all)
        })
    }

    /// Whether anything is wrong with its log.
    pub fn is_doubted(&self) -> bool {
        self.admitted().is_some() || !self.doubts().is_empty()
    }

    /// Takes a signature of another host. False if its checkpoint is not here.
    pub fn cosign(&mut self, link: Link, cosigner: &str) -> bool {
        let point = self.points.get_mut(&link);
        point.is_some_and(|point| {
            point.cosigners.insert(cosigner.to_owned());
            true
        })
    }

    pub fn newest(&self) -> Option<(Link, &Point)> {
        self.points
            .last_key_value()
            .map(|(link, point)| (*link, point))
    }

    /// The greatest number that the host gave.
    pub fn number(&self) -> u64 {
        let numbers = self.points.values().map(|point| point.numbers.1);
        let admitted = self.admitted.iter().map(|admitted| admitted.number);
        numbers.chain(admitted).max().unwrap_or(0)
    }

    pub fn has(&self, link: Link) -> bool {
        self.points.contains_key(&link)
    }

    pub fn has_size(&self, size: u64) -> bool {
        self.of_size(size).next().is_some()
    }

    fn of_size(&self, size: u64) -> impl Iterator<Item = &Link> {
        let (least, most) = ([0; 32], [255; 32]);
        let range = (size, Digest::from_bytes(least))..=(size, Digest::from_bytes(most));
        self.points.range(range).map(|(link, _)| link)
    }

    /// The largest checkpoint that is proved to extend this one.
    pub fn after(&self, link: Link) -> Option<(Link, &Point)> {
        let later = self.points.range(link..).rev();
        let mut later = later.filter(|((size, _), _)| *size > link.0);
        later
            .find(|(_, point)| point.from.contains(&link))
            .map(|(link, point)| (*link, point))
    }

    /// Everything that contradicts itself.
    pub fn doubts(&self) -> Vec<Doubt> {
        let forked = self.forked();
        let mut doubts: Vec<Doubt> = Vec::new();
        for size in forked.into_iter().take(FORKS_MAX) {
            let doubt = self.went_on(size).unwrap_or(Doubt::Forked { size });
            if !doubts.contains(&doubt) {
                doubts.push(doubt);
            }
        }
        let went_on = doubts.iter().any(|d| matches!(d, Doubt::WentOn { .. }));
        doubts.extend(self.rolled_back().filter(|_| !went_on));
        doubts
    }

    /// Sizes of which two logs are known.
    fn forked(&self) -> BTreeSet<u64> {
        let mut forked = BTreeSet::new();
        let mut last = None;
        for ((size, _), point) in &self.points {
            if last == Some(*size) {
                forked.insert(*size);
            }
            for (from, root) in &point.from {
                if self.of_size(*from).any(|(_, other)| other != root) {
                    forked.insert(*from);
                }
            }
            last = Some(*size);
        }
        forked
    }

    /// Fewer records after more: the first such, after the most that were signed before.
    fn rolled_back(&self) -> Option<Doubt> {
        // The least number of the larger logs, and of those down to this size: one walk, however many there are.
        let (mut larger, mut so_far) = (None, None);
        let mut last = None;
        let mut first: Option<(u64, u64)> = None;
        for ((size, _), point) in self.points.iter().rev() {
            if last != Some(*size) {
                (larger, last) = (so_far, Some(*size));
            }
            let (least, greatest) = point.numbers;
            if larger.is_some_and(|number| number <= greatest) {
                let this = (greatest, *size);
                first = Some(first.map_or(this, |first| first.min(this)));
            }
            so_far = Some(so_far.map_or(least, |number: u64| number.min(least)));
        }
        let (number, to) = first?;
        let mut before = self.points.iter().rev();
        let before = before.find(|((size, _), point)| *size > to && point.numbers.0 <= number);
        before.map(|((from, _), _)| Doubt::RolledBack { from: *from, to })
    }

    /// Of two logs of one size: whether the one that was signed later goes on from one that the other one extends too.
    fn went_on(&self, forked: u64) -> Option<Doubt> {
        let says = |(link, point): &(&Link, &Point)| {
            link.0 == forked || point.from.iter().any(|(size, _)| *size == forked)
        };
        let all = self.points.iter().filter(says);
        let (later, point) = all.max_by_key(|(_, point)| point.numbers.1)?;
        let extended = self.extended_by(*later);
        let others = self.points.iter().filter(|(link, other)| {
            !extended.contains(*link) && *link != later && other.numbers.0 < point.numbers.1
        });
        let ((from, _), first) = others.max_by_key(|(link, _)| link.0)?;
        let shared = |link: &&Link| {
            let numbers = self.points.get(*link).map(|point| point.numbers.0);
            link.0 < forked && numbers.is_some_and(|number| number < first.numbers.0)
        };
        let (to, _) = extended.iter().rev().find(shared)?;
        Some(Doubt::WentOn {
            from: *from,
            to: *to,
        })
    }

    /// All that this checkpoint is proved to extend, one by way of another.
    fn extended_by(&self, link: Link) -> BTreeSet<Link> {
        let (mut all, mut next) = (BTreeSet::new(), vec![link]);
        while let Some(link) = next.pop() {
            let point = self.points.get(&link);
            for from in point.into_iter().flat_map(|point| &point.from) {
                if self.has(*from) && all.insert(*from) {
                    next.push(*from);
                }
            }
        }
        all
    }

    /// Sizes of checkpoints of which nothing proves that they extend an earlier one that is here.
    pub fn gaps(&self) -> Vec<u64> {
        let later = self.points.iter().skip(1);
        let alone = later.filter(|(_, point)| !point.from.iter().any(|link| self.has(*link)));
        alone.map(|((size, _), _)| *size).collect()
    }

    /// Who signed this checkpoint or one that is proved to extend it.
    pub fn cosigners(&self, link: Link) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        let mut extending = BTreeSet::from([link]);
        for (later, point) in self.points.range(link..) {
            let extends = *later == link || point.from.iter().any(|from| extending.contains(from));
            if extends {
                extending.insert(*later);
                all.extend(point.cosigners.iter().cloned());
            }
        }
        all
    }
}

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;
