//! The log through the dashboard's binary: what a start finds, what `status` says, and what only a
//! person can repair.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::dash::{Dash, environment};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::{model, samples};

fn stdout_of(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8(text).unwrap()
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

#[test]
fn status_and_the_screen_agree_about_a_log_that_went_down() {
    let dash = Dash::start();
    let mut agent = dash.agent();
    assert_eq!(agent.code("print(1)\n")["state"], "pending");
    let status = dash.cli(&["status"]);
    assert_eq!(status.status.code(), Some(0), "{}", stdout_of(&status));
    assert_eq!(stdout_of(&status), "1 pending · 0 running · log ok\n");
    let segment = dash.state.join("log/00000001.jsonl");
    std::fs::rename(&segment, dash.state.join("elsewhere")).unwrap();
    agent.send("propose", json!({"code": "print(2)\n"}));
    dash.wait_text("AUDIT DOWN");
    for put_back in [false, true] {
        if put_back {
            std::fs::rename(dash.state.join("elsewhere"), &segment).unwrap();
        }
        let status = dash.cli(&["status"]);
        assert_eq!(status.status.code(), Some(1));
        let text = stdout_of(&status);
        assert!(
            text.starts_with("0 pending · 0 running · log down\n"),
            "{text}"
        );
        assert!(text.contains(&format!("(pid {})", dash.pid())), "{text}");
        assert_eq!(text.contains("segment is missing"), !put_back, "{text}");
        let json: Value = serde_json::from_slice(&dash.cli(&["status", "--json"]).stdout).unwrap();
        assert_eq!(
            (&json["dashboard"], &json["log"]),
            (&true.into(), &"down".into())
        );
    }
}

#[test]
fn a_log_with_a_changed_content_is_reported_on_the_screen_and_goes_on() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let proposal = agent.code("print('first')\n");
    assert_eq!(proposal["state"], "pending");
    dash.wait_text("log ✓");
    dash.signal(Signal::SIGKILL);
    dash.wait_exit();
    // The next start ends what it left open, and the log is consistent.
    dash.then(&[]);
    dash.wait_text("log ✓");
    dash.keys("q");
    dash.wait_exit();
    let verify = dash.cli(&["audit", "verify"]);
    assert_eq!(verify.status.code(), Some(0), "{}", stdout_of(&verify));

    let blob = files(&dash.state.join("blobs")).pop().unwrap();
    let mut bytes = std::fs::read(&blob).unwrap();
    bytes[0] ^= 1;
    std::fs::write(&blob, bytes).unwrap();
    dash.then(&[]);
    let screen = dash.wait_text("log ✗ damaged");
    assert!(screen.contains("The log is damaged: blobs/"), "{screen}");
    assert!(screen.contains("(seq 2)"), "{screen}");
    let again = dash.agent().code("print('second')\n");
    assert_eq!(again["state"], "pending");
}

/// Sends many proposals, kills the dashboard with SIGKILL after this many answers, and returns the
/// ids of all answered ones.
fn kill_while_proposing(dash: &mut Dash, round: usize, answers: usize) -> Vec<String> {
    let mut stream = UnixStream::connect(&dash.socket).unwrap();
    let mut frames = String::new();
    for n in 0..40 {
        let params = json!({"code": format!("print({round}, {n})\n")});
        let frame = json!({"jsonrpc": "2.0", "id": n, "method": "propose", "params": params});
        frames.push_str(&format!("{frame}\n"));
    }
    stream.write_all(frames.as_bytes()).unwrap();
    let mut ids = Vec::new();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut take = |line: Option<String>| {
        let answer: Value = serde_json::from_str(&line?).unwrap();
        ids.push(answer["result"]["id"].as_str()?.to_owned());
        Some(())
    };
    for _ in 0..answers {
        take(lines.next());
    }
    dash.signal(Signal::SIGKILL);
    while take(lines.next()).is_some() {}
    ids
}

