//! The log at a million records: `cargo bench --bench audit`, or `-- 100000` for fewer.
//!
//! Writes a log of a month through the real writer, then asks the finished binary: the first look (which makes the index),
//! the next ones, questions, one proposal, `status`, the start of a dashboard and `verify`; peers in the same run are `sha256sum` of the same bytes
//! and `grep` over them. Times are of whole processes, the best of three; memory is the most that was resident.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../src/audit/samples.rs"]
#[allow(dead_code)]
mod samples;

/// The path under which the log's samples import the model.
mod model {
    pub use countersign::model::*;
}

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use countersign::audit;
use model::{
    Action, AgentClaim, Blob, BoundInput, Capability, CapabilityUse, DataFormat, Digest, Finding,
    InputKind, Lane, LogEvent, ProposalId, Reviewer, Sensitivity, Severity, State, Ticket,
    VerdictKind, Viewed,
};

fn main() {
    let records = std::env::args()
        .find_map(|a| a.parse().ok())
        .unwrap_or(1_000_000);
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let begun = Instant::now();
    let one = write(&state, records);
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
    println!("{:58} {:>9} {:>8}", "", "ms", "MB");
    let sum = row("sha256sum of the segments", 3, || {
        let mut sum = Command::new("sha256sum");
        sum.args(segments(&state));
        sum
    });
    row("grep of the segments", 3, || {
        let mut grep = Command::new("grep");
        grep.args(["-c", "NETWORK_OUT"]).args(segments(&state));
        grep
    });
    let ask = |args: &[&str]| {
        let mut ask = Command::new(env!("CARGO_BIN_EXE_countersign"));
        ask.arg("--state-dir").arg(&state).args(args);
        ask
    };
    row("audit list --limit 50, which makes the index", 1, || {
        ask(&["audit", "list", "--limit", "50"])
    });
    let index: u64 = state
        .join("index")
        .read_dir()
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    println!("{:58} {:>9} {:>8.0}", "  the index", "", index as f64 / 1e6);
    row("status", 3, || ask(&["status"]));
    row("audit show", 3, || {
        ask(&["audit", "show", &one.to_string()])
    });
    row("audit list --limit 50", 3, || {
        ask(&["audit", "list", "--limit", "50"])
    });
    for question in [
        "state:granted rule:NET* since:7d",
        "agent:hr-bot state:denied",
        "state:granted look:<5s",
        "private:yes by:ana data:staff",
        "took:<5s -edited:yes drill:no",
        "reason:email",
        "\"read_csv\" state:denied",
        "title:\"head count 4711\"",
    ] {
        let name = format!("audit list --limit 50 '{question}'");
        row(&name, 3, || {
            ask(&["audit", "list", "--limit", "50", question])
        });
    }
    row("audit stats", 3, || ask(&["audit", "stats"]));
    row("audit stats 'by:ana since:7d'", 3, || {
        ask(&["audit", "stats", "by:ana since:7d"])
    });
    row("audit list, all of it", 1, || ask(&["audit", "list"]));
    start(&state);
    let verify = row("audit verify", 1, || ask(&["audit", "verify"]));
    println!(
        "\nverify takes {:.1} x sha256sum (aim: 3)",
        verify.as_secs_f64() / sum.as_secs_f64()
    );
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
fn row(name: &str, times: u32, mut command: impl FnMut() -> Command) -> Duration {
    let mut best = Duration::MAX;
    let mut memory = 0;
    for _ in 0..times {
        let mut command = command();
        let mut timed = Command::new("/usr/bin/env");
        timed
            .arg("python3")
            .args(["-c", MEASURE])
            .arg(command.get_program())
            .args(command.get_args());
        let _ = &mut command;
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
    println!(
        "{name:58} {:>9.1} {:>8.0}",
        best.as_secs_f64() * 1e3,
        memory as f64 / 1024.0
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

/// Writes a log through the real writer. Returns the id of a proposal in its middle.
fn write(state: &Path, records: usize) -> ProposalId {
    let (report, reports) = std::sync::mpsc::channel();
    let handle = audit::open(state)
        .unwrap()
        .writer
        .start(Box::new(move |said| {
            let _ = report.send(said);
        }));
    let mut written = 0;
    let mut on_the_way = 0;
    let mut middle = ProposalId::new();
    for n in 0.. {
        let id = ProposalId::new();
        for (event, blobs) in life(id, n) {
            handle.submit_in(Lane::Agents, Ticket::Unawaited, event, blobs);
            written += 1;
            on_the_way += 1;
        }
        while on_the_way > 4_000 {
            reports.recv().unwrap();
            on_the_way -= 1;
        }
        if written * 2 < records {
            middle = id;
        }
        if written >= records {
            break;
        }
    }
    for _ in 0..on_the_way {
        reports.recv().unwrap();
    }
    handle.close();
    middle
}

/// The records of one proposal.
fn life(id: ProposalId, n: usize) -> Vec<(LogEvent, Vec<Blob>)> {
    let agent = ["etl-bot", "hr-bot", "loop-bot", "sql-bot", "report-bot"][n % 5];
    let code = format!(
        "df = pd.read_csv(\"sales_{n}.csv\")\ntop = df[df[\"amount\"] > {n}]\nfor name, part in top.groupby(\"region\"):\n    \
         print(name, part[\"amount\"].sum(), part[\"amount\"].mean())\ntop.to_csv(\"top_{n}.csv\", index=False)\n"
    );
    let code = Blob::of(code.as_bytes());
    let (mut event, _) = samples::proposed(id, &format!("Head count {n} per region"));
    if let LogEvent::Proposed(p) = &mut event {
        p.digest = code.sha256;
        p.reason = Some(format!("The board asks for quarter {}", n % 40));
        p.agent = Some(AgentClaim {
            name: agent.to_owned(),
            ..AgentClaim::default()
        });
        let private = n.is_multiple_of(3);
        p.inputs = vec![BoundInput {
            name: "staff".to_owned(),
            kind: InputKind::Dataset {
                dataset: if private { "staff" } else { "sales" }.to_owned(),
                format: DataFormat::Csv,
                rows: 2_000,
                columns: Vec::new(),
                sensitivity: if private {
                    Sensitivity::Private
                } else {
                    Sensitivity::Public
                },
                texts: Default::default(),
                summary: None,
            },
            bytes: 81_234,
            sha256: Digest::of(b"staff"),
        }];
        p.verdict.source.bytes = code.bytes.len() as u64;
        if n.is_multiple_of(7) {
            p.verdict.verdict = VerdictKind::Flagged;
            p.verdict.findings = vec![finding()];
        }
        p.verdict.capabilities = vec![CapabilityUse {
            capability: if n.is_multiple_of(7) {
                Capability::NetworkOut
            } else {
                Capability::FsWrite
            },
            lines: vec![5],
            detail: "pandas.DataFrame.to_csv, \"top.csv\"".to_owned(),
        }];
    }
    let mut life = vec![(event, vec![code.clone()])];
    let by = Reviewer {
        uid: 1000,
        login: Some(["ana", "bo", "cy"][n % 3].to_owned()),
        ..Reviewer::default()
    };
    let viewed = Viewed {
        selected_ms: 900 + (n as u64 * 7_919) % 60_000,
        lines_seen: 5,
        ..Viewed::default()
    };
    match n % 10 {
        0 => life.push((
            LogEvent::Denied {
                id,
                reason: Some(format!("why email? {n}")),
                by,
                viewed,
            },
            Vec::new(),
        )),
        1 => life.push((LogEvent::Expired { id }, Vec::new())),
        _ => {
            let mut granted = samples::granted(id);
            if let LogEvent::Granted(g) = &mut granted {
                (g.digest, g.by, g.viewed) = (code.sha256, by, viewed);
            }
            let (mut finished, blobs) = samples::finished(id);
            if n.is_multiple_of(11)
                && let LogEvent::Finished(f) = &mut finished
            {
                (f.state, f.exit) = (State::Failed, model::Exit::Code(1));
            }
            life.extend([
                (granted, Vec::new()),
                (samples::started(id), Vec::new()),
                (finished, blobs),
            ]);
        }
    }
    life
}

fn finding() -> Finding {
    Finding {
        rule: "NET002".to_owned(),
        name: "network-call".to_owned(),
        severity: Severity::High,
        action: Action::Flag,
        message: "opens a connection".to_owned(),
        hint: "use an input".to_owned(),
        cwe: vec![918],
        line: 5,
        column: 1,
        end_line: 5,
        end_column: 8,
        capability: Some(Capability::NetworkOut),
    }
}
