//! The commonest alarms, each with the reason to keep it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use countersign::model::Action;

use crate::Example;
use crate::report::{by_rule, name};

/// How many of the commonest rules need an explanation.
const COMMONEST: usize = 10;
/// The most messages and examples named for each rule.
const NAMED: usize = 3;

/// A former false alarm on honest code that was fixed.
#[derive(serde::Deserialize)]
struct Mended {
    rule: String,
    /// A part of the alarm's message.
    says: String,
    /// The number of examples that raised the alarm before.
    was: usize,
    by: String,
}

#[derive(serde::Deserialize)]
struct Reasons {
    /// Rule → the reason why its alarm is justified.
    justified: BTreeMap<String, String>,
    mended: Vec<Mended>,
}

/// Prints the alarms and their reasons. Returns what `reasons.toml` lacks.
pub fn report(examples: &[Example]) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/precision/reasons.toml");
    let reasons: Reasons = toml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let mut lacking = Vec::new();
    println!("the alarms, commonest first: {NAMED} of their messages, an example, the reason");
    for (at, (rule, all, plain)) in by_rule(examples).into_iter().enumerate() {
        if at >= COMMONEST && plain == 0 {
            continue;
        }
        println!("\n{rule} {}: {all}, of them plain {plain}", name(&rule));
        let mut messages: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
        for example in examples {
            for (_, message) in example.alarms().into_iter().filter(|a| a.0 == rule) {
                messages.entry(message).or_insert((0, &example.name)).0 += 1;
            }
        }
        let mut messages: Vec<_> = messages.into_iter().collect();
        messages.sort_by_key(|(_, (times, _))| std::cmp::Reverse(*times));
        for (message, (times, example)) in messages.iter().take(NAMED) {
            println!("  {times:>4} × {message} [{example}]");
        }
        match reasons.justified.get(&rule) {
            Some(why) => println!("  stays: {why}"),
            None => lacking.push(format!("no reason for {rule}")),
        }
    }
    println!("\nmended: alarms before → now");
    for mended in &reasons.mended {
        let now = examples.iter().filter(|e| mended.alarms(e)).count();
        println!(
            "  {:>4} → {now:<3} {} `{}`: {}",
            mended.was, mended.rule, mended.says, mended.by
        );
        if now >= mended.was {
            lacking.push(format!("{} `{}` is not mended", mended.rule, mended.says));
        }
    }
    lacking
}

impl Mended {
    fn alarms(&self, example: &Example) -> bool {
        let mut findings = example.verdict.findings.iter();
        findings.any(|f| {
            f.action != Action::Note && f.rule == self.rule && f.message.contains(&self.says)
        })
    }
}
