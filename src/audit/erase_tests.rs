use std::fs;
use std::path::Path;

use super::super::samples::{self, CODE, TEXT, finished, granted, proposed, started};
use super::*;
use crate::audit::Report;
use crate::audit::query::Query;
use crate::model::{Blob, KeptRun, Ticket};

fn write(state: &Path, events: Vec<(LogEvent, Vec<Blob>)>) {
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

fn run(id: ProposalId) -> Vec<(LogEvent, Vec<Blob>)> {
    vec![
        proposed(id, "t"),
        (granted(id), Vec::new()),
        (started(id), Vec::new()),
        finished(id),
    ]
}

fn ran(state: &Path) -> ProposalId {
    let id = ProposalId::new();
    write(state, run(id));
    id
}

fn log(state: &Path) -> Log {
    Log::open(state).unwrap()
}

fn verify(state: &Path) -> Report {
    log(state).verify().unwrap()
}

fn order(id: ProposalId, parts: &[ErasedPart]) -> ErasureOrder {
    ErasureOrder {
        id,
        parts: parts.iter().copied().collect(),
        everywhere: false,
        held: HashSet::new(),
    }
}

const ALL: &[ErasedPart] = &[ErasedPart::Code, ErasedPart::Output, ErasedPart::Files];

fn erase(state: &Path, order: &ErasureOrder) {
    let erasure = log(state).erasure(order).unwrap();
    erasure.carry_out("asked to", &Reviewer::default()).unwrap();
}

fn blob(state: &Path, bytes: &[u8]) -> PathBuf {
    Layout::at(state).blob(&Digest::of(bytes)).1
}

fn kept_run(state: &Path, id: ProposalId) -> PathBuf {
    let run = KeptRun {
        id,
        at: Timestamp::now(),
        digest: Digest::of(CODE),
        profile: "analysis".to_owned(),
        agent: None,
        title: None,
        inputs: Vec::new().into(),
        code: std::str::from_utf8(CODE).unwrap().into(),
    };
    let keeper = kept::Keeper::new(state.to_owned(), Default::default(), Default::default());
    keeper.keep(&run).unwrap()
}

/// Whether any file of the state folder has these bytes.
fn anywhere(folder: &Path, bytes: &[u8]) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => anywhere(&path, bytes),
            false => fs::read(&path)
                .unwrap()
                .windows(bytes.len())
                .any(|w| w == bytes),
        }
    })
}

#[test]
fn what_is_erased_is_nowhere_and_the_chain_stays() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path();
    let id = ran(state);
    let kept = kept_run(state, id);
    let layout = Layout::at(state);
    fs::create_dir(layout.salts()).unwrap();
    fs::write(layout.salt(id), [7; 32]).unwrap();
    // The index has the code's words.
    let query = Query::parse("print", Timestamp::now()).unwrap();
    log(state).answers().unwrap().page(&query, 0, 1).unwrap();
    assert!(anywhere(state, CODE) && layout.index().join("v1.sqlite3").exists());
    let before = verify(state);

    erase(state, &order(id, ALL));

    assert!(!anywhere(state, CODE) && !anywhere(state, TEXT.as_bytes()));
    assert!(!kept.exists() && !layout.salt(id).exists() && !layout.erasing().exists());
    assert!(!layout.index().join("v1.sqlite3").exists());
    let after = verify(state);
    assert!(after.consistent, "{after:?}");
    assert_eq!(after.records, before.records + 1);
    assert_eq!(after.blobs + after.erased, before.blobs);
    assert_eq!(after.unerased, 0);
    // Every reader says the same, and what is shown says who did it.
    let mut answers = log(state).answers().unwrap();
    assert_eq!(answers.faults().first(), None);
    let history = answers.records(id).unwrap();
    assert_eq!(history.faults.first(), None);
    let said = erased(&history.records, &Digest::of(CODE), &|_| "T".to_owned());
    assert_eq!(said.unwrap(), "erased by uid 0 at T, as seq 5 says");
    assert_eq!(log(state).records(id).unwrap().faults.first(), None);
    // And the next start goes on.
    let opened = open(state).unwrap();
    assert_eq!(opened.faults.first(), None);
    drop(opened);
    assert!(matches!(
        log(state).erasure(&order(id, ALL)),
        Err(ErasureError::Nothing)
    ));
}

#[test]
fn only_what_was_chosen_goes() {
    for (part, gone, stays) in [
        (ErasedPart::Code, CODE, TEXT.as_bytes()),
        (ErasedPart::Files, TEXT.as_bytes(), CODE),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let id = ran(dir.path());
        let kept = kept_run(dir.path(), id);
        erase(dir.path(), &order(id, &[part]));
        assert!(!blob(dir.path(), gone).exists() && blob(dir.path(), stays).exists());
        assert_eq!(kept.exists(), part != ErasedPart::Code);
        assert!(verify(dir.path()).consistent);
    }
}

