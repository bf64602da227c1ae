//! The log at a million records: `cargo bench --bench audit`, or `-- 100000` for fewer, or `-- 1000000 FOLDER` for a log
//! that stays in this folder and is used again, or `-- --searched` for the search for secrets alone.
//!
//! Writes a log of a month through the real writer, then asks the finished binary: the first look (which makes the index),
//! the next ones, questions, facets, one proposal, `status`, the start of a dashboard and `verify`; peers in the same run are
//! `sha256sum` of the same bytes and `grep` over them, to which the last two columns are ratios. Times are of whole
//! processes, the best of three; memory is the most that was resident. Records that are written one by one and together
//! stand beside the same bytes in a file and in SQLite.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../src/audit/samples.rs"]
#[allow(dead_code)]
mod samples;

mod appended;
mod made;
mod searched;

/// The path under which the log's samples import the model.
mod model {
    pub use countersign::model::*;
}

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use countersign::audit::{self, Log, query::Query};

/// What the rows after the peers are compared with.
#[derive(Clone, Copy, Default)]
struct Peers {
    sum: Duration,
    grep: Duration,
}

/// Names a state folder, for a process of its own that divides what the next argument asks for.
const FACETS: &str = "--facets-of";
/// Ends after the search for secrets.
const SEARCHED: &str = "--searched";

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|arg| arg == FACETS) {
        return facets(Path::new(&args[at + 1]), &args[at + 2]);
    }
    searched::compared();
    if args.iter().any(|arg| arg == SEARCHED) {
        return;
    }
    let records = std::env::args()
        .find_map(|a| a.parse().ok())
        .unwrap_or(1_000_000);
    let temporary = tempfile::tempdir().unwrap();
    let kept = std::env::args().find(|a| a.contains('/') && Path::new(a).is_dir());
    let folder = kept.map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    appended::compared(&folder);
    let state = folder.join("state");
    let begun = Instant::now();
    let id = folder.join("one");
    if !id.exists() {
        fs::write(&id, made::write(&state, records).to_string()).unwrap();
    }
    let one = fs::read_to_string(id).unwrap();
    let bytes: u64 = segments(&state)
        .iter()
        .map(|s| s.metadata().unwrap().len())
        .sum();
    let megabytes = bytes as f64 / 1e6;
    println!(
        "{records} records, {megabytes:.0} MB in {} segments, written in {:.1} s\n",
        segments(&state).len(),
        begun.elapsed().as_secs_f64()
    );
    println!(
        "{:58} {:>9} {:>8} {:>8} {:>8}",
        "", "ms", "MB", "x sum", "x grep"
    );
    let none = Peers::default();
    let sum = row("sha256sum of the segments", 3, none, &mut || {
        let mut sum = Command::new("sha256sum");
        sum.args(segments(&state));
        sum
    });
    let all = row(
        "sha256sum of the segments and the contents",
        1,
        none,
        &mut || {
            let mut sum = Command::new("sh");
            let script = "cd \"$0\" && find log blobs -type f -print0 | xargs -0 sha256sum";
            sum.args(["-c", script]).arg(&state);
            sum
        },
    );
    let grep = row("grep of the segments", 3, none, &mut || {
        let mut grep = Command::new("grep");
        grep.args(["-c", "NETWORK_OUT"]).args(segments(&state));
        grep
    });
    let peers = Peers { sum, grep };
    let ask = |args: &[&str]| {
        let mut ask = Command::new(env!("CARGO_BIN_EXE_countersign"));
        ask.arg("--state-dir").arg(&state).args(args);
        ask
    };
    let first = "audit list --limit 50, which makes the index";
    row(first, 1, peers, &mut || {
        ask(&["audit", "list", "--limit", "50"])
    });
    let index: u64 = state
        .join("index")
        .read_dir()
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    println!("{:58} {:>9} {:>8.0}", "  the index", "", index as f64 / 1e6);
    row("status", 3, peers, &mut || ask(&["status"]));
    row("audit show", 3, peers, &mut || {
        ask(&["audit", "show", &one])
    });
    row("audit list --limit 50", 3, peers, &mut || {
        ask(&["audit", "list", "--limit", "50"])
    });
    for question in [
        "state:granted rule:NET* since:7d",
        "agent:hr-bot state:denied",
        "state:granted look:<100ms",
        "private:yes by:ana data:staff",
        "took:<5s -edited:yes drill:no",
        "reason:email",
        "\"read_csv\" state:denied",
        "title:\"head count 4711\"",
        "output:1 state:failed",
        "shown:none state:denied",
        "tier:process host:desk*",
        "seq:4711",
    ] {
        let name = format!("audit list --limit 50 '{question}'");
        row(&name, 3, peers, &mut || {
            ask(&["audit", "list", "--limit", "50", question])
        });
    }
    for question in ["", "by:ana since:7d"] {
        row(&format!("audit stats '{question}'"), 3, peers, &mut || {
            ask(&["audit", "stats", question])
        });
        row(&format!("facets of '{question}'"), 3, peers, &mut || {
            let mut facets = Command::new(std::env::current_exe().unwrap());
            facets.arg(FACETS).arg(&state).arg(question);
            facets
        });
    }
    row("audit list, all of it", 1, peers, &mut || {
        ask(&["audit", "list"])
    });
    let whole = "audit export of one proposal, from the log itself";
    row(whole, 1, peers, &mut || {
        ask(&["audit", "export", &format!("id:{one}")])
    });
    start(&state);
    dashboard(&folder);
    let verify = row("audit verify", 2, peers, &mut || ask(&["audit", "verify"]));
    let times = |peer: Duration| verify.as_secs_f64() / peer.as_secs_f64();
    println!(
        "\nverify takes {:.1} x sha256sum of the segments alone, {:.1} x that of what it reads (aim: 3)",
        times(sum),
        times(all)
    );
}

