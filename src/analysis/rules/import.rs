//! Rules for imports and for access through modules.

use super::{Rule, Weight};
use crate::model::{Action, Capability, Severity};

pub static IMPORT_MODULE: Rule = Rule {
    code: "IMPORT001",
    name: "module-not-allowed",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[829],
    message: "imports a module that the policy does not list",
    hint: "use the modules that the profile allows",
    example: "import os",
};

pub static IMPORT_MEMBER: Rule = Rule {
    code: "IMPORT002",
    name: "member-not-allowed",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[829],
    message: "reaches a member that the policy leaves out",
    hint: "use another member of the module",
    example: "from operator import attrgetter",
};

pub static IMPORT_THROUGH: Rule = Rule {
    code: "IMPORT003",
    name: "module-through-module",
    severity: Severity::Critical,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::Reflect),
    cwe: &[829, 749],
    message: "reaches a module that another module merely carries",
    hint: "import what you need by its own name",
    example: "pd.io.common.os",
};

pub static IMPORT_RELATIVE: Rule = Rule {
    code: "IMPORT004",
    name: "relative-import",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[829],
    message: "imports relative to a package; a snippet has none",
    hint: "import by the full name",
    example: "from . import x",
};

pub static IMPORT_STAR: Rule = Rule {
    code: "IMPORT005",
    name: "star-import",
    severity: Severity::Low,
    weight: Weight::Always(Action::Flag),
    capability: None,
    cwe: &[1061],
    message: "imports names that cannot be seen here",
    hint: "name what you import",
    example: "from numpy import *",
};

pub static IMPORT_UNRESOLVED: Rule = Rule {
    code: "IMPORT006",
    name: "unresolved-member",
    severity: Severity::Medium,
    weight: Weight::Capability,
    capability: Some(Capability::Unanalyzed),
    cwe: &[829],
    message: "is not in the list of the module's members",
    hint: "check the spelling",
    example: "np.meen",
};

pub static IMPORT_PRIVATE: Rule = Rule {
    code: "IMPORT007",
    name: "private-member",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::Reflect),
    cwe: &[749],
    message: "reaches a private member of a module",
    hint: "use the public interface",
    example: "import collections; collections._sys",
};

pub static IMPORT_SENSITIVE: Rule = Rule {
    code: "IMPORT008",
    name: "sensitive-module",
    severity: Severity::High,
    weight: Weight::Capability,
    capability: None,
    cwe: &[829],
    message: "imports a module that reaches outside",
    hint: "use the modules that the profile allows",
    example: "import subprocess",
};

pub static IMPORT_MODULE_VALUE: Rule = Rule {
    code: "IMPORT009",
    name: "module-as-value",
    severity: Severity::Medium,
    weight: Weight::Always(Action::Flag),
    capability: Some(Capability::Unanalyzed),
    cwe: &[749],
    message: "hands a module on as a value; what becomes of it cannot be told",
    hint: "hand on the functions you need",
    example: "f(pd)",
};

pub static IMPORT_PATCH: Rule = Rule {
    code: "IMPORT010",
    name: "module-changed",
    severity: Severity::High,
    weight: Weight::Capability,
    capability: Some(Capability::ModifySystemState),
    cwe: &[471],
    message: "changes a library for everything that runs after it",
    hint: "wrap the function instead",
    example: "np.mean = f",
};

pub static IMPORT_UNKNOWN: Rule = Rule {
    code: "IMPORT011",
    name: "unknown-module",
    severity: Severity::Medium,
    weight: Weight::AtLeast(Action::Flag),
    capability: Some(Capability::Unanalyzed),
    cwe: &[829],
    message: "is there because a policy file adds it, and nothing is known of what it does",
    hint: "a person looks at what it is used for",
    example: "from acme import score",
};

pub static IMPORT_ALIAS: Rule = Rule {
    code: "IMPORT012",
    name: "alias-of-another-module",
    severity: Severity::Medium,
    weight: Weight::AtLeast(Action::Flag),
    capability: None,
    cwe: &[1007],
    message: "gives one thing the name of another, so that what follows reads as something else",
    hint: "use its own name, or the usual short one",
    example: "import random as math",
};

pub static IMPORT_OPTIONAL: Rule = Rule {
    code: "IMPORT013",
    name: "optional-module",
    severity: Severity::Info,
    weight: Weight::Always(Action::Note),
    capability: None,
    cwe: &[],
    message: "is not given here: nothing is loaded, and the code around the import does without it",
    hint: "nothing to do",
    example: "try:\n    import lifelines\nexcept ImportError:\n    lifelines = None",
};

pub(super) static RULES: &[&Rule] = &[
    &IMPORT_MODULE,
    &IMPORT_MEMBER,
    &IMPORT_THROUGH,
    &IMPORT_RELATIVE,
    &IMPORT_STAR,
    &IMPORT_UNRESOLVED,
    &IMPORT_PRIVATE,
    &IMPORT_SENSITIVE,
    &IMPORT_MODULE_VALUE,
    &IMPORT_PATCH,
    &IMPORT_UNKNOWN,
    &IMPORT_ALIAS,
    &IMPORT_OPTIONAL,
];
