//! What the votes on a proposal come to: a grant, an end, or that more are missing; and who is told of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ballot::{Account, Electorate, Missing, Standing};
use crate::clock::Now;
use crate::model::{
    Decision, DecisionKind, LogEvent, Person, ProposalId, State, Via, VoteKind, Votes,
};

use super::decision::{Consent, Grant, Refused, grant};
use super::effect::Effect;
use super::entry::Entry;
use super::offer::{Publication, Says, SeenVote, Statement, StatementFormat};
use super::outcome::{OutcomeText, decided};
use super::phase::{End, Granted, Live, Phase, Stage};
use super::poll::{Cast, Own};
use super::state::{BrokerState, Then};

impl BrokerState {
    /// A vote's record is durable: it counts, and those who voted hear of it.
    pub(super) fn counted(&mut self, id: ProposalId, number: u64, now: Now, fx: &mut Vec<Effect>) {
        let here = self.person_here().ok().cloned();
        let Some(poll) = self.entries.get_mut(&id).and_then(Entry::poll_mut) else {
            return;
        };
        let Some(cast) = poll.votes.iter_mut().find(|cast| cast.number == number) else {
            return;
        };
        cast.durable = true;
        // Who may vote changed while it was recorded.
        if let Some(why) = cast.stale.clone() {
            let (voter, vote) = (cast.vote.voter.clone(), cast.vote.kind);
            return self.counts_no_more(id, voter, vote, why, now, fx);
        }
        // Also what the person at the terminal sent from a seat.
        let is_own =
            matches!(cast.via, Via::Terminal(_)) || here.as_ref() == Some(&cast.vote.voter);
        if is_own && cast.ballot == 0 {
            poll.own = Own::Counted(cast.vote.kind);
        }
        self.tell_voters(id, now, fx);
        self.decide_by_votes(id, now, fx);
    }

    /// What the votes come to now; `None` if none are asked for.
    pub fn standing(&self, entry: &Entry, now: Now) -> Option<Standing> {
        let poll = entry.poll()?;
        if let Some(offered) = entry.offered() {
            if let Some(why) = &offered.offer.hopeless {
                return Some(Standing::Impossible(why.clone()));
            }
            let missing = poll.missing.iter().cloned().map(Missing::told).collect();
            return Some(Standing::Open { missing });
        }
        match &self.electorate {
            Ok(electorate) => {
                Some(poll.standing(electorate, (&entry.proposal.peer).into(), now.wall))
            }
            Err(why) => Some(Standing::Impossible(why.clone())),
        }
    }

    pub(super) fn decide_by_votes(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        let standing = self.standing(entry, now);
        match (standing, &entry.phase) {
            (
                Some(Standing::Ended { by, kind, reason }),
                Phase::Waiting(_) | Phase::Revising(_),
            ) => {
                self.end_by_vote(id, &by, kind, reason, now, fx);
            }
            (
                Some(Standing::Ended {
                    by,
                    kind: VoteKind::Veto,
                    reason,
                }),
                Phase::Granted(granted),
            ) if !matches!(granted.stage, Stage::LetGo(_)) => {
                self.end_by_vote(id, &by, VoteKind::Veto, reason, now, fx);
            }
            (Some(Standing::Met { .. }), Phase::Waiting(_)) => {
                match grant::grant(self, Consent::Votes(id), now) {
                    Ok(grant) => self.granted_by_votes(id, grant, now, fx),
                    Err(why) => self.refusal = Some((id, why)),
                }
            }
            _ => {}
        }
    }

    fn granted_by_votes(&mut self, id: ProposalId, grant: Grant, now: Now, fx: &mut Vec<Effect>) {
        let (Ok(electorate), Some(voting)) =
            (self.electorate.clone(), self.settings.voting.clone())
        else {
            return;
        };
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        let Some(poll) = entry.poll() else {
            return;
        };
        let asker = Account::from(&entry.proposal.peer);
        let grants = poll.granting(&electorate, asker, now.wall);
        let digests = electorate.digests();
        let votes = Votes {
            by: grants.iter().map(|cast| cast.vote.voter.clone()).collect(),
            offer: poll.ballot.offer,
            signers: digests.signers,
            people: digests.people,
            revoked: digests.revoked,
        };
        let viewed = grants.last().map(|cast| cast.vote.viewed);
        let viewed = viewed.unwrap_or_default();
        self.granted(grant, voting.by.clone(), viewed, Some(votes), now, fx);
    }

