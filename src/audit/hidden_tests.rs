//! Whoever can write the folder edits the index and leaves the log as it is: what is hidden or changed there is found, and
//! what others rely on has it nevertheless.

use std::fs;

use jiff::Timestamp;

use super::attacks_tests::Signed;
use super::index::Known;
use super::layout::Layout;
use super::query::Query;
use super::{Answers, History, Log};

/// What an export has: the titles of all proposals, and how many lines.
fn exported(mut answers: Answers) -> (Vec<String>, usize) {
    let (mut titles, mut lines) = (Vec::new(), 0);
    let everything = Query::parse("", Timestamp::now()).unwrap();
    let told = answers.each_told(&everything, |told| {
        titles.extend(told.case.asked.title.as_deref().map(str::to_owned));
        Ok::<(), ()>(())
    });
    told.unwrap().unwrap();
    let line = |_: &[u8]| {
        lines += 1;
        Ok::<(), ()>(())
    };
    answers.each_line(line).unwrap().unwrap();
    (titles, lines)
}

const HIDDEN: &str = "DELETE FROM records WHERE n = 2; DELETE FROM proposals WHERE n = 2;";

#[test]
fn what_others_rely_on_has_what_an_index_hides() {
    let log = Signed::new();
    let opened = Log::open(&log.state).unwrap();
    let all = exported(opened.answers().unwrap());
    assert_eq!(all.0, ["one", "two", "one", "two"]);
    Known::forge(&Layout::at(&log.state), HIDDEN);
    let index = exported(opened.answers().unwrap());
    assert_eq!(
        (index.0.len(), index.1),
        (3, all.1 - 2),
        "nothing is hidden"
    );
    assert_eq!(exported(opened.answers_anew(&|_| {}).unwrap()), all);
    // It is nobody else's, and leaves nothing.
    let before = fs::read_dir(log.state.join("index")).unwrap().count();
    drop(opened.answers_anew(&|_| {}).unwrap());
    assert_eq!(
        fs::read_dir(log.state.join("index")).unwrap().count(),
        before
    );
}

/// What whoever can write the folder changes in the index, and whether a row of the list shows it at once.
const IN_THE_INDEX: [(&str, &str, bool); 12] = [
    ("a proposal is hidden", HIDDEN, false),
    (
        "a record is hidden",
        "DELETE FROM records WHERE seq = 4",
        true,
    ),
    (
        "a record is one of another proposal",
        "UPDATE records SET n = 2 WHERE n = 1 AND seq > 1",
        true,
    ),
    (
        "a record stands twice",
        "INSERT INTO records SELECT seq + 1000, n, kind, segment, line, offset, length, hash FROM records WHERE seq = 2",
        true,
    ),
    (
        "a record is that of another place",
        "UPDATE records SET line = line + 1 WHERE seq = 2",
        false,
    ),
    (
        "a decision is another one",
        "UPDATE proposals SET state = 'denied', course = 'denied' WHERE n = 1",
        true,
    ),
    (
        "a title is another one",
        "UPDATE proposals SET title = 'three' WHERE n = 1",
        true,
    ),
    (
        "an agent is another one",
        "UPDATE proposals SET agent_shown = 'x' WHERE n = 1",
        true,
    ),
    (
        "a person is another one",
        "UPDATE proposals SET by_uid = 77 WHERE n = 2",
        true,
    ),
    (
        "a fact is hidden",
        "DELETE FROM facts WHERE n = 1 AND kind = 'code'",
        false,
    ),
    (
        "a fact is invented",
        "INSERT INTO facts VALUES ('rule', 'net001', 1)",
        false,
    ),
    (
        "words are hidden",
        "DELETE FROM words WHERE rowid = 1",
        false,
    ),
];

#[test]
fn what_is_changed_in_the_index_is_found_by_verify_and_by_the_row_that_shows_it() {
    let log = Signed::new();
    let opened = Log::open(&log.state).unwrap();
    let everything = || Query::parse("", Timestamp::now()).unwrap();
    for (name, change, shows) in IN_THE_INDEX {
        let forged = || {
            drop(opened.answers().unwrap());
            assert_eq!(log.said(), "nothing", "{name}");
            Known::forge(&Layout::at(&log.state), change);
        };
        forged();
        let said = log.said();
        assert!(
            said.contains("it does not say what the log says"),
            "{name}: {said}"
        );
        // It is gone, and the next one is made from the log.
        assert_eq!(log.said(), "nothing", "{name}");
        forged();
        let page = opened
            .answers()
            .and_then(|mut answers| answers.page(&everything(), 0, 9));
        match page {
            Err(e) => assert!(
                shows && e.to_string().contains("does not say what the log says"),
                "{name}: {e}"
            ),
            Ok(_) => assert!(!shows, "{name} is shown"),
        }
        drop(fs::remove_dir_all(log.state.join("index")));
    }
}

#[test]
fn one_proposal_is_shown_whole_whatever_the_index_hides() {
    let log = Signed::new();
    let opened = Log::open(&log.state).unwrap();
    let all = opened
        .answers_without_index()
        .unwrap()
        .page(&Query::default(), 0, 9)
        .unwrap();
    for case in all {
        let lines = |history: History| -> Vec<String> {
            history
                .records
                .into_iter()
                .map(|record| record.line)
                .collect()
        };
        let whole = lines(opened.records(case.id).unwrap());
        let id = case.id.to_string();
        for change in [
            format!(
                "UPDATE records SET n = NULL, kind = 'x' WHERE n = (SELECT n FROM proposals WHERE id = '{id}')"
            ),
            format!("DELETE FROM proposals WHERE id = '{id}'"),
        ] {
            drop(opened.answers().unwrap());
            Known::forge(&Layout::at(&log.state), &change);
            let mut answers = opened.answers().unwrap();
            assert_eq!(answers.ids(&id[20..]).unwrap(), [case.id]);
            assert_eq!(lines(answers.records(case.id).unwrap()), whole, "{change}");
        }
        // One record of several is hidden: what is proved is all of it.
        drop(opened.answers().unwrap());
        let last =
            "(SELECT max(seq) FROM records WHERE n = (SELECT n FROM proposals WHERE id = 'ID'))";
        let change = format!("DELETE FROM records WHERE seq = {last}").replace("ID", &id);
        Known::forge(&Layout::at(&log.state), &change);
        let mut answers = opened.answers().unwrap();
        assert_eq!(lines(answers.records_whole(case.id).unwrap()), whole);
    }
}
