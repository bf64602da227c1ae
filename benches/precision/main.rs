//! The share of honest code that is blocked or flagged: `cargo bench --bench precision`.
//!
//! The code is by other people: the docstring examples of the managed environment's libraries, and
//! the scripts of matplotlib's gallery. bandit reads the same examples in the same bench run. The
//! ten commonest rules, and every rule that alarms on a plain example, need a reason in
//! `reasons.toml`, or the bench fails. A plain example touches no file, network or private name and
//! needs nothing that is not installed; `touches.py` decides this independently of our rules.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../peers/mod.rs"]
mod peers;
#[path = "../../tests/common/python.rs"]
mod python;
mod reasons;
mod report;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use countersign::analysis::analyse;
use countersign::model::{Action, Verdict, VerdictKind};
use countersign::policy::builtin;

use peers::Peers;

const PACKAGES: [&str; 4] = ["numpy", "pandas", "matplotlib", "sklearn"];
const PROFILE: &str = "analysis";

/// A line of output from `examples.py`.
#[derive(serde::Deserialize)]
struct Line {
    #[serde(default)]
    set: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    code: String,
    /// Any of `file`, `network`, `private`, `absent`, `machine`.
    #[serde(default)]
    touches: Vec<String>,
    left_out: Option<usize>,
}

/// An example with its verdicts.
pub struct Example {
    pub set: String,
    pub name: String,
    pub code: String,
    /// Whether it touches no file, network or private name, and needs nothing that is not
    /// installed.
    pub plain: bool,
    /// Whether it is plain and also uses nothing of the machine: interpreter, memory, programs.
    pub pure: bool,
    pub verdict: Verdict,
    /// bandit's tests that matched, with their severities.
    pub bandit: Vec<(String, String)>,
}

impl Example {
    pub fn blocked(&self) -> bool {
        self.verdict.verdict >= VerdictKind::Blocked
    }

    pub fn flagged(&self) -> bool {
        self.verdict.verdict == VerdictKind::Flagged
    }

    /// The rules that block or flag the example, each with its first message.
    pub fn alarms(&self) -> Vec<(&str, &str)> {
        let mut alarms: Vec<(&str, &str)> = Vec::new();
        for finding in &self.verdict.findings {
            let known = alarms.iter().any(|(rule, _)| *rule == finding.rule);
            if finding.action != Action::Note && !known {
                alarms.push((&finding.rule, &finding.message));
            }
        }
        alarms
    }
}

fn main() -> ExitCode {
    python::ready();
    let env = python::managed_env();
    let peers = Peers::ready(&env);
    let version = |name: &str| {
        let found = env.distributions.iter().find(|(n, _)| n == name);
        found.map(|(_, v)| v.clone()).unwrap()
    };
    let archive = peers.source("matplotlib", &version("matplotlib"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/precision/examples.py");
    let output = Command::new(env.prefix.join("bin/python"))
        .arg("-B")
        .arg(script)
        .args(PACKAGES)
        .arg("--gallery")
        .arg(archive)
        .env("MPLBACKEND", "agg")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "examples.py failed");
    let policies = builtin().unwrap();
    let policy = policies.iter().find(|p| p.name == PROFILE).unwrap();
    let mut examples = Vec::new();
    let mut left_out = 0;
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let line: Line = serde_json::from_str(line).unwrap();
        left_out += line.left_out.unwrap_or(0);
        if line.left_out.is_none() {
            examples.push(Example {
                verdict: analyse(line.code.as_bytes(), policy),
                plain: line.touches.iter().all(|t| t == "machine"),
                pure: line.touches.is_empty(),
                set: line.set,
                name: line.name,
                code: line.code,
                bandit: Vec::new(),
            });
        }
    }
    assert!(examples.len() > 3_000, "only {} examples", examples.len());
    ask_bandit(&peers, &mut examples);

    println!(
        "Precision under `{PROFILE}`: {} examples of numpy {}, pandas {}, matplotlib {} and scikit-learn {}\n\
         ({left_out} more are no Python and left out), beside bandit {}.\n",
        examples.len(),
        version("numpy"),
        version("pandas"),
        version("matplotlib"),
        version("scikit-learn"),
        Peers::version("bandit"),
    );
    report::shares(&examples);
    report::rules(&examples);
    report::bandit(&examples);
    report::aim(&examples);
    let unexplained = reasons::report(&examples);
    if unexplained.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("benches/precision/reasons.toml: {}", unexplained.join("; "));
    ExitCode::FAILURE
}

/// Runs bandit in one process over the same examples.
fn ask_bandit(peers: &Peers, examples: &mut [Example]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/bandit_issues.py");
    let mut child = Command::new(peers.python())
        .arg("-B")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let lines: Vec<String> = examples
        .iter()
        .map(|e| serde_json::json!({ "code": e.code }).to_string())
        .collect();
    let feed = std::thread::spawn(move || {
        for line in lines {
            writeln!(input, "{line}").unwrap();
        }
    });
    let output = child.wait_with_output().unwrap();
    feed.join().unwrap();
    assert!(output.status.success(), "bandit_issues.py failed");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), examples.len());
    for (example, line) in examples.iter_mut().zip(text.lines()) {
        example.bandit = serde_json::from_str(line).unwrap();
    }
}
