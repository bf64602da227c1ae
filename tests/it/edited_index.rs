//! Somebody edits the index in the state folder and leaves the log as it is: which command says what, with which exit code.

use std::path::PathBuf;
use std::process::Output;

use countersign::audit::{self, WriterEvent};
use countersign::model::{Blob, Lane, LogEvent, ProposalId, Ticket};
use serde_json::Value;

use crate::proofs::Signed;
use crate::samples;

/// What is done to the index, by number of the proposal: 1 ran, 2 was denied.
const EDITS: [(&str, &str); 8] = [
    (
        "the decision is hidden",
        "delete from records where seq = 2",
    ),
    (
        "all but the question is hidden, and the row says that it waits",
        "delete from records where n = 1 and seq > 1; update proposals set state = 'pending', course = 'waits', at = asked, \
         by_uid = null, by_login = null, by_shown = null, took = null, look = null, ran = null, tier = null, \
         shown = null where n = 1",
    ),
    (
        "a proposal is hidden",
        "delete from records where n = 1; delete from proposals where n = 1",
    ),
    (
        "two proposals are mixed",
        "update records set n = 1 where n = 2",
    ),
    (
        "a reviewer is invented",
        "update proposals set by_uid = 77, by_login = 'eve', by_shown = 'eve' where n = 1",
    ),
    (
        "what was denied was granted",
        "update proposals set state = 'succeeded', course = 'granted' where n = 2",
    ),
    (
        "a rule is invented",
        "insert into facts values ('rule', 'net001', 2)",
    ),
    ("a rule is hidden", "delete from facts where n = 1"),
];

/// What stands on both streams.
fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

struct Edited {
    log: Signed,
}

impl Edited {
    /// A log with one proposal that ran and one that was denied, and so many bytes more.
    fn new(more: usize) -> Self {
        let log = Signed::new();
        let id = ProposalId::new();
        let new = Self { log };
        let opened = LogEvent::Opened {
            version: "0".repeat(more),
            by: Default::default(),
            tier: countersign::model::Tier::Process,
            environment: None,
            preflight: Vec::new(),
            drills: None,
        };
        new.write(vec![
            (opened, Vec::new()),
            samples::proposed(id, "second"),
            (samples::denied(id), Vec::new()),
        ]);
        new.log.sign();
        new
    }

    fn write(&self, events: Vec<(LogEvent, Vec<Blob>)>) {
        let (tell, told) = std::sync::mpsc::channel();
        let opened = audit::open(&self.log.state()).unwrap();
        let handle = opened.writer.start(Box::new(move |event: WriterEvent| {
            tell.send(event).unwrap();
        }));
        for (event, blobs) in events {
            handle.submit_in(Lane::Agents, Ticket::Unawaited, event, blobs);
            told.recv().unwrap();
        }
        handle.close();
    }

    fn index(&self) -> PathBuf {
        self.log.state().join("index/v1.sqlite3")
    }

