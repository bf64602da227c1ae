//! What is certain to fail: answered at once, without a person.

use super::{Rule, Weight};
use crate::model::{Action, Severity};

pub static RUN_UNBOUND: Rule = Rule {
    code: "RUN002",
    name: "unbound-name",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[],
    message: "a module that nothing imports",
    hint: "import it first",
    example: "print(os.getcwd())",
};

pub(super) static RULES: &[&Rule] = &[&RUN_UNBOUND];
