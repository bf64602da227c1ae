//! Grants by votes: an offer goes out, votes come in, and what they come to is counted by this host's own files, clock and
//! bytes. Nothing that carries them decides.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::ballot::{self, Electorate};
use crate::clock::Now;
use crate::model::{
    BoundInput, Environment, LogEvent, Person, ProposalId, Reviewer, Terms, Via, Vote, VoteKind,
    VotedLog,
};

use super::decision::{Confirmation, Refused, grant};
use super::effect::Effect;
use super::entry::Entry;
use super::offer::{Offer, OfferFormat, Publication, Says};
use super::phase::Phase;
use super::poll::{Cast, Own, Poll, Unsigned, Voting};
use super::state::{BrokerState, Then};

/// The most bytes of texts that agents brought which go into an offer. Of longer ones it has digests.
const BROUGHT_MAX: usize = 64 * 1024;
/// The most people of whom an offer says that their grant could count.
const ABLE_MAX: usize = 500;
/// How much longer than the proposal is here a voter may have looked: clocks do not tick alike.
const SLACK: Duration = Duration::from_secs(2);
/// Kinds of refusals of one proposal that are recorded.
const REFUSALS_MAX: usize = 32;

/// Votes that did not count, by voter, kind and why, and how often.
pub(super) type Refusals = Vec<(Person, VoteKind, String, u64)>;

impl BrokerState {
    /// The votes that would be asked for before a run of this entry; empty if one person decides.
    pub fn terms_of(&self, entry: &Entry) -> Terms {
        if let Some(offered) = entry.offered() {
            return offered.offer.terms.clone();
        }
        match (self.policy_of(entry), entry.verdict()) {
            (Some(policy), Some(verdict)) => Terms::of(&policy.grant, verdict),
            _ => Terms::default(),
        }
    }

    /// Who may vote, as last read, or why nobody can.
    pub const fn electorate(&self) -> &Result<Arc<Electorate>, String> {
        &self.electorate
    }

    /// Asks for votes on a waiting proposal if its policy wants some, and again whenever a grant would bind something else.
    pub(super) fn put_to_vote(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        let Phase::Waiting(review) = &entry.phase else {
            return;
        };
        let terms = self.terms_of(entry);
        let (false, Some(voting)) = (terms.is_empty(), self.settings.voting.clone()) else {
            return;
        };
        let Ok(digest) = grant::grant_digest(self, entry) else {
            return;
        };
        let before = review.poll.as_deref();
        if before.is_some_and(|poll| poll.ballot.grant == digest && poll.terms == terms) {
            return;
        }
        let readers = entry.readers.clone();
        if readers.is_nobody() {
            return self.end_unoffered(id, Refused::NobodySees, now, fx);
        }
        // A drill is offered to nobody.
        if !entry.is_drill() && !self.is_looked_for(id, fx) {
            return;
        }
        self.weigh(id);
        if self.ends_in_vain(id, now, fx) {
            return;
        }
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        let version = entry.offers + 1;
        let fresh = self.pick(id, &terms, now);
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        let Phase::Waiting(review) = &entry.phase else {
            return;
        };
        let before = review.poll.as_deref();
        let asks = [entry.asked(), &fresh].concat();
        let offer = self.offer(entry, (terms.clone(), asks), version, &voting);
        let Some(mut offer) = offer else {
            return;
        };
        let Some(bytes) = offer.fitting() else {
            return self.end_unoffered(id, Refused::TooLongToOffer, now, fx);
        };
        let bytes: Arc<[u8]> = bytes.into();
        let poll = Poll::new(version, terms, offer.ballot(&bytes), before);
        let roles = readers.roles().cloned();
        let roles = roles.unwrap_or_else(|| offer.roles());
        let poll = poll.seen_by(readers);
        let is_drill = entry.is_drill();
        let deadline = entry.expires_at;
        let told = offer.may_vote();
        if let Some(entry) = self.entries.get_mut(&id)
            && let Phase::Waiting(review) = &mut entry.phase
        {
            entry.prospect.told = Some(told);
            review.poll = Some(Box::new(poll));
            entry.offers = version;
        }
        // A drill is this program's own and for its own person.
        if !is_drill {
            fx.push(Effect::Publish(Publication::Offer {
                id,
                version,
                deadline,
                roles,
                bytes,
            }));
        }
        self.ask(id, fresh, now, fx);
        if !is_drill {
            self.decide_by_votes(id, now, fx);
        }
    }

