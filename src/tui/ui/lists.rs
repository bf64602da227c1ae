//! The queue's lists in display order, rebuilt only after a change.

use crate::broker::{BrokerState, Entry};
use crate::model::{ProposalId, VerdictKind};

use super::UiState;

/// Detects a change of the lists without iterating over them.
pub(super) type Stamp = (
    usize,
    Option<ProposalId>,
    usize,
    Option<ProposalId>,
    Option<ProposalId>,
);

impl UiState {
    pub(super) fn relist(&mut self, state: &BrokerState) {
        let id = |e: &Entry| e.proposal.id;
        let stamp = (
            state.pending_count(),
            state.pending().next_back().map(id),
            state.running_count(),
            state.running().next_back().map(id),
            state.decided().next().map(id),
        );
        let before = self.queue.lists.stamp.replace(stamp);
        if before == Some(stamp) {
            return;
        }
        // The common case in a flood: proposals were only appended, so do not iterate over the
        // lists.
        if let Some((pending, last, ..)) = before
            && (before.map(|b| (b.2, b.3, b.4))) == Some((stamp.2, stamp.3, stamp.4))
            && let Some(came) = stamp.0.checked_sub(pending).filter(|n| *n > 0)
            && state.pending().rev().nth(came).map(id) == last
        {
            let came_flagged = state.pending().rev().take(came);
            self.queue.lists.flagged += came_flagged.filter(|entry| is_flagged(entry)).count();
            let from = self.queue.lists.live.len();
            self.queue
                .lists
                .live
                .extend(state.pending().rev().take(came).map(id));
            self.queue.lists.live[from..].reverse();
            return;
        }
        self.queue.lists.flagged = state.pending().filter(|entry| is_flagged(entry)).count();
        self.queue.lists.live = state.running().chain(state.pending()).map(id).collect();
        self.queue.lists.decided = state.decided().map(id).collect();
        self.queue.looked.retain(|id, _| state.entry(*id).is_some());
    }
}

fn is_flagged(entry: &Entry) -> bool {
    let verdict = entry.verdict();
    verdict.is_some_and(|v| v.verdict == VerdictKind::Flagged)
}
