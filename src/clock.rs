//! The two clocks: boot time decides, wall time is shown.

use std::time::Duration;

use jiff::Timestamp;
use nix::time::{ClockId, clock_gettime};

/// One reading of both clocks. The core is handed these and never reads a clock itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// CLOCK_BOOTTIME: counts through suspend, cannot be set. Deadlines use this.
    pub boot: Duration,
    /// The wall clock, for people and for RFC 3339 fields. Never compared with a deadline.
    pub wall: Timestamp,
}

impl Now {
    /// Reads both clocks.
    ///
    /// CLOCK_BOOTTIME exists on every Linux since 2.6.39; were the call to fail all the same,
    /// the largest time is returned, which makes every deadline have passed.
    pub fn read() -> Self {
        let boot = clock_gettime(ClockId::CLOCK_BOOTTIME).map_or(Duration::MAX, Duration::from);
        Self {
            boot,
            wall: Timestamp::now(),
        }
    }
}
