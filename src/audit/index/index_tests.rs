//! The index answers as the log does, and gives way to it.

use std::os::unix::fs::PermissionsExt;

use super::super::samples::{
    CODE, EDITED, denied, drilled, edited, finished, granted, granted_as, proposed, proposed_drill,
    started,
};
use super::super::written::write;
use super::super::{Answers, History, open, query, query::Query};
use super::*;
use crate::model::{Blob, DrillEnd, LogEvent, ProposalId, Reviewer, Tier};

type Events = Vec<(LogEvent, Vec<Blob>)>;

fn add(state: &Path, events: Events) {
    write(open(state).unwrap(), events);
}

fn opened(login: &str) -> LogEvent {
    LogEvent::Opened {
        version: "0".to_owned(),
        by: Reviewer {
            uid: 1000,
            login: Some(login.to_owned()),
            ..Reviewer::default()
        },
        tier: Tier::Process,
        environment: None,
        preflight: Vec::new(),
        drills: None,
    }
}

/// Each count is the number of rows that its term selects.
fn count_by_hand(answers: &mut Answers, question: &str, facets: &super::super::facets::Facets) {
    for value in facets.all.iter().flat_map(|facet| &facet.values) {
        let asked = match value.chosen {
            true => question.to_owned(),
            false => query::terms::turned(question, &value.term),
        };
        let query = Query::parse(&asked, Timestamp::now()).unwrap();
        let count = answers.count(&query).unwrap() as u64;
        assert_eq!(count, value.count, "{asked}");
    }
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// Records of a few proposals in any order: lives that are possible, and some that are not.
fn some(dice: &mut Dice, ids: &mut Vec<ProposalId>) -> Events {
    let plain = |event| (event, Vec::new());
    let mut events = vec![plain(opened(["ana", "bo"][dice.below(2)]))];
    for _ in 0..dice.below(25) {
        if ids.is_empty() || dice.below(3) == 0 {
            let id = ProposalId::new();
            ids.push(id);
            events.push(match dice.below(6) {
                0 => proposed_drill(id),
                n => proposed(id, ["head count", "Umsatz [ä]", "a_b c", "x\u{130}"][n % 4]),
            });
            continue;
        }
        let id = ids[dice.below(ids.len())];
        let whole = |events: &mut Events, code: &[u8]| {
            events.push(plain(granted_as(id, code)));
            events.push(plain(started(id)));
            events.push(finished(id));
        };
        match dice.below(9) {
            0 => whole(&mut events, CODE),
            1 => {
                events.push(edited(id, CODE, EDITED));
                whole(&mut events, EDITED);
            }
            2 => events.push(edited(id, CODE, EDITED)),
            3 => events.push(plain(denied(id))),
            4 => events.push(plain(LogEvent::Expired { id })),
            5 => events.push(plain(drilled(id, DrillEnd::Caught))),
            6 => events.push(plain(granted(id))),
            7 => events.push(plain(LogEvent::Expired {
                id: ProposalId::new(),
            })),
            _ => events.push(plain(LogEvent::Withdrawn {
                id,
                disconnected: true,
            })),
        }
    }
    events
}

const QUESTIONS: [&str; 37] = [
    "",
    "state:denied",
    "state:granted",
    "state:pending",
    "-state:pending",
    "by:ana",
    "-by:ana",
    "by:1000",
    "edited:yes",
    "-edited:yes",
    "drill:yes OR state:expired",
    "private:no",
    "took:<5s",
    "-took:<5s",
    "look:<=0s",
    "ran:>1ms -state:failed",
    "agent:ETL-*",
    "title:\"[Ä]\"",
    "title:*count",
    "title:[*]",
    "print",
    "\"print(1\"",
    "pri* -edited:no",
    "\"head count\"",
    "x\u{130}",
    "a_b",
    "since:1h until:2999-01-01 reason:no",
    "tier:process",
    "-tier:process",
    "host:desk*",
    "shown:all -state:pending",
    "shown:none OR shown:some",
    "seq:1,2,3,9",
    "-seq:4",
    "output:1",
    "-output:\"1\"",
    "output:print OR output:x*",
];

/// Whether everything that is known of single proposals, and of all, is the same.
fn agree_on_records(state: &Path) {
    let log = Log::open(state).unwrap();
    let mut by_index = log.answers().unwrap();
    let mut by_log = log.answers_without_index().unwrap();
    assert_eq!(by_index.summary().unwrap(), by_log.summary().unwrap());
    assert_eq!(by_index.pauses().unwrap().all, by_log.pauses().unwrap().all);
    let all = by_log.page(&Query::parse("", Timestamp::now()).unwrap(), 0, usize::MAX);
    for one in all.unwrap() {
        let (a, b) = (
            by_index.records(one.id).unwrap(),
            by_log.records(one.id).unwrap(),
        );
        let lines = |history: &History| -> Vec<String> {
            history.records.iter().map(|r| r.line.clone()).collect()
        };
        assert_eq!(
            (lines(&a), a.unknown, a.faults),
            (lines(&b), b.unknown, b.faults)
        );
        let end = &one.id.to_string()[20..];
        assert_eq!(by_index.ids(end).unwrap(), [one.id]);
    }
}

/// Whether the index and the log agree on every question.
fn agree(state: &Path) {
    let log = Log::open(state).unwrap();
    for question in QUESTIONS {
        let query = Query::parse(question, Timestamp::now()).unwrap();
        let mut by_index = log.answers().unwrap();
        let mut by_log = log.answers_without_index().unwrap();
        assert_eq!(by_index.faults(), by_log.faults(), "{question}");
        let all = by_log.page(&query, 0, usize::MAX).unwrap();
        assert_eq!(
            by_index.page(&query, 0, usize::MAX).unwrap(),
            all,
            "{question}"
        );
        let part = by_log.page(&query, 2, 3).unwrap();
        assert_eq!(by_index.page(&query, 2, 3).unwrap(), part, "{question}");
        let mut each = Vec::new();
        let mut keep = |one| {
            each.push(one);
            Ok::<_, ()>(())
        };
        by_index
            .each(&query, usize::MAX, &mut keep)
            .unwrap()
            .unwrap();
        assert_eq!(each, all);
        // What SQL selects is what the question selects, before the log is asked.
        assert_eq!(by_index.count(&query).unwrap(), all.len(), "{question}");
        let stats = by_log.stats(&query).unwrap();
        assert_eq!(by_index.stats(&query).unwrap(), stats, "{question}");
        let facets = by_log.facets(&query, question).unwrap();
        assert_eq!(
            by_index.facets(&query, question).unwrap(),
            facets,
            "{question}"
        );
        count_by_hand(&mut by_index, question, &facets);
        for one in &all {
            let newer = by_log.newer(&query, one.id).unwrap();
            assert_eq!(by_index.newer(&query, one.id).unwrap(), newer, "{question}");
        }
    }
}

#[test]
fn the_index_answers_as_the_log_does() {
    for seed in 0..3 {
        let state = tempfile::tempdir().unwrap();
        let (mut dice, mut ids) = (Dice(seed), Vec::new());
        for _ in 0..3 {
            add(state.path(), some(&mut dice, &mut ids));
            agree(state.path());
            agree_on_records(state.path());
            let report = Log::open(state.path()).unwrap().verify().unwrap();
            assert_eq!((report.index, report.index_compared), (None, true));
        }
    }
}

/// A log of one denied and one pending proposal, with an index.
fn sample(state: &Path) -> [ProposalId; 2] {
    let ids = [ProposalId::new(), ProposalId::new()];
    let events = vec![
        proposed(ids[0], "first"),
        (denied(ids[0]), Vec::new()),
        proposed(ids[1], "second"),
    ];
    add(state, events);
    agree(state);
    ids
}

/// The answers of the index, which can be used.
fn indexed(log: &Log) -> Answers {
    assert!(Index::open(log, &|_, _| {}, |_| Ok(())).is_ok());
    log.answers().unwrap()
}

fn titles(state: &Path, question: &str) -> Vec<String> {
    let query = Query::parse(question, Timestamp::now()).unwrap();
    let mut answers = indexed(&Log::open(state).unwrap());
    let found = answers.page(&query, 0, usize::MAX).unwrap();
    found.into_iter().filter_map(|p| p.title).collect()
}

#[test]
fn the_longest_question_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    sample(folder.path());
    let all = titles(folder.path(), "");
    assert!(!all.is_empty());
    for (term, with) in [
        ("print", " OR "),
        ("print", " "),
        ("-agent:nobody", " "),
        ("look:>=0s OR print", " OR "),
    ] {
        let most = 500 / term.split(" OR ").count();
        let question = vec![term; most].join(with);
        assert_eq!(titles(folder.path(), &question), all, "{term}{with}");
    }
    let deep = format!(
        "{}{}{}",
        "(".repeat(31),
        vec!["print"; 500].join(" OR "),
        ")".repeat(31)
    );
    assert_eq!(titles(folder.path(), &deep), all);
}

