//! Prints the tables, whether the targets are met, and whether every refusal has a reason.

use std::collections::BTreeMap;

use super::ends::{Alarm, End, Snippet};

/// Targets as shares of the snippets that succeed under plain Python.
const SERVED_PERCENT: f64 = 99.0;
const FLAGGED_PERCENT: f64 = 2.0;

const COLUMNS: [&str; 6] = ["tried", "clear", "flagged", "blocked", "failed", "differs"];

pub fn table(ends: &[(&Snippet, End)]) {
    let mut table: BTreeMap<&str, [usize; 6]> = BTreeMap::new();
    for (one, end) in ends {
        let column = match end {
            End::Served { flagged } if flagged.is_empty() => 1,
            End::Served { .. } => 2,
            End::Blocked(_) => 3,
            End::Failed(_) => 4,
            End::Differs(_) => 5,
        };
        for row in [one.row.as_str(), "in all"] {
            let row = table.entry(row).or_default();
            row[0] += 1;
            row[column] += 1;
        }
    }
    print!("{:<22}", "");
    COLUMNS.iter().for_each(|column| print!("{column:>9}"));
    println!();
    let all = table.remove("in all").unwrap_or_default();
    for (row, counts) in table.iter().chain([(&"in all", &all)]) {
        print!("{row:<22}");
        counts.iter().for_each(|n| print!("{n:>9}"));
        println!();
    }
    let percent = |n: usize| 100.0 * n as f64 / all[0].max(1) as f64;
    let met = |met: bool| if met { "met" } else { "MISSED" };
    let (served, flagged) = (percent(all[1] + all[2]), percent(all[2]));
    println!(
        "\nserved {served:.1} % (at least {SERVED_PERCENT} %: {}), flagged {flagged:.1} % (at most {FLAGGED_PERCENT} %: {})",
        met(served >= SERVED_PERCENT),
        met(flagged <= FLAGGED_PERCENT)
    );
}

/// Prints each unserved snippet with its reason by name. Returns whether any has no reason.
pub fn unexplained_by_name(ends: &[(&Snippet, End)], reasons: &str) -> bool {
    let reasons: BTreeMap<String, String> = toml::from_str(reasons).unwrap();
    let mut unexplained = false;
    for (one, end) in ends.iter().filter(|(_, end)| !end.refusals().is_empty()) {
        let reason = reasons.get(&one.name);
        unexplained |= reason.is_none();
        println!(
            "{}: {end:?}\n    {}",
            one.name,
            reason.map_or("NO REASON", String::as_str)
        );
    }
    unexplained
}

/// A class of refusals: those by one rule whose message contains one of the words.
#[derive(serde::Deserialize)]
struct Class {
    rule: String,
    about: Vec<String>,
    /// Limits the class to examples whose names start with one of these; empty means all.
    #[serde(default)]
    of: Vec<String>,
    reason: String,
}

impl Class {
    fn explains(&self, rule: &str, message: &str, names: &[&str]) -> bool {
        let of = |name: &str| self.of.is_empty() || self.of.iter().any(|one| name.starts_with(one));
        self.rule == rule
            && self.about.iter().any(|word| message.contains(word))
            && names.iter().all(|name| of(name))
    }
}

#[derive(serde::Deserialize)]
struct Classes {
    #[serde(default)]
    class: Vec<Class>,
}

/// Prints how often each message occurred, with its class's reason. Returns whether any has no
/// reason.
pub fn unexplained_by_class(ends: &[(&Snippet, End)], reasons: &str) -> bool {
    let classes: Classes = toml::from_str(reasons).unwrap();
    let mut grouped: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    let mut flagged: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    for (one, end) in ends {
        let group = |alarms: Vec<Alarm>, into: &mut BTreeMap<(String, String), Vec<_>>| {
            for Alarm { rule, message } in alarms {
                let names = into.entry((rule, message)).or_default();
                if names.last() != Some(&one.name.as_str()) {
                    names.push(one.name.as_str());
                }
            }
        };
        group(end.refusals(), &mut grouped);
        if let End::Served { flagged: alarms } = end {
            group(alarms.clone(), &mut flagged);
        }
    }
    let mut unexplained = false;
    for (title, groups) in [("not served", &grouped), ("flagged", &flagged)] {
        println!("\n{title}, by what was said:");
        let mut groups: Vec<_> = groups.iter().collect();
        groups.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
        for ((rule, message), names) in groups {
            println!("{:>5}  {rule} {message} ({})", names.len(), names[0]);
            if title == "flagged" {
                continue;
            }
            let mut classes = classes.class.iter();
            let class = classes.find(|class| class.explains(rule, message, names));
            unexplained |= class.is_none();
            println!(
                "       {}",
                class.map_or("NO REASON", |class| class.reason.as_str())
            );
        }
    }
    unexplained
}
