//! The only cases in which the selection moves by itself (protocol.md §7).

use std::collections::BTreeSet;

use crate::model::ProposalId;

use super::state::BrokerState;

/// The pending proposal that expires first, of those not `left_out`; among equals, the oldest.
pub fn most_urgent(state: &BrokerState, left_out: &BTreeSet<ProposalId>) -> Option<ProposalId> {
    state
        .pending()
        .filter(|e| !left_out.contains(&e.proposal.id))
        .min_by_key(|e| e.deadline)
        .map(|e| e.proposal.id)
}

/// The oldest pending proposal: selected when nothing else is.
pub fn first_pending(state: &BrokerState) -> Option<ProposalId> {
    state.pending().next().map(|e| e.proposal.id)
}
