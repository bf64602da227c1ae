//! What the dashboard asks of the shell, and what the shell tells it beside the core's state.

use crate::model::{GrantDigest, Preflight, ProposalId, Tier, Viewed};

/// What a key came to. Only `app` carries it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The sheet was confirmed.
    Grant(GrantRequest),
    Deny {
        id: ProposalId,
        /// `None` when nothing was typed.
        reason: Option<String>,
        viewed: Viewed,
    },
    Kill {
        id: ProposalId,
    },
    Quit,
    /// Screen 2 wants `count` rows from `offset` on, the newest being 0; answered by
    /// [`super::UiState::set_audit`].
    LoadAudit {
        offset: usize,
        count: usize,
    },
    /// Screen 2 wants the records of one proposal as `detail`.
    ShowRecord {
        id: ProposalId,
    },
    Suspend,
}

/// A confirmation, bound to what the sheet showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantRequest {
    pub id: ProposalId,
    pub digest: GrantDigest,
    pub viewed: Viewed,
}

/// What the header and the sheet say of this dashboard; but for the log, fixed while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The default profile's label (`analysis`, `analysis + 1`, `team (own rules)`).
    pub policy: String,
    /// The first hex digits of its SHA-256.
    pub policy_digest: String,
    pub tier: Tier,
    /// What each tier in use consists of on this machine, and what it does not stop.
    pub tiers: Vec<Preflight>,
    /// Agents may run under the dashboard's own uid.
    pub agents_share_uid: bool,
    /// Where agents connect.
    pub socket: String,
    /// Data sets that could not be read at the start, each with why.
    pub absent: Vec<String>,
    /// What a crash had left at the end of the log and the start set aside.
    pub log_recovered: Option<String>,
    /// The first bad record of the log as it was found, where there is one.
    pub log_damage: Option<String>,
}

impl Header {
    /// Of one tier: its layers, and what it does not stop.
    pub fn of(&self, tier: Tier) -> (&[String], &[String]) {
        self.tiers
            .iter()
            .find(|found| found.tier == tier)
            .map_or((&[], &[]), |found| (&found.layers, &found.does_not_stop))
    }
}

/// One proposal's line on screen 2.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditRow {
    pub time: String,
    pub id: Option<ProposalId>,
    pub agent: String,
    pub profile: String,
    pub verdict: String,
    pub state: String,
    pub title: String,
}

/// What screen 2 shows, as far as it is loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditPage {
    /// Newest first.
    pub rows: Vec<AuditRow>,
    /// The place of the first of them; the newest of all is 0.
    pub offset: usize,
    pub total: usize,
    /// The records of one proposal, a line each.
    pub detail: Option<Vec<String>>,
    /// The first thing that is wrong with the log, as far as it was looked at.
    pub damage: Option<String>,
}
