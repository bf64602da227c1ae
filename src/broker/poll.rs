//! The votes on one proposal: what is asked, of what, and what came.

use std::collections::VecDeque;
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;

use crate::ballot::{self, Account, Checked, Electorate, Question, Standing};
use crate::model::{
    Ballot, Digest, Nonce, Person, ProposalId, Readers, Reviewer, Routes, State, Terms, Via,
    Viewed, Vote, VoteKind,
};

use super::decision::Refused;
use super::entry::Entry;
use super::state::BrokerState;

/// The most versions of an offer whose denials still count.
const EARLIER_MAX: usize = 16;

/// What is asked of people about one version of a proposal, and their votes.
#[derive(Clone, Debug)]
pub struct Poll {
    pub(super) version: u32,
    pub(super) terms: Terms,
    /// Who may see it, where votes are counted.
    pub(super) readers: Readers,
    pub(super) ballot: Ballot,
    /// Ballots of earlier versions with their terms, the latest first. Only denials of them count.
    pub(super) earlier: Vec<(Ballot, Terms)>,
    pub(super) votes: Vec<Cast>,
    /// The vote of the person at this program's own terminal.
    pub(super) own: Own,
    /// In a reviewer's seat: signed, and not sent before their record is durable.
    pub(super) outgoing: VecDeque<Vote>,
    /// In a reviewer's seat: what its host said is missing.
    pub(super) missing: Vec<String>,
}

/// A vote that was checked when it came.
#[derive(Clone, Debug)]
pub struct Cast {
    pub vote: Vote,
    pub via: Via,
    pub at: Timestamp,
    /// Fingerprint of its key.
    pub key: String,
    /// Whether a security key was touched; `None` if it is none.
    pub touched: Option<bool>,
    /// Which ballot it is for: 0 for this version's, else one of [`Poll::earlier`], counted from 1.
    pub(super) ballot: usize,
    /// Of its record: no two votes have the same one.
    pub(super) number: u64,
    /// Its record is durable: only then it counts.
    pub(super) durable: bool,
    /// Why it counts no more. That stays: files that are put back do not wake a vote of which its voter was told so.
    pub(super) stale: Option<String>,
}

impl Cast {
    /// Whether it is one that people are told of, and that is looked at when votes are counted.
    pub(super) const fn counts(&self) -> bool {
        self.durable && self.stale.is_none()
    }
}

/// The vote of the person at the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Own {
    #[default]
    Open,
    /// It is being signed.
    Signing(VoteKind),
    /// It is signed; in a reviewer's seat, it was sent.
    Sent(VoteKind),
    /// The host has it in its log.
    Counted(VoteKind),
    /// It was not signed, or does not count.
    Failed(String),
}

impl Poll {
    pub(super) fn new(version: u32, terms: Terms, ballot: Ballot, before: Option<&Self>) -> Self {
        let mut earlier = Vec::new();
        let mut votes = Vec::new();
        if let Some(before) = before {
            earlier.push((before.ballot.clone(), before.terms.clone()));
            earlier.extend(before.earlier.iter().take(EARLIER_MAX - 1).cloned());
            // Whoever denied an earlier version does not want this proposal to run.
            let denials = before.votes.iter();
            let denials = denials.filter(|cast| cast.vote.kind != VoteKind::Grant);
            votes.extend(denials.map(|cast| Cast {
                ballot: cast.ballot + 1,
                ..cast.clone()
            }));
        }
        Self {
            version,
            terms,
            readers: Readers::EVERYBODY,
            ballot,
            earlier,
            votes,
            own: Own::Open,
            outgoing: VecDeque::new(),
            missing: Vec::new(),
        }
    }

    /// For these alone.
    pub(super) fn seen_by(mut self, readers: Readers) -> Self {
        self.readers = readers;
        self
    }

    /// What is asked by an agent that is known by this.
    pub(super) const fn question<'a>(&'a self, asker: Account<'a>) -> Question<'a> {
        Question {
            asker,
            readers: &self.readers,
        }
    }

    /// Whose votes are in.
    pub(super) fn voters(&self) -> impl Iterator<Item = &Person> {
        let counted = self.votes.iter().filter(|cast| cast.counts());
        counted.map(|cast| &cast.vote.voter)
    }

    /// Whether somebody's grant is in.
    pub(super) fn has_grant(&self) -> bool {
        let mut votes = self.votes.iter();
        votes.any(|cast| cast.counts() && cast.vote.kind == VoteKind::Grant)
    }

    pub const fn version(&self) -> u32 {
        self.version
    }

    pub const fn terms(&self) -> &Terms {
        &self.terms
    }

    pub const fn ballot(&self) -> &Ballot {
        &self.ballot
    }

    pub const fn own(&self) -> &Own {
        &self.own
    }

    /// The votes in the log, for who voted: nobody sees them before their own vote is there.
    pub fn votes_for(&self, reader: &Person) -> Option<Vec<&Cast>> {
        let counted: Vec<&Cast> = self.votes.iter().filter(|cast| cast.counts()).collect();
        counted
            .iter()
            .any(|cast| cast.vote.voter == *reader)
            .then_some(counted)
    }

