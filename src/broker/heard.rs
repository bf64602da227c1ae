//! What a seat's records say of the proposals of hosts elsewhere.

use crate::model::{About, BoundInput, HeardVote, VerdictKind};

use super::entry::Entry;
use super::news;
use super::seat::Offered;

impl Offered {
    /// Who voted, for the record of its end.
    pub(super) fn heard_votes(&self) -> Vec<HeardVote> {
        let votes = self.votes.iter().map(|cast| HeardVote {
            voter: cast.vote.voter.clone(),
            vote: cast.vote.kind,
            at: cast.at,
            key: cast.key.clone(),
        });
        votes.collect()
    }
}

/// What the record of a vote says of what it is about.
pub(super) fn about(entry: &Entry) -> About {
    let verdict = entry.verdict();
    let inputs = entry.inputs().map_or(&[][..], |inputs| inputs);
    let offer = entry.offered().map(|offered| &offered.offer);
    About {
        proposed_at: offer.map_or(entry.received.wall, |offer| offer.proposed_at),
        uid: entry.proposal.peer.uid,
        agent: entry.proposal.agent_name().to_owned(),
        title: entry.proposal.title.clone(),
        profile: entry.proposal.profile.clone(),
        verdict: verdict.map_or(VerdictKind::Unanalyzable, |verdict| verdict.verdict),
        findings: verdict.map_or(0, |verdict| verdict.findings.len() as u64),
        data: news::data_sets(entry)
            .into_iter()
            .map(str::to_owned)
            .collect(),
        private: inputs.iter().any(BoundInput::is_private),
    }
}
