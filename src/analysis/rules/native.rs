//! Native code.

use super::{Rule, Weight};
use crate::model::{Capability, Severity};

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

pub(super) static RULES: &[&Rule] = &[&NATIVE_CALL];
