//! The two clocks: boot time for deadlines, wall time for display.

use std::time::Duration;

use jiff::Timestamp;
use nix::time::{ClockId, clock_gettime};

/// One reading of both clocks. The core receives these and never reads a clock itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// CLOCK_BOOTTIME, for deadlines: it counts during suspend and cannot be set.
    pub boot: Duration,
    /// The wall clock, for people and RFC 3339 fields. Never compared with a deadline.
    pub wall: Timestamp,
}

impl Now {
    /// Reads both clocks.
    ///
    /// CLOCK_BOOTTIME exists since Linux 2.6.39. If the call fails nevertheless, the largest time is returned,
    /// so that every deadline has passed.
    pub fn read() -> Self {
        let boot = clock_gettime(ClockId::CLOCK_BOOTTIME).map_or(Duration::MAX, Duration::from);
        Self {
            boot,
            wall: Timestamp::now(),
        }
    }
}
