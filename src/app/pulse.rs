//! Whether the loop took its turns in time. A program that was stopped, or that waited for its
//! terminal, was not showing what the person's keys were meant for.

use std::time::Duration;

/// Without a turn for this long, the program counts as stalled.
const STALL: Duration = Duration::from_millis(250);
/// How often the loop takes a turn while stalls matter.
pub const BEAT: Duration = Duration::from_millis(50);

/// Timing of the loop's turns.
#[derive(Debug, Default)]
pub struct Pulse {
    last: Duration,
    /// Whether the next turn is due within [`BEAT`], whatever happens.
    beats: bool,
}

impl Pulse {
    /// The loop begins to wait; if `beats`, for at most [`BEAT`].
    pub const fn waits(&mut self, beats: bool) {
        self.beats = beats;
    }

    /// The loop continues. Returns whether it stalled since its last turn.
    pub fn stalled(&mut self, boot: Duration) -> bool {
        let since = boot.saturating_sub(std::mem::replace(&mut self.last, boot));
        self.beats && since >= STALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_turn_is_a_stall_and_a_long_idle_wait_is_not() {
        let ms = Duration::from_millis;
        let mut pulse = Pulse::default();
        pulse.waits(false);
        assert!(!pulse.stalled(ms(5_000)));
        pulse.waits(true);
        assert!(!pulse.stalled(ms(5_100)));
        pulse.waits(true);
        assert!(!pulse.stalled(ms(5_349)));
        pulse.waits(true);
        assert!(pulse.stalled(ms(5_599)));
        pulse.waits(true);
        assert!(!pulse.stalled(ms(5_600)));
    }
}
