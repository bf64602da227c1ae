//! A reviewer's seat: proposals come from hosts as offers, and what the person grants here is a vote for there.
//!
//! Nothing runs in a seat. It judges the same bytes with its own analyser, shows its own verdict, and where the host's
//! differs, it signs no grant.

use std::sync::Arc;
use std::time::Duration;

use crate::ballot::{self, Invalid, SecurityKey};
use crate::clock::Now;
use crate::model::{
    Ballot, Code, LogEvent, NAMESPACE, Person, Proposal, ProposalId, Readers, Reviewer, State,
    Verdict, Via, Viewed, Vote, VoteKind, VotedLog,
};
use crate::policy::Policy;

use super::asking::Asking;
use super::audience::Audience;
use super::decision::Refused;
use super::desks::{Job, Work};
use super::effect::Effect;
use super::entry::Entry;
use super::heard::about;
use super::offer::{Offer, Says, SeenVote, Statement};
use super::outcome::OutcomeText;
use super::phase::{Arriving, Contents, Edit, End, Phase, Recording};
use super::poll::{Cast, Own, Poll, Unsigned};
use super::quota::key;
use super::session::Session;
use super::state::{BrokerState, Then};
use super::vain::Prospect;

/// Most statements that wait for this program's verdict.
const EARLY_MAX: usize = 16;

/// Whose seat it is.
#[derive(Clone, Debug)]
pub struct Seat {
    /// Whom the hosts take the person at the terminal for.
    pub person: Person,
}

/// An offer that a host signed, as a seat keeps it.
#[derive(Debug)]
pub struct Offered {
    pub offer: Offer,
    /// The bytes that the host signed.
    bytes: Arc<[u8]>,
    /// The host's policy, in the tier that its run will have.
    pub policy: Arc<Policy>,
    /// What the host said last of it, and the number of that.
    pub state: State,
    heard: Option<u64>,
    /// What the host said of the person's vote before this program had judged the offer.
    early: Vec<Statement>,
    /// Who voted, as its host told the person last, who had voted too.
    pub votes: Vec<Cast>,
    /// In what the host's verdict is not this program's.
    pub differs: Option<String>,
}

impl BrokerState {
    /// A host offers a proposal, or another version of one. The sender checked the host's signature over the bytes.
    pub(super) fn offered(
        &mut self,
        offer: Offer,
        bytes: Arc<[u8]>,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let id = offer.proposal;
        if self.settings.seat().is_none() || self.closing {
            return;
        }
        let known = self
            .entries
            .get(&id)
            .and_then(|entry| entry.offered.as_ref());
        // Nobody takes the place of what another host offered.
        if known.is_some_and(|known| {
            known.offer.host_key != offer.host_key || known.offer.version >= offer.version
        }) {
            return;
        }
        let left = offer.deadline.duration_since(now.wall);
        let left = Duration::try_from(left).unwrap_or_default();
        // An earlier version goes with everything that was seen of it.
        self.leave_undecided(id);
        self.ended.retain(|ended| *ended != id);
        self.forget(id);
        // One host that offers without end leaves room for the others.
        let most = self.settings.max_pending;
        let of_it = self.undecided_of(&offer.host_key);
        if self.undecided.total >= most || of_it >= most.div_ceil(2) {
            return;
        }
        let peer = key(&offer.peer);
        let code = Code::new(offer.code.clone());
        let proposed = offer.edited_from.clone().map_or(code.clone(), Code::new);
        let proposal = Arc::new(Proposal {
            id,
            proposed,
            profile: offer.policy.name.clone(),
            title: offer.title.clone(),
            reason: offer.reason.clone(),
            agent: offer.agent.clone(),
            peer: offer.peer.clone(),
            stream: false,
            idempotency_key: None,
            traceparent: offer.traceparent.clone(),
            drill: None,
        });
        let deadline = now.boot.saturating_add(left);
        let seq = self.next_seq;
        self.next_seq += 1;
        self.deadlines.insert((deadline, id));
        self.ledger.proposed(proposal.agent_id(), now.boot);
        self.undecided.add(peer);
        self.unannounced.add(peer);
        let work = Work {
            job: Job::Proposal(id),
            code: offer.code.clone(),
            profile: offer.policy.name.clone(),
            inputs: offer.setting.inputs.clone(),
            values: offer.setting.values.clone(),
            peer,
        };
        let inputs = Contents::from(Ok(offer.inputs.clone()));
        let policy = Arc::new(Policy {
            tier: offer.tier,
            ..offer.policy.clone()
        });
        let entry = Entry {
            proposal,
            received: now,
            deadline,
            expires_at: offer.deadline,
            session: Session::Nobody,
            params: crate::model::Digest::of(&bytes),
            seq,
            audience: Audience::default(),
            phase: Phase::Arriving(Arriving {
                inputs: Some(inputs),
                ..Arriving::default()
            }),
            offers: offer.version,
            refused_votes: Vec::new(),
            readers: Readers::EVERYBODY,
            asking: Asking {
                people: offer.asks.clone(),
                ..Asking::default()
            },
            prospect: Prospect::told(offer.able.clone()),
            offered: Some(Offered {
                offer,
                bytes,
                policy,
                state: State::Pending,
                heard: None,
                early: Vec::new(),
                votes: Vec::new(),
                differs: None,
            }),
        };
        self.entries.insert(id, entry);
        self.desks.push(work);
        self.pump(now, fx);
    }

