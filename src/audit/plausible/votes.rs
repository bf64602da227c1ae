//! Votes: whether each signature is over the text that its own record gives, and whether a grant names votes that stand
//! before it, each of them once, and enough of them.
//!
//! Whose key it is, `allowed_signers` of that time says and no record does. A text of which something was replaced by
//! [`crate::secrets`] cannot be made again: such votes are counted, and told.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::line::Record;
use crate::ballot::{self, SecurityKey};
use crate::model::{
    Digest, GrantedLog, LogEvent, NAMESPACE, Nonce, Person, ProposalId, Quorum, Rule, Terms,
    VoteKind, VotedLog,
};

/// A vote that counts for its proposal.
#[derive(Debug)]
struct Cast {
    seq: u64,
    version: u32,
    voter: Person,
    kind: VoteKind,
    key: String,
    signature: String,
    touched: bool,
    verified: bool,
}

/// What all votes on one version have in common.
#[derive(Debug, PartialEq, Eq)]
struct Version {
    host: (String, String),
    offer: Digest,
    code: Digest,
    grant: Digest,
    terms: Terms,
    nonce: Nonce,
    deadline: jiff::Timestamp,
}

/// The votes on one proposal.
#[derive(Debug, Default)]
struct Poll {
    /// Whether the record that begins its life was read: then a vote that is not there was never written.
    is_whole: bool,
    /// The record names its inputs or its code by digests of what they were replaced by.
    is_redacted: bool,
    /// Codes whose digests are salted.
    salted: HashSet<Digest>,
    versions: BTreeMap<u32, Version>,
    votes: Vec<Cast>,
}

#[derive(Debug, Default)]
pub(super) struct Votes {
    polls: HashMap<ProposalId, Poll>,
    pub checked: u64,
    pub unchecked: u64,
}

impl Votes {
    /// Records that are not read may have votes.
    pub fn unknown(&mut self) {
        self.polls.clear();
    }

    pub fn read(&mut self, record: &Record) -> Option<String> {
        let id = record.event.id()?;
        if record.event.state().is_some_and(|state| state.is_final()) {
            self.polls.remove(&id);
            return None;
        }
        let replaced = !record.redacted.is_empty();
        match &record.event {
            LogEvent::Proposed(p) => {
                let mut poll = Poll {
                    is_whole: true,
                    is_redacted: p.kept.is_some() || replaced,
                    ..Poll::default()
                };
                poll.salted.extend(p.kept.map(|_| p.digest));
                self.polls.insert(id, poll);
                None
            }
            LogEvent::Edited(e) => {
                let poll = self.polls.entry(id).or_default();
                poll.is_redacted |= e.kept.is_some() || replaced;
                poll.salted.extend(e.kept.map(|_| e.digest));
                None
            }
            LogEvent::Voted(v) => self.voted(v, record.seq, replaced),
            LogEvent::Granted(g) => self.polls.get(&id)?.granted(g, replaced),
            _ => None,
        }
    }

    fn voted(&mut self, v: &VotedLog, seq: u64, replaced: bool) -> Option<String> {
        let poll = self.polls.entry(v.id).or_default();
        let is_gone = poll.salted.contains(&v.code) || replaced && v.vote.reason.is_some();
        let odd = match signature(v, is_gone) {
            Err(why) => Some(format!(
                "`voted` of {} has no signature that counts: {why}",
                v.vote.voter
            )),
            Ok(()) => poll.joins(v),
        };
        match is_gone {
            true => self.unchecked += 1,
            false => self.checked += 1,
        }
        poll.votes.push(Cast {
            seq,
            version: v.version,
            voter: v.vote.voter.clone(),
            kind: v.vote.kind,
            key: v.key.clone(),
            signature: v.vote.signature.clone(),
            touched: v.touched == Some(true),
            verified: v.verified == Some(true),
        });
        odd
    }
}

/// Whether the key that the record names signed what the record says. `is_gone`: something of that was replaced.
fn signature(v: &VotedLog, is_gone: bool) -> Result<(), String> {
    let key = ballot::key_of(&v.vote.signature).map_err(|why| why.to_string())?;
    if key.fingerprint() != v.key {
        let by = key.fingerprint();
        return Err(format!(
            "the record names the key {}, and {by} signed",
            v.key
        ));
    }
    if v.vote.kind == VoteKind::Grant && v.vote.reason.is_some() {
        return Err("a grant has no reason".to_owned());
    }
    if is_gone {
        return Ok(());
    }
    let ballot = v.ballot();
    let reason = v.vote.reason.as_deref();
    let text = ballot.text(v.vote.kind, &v.vote.voter, &v.vote.viewed, reason);
    let said = ballot::signed_by(&key, &v.vote.signature, NAMESPACE, text.as_bytes());
    let said = said.map_err(|why| why.to_string())?;
    let flag = |flag: fn(SecurityKey) -> bool| said.map(flag);
    match (flag(|key| key.touched), flag(|key| key.verified)) == (v.touched, v.verified) {
        true => Ok(()),
        false => Err("the record says of its key what that key did not sign".to_owned()),
    }
}

