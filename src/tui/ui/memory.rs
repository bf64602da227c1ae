//! What the log says of earlier proposals: the memory behind the line of what is new, the reasons that the deny
//! prompt offers, the diff and the pane of earlier proposals.

use std::sync::Arc;

use jiff::Timestamp;

use crate::broker::Entry;
use crate::clock::Now;
use crate::model::{Blob, Digest, LogEvent, Past, Shape};

use super::super::novelty::{self, Line};
use super::UiState;

/// Codes whose shape is read after the start, the newest.
const SHAPES: usize = 20_000;
/// Reasons that the deny prompt offers.
const REASONS: usize = 100;

/// The memory, and whose it is.
#[derive(Debug, Default)]
pub(in crate::tui) struct Memory {
    pub past: Past,
    /// The uid of the person at this dashboard.
    pub by: u32,
}

impl UiState {
    /// Sets what the log says at the start, and the person's uid.
    pub fn set_past(&mut self, past: Past, by: u32) {
        self.memory = Memory { past, by };
    }

    /// Takes in a record that is about to be written.
    pub fn learn(&mut self, at: Timestamp, event: &LogEvent, blobs: &[Blob]) {
        self.memory.past.learn_written(at, event, blobs);
    }

    /// The codes in the log that should be read for [`Self::learn_shapes`].
    pub fn shapeless(&self) -> Vec<Digest> {
        self.memory.past.shapeless(SHAPES)
    }

    pub fn learn_shapes(&mut self, shapes: &[(Digest, Shape)]) {
        for (code, shape) in shapes {
            self.memory.past.shape(*code, *shape);
        }
    }

    /// What is new about a proposal, the most important first; see [`novelty`].
    #[cfg_attr(not(test), expect(dead_code, reason = "the main screen shows it"))]
    pub(in crate::tui) fn novelty(&self, entry: &Entry, now: Now) -> Vec<Line> {
        novelty::novelty(&self.memory.past, entry, &self.common.zone, now)
    }

    /// This person's reasons for earlier denials, the newest first.
    pub(super) fn reasons(&self) -> Vec<Arc<str>> {
        self.memory.past.reasons(self.memory.by, REASONS)
    }
}