#[test]
fn a_dashboard_that_is_killed_again_and_again_loses_nothing_it_answered() {
    let mut dash = Dash::start();
    let mut answered = Vec::new();
    for (round, answers) in [0, 1, 2, 5, 11, 17, 23, 36].into_iter().enumerate() {
        if round > 0 {
            dash.then(&[]);
            dash.wait_text("log ✓");
            dash.wait_for("the socket", |d, _| UnixStream::connect(&d.socket).is_ok());
        }
        answered.extend(kill_while_proposing(&mut dash, round, answers));
    }
    dash.then(&[]);
    dash.wait_text("log ✓");
    let verify = dash.cli(&["audit", "verify"]);
    assert_eq!(verify.status.code(), Some(0), "{}", stdout_of(&verify));
    assert!(!dash.text().contains("damaged"));
    let list = stdout_of(&dash.cli(&["audit", "list"]));
    // At least those that the rounds wait for; the kill may precede all others.
    assert!(answered.len() >= 95, "{}", answered.len());
    for id in &answered {
        let line = list.lines().find(|line| line.contains(id.as_str()));
        let line = line.unwrap_or_else(|| panic!("{id} was answered and is not in the log"));
        assert!(line.contains("unattended"), "{line}");
    }
}

/// A cleanly closed dashboard whose log has a changed byte in the middle.
fn damaged_dashboard() -> Dash {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    for n in 0..3 {
        assert_eq!(agent.code(&format!("print({n})\n"))["state"], "pending");
    }
    dash.keys("q");
    dash.wait_text("quit");
    dash.press("y");
    dash.wait_exit();
    let log = dash.state.join("log/00000001.jsonl");
    let mut bytes = std::fs::read(&log).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    std::fs::write(&log, bytes).unwrap();
    dash
}