#[test]
fn a_content_that_is_missing_without_its_record_is_a_fault_as_before() {
    let dir = tempfile::tempdir().unwrap();
    let id = ran(dir.path());
    erase(dir.path(), &order(id, &[ErasedPart::Files]));
    fs::remove_file(blob(dir.path(), CODE)).unwrap();
    let report = verify(dir.path());
    assert!(!report.consistent);
    assert_eq!((report.bad_blob_count, report.erased), (1, 1));
    assert_eq!(
        report.bad_blobs[0].what.split(" (").next(),
        Some("it is missing")
    );
    assert!(
        log(dir.path())
            .records(id)
            .unwrap()
            .faults
            .first()
            .is_some()
    );
}

#[test]
fn what_is_proposed_again_is_needed_again() {
    let dir = tempfile::tempdir().unwrap();
    let first = ran(dir.path());
    erase(dir.path(), &order(first, ALL));
    let again = ran(dir.path());
    assert!(blob(dir.path(), CODE).exists());
    // Not even a note that claims an unfinished erasure takes it away.
    note(&Layout::at(dir.path())).unwrap();
    drop(open(dir.path()).unwrap());
    assert!(blob(dir.path(), CODE).exists() && verify(dir.path()).consistent);
    fs::remove_file(blob(dir.path(), CODE)).unwrap();
    let report = verify(dir.path());
    assert_eq!(report.bad_blob_count, 1);
    // The fault is that of the later proposal.
    let seq = report.bad_blobs[0].seq.unwrap();
    let named = log(dir.path()).records(again).unwrap().records[0].seq;
    assert_eq!(seq, named);
}

#[test]
fn each_refusal_has_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path();
    let (open_one, id) = (ProposalId::new(), ProposalId::new());
    write(state, vec![proposed(open_one, "t")]);
    let refused = |order: &ErasureOrder| log(state).erasure(order).unwrap_err().to_string();
    assert!(refused(&order(open_one, ALL)).contains("is pending: only what ended"));
    assert!(refused(&order(id, ALL)).contains("knows no proposal"));
    write(state, run(id));
    // The other one is open, and has the same code.
    let everywhere = ErasureOrder {
        everywhere: true,
        ..order(id, ALL)
    };
    assert!(refused(&everywhere).contains(&format!("{open_one} is pending")));
    write(
        state,
        vec![(LogEvent::Expired { id: open_one }, Vec::new())],
    );
    assert!(refused(&order(id, ALL)).contains(&format!("belong to {open_one}")));
    for held in [id, open_one] {
        let held = ErasureOrder {
            held: HashSet::from([held]),
            ..everywhere.clone()
        };
        assert!(refused(&held).contains("is on hold"));
    }
    let opened = open(state).unwrap();
    assert!(refused(&everywhere).contains("in use by another dashboard"));
    drop(opened);
    assert!(verify(state).consistent && verify(state).erased == 0);
    erase(state, &everywhere);
    assert!(verify(state).consistent && !blob(state, CODE).exists());
    // Each of them has a record of it.
    for id in [id, open_one] {
        let records = log(state).records(id).unwrap().records;
        assert!(matches!(
            records.last().unwrap().event,
            LogEvent::Erased { .. }
        ));
    }
}

/// Every prefix of the steps, and of the removals, as a crash leaves it.
#[test]
fn an_erasure_cut_short_at_any_step_is_completed_by_the_next_start() {
    for (steps, removals) in [
        (0, 0),
        (1, 0),
        (2, 0),
        (3, 0),
        (3, 1),
        (3, 2),
        (3, 9),
        (4, 9),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path();
        let id = ran(state);
        let kept = kept_run(state, id);
        let erasure = log(state).erasure(&order(id, ALL)).unwrap();
        let stopped = erasure.steps("asked to", &Reviewer::default(), steps, removals);
        stopped.unwrap();
        let report = verify(state);
        assert!(report.consistent, "{steps} {removals}: {report:?}");
        let recorded = steps >= 2;
        assert_eq!(report.erased + report.unerased > 0, recorded);
        if steps == 3 && removals == 1 {
            assert!(report.unerased > 0, "a reader says what is still there");
        }
        let opened = open(state).unwrap();
        assert_eq!(opened.faults.first(), None);
        drop(opened);
        let report = verify(state);
        assert!(report.consistent && report.unerased == 0, "{report:?}");
        assert_eq!(anywhere(state, CODE), !recorded, "{steps} {removals}");
        assert_eq!(kept.exists(), !recorded);
        assert!(!Layout::at(state).erasing().exists());
    }
}

#[test]
fn what_a_killed_dashboard_left_in_the_journal_goes_as_well() {
    let dir = tempfile::tempdir().unwrap();
    let id = ProposalId::new();
    let killed = tempfile::tempdir().unwrap();
    let (report, reports) = std::sync::mpsc::channel();
    let handle = open(dir.path())
        .unwrap()
        .writer
        .start(Box::new(move |said| {
            let _ = report.send(said);
        }));
    for (event, blobs) in run(id) {
        handle.submit(Ticket::Unawaited, event, blobs);
        reports.recv().unwrap();
    }
    let copied = std::process::Command::new("cp")
        .args(["-a", "."])
        .arg(killed.path())
        .current_dir(dir.path())
        .status();
    assert!(copied.unwrap().success());
    handle.close();
    samples::unnoted(killed.path());
    erase(killed.path(), &order(id, ALL));
    assert!(!anywhere(killed.path(), CODE) && verify(killed.path()).consistent);
}