    /// A denial or a veto ends it. Its text for the agent names nobody.
    fn end_by_vote(
        &mut self,
        id: ProposalId,
        by: &Person,
        kind: VoteKind,
        reason: Option<String>,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let Some(voting) = self.settings.voting.clone() else {
            return;
        };
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        let poll = entry.poll();
        let viewed = poll.and_then(|poll| {
            let mut votes = poll.votes.iter();
            let theirs = votes.find(|c| c.vote.voter == *by && c.vote.kind == kind);
            theirs.map(|cast| cast.vote.viewed)
        });
        let has_child = entry.granted().is_some_and(Granted::has_child);
        if has_child {
            fx.push(Effect::Kill { id });
        }
        let end = End {
            state: State::Denied,
            text: OutcomeText::denied(reason.as_deref()),
            decision: Some(Decision {
                reason: reason.clone(),
                ..decided(DecisionKind::Denied, now)
            }),
            run: None,
        };
        self.set_final(id, end, now);
        let event = LogEvent::Denied {
            id,
            reason,
            by: voting.by.clone(),
            viewed: viewed.unwrap_or_default(),
        };
        self.record_decided(event, Vec::new(), Then::Tell(id), now, fx);
    }

    /// The child is held and everything is recorded: the votes are counted once more, with the files as they are now.
    pub(super) fn looked_again(
        &mut self,
        id: ProposalId,
        electorate: Result<Arc<Electorate>, String>,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        self.electorate_is(electorate, now, fx);
        self.looked_to_offer(id, now, fx);
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        let looking = |granted: &Granted| {
            matches!(granted.stage, Stage::Looking) && granted.stopped.is_none()
        };
        if !entry.granted().is_some_and(looking) {
            return;
        }
        if now.boot >= entry.deadline {
            return self.end_late(id, now, fx);
        }
        let why = match self.standing(entry, now) {
            Some(Standing::Met { .. }) => None,
            Some(Standing::Ended {
                by,
                kind: VoteKind::Veto,
                reason,
            }) => return self.end_by_vote(id, &by, VoteKind::Veto, reason, now, fx),
            // Only other files can make a denial of before the grant count now.
            Some(Standing::Ended { by, .. }) => Some(format!("`{by}` denied it")),
            Some(Standing::Open { missing }) => Some(words(&missing)),
            Some(Standing::Impossible(why)) => Some(why),
            None => Some(Refused::NoDesk.to_string()),
        };
        if let Some(why) = why {
            let message = format!("a vote that granted it counts no more: {why}");
            fx.push(Effect::Kill { id });
            let text = OutcomeText::error("a vote that granted it counts no more");
            return self.end_unrun(id, State::Error, text, &message, now, fx);
        }
        if let Some(granted) = self.entries.get_mut(&id).and_then(Entry::granted_mut) {
            granted.stage = Stage::LetGo(Live::default());
            fx.push(Effect::Release { id });
        }
    }

    /// Tells everybody who voted what there is: each of them sees the votes, and nobody else does.
    pub(super) fn tell_voters(&self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        let (Some(poll), Some(standing)) = (entry.poll(), self.standing(entry, now)) else {
            return;
        };
        let missing = match standing {
            Standing::Open { missing } => missing.iter().map(ToString::to_string).collect(),
            Standing::Impossible(why) => vec![why],
            Standing::Met { .. } | Standing::Ended { .. } => Vec::new(),
        };
        let counted: Vec<&Cast> = poll.votes.iter().filter(|cast| cast.counts()).collect();
        let votes: Vec<SeenVote> = counted.iter().map(|cast| SeenVote::from(*cast)).collect();
        let mut told = BTreeSet::new();
        for cast in counted.iter().rev() {
            if told.insert(&cast.vote.voter) {
                let says = Says::Counted {
                    vote: cast.vote.kind,
                    missing: missing.clone(),
                    votes: votes.clone(),
                };
                self.publish(id, Some(cast.vote.voter.clone()), says, now, fx);
            }
        }
    }

    /// Has something said of an offer, if there was one.
    pub(super) fn publish(
        &self,
        id: ProposalId,
        to: Option<Person>,
        says: Says,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let Some(voting) = &self.settings.voting else {
            return;
        };
        let offered = self.entries.get(&id);
        let Some(entry) = offered.filter(|entry| entry.offers > 0 && !entry.is_drill()) else {
            return;
        };
        fx.push(Effect::Publish(Publication::Statement(Box::new(
            Statement {
                format: StatementFormat::V1,
                host: voting.host.clone(),
                host_key: voting.host_key.clone(),
                proposal: id,
                version: entry.offers,
                number: 0,
                at: now.wall,
                to,
                says,
            },
        ))));
    }
}

impl From<&Cast> for SeenVote {
    fn from(cast: &Cast) -> Self {
        Self {
            voter: cast.vote.voter.clone(),
            vote: cast.vote.kind,
            at: cast.at,
            viewed: cast.vote.viewed,
            reason: cast.vote.reason.clone(),
            key: cast.key.clone(),
            touched: cast.touched,
        }
    }
}

fn words(missing: &[Missing]) -> String {
    let words: Vec<String> = missing.iter().map(ToString::to_string).collect();
    words.join("; ")
}
