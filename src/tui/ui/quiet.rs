//! Decides whether a deciding key was deliberate: how long no other input came before it, and
//! whether it may be a held key. A terminal's reports of repeats and releases never relax these
//! rules.

use std::time::Duration;

use super::super::keys::{Command, Key, Meaning};
use super::{Challenge, UiState};

/// Required time without other input before a deciding key.
pub const QUIET: Duration = Duration::from_millis(250);
/// Within this time after a key, the same key may still be held down: the longest delay before the
/// first repeat that common desktops offer. Another key in between ends the first key's repeats.
pub const HELD: Duration = Duration::from_secs(2);
/// Single keys with a shorter gap are of one burst: nobody types two so fast.
const BURST: Duration = Duration::from_millis(15);
/// Whoever looks up pauses for this long.
const LOOK: Duration = Duration::from_secs(1);

/// When an event could have been typed, in boot time: between the moment input was last known to be
/// empty and the moment the event was read. A key that waited in a buffer therefore has no quiet
/// time before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub since: Duration,
    pub until: Duration,
    /// Whether no other key was read together with it. Nobody presses two keys at once, but a
    /// terminal without bracketed paste delivers pasted text so.
    pub alone: bool,
}

impl Span {
    /// An event that was read as soon as it was typed.
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
    /// Input was discarded or went to another window: any key may be down.
    Any,
}

/// The last input.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    last: Duration,
    down: Option<(Down, Duration)>,
    /// When the run of input began that had no pause of [`LOOK`].
    run: Duration,
    /// The last key.
    key: Typing,
    /// What follows the `Enter` that left a text field.
    rest: Rest,
}

/// What follows the `Enter` that left a text field: the rest of a paste was meant for the field and is no command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Rest {
    #[default]
    None,
    /// `Enter` was read by itself: the rest, if any, is read together.
    Possible,
    /// Everything until a pause, or until a single key that comes later.
    Certain,
}

/// How a key was typed.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tui) struct Typing {
    /// Whether it came after [`QUIET`].
    pub calm: bool,
    /// How long nothing came before it.
    pub gap: Duration,
    /// Whether it was read by itself.
    pub alone: bool,
    /// The earliest time at which it could have been typed.
    pub since: Duration,
}

impl Quiet {
    /// Records input of any kind, even meaningless bytes.
    pub fn heard(&mut self, when: Span) {
        if when.since >= self.last.saturating_add(LOOK) {
            self.run = when.until;
        }
        self.last = self.last.max(when.until);
    }

    /// Records a key press or repeat.
    pub fn pressed(&mut self, key: Key, when: Span) {
        self.key = Typing {
            calm: when.since >= self.last.saturating_add(QUIET),
            gap: when.since.saturating_sub(self.last),
            alone: when.alone,
            since: when.since,
        };
        self.heard(when);
        self.down = Some((Down::This(key), when.until));
    }

    /// Records that input up to now may have been lost.
    pub fn lost(&mut self, boot: Duration) {
        self.last = self.last.max(boot);
        self.down = Some((Down::Any, boot));
    }

    /// How the last key was typed.
    pub const fn key(&self) -> Typing {
        self.key
    }

    /// Records that the last key, `Enter`, left a text field.
    pub const fn left_field(&mut self) {
        self.rest = match self.key.alone {
            true => Rest::Possible,
            false => Rest::Certain,
        };
    }

    /// Whether the last key came in one burst with the `Enter` that left a text field.
    pub fn is_rest(&mut self) -> bool {
        self.rest = match self.rest {
            _ if self.key.calm => Rest::None,
            Rest::Possible if self.key.alone => Rest::None,
            Rest::Certain if self.key.alone && self.key.gap >= BURST => Rest::None,
            Rest::Possible | Rest::Certain => Rest::Certain,
            Rest::None => Rest::None,
        };
        self.rest == Rest::Certain
    }

    /// Whether keys act again only after a pause, which is known only while keys are watched.
    pub fn awaits_pause(&self) -> bool {
        self.rest == Rest::Certain
    }

    /// Whether nobody paused to look up since then.
    pub fn runs_since(&self, boot: Duration) -> bool {
        boot >= self.run
    }

    /// When this key may open the sheet, if no other input comes.
    pub fn asks_from(&self, key: Key) -> Duration {
        let held = match self.down {
            Some((Down::This(before), at)) if before == key => at.saturating_add(HELD),
            _ => Duration::ZERO,
        };
        held.max(self.last.saturating_add(QUIET))
    }

    /// When a key that cannot be down may open the sheet, if no other input comes.
    pub fn calm_from(&self) -> Duration {
        self.last.saturating_add(QUIET)
    }

    /// When this key may confirm, if no other input comes.
    fn confirms_from(&self, key: Key) -> Duration {
        let lost = match self.down {
            Some((Down::Any, at)) => at.saturating_add(HELD),
            _ => Duration::ZERO,
        };
        lost.max(self.asks_from(key))
    }
}

impl UiState {
    /// Whether this press of a grant key was deliberate. Call before recording the press.
    pub(super) fn asks(&self, key: Key, when: Span) -> bool {
        self.attention.focused != Some(false)
            && when.alone
            && when.since >= self.attention.grace
            && when.since >= self.attention.quiet.asks_from(key)
    }

    /// Whether this press of a key that confirms the sheet was deliberate. Call before recording
    /// the press.
    pub(super) fn confirms(&self, key: Key, when: Span) -> bool {
        self.attention.focused != Some(false)
            && when.alone
            && self.sheet().is_some_and(|s| when.since >= s.ready_at())
            && when.since >= self.attention.quiet.confirms_from(key)
    }

    /// The boot time from which a grant key opens the sheet of the selected proposal, if no input comes before. `None` if
    /// waiting does not help.
    pub(in crate::tui) fn askable_from(&self) -> Option<Duration> {
        let quiet = &self.attention.quiet;
        let grants = |key| self.common.keys.meaning(None, key) == Meaning::Does(Command::Grant);
        let from = match quiet.down {
            Some((Down::This(key), _)) if grants(key) => quiet.asks_from(key),
            _ => quiet.calm_from(),
        };
        (self.attention.focused != Some(false)).then(|| self.attention.grace.max(from))
    }

    /// The boot time from which the open sheet accepts its confirmation, if no input comes before.
    /// `None` without a sheet, or if waiting does not help.
    pub(in crate::tui) fn confirmable_from(&self) -> Option<Duration> {
        let sheet = self.sheet()?;
        if self.attention.focused == Some(false) {
            return None;
        }
        let key = match (&sheet.challenge, self.attention.quiet.down) {
            (Challenge::Digits { .. }, _) => Key::ENTER,
            // Of several confirmation keys, only the last one pressed may be held down.
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
