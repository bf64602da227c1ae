//! The process group of a command that this program runs for a person: a signature, or a notice.

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// Killed when nobody waits for it any more.
pub(super) struct Group(Option<Pid>);

impl Group {
    /// The group that this process leads.
    pub fn of(pid: Option<u32>) -> Self {
        Self(pid.map(|pid| Pid::from_raw(pid.cast_signed())))
    }

    /// Its leader was waited for: the number may be somebody else's by now.
    pub const fn ended(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let _ = killpg(group, Signal::SIGKILL);
        }
    }
}
