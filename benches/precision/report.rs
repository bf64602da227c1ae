//! Prints the tables of shares.

use std::collections::BTreeMap;

use crate::Example;

/// The targets for plain examples, in percent: most blocked, most flagged.
const MOST_BLOCKED: f64 = 1.0;
const MOST_FLAGGED: f64 = 3.0;

/// Picks some of the examples.
type Test = fn(&Example) -> bool;

pub fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

fn share(part: usize, whole: usize) -> String {
    format!("{part} ({:.1} %)", percent(part, whole))
}

/// Prints the shares that are blocked, flagged, or reported by bandit: for each set and in total,
/// over all examples and over the plain ones.
pub fn shares(examples: &[Example]) {
    println!(
        "{:<28}{:>9}{:>15}{:>15}{:>18}{:>18}",
        "examples", "number", "blocked", "flagged", "bandit, any", "bandit, medium +"
    );
    let mut sets: Vec<&str> = examples.iter().map(|e| e.set.as_str()).collect();
    sets.dedup();
    let kinds: [(&str, Test); 3] = [
        ("all", |_| true),
        ("plain: touching no file, network or private name", |e| {
            e.plain
        }),
        (
            "plain, and nothing of interpreter, memory or machine",
            |e| e.pure,
        ),
    ];
    for (title, keep) in kinds {
        println!("{title}");
        let kept: Vec<&Example> = examples.iter().filter(|e| keep(e)).collect();
        for set in &sets {
            row(set, kept.iter().copied().filter(|e| e.set == *set));
        }
        row("together", kept.into_iter());
    }
    println!();
}

fn row<'a>(name: &str, examples: impl Iterator<Item = &'a Example>) {
    let examples: Vec<&Example> = examples.collect();
    let count = |test: &dyn Fn(&Example) -> bool| {
        let part = examples.iter().filter(|e| test(e)).count();
        share(part, examples.len())
    };
    println!(
        "  {name:<26}{:>9}{:>15}{:>15}{:>18}{:>18}",
        examples.len(),
        count(&Example::blocked),
        count(&Example::flagged),
        count(&|e| !e.bandit.is_empty()),
        count(&|e| e.bandit.iter().any(|(_, severity)| severity != "LOW")),
    );
}

/// The number of examples, all and plain, that each rule alarms on. Commonest rule first.
pub fn by_rule(examples: &[Example]) -> Vec<(String, usize, usize)> {
    let mut rules: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for example in examples {
        for (rule, _) in example.alarms() {
            let counts = rules.entry(rule).or_default();
            counts.0 += 1;
            counts.1 += usize::from(example.plain);
        }
    }
    let mut rules: Vec<_> = rules
        .into_iter()
        .map(|(rule, (all, plain))| (rule.to_owned(), all, plain))
        .collect();
    rules.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    rules
}

pub fn rules(examples: &[Example]) {
    let plain = examples.iter().filter(|e| e.plain).count();
    println!(
        "{:<12}{:<28}{:>15}{:>15}",
        "rule", "", "of all", "of the plain"
    );
    for (rule, all, in_plain) in by_rule(examples) {
        println!(
            "{rule:<12}{:<28}{:>15}{:>15}",
            name(&rule),
            share(all, examples.len()),
            share(in_plain, plain)
        );
    }
    println!();
}

pub fn name(rule: &str) -> &'static str {
    countersign::analysis::rules::find(rule).map_or("", |r| r.name)
}

/// Prints bandit's tests, commonest first.
pub fn bandit(examples: &[Example]) {
    let mut tests: BTreeMap<&str, usize> = BTreeMap::new();
    for example in examples {
        let mut seen: Vec<&str> = example.bandit.iter().map(|(t, _)| t.as_str()).collect();
        seen.sort_unstable();
        seen.dedup();
        for test in seen {
            *tests.entry(test).or_default() += 1;
        }
    }
    let mut tests: Vec<_> = tests.into_iter().collect();
    tests.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let named: Vec<String> = tests.iter().map(|(t, n)| format!("{t} {n}")).collect();
    println!("bandit by test, over all: {}\n", named.join(", "));
}

/// Prints whether the targets are met.
pub fn aim(examples: &[Example]) {
    let share = |keep: Test, test: Test| {
        let kept: Vec<&Example> = examples.iter().filter(|e| keep(e)).collect();
        percent(kept.iter().filter(|e| test(e)).count(), kept.len())
    };
    for (what, test, most) in [
        ("blocked", Example::blocked as Test, MOST_BLOCKED),
        ("flagged", Example::flagged, MOST_FLAGGED),
    ] {
        let (plain, pure) = (share(|e| e.plain, test), share(|e| e.pure, test));
        let met = if plain < most { "met" } else { "MISSED" };
        println!(
            "aim: of the plain examples under {most:.0} % {what}: {plain:.2} %, {met}; \
             of those that reach for nothing of the machine {pure:.2} %"
        );
    }
    println!();
}
