//! The tables of attacks and of honest code: the real worker process must give each row its verdict
//! under its profile.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::asking;

use std::collections::BTreeSet;
use std::path::PathBuf;

use asking::judge;
use countersign::analysis::Analyser;
use countersign::model::{CapabilityUse, Verdict, VerdictKind};
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
    /// Uses of capabilities that the verdict must name: `FS_READ 2,3 pandas.read_csv, …`.
    #[serde(default)]
    says: Vec<String>,
}

fn analyser() -> Analyser {
    Analyser::new(
        PathBuf::from(env!("CARGO_BIN_EXE_countersign")),
        builtin().unwrap(),
    )
}

/// Whether a verdict is the one a row expects. Code that cannot be parsed counts as blocked.
fn is_expected(expect: &str, verdict: &Verdict) -> bool {
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

/// Judges every row of a table and returns the codes of the rules that applied.
fn run(table: &str) -> BTreeSet<String> {
    let mut met = BTreeSet::new();
    let mut analyser = analyser();
    let mut failures = Vec::new();
    let mut rows = 0;
    for line in table.lines().filter(|l| !l.trim().is_empty()) {
        let row: Row = serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
        let profile = row.profile.as_deref().unwrap_or("analysis");
        let verdict = judge(&mut analyser, row.code.as_bytes(), profile);
        rows += 1;
        met.extend(verdict.findings.iter().map(|f| f.rule.clone()));
        let uses: Vec<String> = verdict.capabilities.iter().map(notation_of).collect();
        let missing_use = row.says.iter().find(|s| !uses.contains(s));
        if let Some(missing_use) = missing_use {
            failures.push(format!(
                "{}\n    does not say {missing_use}\n    but {uses:?}",
                row.code
            ));
        } else if !is_expected(&row.expect, &verdict) {
            let found: Vec<_> = verdict
                .findings
                .iter()
                .map(|f| format!("{} {} {}", f.rule, f.action.as_str(), f.message))
                .collect();
            failures.push(format!(
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
        failures.is_empty(),
        "{} of {rows} rows are wrong:\n\n{}",
        failures.len(),
        failures.join("\n\n")
    );
    met
}

/// A use of a capability, in the notation of the rows.
fn notation_of(used: &CapabilityUse) -> String {
    let lines: Vec<String> = used.lines.iter().map(u32::to_string).collect();
    format!("{} {} {}", used.capability, lines.join(","), used.detail)
}

#[test]
fn every_attack_gets_its_verdict() {
    run(include_str!("../data/attacks.jsonl"));
}

#[test]
fn every_further_row_gets_its_verdict() {
    run(include_str!("../data/more.jsonl"));
}

/// Rows that once got past the verdict. `executor/reaching_tests.rs` runs the same rows to see
/// which of them the guard stops.
#[test]
fn every_row_that_reached_further_gets_its_verdict() {
    run(include_str!("../data/reaching.jsonl"));
}

/// Former false alarms on other people's code, each with the attack that must still be refused.
#[test]
fn every_repaired_false_alarm_gets_its_verdict() {
    run(include_str!("../data/precision.jsonl"));
}

/// Rows found by attacking: entry points of the libraries, settings that name modules, sizes,
/// facts, and every profile. Together with the other rows they cover every rule that code can
/// trigger.
#[test]
fn every_row_of_the_hunt_gets_its_verdict_and_no_rule_is_left_out() {
    let mut met = run(include_str!("../data/hunt.jsonl"));
    met.extend(run(include_str!("../data/more.jsonl")));
    met.extend(run(include_str!("../data/attacks.jsonl")));
    // Not covered here: the analyser's own failures, and findings of policies that judge reads or
    // that were widened (`tests/it/policy/widening.rs`).
    let elsewhere = [
        "PARSE002",
        "PARSE003",
        "PARSE004",
        "PARSE005",
        "DATA001",
        "DATA002",
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
    let missing: Vec<&str> = countersign::analysis::rules::all()
        .map(|rule| rule.code)
        .filter(|code| !met.contains(*code) && !elsewhere.contains(code))
        .collect();
    assert!(missing.is_empty(), "no row meets {missing:?}");
}

#[test]
fn messages_contain_nothing_hidden_and_nothing_long() {
    let mut analyser = analyser();
    let long = "a".repeat(30_000);
    let chain = format!("import pandas as pd\npd.{long}.b\npd.{long}.c\nimport {long}\n");
    for code in [
        "x = \u{202e}",
        "\u{200b}",
        "import \u{2066}os",
        "\u{1b}[2J",
        // Found by fuzzing: a column with an empty name gave an empty detail.
        "__builtins__[\"\"]",
        "df[\"\\x1b\"] = df[\" \"] + eval(x)",
        &chain,
    ] {
        let verdict = analyser.verdict(code.as_bytes(), "analysis");
        assert!(!verdict.findings.is_empty());
        let texts = verdict.findings.iter().flat_map(|f| [&f.message, &f.hint]);
        for text in texts.chain(verdict.capabilities.iter().map(|c| &c.detail)) {
            assert!(!text.trim().is_empty(), "{code}");
            assert!(text.chars().count() < 400, "{text}");
            assert!(
                !text.contains(['\u{202e}', '\u{200b}', '\u{2066}', '\u{1b}']),
                "{text:?}"
            );
        }
    }
}

/// The broker moves the client to another thread, so the client must be `Send`.
#[test]
fn the_client_can_be_sent() {
    fn is_send<T: Send>() {}
    is_send::<Analyser>();
}

#[test]
fn the_verdict_object_is_complete() {
    let code = "import pandas as pd\nδ = 1; pd.read_csv(\"/etc/passwd\")\n";
    let verdict = judge(&mut analyser(), code.as_bytes(), "analysis");
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

/// With a policy that restricts which columns are touched, every use is a finding.
#[test]
fn a_policy_may_flag_reads_and_block_writes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("columns.toml");
    let text = "name = \"columns\"\nextends = \"analysis\"\n\
                [capabilities]\nDATA_READ = \"flag\"\nDATA_WRITE = \"block\"\n";
    std::fs::write(&file, text).unwrap();
    let places = countersign::policy::Places {
        admin: folder.path().join("no administrator"),
        user: folder.path().to_owned(),
    };
    let policy = countersign::policy::load_file(&file, &places).unwrap();
    let mut analyser = Analyser::new(
        PathBuf::from(env!("CARGO_BIN_EXE_countersign")),
        vec![policy],
    );
    let rows = [
        ("df[\"amount\"].sum()", VerdictKind::Flagged, "DATA001"),
        ("df.query(\"age > 30\")", VerdictKind::Flagged, "DATA001"),
        ("df[\"rate\"] = 1", VerdictKind::Blocked, "DATA002"),
        ("df.eval(\"rate = 1\")", VerdictKind::Blocked, "DATA002"),
    ];
    for (code, kind, rule) in rows {
        let verdict = judge(&mut analyser, code.as_bytes(), "columns");
        assert_eq!(verdict.verdict, kind, "{code}");
        assert!(verdict.findings.iter().any(|f| f.rule == rule), "{code}");
    }
    assert_eq!(
        judge(&mut analyser, b"print(len(df))", "columns").verdict,
        VerdictKind::Clear
    );
}
