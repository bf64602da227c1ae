//! Who voted on a proposal, as lists and exports name them.

use jiff::Timestamp;
use serde::Serialize;

use crate::model::{GrantedLog, Person, VoteKind, VotedLog};

/// One vote that was in time and its voter's. Its reason stands in its record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Voter {
    pub person: Person,
    pub vote: VoteKind,
    pub at: Timestamp,
    /// Which version of the offer; each edit makes a new one.
    pub version: u32,
    /// Fingerprint of the key that signed it.
    pub key: String,
    /// Whether a security key was touched; `None` if it is none.
    pub touched: Option<bool>,
    /// Whether the grant, or the denial, names it as one of those that decided.
    pub decided: bool,
}

impl Voter {
    pub(super) fn of(v: &VotedLog, at: Timestamp) -> Self {
        Self {
            person: v.vote.voter.clone(),
            vote: v.vote.kind,
            at,
            version: v.version,
            key: v.key.clone(),
            touched: v.touched,
            decided: false,
        }
    }

    /// `ana granted 2026-11-28T10:00:00Z SHA256:…, touched`.
    pub(super) fn words(&self) -> String {
        let touched = match self.touched {
            Some(true) => ", touched",
            Some(false) => ", not touched",
            None => "",
        };
        let (kind, at) = (self.vote.as_str(), self.at);
        format!("{} {kind} {at} {}{touched}", self.person, self.key)
    }
}

/// A grant came: whose votes it names.
pub(super) fn granted(all: &mut [Voter], g: &GrantedLog) {
    let Some(votes) = &g.votes else { return };
    for person in &votes.by {
        let theirs = |one: &&mut Voter| one.person == *person && one.vote == VoteKind::Grant;
        // An earlier version's has no part in it.
        if let Some(one) = all.iter_mut().rev().find(theirs) {
            one.decided = true;
        }
    }
}

/// A denial came: whoever voted for one decided it. At the host's own terminal nobody votes for it.
pub(super) fn denied(all: &mut [Voter]) {
    for one in all {
        one.decided = one.vote != VoteKind::Grant;
    }
}

/// The people whose votes decided, each once.
pub fn deciders(all: &[Voter]) -> Vec<&Person> {
    let mut people = Vec::new();
    for one in all.iter().filter(|one| one.decided) {
        if !people.contains(&&one.person) {
            people.push(&one.person);
        }
    }
    people
}
