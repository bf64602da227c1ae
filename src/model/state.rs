//! The states of a proposal (protocol.md §2).

use std::fmt;

use serde::{Deserialize, Serialize};

/// `pending` → `granted` → `running` → one final state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Pending,
    Granted,
    Running,
    Succeeded,
    Failed,
    Denied,
    Expired,
    Withdrawn,
    Blocked,
    Unattended,
    Error,
    /// A drill's end: nothing ran, and no agent ever hears of it.
    Drilled,
}

impl State {
    pub const ALL: [Self; 12] = [
        Self::Pending,
        Self::Granted,
        Self::Running,
        Self::Succeeded,
        Self::Failed,
        Self::Denied,
        Self::Expired,
        Self::Withdrawn,
        Self::Blocked,
        Self::Unattended,
        Self::Error,
        Self::Drilled,
    ];

    /// Whether nothing can happen to the proposal any more.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Pending | Self::Granted | Self::Running)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Granted => "granted",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
            Self::Blocked => "blocked",
            Self::Unattended => "unattended",
            Self::Error => "error",
            Self::Drilled => "drilled",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
