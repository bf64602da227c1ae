//! The signals that ask the dashboard to do something. None of them ends it without a closing record.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
pub enum Asked {
    Close,
    Suspend,
    /// The process was stopped and continues.
    GoOn,
    /// The window has a new size.
    Fit,
}

pub struct Signals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
    quit: Signal,
    stop: Signal,
    go_on: Signal,
    size: Signal,
}

impl Signals {
    pub fn listen() -> std::io::Result<Self> {
        // Exceeding a file size limit is to be a write error, not a fatal signal. The handler
        // stays in place after the listener is dropped.
        drop(signal(SignalKind::from_raw(nix::libc::SIGXFSZ))?);
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            stop: signal(SignalKind::from_raw(nix::libc::SIGTSTP))?,
            go_on: signal(SignalKind::from_raw(nix::libc::SIGCONT))?,
            size: signal(SignalKind::window_change())?,
        })
    }

    pub async fn next(&mut self) -> Asked {
        tokio::select! {
            _ = self.terminate.recv() => Asked::Close,
            _ = self.hang_up.recv() => Asked::Close,
            _ = self.interrupt.recv() => Asked::Close,
            _ = self.quit.recv() => Asked::Close,
            _ = self.stop.recv() => Asked::Suspend,
            _ = self.go_on.recv() => Asked::GoOn,
            _ = self.size.recv() => Asked::Fit,
        }
    }
}
