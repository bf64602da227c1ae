//! What is exported is what the log has, and nothing of a line that changed.

use std::fs;
use std::path::Path;

use jiff::Timestamp;

use super::super::samples::{CODE, denied, finished, granted_as, proposed, started};
use super::super::{Answers, Log, open};
use super::*;
use crate::model::{Blob, LogEvent, ProposalId, Reviewer, Ticket, Tier};

pub(super) fn write(state: &Path, events: Vec<(LogEvent, Vec<Blob>)>) {
    let (report, reports) = std::sync::mpsc::channel();
    let handle = open(state).unwrap().writer.start(Box::new(move |said| {
        let _ = report.send(said);
    }));
    for (event, blobs) in events {
        handle.submit(Ticket::Unawaited, event, blobs);
        reports.recv().unwrap();
    }
    handle.close();
}

/// Three proposals whose records lie between one another's: one ran, one was denied, one waits.
fn three(state: &Path, titles: [&str; 3]) -> [ProposalId; 3] {
    let ids = titles.map(|_| ProposalId::new());
    let plain = |event| (event, Vec::new());
    write(
        state,
        vec![
            plain(LogEvent::Opened {
                version: "0".to_owned(),
                by: Reviewer::default(),
                tier: Tier::Process,
                environment: None,
                preflight: Vec::new(),
                drills: None,
            }),
            proposed(ids[0], titles[0]),
            proposed(ids[1], titles[1]),
            plain(granted_as(ids[0], CODE)),
            plain(denied(ids[1])),
            proposed(ids[2], titles[2]),
            plain(started(ids[0])),
            finished(ids[0]),
        ],
    );
    ids
}

pub(super) fn query(text: &str) -> Query {
    Query::parse(text, Timestamp::now()).unwrap()
}

pub(super) fn exported(
    answers: &mut Answers,
    question: &str,
    format: Format,
) -> (String, Exported) {
    let mut out = Vec::new();
    let done = export(answers, &query(question), format, &mut out, &mut |_| true).unwrap();
    (String::from_utf8(out).unwrap(), done)
}

fn lines_of(state: &Path) -> Vec<String> {
    let text = fs::read_to_string(state.join("log/00000001.jsonl")).unwrap();
    text.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn records_are_exported_byte_for_byte_with_an_index_and_without() {
    let dir = tempfile::tempdir().unwrap();
    let ids = three(dir.path(), ["a", "b", "c"]);
    let log = Log::open(dir.path()).unwrap();
    let lines = lines_of(dir.path());
    for mut answers in [log.answers().unwrap(), log.answers_without_index().unwrap()] {
        let (text, done) = exported(&mut answers, "", Format::Jsonl);
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
        assert_eq!((done.proposals, done.records), (None, lines.len() as u64));
        let of = |id: ProposalId| lines.iter().filter(move |l| l.contains(&id.to_string()));
        let expected: Vec<&String> = of(ids[0]).chain(of(ids[1])).collect();
        let (text, done) = exported(&mut answers, "state:granted OR state:denied", Format::Jsonl);
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
        assert_eq!((done.proposals, done.records), (Some(2), 6));
        let (text, done) = exported(&mut answers, "by:nobody", Format::Jsonl);
        assert_eq!((text.as_str(), done.proposals), ("", Some(0)));
    }
}

#[test]
fn nothing_of_a_line_that_changed_is_exported() {
    let dir = tempfile::tempdir().unwrap();
    let ids = three(dir.path(), ["a", "before", "c"]);
    let log = Log::open(dir.path()).unwrap();
    for (question, format) in [
        ("", Format::Jsonl),
        ("state:denied", Format::Jsonl),
        ("", Format::Csv),
    ] {
        let mut answers = log.answers().unwrap();
        // Between the index's look at the log and the export.
        let path = dir.path().join("log/00000001.jsonl");
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, whole.replace("before", "behind")).unwrap();
        let (text, _) = exported(&mut answers, question, format);
        assert!(!text.contains("behind"), "{text}");
        let faults = answers.faults();
        assert!(faults.first().is_some(), "{question} {format:?}");
        fs::write(&path, whole).unwrap();
    }
    assert_eq!(ids.len(), 3);
}

/// The fields of a CSV text, read as RFC 4180 says.
fn fields(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let (mut chars, mut quoted) = (text.chars().peekable(), false);
    while let Some(c) = chars.next() {
        let row = rows.last_mut().unwrap();
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                row.last_mut().unwrap().push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(String::new()),
            '\r' if !quoted && chars.peek() == Some(&'\n') => {
                chars.next();
                rows.push(vec![String::new()]);
            }
            c => row.last_mut().unwrap().push(c),
        }
    }
    assert_eq!(rows.pop(), Some(vec![String::new()]), "ends with CR LF");
    rows
}

#[test]
fn a_hostile_title_stays_one_inert_cell() {
    let dir = tempfile::tempdir().unwrap();
    let titles = [
        "=HYPERLINK(\"http://x\",\"y\")",
        "a\r\n=1+1,\"b\"\t@SUM(A1)",
        "\u{1b}[2J-2+3;=cmd|' /C calc'!A0\u{202e}",
    ];
    let ids = three(dir.path(), titles);
    let mut answers = Log::open(dir.path()).unwrap().answers().unwrap();
    let (text, done) = exported(&mut answers, "", Format::Csv);
    let rows = fields(&text);
    assert_eq!((rows.len(), done.proposals), (4, Some(3)));
    let column = |name: &str| rows[0].iter().position(|n| n == name).unwrap();
    for (row, (id, title)) in rows[1..].iter().zip(ids.iter().zip(titles)) {
        assert_eq!(row.len(), rows[0].len());
        assert_eq!(row[column("id")], id.to_string());
        // Without the apostrophes the title is all there.
        let shown = row[column("title")].replace('\'', "");
        assert_eq!(shown, crate::model::visible(title).replace('\'', ""));
        for cell in row {
            assert!(
                !cell.starts_with(['=', '+', '-', '@', '\t', '\r']),
                "{cell}"
            );
            // Where a spreadsheet cuts at other signs, too.
            for part in cell.split([',', ';', '\t', '|', '"']) {
                assert!(
                    !part.trim_start().starts_with(['=', '+', '-', '@']),
                    "{cell}"
                );
            }
            let hidden = |c: char| crate::model::escape(c).is_some();
            assert!(!cell.contains(hidden), "{cell}");
        }
    }
    let ran = &rows[1];
    for (name, cell) in [
        ("state", "succeeded"),
        ("decision", "granted"),
        ("run_ms", "41"),
        ("exit", "0"),
        ("first_seq", "2"),
        ("last_seq", "8"),
    ] {
        assert_eq!(ran[column(name)], cell, "{name}");
    }
    assert_eq!(rows[2][column("denial")], "no");
    assert_eq!(rows[3][column("decision")], "");
}
