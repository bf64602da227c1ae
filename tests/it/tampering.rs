//! A real dashboard's log with one change: every reader reports it, and no start ignores it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use common::dash::Dash;
use countersign::audit::{self, AuditError, Log};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

fn output_of(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8(text).unwrap()
}

/// Whether the dashboard that wrote the log was closed properly or killed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Closed,
    Killed,
}

/// A dashboard that ran one snippet with an input and left one proposal open.
fn closed_dashboard(end: End) -> (Dash, String) {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let proposal = agent.propose(json!({
        "code": "print(table.shape)\n",
        "inputs": {"table": {"text": "a,b\n1,2\n", "format": "csv"}},
    }));
    let id = proposal["id"].as_str().unwrap().to_owned();
    dash.grant(&mut agent, &proposal);
    assert_eq!(agent.outcome(&proposal["id"])["state"], "succeeded");
    assert_eq!(agent.code("print(2)\n")["state"], "pending");
    match end {
        End::Closed => {
            dash.keys("q");
            dash.wait_text("quit");
            dash.press("y");
        }
        End::Killed => dash.signal(Signal::SIGKILL),
    }
    dash.wait_exit();
    (dash, id)
}

/// Makes a writable copy.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copy(&entry.path(), &to);
        } else if kind.is_file() {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn blobs(state: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(state.join("blobs")).unwrap();
    let mut found: Vec<PathBuf> = folders
        .flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap())
        .map(|file| file.unwrap().path())
        .collect();
    found.sort();
    found
}

fn flip_byte(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 1 << (at % 8);
    bytes
}

/// Whether a start reacts to a log that `verify` reports as changed: it stops, or says what is
/// wrong, or says what it restored or set aside.
fn start_says(state: &Path, path: &Path, whole: &[u8]) -> bool {
    match audit::open(state) {
        Err(AuditError::Damaged { .. } | AuditError::Later { .. }) => true,
        Err(e) => panic!("another reason: {e}"),
        Ok(opened) => {
            let put_back = fs::read(path).is_ok_and(|now| now.starts_with(whole));
            opened.recovered.is_some() || opened.faults.first().is_some() || put_back
        }
    }
}

/// No changed byte is ignored, wherever it is.
#[test]
fn every_flipped_byte_of_a_real_log_is_named_by_verify_with_its_file() {
    for end in [End::Closed, End::Killed] {
        let (dash, _) = closed_dashboard(end);
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        copy(&dash.state, &state);
        let segment = state.join("log/00000001.jsonl");
        // The first damaged file, if any.
        let reported = || {
            let report = Log::open(&state).unwrap().verify().unwrap();
            let first = report.first().map(|damage| damage.file.clone());
            assert_eq!(report.consistent, first.is_none());
            first
        };
        // After a kill, the log's end may be in the journal only: a start restores it.
        drop(audit::open(&state).unwrap());
        assert_eq!(reported(), None, "{end:?}");

        let mut files = blobs(&state);
        assert!(files.len() >= 4, "{files:?}");
        files.push(segment);
        let mut tried = 0;
        for path in files {
            let original = fs::read(&path).unwrap();
            for at in 0..original.len() {
                fs::write(&path, flip_byte(&original, at)).unwrap();
                let file = reported().unwrap_or_default();
                assert!(
                    !file.is_empty() && path.ends_with(&file),
                    "{end:?}: byte {at} of {} is named as of {file:?}",
                    path.display()
                );
                tried += 1;
            }
            fs::write(&path, &original).unwrap();
        }
        assert!(tried > 2_000, "{tried}");
        assert_eq!(reported(), None, "as it was");
    }
}

/// With a changed byte in the log, a start stops or reports it, even right after a kill.
#[test]
fn no_start_passes_over_a_flipped_byte_in_the_files_of_a_dashboard() {
    for end in [End::Closed, End::Killed] {
        let (dash, _) = closed_dashboard(end);
        let segment = Path::new("log/00000001.jsonl");
        let original = fs::read(dash.state.join(segment)).unwrap();
        // A prime step, so that over many records every field of a record is hit.
        for at in (0..original.len()).step_by(53) {
            let dir = tempfile::tempdir().unwrap();
            let state = dir.path().join("state");
            copy(&dash.state, &state);
            let path = state.join(segment);
            fs::write(&path, flip_byte(&original, at)).unwrap();
            assert!(start_says(&state, &path, &original), "{end:?}: byte {at}");
        }
    }
}

