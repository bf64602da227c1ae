//! Who may vote changed while something waits: people are told, what no votes can grant any more ends where nobody sits, and
//! what votes come to is counted anew.

use std::sync::Arc;

use crate::ballot::Electorate;
use crate::clock::Now;
use crate::model::{Person, ProposalId, VoteKind};

use super::effect::Effect;
use super::entry::Entry;
use super::offer::{MayVote, Says};
use super::poll::Own;
use super::state::BrokerState;
use super::voting::able;

/// The most bytes of names in one statement. Longer lists are hints that are left out.
const NAMES_MAX: usize = 32 * 1024;

impl BrokerState {
    /// Who may vote was read.
    pub(super) fn electorate_is(
        &mut self,
        electorate: Result<Arc<Electorate>, String>,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let digests = |e: &Result<Arc<Electorate>, String>| e.as_ref().ok().map(|e| *e.digests());
        let is_same = digests(&self.electorate) == digests(&electorate);
        let before = self.looked.replace(now.wall);
        // A key began or ended by its own times.
        let is_later = before.is_some_and(|before| {
            electorate
                .as_ref()
                .is_ok_and(|e| e.has_change_within(before, now.wall))
        });
        if let Ok(known) = &electorate {
            self.known = Some(known.clone());
        }
        self.electorate = electorate;
        let waiting: Vec<ProposalId> = self.waiting.values().copied().collect();
        if is_same && !is_later {
            // What is in vain since a change may be so long enough.
            for id in waiting {
                self.stays_in_vain(id, now, fx);
            }
            return;
        }
        for id in &waiting {
            self.weigh(*id);
        }
        // Files that cannot be read say nothing of anybody: what was told stays.
        let Ok(electorate) = self.electorate.clone() else {
            return;
        };
        for id in waiting {
            self.people_changed(id, &electorate, now, fx);
        }
    }

    fn people_changed(
        &mut self,
        id: ProposalId,
        electorate: &Electorate,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        let poll = entry.poll().filter(|_| entry.awaits_decision());
        let (Some(poll), false) = (poll, entry.is_drill()) else {
            return;
        };
        let terms = poll.terms.clone();
        if self.stays_in_vain(id, now, fx) {
            return;
        }
        let fresh = self.pick(id, &terms, now);
        self.ask(id, fresh, now, fx);
        self.tell_who_may_vote(id, electorate, now, fx);
        self.tell_whose_vote_is_gone(id, electorate, now, fx);
        self.tell_voters(id, now, fx);
        self.decide_by_votes(id, now, fx);
    }

    /// Tells those who may see it, if it is not what they know.
    fn tell_who_may_vote(
        &mut self,
        id: ProposalId,
        electorate: &Electorate,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        let is_able = |one: &&Person| match entry.hopeless() {
            None => entry.may_count(one),
            Some(_) => electorate.knows(one),
        };
        let said = MayVote {
            asks: entry.asked().iter().filter(is_able).cloned().collect(),
            vetoers: self.vetoers(&self.terms_of(entry)),
            able: able(entry).filter(|able| bytes(able) <= NAMES_MAX),
            hopeless: entry.hopeless().map(str::to_owned),
        };
        if bytes(&said.asks) + bytes(&said.vetoers) > NAMES_MAX / 2
            || entry.prospect.told.as_ref() == Some(&said)
        {
            return;
        }
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.prospect.told = Some(said.clone());
        }
        self.publish(id, None, Says::MayVote(said), now, fx);
    }

    /// Tells each person whose vote counted and counts no more: they may be able to vote again.
    fn tell_whose_vote_is_gone(
        &mut self,
        id: ProposalId,
        electorate: &Electorate,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        let proposal = entry.proposal.clone();
        let Some(poll) = entry.poll_mut() else {
            return;
        };
        let gone = poll.look_at_votes(electorate, (&proposal.peer).into(), now.wall);
        for (voter, vote, why) in gone {
            self.counts_no_more(id, voter, vote, why, now, fx);
        }
    }

    /// A vote that was taken in counts no more.
    pub(super) fn counts_no_more(
        &mut self,
        id: ProposalId,
        voter: Person,
        vote: VoteKind,
        why: String,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let is_here = self.person_here() == Ok(&voter);
        if let Some(poll) = self.entries.get_mut(&id).and_then(Entry::poll_mut)
            && is_here
        {
            poll.own = Own::Failed(why.clone());
        }
        self.publish(id, Some(voter), Says::NotCounted { vote, why }, now, fx);
    }
}

fn bytes<'a>(people: impl IntoIterator<Item = &'a Person>) -> usize {
    let people = people.into_iter();
    people.map(|person| person.as_str().len() + 3).sum()
}
