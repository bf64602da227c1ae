//! `countersign check` as a person or a script sees it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn check(dir: &Path, args: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .arg("--policy-dir")
        .arg(dir.join("policies"))
        .arg("check")
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(stdin).unwrap();
    child.wait_with_output().unwrap()
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("src/deep")).unwrap();
    fs::write(dir.path().join("src/b.py"), "import subprocess\n").unwrap();
    fs::write(dir.path().join("src/a.py"), "print(1)\n").unwrap();
    fs::write(dir.path().join("src/deep/c.py"), "df.to_csv(name)\n").unwrap();
    fs::write(dir.path().join("src/d.py"), b"x = '\xff'\n").unwrap();
    fs::write(dir.path().join("src/no.txt"), "eval").unwrap();
    dir
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_folder_is_walked_in_path_order_and_invalid_utf8_is_unanalyzable() {
    let dir = folder();
    let output = check(dir.path(), &["--format", "jsonl", "src"], b"");
    assert_eq!(output.status.code(), Some(1));
    let seen: Vec<(String, String)> = text(&output)
        .lines()
        .map(|line| {
            let value: Value = serde_json::from_str(line).unwrap();
            let get = |key: &str| value[key].as_str().unwrap().to_owned();
            (get("path"), get("verdict"))
        })
        .collect();
    let expected = [
        ("src/a.py", "clear"),
        ("src/b.py", "blocked"),
        ("src/d.py", "unanalyzable"),
        ("src/deep/c.py", "flagged"),
    ];
    assert_eq!(
        seen,
        expected.map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec()
    );
    let output = check(dir.path(), &["--format", "json", "src"], b"");
    let array: Value = serde_json::from_str(&text(&output)).unwrap();
    assert_eq!(array.as_array().unwrap().len(), 4);
    assert_eq!(array[1]["findings"][0]["rule"], "IMPORT001");
    assert_eq!(array[2]["source"]["bytes"], 8);
}

#[test]
fn exit_codes_are_0_1_and_2() {
    let dir = folder();
    let code = |args: &[&str], stdin: &[u8]| check(dir.path(), args, stdin).status.code();
    assert_eq!(code(&["-"], b"print(1)\n"), Some(0));
    assert_eq!(code(&["src/deep/c.py"], b""), Some(0));
    assert_eq!(code(&["--strict", "src/deep/c.py"], b""), Some(1));
    assert_eq!(code(&["--strict", "src/a.py"], b""), Some(0));
    assert_eq!(code(&["-"], b"import subprocess"), Some(1));
    assert_eq!(code(&["-"], b"("), Some(1));
    assert_eq!(code(&["absent.py"], b""), Some(2));
    assert_eq!(code(&[], b""), Some(2));
    assert_eq!(code(&["--profile", "analisis", "-"], b""), Some(2));
    assert_eq!(code(&["--format", "yaml", "-"], b""), Some(2));
}

#[test]
fn the_profile_decides_and_its_size_limit_applies() {
    let dir = folder();
    let output = check(
        dir.path(),
        &["--profile", "chart", "-"],
        b"import matplotlib\n",
    );
    assert_eq!(output.status.code(), Some(1));
    let output = check(
        dir.path(),
        &["--profile", "script", "-"],
        b"import subprocess\n",
    );
    assert_eq!(output.status.code(), Some(0));
    fs::create_dir(dir.path().join("policies")).unwrap();
    fs::write(
        dir.path().join("policies/short.toml"),
        "name = \"short\"\nextends = \"analysis\"\n[limits]\ncode_bytes = 10\n",
    )
    .unwrap();
    let long = check(
        dir.path(),
        &["--profile", "short", "-"],
        b"print('a longer one')\n",
    );
    assert!(text(&long).contains("PARSE002") && long.status.code() == Some(1));
    assert_eq!(
        check(dir.path(), &["--profile", "short", "-"], b"x = 1\n")
            .status
            .code(),
        Some(0)
    );
}

