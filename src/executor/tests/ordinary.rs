//! Everyday code of agents (`tests/data/ordinary`): analysed, run, and compared with plain Python
//! in the same environment. Code that works there and has no effect outside the run must work here.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use super::{TIER, run_spec};
use crate::analysis::analyse_in;
use crate::executor::spec::RunSpec;
use crate::executor::tests::bench::*;
use crate::model::{Installed, Setting, Tier, VerdictKind};
use crate::policy::{Policy, is_given};

/// Starts the first line of a snippet, which names the files that it leaves.
const LEAVES: &str = "# leaves: ";
/// Starts a line with expected output, if plain Python outside a notebook cannot run the snippet.
const PRINTS: &str = "# prints: ";

fn snippets() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/ordinary");
    let mut found: Vec<(PathBuf, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
        .collect();
    found.sort();
    assert!(found.len() >= 20);
    found
}

/// Marks a snippet that a person has to review because of a file name that cannot be followed.
const FLAGGED: &str = "# flagged";

/// The output of plain Python for each snippet, once.
static PLAIN: LazyLock<Mutex<HashMap<String, Arc<OnceLock<String>>>>> =
    LazyLock::new(Mutex::default);

fn plain_output(code: &str) -> String {
    let known = PLAIN
        .lock()
        .unwrap()
        .entry(code.to_owned())
        .or_default()
        .clone();
    known.get_or_init(|| plain_run(code)).clone()
}

/// The output of plain Python for the code, run in its own folder.
fn plain_run(code: &str) -> String {
    let expected = code.lines().filter_map(|line| line.strip_prefix(PRINTS));
    let expected: String = expected.map(|line| format!("{line}\n")).collect();
    if !expected.is_empty() {
        return expected;
    }
    let env = pandas();
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(&env.executable)
        .env_clear()
        .env("PYTHONPATH", std::env::join_paths(&env.sys_path).unwrap())
        .env("MPLBACKEND", "Agg")
        .env("PATH", "/usr/bin:/bin")
        .env("PLOTLY_RENDERER", "json")
        .args(["-B", "-W", "ignore", "-c", code])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{code}\n{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The error if the code does not work as expected.
fn check_served(code: &str, policy: &Policy) -> Result<(), String> {
    let at = |tier| Policy {
        tier,
        ..policy.clone()
    };
    // In a tier without a jail no verdict is clear. No input is bound and the installed modules are
    // known, so working code must not be reported as failing.
    let env = pandas();
    let tops = policy
        .imports
        .keys()
        .filter_map(|path| path.split('.').next());
    let setting = Setting {
        tier: Some(Tier::Kernel),
        inputs: Some(BTreeSet::new()),
        python: Some(Installed {
            version: (env.version.0, env.version.1),
            missing: env.lacking(tops.filter(|top| !is_given(top))),
            present: env.tops(),
            releases: env.distributions.iter().cloned().collect(),
        }),
        ..Setting::default()
    };
    let verdict = analyse_in(code.as_bytes(), &at(Tier::Kernel), &setting);
    let expected = match code.lines().any(|line| line == FLAGGED) {
        true => VerdictKind::Flagged,
        false => VerdictKind::Clear,
    };
    if verdict.verdict != expected {
        return Err(format!("{verdict:?}"));
    }
    let outcome = run_spec(RunSpec {
        env: pandas(),
        ..spec(code, at(TIER))
    });
    let run = outcome.run();
    let expected = plain_output(code);
    if run.error.is_some() || run.stdout != expected {
        return Err(format!("{run:#?}\nexpected {expected}"));
    }
    let names: Vec<&str> = run.artifacts.iter().map(|a| a.name.as_str()).collect();
    let first = code.lines().next().unwrap_or_default();
    let leaves = first.strip_prefix(LEAVES).unwrap_or_default();
    if names != leaves.split_whitespace().collect::<Vec<_>>() {
        return Err(format!("leaves {names:?}"));
    }
    Ok(())
}

#[test]
fn code_that_works_under_plain_python_and_stays_in_the_run_is_served() {
    if !available(TIER) {
        return;
    }
    let policy = profile("analysis");
    let failures: Vec<String> = snippets()
        .iter()
        .filter_map(|(path, code)| {
            let error = check_served(code, &policy).err()?;
            Some(format!("{}: {error}", path.display()))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// A name that the analyser blocks must end a run, and an unreported name must not
/// (`tests/data/filenames.jsonl`; `tests/it/setting.rs` judges the same rows).
#[test]
fn a_file_name_fails_in_a_run_exactly_where_the_analyser_says_so() {
    if !available(TIER) {
        return;
    }
    // Uses one run for all rows, because a start takes longer than they do.
    let rows = include_str!("../../../tests/data/filenames.jsonl").lines();
    let mut code = "df = pd.DataFrame({'a': [1], 'b': [2]})\n".to_owned();
    let mut expected = Vec::new();
    for line in rows {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let result = match row["action"].as_str() {
            Some("block") => "PermissionError",
            None => "nothing",
            Some(_) => continue,
        };
        let snippet = row["code"].as_str().unwrap().replace('\n', "\n    ");
        code += &format!(
            "def row():\n    {snippet}\ntry:\n    row()\nexcept Exception as e:\n    \
             print('>', type(e).__name__)\nelse:\n    print('> nothing')\n"
        );
        expected.push((snippet, format!("> {result}")));
    }
    let policy = Policy {
        tier: TIER,
        ..profile("analysis")
    };
    let outcome = run_spec(RunSpec {
        env: pandas(),
        ..spec(&code, policy)
    });
    let run = outcome.run();
    let results: Vec<&str> = run.stdout.lines().filter(|l| l.starts_with('>')).collect();
    assert_eq!(results.len(), expected.len(), "{run:?}");
    let rows = results.iter().zip(&expected);
    let failures: Vec<_> = rows
        .filter(|(result, (_, expected))| *result != expected)
        .collect();
    assert!(failures.is_empty(), "{failures:#?}");
}
