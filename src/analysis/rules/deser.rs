//! Rules for pickles and similar formats.

use super::{Rule, Weight};
use crate::model::{Capability, Severity};

pub static DESER_LOAD: Rule = Rule {
    code: "DESER001",
    name: "unpickles",
    severity: Severity::Critical,
    weight: Weight::Capability,
    capability: Some(Capability::Deserialize),
    cwe: &[502],
    message: "loads a pickle, which runs whatever it says",
    hint: "read csv, json or parquet",
    example: "pd.read_pickle(\"x.pkl\")",
};

pub static DESER_DUMP: Rule = Rule {
    code: "DESER002",
    name: "pickles",
    severity: Severity::High,
    weight: Weight::Capability,
    capability: Some(Capability::Deserialize),
    cwe: &[502],
    message: "writes a pickle",
    hint: "write csv, json or parquet",
    example: "df.to_pickle(\"x.pkl\")",
};

pub(super) static RULES: &[&Rule] = &[&DESER_LOAD, &DESER_DUMP];