/// The file of the blob with these bytes.
fn blob_file(state: &Path, bytes: &[u8]) -> PathBuf {
    let mut all = blobs(state).into_iter();
    all.find(|path| fs::read(path).unwrap() == bytes).unwrap()
}

#[test]
fn a_changed_content_is_named_by_commands_that_show_it_and_a_changed_length_by_those_that_list_it()
{
    let (dash, id) = closed_dashboard(End::Closed);
    let path = blob_file(&dash.state, b"print(table.shape)\n");
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    let show = || dash.cli(&["audit", "show", &id]);
    assert_eq!(show().status.code(), Some(0), "{}", output_of(&show()));

    // The length is unchanged, so only reading the content reveals the change.
    fs::write(&path, b"print(table.shapf)\n").unwrap();
    for output in [show(), dash.cli(&["audit", "show", &id, "--json"])] {
        assert_eq!(output.status.code(), Some(1));
        let text = output_of(&output);
        assert!(
            text.contains(&name) && text.contains("its content is not what"),
            "{text}"
        );
        assert!(
            !text.contains("shapf"),
            "what is changed is not shown: {text}"
        );
    }
    let verify = dash.cli(&["audit", "verify"]);
    assert_eq!(verify.status.code(), Some(1), "{}", output_of(&verify));
    fs::remove_file(&path).unwrap();
    let repair = dash.cli(&["audit", "repair"]);
    let text = output_of(&repair);
    assert_eq!(repair.status.code(), Some(1), "{text}");
    assert!(
        text.contains("no repair brings this back") && text.contains(&name),
        "{text}"
    );

    for bytes in [&b""[..], b"print(table.shape)", b"print(table.shape)\n\n"] {
        fs::write(&path, bytes).unwrap();
        for args in [
            &["audit", "list"][..],
            &["audit", "show", &id],
            &["audit", "verify"],
        ] {
            let output = dash.cli(args);
            assert_eq!(
                output.status.code(),
                Some(1),
                "{args:?}: {}",
                output_of(&output)
            );
            assert!(
                output_of(&output).contains(&name),
                "{args:?}: {}",
                output_of(&output)
            );
        }
    }
    fs::write(&path, b"print(table.shape)\n").unwrap();
    assert_eq!(show().status.code(), Some(0));
}

/// Appends a record of a later version with correct hashes.
fn add_later(segment: &Path) {
    let text = fs::read_to_string(segment).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let (seq, prev) = (
        last["seq"].as_u64().unwrap() + 1,
        last["hash"].as_str().unwrap(),
    );
    let body = format!("{{\"v\":2,\"seq\":{seq},\"kind\":\"of tomorrow\",\"prev\":\"{prev}\"");
    let hash = countersign::model::Digest::of(body.as_bytes()).hex();
    fs::write(segment, format!("{text}{body},\"hash\":\"{hash}\"}}\n")).unwrap();
}

#[test]
fn records_of_a_later_version_are_counted_by_commands_that_list_the_log() {
    let (dash, id) = closed_dashboard(End::Closed);
    add_later(&dash.state.join("log/00000001.jsonl"));
    // The lock file records no end of the log.
    fs::write(dash.state.join("lock"), "1\nlog\n").unwrap();
    for args in [&["status"][..], &["audit", "list"], &["audit", "verify"]] {
        let output = dash.cli(args);
        let text = output_of(&output);
        assert!(
            text.contains("1 record is of a later version and is not understood"),
            "{args:?}: {text}"
        );
        assert!(!text.contains("damaged"), "{args:?}: {text}");
    }
    let json = dash.cli(&["status", "--json"]).stdout;
    assert_eq!(
        serde_json::from_slice::<Value>(&json).unwrap()["unknown"],
        1
    );
    assert_eq!(dash.cli(&["audit", "show", &id]).status.code(), Some(0));
}
