use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::super::samples::{
    CODE, EDITED, edited, every_kind, finished, granted, granted_as, proposed, started, unnoted,
};
use super::super::written::write;
use super::super::{Dashboard, Log};
use super::*;
use crate::model::{Digest, VerdictKind};

/// A finished proposal, a pending one and a running one, over several segments.
fn sample(dir: &Path) -> [ProposalId; 3] {
    let ids = [ProposalId::new(), ProposalId::new(), ProposalId::new()];
    let mut events = Vec::new();
    for (n, id) in ids.into_iter().enumerate() {
        events.push(proposed(id, &format!("title {n}")));
    }
    for id in [ids[0], ids[2]] {
        events.push((granted(id), Vec::new()));
        events.push((started(id), Vec::new()));
    }
    events.push(finished(ids[0]));
    write(open_with(dir, 2_000).unwrap(), events);
    ids
}

fn segments(dir: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir(dir.join("log"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    all.sort();
    all
}

#[test]
fn a_written_log_is_read_back_and_verifies() {
    let dir = tempfile::tempdir().unwrap();
    let ids = sample(dir.path());
    assert!(segments(dir.path()).len() > 2, "no rotation");
    let log = Log::open(dir.path()).unwrap();
    let report = log.verify().unwrap();
    assert!(report.consistent, "{report:?}");
    assert_eq!((report.records, report.blobs), (8, 4));
    let listing = log.proposals().unwrap();
    let states: Vec<_> = listing
        .proposals
        .iter()
        .map(|p| (p.id, p.state, p.agent.as_str()))
        .collect();
    assert_eq!(
        states,
        [
            (ids[2], State::Running, "etl-bot"),
            (ids[1], State::Pending, "etl-bot"),
            (ids[0], State::Succeeded, "etl-bot"),
        ]
    );
    let history = log.records(ids[0]).unwrap();
    let kinds: Vec<_> = history.records.iter().map(|r| r.event.kind()).collect();
    assert_eq!(kinds, ["proposed", "granted", "started", "finished"]);
    assert_eq!(history.records[0].actor, "agent");
    assert_eq!(history.records[1].actor, "person");
    let code = log.blob(&Digest::of(super::super::samples::CODE)).unwrap();
    assert_eq!(code, super::super::samples::CODE);

    let again = open_with(dir.path(), 2_000).unwrap();
    assert_eq!(again.durable, 8);
    assert_eq!(
        again.unfinished,
        [(ids[1], State::Pending), (ids[2], State::Running)]
    );
    assert_eq!(again.recovered, None);
    let summary = log.summary().unwrap();
    assert_eq!((summary.pending, summary.running), (1, 1));
    let here = Dashboard {
        pid: Some(std::process::id().cast_signed()),
        down: false,
    };
    assert_eq!(summary.dashboard, Some(here));
}

/// A time at which every segment is old. The last segment is kept nevertheless.
fn end_of_time() -> jiff::Timestamp {
    jiff::Timestamp::MAX
}

/// A log of finished proposals over several segments, and the ids.
fn finished_sample(dir: &Path) -> Vec<ProposalId> {
    let ids: Vec<ProposalId> = (0..4).map(|_| ProposalId::new()).collect();
    let mut events = Vec::new();
    for id in &ids {
        events.push(proposed(*id, "t"));
        events.push((granted(*id), Vec::new()));
        events.push((started(*id), Vec::new()));
        events.push(finished(*id));
    }
    write(open_with(dir, 2_000).unwrap(), events);
    ids
}

#[test]
fn old_segments_are_removed_and_their_record_keeps_the_rest_verifiable() {
    let dir = tempfile::tempdir().unwrap();
    let ids = finished_sample(dir.path());
    let orphan = dir.path().join("blobs/ab").join("ab".repeat(32));
    fs::create_dir_all(orphan.parent().unwrap()).unwrap();
    fs::write(&orphan, "x").unwrap();
    let log = Log::open(dir.path()).unwrap();
    let before = segments(dir.path());
    let complete = log.verify().unwrap();
    // New segments stay, and a dry run changes nothing.
    let epoch = jiff::Timestamp::UNIX_EPOCH;
    assert!(
        super::super::outdated_segments(&log, epoch)
            .unwrap()
            .segments
            .is_empty()
    );
    let planned = super::super::outdated_segments(&log, end_of_time()).unwrap();
    assert_eq!(planned.segments.len(), before.len() - 1);
    assert_eq!(segments(dir.path()), before);
    assert!(orphan.exists());

    let done = super::super::prune(&log, end_of_time(), 30, Default::default()).unwrap();
    assert_eq!(done, planned);
    assert!(!orphan.exists());
    let remaining = segments(dir.path());
    assert_eq!(remaining[..1], before[before.len() - 1..]);
    let report = log.verify().unwrap();
    assert!(report.consistent, "{report:?}");
    let removed: u64 = done.segments.iter().map(|s| s.records).sum();
    assert_eq!(report.removed_through, Some(removed));
    assert_eq!(report.records, complete.records - removed + 1);
    // The log continues without the removed proposals.
    let opened = open_with(dir.path(), 2_000).unwrap();
    assert_eq!(opened.durable, complete.records + 1);
    assert!(opened.unfinished.is_empty());
    write(opened, vec![proposed(ProposalId::new(), "later")]);
    assert!(log.verify().unwrap().consistent);
    assert!(log.records(ids[0]).unwrap().records.is_empty());
    assert_eq!(
        log.proposals().unwrap().proposals[0].title.as_deref(),
        Some("later")
    );
    // A second removal takes the record of the first.
    let id = log.proposals().unwrap().proposals[0].id;
    let events: Vec<_> = (0..3)
        .map(|_| (LogEvent::Expired { id }, Vec::new()))
        .collect();
    for event in events {
        write(open_with(dir.path(), 1).unwrap(), vec![event]);
    }
    let second = super::super::prune(&log, end_of_time(), 30, Default::default()).unwrap();
    assert!(!second.segments.is_empty());
    assert!(log.verify().unwrap().consistent);
}

/// The list says what a person decided on.
#[test]
fn an_edited_proposal_is_listed_with_the_verdict_on_what_was_granted() {
    let dir = tempfile::tempdir().unwrap();
    let (ran, denied) = (ProposalId::new(), ProposalId::new());
    let flagged = |id| {
        let (mut event, blobs) = edited(id, CODE, EDITED);
        if let LogEvent::Edited(e) = &mut event {
            e.verdict.verdict = VerdictKind::Flagged;
        }
        (event, blobs)
    };
    let by = crate::model::Reviewer::default();
    let viewed = crate::model::Viewed::default();
    let (id, reason) = (denied, None);
    let denial = LogEvent::Denied {
        id,
        reason,
        by,
        viewed,
    };
    let events = vec![
        proposed(ran, "ran"),
        flagged(ran),
        (granted_as(ran, EDITED), Vec::new()),
        proposed(denied, "denied"),
        flagged(denied),
        (denial, Vec::new()),
    ];
    write(open_with(dir.path(), 2_000).unwrap(), events);
    let log = Log::open(dir.path()).unwrap();
    assert!(log.verify().unwrap().consistent);
    let listed = log.proposals().unwrap().proposals;
    let verdicts: Vec<_> = listed.iter().map(|one| (one.id, one.verdict)).collect();
    let expected = [(denied, VerdictKind::Clear), (ran, VerdictKind::Flagged)];
    assert_eq!(verdicts, expected);
    let texts: Vec<_> = log.records(ran).unwrap().records[1].event.texts();
    assert_eq!(texts, [("edited code".to_owned(), Digest::of(EDITED))]);
    assert_eq!(log.blob(&texts[0].1).unwrap(), EDITED);
}

#[test]
fn an_open_proposal_keeps_its_segments() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path());
    let log = Log::open(dir.path()).unwrap();
    let before = segments(dir.path());
    let done = super::super::prune(&log, end_of_time(), 30, Default::default()).unwrap();
    assert!(done.segments.is_empty() && done.blobs == 0, "{done:?}");
    assert_eq!(segments(dir.path()), before);
    assert_eq!(
        log.verify().unwrap().records,
        8,
        "nothing was removed, so nothing is recorded"
    );
}

