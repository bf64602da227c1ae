//! The queue's lists in display order, rebuilt only after a change.

use crate::broker::{BrokerState, Entry};
use crate::model::{BoundInput, ProposalId, VerdictKind};

use super::UiState;

/// Detects a change of the lists without iterating over them.
pub(super) type Stamp = (
    usize,
    Option<ProposalId>,
    usize,
    Option<ProposalId>,
    Option<ProposalId>,
    Order,
    u64,
);

/// The order of the pending proposals; equal ones stay in the order of their arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::tui) enum Order {
    #[default]
    Arrival,
    /// The earliest to expire first.
    Deadline,
    /// Flagged ones first, and among equals those with private data.
    Severity,
    /// By the agent's name, and among equals by its process: one name can be used by two.
    Agent,
}

impl Order {
    pub const fn next(self) -> Self {
        match self {
            Self::Arrival => Self::Deadline,
            Self::Deadline => Self::Severity,
            Self::Severity => Self::Agent,
            Self::Agent => Self::Arrival,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Arrival => "by arrival",
            Self::Deadline => "by deadline",
            Self::Severity => "by severity",
            Self::Agent => "by agent",
        }
    }

    fn sort(self, entries: &mut [&Entry]) {
        match self {
            Self::Arrival => {}
            Self::Deadline => entries.sort_by_key(|e| e.deadline),
            Self::Severity => entries.sort_by_key(|e| {
                let private = e
                    .inputs()
                    .is_some_and(|i| i.iter().any(BoundInput::is_private));
                std::cmp::Reverse((is_flagged(e), private))
            }),
            Self::Agent => entries.sort_by(|a, b| {
                let key = |e: &Entry| (e.proposal.peer.uid, e.proposal.peer.pid);
                let names = a.proposal.agent_name().cmp(b.proposal.agent_name());
                names.then(key(a).cmp(&key(b)))
            }),
        }
    }
}

impl UiState {
    pub(super) fn relist(&mut self, state: &BrokerState) {
        let id = |e: &Entry| e.proposal.id;
        let stamp = (
            state.pending_count(),
            state.pending().next_back().map(id),
            state.running_count(),
            state.running().next_back().map(id),
            state.decided().next().map(id),
            self.queue.lists.order,
            state.edits(),
        );
        let before = self.queue.lists.stamp.replace(stamp);
        if before == Some(stamp) {
            return;
        }
        // The common case in a flood: proposals were only appended, so do not iterate over the
        // lists.
        if let Some((pending, last, ..)) = before
            && stamp.5 == Order::Arrival
            && (before.map(|b| (b.2, b.3, b.4, b.5, b.6)))
                == Some((stamp.2, stamp.3, stamp.4, stamp.5, stamp.6))
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
        let mut pending: Vec<&Entry> = state.pending().collect();
        self.queue.lists.order.sort(&mut pending);
        self.queue.lists.live = state.running().chain(pending).map(id).collect();
        self.queue.lists.decided = state.decided().map(id).collect();
        self.queue.looked.retain(|id, _| state.entry(*id).is_some());
    }
}

fn is_flagged(entry: &Entry) -> bool {
    let verdict = entry.verdict();
    verdict.is_some_and(|v| v.verdict == VerdictKind::Flagged)
}
