//! The rules: a single table, the source of findings, `--explain`, `--list-rules` and SARIF.
//!
//! A rule says what a finding means; the policy and the rule's weight decide its effect on the
//! verdict. Codes are never reused.

mod attr;
mod builtin;
mod data;
mod deser;
mod document;
mod dos;
mod dynamic;
mod exec;
mod files;
mod format;
mod import;
mod native;
mod network;
mod node;
mod parse;
mod refl;
mod run;
mod text;
mod tier;

pub use attr::*;
pub use builtin::*;
pub use data::*;
pub use deser::*;
pub use document::document;
pub use dos::*;
pub use dynamic::*;
pub use exec::*;
pub use files::*;
pub use format::*;
pub use import::*;
pub use native::*;
pub use network::*;
pub use node::*;
pub use parse::*;
pub use refl::*;
pub use run::*;
pub use text::*;
pub use tier::*;

use crate::model::{Action, Capability, Severity};

/// How a finding's action is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The policy's action for the finding's capability.
    Capability,
    /// The policy's action, but at least this one.
    AtLeast(Action),
    /// This action, whatever the capabilities say: the policy's lists decide, or nothing does.
    Always(Action),
}

/// One rule.
#[derive(Debug)]
pub struct Rule {
    pub code: &'static str,
    pub name: &'static str,
    pub severity: Severity,
    pub weight: Weight,
    pub capability: Option<Capability>,
    /// Common Weakness Enumeration ids.
    pub cwe: &'static [u32],
    pub message: &'static str,
    pub hint: &'static str,
    pub example: &'static str,
}

impl Rule {
    /// The action if no policy says otherwise.
    pub const fn default_action(&self) -> Action {
        match self.weight {
            Weight::Capability => Action::Block,
            Weight::AtLeast(action) | Weight::Always(action) => action,
        }
    }
}

/// Every rule, family by family, ordered by code.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    [
        parse::RULES,
        import::RULES,
        builtin::RULES,
        attr::RULES,
        dynamic::RULES,
        format::RULES,
        files::RULES,
        network::RULES,
        exec::RULES,
        deser::RULES,
        refl::RULES,
        run::RULES,
        native::RULES,
        dos::RULES,
        text::RULES,
        data::RULES,
        node::RULES,
        tier::RULES,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// The rule with this code or name, ignoring case.
pub fn find(code: &str) -> Option<&'static Rule> {
    all().find(|r| r.code.eq_ignore_ascii_case(code) || r.name.eq_ignore_ascii_case(code))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn codes_and_names_are_unique_and_every_rule_says_what_to_do() {
        let mut codes = HashSet::new();
        let mut names = HashSet::new();
        for rule in all() {
            assert!(codes.insert(rule.code), "{}", rule.code);
            assert!(names.insert(rule.name), "{}", rule.name);
            assert!(!rule.message.is_empty() && !rule.hint.is_empty() && !rule.example.is_empty());
            let digits = rule
                .code
                .trim_start_matches(|c: char| c.is_ascii_uppercase());
            assert_eq!(digits.len(), 3, "{}", rule.code);
        }
        assert!(codes.len() > 50);
    }
}