/// A gap before what stays would be damage, and the dashboard would not start.
#[test]
fn a_segment_without_records_is_removed_with_those_around_it() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        let id = ProposalId::new();
        let events = vec![proposed(id, "t"), (LogEvent::Expired { id }, Vec::new())];
        write(open_with(dir.path(), 1).unwrap(), events);
    }
    let first = fs::read_to_string(&segments(dir.path())[0]).unwrap();
    assert_eq!(first.lines().count(), 1, "a header alone");
    let log = Log::open(dir.path()).unwrap();
    super::super::prune(&log, end_of_time(), 30, Default::default()).unwrap();
    let report = log.verify().unwrap();
    assert!(report.consistent, "{report:?}");
    assert!(open_with(dir.path(), 1).is_ok());
}

/// The record of an earlier removal stays as long as an open proposal keeps its segment, and then names
/// another end than the one that is missing now.
#[test]
fn the_record_of_an_earlier_removal_may_stay_behind_a_later_one() {
    let dir = tempfile::tempdir().unwrap();
    let [first, second, open] = [(); 3].map(|()| ProposalId::new());
    let in_its_segment = |event| write(open_with(dir.path(), 1).unwrap(), vec![event]);
    let expired = |id| (LogEvent::Expired { id }, Vec::new());
    in_its_segment(proposed(first, "first"));
    in_its_segment(expired(first));
    in_its_segment(proposed(second, "second"));
    in_its_segment(proposed(open, "open"));
    let log = Log::open(dir.path()).unwrap();
    let prune = || super::super::prune(&log, end_of_time(), 30, Default::default()).unwrap();
    let earlier = prune();
    in_its_segment(expired(second));
    let later = prune();
    assert!(!earlier.segments.is_empty() && !later.segments.is_empty());
    let remaining = segments(dir.path()).into_iter();
    let text: String = remaining.map(|p| fs::read_to_string(p).unwrap()).collect();
    assert_eq!(text.matches("\"kind\":\"pruned\"").count(), 2);
    let report = log.verify().unwrap();
    assert!(report.consistent, "{report:?}");
}

