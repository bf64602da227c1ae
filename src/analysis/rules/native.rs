//! Rules for native code.

use super::{Rule, Weight};
use crate::model::{Action, Capability, Severity};

pub static NATIVE_CALL: Rule = Rule {
    code: "NATIVE001",
    name: "native-code",
    severity: Severity::Critical,
    weight: Weight::Capability,
    capability: Some(Capability::Native),
    cwe: &[242],
    message: "reaches native code or raw memory",
    hint: "use the public interface",
    example: "import scipy; scipy.LowLevelCallable(f)",
};

/// numpy's loops over objects hold no references to the objects they compare: CWE-416, use after
/// free.
pub static NATIVE_REENTRY: Rule = Rule {
    code: "NATIVE002",
    name: "changes-while-compared",
    severity: Severity::High,
    weight: Weight::Always(Action::Flag),
    capability: Some(Capability::Native),
    cwe: &[416],
    message: "a special method that compiled code calls changes other objects, or may",
    hint: "have it compute and return; change things in a method with a name of its own",
    example: "class A:\n    def __lt__(self, o):\n        rows[0] = 0\n        return False",
};

pub(super) static RULES: &[&Rule] = &[&NATIVE_CALL, &NATIVE_REENTRY];
