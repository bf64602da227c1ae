//! Rules for format templates that read attributes.

use super::{Rule, Weight};
use crate::model::{Action, Capability, Severity};

pub static FMT_TRAVERSAL: Rule = Rule {
    code: "FMT001",
    name: "format-traversal",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::Reflect),
    cwe: &[134],
    message: "a format template reads attributes or items of its arguments",
    hint: "use an f-string",
    example: "\"{0.__class__}\".format(x)",
};

pub static FMT_COMPUTED: Rule = Rule {
    code: "FMT002",
    name: "computed-template",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::Reflect),
    cwe: &[134],
    message: "the template of this `format` is computed: what it reads is unknown",
    hint: "use an f-string, or a literal template; a width may be computed in both: `f\"{x:<{w}}\"`, `\"{:<{}}\".format(x, w)`",
    example: "template.format(x)",
};

pub static FMT_BOUND: Rule = Rule {
    code: "FMT003",
    name: "format-as-value",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::Reflect),
    cwe: &[134],
    message: "hands `str.format` on as a value",
    hint: "use a lambda with an f-string",
    example: "f = \"\".format",
};

pub(super) static RULES: &[&Rule] = &[&FMT_TRAVERSAL, &FMT_COMPUTED, &FMT_BOUND];