/// Runs `audit repair` without a terminal, with an answer on standard input.
fn repair_without_terminal(dash: &Dash, answer: &str) -> Output {
    let mut child = Command::new("setsid")
        .arg("--wait")
        .arg(env!("CARGO_BIN_EXE_countersign"))
        .args(["audit", "repair"])
        .env_clear()
        .envs(environment(dash.root()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(answer.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn only_a_person_at_a_terminal_repairs_a_log() {
    let mut dash = damaged_dashboard();
    let log = dash.state.join("log/00000001.jsonl");
    let before = std::fs::read(&log).unwrap();
    // The dashboard does not start, and says how to repair the log.
    dash.then(&[]);
    let screen = dash.wait_for("why it does not start", |d, text| {
        text.contains("repair") || d.alternate_screen()
    });
    // Line breaks depend on the length of the folder's name.
    assert!(screen.contains("damaged"), "{screen}");
    assert_eq!(dash.wait_exit().exit_code(), 1);

    let refused = repair_without_terminal(&dash, "yes\ny\n");
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stdout_of(&refused).contains("nothing was changed: repair asks a person"),
        "{}",
        stdout_of(&refused)
    );
    for flag in ["--yes", "--force", "-y"] {
        let output = dash.cli(&["audit", "repair", flag]);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{flag}: {}",
            stdout_of(&output)
        );
    }
    let dry = dash.cli(&["audit", "repair", "--dry-run"]);
    assert_eq!(dry.status.code(), Some(1));
    let explained = stdout_of(&dry);
    assert!(
        explained.starts_with("damaged  log/00000001.jsonl line"),
        "{explained}"
    );
    assert!(explained.contains("is unknown"), "{explained}");
    // Any answer but the digits cancels; keys typed before the question do not count.
    for typed in ["y\r", "\r", "0000 \r"] {
        dash.then(&["audit", "repair"]);
        dash.wait_text("to repair it");
        dash.keys(typed);
        dash.wait_text("nothing was changed");
        assert_eq!(dash.wait_exit().exit_code(), 1);
    }
    assert_eq!(std::fs::read(&log).unwrap(), before);
    assert_eq!(files(&dash.state.join("quarantine")), Vec::<PathBuf>::new());

    dash.then(&["audit", "repair"]);
    let page = dash.wait_text("to repair it");
    assert!(page.contains("damaged  log/00000001.jsonl line"), "{page}");
    assert!(page.contains("stays    every record through seq"), "{page}");
    assert!(
        page.contains("unattended"),
        "what is lost is listed: {page}"
    );
    assert!(page.contains("signed   through seq"), "{page}");
    assert!(page.contains("nothing is granted"), "{page}");
    assert!(explained.contains("mv '") && explained.contains("-before-repair'"));
    let digits = page.split_once("type ").unwrap().1[..4].to_owned();
    dash.keys(&format!("{digits}\r"));
    dash.wait_text("the log goes on");
    assert_eq!(dash.wait_exit().exit_code(), 0);
    // What was signed is lost nevertheless, until somebody moves the checkpoints away.
    let verify = dash.cli(&["audit", "verify"]);
    assert_eq!(verify.status.code(), Some(1), "{}", stdout_of(&verify));
    let shorter = "damaged: the log is shorter than the checkpoint";
    assert!(
        stdout_of(&verify).starts_with(shorter),
        "{}",
        stdout_of(&verify)
    );
    assert!(!stdout_of(&verify).contains("\nconsistent"));
    // So does a dashboard: it grants nothing.
    dash.then(&[]);
    dash.wait_text("LOG: NO GRANTS");
    let mut agent = dash.agent();
    let proposal = agent.propose(json!({"code": "print(3)\n"}));
    dash.wait_text("print(3)");
    let refused = "cannot grant: the audit log is not the one that was signed";
    dash.press_until("a", refused, |text| text.contains(refused));
    assert_eq!(agent.state(&proposal["id"]), "pending");
    dash.keys("q");
    dash.wait_text("quit");
    dash.press("y");
    dash.wait_exit();
    let signed = dash.state.with_file_name("state-checkpoints");
    std::fs::rename(&signed, dash.root().join("old-checkpoints")).unwrap();
    let verify = dash.cli(&["audit", "verify"]);
    assert_eq!(verify.status.code(), Some(0), "{}", stdout_of(&verify));
    // A reviewer of the log learns about the repair without opening a file.
    let report = stdout_of(&verify);
    assert!(
        report.contains("repaired 20") && report.contains(" by uid "),
        "{report}"
    );
    assert!(report.contains("intact record"), "{report}");
    let again = dash.cli(&["audit", "repair"]);
    assert_eq!(again.status.code(), Some(0), "{}", stdout_of(&again));
    assert!(
        stdout_of(&again).contains("the log is sound"),
        "{}",
        stdout_of(&again)
    );
    let aside = files(&dash.state.join("quarantine"));
    assert_eq!(aside.len(), 1);
    assert!(before.ends_with(&std::fs::read(&aside[0]).unwrap()));
    let text = dash.log_text();
    let record = text
        .lines()
        .find(|l| l.contains("\"kind\":\"recovered\""))
        .unwrap();
    let record: Value = serde_json::from_str(record).unwrap();
    assert_eq!(record["actor"], "person");
    assert!(
        record["by"]["uid"].is_u64() && record["lost"].is_string(),
        "{record}"
    );
    // The dashboard starts with the repaired log.
    dash.then(&[]);
    dash.wait_text("log ✓");
    let nothing = repair_without_terminal(&dash, "");
    assert!(
        stdout_of(&nothing).contains("in use by another dashboard"),
        "{}",
        stdout_of(&nothing)
    );
}

#[test]
fn a_start_sets_aside_the_remains_of_a_crash_and_says_so() {
    let mut dash = Dash::start();
    // The kill must come after the first record is in the log, or there would be none to tear.
    dash.wait_for("the first record", |d, _| {
        d.log_text().contains("\"opened\"")
    });
    dash.signal(Signal::SIGKILL);
    dash.wait_exit();
    // A batch written directly, of which only parts reached the disk.
    let log = dash.state.join("log/00000001.jsonl");
    let mut file = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
    let mut torn = b"{\"v\":1,\"seq\":9,\"batch\":9,".to_vec();
    torn.extend([0; 600]);
    torn.extend(b"}\n{\"v\":1,\"seq\":10,\"bat");
    file.write_all(&torn).unwrap();
    let verify = dash.cli(&["audit", "verify"]);
    assert_eq!(verify.status.code(), Some(1));
    let text = stdout_of(&verify);
    assert!(
        text.contains("incomplete, as a crash leaves them; the next start"),
        "{text}"
    );
    dash.then(&[]);
    dash.wait_text("log ✓");
    dash.wait_text("After a crash the log ended in");
    let verify = dash.cli(&["audit", "verify"]);
    assert_eq!(verify.status.code(), Some(0), "{}", stdout_of(&verify));
    let aside = files(&dash.state.join("quarantine"));
    assert_eq!(std::fs::read(&aside[0]).unwrap(), torn);
}

/// A closed dashboard with a log long enough for a start to believe its index.
fn long_dashboard() -> Dash {
    let mut dash = Dash::start();
    dash.wait_text("log ✓");
    dash.keys("q");
    dash.wait_exit();
    let (report, reports) = std::sync::mpsc::channel();
    let log = countersign::audit::open(&dash.state).unwrap();
    let handle = log.writer.start(Box::new(move |said| {
        let _ = report.send(said);
    }));
    let opened = samples::every_kind(model::ProposalId::new())
        .into_iter()
        .find(|event| matches!(event, model::LogEvent::Opened { .. }))
        .unwrap();
    handle.submit(model::Ticket::Unawaited, opened, Vec::new());
    reports.recv().unwrap();
    for n in 0..140 {
        let (mut event, blobs) = samples::proposed(model::ProposalId::new(), &format!("t{n}"));
        if let model::LogEvent::Proposed(p) = &mut event {
            p.reason = Some("why ".repeat(125_000));
        }
        handle.submit(model::Ticket::Unawaited, event, blobs);
        reports.recv().unwrap();
    }
    handle.close();
    let listed = dash.cli(&["audit", "list", "--limit", "1"]);
    assert_eq!(listed.status.code(), Some(0), "{}", stdout_of(&listed));
    assert!(dash.state.join("index/v1.sqlite3").exists());
    dash
}

#[test]
fn damage_that_a_forged_index_hides_from_the_start_stops_everything_a_moment_later() {
    let mut dash = long_dashboard();
    // Everything that the killed dashboard left open is closed by the next start.
    dash.then(&[]);
    dash.wait_text("log ✓");
    let status = dash.cli(&["status"]);
    assert!(
        stdout_of(&status).starts_with("0 pending"),
        "{}",
        stdout_of(&status)
    );
    let mut agent = dash.agent();
    assert_eq!(agent.code("print(1)\n")["state"], "pending");
    dash.keys("q");
    dash.wait_text("quit");
    dash.press("y");
    dash.wait_exit();
    let verify = dash.cli(&["audit", "verify"]);
    assert_eq!(verify.status.code(), Some(0), "{}", stdout_of(&verify));
    dash.cli(&["audit", "list", "--limit", "1"]);

    // Somebody changes a record and tells the index that this is the file it is of.
    let log = dash.state.join("log/00000001.jsonl");
    let mut bytes = std::fs::read(&log).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    std::fs::write(&log, bytes).unwrap();
    assert!(
        dash.state.join("log/00000002.jsonl").exists(),
        "no rotation"
    );
    let ns = |s: i64, n: i64| i128::from(s) * 1_000_000_000 + i128::from(n);
    let index = rusqlite::Connection::open(dash.state.join("index/v1.sqlite3")).unwrap();
    let read = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    let stopped = index.query_one("SELECT at FROM stopped", [], read).unwrap();
    let mut stopped: Value = serde_json::from_str(&stopped).unwrap();
    let stamps = (1..=2).map(|n| {
        let meta = std::fs::metadata(dash.state.join(format!("log/{n:08}.jsonl"))).unwrap();
        let stamp = std::collections::BTreeMap::from([
            ("dev", i128::from(meta.dev())),
            ("ino", i128::from(meta.ino())),
            ("bytes", i128::from(meta.len())),
            ("mtime", ns(meta.mtime(), meta.mtime_nsec())),
            ("ctime", ns(meta.ctime(), meta.ctime_nsec())),
        ]);
        (n, stamp)
    });
    let stamps: Vec<_> = stamps.collect();
    stopped["stamps"]["segments"] = serde_json::to_value(stamps).unwrap();
    let stopped = stopped.to_string();
    index
        .execute("UPDATE stopped SET at = ?1", [stopped])
        .unwrap();
    drop(index);
    dash.then(&[]);
    let screen = dash.wait_text("AUDIT DOWN");
    assert!(screen.contains("log/00000001.jsonl line"), "{screen}");
    let mut agent = dash.agent();
    let sent = agent.send("propose", json!({"code": "print(2)\n"}));
    let refused = agent.answer(sent, std::time::Duration::from_secs(20));
    assert!(refused["error"].is_object(), "{refused}");
    let status = dash.cli(&["status"]);
    assert!(
        stdout_of(&status).contains("log down"),
        "{}",
        stdout_of(&status)
    );
}
