//! `countersign audit prune` on a log of several segments, and how the other commands and a
//! dashboard handle the rest.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::mpsc;

use common::dash::{Dash, Options};
use countersign::audit::{self, WriterEvent};
use countersign::model::{Blob, Digest, LogEvent, ProposalId, Ticket};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::{model, samples};

/// How many days ago each segment ends; `retention_days` is 30.
const AGES: [i64; 3] = [40, 35, 0];
const TITLES: [&str; 3] = ["the oldest run", "an older run", "the newest run"];

/// Code that is different for each run but prints the same.
fn code(title: &str) -> Blob {
    Blob::of(format!("print('{title}')").as_bytes())
}

/// Three runs in a row, appended by the library's own writer.
fn runs(state: &Path) -> [ProposalId; 3] {
    let ids = TITLES.map(|_| ProposalId::new());
    let opened = audit::open(state).unwrap();
    let (tell, told) = mpsc::channel();
    let handle = opened
        .writer
        .start(Box::new(move |e| tell.send(e).unwrap()));
    let put = |(event, blobs): (LogEvent, Vec<Blob>)| {
        handle.submit(Ticket::Core(1), event, blobs);
        assert!(matches!(told.recv().unwrap(), WriterEvent::Durable { .. }));
    };
    let mut kinds = samples::every_kind(ids[0]).into_iter();
    put((kinds.next().unwrap(), Vec::new()));
    for (id, title) in ids.iter().zip(TITLES) {
        let (mut proposed, mut blobs) = samples::proposed(*id, title);
        if let LogEvent::Proposed(log) = &mut proposed {
            blobs[0] = code(title);
            log.digest = blobs[0].sha256;
            log.verdict.source = model::SourceStats::of(&blobs[0].bytes);
        }
        put((proposed, blobs));
        let mut granted = samples::granted(*id);
        if let LogEvent::Granted(log) = &mut granted {
            log.digest = code(title).sha256;
        }
        put((granted, Vec::new()));
        put((samples::started(*id), Vec::new()));
        put(samples::finished(*id));
    }
    handle.close();
    ids
}

/// A line as `src/audit/line.rs` describes it: its body, then the hash of the line before and its
/// own.
fn sealed(body: &str, prev: &mut String) -> String {
    let body = format!("{body},\"prev\":\"{prev}\"");
    *prev = Digest::of(body.as_bytes()).hex();
    format!("{body},\"hash\":\"{prev}\"}}\n")
}

/// The record with its time replaced.
fn with_time(body: &str, ts: Timestamp) -> String {
    let (before, rest) = body.split_once("\"ts\":\"").unwrap();
    let (_, after) = rest.split_once('"').unwrap();
    format!("{before}\"ts\":\"{ts}\"{after}")
}

