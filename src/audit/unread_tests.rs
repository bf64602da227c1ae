//! A start that believes the index, and the check after it.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::AuditError;
use super::super::index::{Index, Known};
use super::super::line::header;
use super::super::log::Log;
use super::super::open::{Opened, open_with, start_with};
use super::super::samples::{CODE, denied, finished, granted, proposed, started};
use super::super::scan::Walk;
use super::super::written::write;
use crate::clock::Now;
use crate::model::{Digest, LogEvent, Of, ProposalId, State};

const SEGMENT: u64 = 2_000;

/// One that succeeded, one that waits, one that runs, one that was denied; over several segments, with their index.
fn sample(state: &Path) -> [ProposalId; 4] {
    let ids = [(); 4].map(|()| ProposalId::new());
    let mut events: Vec<_> = ids.iter().map(|id| proposed(*id, "same")).collect();
    for id in [ids[0], ids[2]] {
        events.push((granted(id), Vec::new()));
        events.push((started(id), Vec::new()));
    }
    events.push(finished(ids[0]));
    events.push((denied(ids[3]), Vec::new()));
    write(open_with(state, SEGMENT).unwrap(), events);
    drop(Index::kept(&log(state)).unwrap());
    ids
}

fn log(state: &Path) -> Log {
    Log::open(state).unwrap()
}

/// A start, and whether it read the whole log.
fn start(state: &Path) -> (Result<Opened, AuditError>, bool) {
    let read = std::cell::Cell::new(false);
    let opened = start_with(state, 0, &|_| read.set(true));
    (opened, read.get())
}

/// A start that believes the index.
fn quick(state: &Path) -> Opened {
    let (opened, read) = start(state);
    assert!(!read, "the whole log was read");
    let opened = opened.unwrap();
    assert!(opened.unread.is_some() && opened.past.is_empty());
    opened
}

fn segments(state: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir(state.join("log"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    all.sort();
    all
}

#[test]
fn a_start_that_believes_the_index_knows_what_one_that_reads_the_log_knows() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path();
    let ids = sample(state);
    assert!(segments(state).len() > 2, "no rotation");
    let whole = open_with(state, SEGMENT).unwrap();
    let (unfinished, durable) = (whole.unfinished.clone(), whole.durable);
    let tally = |past: &crate::model::Past| {
        let tally = past.tally(&Of::Code(Digest::of(CODE)), None);
        (past.len(), tally.granted, tally.denied)
    };
    let past = tally(&whole.past);
    assert_eq!(past, (4, 2, 1));
    drop(whole);
    let mut begun = quick(state);
    assert_eq!(begun.durable, durable);
    assert_eq!(begun.unfinished, unfinished);
    assert_eq!(
        unfinished,
        [(ids[1], State::Pending), (ids[2], State::Running)]
    );
    // What is written meanwhile belongs to the dashboard's own memory, but for the end of what was open.
    let unread = begun.unread.take().unwrap();
    let end = LogEvent::Unattended { id: ids[1] };
    write(
        begun,
        vec![(end, Vec::new()), proposed(ProposalId::new(), "new")],
    );
    let checked = unread.check().unwrap();
    assert_eq!(tally(&checked.past), past);
    assert_eq!(checked.past.about(ids[1]).unwrap().state, State::Unattended);
    assert!(checked.missed.is_empty() && checked.faults.first().is_none());
    assert!(log(state).verify().unwrap().consistent);
    // The index is a little older than the log by now.
    assert_eq!(quick(state).durable, durable + 2);
}

/// A dashboard that is killed when its segment is full leaves another one with nothing but its header.
#[test]
fn the_check_finds_the_start_after_a_segment_that_was_only_begun() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path();
    let ids = sample(state);
    let layout = log(state).layout;
    for with_index in [false, true] {
        let mut walk = Walk::default();
        walk.go_on(&layout, |_| Ok(())).unwrap();
        let head = walk.scanned().head;
        let (header, _) = header(head.segment + 1, head.seq + 1, Now::read(), &head.hash).unwrap();
        fs::write(layout.segment(head.segment + 1), header).unwrap();
        if with_index {
            drop(Index::kept(&log(state)).unwrap());
        }
        // Before anything is written, and after it.
        let opened = quick(state);
        let checked = opened.unread.as_ref().unwrap().check().unwrap();
        assert!(checked.faults.first().is_none());
        drop(opened);
        let mut opened = quick(state);
        let unread = opened.unread.take().unwrap();
        write(opened, vec![proposed(ProposalId::new(), "new")]);
        let checked = unread.check().unwrap();
        assert!(checked.missed.is_empty() && checked.faults.first().is_none());
        assert_eq!(checked.past.about(ids[1]).unwrap().state, State::Pending);
    }
}

