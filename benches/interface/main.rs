//! From a key to the frame after it, and what an idle dashboard costs: `cargo bench --bench interface`.
//!
//! The finished dashboard runs in a terminal of its own, with many proposals that wait and with a
//! long output. The peer is a loop of ratatui alone (`bare.rs`) in the same terminal, in the same run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bare;
#[path = "../../tests/common/mod.rs"]
mod common;

use std::time::{Duration, Instant};

use serde_json::json;

use common::dash::{Dash, Options};
use common::python;

/// Columns and rows of the terminals.
const SIZE: (u16, u16) = (120, 40);
const SAMPLES: usize = 400;
/// Between two keys: a fast reader's pace.
const PAUSE: Duration = Duration::from_millis(40);
const PENDING: usize = 10_000;
const LINES: usize = 200_000;
/// How long an idle dashboard is watched.
const IDLE: Duration = Duration::from_secs(10);

/// Two keys down, one up, again and again.
const fn key(n: usize) -> &'static str {
    match n % 3 {
        2 => "k",
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
    python::ready();
    let bare_few = bare::measure(1, SAMPLES);
    let bare_many = bare::measure(PENDING, SAMPLES);
    let mut dash = dashboard();
    let idle = idle_cpu(&dash);
    let mut agent = dash.agent();
    fill(&mut agent, 20);
    dash.wait_text("20 pending");
    let few = keys(&mut dash);
    drop(agent);
    dash.wait_text("0 pending");
    let output = long_output(&mut dash);
    let mut agents = Vec::new();
    for _ in 0..10 {
        let mut agent = dash.agent();
        fill(&mut agent, PENDING / 10);
        agents.push(agent);
    }
    let many = keys(&mut dash);
    let busy = idle_cpu(&dash);

    println!(
        "\nMilliseconds from a key to the end of its frame, {SAMPLES} keys each, {} x {}.\n",
        SIZE.0, SIZE.1
    );
    println!("{:<44} {:>8} {:>8} {:>8}", "", "p50", "p99", "max");
    line("ratatui alone, a list of 1", &bare_few);
    line(&format!("ratatui alone, a list of {PENDING}"), &bare_many);
    line("countersign, 20 wait", &few);
    line(&format!("countersign, {PENDING} wait"), &many);
    line(&format!("countersign, in {LINES} lines of output"), &output);
    println!(
        "\nprocessor time while idle, in % of one core: {idle:.2} with nothing waiting, {busy:.2} with {PENDING} waiting\n"
    );
    for (what, times) in [("wait", &many), ("lines of output", &output)] {
        let p99 = at(times, 0.99);
        let result = if p99 < 16.0 { "met" } else { "MISSED" };
        println!(
            "target: p99 below 16 ms, {what}: {p99:.2} ms, {result}; median {:.2} x ratatui alone",
            at(times, 0.5) / at(&bare_many, 0.5)
        );
    }
    let result = if idle < 0.5 { "met" } else { "MISSED" };
    println!("target: an idle dashboard uses no processor (below 0.5 %): {idle:.2} %, {result}");
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

/// Proposes different snippets; waits where the peer's budget of the moment is used up.
fn fill(agent: &mut common::agent::Agent, count: usize) {
    let mut n = 0;
    while n < count {
        // Names differ, so that nothing stands folded under what is alike.
        let code = format!(
            "import math\nsum{n} = 0\nfor step in range({n}):\n    sum{n} += math.sqrt(step)\nprint(sum{n})\n"
        );
        let title = format!("Sum of {n} roots");
        let agent_name = json!({"name": format!("agent-{}", n % 7)});
        let answer = agent.call(
            "propose",
            json!({"code": code, "title": title, "agent": agent_name, "ttl_s": 28_000}),
        );
        match answer["error"]["data"]["retry_after_ms"].as_u64() {
            Some(ms) => std::thread::sleep(Duration::from_millis(ms)),
            None => {
                assert!(answer.get("result").is_some(), "{answer}");
                n += 1;
            }
        }
    }
}

/// Milliseconds from each key to the frame after it.
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
    dash.press_until("\t", "the output's pane", |text| text.contains("in OUTPUT"));
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
    println!("{name:<44} {p50:>8.2} {p99:>8.2} {max:>8.2}");
}