#[test]
fn an_erased_record_of_what_is_open_or_was_never_proposed_is_impossible() {
    let dir = tempfile::tempdir().unwrap();
    let record = |id| {
        let of = samples::every_kind(id).into_iter();
        let mut of = of.filter(|event| matches!(event, LogEvent::Erased { .. }));
        (of.next().unwrap(), Vec::new())
    };
    let id = ProposalId::new();
    write(
        dir.path(),
        vec![proposed(id, "t"), record(id), record(ProposalId::new())],
    );
    assert_eq!(verify(dir.path()).impossible_count, 2);
}

#[test]
fn contents_go_by_their_kind_and_age_once_no_young_or_held_proposal_has_them() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path();
    let (first, second) = (ran(state), ran(state));
    let (past, future) = (Timestamp::UNIX_EPOCH, Timestamp::MAX);
    let planned = |limits: &[(ErasedPart, Timestamp)], held: &[ProposalId]| {
        let held = held.iter().copied().collect();
        let limits = limits.iter().copied().collect();
        let planned = log(state).outdated_contents(&limits, &held, true);
        planned.unwrap().map(|erasure| erasure.each)
    };
    assert!(planned(&[(ErasedPart::Code, past)], &[]).is_none());
    assert!(planned(&[], &[]).is_none());
    // Both have the same contents.
    assert!(planned(&[(ErasedPart::Code, future)], &[second]).is_none());
    let each = planned(&[(ErasedPart::Code, future)], &[]).unwrap();
    assert_eq!(
        each.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        [first, second]
    );
    assert!(blob(state, CODE).exists(), "a dry run changes nothing");
    let limits = BTreeMap::from([(ErasedPart::Code, future)]);
    let erasure = log(state).outdated_contents(&limits, &HashSet::new(), false);
    let erasure = erasure.unwrap().unwrap();
    let done = erasure.carry_out("retention: code after 30 days", &Reviewer::default());
    done.unwrap();
    assert!(!blob(state, CODE).exists() && blob(state, TEXT.as_bytes()).exists());
    let report = verify(state);
    assert!(report.consistent && report.erased == 1, "{report:?}");
    assert!(planned(&[(ErasedPart::Code, future)], &[]).is_none());
    // What is open stays.
    write(state, vec![proposed(ProposalId::new(), "t")]);
    assert!(planned(&[(ErasedPart::Code, future)], &[]).is_none());
}

#[test]
fn contents_that_go_by_kind_go_after_a_crash_at_any_step_too() {
    for (steps, removals) in [(1, 0), (2, 0), (3, 0), (3, 1), (3, 9), (4, 9)] {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path();
        let (first, second) = (ran(state), ran(state));
        let limits = BTreeMap::from([(ErasedPart::Files, Timestamp::MAX)]);
        let plan = || {
            let planned = log(state).outdated_contents(&limits, &HashSet::new(), false);
            planned.unwrap()
        };
        let erasure = plan().unwrap();
        let ids: Vec<_> = erasure.each.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, [first, second]);
        let why = "retention: files after 7 days";
        erasure
            .steps(why, &Reviewer::default(), steps, removals)
            .unwrap();
        let report = verify(state);
        assert!(report.consistent, "{steps} {removals}: {report:?}");
        let recorded = steps >= 2;
        drop(open(state).unwrap());
        let report = verify(state);
        assert!(report.consistent && report.unerased == 0, "{report:?}");
        assert_eq!(
            anywhere(state, TEXT.as_bytes()),
            !recorded,
            "{steps} {removals}"
        );
        // What was not recorded goes the next time, and nothing goes twice.
        assert_eq!(plan().is_some(), !recorded);
        assert!(blob(state, CODE).exists());
    }
}

fn staff() -> Secrets {
    let pattern = crate::secrets::Pattern::new("staff", "EMP-[0-9]{6}").unwrap();
    Secrets::of([], [pattern])
}

/// What a person types at `prune` and `erase` is searched for the user's own patterns too.
#[test]
fn what_is_typed_is_kept_without_what_the_patterns_of_the_user_match() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path();
    let id = ran(state);
    let erasure = log(state)
        .erasure(&order(id, ALL))
        .unwrap()
        .redacts(staff());
    let done = erasure.carry_out("asked by EMP-123456", &Reviewer::default());
    done.unwrap();
    let text = fs::read_to_string(Layout::at(state).segment(1)).unwrap();
    assert!(text.contains("asked by [REDACTED:staff]"), "{text}");
    assert!(!text.contains("EMP-123456"), "{text}");
    assert!(verify(state).consistent);
}
