//! Wrapped contents that the next frames may use again, and where the output stands.

use std::sync::Arc;

use crate::model::{Digest, ProposalId, State};

use super::super::flow::Flow;
use super::super::transcript::{At, Upto};
use super::{Detail, Pane, UiState};

/// The number of cached wrapped pane contents.
const FLOWS: usize = 12;

/// Identifies the wrapped content of a cached [`Flow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowKey {
    /// Of a proposal and its code.
    Pane(Pane, ProposalId, Digest, u16),
    /// An output that is not followed. `height`: that of its pane, which charts fit into.
    Output {
        id: ProposalId,
        width: u16,
        height: u16,
        wrap: bool,
        upto: Option<Upto>,
        /// The bytes that were laid out at most.
        most: usize,
        state: State,
        /// How many figures are there.
        figures: usize,
    },
    /// Folded, or with all details.
    Sheet(ProposalId, crate::model::GrantDigest, u16, Detail),
    /// A comparison by its number.
    Diff(u64, u16),
    /// The records shown on screen 2, identified by how often they were set.
    Record(u64, u16),
    /// The page of a proposal, likewise.
    Dossier(u64, u16),
}

impl UiState {
    pub(in crate::tui) fn flow(&self, key: &FlowKey) -> Option<&Arc<Flow>> {
        self.kept
            .flows
            .iter()
            .find(|(k, _)| k == key)
            .map(|(_, f)| f)
    }

    pub(super) fn keep_flow(&mut self, key: FlowKey, flow: Arc<Flow>) {
        if self.flow(&key).is_some() {
            return;
        }
        if matches!(key, FlowKey::Output { .. }) {
            // One is long enough.
            let output = |key: &FlowKey| matches!(key, FlowKey::Output { .. });
            self.kept.flows.retain(|(key, _)| !output(key));
        }
        self.kept.flows.push_front((key, flow));
        self.kept.flows.truncate(FLOWS);
    }

    /// Takes in the first row that was shown of an output that is not followed.
    pub(super) fn stay_at(&mut self, top: Option<usize>) {
        let looked = self
            .queue
            .selected
            .and_then(|id| self.queue.looked.get_mut(&id));
        if let (Some(top), Some(looked)) = (top, looked)
            && looked.reading.at.is_some()
        {
            looked.reading.at = Some(At::Row(top));
        }
    }
}
