//! Rules for reflection.

use super::{Rule, Weight};
use crate::model::{Action, Capability, Severity};

pub static REFL_GETATTR: Rule = Rule {
    code: "REFL001",
    name: "computed-attribute",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::Reflect),
    cwe: &[470, 749],
    message: "reads an attribute whose name is computed",
    hint: "write the attribute, or a literal name",
    example: "getattr(x, name)",
};

pub static REFL_VALUE: Rule = Rule {
    code: "REFL002",
    name: "getattr-as-value",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::Reflect),
    cwe: &[470, 749],
    message: "hands getattr on as a value",
    hint: "call it directly with a literal name",
    example: "reduce(getattr, names, x)",
};

pub static REFL_WRAPS: Rule = Rule {
    code: "REFL003",
    name: "copies-attributes",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::Reflect),
    cwe: &[470],
    message: "copies attributes that are chosen by name",
    hint: "use wraps(f) alone",
    example: "import functools; functools.wraps(f, assigned=names)",
};

pub(super) static RULES: &[&Rule] = &[&REFL_GETATTR, &REFL_VALUE, &REFL_WRAPS];