/// If the policy is stricter than the rule, the rule's own hint would be wrong.
#[test]
fn a_finding_that_the_policy_makes_a_block_says_so() {
    let dir = folder();
    let policies = dir.path().join("policies");
    std::fs::create_dir(&policies).unwrap();
    std::fs::write(
        policies.join("reading.toml"),
        "name = \"reading\"\nextends = \"analysis\"\n[capabilities]\nFS_WRITE = \"block\"\n",
    )
    .unwrap();
    let code = b"import plotly.express as px\npx.bar(x=[1], y=[2]).write_json(\"a.json\")\n";
    let hint = |profile: &str| {
        let policies = policies.to_str().unwrap();
        let args = ["--policy-dir", policies, "--profile", profile, "-"];
        let out = text(&check(dir.path(), &args, code));
        let after = out.split_once("FS001").unwrap().1;
        let line = after
            .lines()
            .find(|line| line.trim_start().starts_with("= "));
        line.unwrap().trim().to_owned()
    };
    assert_eq!(hint("analysis"), "= nothing to do");
    assert_eq!(
        hint("reading"),
        "= leave it out: the policy does not allow FS_WRITE"
    );
    assert_eq!(
        hint("chart"),
        "= there are no files: print it, or put it into `result`"
    );
}

#[test]
fn text_shows_the_line_with_carets_and_nothing_raw() {
    let dir = folder();
    let code = "x = 1\ny = \"\u{1b}[2J\u{202e}\"; z = eval(\"1\")\n";
    let out = text(&check(dir.path(), &["-"], code.as_bytes()));
    assert!(out.contains("-:2:18: DYN001 [block] eval"), "{out}");
    assert!(out.contains("^^^^\n"), "{out}");
    assert!(out.contains('␛') && out.contains("\\u{202E}"), "{out}");
    assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}'));
    assert!(out.ends_with("-: blocked\n"), "{out}");
}

/// The text above each row of carets, cut to the screen columns that the carets mark.
fn marked_texts(out: &str) -> Vec<String> {
    let lines: Vec<&str> = out.lines().collect();
    let carets = lines.iter().enumerate().filter(|(_, l)| l.ends_with('^'));
    carets
        .map(|(i, carets)| {
            let from = carets.find('^').unwrap();
            let (mut column, mut under) = (0, String::new());
            for c in lines[i - 1].chars() {
                if (from..carets.len()).contains(&column) {
                    under.push(c);
                }
                column += unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
            }
            under
        })
        .collect()
}

#[test]
fn carets_stand_under_the_finding_whatever_stands_before_it() {
    let dir = folder();
    let code = format!(
        "y = '漢字'; z = eval('1')\nif y:\n\tw = eval('2')\n\té = ['👍', eval]\nv = {}eval('3'){}\n",
        "1 + ".repeat(60),
        " + 2".repeat(60)
    );
    let out = text(&check(dir.path(), &["-"], code.as_bytes()));
    assert_eq!(
        marked_texts(&out),
        ["eval", "eval", "eval", "eval"],
        "{out}"
    );
    let long = out.lines().find(|l| l.starts_with("    5 |")).unwrap();
    assert!(
        long.starts_with("    5 | …") && long.ends_with('…'),
        "{long}"
    );
    assert!(long.chars().count() < 115, "{long}");
}

#[test]
fn rules_are_listed_and_explained() {
    let dir = folder();
    let out = text(&check(dir.path(), &["--list-rules"], b""));
    for family in [
        "PARSE", "IMPORT", "BUILTIN", "ATTR", "DYN", "FMT", "FS", "NET", "EXEC", "DESER", "REFL",
        "NATIVE", "DOS", "TEXT", "DATA", "NODE",
    ] {
        assert!(
            out.lines().any(|l| l.starts_with(&format!("{family}0"))),
            "{family}"
        );
    }
    let output = check(dir.path(), &["--explain", "fs003"], b"");
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output).contains("CWE-22"));
    let output = check(dir.path(), &["--explain", "FS999"], b"");
    assert_eq!(output.status.code(), Some(2));
    let rules: Value = serde_json::from_str(&text(&check(
        dir.path(),
        &["--list-rules", "--format", "json"],
        b"",
    )))
    .unwrap();
    assert_eq!(rules.as_array().unwrap().len(), out.lines().count());
}

