//! The rules' page and examples match the table.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use countersign::analysis::{analyse, rules};
use countersign::policy::builtin;

/// `CS_WRITE_RULES=1 cargo test --test it rules` regenerates the page.
#[test]
fn the_page_of_the_rules_matches_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/rules.md");
    let expected = rules::document();
    if std::env::var_os("CS_WRITE_RULES").is_some_and(|v| !v.is_empty()) {
        std::fs::write(&path, &expected).unwrap();
    }
    let current = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        current == expected,
        "assets/rules.md is not current: CS_WRITE_RULES=1 cargo test --test it rules"
    );
}

/// Every example shown for a rule triggers that rule.
#[test]
fn every_example_triggers_its_rule() {
    let policies = builtin().unwrap();
    // Rules whose examples would be too long, or that no code under a built-in policy can trigger.
    let elsewhere = [
        "PARSE002",
        "PARSE003",
        "PARSE004",
        "PARSE005",
        "DATA001",
        "DATA002",
        "TEXT010",
        "IMPORT011",
        // Depend on facts about a run (`tests/it/setting.rs`).
        "RUN001",
        "RUN003",
        "RUN004",
        // Depend on the columns of inputs (`tests/it/columns.rs`).
        "RUN005",
        "RUN006",
        "RUN007",
        "TIER001",
    ];
    let mut failures = Vec::new();
    for rule in rules::all().filter(|r| !elsewhere.contains(&r.code)) {
        let triggered = policies.iter().any(|policy| {
            let verdict = analyse(rule.example.as_bytes(), policy);
            verdict.findings.iter().any(|f| f.rule == rule.code)
        });
        if !triggered {
            failures.push(format!("{}: {}", rule.code, rule.example));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
