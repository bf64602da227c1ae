//! From a key to the end of its frame, and what an idle dashboard costs: `cargo bench --bench interface`.
//!
//! The finished dashboard runs in a terminal of its own, with many proposals that wait and with a
//! long output. The peer is a loop of ratatui alone (`bare.rs`) in the same terminal, in the same run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bare;
#[path = "../../tests/common/mod.rs"]
mod common;

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use common::agent::Agent;
use common::dash::{Dash, Options};
use common::python;

/// Columns and rows of the terminals.
const SIZE: (u16, u16) = (120, 40);
/// Keys of one measurement.
const SAMPLES: usize = 400;
/// Between two keys: a held key repeats about as fast.
const PAUSE: Duration = Duration::from_millis(25);
const FEW: usize = 20;
const PENDING: usize = 10_000;
const LINES: usize = 200_000;
/// How long an idle dashboard is watched.
const IDLE: Duration = Duration::from_secs(10);
/// The longest acceptable 99th percentile.
const TARGET_MS: f64 = 16.0;
/// The most processor time, in per cent of one core, that counts as none.
const NOTHING: f64 = 0.5;
/// Proposals under way at once while the queue is filled.
const AT_ONCE: usize = 256;

static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The `n`th key of a measurement: ten rows back, ten rows on, so that each key changes what is shown.
const fn key(n: usize) -> &'static str {
    match n / 10 % 2 {
        0 => "k",
        _ => "j",
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, role, rows] = &arguments[..]
        && role == "bare"
    {
        return bare::draw(rows.parse().unwrap());
    }
    step("the Python environment");
    python::ready();
    step("ratatui alone");
    let bare_few = bare::measure(FEW, SAMPLES);
    let bare_many = bare::measure(PENDING, SAMPLES);
    step("a dashboard starts");
    let mut dash = dashboard();
    step("nothing waits: idle");
    let idle = idle_cpu(&dash);
    step(&format!("{FEW} wait: keys"));
    let mut agents: Vec<Agent> = (0..4).map(|_| dash.agent()).collect();
    fill(&mut agents, FEW);
    dash.wait_text(&format!("{FEW} pending"));
    to_the_end(&mut dash);
    let few = keys(&mut dash);
    drop(agents);
    dash.wait_text("0 pending");
    step(&format!("{LINES} lines of output: keys"));
    let output = long_output(&mut dash);
    step(&format!("{PENDING} proposals are sent"));
    let mut agents: Vec<Agent> = (0..4).map(|_| dash.agent()).collect();
    fill(&mut agents, PENDING);
    dash.wait_text("10,000 pending");
    step(&format!("{PENDING} wait: keys"));
    to_the_end(&mut dash);
    let many = keys(&mut dash);
    step(&format!("{PENDING} wait: idle"));
    let busy = idle_cpu(&dash);
    step("done");

    println!(
        "\nMilliseconds from a key to the end of its frame, {SAMPLES} keys each, {} x {}.\n",
        SIZE.0, SIZE.1
    );
    println!("{:<42} {:>8} {:>8} {:>8}", "", "p50", "p99", "max");
    line(&format!("ratatui alone, a list of {FEW}"), &bare_few);
    line(&format!("ratatui alone, a list of {PENDING}"), &bare_many);
    line(&format!("countersign, {FEW} wait"), &few);
    line(&format!("countersign, {PENDING} wait"), &many);
    line(&format!("countersign, in {LINES} lines of output"), &output);
    println!();
    for (what, times, bare) in [
        (format!("{FEW} wait"), &few, &bare_few),
        (format!("{PENDING} wait"), &many, &bare_many),
        (format!("{LINES} lines"), &output, &bare_few),
    ] {
        let [p50, p99] = [0.5, 0.99].map(|share| at(times, share) / at(bare, share));
        println!("{what:<14} p50 {p50:.2} x, p99 {p99:.2} x ratatui alone");
    }
    println!();
    for (what, times) in [("wait", &many), ("lines of output", &output)] {
        let p99 = at(times, 0.99);
        let number = if what == "wait" { PENDING } else { LINES };
        println!(
            "target: p99 below {TARGET_MS} ms, {number} {what}: {p99:.2} ms, {}",
            verdict(p99 < TARGET_MS)
        );
    }
    for (what, used) in [(0, idle), (PENDING, busy)] {
        println!(
            "target: idle, below {NOTHING} % of one core, {what} wait: {used:.2} %, {}",
            verdict(used < NOTHING)
        );
    }
}

const fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "MISSED" }
}

