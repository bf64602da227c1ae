//! Rules for builtins that are loaded, whether or not they are called.

use super::{Rule, Weight};
use crate::model::{Action, Capability, Severity};

pub static BUILTIN_DENIED: Rule = Rule {
    code: "BUILTIN001",
    name: "builtin-not-allowed",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: None,
    cwe: &[242],
    message: "uses a builtin that the policy does not list",
    hint: "use the builtins that the profile allows",
    example: "globals()",
};

pub static BUILTIN_DUNDER: Rule = Rule {
    code: "BUILTIN002",
    name: "dunder-name",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::Reflect),
    cwe: &[749],
    message: "uses a name of the interpreter's own",
    hint: "use a name without double underscores",
    example: "__builtins__",
};

pub static BUILTIN_BASE_EXCEPTION: Rule = Rule {
    code: "BUILTIN003",
    name: "control-exception",
    severity: Severity::High,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::ModifySystemState),
    cwe: &[755],
    message: "catches or raises what the sandbox uses to stop a run",
    hint: "catch Exception",
    example: "try: f()\nexcept BaseException: pass",
};

pub static BUILTIN_BARE_EXCEPT: Rule = Rule {
    code: "BUILTIN004",
    name: "bare-except",
    severity: Severity::Info,
    weight: Weight::Always(Action::Note),
    capability: None,
    cwe: &[396],
    message: "catches everything; it is run as `except Exception`",
    hint: "catch Exception",
    example: "try: f()\nexcept: pass",
};

pub static BUILTIN_EXIT: Rule = Rule {
    code: "BUILTIN005",
    name: "ends-interpreter",
    severity: Severity::Medium,
    weight: Weight::Always(Action::Block),
    capability: Some(Capability::ModifySystemState),
    cwe: &[382],
    message: "ends or questions the interpreter",
    hint: "let the snippet end by itself",
    example: "exit()",
};

pub(super) static RULES: &[&Rule] = &[
    &BUILTIN_DENIED,
    &BUILTIN_DUNDER,
    &BUILTIN_BASE_EXCEPTION,
    &BUILTIN_BARE_EXCEPT,
    &BUILTIN_EXIT,
];
