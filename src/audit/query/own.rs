//! `kind:`: records of the dashboard itself, which belong to no proposal, and those that say what was removed. They are
//! listed instead of proposals, so beside them only times can be asked for.

use jiff::Timestamp;

use super::Node;
use super::test::Test;

/// Every kind of a record that belongs to no proposal.
const OWN: [&str; 10] = [
    "opened",
    "closed",
    "paused",
    "resumed",
    "refused",
    "environment_changed",
    "unanchored",
    "doubted",
    "recovered",
    "pruned",
];
/// What went: segments under retention, contents that were erased, and bytes that a repair set aside.
const REMOVED: [&str; 3] = ["pruned", "erased", "recovered"];
const ERASED: [&str; 1] = ["erased"];

/// What `kind:` takes.
pub(super) fn names() -> Vec<&'static str> {
    ["own", "removed", "erased"]
        .into_iter()
        .chain(OWN)
        .collect()
}

/// The kinds that a value stands for.
pub(super) fn kinds(value: &str) -> Option<&'static [&'static str]> {
    match value {
        "own" => Some(&OWN),
        "removed" => Some(&REMOVED),
        "erased" => Some(&ERASED),
        one => OWN
            .iter()
            .position(|kind| *kind == one)
            .map(|at| &OWN[at..=at]),
    }
}

/// A question about such records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    kinds: Vec<&'static str>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
}

impl Own {
    /// `None` if the question is about proposals, or mixes both.
    pub(super) fn of(root: &Node) -> Option<Self> {
        let mut own = Self::default();
        (own.takes(root) && !own.kinds.is_empty()).then_some(own)
    }

    fn takes(&mut self, node: &Node) -> bool {
        match node {
            Node::All(all) => all.iter().all(|one| self.takes(one)),
            Node::Any(any) => {
                let kinds = |node: &Node| matches!(node, Node::Is(Test::Kind(_)));
                any.iter().all(kinds) && any.iter().all(|one| self.takes(one))
            }
            Node::Is(Test::Kind(kinds)) => {
                self.kinds.extend(*kinds);
                true
            }
            Node::Is(Test::Since(at)) => {
                self.since = self.since.max(Some(*at));
                true
            }
            Node::Is(Test::Until(at)) => {
                self.until = Some(self.until.map_or(*at, |until| until.min(*at)));
                true
            }
            Node::Not(_) | Node::Is(_) | Node::Says(_) | Node::Printed(_) => false,
        }
    }

    /// Each once.
    pub fn kinds(&self) -> Vec<&'static str> {
        let mut all = self.kinds.clone();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether it asks what was removed.
    pub fn is_of_removals(&self) -> bool {
        REMOVED.iter().all(|kind| self.kinds.contains(kind))
    }

    pub fn takes_time(&self, at: Timestamp) -> bool {
        self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at < until)
    }
}
