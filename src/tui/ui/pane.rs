//! The panes of the queue screen: their order, which all screens and texts follow, and which of them there are.

use crate::broker::Entry;
use crate::model::State;

/// A part of the queue screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pane {
    Queue,
    Code,
    Output,
    Outcome,
    Verdict,
    Can,
    Given,
    /// Plumbing: limits, layers, digests, environment, peer.
    Details,
    Says,
    Past,
}

impl Pane {
    /// As the keys go through them.
    pub(in crate::tui) const ORDER: [Self; 10] = [
        Self::Queue,
        Self::Code,
        Self::Output,
        Self::Outcome,
        Self::Verdict,
        Self::Can,
        Self::Given,
        Self::Details,
        Self::Says,
        Self::Past,
    ];

    pub(in crate::tui) const fn name(self) -> &'static str {
        match self {
            Self::Queue => "QUEUE",
            Self::Code => "CODE",
            Self::Output => "OUTPUT",
            Self::Outcome => "OUTCOME",
            Self::Verdict => "FINDINGS",
            Self::Can => "CAN",
            Self::Given => "GIVEN",
            Self::Details => "DETAILS",
            Self::Says => "SAYS",
            Self::Past => "PAST",
        }
    }
}

/// The panes below the code, except the one of earlier proposals.
pub(super) fn lower(entry: Option<&Entry>) -> Vec<Pane> {
    let Some(entry) = entry else {
        return Vec::new();
    };
    let is_there = |pane: &Pane| match pane {
        Pane::Queue | Pane::Code | Pane::Past => false,
        Pane::Output => has_output(entry),
        Pane::Outcome => entry.state() != State::Pending,
        Pane::Verdict | Pane::Can | Pane::Given | Pane::Details | Pane::Says => true,
    };
    Pane::ORDER.into_iter().filter(is_there).collect()
}

/// Whether the entry is running, has run, or is about to run.
pub(in crate::tui) fn has_output(entry: &Entry) -> bool {
    matches!(entry.state(), State::Granted | State::Running) || entry.run().is_some()
}
