//! The last key press, for the front end in plain lines: it answers each press.

use std::time::Duration;

use crate::clock::Now;

use super::super::charset::{self, Charset};
use super::super::keys::{Command, Key, Meaning};
use super::reasons::Reason;
use super::{Prompt, UiState};

/// The last key press.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::tui) struct Heard {
    /// Counts the presses.
    pub presses: u64,
    /// What the key does outside text fields.
    pub command: Option<Command>,
    /// Whether it is the first of two keys.
    pub begins: bool,
    pub at: Duration,
}

impl UiState {
    /// The state of a dashboard in plain lines ([`super::Plain`]) instead of a drawn screen.
    #[must_use]
    pub fn spoken(mut self) -> Self {
        self.common.spoken = true;
        self
    }

    /// The first key of a command. The arrows have names where nothing is drawn.
    pub(in crate::tui) fn key(&self, command: Command) -> String {
        self.named(|| self.common.keys.first(command))
    }

    /// All keys of a command.
    pub(in crate::tui) fn all_keys(&self, command: Command) -> String {
        self.named(|| self.common.keys.all(command))
    }

    /// Whether the reason of a denial is being typed.
    pub(in crate::tui) fn denies(&self) -> bool {
        self.typed_reason().is_some()
    }

    /// The earlier reason that stands in the field.
    pub(in crate::tui) fn earlier_reason(&self) -> Option<usize> {
        self.typed_reason()?.earlier.at()
    }

    fn typed_reason(&self) -> Option<&Reason> {
        match self.prompt()? {
            Prompt::Deny { reason, .. } | Prompt::DenyAll { reason, .. } => Some(reason),
            _ => None,
        }
    }

    /// The chords that the last key begins.
    pub(in crate::tui) fn begun(&self) -> Vec<(String, Command)> {
        let first = self.attention.before;
        first.map_or_else(Vec::new, |key| self.common.keys.beginning(key))
    }

    fn named(&self, keys: impl FnOnce() -> String) -> String {
        match self.common.spoken {
            true => charset::scope(Charset::Ascii, keys),
            false => keys(),
        }
    }

    pub(super) fn hear_key(&mut self, key: Key, now: Now) {
        let meaning = self.common.keys.meaning(self.attention.before, key);
        self.heard = Heard {
            presses: self.heard.presses + 1,
            command: match meaning {
                Meaning::Does(command) => Some(command),
                Meaning::Begins | Meaning::Nothing => None,
            },
            begins: meaning == Meaning::Begins,
            at: now.boot,
        };
    }
}
