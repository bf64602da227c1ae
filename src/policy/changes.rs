//! What a policy changes against another one, as data: the command line and the screen say the same in their own words.

use std::collections::BTreeSet;

use crate::model::{Action, Capability, Rule, Tier};

use super::{Policy, PrivateValues};

/// A setting that two policies have in common, with different values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set<T> {
    pub old: T,
    pub new: T,
}

impl<T: PartialEq> Set<T> {
    fn of(old: T, new: T) -> Option<Self> {
        (old != new).then_some(Self { old, new })
    }
}

/// A set of names that differs.
#[derive(Debug, PartialEq, Eq)]
pub struct Names<'a> {
    pub of: ListOf<'a>,
    pub gone: Vec<&'a str>,
    pub came: Vec<&'a str>,
}

/// What the names are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOf<'a> {
    /// Of a module that both policies let in.
    Members(&'a str),
    Builtins,
    Nodes,
    /// Attributes that are refused.
    Denied,
    /// Dunder names that may be used.
    Dunders,
    /// Dunder names that a class may define.
    Defined,
}

/// In the order in which they are said.
#[derive(Debug)]
pub struct Changes<'a> {
    /// Modules that are no longer let in.
    pub gone: Vec<&'a str>,
    /// Modules that are let in now, with their members.
    pub came: Vec<(&'a str, &'a BTreeSet<String>)>,
    /// Members first, by module.
    pub names: Vec<Names<'a>>,
    pub capabilities: Vec<(Capability, Set<Action>)>,
    /// By their names in a policy file.
    pub limits: Vec<(&'static str, Set<u64>)>,
    pub tier: Option<Set<Tier>>,
    pub private: Option<Set<PrivateValues>>,
    pub guard: Option<Set<bool>>,
    /// Rules of `[grant]` that were added. None can go.
    pub grant: Vec<&'a Rule>,
}

impl<'a> Changes<'a> {
    pub fn between(base: &'a Policy, policy: &'a Policy) -> Self {
        let gone = base.imports.keys();
        let gone = gone.filter(|m| !policy.imports.contains_key(*m));
        let came = policy.imports.iter();
        let came = came.filter(|(m, _)| !base.imports.contains_key(*m));
        let members = policy.imports.iter().filter_map(|(module, new)| {
            let old = base.imports.get(module)?;
            Some((ListOf::Members(module), old, new))
        });
        let (old, new) = (&base.attributes, &policy.attributes);
        let lists = members.chain([
            (ListOf::Builtins, &base.builtins, &policy.builtins),
            (ListOf::Nodes, &base.nodes, &policy.nodes),
            (ListOf::Denied, &old.deny, &new.deny),
            (ListOf::Dunders, &old.allow_dunder, &new.allow_dunder),
            (ListOf::Defined, &old.define_dunder, &new.define_dunder),
        ]);
        let capabilities = Capability::ALL.into_iter().filter_map(|capability| {
            let set = Set::of(base.action(capability), policy.action(capability))?;
            Some((capability, set))
        });
        let limits = base.limits.named().into_iter().zip(policy.limits.named());
        let limits = limits.filter_map(|((name, old), (_, new))| Some((name, Set::of(old, new)?)));
        Self {
            gone: gone.map(String::as_str).collect(),
            came: came.map(|(m, members)| (m.as_str(), members)).collect(),
            names: lists
                .filter_map(|(of, old, new)| differ(of, old, new))
                .collect(),
            capabilities: capabilities.collect(),
            limits: limits.collect(),
            tier: Set::of(base.tier, policy.tier),
            private: Set::of(base.private, policy.private),
            guard: Set::of(base.guard, policy.guard),
            grant: policy
                .grant
                .iter()
                .filter(|rule| !base.grant.contains(rule))
                .collect(),
        }
    }
}

fn differ<'a>(
    of: ListOf<'a>,
    old: &'a BTreeSet<String>,
    new: &'a BTreeSet<String>,
) -> Option<Names<'a>> {
    let names = Names {
        of,
        gone: old.difference(new).map(String::as_str).collect(),
        came: new.difference(old).map(String::as_str).collect(),
    };
    (old != new).then_some(names)
}
