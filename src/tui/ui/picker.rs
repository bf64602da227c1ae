//! `t`: the palettes by name, each shown at once on the whole screen. `Enter` keeps the shown one, `Esc` brings the former
//! back. Its keys reach nothing else, and what it covers does not count as seen.

use crossterm::event::KeyCode;

use super::super::action::Action;
use super::super::keys::{Command, Key, Meaning};
use super::{Over, UiState};

/// The open list.
#[derive(Debug)]
pub(in crate::tui) struct Picker {
    /// The palette in use when the list was opened.
    former: usize,
}

impl UiState {
    /// Shows the next palette, and the list of all.
    pub(super) fn open_picker(&mut self) {
        let former = self.common.themes.at();
        self.common.themes.next();
        self.over = Over::Picker(Picker { former });
    }

    /// The name of the palette that `Esc` brings back.
    pub(in crate::tui) fn former_theme(&self, picker: &Picker) -> &str {
        self.common.themes.name(picker.former)
    }

    pub(super) fn on_picker(&mut self, key: Key) -> Vec<Action> {
        let Over::Picker(Picker { former }) = self.over else {
            return Vec::new();
        };
        let meaning = self.common.keys.meaning(None, key);
        let themes = &mut self.common.themes;
        match meaning {
            // Key bindings do not change `Enter` and `Esc` here.
            _ if key.is(KeyCode::Enter) => self.over.close(),
            _ if key.is(KeyCode::Esc) => {
                themes.choose(former);
                self.over.close();
            }
            Meaning::Does(Command::Theme | Command::Down) => themes.next(),
            Meaning::Does(Command::Up) => themes.previous(),
            Meaning::Does(Command::Suspend) => return vec![Action::Suspend],
            _ => {}
        }
        Vec::new()
    }
}
