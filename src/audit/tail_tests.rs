use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::super::line::{record, unseal};
use super::super::samples::{proposed, started, unnoted};
use super::super::{AuditError, Log, open};
use super::*;
use crate::clock::Now;
use crate::model::{LogEvent, ProposalId, Ticket};

/// Writes and closes a log of three records, and returns its segment.
fn sample(state: &Path) -> Vec<u8> {
    let (report, reports) = std::sync::mpsc::channel();
    let handle = open(state).unwrap().writer.start(Box::new(move |said| {
        let _ = report.send(said);
    }));
    for n in 0..3 {
        let (event, blobs) = proposed(ProposalId::new(), "t");
        handle.submit(Ticket::Core(n), event, blobs);
        reports.recv().unwrap();
    }
    handle.close();
    fs::read(segment(state)).unwrap()
}

fn segment(state: &Path) -> std::path::PathBuf {
    Layout::at(state).segment(1)
}

/// One batch of records that continues these bytes.
fn batch(log: &[u8], count: u64) -> Vec<u8> {
    let text = std::str::from_utf8(log).unwrap();
    let last = unseal(text.lines().last().unwrap().as_bytes()).unwrap();
    let (mut hash, mut seq) = match last.place {
        LineRole::Record { seq, .. } => (last.hash, seq),
        LineRole::Header { .. } => (last.hash, 0),
    };
    let first = seq + 1;
    let mut bytes = Vec::new();
    for _ in 0..count {
        seq += 1;
        let together = (count > 1).then_some(first);
        let event = proposed(ProposalId::new(), "t").0;
        let event = crate::secrets::Redactor::default().redact(event, vec![]);
        let (line, sealed) = record(seq, together, "b", Now::read(), &event, &hash).unwrap();
        hash = sealed;
        bytes.extend(line);
    }
    bytes
}

/// Starts on a segment as a crash left it, and returns the bytes that were moved to quarantine.
fn start_on(state: &Path, bytes: &[u8]) -> Result<Vec<u8>, AuditError> {
    fs::write(segment(state), bytes).unwrap();
    let before = Log::open(state).unwrap().verify().unwrap();
    assert!(!before.consistent);
    let opened = open(state)?;
    let damage = before.damage.unwrap();
    assert!(
        damage
            .what
            .contains("the next start of the dashboard moves them to quarantine"),
        "{damage}"
    );
    assert!(opened.recovered.is_some());
    drop(opened);
    let report = Log::open(state).unwrap().verify().unwrap();
    assert!(report.consistent, "{report:?}");
    let quarantine = fs::read_dir(state.join("quarantine")).unwrap();
    let mut quarantined: Vec<_> = quarantine.map(|e| e.unwrap().path()).collect();
    assert_eq!(quarantined.len(), 1);
    Ok(fs::read(quarantined.remove(0)).unwrap())
}

#[test]
fn an_incomplete_end_is_reported_with_its_place_and_the_number_of_its_record() {
    let dir = tempfile::tempdir().unwrap();
    let log = sample(dir.path());
    unnoted(dir.path());
    let next = batch(&log, 1);
    fs::write(segment(dir.path()), [&log[..], &next[..20]].concat()).unwrap();
    let damage = Log::open(dir.path())
        .unwrap()
        .verify()
        .unwrap()
        .damage
        .unwrap();
    let place = (damage.file.as_str(), damage.line, damage.seq);
    assert_eq!(place, ("log/00000001.jsonl", None, Some(4)));
    let what = format!("the 20 bytes from byte {} on are incomplete", log.len());
    assert!(damage.what.starts_with(&what), "{damage}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The batch was written directly to the segment and never acknowledged. Any part of it may be left.
    #[test]
    fn remains_of_an_unacknowledged_batch_stop_no_start(
        count in 1..6_u64,
        holes in prop::collection::vec((0.0..1.0_f64, 1..600_usize, any::<Option<u8>>()), 1..4),
        cut in prop::option::of(0.0..1.0_f64),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let log = sample(dir.path());
        unnoted(dir.path());
        let tail = batch(&log, count);
        let mut remains = tail.clone();
        for (at, length, with) in holes {
            let at = (at * remains.len() as f64) as usize;
            let to = (at + length).min(remains.len());
            remains[at..to].fill(with.unwrap_or(0));
        }
        if let Some(cut) = cut {
            remains.truncate((cut * remains.len() as f64) as usize);
        }
        // Complete lines at the beginning stay.
        let sound = remains.iter().zip(&tail).take_while(|(a, b)| a == b).count();
        let sound = tail[..sound].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        prop_assume!(sound < remains.len());
        let quarantined = start_on(dir.path(), &[&log[..], &remains].concat()).unwrap();
        prop_assert_eq!(quarantined, &remains[sound..]);
        let now = fs::read(segment(dir.path())).unwrap();
        prop_assert!(now.starts_with(&[&log[..], &tail[..sound]].concat()));
    }

    /// Either the note or a later batch proves that the records were acknowledged.
    #[test]
    fn any_change_of_acknowledged_records_stops_the_start(
        at in 0.0..1.0_f64,
        length in 1..600_usize,
        with in any::<u8>(),
        noted in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut log = sample(dir.path());
        let acknowledged = log.len();
        if !noted {
            unnoted(dir.path());
            log.extend(batch(&log, 2));
            let later = batch(&log, 1);
            log.extend(later);
        }
        let at = (at * acknowledged as f64) as usize;
        let to = (at + length).min(acknowledged);
        let mut changed = log.clone();
        changed[at..to].fill(with);
        prop_assume!(changed != log);
        fs::write(segment(dir.path()), &changed).unwrap();
        let reported = Log::open(dir.path()).unwrap().verify().unwrap().damage.unwrap();
        match open(dir.path()) {
            Err(AuditError::Damaged { damage, .. }) => prop_assert_eq!(damage, reported),
            other => panic!("{other:?}"),
        }
        prop_assert_eq!(fs::read(segment(dir.path())).unwrap(), changed);
        prop_assert_eq!(fs::read_dir(dir.path().join("quarantine")).unwrap().count(), 0);
    }
}

#[test]
fn a_cut_off_end_that_was_noted_as_acknowledged_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let log = sample(dir.path());
    let cut = log[..log.len() - 1]
        .iter()
        .rposition(|b| *b == b'\n')
        .unwrap()
        + 1;
    for cut in [cut, cut + 10, log.len() - 1] {
        fs::write(segment(dir.path()), &log[..cut]).unwrap();
        let damage = Log::open(dir.path())
            .unwrap()
            .verify()
            .unwrap()
            .damage
            .unwrap();
        assert!(
            damage
                .what
                .contains("is gone: the log was durable up to byte"),
            "{damage}"
        );
        assert_eq!(damage.seq, Some(3));
        assert!(open(dir.path()).is_err());
    }
    fs::write(segment(dir.path()), &log).unwrap();
    assert!(Log::open(dir.path()).unwrap().verify().unwrap().consistent);
    drop(open(dir.path()).unwrap());
}

