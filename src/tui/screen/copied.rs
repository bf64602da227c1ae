//! The text of the focused pane for the clipboard: what the screen shows of it, marks included, and
//! also the rows that do not fit.

use ratatui::layout::Rect;

use crate::broker::BrokerState;
use crate::clock::Now;

use super::super::action::Header;
use super::super::text;
use super::super::transcript::{self, ALL};
use super::super::ui::{Pane, UiState};
use super::super::words;
use super::Screen;

/// The most bytes of a copy: as base64 they stay below what xterm takes.
pub const COPY_MAX: usize = 55_000;

/// Columns at which nothing has to be wrapped.
const WIDE: u16 = 2_000;

/// A copy without anything that a terminal or a shell obeys, except line ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    pub text: String,
    cut: bool,
    /// The pane's name.
    of: &'static str,
}

impl Copied {
    /// `sent`: whether the terminal takes copies.
    pub fn notice(&self, sent: bool) -> String {
        match sent {
            true => words::copied(self.of, self.text.len(), self.cut),
            false => words::NO_CLIPBOARD.to_owned(),
        }
    }

    fn of(pane: Pane, lines: impl Iterator<Item = String>) -> Self {
        let of = pane.name();
        let mut text = String::new();
        for line in lines {
            if text.len() + line.len() + 1 > COPY_MAX {
                let room = COPY_MAX.saturating_sub(text.len() + 1);
                let upto = (0..=room).rev().find(|at| line.is_char_boundary(*at));
                text.push_str(line.get(..upto.unwrap_or(0)).unwrap_or(""));
                return Self {
                    text,
                    cut: true,
                    of,
                };
            }
            text.push_str(&line);
            text.push('\n');
        }
        // A shell without bracketed paste runs a line once its end is there.
        text.truncate(text.trim_end_matches('\n').len());
        Self {
            text,
            cut: false,
            of,
        }
    }
}

/// The text of the focused pane; of the queue, that of the selected code.
pub fn copied(state: &BrokerState, ui: &UiState, facts: &Header, now: Now) -> Copied {
    let screen = Screen {
        state,
        ui,
        facts,
        entry: ui.selected().and_then(|id| state.entry(id)),
        now,
        columns: 0,
        rows: 0,
    };
    let Some(entry) = screen.entry else {
        return Copied::of(Pane::Queue, std::iter::empty());
    };
    match ui.focus_now(screen.entry) {
        Pane::Queue | Pane::Code => {
            Copied::of(Pane::Code, entry.code().text().split('\n').map(text::plain))
        }
        Pane::Output => {
            let (lines, _) = transcript::lines(entry, None, ALL);
            Copied::of(
                Pane::Output,
                lines.iter().map(|line| text::plain(&line.text)),
            )
        }
        pane => {
            let area = Rect::new(0, 0, WIDE, WIDE);
            let flow = screen.pane(pane, entry, area, &mut Vec::new());
            Copied::of(
                pane,
                flow.rows.iter().map(|row| {
                    let spans = row.spans.iter().map(|(part, _)| text::plain(part));
                    format!("{}{}", " ".repeat(row.indent), spans.collect::<String>())
                }),
            )
        }
    }
}