    /// What a grant binds changed for all that waits.
    pub(super) fn put_all_to_vote(&mut self, now: Now, fx: &mut Vec<Effect>) {
        if self.settings.voting.is_none() {
            return;
        }
        let waiting: Vec<ProposalId> = self.waiting.values().copied().collect();
        for id in waiting {
            self.put_to_vote(id, now, fx);
        }
    }

    /// Who may veto, by the files as they are.
    pub(super) fn vetoers(&self, terms: &Terms) -> Vec<Person> {
        let Ok(electorate) = &self.electorate else {
            return Vec::new();
        };
        let people = electorate.people();
        let vetoers = people.filter(|one| has_veto(terms, electorate, one));
        vetoers.cloned().collect()
    }

    fn offer(
        &self,
        entry: &Entry,
        (terms, asks): (Terms, Vec<Person>),
        version: u32,
        voting: &Voting,
    ) -> Option<Offer> {
        let (policy, inputs) = (self.policy_of(entry)?, entry.inputs()?);
        let Environment::Ready { digest, .. } = &self.environment else {
            return None;
        };
        let brought = inputs.iter().filter_map(BoundInput::brought);
        let whole = brought.map(str::len).sum::<usize>() <= BROUGHT_MAX;
        let inputs = inputs.iter().map(|input| match whole {
            true => input.clone(),
            false => input.without_text(),
        });
        let electorate = self.electorate.as_ref().ok();
        let vetoers = self.vetoers(&terms);
        let asker = electorate.and_then(|e| e.person_of((&entry.proposal.peer).into()));
        let p = &entry.proposal;
        Some(Offer {
            format: OfferFormat::V1,
            host: voting.host.clone(),
            host_key: voting.host_key.clone(),
            proposal: p.id,
            version,
            proposed_at: entry.received.wall,
            deadline: entry.expires_at,
            agent: p.agent.clone(),
            peer: p.peer.clone(),
            asker: asker.cloned(),
            vetoers,
            asks,
            able: able(entry),
            hopeless: entry.hopeless().map(str::to_owned),
            before: Some(self.said_before(entry, voting)),
            title: p.title.clone(),
            reason: p.reason.clone(),
            traceparent: p.traceparent.clone(),
            code: entry.code().text().clone(),
            edited_from: entry.is_edited().then(|| p.proposed.text().clone()),
            inputs: inputs.collect(),
            verdict: (**entry.verdict()?).clone(),
            tier: self.tier_for(&policy),
            setting: self.setting_of(entry, &policy)?,
            policy: (*policy).clone(),
            environment: *digest,
            grant: grant::grant_digest(self, entry).ok()?,
            terms,
            nonce: voting.seed.nonce(p.id, version),
        })
    }

    /// The person at the terminal confirmed what takes votes: their vote is to be signed.
    pub(super) fn vote_here(
        &mut self,
        confirmation: &Confirmation,
        fx: &mut Vec<Effect>,
    ) -> Result<(), Refused> {
        let id = confirmation.id;
        let entry = self.entries.get_mut(&id).ok_or(Refused::Unknown)?;
        let proposal = entry.proposal.clone();
        let asker = &proposal.peer;
        let poll = entry.poll_mut().ok_or(Refused::NoDesk)?;
        let electorate = self.electorate.clone().map_err(Refused::NoElectorate)?;
        if poll.ballot.grant != confirmation.digest {
            return Err(Refused::Changed);
        }
        let uid = confirmation.by.uid;
        let person = electorate
            .person_of_uid(uid)
            .ok_or(Refused::NoPerson(uid))?;
        let question = poll.question(asker.into());
        ballot::may_vote(&poll.terms, &electorate, question, person, VoteKind::Grant)
            .map_err(|why| Refused::MayNotVote(why.to_string()))?;
        match &poll.own {
            Own::Open | Own::Failed(_) => {}
            Own::Signing(_) => return Err(Refused::Signing),
            Own::Sent(_) | Own::Counted(_) => return Err(Refused::Voted),
        }
        poll.own = Own::Signing(VoteKind::Grant);
        let vote = Unsigned::of(
            &poll.ballot,
            VoteKind::Grant,
            person.clone(),
            confirmation.viewed,
            None,
        );
        fx.push(Effect::Sign {
            id,
            version: poll.version,
            vote: Box::new(vote),
        });
        Ok(())
    }

    /// The person's vote was signed, or could not be.
    pub(super) fn signed(
        &mut self,
        (id, version): (ProposalId, u32),
        vote: Result<Vote, String>,
        by: Reviewer,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let poll = self.entries.get_mut(&id).and_then(Entry::poll_mut);
        let Some(poll) = poll.filter(|poll| poll.version == version) else {
            self.refusal = Some((id, Refused::Changed));
            return;
        };
        match vote {
            Err(why) => poll.own = Own::Failed(why),
            Ok(vote) => {
                poll.own = Own::Sent(vote.kind);
                if self.settings.seat().is_some() {
                    return self.signed_in_seat(id, vote, by, now, fx);
                }
                self.cast((id, version), vote, Via::Terminal(by), now, fx);
            }
        }
    }

