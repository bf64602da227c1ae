//! The time from a person's grant to the first byte and to the end of the run, compared with tools
//! that ask nobody: `cargo bench --bench execution`.
//!
//! Our runs use the finished dashboard in a separate terminal, with keys pressed and both records
//! made durable; their times are the outcome's `timing_us`, which count from the grant. A fresh
//! process runs each snippet, while sandtrap and Jupyter keep one process for all. A cold start
//! alternates with `python -I`, alone and in bwrap, each after a pause as long as a grant takes, so
//! that background work such as freeing page cache affects all three.
//!
//! All of it takes half an hour, most of it for the jail's cost of a few milliseconds;
//! `cargo bench --bench execution -- brief` leaves that out and takes fewer cold runs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../peers/mod.rs"]
mod peers;
mod process;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use common::agent::Agent;
use common::dash::{Dash, Options};
use common::{processes, python};
use peers::Peers;

/// Runs of each kind and of each peer.
const SAMPLES: usize = 15;
/// Cold runs, and runs of the peers that alternate with them; fewer if brief.
const TURNS: usize = 30;
const BRIEF_TURNS: usize = 12;
/// Pairs of runs with and without the jail: the difference is a few milliseconds, while single runs
/// vary by tens.
const PAIRS: usize = 150;
const ROWS: u32 = 10_000;

/// Cold runs without libraries: in the jail, and without it.
const WALLED: &str = "walled, cold";
const LOOSE: &str = "walled, cold, tier process";

const TRIVIAL: &str = "print(6 * 7)";
const GROUPED: &str = "print(sales.groupby('region')['amount'].mean())";

/// Milliseconds, one value per run.
#[derive(Default, serde::Deserialize)]
struct Times {
    first: Vec<f64>,
    end: Vec<f64>,
}

fn main() {
    python::ready();
    let env = python::managed_env();
    let peers = Peers::of(&env, include_str!("requirements.txt"));
    let mut table = String::from("region,amount\n");
    for row in 0..ROWS {
        let region = ["north", "south", "east", "west"][(row % 4) as usize];
        writeln!(table, "{region},{}", f64::from(row * 7919 % 10_007) / 100.0).unwrap();
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("execution-bench");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("sales.csv");
    std::fs::write(&file, &table).unwrap();
    // Uses the environment of our own runs, to import the very same libraries.
    let mut bare = process::peers(&env.prefix.join("bin/python"), &file);
    let brief = std::env::args().any(|argument| argument == "brief");
    let turns = if brief { BRIEF_TURNS } else { TURNS };
    let mut ours = ours(&table, &mut bare, turns);
    if !brief {
        ours.extend(jails());
    }
    let mut theirs = theirs(&peers, &file);
    theirs.extend(bare.into_iter().map(process::Peer::times));
    print(&ours, &theirs);
}

/// Measures every kind of our own runs, in printing order. The processes in `bare` alternate with
/// cold runs of the same work.
fn ours(
    table: &str,
    bare: &mut [process::Peer],
    turns: usize,
) -> Vec<(&'static str, &'static str, Times)> {
    let policies = [("plain.toml", "name = \"plain\"\nextends = \"script\"\n")];
    let mut dash = Dash::with(&Options {
        config: "profiles = [\"analysis\", \"plain\"]\n[datasets.sales]\npath = \"sales.csv\"\n",
        files: &[("sales.csv", table)],
        policies: &policies,
        ..Options::default()
    });
    let mut agent = dash.agent();
    let mut found = Vec::new();
    for (name, profile) in [("guarded", "analysis"), ("no guard", "plain")] {
        for (work, code) in [("trivial", TRIVIAL), ("group-by", GROUPED)] {
            // The first run creates the process that later runs start from.
            run(&mut dash, &mut agent, profile, code, 0);
            found.push((name, work, profile, code, Times::default()));
        }
    }
    // In turns, so that background load affects all kinds.
    for n in 1..=SAMPLES {
        for (_, _, profile, code, times) in &mut found {
            times.add(run(&mut dash, &mut agent, profile, code, n));
        }
    }
    let mut found: Vec<_> = found
        .into_iter()
        .map(|(name, work, _, _, times)| (name, work, times))
        .collect();
    assert!(starts(&dash, "warm") >= 4 * SAMPLES);
    for (work, code) in [("trivial", TRIVIAL), ("group-by", GROUPED)] {
        let mut times = Times::default();
        for n in 0..turns {
            let (took, pause) = cold(&mut dash, &mut agent, "analysis", code, n);
            times.add(took);
            for peer in bare.iter_mut().filter(|peer| peer.work == work) {
                peer.run(pause);
            }
        }
        found.push(("guarded, cold", work, times));
    }
    found
}

/// Cold runs of a profile without libraries, with tier `kernel`'s jail and without it: the
/// difference is the jail's cost.
fn jails() -> Vec<(&'static str, &'static str, Times)> {
    let mut all = [(WALLED, Times::default()), (LOOSE, Times::default())];
    let mut dashboards = ["kernel", "process"].map(|tier| {
        let mut dash = Dash::with(&Options {
            config: &format!("tier = \"{tier}\"\nprofile = \"walled\"\n"),
            ..Options::default()
        });
        let mut agent = dash.agent();
        run(&mut dash, &mut agent, "walled", TRIVIAL, 0);
        (dash, agent)
    });
    for n in 1..=PAIRS {
        // Alternates the order within pairs.
        for at in [n % 2, 1 - n % 2] {
            let (dash, agent) = &mut dashboards[at];
            let (took, _) = cold(dash, agent, "walled", TRIVIAL, n);
            all[at].1.add(took);
        }
    }
    all.map(|(name, times)| (name, "trivial", times)).into()
}

/// A cold run, and how long its grant took. Kills a zygote that was created meanwhile, which also
/// prevents another of its kind for a minute.
fn cold(
    dash: &mut Dash,
    agent: &mut Agent,
    profile: &str,
    code: &str,
    n: usize,
) -> ((f64, f64), Duration) {
    for again in 0..10 {
        processes::kill_zygotes(dash.pid());
        let before = starts(dash, "cold");
        let begun = Instant::now();
        let took = run(dash, agent, profile, &format!("{code}  # {again}"), n);
        if starts(dash, "cold") > before {
            let total = Duration::from_secs_f64(took.1 / 1e3);
            return (took, begun.elapsed().saturating_sub(total));
        }
    }
    panic!("no cold start of {profile}");
}

/// The number of runs started this way, according to the dashboard's log.
fn starts(dash: &Dash, how: &str) -> usize {
    dash.local_log()
        .matches(&format!("start=\"{how}\""))
        .count()
}

impl Times {
    fn add(&mut self, (first, end): (f64, f64)) {
        self.first.push(first);
        self.end.push(end);
    }
}

/// Grants one proposal by keys; returns the milliseconds to its first byte and to its end.
fn run(dash: &mut Dash, agent: &mut Agent, profile: &str, code: &str, n: usize) -> (f64, f64) {
    let inputs = if code.contains("sales") {
        json!({"sales": {"dataset": "sales"}})
    } else {
        json!({})
    };
    let proposal = agent.propose(json!({
        "code": format!("{code}  # {n}"),
        "profile": profile,
        "inputs": inputs,
    }));
    dash.grant(agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    let timing = &outcome["run"]["timing_us"];
    let ms = |key: &str| timing[key].as_f64().unwrap() / 1e3;
    (ms("grant_to_first_output"), ms("grant_to_exit"))
}

/// Measures the peers that keep one process.
fn theirs(peers: &Peers, file: &Path) -> BTreeMap<String, Times> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/execution/peers.py");
    let output = Command::new(peers.python())
        .args(["-B", "-W", "ignore"])
        .arg(script)
        .arg(file)
        .arg(SAMPLES.to_string())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success(), "the peers failed");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    serde_json::from_value(answer).unwrap()
}

