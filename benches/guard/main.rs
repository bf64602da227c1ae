//! The run-time cost of the guard inside the child, compared with other guards: `cargo bench
//! --bench guard`.
//!
//! Our guard runs in the real child, granted in a finished dashboard, with the clock read in the
//! snippet; the same snippet also runs without a guard in the same jail. sandtrap and
//! RestrictedPython run the same text in separate processes with the same interpreter, numpy and
//! pandas, beside plain Python there. Each time is the minimum of all rounds, which alternate
//! between all of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../peers/mod.rs"]
mod peers;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use serde_json::{Value, json};

use common::agent::Agent;
use common::dash::{Dash, Options};
use common::python;
use peers::Peers;

/// Each snippet's name, description and text. Each text defines `work`.
const SNIPPETS: [(&str, &str, &str); 3] = [
    (
        "group-by",
        "20 group-bys in pandas over 10,000 rows",
        include_str!("snippets/group-by.py"),
    ),
    (
        "loop",
        "a million steps of arithmetic",
        include_str!("snippets/loop.py"),
    ),
    (
        "calls",
        "comprehensions, functions, attributes",
        include_str!("snippets/calls.py"),
    ),
];
const TIMED: &str = include_str!("snippets/timed.py");
/// How often a snippet repeats its work in one run.
const REPEATS: usize = 7;
const ROUNDS: usize = 3;

/// Row names. `PLAIN` and `OUTSIDE` are the baselines: plain Python in the jail, and outside it.
const PLAIN: &str = "plain Python, in the jail";
const OURS: &str = "countersign";
const COUNTED: &str = "countersign, ticks counted";
const OUTSIDE: &str = "python";
const PEERS: [&str; 2] = ["sandtrap", "RestrictedPython"];

const USAGE: &str = "\
cargo bench --bench guard [-- --rounds N]

Measures the guard's cost on three snippets beside sandtrap, RestrictedPython and no guard.

  --rounds N   rounds over all of them, 1 to 100; the least time counts (3)
  -h, --help   this text";

/// Nanoseconds by row and snippet.
type Found = BTreeMap<String, BTreeMap<String, Done>>;

#[derive(serde::Deserialize, Clone, PartialEq)]
struct Done {
    best: u64,
    answer: Value,
}

