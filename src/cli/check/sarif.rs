//! SARIF 2.1.0 (OASIS), for code-scanning services.

use serde_json::{Value, json};

use super::Checked;
use crate::analysis::rules::{self, Rule};
use crate::model::{Action, Severity};

/// The log of one run.
pub(super) fn log(results: Vec<Value>) -> Value {
    let rules: Vec<Value> = rules::all().map(descriptor).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "countersign",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn descriptor(rule: &Rule) -> Value {
    // The form that code-scanning services know: at least three digits.
    let cwe = rule.cwe.iter().map(|n| format!("external/cwe/cwe-{n:03}"));
    let tags: Vec<String> = std::iter::once("security".to_owned()).chain(cwe).collect();
    json!({
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.message},
        "help": {"text": format!("{}. Example: {}", rule.hint, rule.example)},
        "defaultConfiguration": {"level": level(rule.default_action())},
        "properties": {"tags": tags, "security-severity": score(rule.severity)},
    })
}

/// The findings of one file.
pub(super) fn results(checked: &Checked) -> Vec<Value> {
    checked
        .verdict
        .findings
        .iter()
        .map(|f| {
            let index = rules::all().position(|r| r.code == f.rule);
            let mut region = json!({
                "startLine": f.line,
                "startColumn": f.column,
                "endLine": f.end_line,
                "endColumn": f.end_column,
            });
            // An empty region at the very start has no columns.
            if (f.line, f.column) == (f.end_line, f.end_column)
                && let Some(region) = region.as_object_mut()
            {
                region.remove("endColumn");
            }
            let mut result = json!({
                "ruleId": f.rule,
                "level": level(f.action),
                "message": {"text": format!("{} ({})", f.message, f.hint)},
                "locations": [{"physicalLocation": {
                    "artifactLocation": {"uri": uri(&checked.path)},
                    "region": region,
                }}],
                "properties": {
                    "action": f.action,
                    "verdict": checked.verdict.verdict,
                    "capability": f.capability,
                },
            });
            if let (Some(index), Some(result)) = (index, result.as_object_mut()) {
                result.insert("ruleIndex".to_owned(), index.into());
            }
            result
        })
        .collect()
}

fn level(action: Action) -> &'static str {
    match action {
        Action::Block => "error",
        Action::Flag => "warning",
        Action::Note => "note",
    }
}

/// The scale from 0 to 10 by which code-scanning services sort.
fn score(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "9.5",
        Severity::High => "8.0",
        Severity::Medium => "5.5",
        Severity::Low => "2.5",
        Severity::Info => "0.0",
    }
}

/// A path as a URI reference (RFC 3986).
fn uri(path: &str) -> String {
    use std::fmt::Write as _;
    let path = if path == "-" { "stdin" } else { path };
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