#[test]
fn a_removal_cut_short_by_a_crash_leaves_a_sound_log_and_the_next_one_completes_it() {
    let dir = tempfile::tempdir().unwrap();
    finished_sample(dir.path());
    let log = Log::open(dir.path()).unwrap();
    let before = segments(dir.path());
    let contents: Vec<_> = before.iter().map(|p| fs::read(p).unwrap()).collect();
    let done = super::super::prune(&log, end_of_time(), 30, Default::default()).unwrap();
    // As if the removal had stopped after each of the segments.
    for stopped in (0..done.segments.len()).rev() {
        fs::write(&before[stopped], &contents[stopped]).unwrap();
        let report = log.verify().unwrap();
        let blobs_only = report.damage.is_none();
        assert!(blobs_only, "{stopped}: {report:?}");
        assert_eq!(report.removed_through.is_some(), stopped > 0);
    }
    let again = super::super::prune(&log, end_of_time(), 30, Default::default()).unwrap();
    assert_eq!(again.segments.len(), done.segments.len());
    assert!(log.verify().unwrap().consistent);
}

/// A journal that stays as it was would be put back into a log that went on without it.
#[test]
fn a_journal_that_cannot_be_emptied_is_an_error() {
    use super::super::{layout::Layout, put_back::empty};
    let state = tempfile::tempdir().unwrap();
    let layout = Layout::at(state.path());
    // No journal is an empty one.
    empty(&layout).unwrap();
    fs::write(layout.journal(0), "left").unwrap();
    fs::create_dir(layout.journal(1)).unwrap();
    assert!(empty(&layout).is_err());
    assert_eq!(fs::read(layout.journal(0)).unwrap(), b"");
}

#[test]
fn every_kind_of_event_survives_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let id = ProposalId::new();
    let events = every_kind(id);
    write(
        open(dir.path()).unwrap(),
        events.iter().map(|e| (e.clone(), Vec::new())).collect(),
    );
    let text = fs::read_to_string(&segments(dir.path())[0]).unwrap();
    let recorded: Vec<LogEvent> = text
        .lines()
        .skip(1)
        .map(|l| super::super::Record::parse(l.as_bytes()).unwrap().event)
        .collect();
    assert_eq!(recorded, events);
    for (line, event) in text.lines().skip(1).zip(&events) {
        assert!(line.contains(&format!("\"kind\":\"{}\"", event.kind())));
    }
}

