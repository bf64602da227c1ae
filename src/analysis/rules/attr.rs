//! Rules for attributes, whether read, written or deleted.

use super::{Rule, Weight};
use crate::model::{Action, Capability, Severity};

pub static ATTR_DUNDER: Rule = Rule {
    code: "ATTR001",
    name: "dunder-attribute",
    severity: Severity::Critical,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::Reflect),
    cwe: &[749, 913],
    message: "reaches into the interpreter through a special attribute",
    hint: "use the public interface",
    example: "x.__class__",
};

pub static ATTR_FRAME: Rule = Rule {
    code: "ATTR002",
    name: "frame-attribute",
    severity: Severity::Critical,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::Reflect),
    cwe: &[749, 913],
    message: "walks frames, code objects or tracebacks",
    hint: "nothing of a frame is needed for analysis",
    example: "g.gi_frame",
};

pub static ATTR_DENIED: Rule = Rule {
    code: "ATTR003",
    name: "denied-attribute",
    severity: Severity::Critical,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::Reflect),
    cwe: &[749],
    message: "reads an attribute that the policy denies",
    hint: "for a column of that name use df[\"…\"]",
    example: "x.mro()",
};

pub static ATTR_PRIVATE: Rule = Rule {
    code: "ATTR004",
    name: "private-attribute",
    severity: Severity::Medium,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::Reflect),
    cwe: &[749],
    message: "reads a private attribute of an object",
    hint: "use the public interface",
    example: "df._mgr",
};

pub static ATTR_PATTERN: Rule = Rule {
    code: "ATTR005",
    name: "pattern-attribute",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::Reflect),
    cwe: &[749, 913],
    message: "reads a denied attribute through a class pattern",
    hint: "match on public attributes",
    example: "match x:\n    case object(__class__=c): pass",
};

pub static ATTR_TARGET: Rule = Rule {
    code: "ATTR006",
    name: "attribute-target",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::Reflect),
    cwe: &[471],
    message: "writes an attribute as a loop, with or comprehension target",
    hint: "assign to a plain name",
    example: "for x.y in [1]: pass",
};

pub static ATTR_DEFINE: Rule = Rule {
    code: "ATTR007",
    name: "dunder-definition",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::Reflect),
    cwe: &[913],
    message: "defines a special method that Python calls by itself",
    hint: "give the method an ordinary name",
    example: "def __del__(self): pass",
};

pub static ATTR_STORE: Rule = Rule {
    code: "ATTR008",
    name: "dunder-store",
    severity: Severity::Critical,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::Reflect),
    cwe: &[471, 913],
    message: "writes or deletes a special attribute",
    hint: "write a public attribute",
    example: "f.__code__ = g.__code__",
};

pub static ATTR_EXCEPTION: Rule = Rule {
    code: "ATTR009",
    name: "exception-receiver",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::Reflect),
    cwe: &[749],
    message: "reads the object that an exception carries",
    hint: "use str(e), e.args or e.name",
    example: "try: x.y\nexcept AttributeError as e: e.obj",
};

pub static ATTR_MANGLED: Rule = Rule {
    code: "ATTR010",
    name: "mangled-attribute",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::Reflect),
    cwe: &[749],
    message: "reads a double-underscore attribute that is not mangled as it looks",
    hint: "use a single underscore on self",
    example: "s.__dict",
};

pub(super) static RULES: &[&Rule] = &[
    &ATTR_DUNDER,
    &ATTR_FRAME,
    &ATTR_DENIED,
    &ATTR_PRIVATE,
    &ATTR_PATTERN,
    &ATTR_TARGET,
    &ATTR_DEFINE,
    &ATTR_STORE,
    &ATTR_EXCEPTION,
    &ATTR_MANGLED,
];