    /// How many offers of this host wait here.
    fn undecided_of(&self, host_key: &str) -> usize {
        let of_it = |entry: &&Entry| {
            let offered = entry.offered.as_ref();
            !entry.state().is_final() && offered.is_some_and(|o| o.offer.host_key == host_key)
        };
        self.entries.values().filter(of_it).count()
    }

    /// This program's verdict is there: the offer is shown. Only votes are recorded here.
    pub(super) fn offer_judged(
        &mut self,
        id: ProposalId,
        recording: Recording,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        let Some(offered) = &mut entry.offered else {
            return;
        };
        let verdict = recording.review.proposed.clone();
        offered.differs = differs(&offered.offer.verdict, &verdict);
        let ballot = offered.offer.ballot(&offered.bytes);
        let poll = Poll::new(
            offered.offer.version,
            offered.offer.terms.clone(),
            ballot,
            None,
        );
        let edit = offered.offer.edited_from.is_some().then(|| {
            Arc::new(Edit {
                code: Code::new(offered.offer.code.clone()),
                verdict,
                diff: Arc::from(""),
            })
        });
        let mut recording = recording;
        recording.review.poll = Some(Box::new(poll));
        recording.review.edit = edit;
        entry.phase = Phase::Recording(recording);
        let early = entry.offered.as_mut().map(|o| std::mem::take(&mut o.early));
        self.announce(id, now, fx);
        for statement in early.unwrap_or_default() {
            self.stated(statement, now, fx);
        }
    }

    /// As what the person's denial is signed: as a veto in a seat whose person may give one, by its host's word. A veto ends
    /// also what is granted, until it is let go.
    pub fn denies_as(&self, entry: &Entry) -> VoteKind {
        let person = self.settings.seat().map(|seat| &seat.person);
        let offered = entry.offered.as_ref();
        let vetoers = offered.map_or(&[][..], |offered| &offered.offer.vetoers);
        match person.is_some_and(|person| vetoers.contains(person)) {
            true => VoteKind::Veto,
            false => VoteKind::Deny,
        }
    }

    /// The person's vote is to be signed.
    pub(super) fn vote_from_seat(
        &mut self,
        id: ProposalId,
        kind: VoteKind,
        viewed: Viewed,
        reason: Option<String>,
        fx: &mut Vec<Effect>,
    ) -> Result<(), Refused> {
        let seat = self.settings.seat().cloned().ok_or(Refused::NoDesk)?;
        let entry = self.entries.get_mut(&id).ok_or(Refused::Unknown)?;
        let offered = entry.offered.as_ref().ok_or(Refused::NoDesk)?;
        if kind == VoteKind::Grant {
            if offered.state != State::Pending {
                return Err(Refused::NotPending(offered.state));
            }
            if let Some(differs) = &offered.differs {
                return Err(Refused::Differs(differs.clone()));
            }
            if offered.offer.asker.as_ref() == Some(&seat.person) {
                let why = "your own agent asks, and somebody else has to grant it";
                return Err(Refused::MayNotVote(why.to_owned()));
            }
        }
        // What is granted, only a veto ends.
        if kind == VoteKind::Deny && offered.state != State::Pending {
            return Err(Refused::NotPending(offered.state));
        }
        let poll = entry.poll_mut().ok_or(Refused::NoDesk)?;
        match &poll.own {
            Own::Signing(_) => return Err(Refused::Signing),
            Own::Sent(voted) | Own::Counted(voted) if *voted == kind => return Err(Refused::Voted),
            Own::Open | Own::Failed(_) | Own::Sent(_) | Own::Counted(_) => {}
        }
        poll.own = Own::Signing(kind);
        let vote = Unsigned::of(&poll.ballot, kind, seat.person, viewed, reason);
        fx.push(Effect::Sign {
            id,
            version: poll.version,
            vote: Box::new(vote),
        });
        Ok(())
    }

