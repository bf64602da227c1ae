//! The queue's lists in display order, rebuilt only after a change.

use crate::broker::{BrokerState, Entry};
use crate::model::{BoundInput, Earlier, Past, ProposalId, State, VerdictKind};

use super::UiState;
use super::groups::Place;
use super::states::Lists;

/// Detects a change of the lists without iterating over them.
pub(super) type Stamp = (
    usize,
    Option<ProposalId>,
    usize,
    Option<ProposalId>,
    Option<ProposalId>,
    Order,
    // Edits that took effect.
    u64,
    // The filter's number, and how many pauses there are: a row says whether its agent is paused.
    (u64, usize),
);

/// The order of the pending proposals; equal ones stay in the order of their arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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

impl Lists {
    /// Adds a running or pending entry at the end, under its group, or to what the filter hides.
    fn add(&mut self, state: &BrokerState, past: &Past, entry: &Entry) {
        let id = entry.proposal.id;
        self.all.0 += 1;
        let waits = entry.state() == State::Pending;
        if let Some(likeness) = past.about(id).and_then(Earlier::likeness).filter(|_| waits) {
            *self.alike.entry(likeness).or_default() += 1;
        }
        if !self.filter.shows(state, entry) {
            if waits {
                let sooner = self
                    .hidden_until
                    .map_or(entry.deadline, |d| d.min(entry.deadline));
                self.hidden_until = Some(sooner);
            }
            return;
        }
        self.shown += 1;
        if !waits {
            return self.live.push(id);
        }
        match self.groups.add(past, entry) {
            Place::Row => self.live.push(id),
            Place::Folded => {}
            Place::Behind(last) => {
                let at = self.live.iter().rposition(|row| *row == last);
                self.live
                    .insert(at.map_or(self.live.len(), |at| at + 1), id);
            }
        }
    }

    /// Whether the filter shows this proposal: it has a row, or is folded under one.
    pub fn has(&self, id: ProposalId) -> bool {
        self.live.contains(&id) || self.decided.contains(&id) || self.groups.is_folded(id)
    }

    /// All proposals that the filter shows, in order, also those that are folded.
    pub fn walk(&self) -> impl Iterator<Item = ProposalId> + '_ {
        let folded = |id: &ProposalId| match self.groups.under(*id) {
            Some((group, false)) => &group.rest[..],
            _ => &[],
        };
        let live = self.live.iter();
        live.flat_map(move |id| std::iter::once(id).chain(folded(id)))
            .chain(&self.decided)
            .copied()
    }
}

impl UiState {
    pub(super) fn relist(&mut self, state: &BrokerState) {
        let id = |e: &Entry| e.proposal.id;
        let pauses = state.pauses().len();
        let stamp = (
            state.pending_count(),
            state.pending().next_back().map(id),
            state.running_count(),
            state.running().next_back().map(id),
            state.decided().next().map(id),
            self.queue.lists.order,
            state.edits(),
            (self.queue.lists.filter.number, pauses),
        );
        let before = self.queue.lists.stamp.replace(stamp);
        if before == Some(stamp) {
            return;
        }
        let (lists, past) = (&mut self.queue.lists, &self.memory.past);
        // The common case in a flood: proposals were only appended, so do not iterate over the
        // lists.
        if let Some((pending, last, ..)) = before
            && stamp.5 == Order::Arrival
            && before.map(|b| (b.2, b.3, b.4, b.5, b.6, b.7))
                == Some((stamp.2, stamp.3, stamp.4, stamp.5, stamp.6, stamp.7))
            && let Some(came) = stamp.0.checked_sub(pending).filter(|n| *n > 0)
            && state.pending().rev().nth(came).map(id) == last
        {
            let mut new: Vec<&Entry> = state.pending().rev().take(came).collect();
            new.reverse();
            lists.flagged += new.iter().filter(|entry| is_flagged(entry)).count();
            for entry in new {
                lists.add(state, past, entry);
            }
            return;
        }
        if before.is_some_and(|b| b.6 != stamp.6 || b.7.1 != pauses) {
            lists.filter.shown.clear();
        }
        if before.is_some_and(|b| b.6 != stamp.6) {
            lists.groups.forget_keys();
        }
        lists.flagged = state.pending().filter(|entry| is_flagged(entry)).count();
        let mut pending: Vec<&Entry> = state.pending().collect();
        lists.order.sort(&mut pending);
        lists.live.clear();
        lists.groups.clear();
        lists.alike.clear();
        lists.hidden_until = None;
        (lists.all, lists.shown) = ((0, 0), 0);
        for entry in state.running().chain(pending) {
            lists.add(state, past, entry);
        }
        lists.decided.clear();
        for entry in state.decided() {
            lists.all.1 += 1;
            if lists.filter.shows(state, entry) {
                lists.decided.push(entry.proposal.id);
            }
        }
        lists
            .filter
            .shown
            .retain(|id, _| state.entry(*id).is_some());
        lists.groups.retain(state);
        self.queue.looked.retain(|id, _| state.entry(*id).is_some());
        // The selected one has a row, also where it is not the first of its group.
        if let Some(selected) = self.queue.selected
            && self.queue.lists.groups.is_folded(selected)
        {
            self.queue.lists.groups.open(selected);
            self.list_anew(state);
        }
    }

    /// Makes the lists anew although the core's state is the same.
    pub(super) fn list_anew(&mut self, state: &BrokerState) {
        self.queue.lists.stamp = None;
        self.relist(state);
    }
}

fn is_flagged(entry: &Entry) -> bool {
    let verdict = entry.verdict();
    verdict.is_some_and(|v| v.verdict == VerdictKind::Flagged)
}
