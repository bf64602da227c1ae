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

pub static RUN_COLUMN: Rule = Rule {
    code: "RUN005",
    name: "no-such-column",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[],
    message: "a column that the input does not have",
    hint: "use a column that it has: `datasets` lists them",
    example: "sales[\"amuont\"]",
};

pub static RUN_KIND: Rule = Rule {
    code: "RUN006",
    name: "wrong-kind",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[],
    message: "a use that a value of this kind does not have",
    hint: "convert the value first",
    example: "sales[\"amount\"].dt.year",
};

pub static RUN_KEYWORD: Rule = Rule {
    code: "RUN007",
    name: "no-such-keyword",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[],
    message: "a keyword argument that it does not take, as it is installed here",
    hint: "check the spelling",
    example: "pd.read_csv(text, seperator=\";\")",
};

pub(super) static RULES: &[&Rule] = &[
    &RUN_ABSENT,
    &RUN_UNBOUND,
    &RUN_SYNTAX,
    &RUN_MEMBER,
    &RUN_COLUMN,
    &RUN_KIND,
    &RUN_KEYWORD,
];
