//! What a sound chain says although the program never writes it is named, and what the program writes is not.

use std::path::Path;
use std::process::{Command, Output};

use countersign::audit::{self, Log};
use countersign::model::{Lane, LogEvent, ProposalId, Ticket, Viewed};

use crate::{made, samples};

fn ask(state: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_countersign"))
        .env_clear()
        .env("HOME", state)
        .arg("--state-dir")
        .arg(state)
        .arg("audit")
        .args(words)
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// The log of `benches/audit` is one that the program could have written.
#[test]
fn the_log_of_the_bench_is_plausible() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    made::write(&state, 400);
    let report = Log::open(&state).unwrap().verify().unwrap();
    assert!(report.records > 400 && report.consistent, "{report:?}");
    assert_eq!((report.odd_count, report.odd), (0, Vec::new()));
    let output = ask(&state, &["verify"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).starts_with("consistent: "));
}

#[test]
fn what_the_program_never_writes_is_named_with_its_rule_and_fails() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let ids: Vec<ProposalId> = (0..7).map(|_| ProposalId::new()).collect();
    let opened = audit::open(&state).unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    let handle = opened
        .writer
        .start(Box::new(move |event| tell.send(event).unwrap()));
    for id in &ids {
        let mut granted = samples::granted(*id);
        if let LogEvent::Granted(g) = &mut granted {
            g.viewed = Viewed {
                selected_ms: 34_000,
                ..g.viewed
            };
        }
        for (event, blobs) in [samples::proposed(*id, "t"), (granted, Vec::new())] {
            handle.submit_in(Lane::Agents, Ticket::Unawaited, event, blobs);
            told.recv().unwrap();
        }
    }
    handle.close();
    let output = ask(&state, &["verify"]);
    let report = said(&output);
    assert_eq!(output.status.code(), Some(1), "{report}");
    let lines: Vec<&str> = report.lines().collect();
    assert_eq!(lines[0], "7 records say what this program never writes:");
    for (n, line) in lines[1..6].iter().enumerate() {
        let (file_line, seq) = (2 * n + 3, 2 * n + 2);
        let place = format!(
            "  log/00000001.jsonl line {file_line} (seq {seq}): `granted` after a look of 34,000 ms, "
        );
        assert!(line.starts_with(&place), "{line}");
    }
    assert_eq!(lines[6], "  and 2 more");
    assert!(
        lines[7].starts_with("the chain is intact: 14 records"),
        "{report}"
    );
    assert!(!report.contains("consistent"), "{report}");
    let json: serde_json::Value =
        serde_json::from_slice(&ask(&state, &["verify", "--json"]).stdout).unwrap();
    assert_eq!(
        (&json["consistent"], &json["odd_count"]),
        (&false.into(), &7.into())
    );
    // The one that is shown names its own.
    let output = ask(&state, &["show", &ids[3].to_string()]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("(seq 8): `granted` after a look of 34,000 ms, "));
}
