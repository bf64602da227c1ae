//! Rules for syntax that the policy does not list.

use super::{Rule, Weight};
use crate::model::{Action, Severity};

pub static NODE_DENIED: Rule = Rule {
    code: "NODE001",
    name: "syntax-not-allowed",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[],
    message: "uses syntax that the policy does not list",
    hint: "write it another way",
    example: "class A: pass",
};

pub(super) static RULES: &[&Rule] = &[&NODE_DENIED];