#[test]
fn without_its_index_a_log_is_read_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path();
    sample(state);
    let middle = &segments(state)[1];
    let bytes = fs::read(middle).unwrap();
    // The same bytes in a file that was written since.
    fs::write(middle, bytes).unwrap();
    for _ in 0..2 {
        let (opened, read) = start(state);
        assert!(read && opened.unwrap().unread.is_none());
        fs::remove_dir_all(state.join("index")).unwrap();
    }
}

#[test]
fn an_index_that_somebody_changed_decides_neither_where_the_log_goes_on_nor_what_is_open() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path();
    let ids = sample(state);
    let layout = log(state).layout;
    // Another end of the log.
    for change in [
        "UPDATE stopped SET at = json_set(at, '$.walk.head.seq', 3)",
        "UPDATE stopped SET at = json_set(at, '$.walk.head.offset', 0)",
        "UPDATE stopped SET at = json_set(at, '$.walk.head.segment', 1)",
    ] {
        Known::forge(&layout, change);
        let (opened, read) = start(state);
        assert!(read, "{change}");
        assert_eq!(opened.unwrap().unfinished.len(), 2);
        fs::remove_dir_all(state.join("index")).unwrap();
        drop(Index::kept(&log(state)).unwrap());
    }
    // One that ended does not become open again, and one of another's lines is noticed.
    Known::forge(
        &layout,
        "UPDATE proposals SET state = 'running' WHERE state = 'succeeded'",
    );
    assert_eq!(quick(state).unfinished.len(), 2);
    Known::forge(&layout, "UPDATE records SET n = 2 WHERE n = 3");
    assert!(start(state).1);
    fs::remove_dir_all(state.join("index")).unwrap();
    drop(Index::kept(&log(state)).unwrap());
    // One that is hidden is found by the check.
    Known::forge(&layout, "DELETE FROM proposals WHERE state = 'running'");
    let opened = quick(state);
    assert_eq!(opened.unfinished, [(ids[1], State::Pending)]);
    let checked = opened.unread.as_ref().unwrap().check().unwrap();
    assert_eq!(checked.missed, [(ids[2], State::Running)]);
}

#[test]
fn damage_that_a_forged_index_hides_is_found_by_the_check_in_the_words_of_a_start() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path();
    let ids = sample(state);
    // A record of the one that ended; those of open ones are read by the start.
    let kind = format!("\"kind\":\"granted\",\"id\":\"{}\"", ids[0]);
    let found = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        Some((path.clone(), text.find(&kind)?))
    };
    let all = segments(state);
    let (middle, at) = all.iter().find_map(found).unwrap();
    assert_ne!(Some(&middle), all.last());
    let mut bytes = fs::read(&middle).unwrap();
    bytes[at + 10] ^= 1;
    fs::write(&middle, bytes).unwrap();
    Known::forge(&log(state).layout, "");
    let said = open_with(state, SEGMENT).unwrap_err().to_string();
    let opened = quick(state);
    let found = opened.unread.as_ref().unwrap().check().unwrap_err();
    assert_eq!(found.to_string(), said);
    drop(opened);
    // So is a beginning that is gone.
    fs::remove_file(&segments(state)[0]).unwrap();
    Known::forge(&log(state).layout, "");
    let said = open_with(state, SEGMENT).unwrap_err().to_string();
    let (opened, read) = start(state);
    match opened {
        Ok(opened) => {
            let found = opened.unread.as_ref().unwrap().check().unwrap_err();
            assert_eq!((found.to_string(), read), (said, false));
        }
        Err(e) => assert_eq!((e.to_string(), read), (said, true)),
    }
}
