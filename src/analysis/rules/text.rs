//! Rules for text that a reader could misread.

use super::{Rule, Weight};
use crate::model::{Action, Severity};

pub static TEXT_BIDI: Rule = Rule {
    code: "TEXT001",
    name: "bidi-control",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[1007],
    message: "a control character that reorders text on the screen (CVE-2021-42574)",
    hint: "remove it",
    example: "# \u{202e}",
};

pub static TEXT_INVISIBLE: Rule = Rule {
    code: "TEXT002",
    name: "invisible",
    severity: Severity::Medium,
    weight: Weight::Always(Action::Flag),
    capability: None,
    cwe: &[1007],
    message: "a character that cannot be seen",
    hint: "remove it",
    example: "x\u{200b} = 1",
};

pub static TEXT_CONTROL: Rule = Rule {
    code: "TEXT003",
    name: "control-character",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[150],
    message: "a control character, which can drive a terminal",
    hint: "write it as an escape in a string",
    example: "# \u{1b}[2K",
};

pub static TEXT_CR: Rule = Rule {
    code: "TEXT004",
    name: "carriage-return",
    severity: Severity::Medium,
    weight: Weight::Always(Action::Flag),
    capability: None,
    cwe: &[93],
    message: "a lone carriage return ends a line for Python, though it may not look so",
    hint: "end lines with LF",
    example: "# x\rimport os",
};

pub static TEXT_FORM_FEED: Rule = Rule {
    code: "TEXT005",
    name: "form-feed",
    severity: Severity::Medium,
    weight: Weight::Always(Action::Flag),
    capability: None,
    cwe: &[116],
    message: "a form feed resets the indentation, though it may not look so",
    hint: "remove it",
    example: "\x0cx = 1",
};

pub static TEXT_COOKIE: Rule = Rule {
    code: "TEXT006",
    name: "coding-cookie",
    severity: Severity::Medium,
    weight: Weight::Always(Action::Flag),
    capability: None,
    cwe: &[116],
    message: "declares another encoding; the text is read as UTF-8 all the same",
    hint: "remove the declaration",
    example: "# -*- coding: utf-7 -*-",
};

pub static TEXT_CONFUSABLE: Rule = Rule {
    code: "TEXT007",
    name: "confusable",
    severity: Severity::Medium,
    weight: Weight::Always(Action::Flag),
    capability: None,
    cwe: &[1007],
    message: "a name that looks like another (UTS 39)",
    hint: "use letters of one script",
    example: "\u{441}ount = 1",
};

pub static TEXT_TAG: Rule = Rule {
    code: "TEXT008",
    name: "tag-character",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[1007],
    message: "an invisible tag character, which hides text from a reader",
    hint: "remove it",
    example: "# \u{e0041}",
};

pub static TEXT_BLANK_RUN: Rule = Rule {
    code: "TEXT009",
    name: "blank-run",
    severity: Severity::Medium,
    weight: Weight::Always(Action::Flag),
    capability: None,
    cwe: &[1007],
    message: "a long run of blanks can push code off the screen",
    hint: "remove the blanks",
    example: "x = 1                                                                    ; y = 2",
};

pub static TEXT_LONG_LINE: Rule = Rule {
    code: "TEXT010",
    name: "long-line",
    severity: Severity::Low,
    weight: Weight::Always(Action::Flag),
    capability: None,
    cwe: &[1007],
    message: "a line too long to be read",
    hint: "break the line",
    example: "x = \"…\"",
};

pub static TEXT_IMITATION: Rule = Rule {
    code: "TEXT011",
    name: "imitates-interface",
    severity: Severity::Medium,
    weight: Weight::Always(Action::Flag),
    capability: None,
    cwe: &[451],
    message: "a comment that looks like a part of the review screen",
    hint: "reword the comment",
    example: "# ● clear",
};

pub static TEXT_MODELINE: Rule = Rule {
    code: "TEXT012",
    name: "modeline",
    severity: Severity::Low,
    weight: Weight::Always(Action::Note),
    capability: None,
    cwe: &[1007],
    message: "an instruction to an editor",
    hint: "remove it",
    example: "# vim: set ts=4:",
};

pub static TEXT_STACKED: Rule = Rule {
    code: "TEXT013",
    name: "stacked-marks",
    severity: Severity::Medium,
    weight: Weight::Always(Action::Flag),
    capability: None,
    cwe: &[1007],
    message: "combining marks piled up on one character",
    hint: "remove them",
    example: "e\u{301}\u{301}\u{301}\u{301}",
};

pub static TEXT_FOLDED: Rule = Rule {
    code: "TEXT014",
    name: "folded-name",
    severity: Severity::Medium,
    weight: Weight::Always(Action::Flag),
    capability: None,
    cwe: &[180],
    message: "Python reads another name than the one that is written (NFKC)",
    hint: "write the plain letters",
    example: "\u{ff45}val",
};

pub static TEXT_DRAWN: Rule = Rule {
    code: "TEXT015",
    name: "draws-interface",
    severity: Severity::Medium,
    weight: Weight::Always(Action::Flag),
    capability: None,
    cwe: &[451],
    message: "a string that draws a part of the review screen",
    hint: "reword the string",
    example: "s = \"type 4f1c to grant\"",
};

pub static TEXT_CONFUSABLE_STRING: Rule = Rule {
    code: "TEXT016",
    name: "confusable-string",
    severity: Severity::Medium,
    weight: Weight::Always(Action::Flag),
    capability: None,
    cwe: &[1007],
    message: "a string that looks like another, or mixes letters of two alphabets that look alike (UTS 39)",
    hint: "use letters of one script",
    example: "{\"p\u{430}id\": 1, \"paid\": 2}",
};

pub(super) static RULES: &[&Rule] = &[
    &TEXT_BIDI,
    &TEXT_INVISIBLE,
    &TEXT_CONTROL,
    &TEXT_CR,
    &TEXT_FORM_FEED,
    &TEXT_COOKIE,
    &TEXT_CONFUSABLE,
    &TEXT_TAG,
    &TEXT_BLANK_RUN,
    &TEXT_LONG_LINE,
    &TEXT_IMITATION,
    &TEXT_MODELINE,
    &TEXT_STACKED,
    &TEXT_FOLDED,
    &TEXT_DRAWN,
    &TEXT_CONFUSABLE_STRING,
];
