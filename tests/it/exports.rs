//! `countersign audit export` as a command.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::mpsc;

use countersign::audit;
use countersign::model::{Blob, LogEvent, ProposalId, Ticket};

use crate::common::given;
use crate::samples;

fn log(state: &Path) -> [ProposalId; 2] {
    let ids = [ProposalId::new(), ProposalId::new()];
    let (tell, told) = mpsc::channel();
    let opened = audit::open(state).unwrap();
    let handle = opened
        .writer
        .start(Box::new(move |e| tell.send(e).unwrap()));
    let put = |(event, blobs): (LogEvent, Vec<Blob>)| {
        handle.submit(Ticket::Core(1), event, blobs);
        told.recv().unwrap();
    };
    put((samples::every_kind(ids[0]).remove(0), Vec::new()));
    put(samples::proposed(ids[0], "=1+1 \u{1b}[2J"));
    put((samples::granted(ids[0]), Vec::new()));
    put((samples::started(ids[0]), Vec::new()));
    put(samples::finished(ids[0]));
    put(samples::proposed(ids[1], "second"));
    put((samples::denied(ids[1]), Vec::new()));
    handle.close();
    ids
}

fn run(state: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(["audit", "export", "--state-dir"])
        .arg(state)
        .args(args)
        .output()
        .unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn what_is_printed_is_the_log_and_a_query_selects_from_it() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    fs::create_dir(&state).unwrap();
    let ids = log(&state);
    let whole = fs::read_to_string(state.join("log/00000001.jsonl")).unwrap();
    let (_, records) = whole.split_once('\n').unwrap();
    let printed = run(&state, &[]);
    assert!(printed.status.success(), "{printed:?}");
    assert_eq!(out(&printed), records);
    let denied = out(&run(&state, &["--format", "jsonl", "state:denied"]));
    assert_eq!(denied.lines().count(), 2, "{denied}");
    assert!(denied.lines().all(|l| l.contains(&ids[1].to_string())));
    let csv = out(&run(&state, &["--format", "csv", "state:succeeded"]));
    assert!(csv.contains("'=1+1 ␛[2J"), "{csv}");
    assert_eq!(csv.matches("\r\n").count(), 2, "{csv}");
    let wrong = run(&state, &["statte:denied"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(err(&wrong).contains("state"), "{}", err(&wrong));
}

#[test]
fn a_file_is_written_whole_privately_and_over_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    fs::create_dir(&state).unwrap();
    log(&state);
    let file = dir.path().join("out.csv");
    let path = file.to_str().unwrap();
    let written = run(&state, &["--format", "csv", "--out", path]);
    assert!(written.status.success(), "{written:?}");
    assert!(err(&written).contains("wrote"), "{}", err(&written));
    assert!(
        err(&written).contains("2 proposals, 6 records"),
        "{}",
        err(&written)
    );
    let mode = file.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let before = fs::read(&file).unwrap();
    let again = run(&state, &["--out", path]);
    assert!(
        !again.status.success() && err(&again).contains("--force"),
        "{}",
        err(&again)
    );
    assert_eq!(fs::read(&file).unwrap(), before);
    let forced = run(&state, &["--out", path, "--force"]);
    assert!(
        forced.status.success() && err(&forced).contains("replaced"),
        "{}",
        err(&forced)
    );
    assert_ne!(fs::read(&file).unwrap(), before);
    let link = dir.path().join("link");
    symlink(&file, &link).unwrap();
    let through = run(&state, &["--out", link.to_str().unwrap(), "--force"]);
    assert!(!through.status.success(), "{through:?}");
    let missing = dir.path().join("none/out.csv");
    let nowhere = run(&state, &["--out", missing.to_str().unwrap()]);
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(err(&nowhere).contains("make it first"), "{}", err(&nowhere));
    let names: Vec<_> = fs::read_dir(dir.path()).unwrap().collect();
    assert_eq!(names.len(), 3, "no partial file stays: {names:?}");
}

#[test]
fn an_export_of_a_damaged_log_ends_with_1_and_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    fs::create_dir(&state).unwrap();
    log(&state);
    let path = state.join("log/00000001.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, whole.replace("second", "sec0nd")).unwrap();
    let file = dir.path().join("out.jsonl");
    let refused = run(&state, &["--out", file.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(
        err(&refused).contains("was not written"),
        "{}",
        err(&refused)
    );
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    let printed = run(&state, &[]);
    assert_eq!(printed.status.code(), Some(1));
    assert!(err(&printed).contains("damaged"), "{}", err(&printed));
    // Up to the damage.
    assert_eq!(out(&printed).lines().count(), 5);
}

/// lnav itself reads the format and the log; both are judged by what it prints.
#[test]
fn lnav_reads_the_log_by_the_format_that_is_shipped() {
    let lnav = Command::new("lnav").arg("-V").output();
    if !given::is_handy(lnav.is_ok(), "lnav") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    fs::create_dir(&state).unwrap();
    let ids = log(&state);
    let formats = dir.path().join("lnav/formats/countersign");
    fs::create_dir_all(&formats).unwrap();
    let format = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/lnav/countersign.json");
    fs::copy(format, formats.join("countersign.json")).unwrap();
    let lnav = |more: &[&str]| {
        let done = Command::new("lnav")
            .env("HOME", dir.path())
            .arg("-I")
            .arg(dir.path().join("lnav"))
            .arg("-n")
            .args(more)
            .arg(state.join("log/00000001.jsonl"))
            .output()
            .unwrap();
        assert!(done.status.success() && done.stderr.is_empty(), "{done:?}");
        out(&done)
    };
    let shown = lnav(&[]);
    assert_eq!(shown.lines().count(), 8, "{shown}");
    let denied = shown.lines().last().unwrap();
    assert!(
        denied.contains("denied") && denied.contains(&ids[1].to_string()),
        "{denied}"
    );
    let counted = lnav(&[
        "-c",
        ";SELECT kind, log_level, log_opid FROM countersign_log WHERE kind = 'denied'",
        "-c",
        ":write-csv-to -",
    ]);
    let row = format!("denied,warning,{}", ids[1]);
    assert!(counted.contains(&row), "{counted}");
}

/// Every key of the format is one that lnav knows; lnav itself passes over others in silence.
#[test]
fn the_format_for_lnav_names_fields_that_records_have() {
    let text = include_str!("../../assets/lnav/countersign.json");
    let format: serde_json::Value = serde_json::from_str(text).unwrap();
    let format = &format["countersign_log"];
    let known = [
        "title",
        "description",
        "json",
        "hide-extra",
        "timestamp-field",
        "opid-field",
        "level-field",
        "level",
        "line-format",
        "value",
        "sample",
    ];
    for key in format.as_object().unwrap().keys() {
        assert!(known.contains(&key.as_str()), "{key}");
    }
    let id = ProposalId::new();
    let kinds = samples::every_kind(id);
    let level = |kind: &str| {
        let all = format["level"].as_object().unwrap().values();
        let patterns = all.map(|p| p.as_str().unwrap().trim_matches(['^', '$', '(', ')']));
        patterns
            .filter(|p| p.split('|').any(|one| one == kind))
            .count()
    };
    for event in &kinds {
        assert_eq!(level(event.kind()), 1, "{}", event.kind());
    }
    let values: Vec<serde_json::Value> = kinds
        .iter()
        .map(|event| serde_json::to_value(event).unwrap())
        .collect();
    let envelope = ["v", "seq", "batch", "segment", "actor", "hash", "ts"];
    for name in format["value"].as_object().unwrap().keys() {
        let pointer = format!("/{name}");
        let has = envelope.contains(&name.as_str())
            || values.iter().any(|value| value.pointer(&pointer).is_some());
        assert!(has, "{name}");
    }
    for field in format["line-format"].as_array().unwrap() {
        let name = field["field"].as_str().unwrap_or("__timestamp__");
        let has = name == "__timestamp__" || format["value"].get(name).is_some();
        assert!(has, "{name}");
    }
}
