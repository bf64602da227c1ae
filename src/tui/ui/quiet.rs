//! Whether a key that decides was meant: how long no other input came before it, and whether it
//! may be a key held down. What a terminal reports of repeats and releases never loosens this.

use std::time::Duration;

use super::super::keys::{Command, Key, Meaning};
use super::{Challenge, UiState};

/// How long no other input comes before a key that decides.
pub const QUIET: Duration = Duration::from_millis(250);
/// Within this after a key, the same key may be that one held down: the longest delay before the
/// first repeat that common desktops offer. Another key in between ends the repeats of the first.
pub const HELD: Duration = Duration::from_secs(2);

/// When an event could have been typed, in boot time: after input was last known to be empty,
/// before it was read. A key that waited in a buffer has no quiet before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub since: Duration,
    pub until: Duration,
    /// Whether no other key was read with it: nobody presses two at once, and a terminal that knows
    /// no brackets pastes so.
    pub alone: bool,
}

impl Span {
    /// An event that was read as it was typed.
    pub const fn at(boot: Duration) -> Self {
        Self {
            since: boot,
            until: boot,
            alone: true,
        }
    }
}

/// The key that may still be down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Down {
    This(Key),
    /// Input was thrown away, or went elsewhere: it may be any.
    Any,
}

/// What came last.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    last: Duration,
    down: Option<(Down, Duration)>,
}

impl Quiet {
    /// Input of any kind, also such that means nothing.
    pub fn heard(&mut self, when: Span) {
        self.last = self.last.max(when.until);
    }

    /// A key was pressed, or repeats.
    pub fn pressed(&mut self, key: Key, when: Span) {
        self.heard(when);
        self.down = Some((Down::This(key), when.until));
    }

    /// What was typed until now may have been lost.
    pub fn lost(&mut self, boot: Duration) {
        self.last = self.last.max(boot);
        self.down = Some((Down::Any, boot));
    }

    /// From when on this key opens the sheet, if nothing else comes.
    pub fn asks_from(&self, key: Key) -> Duration {
        let held = match self.down {
            Some((Down::This(before), at)) if before == key => at.saturating_add(HELD),
            _ => Duration::ZERO,
        };
        held.max(self.last.saturating_add(QUIET))
    }

    /// From when on this key confirms, if nothing else comes.
    fn confirms_from(&self, key: Key) -> Duration {
        let lost = match self.down {
            Some((Down::Any, at)) => at.saturating_add(HELD),
            _ => Duration::ZERO,
        };
        lost.max(self.asks_from(key))
    }
}

impl UiState {
    /// Whether this press of a grant key was meant. To be asked before the press is noted.
    pub(super) fn asks(&self, key: Key, when: Span) -> bool {
        self.attention.focused != Some(false)
            && when.alone
            && when.since >= self.attention.grace
            && when.since >= self.attention.quiet.asks_from(key)
    }

    /// Whether this press of a key that confirms the sheet was meant. As above.
    pub(super) fn confirms(&self, key: Key, when: Span) -> bool {
        self.attention.focused != Some(false)
            && when.alone
            && self.sheet().is_some_and(|s| when.since >= s.ready_at())
            && when.since >= self.attention.quiet.confirms_from(key)
    }

    /// The boot time from which on the open sheet takes its confirmation, if nothing comes
    /// before. `None` without a sheet, or where no time will do.
    pub(in crate::tui) fn confirmable_from(&self) -> Option<Duration> {
        let sheet = self.sheet()?;
        if self.attention.focused == Some(false) {
            return None;
        }
        let key = match (&sheet.challenge, self.attention.quiet.down) {
            (Challenge::Digits { .. }, _) => Key::ENTER,
            // Of several keys that confirm, only the one pressed last may be held down.
            (Challenge::Key, Some((Down::This(key), _)))
                if self.common.keys.meaning(None, key) == Meaning::Does(Command::Confirm) =>
            {
                key
            }
            (Challenge::Key, _) => Key::ENTER,
        };
        Some(
            sheet
                .ready_at()
                .max(self.attention.quiet.confirms_from(key)),
        )
    }
}