    /// A vote came, from wherever. One that does not count is recorded, and its sender hears why.
    pub(super) fn cast(
        &mut self,
        (id, version): (ProposalId, u32),
        vote: Vote,
        via: Via,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        match self.check_vote((id, version), &vote, &via, now) {
            Ok(Some((log, number))) => {
                self.record_decided(
                    LogEvent::Voted(Box::new(log)),
                    Vec::new(),
                    Then::Count(id, number),
                    now,
                    fx,
                );
            }
            // It came again: its sender missed the answer, or may vote again.
            Ok(None) => {
                let poll = self.entries.get_mut(&id).and_then(Entry::poll_mut);
                if let (Via::Terminal(_), Some(poll)) = (&via, poll)
                    && poll.counts(&vote)
                {
                    poll.own = Own::Counted(vote.kind);
                }
                self.tell_voters(id, now, fx);
                self.decide_by_votes(id, now, fx);
            }
            Err(why) => self.vote_refused(id, vote, via, why, now, fx),
        }
    }

    /// Takes a vote in and returns its record; `None` if it is there already.
    fn check_vote(
        &mut self,
        (id, version): (ProposalId, u32),
        vote: &Vote,
        via: &Via,
        now: Now,
    ) -> Result<Option<(VotedLog, u64)>, String> {
        let number = self.next_ticket;
        let electorate = self.electorate.clone();
        let electorate = electorate.map_err(|_| Refused::Unreadable.to_string())?;
        let voting = self.settings.voting.clone();
        let voting = voting.ok_or_else(|| Refused::NoDesk.to_string())?;
        let doubt = self.log_doubt.as_ref().map(Refused::from);
        let entry = self.entries.get_mut(&id);
        let entry = entry.ok_or_else(|| Refused::Unknown.to_string())?;
        if now.boot >= entry.deadline {
            return Err(Refused::TooLate.to_string());
        }
        let proposal = entry.proposal.clone();
        let asker = &proposal.peer;
        let received = entry.received.boot;
        let state = entry.state();
        let lines = entry.verdict().map_or(0, |verdict| verdict.source.lines);
        let findings = entry.verdict().map_or(0, |verdict| verdict.findings.len());
        let shown = lines.saturating_add(brought(entry.inputs().map_or(&[], |inputs| inputs)));
        let granted = entry.granted();
        let is_granted = granted.is_some();
        if granted.is_some_and(|granted| granted.live().is_some()) {
            return Err("it runs already".to_owned());
        }
        let poll = entry.poll_mut();
        let poll = poll.ok_or_else(|| Refused::NotPending(state).to_string())?;
        let voter = &vote.voter;
        sent_by(voter, via, &electorate)?;
        let there = now.boot.saturating_sub(received).saturating_add(SLACK);
        let too_much = || Err("it says that its voter saw more than there was".to_owned());
        if Duration::from_millis(vote.viewed.selected_ms) > there {
            return too_much();
        }
        if vote.kind == VoteKind::Grant {
            if version != poll.version {
                return Err(format!(
                    "it is for version {version} of the offer, and version {} is asked about",
                    poll.version
                ));
            }
            if is_granted {
                return Err("it is granted already".to_owned());
            }
            if let Some(doubt) = doubt {
                return Err(doubt.to_string());
            }
            if vote.reason.is_some() {
                return Err("a grant has no reason".to_owned());
            }
            if !Voting::saw_all(&vote.viewed, lines, findings) {
                return Err("its voter had not seen every line and finding".to_owned());
            }
        }
        let question = poll.question(asker.into());
        ballot::may_vote(&poll.terms, &electorate, question, voter, vote.kind)
            .map_err(|why| why.to_string())?;
        if vote.kind == VoteKind::Veto && !has_veto(&poll.terms, &electorate, voter) {
            return Err(format!("`{voter}` has no role that may veto"));
        }
        if vote.kind == VoteKind::Deny && is_granted {
            return Err("it is granted already; only a veto ends it now".to_owned());
        }
        // A vote that counted may count no more by now, so that its voter can vote again.
        poll.look_at_votes(&electorate, asker.into(), now.wall);
        let (checked, which) = poll
            .check(vote, &electorate, now.wall)
            .map_err(|why| why.to_string())?;
        // A denial may be of an earlier version, which may have had more of both.
        let viewed = &vote.viewed;
        if which == 0 && (viewed.lines_seen > shown || viewed.findings_shown > findings as u64) {
            return too_much();
        }
        if poll.is_of_before(vote) {
            return Err(
                "it counts no more since who may vote changed; its voter has to vote again"
                    .to_owned(),
            );
        }
        if poll.has(vote, which) {
            return Ok(None);
        }
        let key = checked.security_key();
        poll.votes.push(Cast {
            vote: vote.clone(),
            via: via.clone(),
            at: now.wall,
            key: checked.key().to_owned(),
            touched: key.map(|key| key.touched),
            ballot: which,
            number,
            durable: false,
            stale: None,
        });
        let of = poll.ballot_at(which);
        let (ballot, terms) = of.ok_or_else(|| Refused::Changed.to_string())?;
        let log = VotedLog {
            id,
            version: poll
                .version
                .saturating_sub(u32::try_from(which).unwrap_or(u32::MAX)),
            host: voting.host.clone(),
            host_key: ballot.host.clone(),
            offer: ballot.offer,
            code: ballot.code,
            grant: ballot.grant,
            terms: terms.clone(),
            nonce: ballot.nonce,
            deadline: ballot.deadline,
            vote: vote.clone(),
            key: checked.key().to_owned(),
            touched: key.map(|key| key.touched),
            verified: key.map(|key| key.verified),
            via: via.clone(),
            about: None,
        };
        Ok(Some((log, number)))
    }