fn print(ours: &[(&str, &str, Times)], theirs: &BTreeMap<String, Times>) {
    println!(
        "Milliseconds from the grant, {SAMPLES} runs each ({} cold, {PAIRS} without libraries), \
         {ROWS} rows.\n",
        ours.iter()
            .find(|(name, ..)| *name == "guarded, cold")
            .map_or(0, |(.., t)| t.first.len())
    );
    println!(
        "{:<42} {:>9} {:>9} {:>9}   × python -I",
        "", "first p50", "first max", "end p50"
    );
    let bare = |work: &str| median(&theirs[&format!("python -I, {work}")].first);
    let line = |name: String, work: &str, times: &Times| {
        println!(
            "{name:<42} {:>9.2} {:>9.2} {:>9.2}   {:.2}",
            median(&times.first),
            times.first.iter().copied().fold(0.0, f64::max),
            median(&times.end),
            median(&times.first) / bare(work)
        );
    };
    for (name, work, times) in ours {
        line(format!("countersign, {name}, {work}"), work, times);
    }
    for (name, times) in theirs {
        let work = if name.ends_with("trivial") {
            "trivial"
        } else {
            "group-by"
        };
        line(name.clone(), work, times);
    }
    if !theirs.keys().any(|name| name.starts_with("bwrap")) {
        println!("bwrap is not installed on this machine");
    }
    let all = |name: &str, work: &str| {
        let found = ours.iter().find(|(n, w, _)| *n == name && *w == work);
        &found.unwrap().2
    };
    let times = |name: &str, work: &str| &all(name, work).first;
    let median_of = |name: &str, work: &str| median(times(name, work));
    let met_or_missed = |met: bool| if met { "met" } else { "MISSED" };
    println!();
    let trivial = median_of("guarded", "trivial");
    println!(
        "target: trivial at most 5 ms: {trivial:.1}, {}",
        met_or_missed(trivial <= 5.0)
    );
    for (name, least) in [("guarded", 20.0), ("no guard", 30.0)] {
        let times = bare("group-by") / median_of(name, "group-by");
        println!(
            "target: the group-by, {name}, at least {least} × as fast as python -I: {times:.1}, {}",
            met_or_missed(times >= least)
        );
    }
    if ours.iter().any(|(name, ..)| *name == WALLED) {
        let pairs = std::iter::zip(times(WALLED, "trivial"), times(LOOSE, "trivial"));
        let costs: Vec<f64> = pairs.map(|(jailed, loose)| jailed - loose).collect();
        let jail = median(&costs);
        println!(
            "target: the jail of a cold start costs at most 3 ms: {jail:.1}, {}",
            met_or_missed(jail <= 3.0)
        );
    }
    if let Some(jail) = theirs.get("bwrap + python -I, group-by") {
        // One ratio per turn, because the machine's speed varies between turns.
        let ratio = |ours: &[f64], theirs: &[f64]| {
            let turns = std::iter::zip(ours, theirs).map(|(ours, theirs)| ours / theirs);
            median(&turns.collect::<Vec<_>>())
        };
        let cold = all("guarded, cold", "group-by");
        let (first, end) = (ratio(&cold.first, &jail.first), ratio(&cold.end, &jail.end));
        println!(
            "target: cold not slower than bwrap + python: {first:.2} × to the first byte, {}; \
             {end:.2} × to the end, {}",
            met_or_missed(first <= 1.0),
            met_or_missed(end <= 1.0)
        );
    }
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
