//! How far a reading of a whole log is: one line of standard error about each second, if that is a terminal.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::super::out::progress;

const EVERY: Duration = Duration::from_secs(1);

/// What tells it. The line goes when this is dropped.
pub(super) struct Meter {
    what: &'static str,
    last: Cell<Instant>,
    shown: Cell<bool>,
}

impl Meter {
    /// `what` stands before the numbers.
    pub fn of(what: &'static str) -> Self {
        Self {
            what,
            last: Cell::new(Instant::now()),
            shown: Cell::new(false),
        }
    }

    /// So many bytes of so many were read.
    pub fn tell(&self, read: u64, of: u64) {
        if self.last.get().elapsed() < EVERY {
            return;
        }
        self.last.set(Instant::now());
        self.shown.set(true);
        progress(&self.line(read, of));
    }

    fn line(&self, read: u64, of: u64) -> String {
        let mb = |bytes: u64| bytes / 1_000_000;
        // What a dashboard writes meanwhile is read too.
        let of = of.max(read).max(1);
        format!(
            "{}: {} of {} MB, {} %",
            self.what,
            mb(read),
            mb(of),
            read.saturating_mul(100) / of
        )
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if self.shown.get() {
            progress("");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_how_much_of_how_much() {
        let meter = Meter::of("reading the log");
        let line = |read, of| meter.line(read, of);
        assert_eq!(
            line(450_000_000, 900_000_000),
            "reading the log: 450 of 900 MB, 50 %"
        );
        assert_eq!(line(0, 0), "reading the log: 0 of 0 MB, 0 %");
        assert_eq!(
            line(901_000_000, 900_000_000),
            "reading the log: 901 of 901 MB, 100 %"
        );
    }
}