impl Poll {
    /// Whether a vote can stand beside those before it.
    fn joins(&mut self, v: &VotedLog) -> Option<String> {
        let of = Version {
            host: (v.host.clone(), v.host_key.clone()),
            offer: v.offer,
            code: v.code,
            grant: v.grant.0,
            terms: v.terms.clone(),
            nonce: v.nonce,
            deadline: v.deadline,
        };
        let mut others = self.versions.iter().filter(|(n, _)| **n != v.version);
        let taken = others.find(|(_, other)| other.nonce == of.nonce || other.offer == of.offer);
        if let Some((n, _)) = taken {
            return Some(format!(
                "`voted` on version {} has the nonce or the offer of version {n}",
                v.version
            ));
        }
        match self.versions.entry(v.version) {
            Entry::Vacant(new) => drop(new.insert(of)),
            Entry::Occupied(known) if *known.get() == of => {}
            Entry::Occupied(_) => {
                return Some(format!(
                    "`voted` on version {} is about another offer than the votes on it before",
                    v.version
                ));
            }
        }
        let same = |cast: &&Cast| {
            // Whose vote counted no more, because who may vote changed, may vote again.
            let same = (cast.version, &cast.voter, cast.kind, &cast.signature);
            same == (v.version, &v.vote.voter, v.vote.kind, &v.vote.signature)
        };
        let before = self.votes.iter().find(same)?;
        Some(format!(
            "`voted` repeats the vote of seq {}: {}'s to {} version {}",
            before.seq,
            v.vote.voter,
            v.vote.kind.as_str(),
            v.version
        ))
    }

    /// Whether a grant names the votes that it needs.
    fn granted(&self, g: &GrantedLog, replaced: bool) -> Option<String> {
        let is_redacted = self.is_redacted || replaced;
        let is_about = |version: &Version| {
            version.code == g.digest && (is_redacted || version.grant == g.grant_digest.0)
        };
        let Some(votes) = &g.votes else {
            return self.versions.values().any(is_about).then(|| {
                "`granted` names no votes, and what it grants was put to the vote".to_owned()
            });
        };
        let mut people = HashSet::new();
        if let Some(twice) = votes.by.iter().find(|person| !people.insert(*person)) {
            return Some(format!("`granted` counts {twice} twice"));
        }
        // What was removed cannot be missed.
        if !self.is_whole {
            return None;
        }
        let offered = self.versions.iter().find(|(_, of)| of.offer == votes.offer);
        let is_offered = |(_, of): &(&u32, &Version)| is_about(of);
        let Some((number, of)) = offered.filter(is_offered) else {
            return Some("`granted` by votes on an offer on which nobody voted".to_owned());
        };
        let mut casts = Vec::new();
        for person in &votes.by {
            let theirs = |cast: &&Cast| {
                cast.version == *number && cast.kind == VoteKind::Grant && cast.voter == *person
            };
            let Some(cast) = self.votes.iter().find(theirs) else {
                return Some(format!("`granted` by a vote of {person} that is not there"));
            };
            casts.push(cast);
        }
        let mut keys = HashSet::new();
        if let Some(twice) = casts.iter().find(|cast| !keys.insert(&cast.key)) {
            let key = &twice.key;
            return Some(format!("`granted` by two people with one key, {key}"));
        }
        of.terms
            .0
            .iter()
            .find_map(|rule| lacks(rule, &casts))
            .or_else(|| {
                (of.terms.is_empty()).then(|| "`granted` by votes that nothing asks for".to_owned())
            })
    }
}

/// Whether there are fewer votes than a rule asks for. Who has which role no record says.
fn lacks(rule: &Rule, casts: &[&Cast]) -> Option<String> {
    let counts = |cast: &&&Cast| (!rule.touch || cast.touched) && (!rule.pin || cast.verified);
    let (has, asks) = (
        casts.iter().filter(counts).count(),
        match rule.quorum {
            Quorum::People(n) => usize::from(n).max(1),
            Quorum::All(_) => 1,
        },
    );
    (has < asks).then(|| format!("`granted` by {has} of the votes that `{rule}` asks for"))
}
