//! Rules for the network.

use super::{Rule, Weight};
use crate::model::{Capability, Severity};

pub static NET_URL: Rule = Rule {
    code: "NET001",
    name: "url",
    severity: Severity::High,
    weight: Weight::Capability,
    capability: Some(Capability::NetworkOut),
    cwe: &[918],
    message: "reaches the network",
    hint: "there is no network; use the inputs you were given",
    example: "pd.read_html(\"http://x\")",
};

pub static NET_CALL: Rule = Rule {
    code: "NET002",
    name: "network-call",
    severity: Severity::High,
    weight: Weight::Capability,
    capability: Some(Capability::NetworkOut),
    cwe: &[918],
    message: "downloads or uploads data",
    hint: "there is no network; use the inputs you were given",
    example: "import seaborn as sns; sns.load_dataset(\"tips\")",
};

pub(super) static RULES: &[&Rule] = &[&NET_URL, &NET_CALL];
