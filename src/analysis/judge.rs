//! Judgement: derives the verdict from the facts and a policy.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{Fact, Facts};
use super::hints;
use super::rules::Weight;
use super::source::Source;
use super::text::shown;
use crate::model::{Action, Capability, CapabilityUse, Finding, Flows, Named, Place};
use crate::policy::Policy;

/// The limit on findings; nobody would read more.
const FINDINGS: usize = 500;

/// The findings, sorted by line and column, and the capabilities used.
pub fn judge(
    facts: Facts,
    policy: &Policy,
    source: &Source<'_>,
) -> (Vec<Finding>, Vec<CapabilityUse>) {
    let mut findings: Vec<Finding> = facts
        .found
        .iter()
        .map(|fact| finding(fact, policy, source))
        .collect();
    findings.sort_by(|a, b| {
        (a.line, a.column, &a.rule, &a.message).cmp(&(b.line, b.column, &b.rule, &b.message))
    });
    findings.dedup();
    if findings.len() > FINDINGS {
        // Keep the most severe ones, in the order of the text.
        findings.sort_by_key(|f| std::cmp::Reverse(f.action));
        findings.truncate(FINDINGS);
        findings.sort_by(|a, b| (a.line, a.column, &a.rule).cmp(&(b.line, b.column, &b.rule)));
    }
    let capabilities = facts
        .uses
        .into_iter()
        .map(|(capability, used)| {
            let mut lines: Vec<u32> = used
                .details
                .values()
                .flatten()
                .map(|offset| source.line(*offset))
                .collect();
            lines.sort_unstable();
            lines.dedup();
            let mut details: Vec<(usize, String)> = used
                .details
                .into_iter()
                .map(|(detail, offsets)| (offsets.first().copied().unwrap_or(0), shown(&detail)))
                .collect();
            details.sort();
            // `os.system, literal argument` makes a separate `os.system` redundant.
            let said: Vec<String> = details.iter().map(|(_, d)| d.clone()).collect();
            details.retain(|(_, d)| {
                let more = format!("{d}, ");
                matches!(capability, Capability::DataRead | Capability::DataWrite)
                    || !said.iter().any(|other| other.starts_with(&more))
            });
            CapabilityUse {
                capability,
                lines,
                detail: shorten(capability, details.into_iter().map(|(_, detail)| detail)),
            }
        })
        .collect();
    (findings, capabilities)
}

/// The limit on places: a screen shows fewer, and the worker's answer stays small.
const PLACES: usize = 1_000;

/// Every use of a capability by what it touches, in the order of the text.
pub fn places(facts: &Facts, source: &Source<'_>) -> Vec<Place> {
    let mut found: Vec<(usize, Place)> = facts
        .uses
        .iter()
        .flat_map(|(capability, used)| used.details.iter().map(move |d| (*capability, d)))
        .flat_map(|(capability, (detail, offsets))| {
            // Uses that name other files are other places.
            let mut by_files: BTreeMap<BTreeSet<String>, Vec<usize>> = BTreeMap::new();
            for offset in offsets {
                let named = facts.files.get(offset).into_iter().flatten();
                let files = named.map(|name| shown(name)).collect();
                by_files.entry(files).or_default().push(*offset);
            }
            by_files.into_iter().map(move |(files, offsets)| {
                let mut lines: Vec<u32> = offsets.iter().map(|o| source.line(*o)).collect();
                lines.sort_unstable();
                lines.dedup();
                let place = Place {
                    capability,
                    detail: shown(detail),
                    lines,
                    files: files.into_iter().collect(),
                };
                (offsets.iter().min().copied().unwrap_or(0), place)
            })
        })
        .collect();
    found.sort_by_key(|(first, _)| *first);
    found.truncate(PLACES);
    found.into_iter().map(|(_, place)| place).collect()
}

