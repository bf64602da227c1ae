//! How soon the screen is drawn again: at once for a person, calmly for a flood of requests.

use std::time::Duration;

/// The least time between two frames that no key caused.
const FRAME: Duration = Duration::from_millis(16);
/// The same when only agents caused the change: a flood of requests must not cause a flood of
/// frames.
const CALM: Duration = Duration::from_millis(50);

/// How urgently the screen must be redrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Redraw {
    No,
    Calmly,
    Soon,
}

impl Redraw {
    /// The least time since the last frame.
    pub fn after(self) -> Option<Duration> {
        match self {
            Self::No => None,
            Self::Calmly => Some(CALM),
            Self::Soon => Some(FRAME),
        }
    }
}
