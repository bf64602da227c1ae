//! Who decided and what was on their screen: for the audit log, never for an agent.

use serde::{Deserialize, Serialize};

/// The person at the dashboard's terminal, as far as the system knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reviewer {
    pub uid: u32,
    pub login: Option<String>,
    /// `/proc/self/loginuid`; `None` if it is not set (4294967295).
    pub loginuid: Option<u32>,
    pub host: Option<String>,
    pub tty: Option<String>,
    /// `SSH_CONNECTION`, if the session uses ssh.
    pub ssh: Option<String>,
}

/// What the person saw before a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Viewed {
    /// Milliseconds for which the proposal was selected.
    pub selected_ms: u64,
    /// Milliseconds of that with the terminal focused; `None` if the terminal does not report focus.
    pub focused_ms: Option<u64>,
    pub lines_seen: u64,
    pub findings_shown: u64,
}