    /// Makes the index, and edits it.
    fn edit(&self, change: &str) {
        drop(std::fs::remove_dir_all(self.log.state().join("index")));
        let output = self.ask(&["show", &self.id()]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let index = rusqlite::Connection::open(self.index()).unwrap();
        index.execute_batch(change).unwrap();
    }

    fn id(&self) -> String {
        self.log.id.to_string()
    }

    fn ask(&self, words: &[&str]) -> Output {
        self.log.cli(&[&["audit"], words].concat())
    }
}

#[test]
fn each_edit_of_the_index_of_a_short_log_is_told_by_each_command_and_the_log_answers() {
    let log = Edited::new(1);
    let id = log.id();
    let commands: [&[&str]; 8] = [
        &["list"],
        &["list", "rule:net*"],
        &["list", "--json", "state:succeeded"],
        &["stats"],
        &["show", &id],
        &["show", &id[28..]],
        &["prove", &id],
        &["playback", &id],
    ];
    // Bare answers, before anything is edited.
    let right: Vec<Output> = commands.iter().map(|words| log.ask(words)).collect();
    for (output, words) in right.iter().zip(commands) {
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", said(output));
    }
    for (name, change) in EDITS {
        for (words, right) in commands.iter().zip(&right) {
            log.edit(change);
            let output = log.ask(words);
            let all = said(&output);
            assert_eq!(output.status.code(), Some(1), "{name}, {words:?}: {all}");
            assert_eq!(output.stdout, right.stdout, "{name}, {words:?}: {all}");
            assert!(
                all.contains("the index was changed: index/v1.sqlite3: "),
                "{name}, {words:?}: {all}"
            );
            assert!(!log.index().exists(), "{name}, {words:?}");
        }
        // Neither goes by the index.
        log.edit(change);
        let exported = log.ask(&["export"]);
        assert_eq!(exported.status.code(), Some(0), "{name}");
        assert_eq!(
            said(&exported).matches("\"kind\":\"granted\"").count(),
            1,
            "{name}"
        );
        // Verification finds it once; then it is gone.
        for found in [true, false] {
            let verified = said(&log.ask(&["verify"]));
            let changed = verified.contains("changed: index/v1.sqlite3: ");
            assert_eq!(changed, found, "{name}: {verified}");
        }
    }
}

#[test]
fn of_a_long_log_one_proposal_is_told_whole_and_what_is_counted_says_from_where() {
    // More bytes than are compared before an answer.
    let log = Edited::new(9_500_000);
    let id = log.id();
    let commands: [&[&str]; 3] = [&["show", &id], &["prove", &id], &["playback", &id]];
    let right: Vec<Output> = commands.iter().map(|words| log.ask(words)).collect();
    // These change what a proposal's own lines say.
    for (name, change) in &EDITS[..4] {
        for (words, right) in commands.iter().zip(&right) {
            log.edit(change);
            let output = log.ask(words);
            let all = said(&output);
            assert_eq!(output.status.code(), Some(1), "{name}, {words:?}: {all}");
            assert_eq!(output.stdout, right.stdout, "{name}, {words:?}: {all}");
        }
    }
    // A row is compared with its lines.
    let listed = log.ask(&["list"]);
    for (name, change) in &EDITS[1..6] {
        log.edit(change);
        let output = log.ask(&["list"]);
        match *name {
            "a proposal is hidden" => assert_eq!(output.status.code(), Some(0)),
            _ => {
                assert_eq!(output.status.code(), Some(1), "{name}: {}", said(&output));
                assert_eq!(output.stdout, listed.stdout, "{name}");
            }
        }
    }
    let counted = log.ask(&["stats", "--json"]);
    for (name, change) in EDITS {
        log.edit(change);
        // The last line of what is counted says what it rests on; nothing else is known of it.
        let output = log.ask(&["stats", "--json"]);
        let last = String::from_utf8(output.stderr).unwrap();
        assert!(
            last.trim_end().ends_with("through record 7 of 7 by what made it from the log; `--from-log` reads the log itself"),
            "{name}: {last}"
        );
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["counted_from"]["source"], "index");
        assert_eq!(json["counted_from"]["last_compared"]["through"], 7);
        // The log itself answers as before.
        let output = log.ask(&["stats", "--json", "--from-log"]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let mut json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["counted_from"]["source"].take(), "log");
        let mut right: Value = serde_json::from_slice(&counted.stdout).unwrap();
        right["counted_from"] = json["counted_from"].clone();
        assert_eq!(json, right, "{name}");
        let output = log.ask(&["list", "--from-log"]);
        assert_eq!(
            (output.status.code(), output.stdout),
            (Some(0), listed.stdout.clone()),
            "{name}"
        );
        assert_eq!(output.stderr, b"", "{name}");
        drop(std::fs::remove_file(log.index()));
    }
    // Verification is noted; nothing depends on the note.
    assert_eq!(
        log.ask(&["show", &id, "--from-log"]).stdout,
        right[0].stdout
    );
    assert_eq!(log.ask(&["list"]).status.code(), Some(0));
    let verified = said(&log.ask(&["verify"]));
    assert!(
        verified.contains("the index says what the log says"),
        "{verified}"
    );
    assert!(said(&log.ask(&["list"])).contains("through record 7 of 7 by `audit verify`; "));
    std::fs::write(
        log.log.state().join("index/compared.json"),
        "{\"through\":0}",
    )
    .unwrap();
    assert!(said(&log.ask(&["list"])).contains("nothing says when that was last compared"));
}
