//! What the last row has to say, and the rows above it where that is longer than the last row has room for.

use ratatui::layout::Rect;

use crate::model::State;

use super::super::flow::{Flow, Para};
use super::super::text;
use super::super::theme::Role;
use super::super::ui::{Over, View};
use super::Screen;

/// Smaller screens need their rows for the code.
const ROWS: u16 = 20;
const COLUMNS: u16 = 60;
/// The most rows above the last one.
const ROWS_MAX: usize = 3;
/// Columns of `seen ▮▮▮▮▮ 1,000/1,000 rows` with the blanks behind it.
const PROGRESS: u16 = 29;
/// Columns of the code's digest where there is room for it, with the blanks before it.
const DIGEST: u16 = 22;
/// From here on the last row, without a blank at either end, ends with the digest.
pub(super) const WITH_DIGEST: u16 = 110;

impl Screen<'_> {
    /// What is said of what a person did, or of how their vote goes.
    pub(super) fn said(&self) -> Option<(String, Role)> {
        match self.notice() {
            Some(notice) => Some((notice, Role::Flagged)),
            None if self.shows_code() => self.vote_goes(),
            None => None,
        }
    }

    /// Whether this has rows of its own above a last row of this width, without its blanks.
    pub(super) fn is_above(&self, said: &str, width: u16) -> bool {
        if self.rows < ROWS || width < COLUMNS {
            return false;
        }
        let takes_all = matches!(
            self.ui.over(),
            Over::Nothing | Over::Diff(_) | Over::Help { .. }
        );
        let progress = match self.entry {
            Some(entry) if self.shows_code() && entry.state() == State::Pending => PROGRESS,
            _ => 0,
        };
        let digest = match self.entry {
            Some(_) if self.shows_code() && width >= WITH_DIGEST => DIGEST,
            _ => 0,
        };
        takes_all && text::width(said) > usize::from(width.saturating_sub(progress + digest))
    }

    /// The rows above the last one.
    pub(super) fn said_above(&self, area: Rect) -> Flow {
        let Some((said, role)) = self
            .said()
            .filter(|(said, _)| self.is_above(said, area.width.saturating_sub(2)))
        else {
            return Flow::default();
        };
        let para = Para::new(said, role).indent(1);
        let mut flow = Flow::new(&[para], area.width.saturating_sub(1));
        flow.rows.truncate(ROWS_MAX);
        flow
    }

    fn shows_code(&self) -> bool {
        let over = matches!(self.ui.over(), Over::Help { .. } | Over::Diff(_));
        self.ui.view() == View::Queue && !over
    }
}
