//! What an agent and a person wait for, quiet and while another agent of the same uid floods the
//! socket, and what the log takes beside a bare append: `cargo bench --bench socket`.
//!
//! Goes through the finished dashboard in a terminal of its own, keys pressed. The flood is a process
//! of its own; it sends small and large proposals, blocked ones, checks and garbage over many
//! connections, as fast as they are taken. The log's peer appends the same bytes to a file on the same
//! disk and syncs it, in turns with ours; `cargo bench --bench socket -- log` measures only that.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../tests/common/mod.rs"]
mod common;
mod flood;
mod log;

/// What the log's samples call the model.
mod model {
    pub use countersign::model::*;
}

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use common::agent::Agent;
use common::dash::{Dash, Options};
use common::python;

/// Proposals whose verdict is waited for, quiet and under the flood.
const PROPOSALS: usize = 500;
/// Grants by key, quiet and under the flood.
const GRANTS: usize = 20;
/// How long is waited for a grant before its key counts as dropped.
const HEARD: Duration = Duration::from_secs(3);
/// How long a sheet stands before its key: longer than anything a key can come too early for.
const READ: Duration = Duration::from_millis(900);

/// Keys that did not grant.
static DROPPED: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, role, socket] = &arguments[..]
        && role == "flood"
    {
        return flood::run(socket);
    }
    log::print(&log::measure());
    if !arguments.iter().any(|argument| argument == "log") {
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
    // The first makes what the others start from.
    grant(&mut dash, &mut agent, 0);
    let checks = calls(&mut agent, "check", PROPOSALS);
    let (quiet, analysis) = proposals(&mut agent);
    let quiet_grants = grants(&mut dash, &mut agent);
    let mut flood = flood::Flood::start(&dash.socket);
    // Until the dashboard feels it: the first refusal.
    flood.wait_until_refused();
    let (flooded, _) = proposals(&mut agent);
    let flooded_grants = grants(&mut dash, &mut agent);
    let said = flood.stop();

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
        "the flood: {said}; {} keys were dropped\n",
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

/// Says whether something that is to be small is small enough.
fn target(what: &str, found: f64, most: f64) {
    let said = if found <= most { "met" } else { "MISSED" };
    println!("target: {what} at most {most}: {found:.2}, {said}");
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

/// Proposes one after the other and withdraws each: how long each verdict took, and what of it was
/// spent on the analysis itself.
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

/// Milliseconds from the key to the word that it runs. The proposal is the most urgent one, so that
/// one key finds it among all others.
fn grant(dash: &mut Dash, agent: &mut Agent, n: usize) -> f64 {
    let code = format!("print(6 * 7)  # {n}\n");
    let proposal = agent.propose(json!({"code": code, "ttl_s": 900, "stream": true}));
    let id: &Value = &proposal["id"];
    loop {
        dash.open_sheet();
        std::thread::sleep(READ);
        let pressed = Instant::now();
        dash.keys("y");
        if agent.hears(id, "running", HEARD) {
            let took = ms(pressed);
            let outcome = agent.outcome(id);
            assert_eq!(outcome["state"], "succeeded", "{outcome}");
            return took;
        }
        // It came too early, or after a stall: the sheet is shown anew.
        DROPPED.fetch_add(1, Ordering::Relaxed);
        eprintln!("{}", dash.text());
        dash.keys("\u{1b}");
    }
}
