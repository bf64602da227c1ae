//! What a person types in a text field, behind its label: letters as they are typed, and the whole text again after a
//! change that is not at its end.

use std::time::Duration;

use super::super::ui::{Over, UiState};
use super::super::words;
use super::lines::Lines;

/// A text that was changed is said again after this rest.
pub(super) const REST: Duration = Duration::from_millis(500);

#[derive(Debug, Default)]
pub(super) struct Field {
    said: String,
    /// Which earlier reason it has.
    earlier: Option<usize>,
    /// The text to say again as a whole, and when.
    again: Option<(String, Duration)>,
}

impl Field {
    /// The text of the open field.
    fn text(ui: &UiState) -> Option<&str> {
        match (ui.over(), ui.prompt()) {
            (Over::Palette(palette), _) => Some(palette.input.value()),
            (_, Some(prompt)) => prompt.input().map(tui_input::Input::value),
            _ => ui.typed_digits(),
        }
    }

    /// Whether something was typed.
    pub fn is_open(&self, ui: &UiState) -> bool {
        Self::text(ui).is_some_and(|text| !text.is_empty())
    }

    pub fn close(&mut self) {
        *self = Self::default();
    }

    pub fn due(&self) -> Option<Duration> {
        self.again.as_ref().map(|(_, due)| *due)
    }

    /// Says what was typed since.
    pub fn echo(&mut self, ui: &UiState, out: &mut Lines, now: Duration) {
        let text = Self::text(ui).unwrap_or("");
        if text.is_empty() && !self.said.is_empty() {
            match ui.over() {
                // Digits that were wrong are answered otherwise.
                Over::Sheet(_) => out.end(),
                _ => out.line(words::plain::EMPTY_FIELD),
            }
            self.close();
            self.earlier = ui.earlier_reason();
            return;
        }
        let earlier = ui.earlier_reason();
        if std::mem::replace(&mut self.earlier, earlier) != earlier {
            self.again = None;
            out.end();
            out.typed(words::plain::in_field(earlier.is_some()));
            out.typed(text);
            text.clone_into(&mut self.said);
            return;
        }
        // Other lines came between.
        let apart = out.at_start() && !self.said.is_empty() && !text.is_empty();
        let whole = match &self.again {
            Some((then, due)) => then == text && now >= *due,
            None => apart,
        };
        if whole {
            self.again = None;
            out.end();
            out.typed(text);
            text.clone_into(&mut self.said);
            return;
        }
        match (&self.again, text.strip_prefix(self.said.as_str())) {
            (Some((then, _)), _) if then == text => {}
            (None, Some(new)) => {
                out.typed(new);
                text.clone_into(&mut self.said);
            }
            _ => self.again = Some((text.to_owned(), now.saturating_add(REST))),
        }
    }
}
