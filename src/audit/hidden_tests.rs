//! Whoever can write the folder edits the index and leaves the log as it is: what is hidden or changed there is found, and
//! what others rely on has it nevertheless.

use std::collections::HashSet;
use std::fs;

use jiff::Timestamp;

use super::attacks_tests::Signed;
use super::index::{Known, Noted};
use super::layout::Layout;
use super::query::Query;
use super::samples::{denied, proposed};
use super::written::write;
use super::{Answers, Basis, History, Log, Logged, open};
use crate::model::ProposalId;

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
    assert_eq!(exported(opened.answers_anew(&|_, _| {}).unwrap()), all);
    // It is nobody else's, and leaves nothing.
    let before = fs::read_dir(log.state.join("index")).unwrap().count();
    drop(opened.answers_anew(&|_, _| {}).unwrap());
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
    let everything = Query::default;
    let right = opened.answers_without_index().unwrap();
    let right = { right }.page(&everything(), 0, 9).unwrap();
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
        let mut answers = opened.answers().unwrap();
        let page = answers.page(&everything(), 0, 9).unwrap();
        let told = answers.faults().index.is_some();
        assert_eq!(told, shows, "{name}");
        assert!(page == right || !shows, "{name}: {page:?}");
        // Each row as soon as it is found: none twice, none left out.
        drop(fs::remove_dir_all(log.state.join("index")));
        forged();
        let mut answers = opened.answers().unwrap();
        let (mut each, mut ids) = (Vec::new(), HashSet::new());
        let visit = |row: Logged| {
            assert!(ids.insert(row.id), "{name}: twice");
            each.push(row);
            Ok::<(), ()>(())
        };
        answers.each(&everything(), 9, visit).unwrap().unwrap();
        each.sort_by_key(|row| std::cmp::Reverse(row.time));
        assert!(each == right || !shows, "{name}: {each:?}");
        drop(fs::remove_dir_all(log.state.join("index")));
    }
}

/// A short log: all of the index is compared with all of the log before anything is answered.
#[test]
fn of_a_short_log_no_answer_is_from_an_index_that_says_something_else() {
    let log = Signed::new();
    let opened = Log::open(&log.state).unwrap();
    let everything = Query::default();
    let all = |answers: &mut Answers| {
        let page = answers.page(&everything, 0, 9).unwrap();
        let stats = serde_json::to_string(&answers.stats(&everything).unwrap()).unwrap();
        let facets = answers.facets(&everything, "").unwrap();
        let one = page.first().map(|row| answers.records(row.id).unwrap());
        let one: Vec<String> = one
            .into_iter()
            .flat_map(|h| h.records)
            .map(|r| r.line)
            .collect();
        (page, stats, serde_json::to_string(&facets).unwrap(), one)
    };
    let right = all(&mut opened.answers_without_index().unwrap());
    let compared = || opened.answers_compared("a test", &|_, _| {}).unwrap();
    // The first makes it, the second compares it.
    for _ in 0..2 {
        let mut answers = compared();
        assert_eq!(
            (answers.basis(), answers.faults().first()),
            (Basis::Compared, None)
        );
        assert_eq!(all(&mut answers), right);
    }
    let noted = opened.answers().unwrap().basis();
    assert!(
        matches!(&noted, Basis::Index(Some(Noted { through: 12, by, .. })) if by == "a test"),
        "{noted:?}"
    );
    for (name, change, _) in IN_THE_INDEX {
        drop(opened.answers().unwrap());
        Known::forge(&Layout::at(&log.state), change);
        let mut answers = compared();
        let told = answers
            .faults()
            .index
            .clone()
            .map(|damage| damage.to_string());
        let told = told.unwrap_or_else(|| panic!("{name} is not told"));
        assert!(told.starts_with("index/v1.sqlite3: "), "{name}: {told}");
        assert_eq!(answers.basis(), Basis::Log, "{name}");
        assert_eq!(all(&mut answers), right, "{name}");
        // It is gone.
        assert_eq!(compared().faults().first(), None, "{name}");
    }
    // The words of codes are not compared: the log is asked for them.
    drop(opened.answers().unwrap());
    let forget = "UPDATE words SET code = 'x', title = 'x', says = 'x', edited = 'x', output = 'x'";
    Known::forge(&Layout::at(&log.state), forget);
    let query = Query::parse("print", Timestamp::now()).unwrap();
    assert_eq!(
        compared().page(&query, 0, 9).unwrap(),
        [],
        "the words are still there"
    );
    let mut answers = opened.answers_to(&query, "a test", &|_, _| {}).unwrap();
    assert_eq!(answers.page(&query, 0, 9).unwrap(), right.0);
    assert_eq!(answers.basis(), Basis::Log);
}

