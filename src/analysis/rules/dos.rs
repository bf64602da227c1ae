//! Rules for suspected excessive use of resources: flagged but never blocked, because limits are
//! enforced during the run.

use super::{Rule, Weight};
use crate::model::{Action, Severity};

pub static DOS_LITERAL: Rule = Rule {
    code: "DOS001",
    name: "huge-value",
    severity: Severity::Medium,
    weight: Weight::Always(Action::Flag),
    capability: None,
    cwe: &[400, 770],
    message: "a literal asks for a huge number, text, range or array",
    hint: "use a smaller size",
    example: "9**9**9",
};

pub static DOS_LOOP: Rule = Rule {
    code: "DOS002",
    name: "endless-loop",
    severity: Severity::Medium,
    weight: Weight::Always(Action::Flag),
    capability: None,
    cwe: &[835],
    message: "a loop has no way out",
    hint: "give it an end",
    example: "while True: pass",
};

pub static DOS_REGEX: Rule = Rule {
    code: "DOS003",
    name: "slow-pattern",
    severity: Severity::Medium,
    weight: Weight::Always(Action::Flag),
    capability: None,
    cwe: &[1333],
    message: "a pattern can take exponential time",
    hint: "avoid nested repeats",
    example: "import re; re.match(\"(a+)+$\", s)",
};

pub(super) static RULES: &[&Rule] = &[&DOS_LITERAL, &DOS_LOOP, &DOS_REGEX];
