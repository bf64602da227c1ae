//! Where selection moves by itself, and only there (protocol.md §7).

use crate::model::ProposalId;

use super::state::BrokerState;

/// The pending proposal that expires first; among equals the one that came first.
pub fn most_urgent(state: &BrokerState) -> Option<ProposalId> {
    state
        .pending()
        .min_by_key(|e| e.deadline)
        .map(|e| e.proposal.id)
}

/// The pending proposal that came first: what is selected when nothing is.
pub fn first_pending(state: &BrokerState) -> Option<ProposalId> {
    state.pending().next().map(|e| e.proposal.id)
}
