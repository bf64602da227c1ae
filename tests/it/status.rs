//! `countersign status --watch`: what a status bar reads.

use std::io::{BufRead as _, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use countersign::audit::{self, WriterEvent, WriterHandle};
use countersign::model::{LogEvent, ProposalId, Ticket};
use serde_json::Value;

use crate::samples;

fn watch(dir: &Path, more: &[&str]) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(["status", "--watch"])
        .args(more)
        .env("COUNTERSIGN_STATE_DIR", dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

/// A dashboard's log, held open by this process.
fn dashboard(dir: &Path) -> (WriterHandle, Receiver<WriterEvent>) {
    let (report, reports) = channel();
    let handle = audit::open(dir)
        .unwrap()
        .writer
        .start(Box::new(move |said| {
            let _ = report.send(said);
        }));
    (handle, reports)
}

#[test]
fn a_watch_prints_a_line_for_each_change_and_ends_with_its_reader() {
    let dir = tempfile::tempdir().unwrap();
    let (mut child, mut lines) = watch(dir.path(), &[]);
    let mut next = || lines.next().unwrap().unwrap();
    assert_eq!(next(), "no dashboard · log none");
    for _ in 0..2 {
        let (handle, reports) = dashboard(dir.path());
        assert_eq!(next(), "0 pending · 0 running · log ok");
        let id = ProposalId::new();
        let (mut event, blobs) = samples::proposed(id, "t\x1b[2J");
        if let LogEvent::Proposed(p) = &mut event {
            p.expires_at = jiff::Timestamp::UNIX_EPOCH;
        }
        handle.submit(Ticket::Core(1), event, blobs);
        reports.recv().unwrap();
        let line = next();
        assert!(
            line.starts_with("1 pending · 0 running · first expires 1970-01-01 ")
                && line.ends_with(" · log ok"),
            "{line}"
        );
        handle.submit(Ticket::Core(2), samples::denied(id), Vec::new());
        reports.recv().unwrap();
        assert_eq!(next(), "0 pending · 0 running · log ok");
        handle.close();
        // The dashboard went away: that is one more change, not the end.
        assert_eq!(next(), "no dashboard · log ok");
    }
    drop(lines);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_watch_for_waybar_prints_its_objects() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, reports) = dashboard(dir.path());
    let (event, blobs) = samples::proposed(ProposalId::new(), "t");
    handle.submit(Ticket::Core(1), event, blobs);
    reports.recv().unwrap();
    let (mut child, mut lines) = watch(dir.path(), &["--format", "json"]);
    let line = lines.next().unwrap().unwrap();
    let object: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(object["text"], "1");
    assert_eq!(object["class"], "pending");
    assert!(
        object["tooltip"]
            .as_str()
            .unwrap()
            .starts_with("1 pending\n0 running\n")
    );
    drop(lines);
    assert!(child.wait().unwrap().success());
    handle.close();
}

#[test]
fn the_format_belongs_to_a_watch() {
    let dir = tempfile::tempdir().unwrap();
    for wrong in [&["--format", "json"][..], &["--watch", "--json"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_countersign"))
            .arg("status")
            .args(wrong)
            .env("COUNTERSIGN_STATE_DIR", dir.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}
