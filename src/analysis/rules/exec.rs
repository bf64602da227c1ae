//! Rules for processes and the system around the snippet.

use super::{Rule, Weight};
use crate::model::{Capability, Severity};

pub static EXEC_CALL: Rule = Rule {
    code: "EXEC001",
    name: "runs-program",
    severity: Severity::Critical,
    weight: Weight::Capability,
    capability: Some(Capability::Exec),
    cwe: &[78],
    message: "starts a program",
    hint: "use what the libraries compute themselves",
    example: "import matplotlib.pyplot as plt; plt.rcParams[\"text.usetex\"] = True",
};

pub static EXEC_SYSTEM: Rule = Rule {
    code: "EXEC002",
    name: "reads-system",
    severity: Severity::Medium,
    weight: Weight::Capability,
    capability: Some(Capability::ReadSystemState),
    cwe: &[497],
    message: "reads the state of the machine",
    hint: "nothing of the machine is needed for analysis",
    example: "pd.read_clipboard()",
};

pub static EXEC_CHANGES: Rule = Rule {
    code: "EXEC003",
    name: "changes-system",
    severity: Severity::Medium,
    weight: Weight::Capability,
    capability: Some(Capability::ModifySystemState),
    cwe: &[471],
    message: "changes the state of the interpreter or machine",
    hint: "leave it as it is",
    example: "np.seterrcall(f)",
};

pub(super) static RULES: &[&Rule] = &[&EXEC_CALL, &EXEC_SYSTEM, &EXEC_CHANGES];