#[test]
fn the_chain_can_be_checked_with_fixed_offsets_and_sha256() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path());
    let mut prev = "0".repeat(64);
    for path in segments(dir.path()) {
        for line in fs::read_to_string(path).unwrap().lines() {
            let hash = &line[line.len() - 66..line.len() - 2];
            assert_eq!(Digest::of(&line.as_bytes()[..line.len() - 75]).hex(), hash);
            assert!(line.contains(&format!("\"prev\":\"{prev}\",\"hash\"")));
            prev = hash.to_owned();
        }
    }
}

/// As a writer leaves it that is killed while it begins a segment.
#[test]
fn an_empty_last_segment_is_no_damage_unless_something_is_known_to_have_stood_there() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path());
    let last = segments(dir.path()).pop().unwrap();
    let number = segments(dir.path()).len() + 1;
    let next = last.with_file_name(format!("{number:08}.jsonl"));
    fs::write(&next, "").unwrap();
    let log = Log::open(dir.path()).unwrap();
    let report = log.verify().unwrap();
    assert!(report.consistent, "{report:?}");
    assert!(log.answers().unwrap().faults().first().is_none());
    drop(open_with(dir.path(), 2_000).unwrap());
    assert!(fs::metadata(&next).unwrap().len() > 0);
    assert!(log.verify().unwrap().consistent);
    // What the log is known to have had is missing, not unwritten.
    fs::write(&next, "").unwrap();
    let gone = log.verify().unwrap().damage.unwrap().to_string();
    assert!(gone.contains("is gone"), "{gone}");
}

#[test]
fn a_torn_last_line_is_quarantined_and_reported() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path());
    let last = segments(dir.path()).pop().unwrap();
    let original = fs::read(&last).unwrap();
    let log = Log::open(dir.path()).unwrap();
    let start = original[..original.len() - 1]
        .iter()
        .rposition(|b| *b == b'\n')
        .unwrap()
        + 1;
    for cut in [
        start + 1,
        usize::midpoint(start, original.len()),
        original.len() - 1,
    ] {
        fs::write(&last, &original[..cut]).unwrap();
        unnoted(dir.path());
        let report = log.verify().unwrap();
        let what = report.damage.unwrap().to_string();
        assert!(what.contains("incomplete, as a crash"), "{what}");
        let opened = open_with(dir.path(), 2_000).unwrap();
        assert!(opened.recovered.is_some());
        assert_eq!(
            opened.durable, 8,
            "the torn record is replaced by `recovered`"
        );
        drop(opened);
        let report = log.verify().unwrap();
        assert!(report.consistent, "{report:?}");
        let text = fs::read_to_string(&last).unwrap();
        let line = text.lines().last().unwrap();
        let record = super::super::Record::parse(line.as_bytes()).unwrap();
        let LogEvent::Recovered {
            quarantined, bytes, ..
        } = record.event
        else {
            panic!("{line}")
        };
        assert_eq!(bytes, (cut - start) as u64);
        let quarantined_bytes = fs::read(dir.path().join("quarantine").join(quarantined)).unwrap();
        assert_eq!(quarantined_bytes, &original[start..cut]);
        let again = open_with(dir.path(), 2_000).unwrap();
        assert_eq!((again.recovered, again.durable), (None, 8));
    }
}

#[test]
fn a_crash_while_a_segment_begins_is_repaired() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path());
    let last = segments(dir.path()).pop().unwrap();
    let next = segments(dir.path()).len() as u64 + 1;
    let path = dir.path().join("log").join(segment_name(next));
    let before = Log::open(dir.path()).unwrap().verify().unwrap().records;
    for (content, added) in [(&b""[..], 0), (b"{\"v\":1,\"seg", 1), (&[0; 100][..], 1)] {
        fs::write(&path, content).unwrap();
        unnoted(dir.path());
        let opened = open_with(dir.path(), 2_000).unwrap();
        assert_eq!(opened.durable, before + added);
        assert_eq!(opened.recovered.is_some(), added == 1);
        write(opened, vec![(LogEvent::Closed, Vec::new())]);
        let report = Log::open(dir.path()).unwrap().verify().unwrap();
        assert!(report.consistent, "{report:?}");
        assert_eq!(report.segments, next);
        fs::remove_file(&path).unwrap();
    }
    assert!(last.exists());
}