    /// The vote is signed: it is recorded here, then sent.
    pub(super) fn signed_in_seat(
        &mut self,
        id: ProposalId,
        vote: Vote,
        by: Reviewer,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        let about = Box::new(about(entry));
        let Some(offer) = entry.offered.as_ref().map(|offered| offered.offer.clone()) else {
            return;
        };
        let Some(poll) = entry.poll_mut() else {
            return;
        };
        let (key, said) = match signer_of(&poll.ballot, &vote) {
            Ok(signer) => signer,
            Err(why) => {
                poll.own = Own::Failed(why.to_string());
                return;
            }
        };
        let log = VotedLog {
            id,
            version: poll.version,
            host: offer.host,
            host_key: poll.ballot.host.clone(),
            offer: poll.ballot.offer,
            code: poll.ballot.code,
            grant: poll.ballot.grant,
            terms: poll.terms.clone(),
            nonce: poll.ballot.nonce,
            deadline: poll.ballot.deadline,
            vote: vote.clone(),
            key,
            touched: said.map(|said| said.touched),
            verified: said.map(|said| said.verified),
            via: Via::Terminal(by),
            about: Some(about),
        };
        poll.outgoing.push_back(vote);
        self.voted.insert(id);
        let event = LogEvent::Voted(Box::new(log));
        self.record_decided(event, Vec::new(), Then::SendVote(id), now, fx);
    }

    /// The record of the vote is durable.
    pub(super) fn send_vote(&mut self, id: ProposalId, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        let Some(host) = entry
            .offered
            .as_ref()
            .map(|offered| offered.offer.host.clone())
        else {
            return;
        };
        if let Some(poll) = entry.poll_mut()
            && let Some(vote) = poll.outgoing.pop_front()
        {
            let version = poll.version;
            fx.push(Effect::SendVote {
                host,
                id,
                version,
                vote: Box::new(vote),
            });
        }
    }

    /// A vote did not reach its host.
    pub(super) fn not_sent(&mut self, id: ProposalId, why: String) {
        if let Some(poll) = self.entries.get_mut(&id).and_then(Entry::poll_mut) {
            poll.own = Own::Failed(format!("not sent: {why}"));
        }
    }

    /// A host says something of what it offered. The sender checked its signature.
    pub(super) fn stated(&mut self, statement: Statement, now: Now, fx: &mut Vec<Effect>) {
        let id = statement.proposal;
        let Some(seat) = self.settings.seat().cloned() else {
            return;
        };
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        let Some(offered) = &mut entry.offered else {
            return;
        };
        let same = offered.offer.host_key == statement.host_key
            && offered.offer.version == statement.version
            && statement.to.as_ref().is_none_or(|to| *to == seat.person);
        let is_judged = !matches!(entry.phase, Phase::Arriving(_));
        if same && !is_judged && !matches!(statement.says, Says::State { .. }) {
            if offered.early.len() < EARLY_MAX {
                offered.early.push(statement);
            }
            return;
        }
        // What is said again, or comes late, says nothing new.
        if !same || offered.heard >= Some(statement.number) {
            return;
        }
        offered.heard = Some(statement.number);
        match statement.says {
            Says::State { state, message } => {
                offered.state = state;
                let host = offered.offer.host.clone();
                if state.is_final() {
                    self.settled(id, host, state, message, now, fx);
                }
            }
            Says::Counted {
                vote,
                missing,
                votes,
            } => {
                let votes: Vec<Cast> = votes.into_iter().map(Cast::told).collect();
                offered.votes.clone_from(&votes);
                if let Some(poll) = entry.poll_mut() {
                    poll.own = Own::Counted(vote);
                    poll.votes = votes;
                    poll.missing = missing;
                }
            }
            Says::Escalated { asks } => {
                entry.asking.people = asks;
                entry.asking.escalated = Some(statement.at);
            }
            Says::MayVote(said) => {
                offered.offer.vetoers = said.vetoers;
                offered.offer.hopeless = said.hopeless;
                entry.asking.people = said.asks;
                entry.prospect = Prospect::told(said.able);
            }
            Says::NotCounted { vote, why } => {
                if let Some(poll) = entry.poll_mut() {
                    // One that counted before counts no more.
                    let is_own = |cast: &Cast| cast.vote.voter == seat.person;
                    poll.votes
                        .retain(|cast| !is_own(cast) || cast.vote.kind != vote);
                    poll.own = Own::Failed(why);
                }
            }
        }
    }

