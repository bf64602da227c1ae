//! Attacks the guard: `cargo bench --bench adversary`.
//!
//! `variants.py` generates variants of attacks by class, with a fixed seed. The analyser judges all
//! of them; variants with the verdict `clear` are proposed and granted by keys in real dashboards,
//! and run in tier `kernel`. A successful attack prints a random token. The bench fails if any
//! variant succeeds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../tests/common/asking.rs"]
mod asking;
#[path = "../../tests/common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;

use countersign::analysis::Analyser;
use countersign::model::VerdictKind;
use countersign::policy::builtin;
use serde::Deserialize;
use serde_json::json;

use common::agent::Agent;
use common::dash::{Dash, Options};
use common::python;

const USAGE: &str = "\
cargo bench --bench adversary [-- [--count N] [--every N] [--desks N] [PART]]

Draws variants of attacks, judges them, and runs those that are clear.

  --count N    variants to draw (2000)
  --every N    run only each Nth of those that are clear (1)
  --desks N    dashboards that run at the same time (4)
  PART         only variants whose kind or name contains it
  -h, --help   this text";

const SEED: &str = "countersign";

#[derive(Deserialize)]
struct Variant {
    kind: String,
    name: String,
    code: String,
}

struct Arguments {
    count: usize,
    every: usize,
    desks: usize,
    part: String,
}

/// A variant's result, one per table column.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Clear,
    Flagged,
    Blocked,
    Ran,
    Took,
    Crashed,
}

const COLUMNS: [&str; 7] = [
    "tried", "clear", "flagged", "blocked", "ran", "took", "crashed",
];

fn main() -> ExitCode {
    let Some(arguments) = arguments() else {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    };
    python::ready();
    let mut bytes = [0_u8; 8];
    getrandom::fill(&mut bytes).unwrap();
    let token = format!("TOOK-{:016x}", u64::from_be_bytes(bytes));
    let variants: Vec<Variant> = variants(&arguments, &token);
    let mut ends: Vec<(&Variant, End)> = judge_all(&variants);
    let clear = ends.iter().filter(|(_, end)| *end == End::Clear);
    let clear: Vec<&Variant> = clear
        .map(|(one, _)| *one)
        .step_by(arguments.every)
        .collect();
    ends.extend(run_all(&clear, arguments.desks, &token));
    report(&ends)
}

fn arguments() -> Option<Arguments> {
    let mut arguments = Arguments {
        count: 2000,
        every: 1,
        desks: 4,
        part: String::new(),
    };
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(arg) = args.next() {
        let mut number = || {
            let given = args.next().and_then(|n| n.parse().ok());
            given.filter(|n| *n > 0).expect("a number above 0")
        };
        match arg.as_str() {
            "--count" => arguments.count = number(),
            "--every" => arguments.every = number(),
            "--desks" => arguments.desks = number(),
            "-h" | "--help" => return None,
            part => arguments.part = part.to_owned(),
        }
    }
    Some(arguments)
}

fn variants(arguments: &Arguments, token: &str) -> Vec<Variant> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/adversary/variants.py");
    let output = Command::new(python::managed_env().executable)
        .args(["-s", "-B"])
        .arg(script)
        .args([&arguments.count.to_string(), SEED, token])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let drawn = String::from_utf8(output.stdout).unwrap();
    let all = drawn
        .lines()
        .map(|line| serde_json::from_str::<Variant>(line).unwrap());
    all.filter(|one| one.kind.contains(&arguments.part) || one.name.contains(&arguments.part))
        .collect()
}

fn judge_all(variants: &[Variant]) -> Vec<(&Variant, End)> {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_countersign"));
    let mut analyser = Analyser::new(binary, builtin().unwrap());
    let ends = variants.iter().map(|one| {
        let verdict = asking::judge(&mut analyser, one.code.as_bytes(), "analysis");
        let end = match verdict.verdict {
            VerdictKind::Clear => End::Clear,
            VerdictKind::Flagged => End::Flagged,
            VerdictKind::Blocked | VerdictKind::Unanalyzable => End::Blocked,
        };
        (one, end)
    });
    ends.collect()
}

/// Runs the variants on several dashboards in parallel, because most of a grant's time is waiting
/// for grace periods.
fn run_all<'a>(clear: &[&'a Variant], desks: usize, token: &str) -> Vec<(&'a Variant, End)> {
    let (next, ends) = (Mutex::new(clear.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..desks {
            scope.spawn(|| {
                // A screen large enough for a whole variant, which must be seen before the grant.
                let mut dash = Dash::with(&Options {
                    size: (240, 100),
                    ..Options::default()
                });
                let mut agent = dash.agent();
                loop {
                    let Some(one) = next.lock().unwrap().next() else {
                        return;
                    };
                    let end = grant_one(&mut dash, &mut agent, &one.code, token);
                    if end != End::Ran {
                        let what = if end == End::Took {
                            "took effect"
                        } else {
                            "crashed"
                        };
                        eprintln!("{} {} {what}:\n{}", one.kind, one.name, one.code);
                    }
                    ends.lock().unwrap().push((*one, end));
                }
            });
        }
    });
    ends.into_inner().unwrap()
}

fn grant_one(dash: &mut Dash, agent: &mut Agent, code: &str, token: &str) -> End {
    let proposal = agent.propose(json!({"code": code, "profile": "analysis"}));
    if proposal["state"] != "pending" {
        // The run's outcome is more informative than the code alone.
        return End::Ran;
    }
    dash.grant(agent, &proposal);
    let run = &agent.outcome(&proposal["id"])["run"];
    if run["stdout"].as_str().is_some_and(|s| s.contains(token)) {
        return End::Took;
    }
    match run["exit"]["signal"].is_string() {
        true => End::Crashed,
        false => End::Ran,
    }
}

fn report(ends: &[(&Variant, End)]) -> ExitCode {
    let mut table: BTreeMap<&str, [usize; 7]> = BTreeMap::new();
    for (one, end) in ends {
        for row in [one.kind.as_str(), "in all"] {
            let row = table.entry(row).or_default();
            match end {
                End::Clear | End::Flagged | End::Blocked => {
                    row[0] += 1;
                    row[1 + *end as usize] += 1;
                }
                End::Ran => row[4] += 1,
                End::Took | End::Crashed => {
                    row[4] += 1;
                    row[1 + *end as usize] += 1;
                }
            }
        }
    }
    print!("{:<20}", "");
    COLUMNS.iter().for_each(|column| print!("{column:>9}"));
    println!();
    for (kind, row) in &table {
        print!("{kind:<20}");
        row.iter().for_each(|n| print!("{n:>9}"));
        println!();
    }
    let all = table.get("in all").copied().unwrap_or_default();
    let met = all[5] + all[6] == 0;
    println!(
        "\nclear and took effect, or crashed: {} ({})",
        all[5] + all[6],
        if met { "none: met" } else { "MISSED" }
    );
    ExitCode::from(u8::from(!met))
}
