//! All readers of a log report the same faults.

use std::fs;
use std::path::Path;

use super::super::samples::{finished, granted, proposed, started, unnoted};
use super::super::{AuditError, Damage, Log, open};
use super::*;
use crate::audit::open::write_one;
use crate::model::{Blob, Digest, LogEvent};

/// A log with one finished and one pending proposal.
fn sample(dir: &Path) -> [ProposalId; 2] {
    let ids = [ProposalId::new(), ProposalId::new()];
    let events = [
        proposed(ids[0], "first"),
        (granted(ids[0]), Vec::new()),
        (started(ids[0]), Vec::new()),
        finished(ids[0]),
        proposed(ids[1], "second"),
    ];
    add(dir, events);
    ids
}

fn add(dir: &Path, events: impl IntoIterator<Item = (LogEvent, Vec<Blob>)>) {
    let (report, reports) = std::sync::mpsc::channel();
    let handle = open(dir).unwrap().writer.start(Box::new(move |said| {
        let _ = report.send(said);
    }));
    for (event, blobs) in events {
        handle.submit(crate::model::Ticket::Unawaited, event, blobs);
        reports.recv().unwrap();
    }
    handle.close();
}

/// The segment's lines without `prev` and `hash`.
fn bodies(dir: &Path) -> Vec<String> {
    let text = fs::read_to_string(dir.join("log/00000001.jsonl")).unwrap();
    text.lines()
        .map(|l| l[..l.len() - 149].to_owned())
        .collect()
}

/// Rewrites the segment with correct hashes, as a forger who knows the format would.
fn forge(dir: &Path, bodies: &[String]) {
    let mut prev = "0".repeat(64);
    let mut text = String::new();
    for body in bodies {
        let line = format!("{body},\"prev\":\"{prev}\"");
        let hash = Digest::of(line.as_bytes()).hex();
        text.push_str(&format!("{line},\"hash\":\"{hash}\"}}\n"));
        prev = hash;
    }
    fs::write(dir.join("log/00000001.jsonl"), text).unwrap();
    unnoted(dir);
}

/// The first fault, after checking that all readers report the same one.
fn first_fault(dir: &Path) -> Option<Damage> {
    let log = Log::open(dir).unwrap();
    let report = log.verify().unwrap();
    let first = log.proposals().unwrap().faults.first().cloned();
    assert_eq!(report.consistent, first.is_none(), "{report:?}");
    let all = [&report.impossible[..], &report.bad_blobs[..]].concat();
    let mut all: Vec<_> = all.into_iter().chain(report.damage).collect();
    all.sort_by_key(|damage| damage.seq);
    assert_eq!(all.first(), first.as_ref());
    let single = log.records(ProposalId::new()).unwrap();
    assert_eq!(single.faults.first(), first.as_ref());
    assert_eq!(log.summary().unwrap().faults.first(), first.as_ref());
    first
}

/// The first fault at a dashboard's start, and whether the start fails.
fn start(dir: &Path) -> (Option<Damage>, bool) {
    match open(dir) {
        Ok(opened) => (opened.faults.first().cloned(), false),
        Err(AuditError::Damaged { damage, .. }) => (Some(damage), true),
        Err(e) => panic!("{e}"),
    }
}