    /// The host that offered it, in a seat.
    pub(super) fn offered_by(&self, id: ProposalId) -> Option<String> {
        let offered = self.entries.get(&id)?.offered.as_ref()?;
        Some(offered.offer.host.clone())
    }

    /// An offer ended by this program's own clock or quit. It is recorded if the person voted on it.
    pub(super) fn ended_here(
        &mut self,
        id: ProposalId,
        host: String,
        event: &LogEvent,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let Some(state) = event.state() else { return };
        let offered = self.entries.get(&id).and_then(Entry::offered);
        let voted = self.voted.remove(&id);
        match offered.filter(|_| voted) {
            Some(offered) => {
                let votes = offered.heard_votes();
                let message = "by the clock of this seat".to_owned();
                let event = LogEvent::Settled {
                    id,
                    host,
                    state,
                    message,
                    votes,
                };
                self.record_decided(event, Vec::new(), Then::Tell(id), now, fx);
            }
            None => self.tell(id, now, fx),
        }
    }

    fn settled(
        &mut self,
        id: ProposalId,
        host: String,
        state: State,
        message: String,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        // It ended before anybody saw it here.
        if !entry.awaits_decision() {
            if !entry.state().is_final() {
                self.leave_undecided(id);
                self.forget(id);
            }
            return;
        }
        let offered = entry.offered.as_ref();
        let votes = offered.map(Offered::heard_votes).unwrap_or_default();
        let text = OutcomeText::settled(&message);
        let end = End {
            state,
            text,
            decision: None,
            run: None,
        };
        self.set_final(id, end, now);
        let event = LogEvent::Settled {
            id,
            host,
            state,
            message,
            votes,
        };
        match self.voted.remove(&id) {
            true => self.record_decided(event, Vec::new(), Then::Tell(id), now, fx),
            false => self.tell(id, now, fx),
        }
    }
}

/// Which key signed a vote, and what a security key says of it.
fn signer_of(ballot: &Ballot, vote: &Vote) -> Result<(String, Option<SecurityKey>), Invalid> {
    let reason = vote.reason.as_deref();
    let text = ballot.text(vote.kind, &vote.voter, &vote.viewed, reason);
    let key = ballot::key_of(&vote.signature)?;
    let said = ballot::signed_by(&key, &vote.signature, NAMESPACE, text.as_bytes())?;
    Ok((key.fingerprint().to_owned(), said))
}

/// In what two verdicts on the same code differ; `None` if they say the same.
fn differs(host: &Verdict, own: &Verdict) -> Option<String> {
    if host.verdict != own.verdict {
        return Some(format!(
            "its host judges it {}, and this program {}",
            host.verdict, own.verdict
        ));
    }
    let rows = |verdict: &Verdict| {
        let mut rows: Vec<String> = verdict
            .findings
            .iter()
            .map(|f| format!("{} in line {}", f.rule, f.line))
            .chain(
                verdict
                    .capabilities
                    .iter()
                    .map(|c| c.capability.to_string()),
            )
            .collect();
        rows.sort();
        rows
    };
    let (theirs, ours) = (rows(host), rows(own));
    let only =
        |some: &[String], others: &[String]| some.iter().find(|row| !others.contains(row)).cloned();
    match (only(&ours, &theirs), only(&theirs, &ours)) {
        (Some(row), _) => Some(format!("this program finds {row}, and its host does not")),
        (None, Some(row)) => Some(format!("its host finds {row}, and this program does not")),
        (None, None) if theirs.len() != ours.len() => {
            Some("its host counts other findings than this program".to_owned())
        }
        (None, None) => None,
    }
}

impl Cast {
    /// A vote that a host, whose signature was checked, says it has.
    fn told(seen: SeenVote) -> Self {
        Self {
            vote: Vote {
                kind: seen.vote,
                voter: seen.voter,
                viewed: seen.viewed,
                reason: seen.reason,
                signature: String::new(),
            },
            via: Via::Engine {
                login: String::new(),
            },
            at: seen.at,
            key: seen.key,
            touched: seen.touched,
            ballot: 0,
            number: 0,
            durable: true,
            stale: None,
        }
    }
}
