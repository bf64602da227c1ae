//! Rules for text that cannot be read: each of them makes the verdict `unanalyzable`.

use super::{Rule, Weight};
use crate::model::{Action, Severity};

pub static SYNTAX: Rule = Rule {
    code: "PARSE001",
    name: "syntax-error",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[],
    message: "this is not Python that can be parsed",
    hint: "correct the syntax; nothing after it was analysed",
    example: "import math as x.y",
};

pub static TOO_DEEP: Rule = Rule {
    code: "PARSE002",
    name: "over-a-limit",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[674, 770],
    message: "too large, too deep or too long to be analysed safely",
    hint: "split it: at most 200 brackets and 100 indents deep, 1,000 operators in a row, 4,300 digits",
    example: "((((…))))",
};

pub static ENCODING: Rule = Rule {
    code: "PARSE003",
    name: "not-plain-utf8",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[176],
    message: "the text is not plain UTF-8",
    hint: "send UTF-8 without a byte order mark and without NUL",
    example: "\0",
};

pub static NO_ANSWER: Rule = Rule {
    code: "PARSE004",
    name: "analyser-failed",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[],
    message: "the analyser gave no answer",
    hint: "make the snippet shorter or simpler",
    example: "x = ",
};

pub static TANGLED: Rule = Rule {
    code: "PARSE005",
    name: "too-tangled",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[407],
    message: "the names are too tangled to be followed",
    hint: "use each name for one thing",
    example: "a = b; b = a",
};

pub static REFUSED_BY_CPYTHON: Rule = Rule {
    code: "PARSE006",
    name: "not-what-cpython-compiles",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[436],
    message: "CPython refuses this, although it can be parsed",
    hint: "correct the statement",
    example: "f() = 1",
};

pub(super) static RULES: &[&Rule] = &[
    &SYNTAX,
    &TOO_DEEP,
    &ENCODING,
    &NO_ANSWER,
    &TANGLED,
    &REFUSED_BY_CPYTHON,
];
