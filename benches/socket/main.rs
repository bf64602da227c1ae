//! The waiting times of an agent and a person, both idle and while another agent of the same uid
//! floods the socket, and the log's time compared with a bare append: `cargo bench --bench socket`.
//!
//! Uses the finished dashboard in a separate terminal, with keys pressed. The flood is a separate
//! process; it sends small and large proposals, blocked ones, checks and garbage over many
//! connections, as fast as they are accepted. The log's peer alternates with the log, appending the
//! same bytes to a file on the same disk and syncing it; `cargo bench --bench socket -- log`
//! measures only that, and `-- load` many agents of all kinds (`load`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../tests/common/mod.rs"]
mod common;
mod flood;
mod load;
mod log;

/// The path under which the log's samples import the model.
mod model {
    pub use countersign::model::*;
}

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use common::agent::Agent;
use common::dash::{Dash, Options};
use common::python;

/// Proposals whose verdict is timed, idle and under the flood.
const PROPOSALS: usize = 500;
/// Grants by key, idle and under the flood.
const GRANTS: usize = 20;
/// The longest wait for a grant before its key counts as dropped.
const HEARD: Duration = Duration::from_secs(3);
/// How long a sheet is shown before its key: longer than every grace period.
const READ: Duration = Duration::from_millis(900);

/// The number of keys that did not grant.
static DROPPED: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, role, socket] = &arguments[..]
        && role == "flood"
    {
        return flood::run(socket);
    }
    if let [_, role, kind, socket, seconds] = &arguments[..]
        && role == "peer"
    {
        return load::role(kind, socket, seconds);
    }
    let asked = |name: &str| arguments.iter().any(|argument| argument == name);
    if asked("load") {
        return load::run(asked("whole"));
    }
    log::print(&log::measure());
    if !asked("log") {
        socket();
    }
}

/// Milliseconds, sorted.
struct Times(Vec<f64>);

impl Times {
    fn of(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        Self(times)
    }

    fn at(&self, share: f64) -> f64 {
        self.0[((self.0.len() - 1) as f64 * share).round() as usize]
    }
}

fn socket() {
    python::ready();
    let mut dash = Dash::with(&Options::default());
    let mut agent = dash.agent();
    // The first grant creates the process that later ones start from.
    grant(&mut dash, &mut agent, 0);
    let checks = calls(&mut agent, "check", PROPOSALS);
    let (quiet, analysis) = proposals(&mut agent);
    let quiet_grants = grants(&mut dash, &mut agent);
    let mut flood = flood::Flood::start(&dash.socket);
    // Wait until the flood has an effect: the first refusal.
    flood.wait_until_refused();
    let (flooded, _) = proposals(&mut agent);
    let flooded_grants = grants(&mut dash, &mut agent);
    let summary = flood.stop();

    println!("\nMilliseconds, {PROPOSALS} proposals and {GRANTS} grants each.\n");
    println!("{:<44} {:>9} {:>9} {:>9}", "", "p50", "p99", "max");
    let line = |name: &str, times: &Times| {
        let [p50, p99, max] = [0.5, 0.99, 1.0].map(|share| times.at(share));
        println!("{name:<44} {p50:>9.2} {p99:>9.2} {max:>9.2}");
    };
    line("check -> verdict, quiet", &checks);
    line("  of it the analysis itself", &analysis);
    line("propose -> verdict, quiet", &quiet);
    line("propose -> verdict, another agent floods", &flooded);
    line("y -> running, quiet", &quiet_grants);
    line("y -> running, another agent floods", &flooded_grants);
    println!(
        "the flood: {summary}; {} keys were dropped\n",
        DROPPED.load(Ordering::Relaxed)
    );
    target("propose -> verdict, quiet, p99 in ms", quiet.at(0.99), 2.0);
    let ratio = |flooded: &Times, quiet: &Times| flooded.at(0.5) / quiet.at(0.5);
    target(
        "propose under the flood, times quiet",
        ratio(&flooded, &quiet),
        5.0,
    );
    let grants = ratio(&flooded_grants, &quiet_grants);
    target("y -> running under the flood, times quiet", grants, 3.0);
}

/// Prints whether a value stays within its target.
fn target(what: &str, found: f64, most: f64) {
    let result = if found <= most { "met" } else { "MISSED" };
    println!("target: {what} at most {most}: {found:.2}, {result}");
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

fn calls(agent: &mut Agent, method: &str, count: usize) -> Times {
    let mut times = Vec::new();
    for n in 0..count {
        let code = format!("import math\nprint(math.sqrt({n}))\n");
        let begun = Instant::now();
        let answer = agent.call(method, json!({"code": code}));
        times.push(ms(begun));
        assert!(answer.get("result").is_some(), "{answer}");
    }
    Times::of(times)
}

/// Proposes one after the other and withdraws each; returns the time for each verdict, and the part
/// spent on the analysis.
fn proposals(agent: &mut Agent) -> (Times, Times) {
    let (mut times, mut analysis) = (Vec::new(), Vec::new());
    for n in 0..PROPOSALS {
        let code = format!("import math\nprint(math.sqrt({n}))\n");
        let begun = Instant::now();
        let proposal = agent.propose(json!({"code": code}));
        times.push(ms(begun));
        analysis.push(proposal["verdict"]["elapsed_us"].as_f64().unwrap() / 1e3);
        agent.call("withdraw", json!({"id": proposal["id"]}));
    }
    (Times::of(times), Times::of(analysis))
}

fn grants(dash: &mut Dash, agent: &mut Agent) -> Times {
    Times::of((1..=GRANTS).map(|n| grant(dash, agent, n)).collect())
}

/// Milliseconds from the key to the message that the proposal runs. The proposal is the most
/// urgent, so that one key finds it among all others.
fn grant(dash: &mut Dash, agent: &mut Agent, n: usize) -> f64 {
    let code = format!("print(6 * 7)  # {n}\n");
    let proposal = agent.propose(json!({"code": code, "ttl_s": 900, "stream": true}));
    let id: &Value = &proposal["id"];
    loop {
        dash.open_sheet();
        std::thread::sleep(READ);
        let pressed = Instant::now();
        dash.keys("y");
        if agent.wait_state(id, "running", HEARD) {
            let took = ms(pressed);
            let outcome = agent.outcome(id);
            assert_eq!(outcome["state"], "succeeded", "{outcome}");
            return took;
        }
        // The key came too early or after a stall: show the sheet again.
        DROPPED.fetch_add(1, Ordering::Relaxed);
        eprintln!("{}", dash.text());
        dash.keys("\u{1b}");
    }
}