/// Cuts the single segment into three with the ages in `AGES`: a writer begins a new one only every
/// 64 MiB, which takes weeks.
fn split_segments(state: &Path, ids: &[ProposalId; 3]) {
    let log = state.join("log");
    let log_text = fs::read_to_string(log.join("00000001.jsonl")).unwrap();
    let segment_of = |line: &str| (1..3).rev().find(|i| line.contains(&ids[*i].to_string()));
    let mut segments = [const { Vec::new() }; 3];
    let mut at = 0;
    for line in log_text.lines().skip(1) {
        at = segment_of(line).unwrap_or(at);
        segments[at].push(line.rsplit_once(",\"prev\":\"").unwrap().0);
    }
    let mut prev = "0".repeat(64);
    let mut seq = 1;
    for (i, bodies) in segments.iter().enumerate() {
        let ts = Timestamp::now() - SignedDuration::from_hours(24 * AGES[i]);
        let number = i + 1;
        let header = format!("{{\"v\":1,\"segment\":{number},\"first_seq\":{seq},\"ts\":\"{ts}\"");
        let mut text = sealed(&header, &mut prev);
        for body in bodies {
            text += &sealed(&with_time(body, ts), &mut prev);
            seq += 1;
        }
        fs::write(log.join(format!("{number:08}.jsonl")), text).unwrap();
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn whole_old_segments_are_removed_and_everything_else_goes_on() {
    let mut dash = Dash::with(&Options {
        config: "[audit]\nretention_days = 30\n",
        ..Options::default()
    });
    dash.keys("q");
    assert!(dash.wait_exit().success());
    let ids = runs(&dash.state);
    split_segments(&dash.state, &ids);
    let (log, blobs) = (dash.state.join("log"), dash.state.join("blobs"));
    let printed = text(&dash.cli(&["audit", "verify"]));
    assert!(printed.starts_with("consistent: "), "{printed}");
    let list = text(&dash.cli(&["audit", "list"]));
    assert!(TITLES.iter().all(|title| list.contains(title)), "{list}");
    let before = (files(&log), files(&blobs));
    assert_eq!(before.0.len(), 3);

    // A dry run lists what would be removed and removes nothing.
    let dry = dash.cli(&["audit", "prune", "--dry-run"]);
    let assert_names = |output: &Output| {
        let printed = String::from_utf8(output.stderr.clone()).unwrap();
        let paths = text(output);
        let first = format!("{}\n", log.join("00000001.jsonl").display());
        let second = format!("{}\n", log.join("00000002.jsonl").display());
        assert_eq!(paths, first + &second, "{printed}");
        printed
    };
    let printed = assert_names(&dry);
    assert!(printed.contains("would be removed"), "{printed}");
    assert!(
        printed.contains("log/00000002.jsonl of 4 records"),
        "{printed}"
    );
    assert_eq!((files(&log), files(&blobs)), before);

    let done = dash.cli(&["audit", "prune"]);
    let printed = assert_names(&done);
    assert!(
        printed.contains("`audit verify` goes on from there"),
        "{printed}"
    );
    assert_eq!(files(&log), [log.join("00000003.jsonl")]);
    // Only blobs that no remaining record names are removed.
    let remaining = files(&blobs);
    let gone: Vec<_> = before
        .1
        .iter()
        .filter(|path| !remaining.contains(path))
        .collect();
    let own = |title| code(title).sha256.hex();
    let is_own = |path: &PathBuf| TITLES[..2].iter().any(|title| path.ends_with(own(title)));
    assert!(
        gone.len() == 2 && gone.iter().all(|path| is_own(path)),
        "{gone:?}"
    );
    assert!(printed.contains("2 blobs of"), "{printed}");

    let printed = text(&dash.cli(&["audit", "verify"]));
    assert!(printed.starts_with("consistent: "), "{printed}");
    // The removed records: opening and closing of the log, then two runs.
    assert!(
        printed.contains("records up to seq 11 were removed"),
        "{printed}"
    );
    let list = text(&dash.cli(&["audit", "list"]));
    assert_eq!(list.lines().count(), 1, "{list}");
    assert!(list.contains(TITLES[2]), "{list}");
    let gone = dash.cli(&["audit", "show", &ids[0].to_string()]);
    assert!(!gone.status.success(), "{gone:?}");
    let shown = text(&dash.cli(&["audit", "show", &ids[2].to_string()]));
    assert!(shown.contains(TITLES[2]), "{shown}");
    let record = fs::read_to_string(log.join("00000003.jsonl")).unwrap();
    let last: Value = serde_json::from_str(record.lines().last().unwrap()).unwrap();
    assert_eq!(last["kind"], "pruned", "{last}");
    assert_eq!(last["through_segment"], 2, "{last}");

    // Nothing else is old enough.
    let repeated = dash.cli(&["audit", "prune"]);
    assert_eq!(text(&repeated), "");
    // A dashboard continues with the remaining log.
    dash.then(&[]);
    dash.wait_for("the socket", |d, _| d.socket.exists());
    let screen = dash.press_until("2", "the audit screen", |screen| screen.contains(TITLES[2]));
    assert!(!screen.contains(TITLES[1]), "{screen}");
    dash.keys("q");
    assert!(dash.wait_exit().success());
    let printed = text(&dash.cli(&["audit", "verify"]));
    assert!(printed.starts_with("consistent: "), "{printed}");
}
