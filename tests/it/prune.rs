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

use crate::proofs::check_once;
use crate::{model, samples};

/// How many days ago each segment ends; `retention_days` is 30.
const AGES: [i64; 3] = [40, 35, 0];
const TITLES: [&str; 3] = ["the oldest run", "an older run", "the newest run"];

/// Code that is different for each run but prints the same.
fn code(title: &str) -> Blob {
    Blob::of(format!("print('{title}')").as_bytes())
}

/// An id that was made so many days ago.
fn of_age(days: i64) -> ProposalId {
    let at = Timestamp::now() - SignedDuration::from_hours(24 * days);
    let at = uuid::Timestamp::from_unix(uuid::NoContext, at.as_second() as u64, 0);
    ProposalId::from_uuid(uuid::Uuid::new_v7(at))
}

/// Three runs in a row, appended by the library's own writer.
pub(super) fn runs(state: &Path) -> [ProposalId; 3] {
    let ids = AGES.map(of_age);
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
            samples::bind(log);
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

/// Another boot of the machine, whose clock says nothing of this one's.
const BOOT: &str = "00000000-0000-4000-8000-000000000000";

/// The record with its times replaced; `days` is that of the clock that nobody sets, in this boot or in another one.
fn with_time(body: &str, ts: Timestamp, boot: Option<&str>, days: i64) -> String {
    let (before, rest) = body.split_once("\"ts\":\"").unwrap();
    let (_, after) = rest.split_once('"').unwrap();
    let (before, mono) = before.split_once("\"mono_ns\":").unwrap();
    let (_, between) = mono.split_once(',').unwrap();
    let before = match (before.split_once("\"boot_id\":\""), boot) {
        (Some((begin, rest)), Some(boot)) => {
            let (_, end) = rest.split_once('"').unwrap();
            format!("{begin}\"boot_id\":\"{boot}\"{end}")
        }
        _ => before.to_owned(),
    };
    let ns = days * 24 * 3600 * 1_000_000_000;
    format!("{before}\"mono_ns\":{ns},{between}\"ts\":\"{ts}\"{after}")
}

/// Cuts the single segment into three with the ages in `AGES`: a writer begins a new one only every
/// 64 MiB, which takes weeks.
pub(super) fn split_segments(state: &Path, ids: &[ProposalId; 3]) {
    split_at(state, ids, Some(BOOT), |segment| {
        AGES[0] + 1 - AGES[segment]
    });
}

/// `days` is when each segment ends by the clock that nobody sets.
pub(super) fn split_at(
    state: &Path,
    ids: &[ProposalId; 3],
    boot: Option<&str>,
    days: impl Fn(usize) -> i64,
) {
    let log = state.join("log");
    let log_text = fs::read_to_string(log.join("00000001.jsonl")).unwrap();
    let segment_of = |line: &str| (1..3).rev().find(|i| line.contains(&ids[*i].to_string()));
    let mut segments = [const { Vec::new() }; 3];
    let mut at = 0;
    for line in log_text.lines().skip(1) {
        at = segment_of(line).unwrap_or(at);
        segments[at].push(line.rsplit_once(",\"prev\":\"").unwrap().0);
    }
    // The checkpoints that a dashboard made are of the log as it was, and would tell.
    let signed = state.with_file_name("state-checkpoints");
    if signed.exists() {
        fs::remove_dir_all(signed).unwrap();
    }
    let mut prev = "0".repeat(64);
    let mut seq = 1;
    for (i, bodies) in segments.iter().enumerate() {
        let ts = Timestamp::now() - SignedDuration::from_hours(24 * AGES[i]);
        let number = i + 1;
        let header = format!("{{\"v\":1,\"segment\":{number},\"first_seq\":{seq},\"ts\":\"{ts}\"");
        let mut text = sealed(&header, &mut prev);
        for body in bodies {
            text += &sealed(&with_time(body, ts, boot, days(i)), &mut prev);
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

    let salt = |id: &ProposalId| dash.state.join("salts").join(id.to_string());
    fs::create_dir(dash.state.join("salts")).unwrap();
    ids.iter()
        .for_each(|id| fs::write(salt(id), [7; 32]).unwrap());
    let done = dash.cli(&["audit", "prune"]);
    assert_eq!(
        ids.each_ref().map(|id| salt(id).exists()),
        [false, false, true]
    );
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
    // No view of the rest looks whole.
    let words = " (seq 1-11) were removed on ";
    for output in [&gone, &dash.cli(&["audit", "list"])] {
        let told = told(output);
        assert!(
            told.contains(words) && told.contains(": retention: 30 days; seq "),
            "{told}"
        );
    }
    // What was removed is signed at once.
    let key = dash.state.with_file_name("state-checkpoints/key.pub");
    let key = key.display().to_string();
    let verified = dash.cli(&["audit", "verify", "--require-anchor", "--key", &key]);
    assert_eq!(verified.status.code(), Some(0), "{}", text(&verified));
    let printed = text(&verified);
    assert!(
        printed.contains("\na checkpoint signs that removal\n"),
        "{printed}"
    );
    assert!(
        printed.contains("anchored through seq ") && !printed.contains("newer than"),
        "{printed}"
    );
    let bundle = dash.root().join("bundle").display().to_string();
    let exported = dash.cli(&["audit", "export", "--bundle", &bundle]);
    assert!(exported.status.success(), "{}", told(&exported));
    let page = fs::read_to_string(dash.root().join("bundle/index.html")).unwrap();
    assert!(
        page.contains("<dt>Not in the log</dt>") && page.contains(words),
        "{page}"
    );
    let key = dash.root().join("bundle/key.pub").display().to_string();
    let (good, checked) = check_once(&["--key", &key, &bundle]);
    assert!(
        good && checked.contains("    removed: seq 1 to 11, of "),
        "{checked}"
    );
    let shown = text(&dash.cli(&["audit", "show", &ids[2].to_string()]));
    assert!(shown.contains(TITLES[2]), "{shown}");
    let record = fs::read_to_string(log.join("00000003.jsonl")).unwrap();
    let last: Value = serde_json::from_str(record.lines().last().unwrap()).unwrap();
    assert_eq!(last["kind"], "pruned", "{last}");
    assert_eq!(last["through_segment"], 2, "{last}");
    let gap = &last["gap"];
    assert_eq!(
        (&gap["first_seq"], &gap["records"]),
        (&1.into(), &11.into()),
        "{last}"
    );
    assert_eq!(gap["contents"], 2, "{last}");
    assert!(printed.contains("removed seq 1-11, of "), "{printed}");
    assert!(printed.contains(" older than 30 days, on "), "{printed}");

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

/// The command on this log, with this `[audit]` table.
fn prune(dir: &Path, audit: &str, args: &[&str]) -> Output {
    let config = dir.join("config.toml");
    fs::write(&config, format!("[audit]\n{audit}\n")).unwrap();
    std::process::Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(["audit", "prune", "--config"])
        .arg(config)
        .arg("--state-dir")
        .arg(dir.join("state"))
        .args(args)
        .env("HOME", dir)
        .output()
        .unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A log of three segments, of which two are old.
fn three_segments() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    fs::create_dir(&state).unwrap();
    let ids = runs(&state);
    split_segments(&state, &ids);
    let log = state.join("log");
    (dir, log)
}

/// Segments that are old by the wall's clock alone: it was set ahead after the second one.
#[test]
fn a_clock_that_was_set_ahead_makes_nothing_old() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    fs::create_dir(&state).unwrap();
    let ids = runs(&state);
    split_at(&state, &ids, None, |_| 10_000);
    let kept = files(&state);
    let kinds = "retention_days = 30\n[audit.retention]\ncode_days = 20";
    let output = prune(dir.path(), kinds, &[]);
    assert_eq!(text(&output), "", "{}", told(&output));
    for said in [
        "by the log's own time it is ",
        ", 40 days before this machine's clock",
        "0 contents",
    ] {
        let said = said.replace("0 contents", "0 blobs");
        assert!(told(&output).contains(&said), "{said}: {}", told(&output));
    }
    assert_eq!(files(&state.join("log")).len(), 3);
    assert!(
        kept.iter()
            .filter(|path| path.to_string_lossy().contains("blobs"))
            .all(|path| path.exists())
    );
    // Whoever knows better says so.
    let output = prune(dir.path(), kinds, &["--by-the-clock"]);
    assert_eq!(text(&output).lines().count(), 2, "{}", told(&output));
    assert!(!told(&output).contains("own time"), "{}", told(&output));
}

#[test]
fn what_is_on_hold_stays_with_everything_after_it() {
    let (dir, log) = three_segments();
    let hold = "retention_days = 30\nhold = 'title:\"an older run\"'";
    let dry = prune(dir.path(), hold, &["--dry-run"]);
    let first = format!("{}\n", log.join("00000001.jsonl").display());
    assert_eq!(text(&dry), first, "{}", told(&dry));
    let done = prune(dir.path(), hold, &[]);
    assert_eq!(text(&done), first, "{}", told(&done));
    for said in [
        "on hold: title:\"an older run\"",
        "log/00000002.jsonl has 1 proposal of these: it stays",
    ] {
        assert!(told(&done).contains(said), "{said}: {}", told(&done));
    }
    let left = [log.join("00000002.jsonl"), log.join("00000003.jsonl")];
    assert_eq!(files(&log), left);
    // Its code is there, and the gap has a record that names the hold.
    let blob = code(TITLES[1]).sha256.hex();
    let blobs = files(&dir.path().join("state/blobs"));
    assert!(blobs.iter().any(|path| path.ends_with(&blob)));
    let last = fs::read_to_string(&left[1]).unwrap();
    let last: Value = serde_json::from_str(last.lines().last().unwrap()).unwrap();
    assert_eq!(last["kind"], "pruned");
    assert_eq!(last["hold"][0], "title:\"an older run\"", "{last}");
    let report = audit::Log::open(&dir.path().join("state"))
        .unwrap()
        .verify();
    assert!(report.unwrap().consistent);
    // Once the hold is lifted, it goes.
    let lifted = prune(dir.path(), "retention_days = 30", &[]);
    assert!(lifted.status.success(), "{}", told(&lifted));
    assert_eq!(files(&log), left[1..]);
}

#[test]
fn nothing_goes_under_a_hold_that_cannot_be_read() {
    let (dir, log) = three_segments();
    let before = files(&log);
    let refused = prune(
        dir.path(),
        "retention_days = 30\nhold = 'statte:denied'",
        &[],
    );
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        told(&refused).contains("nothing is removed"),
        "{}",
        told(&refused)
    );
    assert_eq!(files(&log), before);
}

#[test]
fn flags_remove_less_than_the_configuration_allows_and_never_more() {
    let (dir, log) = three_segments();
    let before = files(&log);
    let days = "retention_days = 30";
    let refused = prune(dir.path(), days, &["--older-than", "5"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        told(&refused).contains("keeps 30 days"),
        "{}",
        told(&refused)
    );
    for (args, goes) in [
        (&["--older-than", "38"][..], 1),
        (&["--older-than", "50"], 0),
        (&["--down-to", "1000000000"], 0),
        (&["--down-to", "1"], 2),
        (&["--kind", "code"], 0),
        (&["--kind", "log"], 2),
    ] {
        let dry = prune(dir.path(), days, &[args, &["--dry-run"]].concat());
        assert_eq!(text(&dry).lines().count(), goes, "{args:?}: {}", told(&dry));
    }
    // One byte less than both: one segment is enough.
    let bytes: u64 = before
        .iter()
        .map(|path| path.metadata().unwrap().len())
        .sum();
    let most = (bytes - 1).to_string();
    let dry = prune(dir.path(), days, &["--down-to", &most, "--dry-run"]);
    assert_eq!(text(&dry).lines().count(), 1, "{}", told(&dry));
    assert_eq!(files(&log), before);
}

#[test]
fn the_oldest_segments_go_until_everything_takes_no_more_than_its_bytes() {
    let (dir, log) = three_segments();
    let state = dir.path().join("state");
    let before = files(&log);
    let size = |paths: &[PathBuf]| {
        paths
            .iter()
            .map(|p| p.metadata().unwrap().len())
            .sum::<u64>()
    };
    let all = size(&before) + size(&files(&state.join("blobs")));
    for (bytes, goes) in [(all, 0), (all - 1, 1), (1, 2)] {
        let most = format!("retention_bytes = {bytes}");
        let dry = prune(dir.path(), &most, &["--dry-run"]);
        assert_eq!(text(&dry).lines().count(), goes, "{bytes}: {}", told(&dry));
    }
    let refused = prune(dir.path(), "retention_bytes = 1", &["--older-than", "9"]);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    // A hold counts here as well.
    let held = prune(
        dir.path(),
        "retention_bytes = 1\nhold = 'title:\"the oldest run\"'",
        &[],
    );
    assert_eq!(text(&held), "", "{}", told(&held));
    assert!(
        told(&held).contains("log/00000001.jsonl has 1 proposal of these"),
        "{}",
        told(&held)
    );

    // Kept code goes with its records.
    let id = audit::Log::open(&state)
        .unwrap()
        .proposals()
        .unwrap()
        .proposals[2]
        .id;
    fs::create_dir(state.join("kept")).unwrap();
    let kept = state.join(format!("kept/run_2026-01-01T00-00-00Z_{id}.py"));
    fs::write(&kept, "print(1)").unwrap();
    let done = prune(dir.path(), &format!("retention_bytes = {all}"), &[]);
    let first = format!("{}\n{}\n", kept.display(), before[0].display());
    assert_eq!(text(&done), first, "{}", told(&done));
    assert!(!kept.exists());
    assert_eq!(files(&log), before[1..]);
    let report = audit::Log::open(&state).unwrap().verify().unwrap();
    assert!(report.consistent, "{report:?}");
    let gap = report.removals[0].gap.as_ref().unwrap();
    assert_eq!((gap.first_seq, gap.retention_bytes), (1, Some(all)));
}

/// The key of a log as that of a witness (C2SP `tlog-cosignature`: the algorithm is 4).
fn cosigner(key: &str) -> String {
    use base64::{Engine as _, prelude::BASE64_STANDARD};
    let (name, rest) = key.split_once('+').unwrap();
    let (_, data) = rest.split_once('+').unwrap();
    let mut data = BASE64_STANDARD.decode(data).unwrap();
    data[0] = 4;
    let id = countersign::model::Digest::of(&[name.as_bytes(), b"\n", &data].concat()).hex();
    format!("{name}+{}+{}", &id[..8], BASE64_STANDARD.encode(&data))
}

#[test]
fn a_witness_that_does_not_answer_costs_no_signature() {
    let (dir, log) = three_segments();
    // The first one goes, and what remains is signed.
    let bytes = |paths: Vec<PathBuf>| {
        paths
            .iter()
            .map(|p| p.metadata().unwrap().len())
            .sum::<u64>()
    };
    let all = bytes(files(&log)) + bytes(files(&dir.path().join("state/blobs")));
    let done = prune(dir.path(), &format!("retention_bytes = {}", all - 1), &[]);
    assert!(!told(&done).contains("signed and kept"), "{}", told(&done));
    let key = fs::read_to_string(dir.path().join("state-checkpoints/key.pub")).unwrap();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let witness = format!(
        "retention_bytes = 1\nwitnesses = [\"http://127.0.0.1:{port} {}\"]",
        cosigner(key.trim())
    );
    let done = prune(dir.path(), &witness, &[]);
    assert_eq!(files(&log).len(), 1, "{}", told(&done));
    assert!(
        told(&done)
            .contains(" is signed and kept, but not taken by all who should have it: witness "),
        "{}",
        told(&done)
    );
    let report = audit::Log::open(&dir.path().join("state")).unwrap();
    assert!(report.verify().unwrap().consistent);
}

#[test]
fn contents_go_by_kind_and_their_records_stay() {
    let (dir, log) = three_segments();
    let kinds = "[audit.retention]\ncode_days = 38";
    let audit = format!("hold = ''\n{kinds}");
    let dry = prune(dir.path(), &audit, &["--dry-run"]);
    assert_eq!(text(&dry), "", "{}", told(&dry));
    let before = files(&dir.path().join("state/blobs")).len();
    let said = "  1 content of 23 bytes of 1 proposal by kind; the records stay and say so";
    for output in [dry, prune(dir.path(), &audit, &[])] {
        assert!(
            told(&output).contains("code after 38 days"),
            "{}",
            told(&output)
        );
        assert!(told(&output).contains(said), "{}", told(&output));
    }
    assert_eq!(files(&dir.path().join("state/blobs")).len(), before - 1);
    assert_eq!(files(&log).len(), 3);
    let report = audit::Log::open(&dir.path().join("state"))
        .unwrap()
        .verify();
    let report = report.unwrap();
    assert!(report.consistent && report.erased == 1, "{report:?}");
}

/// What a record says of a gap must fit the gap.
#[test]
fn a_forged_record_of_a_gap_is_found() {
    let (dir, log) = three_segments();
    let done = prune(dir.path(), "retention_days = 30", &[]);
    assert!(done.status.success(), "{}", told(&done));
    let path = log.join("00000003.jsonl");
    let good = fs::read_to_string(&path).unwrap();
    let verify = |text: &str| {
        fs::write(&path, text).unwrap();
        let report = audit::Log::open(&dir.path().join("state"))
            .unwrap()
            .verify();
        let report = report.unwrap();
        report.first().map(|damage| damage.what.clone())
    };
    assert_eq!(verify(&good), None);
    let (begin, last) = good.trim_end().rsplit_once('\n').unwrap();
    let (body, _) = last.rsplit_once(",\"prev\":\"").unwrap();
    let forged = |from: &str, to: &str| {
        assert!(body.contains(from), "{from}: {body}");
        let hash = &begin[begin.len() - 66..begin.len() - 2];
        let line = sealed(&body.replacen(from, to, 1), &mut hash.to_owned());
        verify(&format!("{begin}\n{line}"))
    };
    let zeros = "0".repeat(64);
    let hash = Digest::of(b"of another log").hex();
    for (from, to, what) in [
        // Fewer records than are gone, more of them, and none.
        ("\"records\":9", "\"records\":8", "counts 8 records"),
        ("\"first_seq\":1,", "\"first_seq\":2,", "counts 9 records"),
        ("\"records\":9", "\"records\":0", "counts 0 records"),
        // The record of another gap, and of another log.
        (
            "\"through_seq\":9",
            "\"through_seq\":8",
            "another end of the removed",
        ),
        (
            "\"through_segment\":2",
            "\"through_segment\":1",
            "no record says that it was removed",
        ),
        (
            &format!("\"before\":\"sha256:{zeros}\""),
            &format!("\"before\":\"sha256:{hash}\""),
            "another line before",
        ),
        (
            "\"kind\":\"pruned\"",
            "\"kind\":\"closed\"",
            "`closed` is a record of the dashboard",
        ),
    ] {
        let found = forged(from, to);
        assert!(
            found.as_ref().is_some_and(|found| found.contains(what)),
            "{what}: {found:?}"
        );
    }
    let head = body
        .split_once("\"head\":\"")
        .unwrap()
        .1
        .split_once('"')
        .unwrap()
        .0
        .to_owned();
    let found = forged(&head, &format!("sha256:{hash}")[..head.len()]);
    assert!(found.is_some(), "the head of another log");
    // A gap in the middle is none that a record can explain, and neither is a larger one.
    assert_eq!(verify(&good), None);
    fs::remove_file(&path).unwrap();
    let report = audit::Log::open(&dir.path().join("state"));
    assert!(report.is_err() || report.unwrap().verify().unwrap().damage.is_some());
}

/// A shipper of somebody else's, with the configuration that the guide shows.
struct Shipper {
    dir: PathBuf,
    child: std::process::Child,
}

impl Shipper {
    fn start(dir: &Path, log: &Path) -> Self {
        let (dir, shown) = (dir.to_owned(), dir.display());
        let log = log.display();
        let config = format!(
            "global(maxMessageSize=\"32m\" workDirectory=\"{shown}\")\n\
             module(load=\"imfile\" mode=\"inotify\")\n\
             input(type=\"imfile\" file=\"{log}/*.jsonl\" tag=\"countersign\" addMetadata=\"off\" escapeLF=\"off\" reopenOnTruncate=\"off\" ruleset=\"out\")\n\
             template(name=\"raw\" type=\"string\" string=\"%msg%\\n\")\n\
             ruleset(name=\"out\") {{ action(type=\"omfile\" file=\"{shown}/shipped\" template=\"raw\") }}\n"
        );
        let path = dir.join("rsyslog.conf");
        fs::write(&path, config).unwrap();
        let child = std::process::Command::new("rsyslogd")
            .args(["-n", "-f"])
            .arg(path)
            .arg("-i")
            .arg(dir.join("pid"))
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        Self { dir, child }
    }

    /// The sequence numbers that were shipped, once there are so many.
    fn shipped(&self, count: usize) -> Vec<u64> {
        let mut seqs = Vec::new();
        for _ in 0..300 {
            let text = fs::read_to_string(self.dir.join("shipped")).unwrap_or_default();
            let whole = text
                .split_inclusive('\n')
                .filter(|line| line.ends_with('\n'));
            let lines = whole.map(|line| serde_json::from_str::<Value>(line).unwrap());
            seqs = lines.filter_map(|line| line["seq"].as_u64()).collect();
            if seqs.len() >= count {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        seqs
    }

    fn stop(mut self) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Shipper {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

#[test]
fn a_shipper_gets_each_record_once_across_rotation_restart_and_prune() {
    let there = std::process::Command::new("rsyslogd").arg("-v").output();
    if !common::given::is_handy(there.is_ok(), "rsyslogd") {
        return;
    }
    let (dir, log) = three_segments();
    let state = dir.path().join("state");
    let shipper = dir.path().join("shipper");
    fs::create_dir(&shipper).unwrap();
    let last = || {
        let text = fs::read_to_string(log.join("00000003.jsonl")).unwrap();
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        last["seq"].as_u64().unwrap()
    };
    // It finds three segments, is away while more is written, and is there while two of them go.
    let running = Shipper::start(&shipper, &log);
    let before = last();
    assert_eq!(
        running.shipped(usize::try_from(before).unwrap()).len() as u64,
        before
    );
    running.stop();
    runs(&state);
    let running = Shipper::start(&shipper, &log);
    running.shipped(usize::try_from(last()).unwrap());
    assert!(
        prune(dir.path(), "retention_days = 30", &[])
            .status
            .success()
    );
    runs(&state);
    let all = last();
    let mut seqs = running.shipped(usize::try_from(all).unwrap());
    running.stop();
    assert!(!log.join("00000001.jsonl").exists() && all > before + 10);
    seqs.sort_unstable();
    assert_eq!(seqs, (1..=all).collect::<Vec<_>>());
}
