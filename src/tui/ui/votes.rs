//! The vote of the person at the terminal: whether it is asked for, how it goes, and whose they may see.
//!
//! Nothing here depends on the votes of others before the person's own is in: neither a word nor whether there is one.

use crate::ballot::Standing;
use crate::broker::poll::{Cast, Own, Poll};
use crate::broker::{BrokerState, Entry};
use crate::clock::Now;
use crate::model::{State, VoteKind};

use super::super::theme::Role;
use super::super::words;
use super::super::words::votes as said;
use super::{Notice, UiState};

/// The votes that the person may see: all of them once their own is in, none before.
pub(in crate::tui) fn seen<'a>(state: &BrokerState, entry: &'a Entry) -> Option<Vec<&'a Cast>> {
    match (entry.poll(), entry.offered()) {
        (Some(poll), _) => poll.votes_for(state.person_here().ok()?),
        // It ended. A host tells nobody of votes before their own is in.
        (None, Some(offered)) => Some(offered.votes.iter().collect()),
        (None, None) => None,
    }
}

const fn ended_by_people(state: State) -> bool {
    !matches!(
        state,
        State::Expired | State::Withdrawn | State::Unattended | State::Error
    )
}

/// What the person voted, wherever they did.
fn voted(state: &BrokerState, entry: &Entry) -> Option<VoteKind> {
    match entry.poll().map(Poll::own)? {
        Own::Counted(kind) => Some(*kind),
        Own::Sent(_) | Own::Signing(_) => None,
        Own::Open | Own::Failed(_) => {
            let person = state.person_here().ok()?;
            let all = seen(state, entry)?;
            let mut own = all.iter().filter(|cast| cast.vote.voter == *person);
            // A denial stays one of the next version, a grant does not.
            own.next_back().map(|cast| cast.vote.kind)
        }
    }
}

/// How the person's vote goes, and what prevents that votes grant it at all.
pub(in crate::tui) fn going(
    state: &BrokerState,
    entry: &Entry,
    now: Now,
) -> Option<(String, Role)> {
    let poll = entry.poll().filter(|_| entry.awaits_decision())?;
    let standing = || state.standing(entry, now);
    let own = matches!(
        poll.own(),
        Own::Signing(_) | Own::Failed(_) | Own::Sent(VoteKind::Veto) | Own::Counted(VoteKind::Veto)
    );
    if let Some(at) = entry.offered().map(|offered| offered.state)
        && at != State::Pending
        && !own
    {
        let may_veto = state.denies_as(entry) == VoteKind::Veto;
        return Some((said::at_host(at, may_veto), Role::Accent));
    }
    if let Some(kind) = voted(state, entry) {
        let standing = standing()?;
        let role = match standing {
            Standing::Impossible(_) => Role::Flagged,
            _ => Role::Accent,
        };
        return Some((said::counted(kind, &standing), role));
    }
    match poll.own() {
        Own::Signing(_) => Some((said::SIGNING.to_owned(), Role::Accent)),
        Own::Sent(kind) => Some((said::sent(*kind), Role::Accent)),
        Own::Failed(why) => Some((said::not_in(why), Role::Flagged)),
        Own::Open | Own::Counted(_) => match standing()? {
            Standing::Impossible(why) => {
                Some((format!("▲ {}", said::impossible(&why)), Role::Flagged))
            }
            _ => None,
        },
    }
}

/// Why a denial of the person comes too late: their host granted it, and they may not veto.
pub(in crate::tui) fn too_late_to_deny(state: &BrokerState, entry: &Entry) -> Option<String> {
    let at = entry.offered()?.state;
    let late = at != State::Pending && state.denies_as(entry) != VoteKind::Veto;
    late.then(|| said::at_host(at, false))
}

/// Why the person is not asked for a grant of what takes votes.
pub(in crate::tui) fn not_asked(state: &BrokerState, entry: &Entry, now: Now) -> Option<String> {
    if state.terms_of(entry).is_empty() {
        return None;
    }
    if let Err(why) = state.voter_here(entry) {
        return Some(words::cannot_grant(&why.to_string()));
    }
    if let Some(why) = entry.hopeless() {
        return Some(said::impossible(why));
    }
    let goes_on = matches!(
        entry.poll().map(Poll::own),
        Some(Own::Signing(_) | Own::Sent(_))
    );
    match goes_on || voted(state, entry).is_some() {
        true => going(state, entry, now).map(|(words, _)| words),
        false => None,
    }
}

impl UiState {
    /// Counts the decisions whose votes are in. What was not signed, or does not count, was none.
    pub(super) fn count_votes(&mut self, state: &BrokerState) {
        let mut failed = Vec::new();
        self.attention.vigilance.settle(|id| {
            let entry = state.entry(id);
            let counts = match entry.and_then(Entry::poll).map(Poll::own) {
                Some(Own::Signing(_) | Own::Sent(_)) => return None,
                Some(Own::Counted(_)) => true,
                Some(Own::Open | Own::Failed(_)) => false,
                // It ended meanwhile.
                None => entry.is_some_and(|entry| ended_by_people(entry.state())),
            };
            if !counts {
                failed.push(id);
            }
            Some(counts)
        });
        for id in failed {
            self.queue.denied.remove(&id);
        }
    }

    /// Tells how the person's vote on the selected proposal goes, each time that it goes on.
    pub(super) fn hear_vote(&mut self, state: &BrokerState, now: Now) {
        let entry = self.entry(state).filter(|entry| entry.poll().is_some());
        let goes = entry.map(|entry| (entry.proposal.id, going(state, entry, now)));
        if goes == self.remarks.vote {
            return;
        }
        let heard = std::mem::replace(&mut self.remarks.vote, goes);
        if let (Some((before, _)), Some((id, Some((words, _))))) = (heard, &self.remarks.vote)
            && before == *id
        {
            self.remarks.notice = Some(Notice::While(*id, State::Pending, words.clone().into()));
        }
    }
}