    fn vote_refused(
        &mut self,
        id: ProposalId,
        vote: Vote,
        via: Via,
        why: String,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        // Whom somebody else speaks for is told nothing: it would hide how their own vote goes.
        let known = self.known.as_deref();
        if known.is_some_and(|known| sent_by(&vote.voter, &via, known).is_ok()) {
            let says = Says::NotCounted {
                vote: vote.kind,
                why: why.clone(),
            };
            self.publish(id, Some(vote.voter.clone()), says, now, fx);
        }
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        if let (Via::Terminal(_), Some(poll)) = (&via, entry.poll_mut()) {
            poll.own = Own::Failed(why.clone());
        }
        let known = |r: &&mut (Person, VoteKind, String, u64)| {
            r.0 == vote.voter && r.1 == vote.kind && r.2 == why
        };
        let refusals = &mut entry.refused_votes;
        let room = refusals.len() < REFUSALS_MAX;
        let count = match refusals.iter_mut().find(known) {
            Some(refusal) => {
                refusal.3 += 1;
                refusal.3
            }
            None if room => {
                refusals.push((vote.voter.clone(), vote.kind, why.clone(), 1));
                1
            }
            None => return,
        };
        // The first, the tenth, the hundredth: a flood does not fill the log.
        if count == 10_u64.pow(count.ilog10()) {
            let event = LogEvent::VoteRefused {
                id,
                voter: vote.voter,
                vote: vote.kind,
                why,
                via,
                count,
            };
            self.record_decided(event, Vec::new(), Then::Nothing, now, fx);
        }
    }
}

/// Whether who brought a vote is who it says it is from: a second check beside the signature.
fn sent_by(voter: &Person, via: &Via, electorate: &Electorate) -> Result<(), String> {
    let (sender, whose) = match via {
        Via::Terminal(by) => (electorate.person_of_uid(by.uid), format!("uid {}", by.uid)),
        Via::Socket { uid, .. } => (electorate.person_of_uid(*uid), format!("uid {uid}")),
        Via::Engine { login } => (
            electorate.person_of_login(login),
            format!("login `{login}`"),
        ),
    };
    match sender {
        Some(person) if person == voter => Ok(()),
        Some(person) => Err(format!("{whose} is `{person}` and not `{voter}`")),
        None => Err(format!("{whose} is nobody's in people.toml")),
    }
}

/// Everybody whose grant could count, if an offer has room for them.
pub(super) fn able(entry: &Entry) -> Option<BTreeSet<Person>> {
    let able = entry.prospect.able.as_ref();
    able.filter(|able| able.len() <= ABLE_MAX).cloned()
}

fn has_veto(terms: &Terms, electorate: &Electorate, person: &Person) -> bool {
    let roles = electorate.roles(person);
    terms.0.iter().any(|rule| !rule.veto.is_disjoint(roles))
}

/// The most lines that can be shown of what an agent brought: no byte ends two.
fn brought(inputs: &[BoundInput]) -> u64 {
    let texts = inputs.iter().filter_map(BoundInput::brought);
    texts.fold(0, |sum, text| {
        sum.saturating_add(1).saturating_add(text.len() as u64)
    })
}
