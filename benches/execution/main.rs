//! From a person's grant to the first byte and to the end of the run, beside what others take who
//! ask nobody: `cargo bench --bench execution`.
//!
//! Ours goes through the finished dashboard in a terminal of its own, keys pressed, both records
//! made durable; its times are those of `timing_us` in the outcome, which count from the grant. A
//! fresh process runs each snippet. sandtrap and Jupyter keep one process for all of theirs. A cold
//! start takes turns with `python -I` and with bwrap around it, each after as long a pause as a grant
//! takes: what the machine does meanwhile, such as giving the memory of files back, meets all three.

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

/// Runs of each kind, and of each peer.
const SAMPLES: usize = 15;
/// Cold ones, and those that take turns with them.
const TURNS: usize = 30;
/// Pairs of a run in the jail and one without: a few milliseconds are looked for among tens that the
/// machine takes more or less.
const PAIRS: usize = 150;
const ROWS: u32 = 10_000;

/// Without libraries, cold: in the jail, and without one.
const WALLED: &str = "walled, cold";
const LOOSE: &str = "walled, cold, tier process";

const TRIVIAL: &str = "print(6 * 7)";
const GROUPED: &str = "print(sales.groupby('region')['amount'].mean())";

/// Milliseconds, one for each run.
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
    // Of what our own runs have, so that it imports the very same libraries.
    let mut bare = process::peers(&env.prefix.join("bin/python"), &file);
    let mut ours = ours(&table, &mut bare);
    ours.extend(jails());
    let mut theirs = theirs(&peers, &file);
    theirs.extend(bare.into_iter().map(process::Peer::times));
    print(&ours, &theirs);
}

/// Every kind of our own runs, in the order in which it is printed. `bare` take turns with the cold
/// ones of the same work.
fn ours(table: &str, bare: &mut [process::Peer]) -> Vec<(&'static str, &'static str, Times)> {
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
            // The first makes what the others start from.
            run(&mut dash, &mut agent, profile, code, 0);
            found.push((name, work, profile, code, Times::default()));
        }
    }
    // In turns: what the machine does meanwhile meets all kinds.
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
        for n in 0..TURNS {
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

/// Cold runs of a profile that loads no library, with the jail of tier `kernel` and without: what
/// stands between them is what the jail costs.
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
        // Each is the first of every other pair.
        for at in [n % 2, 1 - n % 2] {
            let (dash, agent) = &mut dashboards[at];
            let (took, _) = cold(dash, agent, "walled", TRIVIAL, n);
            all[at].1.add(took);
        }
    }
    all.map(|(name, times)| (name, "trivial", times)).into()
}

/// A run that started cold, and how long its grant took. A zygote that was made meanwhile is killed,
/// and none of its kind is made again for a minute.
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
            let ran = Duration::from_secs_f64(took.1 / 1e3);
            return (took, begun.elapsed().saturating_sub(ran));
        }
    }
    panic!("no cold start of {profile}");
}

/// How many runs started so, by the dashboard's own word.
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

/// One proposal, granted by keys: milliseconds to its first byte and to its end.
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

/// Those that keep one process.
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
        "Milliseconds from the grant, {SAMPLES} runs each ({TURNS} cold, {PAIRS} without libraries), \
         {ROWS} rows.\n"
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
    let of = |name: &str, work: &str| median(times(name, work));
    let said = |met: bool| if met { "met" } else { "MISSED" };
    println!();
    let trivial = of("guarded", "trivial");
    println!(
        "target: trivial at most 5 ms: {trivial:.1}, {}",
        said(trivial <= 5.0)
    );
    for (name, least) in [("guarded", 20.0), ("no guard", 30.0)] {
        let times = bare("group-by") / of(name, "group-by");
        println!(
            "target: the group-by, {name}, at least {least} × as fast as python -I: {times:.1}, {}",
            said(times >= least)
        );
    }
    let pairs = std::iter::zip(times(WALLED, "trivial"), times(LOOSE, "trivial"));
    let jail = median(
        &pairs
            .map(|(jailed, loose)| jailed - loose)
            .collect::<Vec<_>>(),
    );
    println!(
        "target: the jail of a cold start costs at most 3 ms: {jail:.1}, {}",
        said(jail <= 3.0)
    );
    if let Some(jail) = theirs.get("bwrap + python -I, group-by") {
        // Of each turn, because the machine is not equally fast in all of them.
        let ratio = |ours: &[f64], theirs: &[f64]| {
            let turns = std::iter::zip(ours, theirs).map(|(ours, theirs)| ours / theirs);
            median(&turns.collect::<Vec<_>>())
        };
        let cold = all("guarded, cold", "group-by");
        let (first, end) = (ratio(&cold.first, &jail.first), ratio(&cold.end, &jail.end));
        println!(
            "target: cold not slower than bwrap + python: {first:.2} × to the first byte, {}; \
             {end:.2} × to the end, {}",
            said(first <= 1.0),
            said(end <= 1.0)
        );
    }
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