#[test]
fn sarif_names_tool_rules_places_and_levels() {
    let dir = folder();
    let output = check(dir.path(), &["--format", "sarif", "src"], b"");
    assert_eq!(output.status.code(), Some(1));
    let log: Value = serde_json::from_str(&text(&output)).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "countersign");
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    assert!(!results.is_empty());
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert!(region["startLine"].as_u64().unwrap() >= 1);
        assert!(region["startColumn"].as_u64().unwrap() >= 1);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
    }
    assert_eq!(
        results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
        "src/b.py"
    );
}

/// Checks that a log satisfies the standard's own schema, including formats such as URI references.
fn assert_sarif(output: &Output) -> Value {
    // Errata 01 fixes a pattern with an extra bracket.
    let schema = include_str!("../data/sarif-schema-2.1.0.json").replace(
        "^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$",
        "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$",
    );
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let schema = jsonschema::options()
        .should_validate_formats(true)
        .build(&schema)
        .unwrap();
    let log: Value = serde_json::from_str(&text(output)).unwrap();
    let faults: Vec<String> = schema
        .iter_errors(&log)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let results = log["runs"][0]["results"].as_array().unwrap();
    // A requirement that errata 01 adds to the schema.
    for result in results {
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert!(region["startLine"].is_u64(), "{result}");
    }
    log
}

#[test]
fn sarif_satisfies_the_schema_of_the_standard() {
    let dir = folder();
    assert_sarif(&check(
        dir.path(),
        &["--list-rules", "--format", "sarif"],
        b"",
    ));
    assert_sarif(&check(
        dir.path(),
        &["--format", "sarif", "-"],
        b"print(1)\n",
    ));
    assert_sarif(&check(dir.path(), &["--format", "sarif", "-"], b"\xff"));
    // All attacks, in files whose names need escaping in a URI.
    let rows = concat!(
        include_str!("../data/attacks.jsonl"),
        include_str!("../data/more.jsonl")
    );
    let odd = dir.path().join("odd #1: 100% é\u{202e}?");
    fs::create_dir(&odd).unwrap();
    for (i, line) in rows.lines().filter(|l| !l.trim().is_empty()).enumerate() {
        let row: Value = serde_json::from_str(line).unwrap();
        fs::write(
            odd.join(format!("{i:04} [x].py")),
            row["code"].as_str().unwrap(),
        )
        .unwrap();
    }
    let log = assert_sarif(&check(dir.path(), &["--format", "sarif", "."], b""));
    let results = log["runs"][0]["results"].as_array().unwrap();
    let rules: std::collections::BTreeSet<&str> = results
        .iter()
        .map(|r| r["ruleId"].as_str().unwrap())
        .collect();
    assert!(rules.len() > 60, "{} rules have a result", rules.len());
    let uri = results
        .iter()
        .map(|r| &r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
        .find(|uri| uri.as_str().unwrap().contains("odd"))
        .unwrap();
    assert!(
        uri.as_str()
            .unwrap()
            .starts_with("./odd%20%231%3A%20100%25%20%C3%A9%E2%80%AE%3F/"),
        "{uri}"
    );
}

#[test]
fn an_unreadable_file_is_unanalyzable() {
    let dir = folder();
    let loop_path = dir.path().join("src/loop.py");
    std::os::unix::fs::symlink(&loop_path, &loop_path).unwrap();
    // Links named or found in a folder, broken or not, circular or not.
    std::os::unix::fs::symlink("..", dir.path().join("src/up")).unwrap();
    std::os::unix::fs::symlink("a.py", dir.path().join("src/link.py")).unwrap();
    for path in ["src/loop.py", "src"] {
        let output = check(dir.path(), &[path], b"");
        assert_eq!(output.status.code(), Some(1));
        let out = text(&output);
        assert!(out.contains("cannot be read"), "{out}");
        assert!(out.ends_with("src/loop.py: unanalyzable\n"), "{out}");
        assert_eq!(out.contains("src/link.py: clear"), path == "src", "{out}");
    }
}
