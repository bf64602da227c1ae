//! How much of what agents write is served: `cargo bench --bench served`.
//!
//! Each snippet of `snippets/` (named after its kind of task) is run under plain Python of the managed
//! environment first, in an empty folder. What succeeds there is proposed, granted by keys in a real
//! dashboard, and must print the same. Snippets were written without a look at what the guard does, and
//! none is taken out for not being served; where one is not, `reasons.toml` says why, or the bench fails.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../tests/common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use countersign::runtime::PythonEnv;
use serde_json::{Value, json};

use common::agent::Agent;
use common::dash::Dash;
use common::python;

const USAGE: &str = "\
cargo bench --bench served [-- PART]

Proposes every snippet of benches/served/snippets, or those whose name contains PART, and grants them.

  -h, --help   this text";

/// Why what is not served is not: by the snippet's name.
const REASONS: &str = include_str!("reasons.toml");

/// Of those that succeed under plain Python.
const SERVED_PERCENT: f64 = 99.0;
const FLAGGED_PERCENT: f64 = 2.0;

/// Tables are as wide as in a run: that is one of the few things which a run has otherwise by intent.
const WIDE: &str = "\
import runpy, sys, pandas
for name, value in {'width': 160, 'max_columns': 50, 'max_colwidth': 50, 'expand_frame_repr': False}.items():
    pandas.set_option('display.' + name, value)
runpy.run_path(sys.argv[1], run_name='__main__')
";

/// What became of a snippet.
#[derive(Clone, Debug, PartialEq)]
enum End {
    Served {
        flagged: bool,
    },
    /// Before anybody was asked; by the rules that blocked.
    Blocked(String),
    /// After a person granted it.
    Failed(String),
    /// It printed something else than under plain Python.
    Differs(String),
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    if args.iter().any(|a| a == "-h" || a == "--help") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let part = args.first().map_or("", String::as_str);
    python::ready();
    let env = python::managed_env();
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let mut ends = BTreeMap::new();
    for (name, code) in snippets(part) {
        let Some(expected) = plainly(&env, &code) else {
            eprintln!("{name}: fails under plain Python");
            continue;
        };
        let end = served(&mut dash, &mut agent, &code, &expected);
        if end != (End::Served { flagged: false }) {
            eprintln!("{name}: {end:?}");
        }
        ends.insert(name, end);
    }
    report(&ends)
}

fn snippets(part: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/served/snippets");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let named = paths.into_iter().map(|path| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read_to_string(path).unwrap())
    });
    named.filter(|(name, _)| name.contains(part)).collect()
}

/// What plain Python prints in a folder of its own; none where it fails.
fn plainly(env: &PythonEnv, code: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    // From a file: some ask for their own lines.
    let script = folder.path().join("snippet.py");
    std::fs::write(&script, code).unwrap();
    let work = folder.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let output = Command::new(&env.executable)
        .env_clear()
        .env("PYTHONPATH", std::env::join_paths(&env.sys_path).unwrap())
        .env("MPLBACKEND", "Agg")
        .env("HOME", folder.path())
        .env("PATH", "/usr/bin:/bin")
        .env("PLOTLY_RENDERER", "json")
        .args(["-B", "-W", "ignore", "-c", WIDE])
        .arg(&script)
        .current_dir(&work)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(printed)
}

fn served(dash: &mut Dash, agent: &mut Agent, code: &str, expected: &str) -> End {
    let proposal = agent.propose(json!({"code": code, "profile": "analysis"}));
    let verdict = proposal["verdict"].clone();
    if proposal["state"] != "pending" {
        return End::Blocked(rules(&verdict, "block"));
    }
    dash.grant(agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    let run = &outcome["run"];
    if outcome["state"] != "succeeded" {
        let error = &run["error"];
        return End::Failed(format!("{}: {}", error["exception"], error["message"]));
    }
    let printed = run["stdout"].as_str().unwrap_or_default();
    // A bare last expression is shown, which plain Python does not.
    if !printed.starts_with(expected) {
        let line = expected.lines().zip(printed.lines()).find(|(a, b)| a != b);
        return End::Differs(format!("{line:?}"));
    }
    End::Served {
        flagged: verdict["verdict"] == "flagged",
    }
}

/// The rules that did so, with what they said.
fn rules(verdict: &Value, action: &str) -> String {
    let findings = verdict["findings"].as_array().cloned().unwrap_or_default();
    let said = findings.iter().filter(|f| f["action"] == action).map(|f| {
        let text = |key: &str| f[key].as_str().unwrap_or_default().to_owned();
        format!("{} {}", text("rule"), text("message"))
    });
    said.collect::<Vec<_>>().join("; ")
}

/// The table by kind of task, and whether the aims are met and every refusal has its reason.
fn report(ends: &BTreeMap<String, End>) -> ExitCode {
    let reasons: BTreeMap<String, String> = toml::from_str(REASONS).unwrap();
    let mut table: BTreeMap<&str, [usize; 6]> = BTreeMap::new();
    for (name, end) in ends {
        let kind = name
            .rsplit_once('-')
            .map_or(name.as_str(), |(kind, _)| kind);
        let column = match end {
            End::Served { flagged: false } => 1,
            End::Served { flagged: true } => 2,
            End::Blocked(_) => 3,
            End::Failed(_) => 4,
            End::Differs(_) => 5,
        };
        for row in [kind, "all"] {
            let row = table.entry(row).or_default();
            row[0] += 1;
            row[column] += 1;
        }
    }
    println!(
        "{:<22}{:>8}{:>8}{:>9}{:>9}{:>8}{:>9}",
        "", "tried", "clear", "flagged", "blocked", "failed", "differs"
    );
    let rows = table.iter().filter(|(kind, _)| **kind != "all");
    for (kind, n) in rows.chain(table.get_key_value("all")) {
        println!(
            "{kind:<22}{:>8}{:>8}{:>9}{:>9}{:>8}{:>9}",
            n[0], n[1], n[2], n[3], n[4], n[5]
        );
    }
    let all = table.get("all").copied().unwrap_or_default();
    let percent = |n: usize| 100.0 * n as f64 / all[0].max(1) as f64;
    let met = |met: bool| if met { "met" } else { "MISSED" };
    let (served, flagged) = (percent(all[1] + all[2]), percent(all[2]));
    println!(
        "\nserved {served:.1} % (at least {SERVED_PERCENT} %: {}), flagged {flagged:.1} % (at most {FLAGGED_PERCENT} %: {})",
        met(served >= SERVED_PERCENT),
        met(flagged <= FLAGGED_PERCENT)
    );
    let mut unexplained = false;
    for (name, end) in ends {
        if matches!(end, End::Served { .. }) {
            continue;
        }
        let reason = reasons.get(name);
        unexplained |= reason.is_none();
        println!(
            "{name}: {end:?}\n    {}",
            reason.map_or("NO REASON", String::as_str)
        );
    }
    ExitCode::from(u8::from(unexplained))
}
