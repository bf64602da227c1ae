//! The rules as a readable page: generates `assets/rules.md`.

use std::fmt::Write as _;

use super::{Rule, all};

/// The page, generated from the table. `tests/it/rules.rs` checks that `assets/rules.md` is
/// current.
pub fn document() -> String {
    let mut out = String::from(
        "# Rules\n\n\
         What `countersign check` and the dashboard can find in a snippet. Made from the table in\n\
         `src/analysis/rules`; `countersign check --explain CODE` prints one of them. The action is\n\
         what a rule does where no policy says otherwise: where it has a capability, the policy's\n\
         `[capabilities]` may decide.\n",
    );
    let mut family = "";
    for rule in all() {
        let digits = rule.code.len().saturating_sub(3);
        let of = rule.code.get(..digits).unwrap_or(rule.code);
        if of != family {
            family = of;
            // Writing to a String cannot fail.
            let _ = write!(out, "\n## {of}\n");
        }
        entry(rule, &mut out);
    }
    out
}

fn entry(rule: &Rule, out: &mut String) {
    let weakness: Vec<String> = rule.cwe.iter().map(|n| format!("CWE-{n}")).collect();
    let mut facts = vec![
        rule.severity.to_string(),
        rule.default_action().as_str().to_owned(),
    ];
    facts.extend(rule.capability.map(|c| c.as_str().to_owned()));
    facts.extend(weakness);
    let _ = write!(
        out,
        "\n### {} {}\n\n{}\n\n- {}\n- example: `{}`\n- instead: {}\n",
        rule.code,
        rule.name,
        capitalised(rule.message),
        facts.join(" · "),
        rule.example.replace('\n', " ⏎ "),
        rule.hint,
    );
}

/// A message as a sentence.
fn capitalised(message: &str) -> String {
    let mut chars = message.chars();
    let first = chars.next().map(|c| c.to_uppercase().collect::<String>());
    format!("{}{}.", first.unwrap_or_default(), chars.as_str())
}