#[test]
fn a_line_that_is_not_a_record_of_its_version_is_damage_for_every_reader() {
    let dir = tempfile::tempdir().unwrap();
    let [finished, _] = sample(dir.path());
    let original = bodies(dir.path());
    let id = finished.to_string();
    for (kind, from, to, expected) in [
        (
            "finished",
            "\"state\":\"succeeded\"",
            "\"state\":\"banana\"",
            "banana",
        ),
        (
            "proposed",
            "\"title\":\"first\"",
            "\"title\":{\"a\":[]}",
            "invalid type",
        ),
        (
            "granted",
            &*format!("\"id\":\"{id}\""),
            "\"id\":\"me\"",
            "not a record",
        ),
        (
            "proposed",
            "\"digest\":\"",
            "\"digest\":\"/etc/passwd",
            "a digest is",
        ),
        (
            "granted",
            "\"policy_sha256\":\"00",
            "\"policy_sha256\":\"..",
            "is not a digest",
        ),
        (
            "proposed",
            "\"policy_sha256\":\"00",
            "\"policy_sha256\":\"+1",
            "is not a digest",
        ),
        (
            "finished",
            "\"artifacts\":[]",
            "\"artifacts\":[{\"name\":\"a\",\"media_type\":\"b\",\"bytes\":1,\"sha256\":\"../x\"}]",
            "is not a digest",
        ),
        (
            "started",
            "\"kind\":\"started\"",
            "\"kind\":\"dreamt\"",
            "unknown variant `dreamt`",
        ),
        (
            "started",
            "\"mono_ns\":",
            "\"mono\":",
            "missing field `mono_ns`",
        ),
    ] {
        let at = original
            .iter()
            .position(|l| l.contains(&format!("\"kind\":\"{kind}\"")))
            .unwrap();
        let mut forged = original.clone();
        forged[at] = forged[at].replacen(from, to, 1);
        assert_ne!(forged[at], original[at], "{from}");
        forge(dir.path(), &forged);
        let damage = first_fault(dir.path()).unwrap_or_else(|| panic!("{to} passes"));
        assert_eq!(
            (damage.line, damage.seq),
            (Some(at as u64 + 1), Some(at as u64))
        );
        assert!(damage.what.contains(expected), "{damage}");
        assert_eq!(start(dir.path()), (Some(damage), true));
    }
    forge(dir.path(), &original);
    assert_eq!(first_fault(dir.path()), None);
    assert_eq!(start(dir.path()), (None, false));
}

#[test]
fn an_impossible_life_is_reported_by_every_reader_and_stops_nothing() {
    let is_kind = |kind: &str, body: &String| body.contains(&format!("\"kind\":\"{kind}\""));
    let renumbered = |bodies: Vec<String>| -> Vec<String> {
        let number = |(n, body): (usize, String)| match body.split_once(",\"boot_id\"") {
            Some((_, rest)) => format!("{{\"v\":1,\"seq\":{n},\"boot_id\"{rest}"),
            None => body,
        };
        bodies.into_iter().enumerate().map(number).collect()
    };
    for (what, seq) in [
        ("granted left out", 2),
        ("granted twice", 3),
        ("denied after the end", 6),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let [finished, _] = sample(dir.path());
        let mut forged = bodies(dir.path());
        let at = forged.iter().position(|b| is_kind("granted", b)).unwrap();
        match what {
            "granted left out" => drop(forged.remove(at)),
            "granted twice" => forged.insert(at, forged[at].clone()),
            _ => {
                let body = &forged[5];
                let head = body.split_once("\"kind\"").unwrap().0;
                forged.push(format!(
                    "{head}\"kind\":\"expired\",\"id\":\"{finished}\",\"actor\":\"dashboard\""
                ));
            }
        }
        forge(dir.path(), &renumbered(forged));
        let damage = first_fault(dir.path()).unwrap_or_else(|| panic!("{what} passes"));
        assert_eq!(
            (damage.line, damage.seq),
            (Some(seq + 1), Some(seq)),
            "{what}: {damage}"
        );
        assert!(damage.what.contains(&finished.to_string()), "{damage}");
        assert_eq!(start(dir.path()), (Some(damage.clone()), false));
        add(dir.path(), [proposed(ProposalId::new(), "goes on")]);
        assert_eq!(
            first_fault(dir.path()),
            Some(damage),
            "the fault is still reported"
        );
    }
}

#[test]
fn a_missing_blob_is_reported_by_every_reader_and_stops_nothing() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path());
    let output = Layout::at(dir.path()).blob(&Digest::of(b"1\n")).1;
    fs::remove_file(output).unwrap();
    let damage = first_fault(dir.path()).unwrap();
    assert_eq!(damage.seq, Some(4));
    assert!(
        damage.file.starts_with("blobs/") && damage.what.contains("missing"),
        "{damage}"
    );
    assert_eq!(start(dir.path()), (Some(damage), false));
}

