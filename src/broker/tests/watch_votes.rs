//! What the watch knows of votes.

use super::super::decision::grant;
use super::super::state::BrokerState;
use super::watch::Watch;
use crate::clock::Now;
use crate::model::{ProposalId, Vote, VoteKind};

impl Watch {
    /// Two people other than the one whose agent asks; whether their signatures are right, the core says.
    pub(super) fn voted(&mut self, state: &BrokerState, id: ProposalId, vote: &Vote, now: Now) {
        let Some(asked) = self.proposed.get(&id) else {
            return;
        };
        if vote.kind != VoteKind::Grant || now.boot >= asked.deadline || self.doubt.is_some() {
            return;
        }
        let voters = self.voted.entry(id).or_default();
        voters.insert(vote.voter.clone());
        let code = self.current.get(&id).unwrap_or(&asked.code);
        let digest = state
            .entry(id)
            .and_then(|e| grant::grant_digest(state, e).ok());
        if voters.len() >= 2
            && let Some(digest) = digest
        {
            self.confirmed.entry(id).or_insert(digest);
            self.read.entry(id).or_insert(code.clone());
        }
    }
}