    /// The ballot with this number and its terms: 0 is this version's.
    pub(super) fn ballot_at(&self, number: usize) -> Option<(&Ballot, &Terms)> {
        match number {
            0 => Some((&self.ballot, &self.terms)),
            n => self
                .earlier
                .get(n - 1)
                .map(|(ballot, terms)| (ballot, terms)),
        }
    }

    /// Checks a vote that came, against this version's ballot; a denial, against earlier ones too.
    pub(super) fn check(
        &self,
        vote: &Vote,
        electorate: &Electorate,
        now: Timestamp,
    ) -> Result<(Checked, usize), ballot::Invalid> {
        let first = ballot::verify(&self.ballot, vote, electorate, now);
        if vote.kind == VoteKind::Grant {
            return first.map(|checked| (checked, 0));
        }
        let earlier = self.earlier.iter().enumerate();
        let mut earlier = earlier.filter_map(|(n, (ballot, _))| {
            let checked = ballot::verify(ballot, vote, electorate, now).ok()?;
            Some((checked, n + 1))
        });
        first
            .map(|checked| (checked, 0))
            .or_else(|why| earlier.next().ok_or(why))
    }

    /// The votes that are in the log: each is checked again, with the files as they are.
    fn valid(&self, electorate: &Electorate, now: Timestamp) -> (Vec<&Cast>, Vec<Checked>) {
        let counted = self.votes.iter().filter(|cast| cast.counts());
        let valid = counted.filter_map(|cast| {
            let (ballot, _) = self.ballot_at(cast.ballot)?;
            let checked = ballot::verify(ballot, &cast.vote, electorate, now).ok()?;
            Some((cast, checked))
        });
        valid.unzip()
    }

    /// What the votes come to now.
    pub(super) fn standing(
        &self,
        electorate: &Electorate,
        asker: Account<'_>,
        now: Timestamp,
    ) -> Standing {
        let (_, valid) = self.valid(electorate, now);
        ballot::standing(&self.terms, electorate, self.question(asker), &valid)
    }

    /// The grants that meet the terms, in the order in which they came; none if they do not.
    pub(super) fn granting(
        &self,
        electorate: &Electorate,
        asker: Account<'_>,
        now: Timestamp,
    ) -> Vec<&Cast> {
        let (casts, valid) = self.valid(electorate, now);
        match ballot::standing(&self.terms, electorate, self.question(asker), &valid) {
            Standing::Met { grants } => grants.into_iter().map(|at| casts[at]).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether this voter's vote of this kind on this version is in the log.
    pub(super) fn counts(&self, vote: &Vote) -> bool {
        let mut votes = self
            .votes
            .iter()
            .filter(|cast| cast.counts() && cast.ballot == 0);
        votes.any(|cast| cast.vote.voter == vote.voter && cast.vote.kind == vote.kind)
    }

    /// Looks at each vote with these files. Returns those that count no more since the last look.
    pub(super) fn look_at_votes(
        &mut self,
        electorate: &Electorate,
        asker: Account<'_>,
        now: Timestamp,
    ) -> Vec<(Person, VoteKind, String)> {
        let mut votes = std::mem::take(&mut self.votes);
        let mut gone = Vec::new();
        for cast in votes.iter_mut().filter(|cast| cast.stale.is_none()) {
            let (voter, kind) = (&cast.vote.voter, cast.vote.kind);
            let checked = self.ballot_at(cast.ballot).map(|(ballot, _)| {
                ballot::verify(ballot, &cast.vote, electorate, now).map_err(|why| why.to_string())
            });
            let question = self.question(asker);
            let may = ballot::may_vote(&self.terms, electorate, question, voter, kind);
            let stale = checked.and_then(Result::err);
            let stale = stale.or_else(|| may.err().map(|why| why.to_string()));
            if let (Some(why), true) = (&stale, cast.durable) {
                gone.push((voter.clone(), kind, why.clone()));
            }
            cast.stale = stale;
        }
        self.votes = votes;
        gone
    }

    /// Whether it is the very vote of which its voter was told that it counts no more: whoever carries votes could send it again.
    pub(super) fn is_of_before(&self, vote: &Vote) -> bool {
        let mut stale = self.votes.iter().filter(|cast| cast.stale.is_some());
        stale.any(|cast| cast.vote.signature == vote.signature)
    }

    /// Whether the same vote on the ballot with this number is there already, and may count.
    pub(super) fn has(&self, vote: &Vote, ballot: usize) -> bool {
        let same = |cast: &Cast| {
            cast.vote.voter == vote.voter && cast.vote.kind == vote.kind && cast.ballot == ballot
        };
        self.votes
            .iter()
            .any(|cast| same(cast) && cast.stale.is_none())
    }
}

impl BrokerState {
    /// The person at this program's own terminal, as the files know them.
    pub fn person_here(&self) -> Result<&Person, Refused> {
        if let Some(seat) = self.settings.seat() {
            return Ok(&seat.person);
        }
        let voting = self.settings.voting.as_ref().ok_or(Refused::NoDesk)?;
        let electorate = self.electorate().as_ref();
        let electorate = electorate.map_err(|why| Refused::NoElectorate(why.clone()))?;
        let uid = voting.by.uid;
        electorate.person_of_uid(uid).ok_or(Refused::NoPerson(uid))
    }

    /// Whether the person at the terminal must not hear whether others voted: they may vote and have not.
    pub fn is_sealed(&self, entry: &Entry) -> bool {
        let waits = entry.poll().filter(|_| entry.awaits_decision());
        let (Some(poll), Ok(person)) = (waits, self.person_here()) else {
            return false;
        };
        poll.votes_for(person).is_none() && self.voter_here(entry).is_ok()
    }

    /// What waits and is sealed.
    pub fn sealed(&self) -> impl Iterator<Item = ProposalId> {
        let votes = self.settings.voting.is_some();
        let waiting = self.waiting.values().filter(move |_| votes).copied();
        waiting.filter(|id| self.entry(*id).is_some_and(|entry| self.is_sealed(entry)))
    }

    /// The same as a voter on this entry, or why their grant would not count. What votes there are makes no difference.
    pub fn voter_here(&self, entry: &Entry) -> Result<&Person, Refused> {
        let person = self.person_here()?;
        if let Some(offered) = entry.offered() {
            return match &offered.differs {
                _ if offered.state != State::Pending => Err(Refused::NotPending(offered.state)),
                Some(differs) => Err(Refused::Differs(differs.clone())),
                None if offered.offer.hopeless.is_none() && !entry.may_count(person) => {
                    let why = "by the files of its host, no grant of yours counts for it";
                    Err(Refused::MayNotVote(why.to_owned()))
                }
                None if offered.offer.asker.as_ref() == Some(person) => {
                    let why = "your own agent asks, and somebody else has to grant it";
                    Err(Refused::MayNotVote(why.to_owned()))
                }
                None => Ok(person),
            };
        }
        let Some(poll) = entry.poll() else {
            if entry.readers.is_nobody() {
                return Err(Refused::NobodySees);
            }
            let too_long = self.refusal(entry.proposal.id);
            let too_long = too_long.filter(|why| **why == Refused::TooLongToOffer);
            return Err(too_long.cloned().unwrap_or(Refused::NoDesk));
        };
        let electorate = self.electorate().as_ref();
        let electorate = electorate.map_err(|why| Refused::NoElectorate(why.clone()))?;
        let question = poll.question((&entry.proposal.peer).into());
        ballot::may_vote(&poll.terms, electorate, question, person, VoteKind::Grant)
            .map_err(|why| Refused::MayNotVote(why.to_string()))?;
        Ok(person)
    }
}

/// 32 secret random bytes of this program's life. Nonces come from it, since the core has no randomness of its own.
#[derive(Clone, Copy)]
pub struct Seed(pub [u8; 32]);

impl std::fmt::Debug for Seed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seed")
    }
}

