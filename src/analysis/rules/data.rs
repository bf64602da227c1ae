//! Rules for reading and writing data. These are capabilities, and findings only if the policy
//! makes them so.

use super::{Rule, Weight};
use crate::model::{Capability, Severity};

pub static DATA_READ: Rule = Rule {
    code: "DATA001",
    name: "reads-data",
    severity: Severity::Info,
    weight: Weight::Capability,
    capability: Some(Capability::DataRead),
    cwe: &[],
    message: "reads a column",
    hint: "nothing to do",
    example: "df[\"amount\"]",
};

pub static DATA_WRITE: Rule = Rule {
    code: "DATA002",
    name: "writes-data",
    severity: Severity::Info,
    weight: Weight::Capability,
    capability: Some(Capability::DataWrite),
    cwe: &[],
    message: "writes a column",
    hint: "nothing to do",
    example: "df[\"rate\"] = 1",
};

pub(super) static RULES: &[&Rule] = &[&DATA_READ, &DATA_WRITE];
