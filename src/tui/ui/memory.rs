//! What the log says of earlier proposals: the memory behind the line of what is new, the reasons that the deny
//! prompt offers, the diff and the pane of earlier proposals.

use std::sync::Arc;

use jiff::Timestamp;

use crate::broker::{BrokerState, Entry, news};
use crate::clock::Now;
use crate::model::{
    Blob, Digest, Earlier, InputKind, LogEvent, Of, Past, ProposalId, Shape, State, Tally,
};

use super::super::keys::Command;
use super::super::novelty::{self, Line, Whose};
use super::super::seat_news;
use super::super::theme::Role;
use super::super::words;
use super::{Pane, UiState};

/// Codes whose shape is read after the start, the newest.
const SHAPES: usize = 20_000;
/// Reasons that the deny prompt offers.
const REASONS: usize = 100;
/// Earlier proposals that the pane lists.
const EARLIER: usize = 200;

/// The memory, and whose it is.
#[derive(Debug, Default)]
pub(in crate::tui) struct Memory {
    pub past: Past,
    pub known: Known,
    /// The uid of the person at this dashboard.
    pub by: u32,
    /// How many diffs were asked for.
    pub compared: u64,
}

/// How much of the log the memory has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::tui) enum Known {
    #[default]
    All,
    /// What was written since the start; the rest is still read.
    SinceStart,
}

impl Memory {
    pub fn is_read(&self) -> bool {
        self.known == Known::All
    }
}

impl UiState {
    /// Sets what the log says at the start, and the person's uid.
    pub fn set_past(&mut self, past: Past, by: u32) {
        self.memory = Memory {
            past,
            by,
            ..Memory::default()
        };
    }

    /// The log was not read yet: until [`Self::recall`] nothing is said of earlier proposals.
    pub fn awaits_past(&mut self, by: u32) {
        self.set_past(Past::default(), by);
        self.memory.known = Known::SinceStart;
    }

    /// Sets what the log says of the time before the start.
    pub fn recall(&mut self, past: Past) {
        let since = std::mem::replace(&mut self.memory.past, past);
        self.memory.past.follow(since);
        self.memory.known = Known::All;
    }

    #[cfg(test)]
    pub(in crate::tui) fn take_past(&mut self) -> Past {
        std::mem::take(&mut self.memory.past)
    }

    /// Takes in a record that is about to be written.
    pub fn learn(&mut self, at: Timestamp, event: &LogEvent, blobs: &[Blob]) {
        self.memory.past.learn_written(at, event, blobs);
        if let LogEvent::Drilled(drilled) = event {
            self.attention.vigilance.drilled(drilled.end);
            self.remarks.drilled = Some(drilled.id);
        }
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

    /// What is new about a proposal, the most important first; see [`news::news`]. In a seat, by its host's word.
    pub(in crate::tui) fn novelty(&self, entry: &Entry, whose: Whose, now: Now) -> Vec<Line> {
        let compare = self.key(Command::Diff);
        let time = (&self.common.zone, now);
        if let Some(offered) = entry.offered() {
            return seat_news::said(&offered.offer, entry, whose, time, &compare);
        }
        if !self.memory.is_read() {
            return vec![vec![(words::NEW_UNREAD.to_owned(), Role::Flagged)]];
        }
        let news = news::news(&self.memory.past, entry, None);
        novelty::said(&news, entry, whose, time, &compare)
    }

    /// Whether two proposals differ in numbers only: also their policy, data sets and inputs are the same.
    pub(in crate::tui) fn are_alike(&self, one: ProposalId, other: ProposalId) -> bool {
        let likeness = |id| self.memory.past.about(id)?.likeness();
        one != other && likeness(one).is_some_and(|this| likeness(other) == Some(this))
    }

    /// How many other pending proposals differ from this one in numbers only.
    pub(in crate::tui) fn alike(&self, state: &BrokerState, id: ProposalId) -> usize {
        let about = self.memory.past.about(id);
        let likeness = about.and_then(Earlier::likeness);
        let all = likeness.and_then(|likeness| self.queue.lists.alike.get(&likeness));
        let entry = state.entry(id);
        let own = entry.is_some_and(|entry| entry.state() == State::Pending);
        all.map_or(0, |all| all.saturating_sub(usize::from(own)))
    }

    /// How proposals like this were decided, as far as the log is remembered; `None` while it is still read.
    pub(in crate::tui) fn decisions(&self, of: &Of<'_>) -> Option<Tally<'_>> {
        let known = self.memory.is_read();
        known.then(|| self.memory.past.tally(of, None))
    }

    /// The earlier proposals of this agent, code, title and data sets, the newest first.
    pub(in crate::tui) fn earlier(&self, entry: &Entry) -> Vec<&Earlier> {
        self.earlier_at_most(entry, EARLIER)
    }

    fn earlier_at_most(&self, entry: &Entry, most: usize) -> Vec<&Earlier> {
        let proposal = &entry.proposal;
        let (uid, agent) = (proposal.peer.uid, proposal.agent_name());
        let mut asked = vec![Of::Agent(uid, agent), Of::Code(entry.code().digest())];
        asked.extend(proposal.title.as_deref().map(Of::Title));
        let inputs = entry.inputs().into_iter().flat_map(|inputs| inputs.iter());
        asked.extend(inputs.filter_map(|input| match &input.kind {
            InputKind::Dataset { dataset, .. } => Some(Of::Data(dataset)),
            _ => None,
        }));
        self.memory.past.related(&asked, proposal.id, most)
    }

    /// A proposal's panes, in Tab order.
    pub(in crate::tui) fn panes(&self, entry: Option<&Entry>) -> Vec<Pane> {
        let mut panes = vec![Pane::Queue, Pane::Code];
        panes.extend(self.lower(entry));
        panes
    }

    /// The panes below the code. Earlier proposals have one if there are any.
    pub(in crate::tui) fn lower(&self, entry: Option<&Entry>) -> Vec<Pane> {
        let mut panes = super::lower(entry);
        if self.has_past(entry) {
            panes.push(Pane::Past);
        }
        panes
    }

    /// Looks at as many proposals as [`Past::related`]: ask once for a frame.
    pub(super) fn has_past(&self, entry: Option<&Entry>) -> bool {
        entry.is_some_and(|entry| !self.earlier_at_most(entry, 1).is_empty())
    }

    /// This person's reasons for earlier denials, the newest first.
    pub(super) fn reasons(&self) -> Vec<Arc<str>> {
        self.memory.past.reasons(self.memory.by, REASONS)
    }
}
