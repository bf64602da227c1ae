//! Facts: what the walk and the text checks saw, before the policy judges it.

use std::collections::BTreeMap;

use super::rules::Rule;
use crate::model::{Action, Capability};

/// One match of one rule, by byte offsets.
#[derive(Debug)]
pub struct Fact {
    pub rule: &'static Rule,
    pub start: usize,
    pub end: usize,
    /// Put before the rule's own message where it names something.
    pub subject: String,
    /// Instead of the rule's own.
    pub hint: Option<String>,
    pub capability: Option<Capability>,
    /// Instead of what the rule's weight says, where the argument decides.
    pub at_least: Option<Action>,
    /// Where the rule's weight says more than is certain here.
    pub at_most: Option<Action>,
}

/// One use of a capability.
#[derive(Debug, Default)]
pub struct Use {
    /// Detail → byte offsets where it is used.
    pub details: BTreeMap<String, Vec<usize>>,
}

/// Everything that was seen.
#[derive(Debug, Default)]
pub struct Facts {
    pub found: Vec<Fact>,
    pub uses: BTreeMap<Capability, Use>,
}

impl Facts {
    /// A match of a rule, with its capability where it has one.
    pub fn add(
        &mut self,
        rule: &'static Rule,
        at: (usize, usize),
        subject: impl Into<String>,
    ) -> &mut Fact {
        let subject = subject.into();
        if let Some(capability) = rule.capability {
            let detail = if subject.is_empty() {
                rule.name
            } else {
                &subject
            };
            self.uses(capability, at.0, detail);
        }
        self.found.push(Fact {
            rule,
            start: at.0,
            end: at.1,
            subject,
            hint: None,
            capability: rule.capability,
            at_least: None,
            at_most: None,
        });
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    /// The same, with a capability that the rule itself does not fix.
    pub fn add_with(
        &mut self,
        rule: &'static Rule,
        at: (usize, usize),
        capability: Option<Capability>,
        subject: impl Into<String>,
    ) -> &mut Fact {
        let subject = subject.into();
        if let Some(capability) = capability.filter(|_| rule.capability.is_none()) {
            self.uses(capability, at.0, &subject);
        }
        let fact = self.add(rule, at, subject);
        fact.capability = fact.capability.or(capability);
        fact
    }

    /// A capability without a finding.
    pub fn uses(&mut self, capability: Capability, offset: usize, detail: &str) {
        self.uses
            .entry(capability)
            .or_default()
            .details
            .entry(detail.to_owned())
            .or_default()
            .push(offset);
    }
}