/// The chain is broken in the middle, and the index was told that it is not.
#[test]
fn a_short_log_with_a_changed_line_behind_a_forged_index_is_damaged() {
    let log = Signed::new();
    let opened = Log::open(&log.state).unwrap();
    drop(opened.answers().unwrap());
    log.lines(1, |lines| {
        let changed = lines[1].replacen("\"ts\":\"2", "\"ts\":\"1", 1);
        assert_ne!(changed, lines[1]);
        lines[1] = changed;
    });
    Known::forge(&Layout::at(&log.state), "SELECT 1");
    assert_eq!(
        opened.answers().unwrap().faults().first(),
        None,
        "it is seen already"
    );
    let compared = opened.answers_compared("a test", &|_, _| {}).unwrap();
    let chain = compared.faults().chain.as_ref().unwrap();
    assert!(chain.file.starts_with("log/"), "{chain}");
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
    let n = "(SELECT n FROM proposals WHERE id = 'ID')";
    let nth = |k: usize| {
        format!("(SELECT seq FROM records WHERE n = {n} ORDER BY seq LIMIT 1 OFFSET {k})")
    };
    for case in all {
        let lines = |history: &History| -> Vec<String> {
            history.records.iter().map(|r| r.line.clone()).collect()
        };
        let whole = lines(&opened.records(case.id).unwrap());
        let id = case.id.to_string();
        let mut changes = vec![
            format!("UPDATE records SET n = NULL, kind = 'x' WHERE n = {n}"),
            format!("UPDATE records SET n = 99 WHERE n = {n}"),
            format!(
                "INSERT OR IGNORE INTO proposals SELECT 98, '{id}x', seq, asked, at, uid, agent, agent_shown, profile, \
                     title, says, reason, verdict, state, course, drill, private, edited, by_uid, by_login, by_shown, \
                     took, look, asked_again, ran, ended_by, accesses, tier, host, shown FROM proposals WHERE n = {n}; \
                     UPDATE records SET n = 98 WHERE seq = {}",
                nth(1)
            ),
            format!("DELETE FROM proposals WHERE id = '{id}'"),
            // Lines of another one among its own.
            format!(
                "UPDATE records SET n = {n} WHERE n = (SELECT min(n) FROM proposals WHERE id <> '{id}')"
            ),
        ];
        // Each of its records, and with a row that agrees with the rest.
        changes.extend(
            (0..whole.len()).map(|k| format!("DELETE FROM records WHERE seq = {}", nth(k))),
        );
        changes.push(format!(
            "DELETE FROM records WHERE n = {n} AND seq > {}; UPDATE proposals SET state = 'pending', course = 'waits', \
             at = asked, by_uid = NULL, by_login = NULL, by_shown = NULL, took = NULL, look = NULL, ran = NULL, tier = NULL, \
             host = NULL, shown = NULL WHERE n = {n}",
            nth(0)
        ));
        for change in changes {
            drop(opened.answers().unwrap());
            Known::forge(&Layout::at(&log.state), &change.replace("ID", &id));
            let mut answers = opened.answers().unwrap();
            assert_eq!(answers.ids(&id[20..]).unwrap(), [case.id], "{change}");
            let history = answers.records(case.id).unwrap();
            assert_eq!(lines(&history), whole, "{change}");
            assert!(history.faults.index.is_some(), "{change} is not told");
            // The row of a list that says it waits is looked up in the log's rest.
            drop(opened.answers().unwrap());
            Known::forge(&Layout::at(&log.state), &change.replace("ID", &id));
            let mut answers = opened.answers().unwrap();
            let row = answers.page(&Query::default(), 0, 9).unwrap();
            let row = row.iter().find(|row| row.id == case.id);
            assert!(row.is_none_or(|row| *row == case), "{change}: {row:?}");
        }
    }
}

/// What a dashboard writes after the index was read is nothing that it hides, and the text of another proposal is not its
/// line.
#[test]
fn nothing_else_with_the_id_of_a_proposal_is_taken_for_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    let (one, other) = (ProposalId::new(), ProposalId::new());
    let title = format!("as {one}: \"id\":\"{one}\"");
    let events = vec![proposed(one, "one"), proposed(other, &title)];
    write(open(state).unwrap(), events);
    let log = Log::open(state).unwrap();
    drop(log.answers().unwrap());
    let mut answers = log.answers().unwrap();
    let history = answers.records(one).unwrap();
    assert_eq!((history.records.len(), history.faults.first()), (1, None));
    // It goes on behind the place to which this index was read.
    write(open(state).unwrap(), vec![(denied(one), Vec::new())]);
    let history = answers.records(one).unwrap();
    assert_eq!((history.records.len(), history.faults.first()), (1, None));
    assert_eq!(
        log.answers().unwrap().records(one).unwrap().records.len(),
        2
    );
}