impl Seed {
    /// The nonce of one version of an offer: HMAC-SHA-256 (RFC 2104) of both, under the seed.
    pub(super) fn nonce(self, id: ProposalId, version: u32) -> Nonce {
        // HMAC takes a key of any length.
        let Ok(mut mac) = Hmac::<sha2::Sha256>::new_from_slice(&self.0) else {
            return Nonce(Digest::of(&self.0));
        };
        mac.update(format!("{id} {version}").as_bytes());
        Nonce(Digest::from_bytes(mac.finalize().into_bytes().into()))
    }
}

/// What a person at the terminal wants to sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsigned {
    pub kind: VoteKind,
    pub voter: Person,
    pub viewed: Viewed,
    pub reason: Option<String>,
    /// What is signed.
    pub text: String,
}

impl Unsigned {
    pub(super) fn of(
        ballot: &Ballot,
        kind: VoteKind,
        voter: Person,
        viewed: Viewed,
        reason: Option<String>,
    ) -> Self {
        let text = ballot.text(kind, &voter, &viewed, reason.as_deref());
        Self {
            kind,
            voter,
            viewed,
            reason,
            text,
        }
    }

    pub fn signed(&self, signature: String) -> Vote {
        Vote {
            kind: self.kind,
            voter: self.voter.clone(),
            viewed: self.viewed,
            reason: self.reason.clone(),
            signature,
        }
    }
}

/// What this program is among those that a desk joins.
#[derive(Clone, Debug)]
pub struct Voting {
    pub host: String,
    /// Fingerprint of its key.
    pub host_key: String,
    pub seed: Seed,
    /// Who may see what.
    pub routes: Routes,
    /// After which time everybody else who may decide is asked too; zero for never.
    pub escalate: Duration,
    /// Who runs it: the `by` of what votes decide.
    pub by: Reviewer,
}

impl Voting {
    /// Whether a voter's own program showed all of it, as they say under their signature.
    pub(super) fn saw_all(viewed: &Viewed, lines: u64, findings: usize) -> bool {
        viewed.lines_seen >= lines && viewed.findings_shown >= findings as u64
    }
}
