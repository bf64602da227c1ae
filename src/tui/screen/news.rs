//! The answer to NEW: what the log says of what is asked, and what else waits that differs in numbers only.

use crate::broker::Entry;
use crate::model::Of;

use super::super::keys::Command;
use super::super::novelty::{Line, Whose};
use super::super::theme::Role;
use super::super::words;
use super::Screen;
use super::effects::{OWN_ALIKE, OWN_DOT, Spans, label};
use super::lengths::Room;

/// An answer to NEW.
pub(super) enum News {
    /// It has a row.
    Tells(Spans),
    /// Where rows are few it says what is true of most proposals, and joins another row.
    Usual(Spans),
}

impl News {
    /// What has a row, and what joins one.
    pub fn apart(self) -> (Option<Spans>, Option<Spans>) {
        match self {
            Self::Tells(spans) => (Some(spans), None),
            Self::Usual(spans) => (None, Some(spans)),
        }
    }
}

impl Screen<'_> {
    /// What is new compared with what the log says.
    pub(super) fn news(&self, entry: &Entry, room: Room) -> News {
        let (most, whose) = match room {
            Room::Two => (1, Whose::Its),
            Room::Each | Room::Sheet => (usize::MAX, Whose::Named),
        };
        let mut lines = self.ui.novelty(entry, whose, self.now);
        // A host elsewhere knows what is usual there.
        let usual =
            room == Room::Two && entry.offered().is_none() && self.is_usual(entry, &mut lines);
        let mut spans = vec![label("NEW")];
        for (i, line) in lines.into_iter().take(most).enumerate() {
            if i > 0 {
                spans.push((OWN_DOT.to_owned(), Role::Dim));
            }
            spans.extend(line);
        }
        let alike = self.ui.alike(self.state, entry.proposal.id);
        if alike > 0 {
            spans.push((OWN_ALIKE.to_owned(), Role::Dim));
            spans.extend(self.others_alike(entry, alike));
        }
        match usual && alike == 0 {
            true => News::Usual(spans),
            false => News::Tells(spans),
        }
    }

    /// Whether nothing but this code is new: its agent had others granted, for the same data. Otherwise what is new comes
    /// first. Nothing is usual before the session's first decision.
    fn is_usual(&self, entry: &Entry, lines: &mut [Line]) -> bool {
        let is = |line: Option<&Line>, words: &str| {
            line.and_then(|line| line.first())
                .is_some_and(|(said, _)| said == words)
        };
        if !is(lines.first(), words::NEVER_GRANTED) || self.ui.tally().is_none() {
            return false;
        }
        let p = &entry.proposal;
        let agent = self.ui.decisions(&Of::Agent(p.peer.uid, p.agent_name()));
        if agent.is_some_and(|agent| agent.granted == 0) {
            lines[0] = vec![(words::FIRST_OF_AGENT.to_owned(), Role::Strong)];
            return false;
        }
        let first_read = is(lines.get(1), words::FIRST_READ);
        if first_read {
            lines.swap(0, 1);
        } else {
            lines[0] = vec![(words::NEVER.to_owned(), Role::Text)];
        }
        !first_read
    }

    /// How many others differ in numbers only, in which, and the key that shows them.
    fn others_alike(&self, entry: &Entry, alike: usize) -> Spans {
        let groups = &self.ui.queue.lists.groups;
        let id = entry.proposal.id;
        let (Some((group, open)), Some(differs)) = (groups.of(id), groups.differs(id)) else {
            return vec![(words::others_alike(alike), Role::Strong)];
        };
        let mut spans = vec![(words::others_alike_but(group.rest.len()), Role::Strong)];
        spans.extend(words::differing(&differs, 3));
        if differs.far.is_some_and(|(_, far)| far == id) {
            spans.push((words::FAR_HERE.to_owned(), Role::Flagged));
        }
        let key = self.ui.key(Command::Alike);
        spans.push((words::turns_group(open, &key), Role::Dim));
        spans
    }
}
