//! The time for a verdict, compared with tools that check less: `cargo bench --bench analysis`.
//!
//! Measures 2,000 functions of the standard library and pandas, one at a time, then a file of 1 MB,
//! then the folder with all 2,000. Each time is the minimum of several rounds, to exclude other
//! load. The peers run on the same files in the same bench run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../peers/mod.rs"]
mod peers;
#[path = "../../tests/common/python.rs"]
mod python;
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use countersign::analysis::{Analyser, analyse};
use countersign::model::VerdictKind;
use countersign::policy::{Policy, builtin};

use peers::Peers;
use table::{Row, Timed};

const FUNCTIONS: usize = 2_000;
const LARGE: usize = 1_000_000;
const ROUNDS: usize = 5;
const PROFILE: &str = "analysis";

/// The output of `time_peers.py`.
#[derive(serde::Deserialize)]
struct Answer {
    python: String,
    peers: BTreeMap<String, PeerTimes>,
}

#[derive(serde::Deserialize)]
struct PeerTimes {
    times_ns: Vec<u64>,
    failed: usize,
    large_ns: Option<u64>,
}

fn main() {
    python::ready();
    let env = python::managed_env();
    let peers = Peers::ready(&env);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("analysis-bench");
    let _ = fs::remove_dir_all(&folder);
    script(&env.prefix.join("bin/python"), "slice.py")
        .arg(&folder)
        .args([FUNCTIONS.to_string(), LARGE.to_string()])
        .output()
        .ok()
        .filter(|output| output.status.success())
        .expect("slice.py failed");
    let functions = folder.join("functions");
    let codes: Vec<Vec<u8>> = listed(&functions)
        .iter()
        .map(|path| fs::read(path).unwrap())
        .collect();
    assert_eq!(codes.len(), FUNCTIONS);
    let large = fs::read(folder.join("large.py")).unwrap();
    let bytes: usize = codes.iter().map(Vec::len).sum();

    let policies = builtin().unwrap();
    let policy = policies.iter().find(|p| p.name == PROFILE).unwrap();
    let mut unlimited = Policy::clone(policy);
    unlimited.limits.code_bytes = 2 * LARGE as u64;

    let answer = script(&peers.python(), "time_peers.py")
        .arg(&folder)
        .arg(ROUNDS.to_string())
        .output()
        .unwrap();
    assert!(answer.status.success(), "time_peers.py failed");
    let answer: Answer = serde_json::from_slice(&answer.stdout).unwrap();

    let mut analyser = Analyser::new(
        PathBuf::from(env!("CARGO_BIN_EXE_countersign")),
        policies.clone(),
    );
    analyser.verdict(b"1", PROFILE);
    let ours = Row {
        name: "countersign".to_owned(),
        times: codes
            .iter()
            .map(|code| least(ROUNDS, || analyse(code, policy)))
            .collect(),
        failed: 0,
        large: Some(least(ROUNDS, || analyse(&large, &unlimited))),
    };
    let asked = Row {
        name: "countersign, its worker".to_owned(),
        times: codes
            .iter()
            .map(|code| least(ROUNDS, || analyser.verdict(code, PROFILE)))
            .collect(),
        failed: 0,
        large: None,
    };
    let mut rows = vec![ours, asked];
    for name in ["ast.parse + walk", "RestrictedPython", "bandit"] {
        let peer = &answer.peers[name];
        rows.push(Row {
            name: name.to_owned(),
            times: peer
                .times_ns
                .iter()
                .map(|ns| Duration::from_nanos(*ns))
                .collect(),
            failed: peer.failed,
            large: peer.large_ns.map(Duration::from_nanos),
        });
    }

    println!(
        "The analyser under `{PROFILE}`, beside CPython {}, RestrictedPython {}, bandit {} and ruff {}.\n\
         {FUNCTIONS} functions, {bytes} bytes; a file of {} bytes; least of {ROUNDS} rounds each (of 2 for a peer's large file).",
        answer.python,
        Peers::version("RestrictedPython"),
        Peers::version("bandit"),
        Peers::version("ruff"),
        large.len(),
    );
    let mut kinds: BTreeMap<VerdictKind, usize> = BTreeMap::new();
    for code in &codes {
        *kinds.entry(analyse(code, policy).verdict).or_default() += 1;
    }
    let kinds: Vec<String> = kinds.iter().map(|(k, n)| format!("{n} {k}")).collect();
    println!(
        "Verdicts: {}; the large file is {}.\n",
        kinds.join(", "),
        analyse(&large, &unlimited).verdict
    );
    table::each(&rows, bytes, large.len());

    let runs = whole(&functions, &peers, policy);
    table::whole(&runs);
    table::targets(&rows, &runs);
}

/// Analyses the whole folder, in wall-clock time.
fn whole(functions: &Path, peers: &Peers, policy: &Policy) -> Vec<Timed> {
    let ruff = |threads: &str| {
        let mut command = Command::new(peers.program("ruff"));
        command
            .args(["check", "--select", "S", "--isolated", "--no-cache"])
            .args(["--output-format", "json", "--exit-zero"])
            .arg(functions)
            .env("RAYON_NUM_THREADS", threads);
        command
    };
    let mut check = Command::new(env!("CARGO_BIN_EXE_countersign"));
    check
        .args(["check", "--profile", PROFILE, "--format", "json"])
        .arg(functions);
    let in_process = || {
        let mut length = 0;
        for path in listed(functions) {
            let verdict = analyse(&fs::read(path).unwrap(), policy);
            length += serde_json::to_vec(&verdict).unwrap().len();
        }
        length
    };
    vec![
        Timed::new(
            "ruff check --select S, one thread",
            least(ROUNDS, || run(&mut ruff("1"))),
        ),
        Timed::new(
            "ruff check --select S, two threads",
            least(ROUNDS, || run(&mut ruff("2"))),
        ),
        Timed::new(
            "countersign, in process, one thread",
            least(ROUNDS, in_process),
        ),
        Timed::new(
            "countersign check, all cores",
            least(ROUNDS, || run(&mut check)),
        ),
    ]
}

fn run(command: &mut Command) {
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    // Exit status 1 means that something was found; any other non-zero status is an error.
    assert!(
        matches!(status.code(), Some(0 | 1)),
        "{command:?}: {status}"
    );
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
}

fn script(python: &Path, name: &str) -> Command {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("benches/analysis")
        .join(name);
    let mut command = Command::new(python);
    command
        .args(["-B", "-W", "ignore"])
        .arg(path)
        .stdin(Stdio::null());
    command
}

fn least<T>(rounds: usize, mut work: impl FnMut() -> T) -> Duration {
    (0..rounds)
        .map(|_| {
            let started = Instant::now();
            std::hint::black_box(work());
            started.elapsed()
        })
        .min()
        .unwrap_or_default()
}