/// The line's hash is right, so it is not the result of a crash.
#[test]
fn an_intact_line_that_is_not_a_record_is_never_quarantined_by_a_start() {
    let dir = tempfile::tempdir().unwrap();
    let log = sample(dir.path());
    unnoted(dir.path());
    let text = std::str::from_utf8(&log).unwrap();
    let prev = unseal(text.lines().last().unwrap().as_bytes())
        .unwrap()
        .hash;
    let event = started(ProposalId::new());
    let event = crate::secrets::Redactor::default().redact(event, vec![]);
    let (line, _) = record(4, None, "b", Now::read(), &event, &prev).unwrap();
    let body = String::from_utf8(line)
        .unwrap()
        .replace("\"started\"", "\"restarted\"");
    let body = &body[..body.len() - 76];
    let hash = crate::model::Digest::of(body.as_bytes()).hex();
    let line = format!("{body},\"hash\":\"{hash}\"}}\n");
    fs::write(segment(dir.path()), [&log[..], line.as_bytes()].concat()).unwrap();
    let error = open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("restarted"), "{error}");
}

#[test]
fn a_damaged_header_of_a_segment_without_records_is_repaired_by_a_start() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path());
    unnoted(dir.path());
    let next = Layout::at(dir.path()).segment(2);
    fs::write(&next, b"{\"v\":1,\"segment\":2,\0\0\0\0\0\0\0}\n").unwrap();
    let opened = open(dir.path()).unwrap();
    assert_eq!(opened.durable, 4);
    drop(opened);
    let report = Log::open(dir.path()).unwrap().verify().unwrap();
    assert!(report.consistent && report.segments == 2, "{report:?}");
}

#[test]
fn a_start_removes_temporary_files_of_an_earlier_run_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path());
    let blob = Layout::at(dir.path()).blob(&crate::model::Digest::of(b"x"));
    let other = dir.path().join("blobs").join(blob.0.file_name().unwrap());
    fs::create_dir_all(&other).unwrap();
    let stale = [
        blob.1.with_extension("tmp"),
        blob.1.with_extension("new"),
        dir.path().join("quarantine/journal-0-1-abc.tmp"),
    ];
    let others = [
        blob.1.with_extension("bak"),
        other.join("notes.tmp"),
        dir.path().join("blobs/x.tmp"),
        dir.path().join("quarantine/journal-0-1-abc"),
        dir.path().join("log/x.tmp"),
    ];
    for path in stale.iter().chain(&others) {
        fs::write(path, "x").unwrap();
    }
    let held = open(dir.path()).unwrap();
    assert!(stale.iter().all(|path| !path.exists()));
    assert!(others.iter().all(|path| path.exists()));
    // A start that does not get the lock must not remove the writer's temporary files.
    fs::write(&stale[0], "x").unwrap();
    assert!(open(dir.path()).is_err());
    assert!(stale[0].exists());
    drop(held);
}

#[test]
fn the_note_survives_another_start_and_is_never_lowered() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path());
    let noted = || {
        let text = fs::read_to_string(dir.path().join("lock")).unwrap();
        text.lines().nth(1).unwrap().to_owned()
    };
    let length = fs::metadata(segment(dir.path())).unwrap().len();
    assert_eq!(noted(), format!("log 1 {length}"));
    crate::audit::append(dir.path(), LogEvent::Closed).unwrap();
    let longer = fs::metadata(segment(dir.path())).unwrap().len();
    assert_eq!(noted(), format!("log 1 {longer}"));
    drop(open(dir.path()).unwrap());
    assert_eq!(noted(), format!("log 1 {longer}"));
    // A malformed note is ignored.
    for text in [
        "",
        "1",
        "x\nlog",
        "1\nlog a b\n",
        "1\nlog 1\n",
        "1\nlog 9 9999999999999999999999\n",
    ] {
        fs::write(dir.path().join("lock"), text).unwrap();
        drop(open(dir.path()).unwrap());
        assert_eq!(noted(), format!("log 1 {longer}"), "{text:?}");
    }
}
