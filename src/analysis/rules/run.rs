//! Rules for code that is certain to fail, answered at once, without a person.

use super::{Rule, Weight};
use crate::model::{Action, Severity};

pub static RUN_ABSENT: Rule = Rule {
    code: "RUN001",
    name: "not-installed",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[],
    message: "a package that is not installed here",
    hint: "use what is installed here",
    example: "import seaborn",
};

pub static RUN_UNBOUND: Rule = Rule {
    code: "RUN002",
    name: "unbound-name",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[],
    message: "a name that nothing binds before this",
    hint: "bind it first, or correct its spelling",
    example: "df[\"n\"] = total",
};

pub static RUN_SYNTAX: Rule = Rule {
    code: "RUN003",
    name: "newer-syntax",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[],
    message: "a syntax that the Python here does not have yet",
    hint: "write it as older versions have it",
    example: "type Row = dict[str, int]",
};

pub static RUN_MEMBER: Rule = Rule {
    code: "RUN004",
    name: "no-such-member",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[],
    message: "is no member of what it is read from, as it is installed here",
    hint: "check the spelling",
    example: "import datetime; datetime.now()",
};

pub(super) static RULES: &[&Rule] = &[&RUN_ABSENT, &RUN_UNBOUND, &RUN_SYNTAX, &RUN_MEMBER];
