//! Whether the checkpoints of one host fit each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::Timestamp;

use crate::model::Digest;

use super::published::{Link, Published};

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
}

/// What a host signed contradicts what it signed before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Two logs have the same size, and not the same records.
    Forked { size: u64 },
    /// It published fewer records after more.
    RolledBack { from: u64, to: u64 },
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
        numbers.max().unwrap_or(0)
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
        let mut doubts = Vec::new();
        let mut forked = BTreeSet::new();
        // The greatest number of the smaller logs, and of those up to this size.
        let (mut smaller, mut so_far) = (None, None);
        let mut last = None;
        for ((size, _), point) in &self.points {
            if last == Some(*size) {
                forked.insert(*size);
            } else {
                smaller = so_far;
            }
            for (from, root) in &point.from {
                if self.of_size(*from).any(|(_, other)| other != root) {
                    forked.insert(*from);
                }
            }
            if let Some((number, to)) = smaller
                && number >= point.numbers.0
            {
                doubts.push(Doubt::RolledBack { from: *size, to });
            }
            so_far = so_far.max(Some((point.numbers.1, *size)));
            last = Some(*size);
        }
        let forked = forked.into_iter().map(|size| Doubt::Forked { size });
        forked.chain(doubts).collect()
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