fn main() -> ExitCode {
    match rounds(std::env::args_os().skip(1)) {
        Ok(Some(rounds)) => {
            measure(rounds);
            ExitCode::SUCCESS
        }
        Ok(None) => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        Err(wrong) => {
            eprintln!("{wrong}\n\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// The requested number of rounds; `None` if help was requested.
fn rounds(args: impl Iterator<Item = OsString>) -> Result<Option<usize>, String> {
    let mut rounds = ROUNDS;
    // cargo itself adds `--bench`.
    let mut args = args.filter(|arg| arg != "--bench");
    while let Some(arg) = args.next() {
        match arg.to_str() {
            Some("-h" | "--help") => return Ok(None),
            Some("--rounds") => {
                let given = args.next().unwrap_or_default();
                rounds = given
                    .to_str()
                    .and_then(|text| text.parse().ok())
                    .filter(|n| (1..=100).contains(n))
                    .ok_or_else(|| {
                        format!("--rounds takes a number from 1 to 100, not {given:?}")
                    })?;
            }
            _ => return Err(format!("unknown argument {arg:?}")),
        }
    }
    Ok(Some(rounds))
}

fn measure(rounds: usize) {
    python::ready();
    let env = python::managed_env();
    let peers = Peers::of(&env, include_str!("requirements.txt"));
    let site = env.sys_path.iter().find(|p| p.join("pandas").is_dir());
    let site = site.expect("the managed environment has pandas");
    let files = written();
    let mut dash = Dash::with(&Options {
        config: "profiles = [\"analysis\", \"counted\", \"bare\"]\n",
        policies: &[
            (
                "counted.toml",
                "name = \"counted\"\nextends = \"analysis\"\n[limits]\nticks = 1000000000000\n",
            ),
            ("bare.toml", "name = \"bare\"\nextends = \"script\"\n"),
        ],
        ..Options::default()
    });
    let mut agent = dash.agent();
    let mut found = Found::new();
    for round in 1..=rounds {
        for (row, profile) in [(PLAIN, "bare"), (OURS, "analysis"), (COUNTED, "counted")] {
            for (name, _, text) in SNIPPETS {
                let done = ours(&mut dash, &mut agent, profile, &complete(text), round);
                keep(&mut found, row, name, done);
            }
        }
        for (row, done) in theirs(&peers, site, &files) {
            for (name, done) in done {
                keep(&mut found, &row, &name, done);
            }
        }
    }
    print(&found, rounds);
}

/// The whole snippet: its work with the timing code.
fn complete(text: &str) -> String {
    format!("{text}\n{}", TIMED.replace("REPEATS", &REPEATS.to_string()))
}

/// Writes the snippets to files for the peers.
fn written() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guard-bench");
    std::fs::create_dir_all(&folder).unwrap();
    SNIPPETS
        .iter()
        .map(|(name, _, text)| {
            let path = folder.join(format!("{name}.py"));
            std::fs::write(&path, complete(text)).unwrap();
            path
        })
        .collect()
}

/// Keeps the least time. Asserts that the computed answer is the same everywhere.
fn keep(found: &mut Found, row: &str, name: &str, done: Done) {
    let before = found.values().find_map(|row| row.get(name));
    if let Some(before) = before {
        assert_eq!(before.answer, done.answer, "{row}, {name}");
    }
    let kept = found.entry(row.to_owned()).or_default();
    let best = kept.entry(name.to_owned()).or_insert_with(|| done.clone());
    best.best = best.best.min(done.best);
}

/// Runs a snippet once in the real child.
fn ours(dash: &mut Dash, agent: &mut Agent, profile: &str, code: &str, round: usize) -> Done {
    let proposal = agent.propose(json!({
        "code": format!("{code}\nprint(best, answer)  # {round}\n"),
        "profile": profile,
    }));
    dash.grant(agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    let output = outcome["run"]["stdout"].as_str().unwrap();
    let (best, answer) = output.trim().split_once(' ').unwrap();
    Done {
        best: best.parse().unwrap(),
        answer: serde_json::from_str(answer).unwrap(),
    }
}

fn theirs(peers: &Peers, site: &Path, files: &[PathBuf]) -> Found {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/guard/peers.py");
    let output = Command::new(peers.python())
        .arg("-B")
        .arg(script)
        .arg(site)
        .args(files)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success(), "the peers failed");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn print(found: &Found, rounds: usize) {
    println!(
        "Milliseconds of one unit of work, the least of {rounds} rounds of {REPEATS}; in brackets \
         as a multiple of plain Python.\n"
    );
    print!("{:<28}", "");
    for (name, _, _) in SNIPPETS {
        print!("{name:>20}");
    }
    println!();
    let rows = [PLAIN, OURS, COUNTED, OUTSIDE, PEERS[0], PEERS[1]];
    for row in rows {
        print!("{row:<28}");
        for (name, _, _) in SNIPPETS {
            let ms = found[row][name].best as f64 / 1e6;
            print!(
                "{:>20}",
                format!("{ms:.2} ({:.2} ×)", times(found, row, name))
            );
        }
        println!();
    }
    println!();
    for (name, what, _) in SNIPPETS {
        println!("{name}: {what}");
    }
    println!();
    for peer in PEERS {
        for (name, _, _) in SNIPPETS {
            let ratio = times(found, peer, name) / times(found, OURS, name);
            println!(
                "{name}: {peer} takes {ratio:.2} × what our guard takes, each over its plain Python"
            );
        }
    }
}

/// A row's time divided by that of plain Python in the same place.
fn times(found: &Found, row: &str, name: &str) -> f64 {
    let base = if [PLAIN, OURS, COUNTED].contains(&row) {
        PLAIN
    } else {
        OUTSIDE
    };
    found[row][name].best as f64 / found[base][name].best as f64
}
