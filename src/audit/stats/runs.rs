//! What runs met: limits, and what those of the contract `scoped` asked of their scopes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Decision;
use crate::model::{Accesses, State};

/// Runs that ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Runs {
    pub ended: u64,
    /// How many of them each limit ended.
    pub limits: BTreeMap<&'static str, u64>,
    /// How many of them counted their accesses.
    pub counted: u64,
    /// The accesses of these, by the names of [`Accesses::OF`].
    pub scopes: BTreeMap<&'static str, OfScope>,
}

/// What was asked of one scope, or of the core functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OfScope {
    /// How many runs asked.
    pub runs: u64,
    pub allowed: u64,
    pub blocked: u64,
}

impl Runs {
    pub(super) fn count(&mut self, case: &Decision) {
        self.ended += u64::from(matches!(case.state, State::Succeeded | State::Failed));
        if let Some(limit) = case.limit {
            *self.limits.entry(limit.as_str()).or_default() += 1;
        }
        self.counted += u64::from(!case.accesses.is_empty());
        for name in Accesses::OF {
            let Some(Accesses { allowed, blocked }) = case.accesses.get(name).copied() else {
                continue;
            };
            if allowed > 0 || blocked > 0 {
                let scope = self.scopes.entry(name).or_default();
                scope.runs += 1;
                scope.allowed = scope.allowed.saturating_add(allowed);
                scope.blocked = scope.blocked.saturating_add(blocked);
            }
        }
    }
}