/// What is told beside the places, each in the order of the text.
pub fn told(facts: &Facts, source: &Source<'_>, flows: Flows) -> Flows {
    let named = |all: &BTreeMap<usize, (String, String)>| {
        let one = |(at, (what, text)): (&usize, &(String, String))| Named {
            line: source.line(*at),
            what: shown(what),
            text: text.clone(),
        };
        all.iter().take(PLACES).map(one).collect()
    };
    let variables = facts.variables.iter().take(PLACES);
    let found_by = facts.found_by.iter().take(PLACES);
    Flows {
        evaluated: named(&facts.evaluated),
        listings: named(&facts.listings),
        variables: variables
            .map(|(at, names)| (source.line(*at), names.iter().cloned().collect()))
            .collect(),
        found_by: found_by
            .map(|(at, (by, from))| (source.line(*at), shown(by), source.line(*from)))
            .collect(),
        ..flows
    }
}

/// The finding's effect on the verdict under this policy.
fn action(fact: &Fact, policy: &Policy) -> Action {
    if fact.rule.code.starts_with("PARSE") {
        return Action::Block;
    }
    let by_capability = fact.capability.map(|c| policy.action(c));
    if !policy.guard {
        // Without the gates inside the child, nothing is forbidden and everything is shown.
        let flagged = by_capability.unwrap_or(Action::Flag).min(Action::Flag);
        let most = fact.at_most.unwrap_or(Action::Block);
        return match fact.rule.weight {
            Weight::Always(Action::Note) | Weight::AtLeast(Action::Note)
                if fact.capability.is_none() =>
            {
                Action::Note
            }
            _ => flagged.min(most),
        };
    }
    let own = match fact.rule.weight {
        Weight::Capability => by_capability.unwrap_or(Action::Block),
        Weight::AtLeast(least) => by_capability.unwrap_or(least).max(least),
        Weight::Always(action) => action,
    };
    let own = fact.at_least.map_or(own, |least| own.max(least));
    fact.at_most.map_or(own, |most| own.min(most))
}

fn finding(fact: &Fact, policy: &Policy, source: &Source<'_>) -> Finding {
    let (line, column) = source.position(fact.start);
    let (end_line, end_column) = source.position(fact.end.max(fact.start));
    let rule = fact.rule;
    let message = if fact.subject.is_empty() {
        rule.message.to_owned()
    } else {
        format!("{}: {}", shown(&fact.subject), rule.message)
    };
    let action = action(fact, policy);
    Finding {
        rule: rule.code.to_owned(),
        name: rule.name.to_owned(),
        severity: rule.severity,
        action,
        message,
        hint: hint(fact, action, policy),
        cwe: rule.cwe.to_vec(),
        line,
        column,
        end_line,
        end_column,
        capability: fact.capability,
    }
}

/// The finding's hint. If the policy is stricter than the rule, say so.
fn hint(fact: &Fact, action: Action, policy: &Policy) -> String {
    if let Some(own) = &fact.hint {
        return own.clone();
    }
    if let Some(instead) = hints::rule(fact.rule, &fact.subject, policy) {
        return instead;
    }
    match (fact.rule.weight, fact.capability) {
        (Weight::AtLeast(least), Some(capability)) if action > least => match action {
            Action::Block => format!("leave it out: the policy does not allow {capability}"),
            _ => format!("a person looks at it: the policy flags {capability}"),
        },
        _ => fact.rule.hint.to_owned(),
    }
}

/// The details in the order of the text, as many as fit into a line.
fn shorten(capability: Capability, details: impl Iterator<Item = String>) -> String {
    // Columns are names; other details may contain commas themselves.
    let between = match capability {
        Capability::DataRead | Capability::DataWrite => ", ",
        _ => "; ",
    };
    let mut out = String::new();
    for detail in details {
        if !out.is_empty() {
            if out.len() + detail.len() > 200 {
                out.push_str(between);
                out.push('…');
                break;
            }
            out.push_str(between);
        }
        out.push_str(&detail);
    }
    out
}
