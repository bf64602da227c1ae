//! Rules for the tier of the run.

use super::{Rule, Weight};
use crate::model::{Action, Severity};

pub static TIER_GUARD_ALONE: Rule = Rule {
    code: "TIER001",
    name: "guard-alone",
    severity: Severity::Medium,
    weight: Weight::Always(Action::Flag),
    capability: None,
    cwe: &[693],
    message: "in tier process no kernel confines the run: only the guard inside it does",
    hint: "run it in tier kernel or stronger, or read the code as if it ran unconfined",
    example: "print(1)",
};

pub(super) static RULES: &[&Rule] = &[&TIER_GUARD_ALONE];
