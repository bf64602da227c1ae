//! Who decided and what they had on the screen: for the audit log, never for an agent.

use serde::{Deserialize, Serialize};

/// The person at the dashboard's terminal, as far as the system can tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reviewer {
    pub uid: u32,
    pub login: Option<String>,
    /// `/proc/self/loginuid`; absent where the kernel keeps none (4294967295).
    pub loginuid: Option<u32>,
    pub host: Option<String>,
    pub tty: Option<String>,
    /// `SSH_CONNECTION`, where the session came over ssh.
    pub ssh: Option<String>,
}

/// What was looked at before a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Viewed {
    /// Milliseconds the proposal was selected.
    pub selected_ms: u64,
    /// Milliseconds of it with the terminal focused, where the terminal reports focus.
    pub focused_ms: Option<u64>,
    pub lines_seen: u64,
    pub findings_shown: u64,
}