#[test]
fn a_file_that_is_no_index_is_made_anew() {
    let state = tempfile::tempdir().unwrap();
    sample(state.path());
    let file = state.path().join("index").join(FILE);
    let whole = fs::read(&file).unwrap();
    let foreign = {
        let path = state.path().join("foreign");
        let other = Connection::open(&path).unwrap();
        other.execute_batch("CREATE TABLE proposals (n)").unwrap();
        drop(other);
        fs::read(path).unwrap()
    };
    for bytes in [
        &b""[..],
        b"not a database",
        &whole[..whole.len() / 2],
        &foreign,
    ] {
        fs::write(&file, bytes).unwrap();
        assert_eq!(titles(state.path(), ""), ["second", "first"]);
    }
    // Not even where its tables are right.
    let triggered = Connection::open(&file).unwrap();
    triggered
        .execute_batch("CREATE TRIGGER t AFTER INSERT ON records BEGIN SELECT 1; END")
        .unwrap();
    drop(triggered);
    assert_eq!(titles(state.path(), ""), ["second", "first"]);
    let made = Connection::open(&file).unwrap();
    let triggers: i64 = made
        .query_one(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(triggers, 0);
}

#[test]
fn what_is_shown_comes_from_the_log() {
    let state = tempfile::tempdir().unwrap();
    sample(state.path());
    let index = Connection::open(state.path().join("index").join(FILE)).unwrap();
    index
        .execute_batch("UPDATE proposals SET agent = 'hr-bot', title = 'other', state = 'pending'")
        .unwrap();
    drop(index);
    let log = Log::open(state.path()).unwrap();
    let query = Query::parse("agent:hr-bot", Timestamp::now()).unwrap();
    let mut answers = log.answers().unwrap();
    assert_eq!(answers.page(&query, 0, 9).unwrap(), []);
    let told = answers.faults().first().unwrap().to_string();
    assert!(
        told.contains("does not say what the log says of proposal"),
        "{told}"
    );
    // The next question makes it anew.
    assert_eq!(titles(state.path(), ""), ["second", "first"]);
    assert_eq!(titles(state.path(), "agent:hr-bot"), [""; 0]);
    assert_eq!(titles(state.path(), "state:pending"), ["second"]);
}

#[test]
fn a_log_that_changed_under_its_index_is_read_anew() {
    let segment = |state: &Path| state.join("log/00000001.jsonl");
    // A byte of the same length, with a record after it and without.
    for appended in [false, true] {
        let state = tempfile::tempdir().unwrap();
        sample(state.path());
        if appended {
            add(state.path(), vec![proposed(ProposalId::new(), "third")]);
        }
        let text = fs::read_to_string(segment(state.path())).unwrap();
        fs::write(
            segment(state.path()),
            text.replace("\"title\":\"first\"", "\"title\":\"worst\""),
        )
        .unwrap();
        let log = Log::open(state.path()).unwrap();
        let found = indexed(&log);
        let damage = found.faults().first().unwrap();
        assert_eq!((damage.line, damage.seq), (Some(2), Some(1)), "{damage}");
        agree(state.path());
    }
    // Another log of the same length.
    let state = tempfile::tempdir().unwrap();
    sample(state.path());
    let other = tempfile::tempdir().unwrap();
    let events = vec![
        proposed(ProposalId::new(), "third"),
        (denied(ProposalId::new()), Vec::new()),
        proposed(ProposalId::new(), "fourth"),
    ];
    add(other.path(), events);
    fs::write(
        segment(state.path()),
        fs::read(segment(other.path())).unwrap(),
    )
    .unwrap();
    assert_eq!(titles(state.path(), ""), ["fourth", "third"]);
}

#[test]
fn a_blob_that_came_back_is_no_fault_any_more() {
    let state = tempfile::tempdir().unwrap();
    sample(state.path());
    let log = Log::open(state.path()).unwrap();
    let (_, blob) = log.layout.blob(&crate::model::Digest::of(CODE));
    fs::rename(&blob, state.path().join("away")).unwrap();
    fs::remove_dir_all(state.path().join("index")).unwrap();
    assert_eq!(indexed(&log).faults().blobs.count, 1);
    fs::rename(state.path().join("away"), &blob).unwrap();
    assert_eq!(indexed(&log).faults().first(), None);
}

#[test]
fn a_copy_and_a_folder_of_others_are_read_without_their_index() {
    let state = tempfile::tempdir().unwrap();
    sample(state.path());
    let copy = tempfile::tempdir().unwrap();
    for folder in ["log", "index"] {
        fs::create_dir(copy.path().join(folder)).unwrap();
        for file in fs::read_dir(state.path().join(folder)).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), copy.path().join(folder).join(file.file_name())).unwrap();
        }
    }
    // A copy of the index that says something else.
    let lie = Connection::open(copy.path().join("index").join(FILE)).unwrap();
    lie.execute_batch("DELETE FROM proposals").unwrap();
    drop(lie);
    fs::set_permissions(copy.path().join("index"), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(titles(copy.path(), ""), ["second", "first"]);
    // Where others may write, nothing is made or read.
    fs::set_permissions(copy.path().join("index"), fs::Permissions::from_mode(0o777)).unwrap();
    let lie = Connection::open(copy.path().join("index").join(FILE)).unwrap();
    lie.execute_batch("DELETE FROM proposals").unwrap();
    drop(lie);
    assert_eq!(titles(copy.path(), ""), ["second", "first"]);
    let file = fs::metadata(state.path().join("index").join(FILE)).unwrap();
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_is_pruned_leaves_the_index_too() {
    let state = tempfile::tempdir().unwrap();
    let old = ProposalId::new();
    let opened = super::super::open::open_with(state.path(), 1).unwrap();
    let events = vec![
        proposed(old, "a secret title"),
        (denied(old), Vec::new()),
        proposed(ProposalId::new(), "waits"),
    ];
    write(opened, events);
    agree(state.path());
    let holds = |text: &[u8]| {
        let files = fs::read_dir(state.path().join("index")).unwrap();
        files.into_iter().any(|file| {
            let bytes = fs::read(file.unwrap().path()).unwrap();
            bytes.windows(text.len()).any(|window| window == text)
        })
    };
    assert!(holds(b"a secret title"));
    let log = Log::open(state.path()).unwrap();
    super::super::prune(&log, Timestamp::MAX, 1, Reviewer::default()).unwrap();
    assert!(!holds(b"a secret title"));
    agree(state.path());
    assert_eq!(titles(state.path(), ""), ["waits"]);
    assert!(!holds(b"a secret title"));
}

/// Whoever keeps it open reads only what was written since, unless others had it meanwhile.
#[test]
fn an_index_that_stays_open_reads_on_without_a_look_at_what_it_read() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path();
    let file = || identity(&state.join("index").join(FILE)).unwrap();
    add(state, vec![proposed(ProposalId::new(), "one")]);
    let mut index = Index::kept(&Log::open(state).unwrap()).unwrap();
    let made = file();
    // What it read is changed behind its back; a new reader would find that, and read all of it again.
    let segment = state.join("log/00000001.jsonl");
    let text = fs::read_to_string(&segment).unwrap();
    add(state, vec![proposed(ProposalId::new(), "two")]);
    let grown = fs::read_to_string(&segment).unwrap();
    fs::write(&segment, grown.replacen("one", "eno", 1)).unwrap();
    index = index.followed().unwrap();
    assert_eq!((index.records, file()), (2, made));
    assert!(text.len() < grown.len());
    fs::write(&segment, &grown).unwrap();
    // Others brought it up to date, or removed it.
    add(state, vec![proposed(ProposalId::new(), "three")]);
    drop(Index::kept(&Log::open(state).unwrap()).unwrap());
    index = index.followed().unwrap();
    assert_eq!(index.records, 3);
    add(state, vec![proposed(ProposalId::new(), "four")]);
    forget(&Log::open(state).unwrap().layout).unwrap();
    index = index.followed().unwrap();
    assert_eq!(index.records, 4);
    assert_eq!(index.file, Some(file()));
}