#[test]
fn a_missing_log_is_damage_if_any_file_shows_that_there_was_one() {
    for left in ["lock", "journal-0", "blobs", "quarantine"] {
        for removed in [true, false] {
            let dir = tempfile::tempdir().unwrap();
            sample(dir.path());
            let at = |name: &str| dir.path().join(name);
            fs::remove_file(at("log/00000001.jsonl")).unwrap();
            if removed {
                fs::remove_dir(at("log")).unwrap();
            }
            fs::write(at("quarantine/x"), "x").unwrap();
            for name in ["lock", "journal-0", "journal-1", "blobs", "quarantine"] {
                match name {
                    _ if name == left => {}
                    "blobs" | "quarantine" => fs::remove_dir_all(at(name)).unwrap(),
                    _ => fs::remove_file(at(name)).unwrap(),
                }
            }
            let damage = first_fault(dir.path()).unwrap();
            assert_eq!((&*damage.file, damage.seq), ("log/00000001.jsonl", Some(1)));
            assert!(damage.what.contains(left), "{damage}");
            assert_eq!(start(dir.path()), (Some(damage), true), "{left}");
            assert!(!at("log/00000001.jsonl").exists(), "no new log was started");
        }
    }
}

#[test]
fn a_folder_that_never_had_a_log_gets_one() {
    let dir = tempfile::tempdir().unwrap();
    let none = || matches!(Log::open(dir.path()), Err(AuditError::None { .. }));
    assert!(none());
    let layout = Layout::at(dir.path());
    layout.make().unwrap();
    // A first start that ended before it made a segment.
    drop(lock::Lock::take(&layout).unwrap());
    assert!(none(), "a folder without segments has no log");
    sample(dir.path());
    assert_eq!(first_fault(dir.path()), None);
}

#[test]
fn records_of_a_later_version_are_not_damage() {
    let dir = tempfile::tempdir().unwrap();
    let [_, pending] = sample(dir.path());
    let mut forged = bodies(dir.path());
    let head = |v: u32, seq: u64| {
        format!(
            "{{\"v\":{v},\"seq\":{seq},\"boot_id\":\"b\",\"mono_ns\":1,\"ts\":\"2030-01-01T00:00:00Z\""
        )
    };
    forged.push(format!(
        "{},\"kind\":\"suspended\",\"id\":\"{pending}\"",
        head(2, 6)
    ));
    // This version cannot know what may follow a record of a later one.
    forged.push(format!(
        "{},\"kind\":\"withdrawn\",\"id\":\"{pending}\",\"disconnected\":true,\"actor\":\"agent\"",
        head(1, 7)
    ));
    forge(dir.path(), &forged);
    assert_eq!(first_fault(dir.path()), None);
    let log = Log::open(dir.path()).unwrap();
    assert_eq!(log.verify().unwrap().unknown, 1);
    let history = log.records(pending).unwrap();
    assert_eq!((history.records.len(), history.unknown), (2, 1));
    let error = open(dir.path()).unwrap_err().to_string();
    assert!(
        error.contains("line 7 (seq 6): it is of version 2"),
        "{error}"
    );
    assert!(error.contains("start the later version"), "{error}");
}

/// The records that a start adds for a killed dashboard's proposals complete a valid life.
#[test]
fn proposals_that_were_open_are_ended_and_the_log_verifies() {
    let dir = tempfile::tempdir().unwrap();
    let [_, pending] = sample(dir.path());
    let runs = ProposalId::new();
    add(
        dir.path(),
        [
            proposed(runs, "t"),
            (granted(runs), vec![]),
            (started(runs), vec![]),
        ],
    );
    let opened = open(dir.path()).unwrap();
    let mut open_now = opened.unfinished.clone();
    open_now.sort_by_key(|(id, _)| *id);
    assert_eq!(
        open_now,
        [
            (pending, crate::model::State::Pending),
            (runs, crate::model::State::Running)
        ]
    );
    write_one(dir.path(), opened, LogEvent::Unattended { id: pending })
        .unwrap()
        .close();
    let event = LogEvent::Failed {
        id: runs,
        state: crate::model::State::Error,
        message: "the dashboard stopped before this ended".to_owned(),
    };
    add(dir.path(), [(event, Vec::new())]);
    assert_eq!(first_fault(dir.path()), None);
    assert!(open(dir.path()).unwrap().unfinished.is_empty());
}
