//! Hints for files that are sought where inputs are bound to their names.

use std::collections::BTreeSet;

use super::Inspector;
use super::files::PathKind;
use crate::analysis::parse::ast::Expr;
use crate::model::Capability;
use crate::policy::Contract;

/// Names that a hint lists.
const NAMED: usize = 12;

impl<'a> Inspector<'a> {
    /// The hint that data sets are inputs, with the names of the inputs.
    pub(super) fn inputs_instead(&self, name: &str) -> String {
        let inputs = self
            .setting
            .inputs
            .as_ref()
            .filter(|inputs| !inputs.is_empty());
        let stem = stem(name);
        match inputs {
            Some(inputs) if inputs.contains(stem) => {
                format!("the input `{stem}` is already bound to that name: use it as it is")
            }
            Some(inputs) => format!("inputs are bound to their names: {}", listed(inputs)),
            None if self.setting.datasets.is_empty() => {
                "there are no files but those that the snippet writes: bring data as inputs"
                    .to_owned()
            }
            None => format!(
                "bring a data set as an input, and it is bound to its name: {}",
                listed(&self.setting.datasets)
            ),
        }
    }

    /// The hint for a file that is read from outside, if an input or a data set has the name that the file has there.
    pub(super) fn bound_instead(
        &self,
        e: &'a Expr,
        kind: PathKind,
        capability: Capability,
    ) -> Option<String> {
        let outside = matches!(kind, PathKind::Outside | PathKind::Url);
        if !outside
            || capability != Capability::FsRead
            || self.policy.contract != Contract::Analysis
            || !self.policy.guard
        {
            return None;
        }
        let names = self.texts_of(e)?;
        let inputs = self.setting.inputs.as_ref();
        let is_known = |name: &&String| {
            let stem = stem(name);
            inputs.map_or_else(
                || self.setting.datasets.contains(stem),
                |inputs| inputs.contains(stem),
            )
        };
        let name = names.iter().find(is_known)?;
        Some(self.inputs_instead(name))
    }
}

/// The file's name without folders and endings.
fn stem(name: &str) -> &str {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    last.split('.').next().unwrap_or(last)
}

fn listed(names: &BTreeSet<String>) -> String {
    let names: Vec<&str> = names.iter().map(String::as_str).take(NAMED).collect();
    names.join(", ")
}
