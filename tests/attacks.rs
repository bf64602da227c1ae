//! The table of attacks and of honest code, each with the verdict it must get under a profile,
//! asked of the real worker process.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;
use std::sync::Mutex;

use countersign::analysis::Analyser;
use countersign::model::{Verdict, VerdictKind};
use countersign::policy::builtin;

#[derive(serde::Deserialize)]
struct Row {
    category: String,
    expect: String,
    code: String,
    #[serde(default)]
    why: String,
    #[serde(default)]
    profile: Option<String>,
}

fn analyser() -> Analyser {
    Analyser::new(
        PathBuf::from(env!("CARGO_BIN_EXE_countersign")),
        builtin().unwrap(),
    )
}

/// Whether a verdict is what a row asks for. What cannot be parsed is handled as blocked.
fn meets(expect: &str, verdict: &Verdict) -> bool {
    match expect {
        "clear" => verdict.verdict == VerdictKind::Clear,
        "flagged" => verdict.verdict == VerdictKind::Flagged,
        "blocked" => matches!(
            verdict.verdict,
            VerdictKind::Blocked | VerdictKind::Unanalyzable
        ),
        "unanalyzable" => verdict.verdict == VerdictKind::Unanalyzable,
        other => panic!("no such verdict: {other}"),
    }
}

fn run(table: &str) {
    let analyser = Mutex::new(analyser());
    let mut wrong = Vec::new();
    let mut rows = 0;
    for line in table.lines().filter(|l| !l.trim().is_empty()) {
        let row: Row = serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
        let profile = row.profile.as_deref().unwrap_or("analysis");
        let verdict = analyser
            .lock()
            .unwrap()
            .verdict(row.code.as_bytes(), profile);
        rows += 1;
        if !meets(&row.expect, &verdict) {
            let found: Vec<_> = verdict
                .findings
                .iter()
                .map(|f| format!("{} {} {}", f.rule, f.action.as_str(), f.message))
                .collect();
            wrong.push(format!(
                "[{}] {} instead of {} under {profile} ({})\n{}\n    {}",
                row.category,
                verdict.verdict,
                row.expect,
                row.why,
                row.code,
                found.join("\n    ")
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {rows} rows are wrong:\n\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

#[test]
fn every_attack_gets_its_verdict() {
    run(include_str!("data/attacks.jsonl"));
}

#[test]
fn every_further_row_gets_its_verdict() {
    run(include_str!("data/more.jsonl"));
}

#[test]
fn messages_hold_nothing_hidden_and_nothing_long() {
    let mut analyser = analyser();
    let long = "a".repeat(30_000);
    let chain = format!("import pandas as pd\npd.{long}.b\npd.{long}.c\nimport {long}\n");
    for code in [
        "x = \u{202e}",
        "\u{200b}",
        "import \u{2066}os",
        "\u{1b}[2J",
        &chain,
    ] {
        let verdict = analyser.verdict(code.as_bytes(), "analysis");
        assert!(!verdict.findings.is_empty());
        let texts = verdict.findings.iter().flat_map(|f| [&f.message, &f.hint]);
        for text in texts.chain(verdict.capabilities.iter().map(|c| &c.detail)) {
            assert!(text.chars().count() < 400, "{text}");
            assert!(
                !text.contains(['\u{202e}', '\u{200b}', '\u{2066}', '\u{1b}']),
                "{text:?}"
            );
        }
    }
}

/// The broker hands the client to another thread.
#[test]
fn the_client_can_be_sent() {
    fn is_send<T: Send>() {}
    is_send::<Analyser>();
}

#[test]
fn the_verdict_object_is_complete() {
    let code = "import pandas as pd\nδ = 1; pd.read_csv(\"/etc/passwd\")\n";
    let verdict = analyser().verdict(code.as_bytes(), "analysis");
    let json = serde_json::to_value(&verdict).unwrap();
    assert_eq!(json["verdict"], "blocked");
    assert_eq!(json["policy"]["profile"], "analysis");
    assert_eq!(json["policy"]["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(json["source"]["bytes"], code.len());
    assert_eq!(json["source"]["lines"], 2);
    let finding = &json["findings"][0];
    assert_eq!(finding["rule"], "FS003");
    assert_eq!(finding["action"], "block");
    // Columns are Unicode scalar values from 1, the end is exclusive.
    assert_eq!(
        (finding["line"].as_u64(), finding["column"].as_u64()),
        (Some(2), Some(8))
    );
    assert_eq!(finding["end_column"], 34);
    assert_eq!(finding["capability"], "FS_READ");
    assert!(finding["hint"].as_str().unwrap().contains("output folder"));
    assert_eq!(json["capabilities"][0]["capability"], "FS_READ");
    assert_eq!(json["capabilities"][0]["lines"][0], 2);
}
