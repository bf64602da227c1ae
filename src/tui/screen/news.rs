//! The answer to NEW: what the log says of what is asked, and what else waits that differs in numbers only.

use crate::broker::Entry;

use super::super::keys::Command;
use super::super::novelty::Whose;
use super::super::theme::Role;
use super::super::words;
use super::Screen;
use super::effects::{OWN_ALIKE, OWN_DOT, Spans, label};
use super::lengths::Room;

impl Screen<'_> {
    /// What is new compared with what the log says.
    pub(super) fn news(&self, entry: &Entry, room: Room) -> Spans {
        let most = match room {
            Room::Two => 1,
            Room::Each | Room::Sheet => usize::MAX,
        };
        let whose = match room {
            Room::Two => Whose::Its,
            Room::Each | Room::Sheet => Whose::Named,
        };
        let mut spans = vec![label("NEW")];
        let lines = self
            .ui
            .novelty(entry, whose, self.now)
            .into_iter()
            .take(most);
        for (i, line) in lines.enumerate() {
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
        spans
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
