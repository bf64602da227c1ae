//! Code that CPython's compiler refuses is refused before a person sees it, and no other code is:
//! compared with every Python of this machine.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use common::interpreters::interpreters;
use common::python::managed_env;
use countersign::analysis::analyse;
use countersign::model::VerdictKind;
use countersign::policy::{Policy, builtin};

#[derive(serde::Deserialize)]
struct Row {
    code: String,
    #[serde(default)]
    refused: bool,
}

fn rows(file: &str) -> Vec<Row> {
    file.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Every Python of this machine, and the one that runs snippets.
fn pythons() -> Vec<PathBuf> {
    let mut found = interpreters();
    let managed = managed_env().executable;
    if !found.contains(&managed) {
        found.push(managed);
    }
    found
}

/// The error message of a Python for each code, if any.
fn compiled(python: &Path, codes: &[String]) -> Vec<Option<String>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runner/compiles.py");
    let mut child = Command::new(python)
        .args(["-I", "-B"])
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    to.write_all(serde_json::to_string(codes).unwrap().as_bytes())
        .unwrap();
    drop(to);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", python.display());
    let stdout: Vec<_> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(stdout.len(), codes.len());
    stdout
}

fn policy(name: &str) -> Arc<Policy> {
    let mut policies = builtin().unwrap().into_iter();
    policies.find(|p| p.name == name).unwrap()
}

/// Why the analyser rejects the code as not Python, if it does.
fn refusal(code: &str, policy: &Policy) -> Option<String> {
    let verdict = analyse(code.as_bytes(), policy);
    (verdict.verdict == VerdictKind::Unanalyzable).then(|| {
        let mut syntax = verdict.findings.into_iter();
        let first = syntax.find(|f| matches!(f.rule.as_str(), "PARSE001" | "PARSE006"));
        first.expect("a syntax rule matched").message
    })
}

/// Code to put around a row, in place of `#`, which may change the row's result.
const AROUND: &[&str] = &[
    "def f():\n    #",
    "def f(x):\n    yield\n    #",
    "async def f():\n    #",
    "async def f(x):\n    yield\n    #",
    "class A:\n    #",
    "class A:\n    async def f(self):\n        #",
    "async def f():\n    class A:\n        #",
    "def f():\n    x = 1\n    def g():\n        global x\n        def h():\n            #",
    "def f():\n    x = y = 1\n    class A:\n        def g(self):\n            #",
    "for i in j:\n    #",
    "while i:\n    pass\nelse:\n    #",
    "def f():\n    for i in j:\n        try:\n            pass\n        except* E:\n            #",
    "try:\n    pass\nexcept* E:\n    while i:\n        with j:\n            #",
    "if 0:\n    #",
    "'doc'\n#",
    "from __future__ import annotations\n#",
    "from __future__ import annotations\nasync def f():\n    #",
];

fn disagreements(codes: &[String], policy: &Policy) -> Vec<String> {
    let ours: Vec<_> = codes.iter().map(|code| refusal(code, policy)).collect();
    let theirs: Vec<_> = pythons()
        .iter()
        .map(|python| compiled(python, codes))
        .collect();
    let mut failures = Vec::new();
    for (i, (code, ours)) in codes.iter().zip(&ours).enumerate() {
        let every: Option<Vec<_>> = theirs.iter().map(|messages| messages[i].as_ref()).collect();
        match (ours, every) {
            (Some(why), None) => failures.push(format!("refused ({why}): {code:?}")),
            (None, Some(why)) => failures.push(format!("not refused ({why:?}): {code:?}")),
            (Some(_), Some(_)) | (None, None) => {}
        }
    }
    failures
}

#[test]
fn every_python_and_the_analyser_say_the_same_of_each_row() {
    let rows = rows(include_str!("../data/syntax.jsonl"));
    assert!(rows.len() >= 150);
    let policies = builtin().unwrap();
    let mut failures = Vec::new();
    for row in &rows {
        for policy in &policies {
            let why = refusal(&row.code, policy);
            if why.is_some() != row.refused {
                failures.push(format!("{}: {:?}: {why:?}", policy.name, row.code));
            }
        }
    }
    let codes: Vec<_> = rows.iter().map(|row| row.code.clone()).collect();
    for python in pythons() {
        for (row, why) in rows.iter().zip(compiled(&python, &codes)) {
            if why.is_some() != row.refused {
                failures.push(format!("{}: {:?}: {why:?}", python.display(), row.code));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{}:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn each_row_in_each_place_is_refused_where_every_python_refuses_it() {
    let mut codes = Vec::new();
    for row in rows(include_str!("../data/syntax.jsonl")) {
        for around in AROUND {
            let indent = around.rsplit('\n').next().unwrap().trim_end_matches('#');
            // The compiler of Python 3.11 crashes on this in an `except*` handler.
            if row.code.contains("as __debug__: pass") && around.contains("except*") {
                continue;
            }
            let inside = row.code.replace('\n', &format!("\n{indent}"));
            codes.push(around.replacen('#', &inside, 1));
        }
    }
    let failures = disagreements(&codes, &policy("script"));
    assert!(
        failures.is_empty(),
        "{}:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn code_that_people_write_is_not_refused() {
    let lists = [
        include_str!("../data/attacks.jsonl"),
        include_str!("../data/more.jsonl"),
        include_str!("../data/hunt.jsonl"),
        include_str!("../data/precision.jsonl"),
    ];
    let mut codes: Vec<String> = lists.iter().flat_map(|l| rows(l)).map(|r| r.code).collect();
    let ordinary = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/ordinary");
    for entry in std::fs::read_dir(ordinary).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "py") {
            codes.push(std::fs::read_to_string(path).unwrap());
        }
    }
    assert!(codes.len() > 1000, "{}", codes.len());
    let policy = policy("analysis");
    let pythons: Vec<_> = pythons().iter().map(|p| compiled(p, &codes)).collect();
    let mut failures = Vec::new();
    for (i, code) in codes.iter().enumerate() {
        let verdict = analyse(code.as_bytes(), &policy);
        let refused = verdict.findings.iter().find(|f| f.rule == "PARSE006");
        if let Some(why) = refused
            && pythons.iter().any(|messages| messages[i].is_none())
        {
            failures.push(format!("{}: {code:?}", why.message));
        }
    }
    assert!(
        failures.is_empty(),
        "{}:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
