//! Facts: what the walk and the text checks found, before the policy judges it.

use std::collections::{BTreeMap, BTreeSet};

use super::rules::Rule;
use crate::model::{Action, Capability};

/// One match of one rule, with byte offsets.
#[derive(Debug)]
pub struct Fact {
    pub rule: &'static Rule,
    pub start: usize,
    pub end: usize,
    /// Precedes the rule's own message, unless empty.
    pub subject: String,
    /// Replaces the rule's own hint.
    pub hint: Option<String>,
    pub capability: Option<Capability>,
    /// Raises the action of the rule's weight if the argument is decisive.
    pub at_least: Option<Action>,
    /// Limits the action of the rule's weight if less is certain here.
    pub at_most: Option<Action>,
}

/// The uses of one capability.
#[derive(Debug, Default)]
pub struct Use {
    /// Detail → byte offsets of its uses.
    pub details: BTreeMap<String, Vec<usize>>,
}

/// All facts of a snippet.
#[derive(Debug, Default)]
pub struct Facts {
    pub found: Vec<Fact>,
    pub uses: BTreeMap<Capability, Use>,
    /// The file names that the text gives, by the offset of the use.
    pub files: BTreeMap<usize, BTreeSet<String>>,
    /// The texts that are evaluated, by the offset of the call: its name, and the text as far as it is known.
    pub evaluated: BTreeMap<usize, (String, String)>,
    /// The lists of files by the offset of the call: its name and its pattern.
    pub listings: BTreeMap<usize, (String, String)>,
    /// The names of the environment's variables that are read, by offset.
    pub variables: BTreeMap<usize, BTreeSet<String>>,
    /// The call, by name and offset, that listed the file which is touched at an offset.
    pub found_by: BTreeMap<usize, (String, usize)>,
}

impl Facts {
    /// Adds a match of a rule, with the rule's capability, if any.
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

    /// The same, with a capability that the rule itself does not determine.
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

    /// Adds the use of a capability without a finding.
    pub fn uses(&mut self, capability: Capability, offset: usize, detail: &str) {
        self.uses
            .entry(capability)
            .or_default()
            .details
            .entry(detail.to_owned())
            .or_default()
            .push(offset);
    }

    /// Adds a text that is evaluated; the first one at an offset is told.
    pub fn evaluates(&mut self, offset: usize, subject: &str, text: &str) {
        let name = subject.rsplit('.').next().unwrap_or(subject);
        let text: String = text.chars().take(400).collect();
        let entry = self.evaluated.entry(offset);
        entry.or_insert_with(|| (name.to_owned(), text));
    }

    /// Adds a file's name to the use at this offset; a few suffice.
    pub fn names_file(&mut self, offset: usize, name: &str) {
        let names = self.files.entry(offset).or_default();
        if names.len() < 4 {
            names.insert(name.to_owned());
        }
    }
}