#[test]
fn damage_stops_the_start_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path());
    let first = &segments(dir.path())[0];
    let mut bytes = fs::read(first).unwrap();
    let at = bytes.windows(7).position(|w| w == b"etl-bot").unwrap();
    bytes[at] = b'E';
    fs::write(first, &bytes).unwrap();
    let error = open(dir.path()).unwrap_err();
    let AuditError::Damaged { damage, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(damage.file, "log/00000001.jsonl");
    assert_eq!((damage.line, damage.seq), (Some(2), Some(1)));
    assert_eq!(fs::read(first).unwrap(), bytes);
    assert_eq!(
        fs::read_dir(dir.path().join("quarantine")).unwrap().count(),
        0
    );
}

#[test]
fn a_second_dashboard_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path()).unwrap();
    let error = open(dir.path()).unwrap_err().to_string();
    assert!(
        error.contains(&format!("pid {}", std::process::id())),
        "{error}"
    );
    assert!(error.contains("--state-dir"), "{error}");
    drop(first);
    open(dir.path()).unwrap();
}

#[test]
fn everything_in_the_folder_is_accessible_to_its_user_only() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("a/b");
    sample(&state);
    let mut pending = vec![state.clone()];
    while let Some(path) = pending.pop() {
        let meta = fs::symlink_metadata(&path).unwrap();
        let mode = meta.permissions().mode() & 0o777;
        if meta.is_dir() {
            assert_eq!(mode, 0o700, "{}", path.display());
            pending.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
        } else {
            assert_eq!(mode, 0o600, "{}", path.display());
        }
    }
    for (path, mode, expected) in [
        (state.clone(), 0o777, "lets other users in"),
        (state.join("log"), 0o755, "chmod 700"),
    ] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let error = open(&state).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    }
    open(&state).unwrap();
}

#[test]
fn links_in_the_folder_are_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let state = dir.path().join("state");
    fs::create_dir(&state).unwrap();
    std::os::unix::fs::symlink(&elsewhere, state.join("log")).unwrap();
    let error = open(&state).unwrap_err().to_string();
    assert!(error.contains("is not a folder"), "{error}");
    fs::remove_file(state.join("log")).unwrap();
    fs::create_dir(state.join("log")).unwrap();
    fs::set_permissions(state.join("log"), fs::Permissions::from_mode(0o700)).unwrap();
    std::os::unix::fs::symlink("/dev/zero", state.join("log/00000001.jsonl")).unwrap();
    assert!(open(&state).is_err());
    assert!(Log::open(&state).unwrap().verify().is_err());
}

#[test]
fn files_that_are_not_segments_are_ignored() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path());
    for name in ["1.jsonl", "00000001.jsonl.bak", "notes", "+0000002.jsonl"] {
        fs::write(dir.path().join("log").join(name), "x").unwrap();
    }
    assert!(Log::open(dir.path()).unwrap().verify().unwrap().consistent);
}

#[test]
fn equal_blobs_are_stored_once() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path());
    let mut count: HashMap<Vec<u8>, usize> = HashMap::new();
    for (path, bytes) in files_of_log(dir.path()) {
        if path.starts_with(dir.path().join("blobs")) {
            *count.entry(bytes).or_default() += 1;
        }
    }
    assert_eq!(count.len(), 4);
    assert!(count.values().all(|n| *n == 1));
}

/// All files under `log` and `blobs`, with their content.
fn files_of_log(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut pending = vec![dir.join("log"), dir.join("blobs")];
    let mut files = Vec::new();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
        } else {
            let bytes = fs::read(&path).unwrap();
            files.push((path, bytes));
        }
    }
    files.sort();
    files
}

#[path = "tamper_tests.rs"]
mod tamper;

/// `unshare --time --boottime 500000` begins one.
#[test]
fn a_time_namespace_has_a_clock_of_its_own() {
    let clock = |offsets| super::clock_of("b", offsets);
    assert_eq!(clock(""), "b");
    assert_eq!(
        clock("monotonic           0         0\nboottime            0         0\n"),
        "b"
    );
    assert_eq!(
        clock("monotonic 500000 0\nboottime 500000 5\n"),
        "b+500000.5"
    );
    assert_eq!(clock("monotonic 9 0\n"), "b");
}