/// Divides what a question selects, as screen 2 does.
fn facets(state: &Path, question: &str) {
    let query = Query::parse(question, jiff::Timestamp::now()).unwrap();
    let mut answers = Log::open(state).unwrap().answers().unwrap();
    let facets = answers.facets(&query, question).unwrap();
    assert!(facets.all.iter().any(|facet| !facet.values.is_empty()));
}

/// What a dashboard needs of the log before its socket is there, and what it reads afterwards.
fn start(state: &Path) {
    let line = |name: &str, begun: Instant| {
        println!("{name:58} {:>9.1}", begun.elapsed().as_secs_f64() * 1e3);
    };
    for _ in 0..3 {
        let begun = Instant::now();
        let opened = audit::start(state, &|_| println!("the start reads the whole log")).unwrap();
        line("a dashboard's start, of the log", begun);
        if let Some(unread) = &opened.unread {
            let begun = Instant::now();
            unread.check().unwrap();
            line("  and the log read behind the screen", begun);
        }
    }
}

/// The program itself in a terminal: when its socket is there, what it has resident then, when the log is read, and the
/// most that it had resident by then.
fn dashboard(folder: &Path) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/audit/dashboard.py");
    for _ in 0..3 {
        let mut started = Command::new("python3");
        started.arg(script).arg(env!("CARGO_BIN_EXE_countersign"));
        let said = started.arg(folder).output().unwrap();
        assert!(
            said.status.success(),
            "{}",
            String::from_utf8_lossy(&said.stderr)
        );
        print!("{}", String::from_utf8_lossy(&said.stdout));
    }
}

fn segments(state: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = state
        .join("log")
        .read_dir()
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    files
}

/// The best time of a process, and the most memory that it had.
fn row(name: &str, times: u32, peers: Peers, command: &mut dyn FnMut() -> Command) -> Duration {
    let mut best = Duration::MAX;
    let mut memory = 0;
    for _ in 0..times {
        let command = command();
        let mut timed = Command::new("/usr/bin/env");
        timed
            .arg("python3")
            .args(["-c", MEASURE])
            .arg(command.get_program())
            .args(command.get_args());
        let output = timed
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .stdout(Stdio::null());
        let said = output.output().unwrap();
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        let mut last = said.lines().last().unwrap_or_default().split(' ');
        let mut number = || {
            last.next()
                .and_then(|n| n.parse::<f64>().ok())
                .unwrap_or_else(|| panic!("{said}"))
        };
        best = best.min(Duration::from_secs_f64(number()));
        memory = memory.max(number() as u64);
    }
    let ratio = |peer: Duration| match peer.is_zero() {
        true => String::new(),
        false => format!("{:.2}", best.as_secs_f64() / peer.as_secs_f64()),
    };
    println!(
        "{name:58} {:>9.1} {:>8.0} {:>8} {:>8}",
        best.as_secs_f64() * 1e3,
        memory as f64 / 1024.0,
        ratio(peers.sum),
        ratio(peers.grep)
    );
    best
}

/// Runs its arguments; its last line says the seconds and the most resident KiB.
const MEASURE: &str = "
import resource, subprocess, sys, time
begun = time.perf_counter()
subprocess.run(sys.argv[1:], stdout=subprocess.PIPE)
took = time.perf_counter() - begun
print(took, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
";