/// Says what is measured next.
fn step(what: &str) {
    eprintln!("{:>5} s  {what}", BEGUN.elapsed().as_secs());
}

fn dashboard() -> Dash {
    let config = format!(
        "profiles = [\"analysis\", \"script\"]\n[queue]\nmax_pending = {PENDING}\nmax_pending_per_peer = {PENDING}\n"
    );
    let dash = Dash::with(&Options {
        config: &config,
        size: SIZE,
        ..Options::default()
    });
    dash.wait_for("an environment that was read", |_, text| {
        text.contains("No proposal yet") && !text.contains("Python environment")
    });
    dash
}

/// Proposes different snippets over several connections; sends again what a budget refused.
fn fill(agents: &mut [Agent], count: usize) {
    let mut left: Vec<usize> = (0..count).collect();
    while !left.is_empty() {
        let batch: Vec<usize> = left.drain(left.len().saturating_sub(AT_ONCE)..).collect();
        let connections = agents.len();
        let asked: Vec<(usize, u64)> = batch
            .into_iter()
            .map(|n| (n, agents[n % connections].send("propose", proposal(n))))
            .collect();
        for (n, request) in asked {
            let answer = agents[n % connections].answer(request, Duration::from_secs(60));
            match answer["error"]["data"]["retry_after_ms"].as_u64() {
                Some(ms) => {
                    std::thread::sleep(Duration::from_millis(ms));
                    left.push(n);
                }
                None => assert!(answer.get("result").is_some(), "{answer}"),
            }
        }
    }
}

/// Names differ, so that nothing is folded under what is alike.
fn proposal(n: usize) -> Value {
    let code = format!(
        "import math\nsum{n} = 0\nfor step in range({n}):\n    sum{n} += math.sqrt(step)\nprint(sum{n})\n"
    );
    json!({
        "code": code,
        "title": format!("Sum of {n} roots"),
        "agent": {"name": format!("agent-{}", n % 7)},
        "ttl_s": 28_000,
    })
}

/// Goes to the last row of the queue, the farthest one.
fn to_the_end(dash: &mut Dash) {
    dash.go_to_urgent();
    dash.keys("G");
    std::thread::sleep(Duration::from_secs(1));
}

/// Seconds from each key to the frame after it.
fn keys(dash: &mut Dash) -> Vec<f64> {
    let mut times = Vec::new();
    for n in 0..SAMPLES {
        let known = dash.frames();
        let begun = Instant::now();
        dash.keys(key(n));
        times.push(dash.wait_frame(known).duration_since(begun).as_secs_f64());
        std::thread::sleep(PAUSE);
    }
    times
}

/// Runs code that prints many lines, and moves in what it printed.
fn long_output(dash: &mut Dash) -> Vec<f64> {
    let mut agent = dash.agent();
    let code = format!("for n in range({LINES}):\n    print(n % 1000)\n");
    let proposal = agent.propose(json!({"code": code, "profile": "script", "ttl_s": 28_000}));
    dash.grant(&mut agent, &proposal);
    agent.outcome(&proposal["id"]);
    dash.wait_text("succeeded");
    // From the queue, over the code.
    dash.keys("1\t\t");
    dash.wait_text("━ OUTPUT");
    keys(dash)
}

/// Processor time of the dashboard and its helpers, in per cent of one core.
fn idle_cpu(dash: &Dash) -> f64 {
    std::thread::sleep(Duration::from_secs(3));
    let before = ticks(dash.pid());
    std::thread::sleep(IDLE);
    let used = ticks(dash.pid()) - before;
    let per_second = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK)
        .unwrap()
        .unwrap() as f64;
    100.0 * used as f64 / per_second / IDLE.as_secs_f64()
}

/// Clock ticks that a process and its children used.
fn ticks(pid: u32) -> u64 {
    let own = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = own
        .rsplit(')')
        .next()
        .unwrap_or("")
        .split_whitespace()
        .collect();
    let field = |n: usize| {
        fields
            .get(n)
            .and_then(|f| f.parse::<u64>().ok())
            .unwrap_or(0)
    };
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let children = children.unwrap_or_default();
    let of_children = children
        .split_whitespace()
        .filter_map(|pid| pid.parse().ok());
    field(11) + field(12) + of_children.map(ticks).sum::<u64>()
}

fn at(times: &[f64], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share).round() as usize] * 1e3
}

fn line(name: &str, times: &[f64]) {
    let [p50, p99, max] = [0.5, 0.99, 1.0].map(|share| at(times, share));
    println!("{name:<42} {p50:>8.2} {p99:>8.2} {max:>8.2}");
}
