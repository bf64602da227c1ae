use std::path::Path;

use super::super::samples::{finished, granted, proposed, started, unnoted};
use super::super::{Report, frame, open};
use super::*;
use crate::audit::open::open_with;
use crate::model::{Blob, ProposalId, Ticket};

fn write(state: &Path, segment_bytes: u64, events: Vec<(LogEvent, Vec<Blob>)>) {
    let (report, reports) = std::sync::mpsc::channel();
    let writer = open_with(state, segment_bytes).unwrap().writer;
    let handle = writer.start(Box::new(move |said| {
        let _ = report.send(said);
    }));
    for (event, blobs) in events {
        handle.submit(Ticket::Unawaited, event, blobs);
        reports.recv().unwrap();
    }
    handle.close();
}

/// Two proposals that ran. `segment_bytes` decides how many segments there are.
fn sample(state: &Path, segment_bytes: u64) -> [ProposalId; 2] {
    let ids = [ProposalId::new(), ProposalId::new()];
    let mut events = Vec::new();
    for id in ids {
        events.push(proposed(id, "t"));
        events.push((granted(id), Vec::new()));
        events.push((started(id), Vec::new()));
        events.push(finished(id));
    }
    write(state, segment_bytes, events);
    ids
}

/// Whatever is damaged, and whatever a repair leaves, contradicts nothing.
fn verify(state: &Path) -> Report {
    let report = Log::open(state).unwrap().verify().unwrap();
    assert_eq!(report.odd, []);
    report
}

fn repair(state: &Path) -> Repair {
    Log::open(state).unwrap().repair().unwrap().unwrap()
}

fn reviewer() -> Reviewer {
    Reviewer {
        uid: 1000,
        login: Some("ann".to_owned()),
        ..Reviewer::default()
    }
}

/// Every `recovered` record of a log.
fn recovered_records(state: &Path) -> Vec<LogEvent> {
    let layout = Layout::at(state);
    let mut found = Vec::new();
    judge(&layout, Look::There, &mut |read: Read<'_>| {
        if let Read::Record(_, record) = read
            && matches!(record.event, LogEvent::Recovered { .. })
        {
            found.push(record.event);
        }
    })
    .unwrap();
    found
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_log_that_is_sound_or_recovered_by_a_start_needs_no_repair() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path(), u64::MAX);
    assert!(Log::open(dir.path()).unwrap().repair().unwrap().is_none());
    // An incomplete line, as a crash leaves it.
    let path = Layout::at(dir.path()).segment(1);
    let torn = [&fs::read(&path).unwrap()[..], b"{\"v\":1,"].concat();
    fs::write(&path, &torn).unwrap();
    assert!(!verify(dir.path()).consistent);
    assert!(Log::open(dir.path()).unwrap().repair().unwrap().is_none());
    assert_eq!(fs::read(&path).unwrap(), torn);
}

#[test]
fn damage_in_the_middle_is_quarantined_with_all_that_follows_and_the_person_is_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let ids = sample(dir.path(), 1_000);
    let layout = Layout::at(dir.path());
    let segments = layout.segments().unwrap();
    assert!(segments.len() > 3);
    let originals: Vec<_> = segments
        .iter()
        .map(|n| fs::read(layout.segment(*n)).unwrap())
        .collect();
    flip(&layout.segment(2), originals[1].len() / 2);
    let broken = fs::read(layout.segment(2)).unwrap();
    let damage = verify(dir.path()).damage.unwrap();
    assert!(open(dir.path()).is_err());

    let plan = repair(dir.path());
    let loss = plan.loss().clone();
    assert_eq!(loss.damage, damage);
    assert_eq!(Some(loss.stays_through + 1), damage.seq);
    let files: Vec<_> = loss
        .files
        .iter()
        .map(|f| (f.file.clone(), f.offset))
        .collect();
    let cut = loss.files[0].offset;
    assert_eq!(files[0], ("log/00000002.jsonl".to_owned(), cut));
    assert_eq!(files.len(), segments.len() - 1);
    let kinds: Vec<_> = loss
        .files
        .iter()
        .flat_map(|f| &f.records)
        .map(|r| &*r.kind)
        .collect();
    assert!(kinds.contains(&"finished"), "{kinds:?}");
    assert_eq!(loss.records(), 8 - loss.stays_through - 1);
    // While the person decides, nobody else can write and nothing changes.
    assert!(matches!(open(dir.path()), Err(AuditError::Locked { .. })));
    assert_eq!(fs::read(layout.segment(2)).unwrap(), broken);
    drop(plan);
    assert_eq!(verify(dir.path()).damage, Some(damage.clone()));

    repair(dir.path()).carry_out(&reviewer()).unwrap();
    let report = verify(dir.path());
    assert!(report.consistent, "{report:?}");
    assert_eq!(layout.segments().unwrap(), [1, 2]);
    let records = recovered_records(dir.path());
    assert_eq!(records.len(), files.len());
    for (record, n) in records.iter().zip(2..) {
        let LogEvent::Recovered {
            segment,
            offset,
            quarantined,
            lost,
            by: who,
            ..
        } = record
        else {
            panic!("{record:?}")
        };
        assert_eq!(*segment, segment_name(n));
        assert_eq!(who.as_ref(), Some(&reviewer()));
        assert!(
            lost.as_ref().unwrap().starts_with(&damage.to_string()),
            "{lost:?}"
        );
        let quarantined_bytes = fs::read(layout.quarantine().join(quarantined)).unwrap();
        let original = if n == 2 {
            &broken
        } else {
            &originals[n as usize - 1]
        };
        assert_eq!(quarantined_bytes, &original[*offset as usize..]);
    }
    // The log continues, and proposals left without an end are open, as after a crash.
    let opened = open(dir.path()).unwrap();
    assert!(opened.unfinished.iter().all(|(id, _)| ids.contains(id)));
    assert_eq!(opened.recovered, None);
}

#[test]
fn a_missing_end_is_recorded() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path(), u64::MAX);
    let path = Layout::at(dir.path()).segment(1);
    let whole = fs::read(&path).unwrap();
    let cut = whole[..whole.len() - 1]
        .iter()
        .rposition(|b| *b == b'\n')
        .unwrap()
        + 1;
    fs::write(&path, &whole[..cut]).unwrap();
    assert!(open(dir.path()).is_err());
    let plan = repair(dir.path());
    assert_eq!((plan.loss().stays_through, plan.loss().files.len()), (7, 0));
    plan.carry_out(&reviewer()).unwrap();
    assert!(verify(dir.path()).consistent);
    let records = recovered_records(dir.path());
    assert!(matches!(
        &records[..],
        [LogEvent::Recovered {
            bytes: 0,
            by: Some(_),
            ..
        }]
    ));
    drop(open(dir.path()).unwrap());
}

#[test]
fn records_that_the_journal_still_has_are_put_back() {
    let dir = tempfile::tempdir().unwrap();
    let (report, reports) = std::sync::mpsc::channel();
    let handle = open(dir.path())
        .unwrap()
        .writer
        .start(Box::new(move |said| {
            let _ = report.send(said);
        }));
    for n in 0..4 {
        let (event, blobs) = proposed(ProposalId::new(), "t");
        handle.submit(Ticket::Core(n), event, blobs);
        reports.recv().unwrap();
    }
    // A killed dashboard's log, of which a byte is then changed.
    let killed = tempfile::tempdir().unwrap();
    let layout = Layout::at(killed.path());
    layout.make().unwrap();
    for name in ["log/00000001.jsonl", "journal-0", "journal-1", "lock"] {
        fs::copy(dir.path().join(name), killed.path().join(name)).unwrap();
    }
    let whole = fs::read(layout.segment(1)).unwrap();
    handle.close();
    flip(&layout.segment(1), whole.len() * 2 / 3);
    assert!(open(killed.path()).is_err());
    let plan = repair(killed.path());
    let loss = plan.loss().clone();
    assert_eq!(
        (loss.stays_through, loss.put_back, loss.records()),
        (2, 2, 0)
    );
    plan.carry_out(&reviewer()).unwrap();
    let report = verify(killed.path());
    assert!(report.consistent, "{report:?}");
    assert!(fs::read(layout.segment(1)).unwrap().starts_with(&whole));
    assert_eq!(report.records, 4 + 1);
    assert_eq!(recovered_records(killed.path()).len(), 1);

    // The other way round: the log is sound, and its journal contradicts it.
    let mut forged = Vec::new();
    frame::write(&mut forged, &[7; 8], 1, 300, b"{\"v\":1,\n", &[]).unwrap();
    fs::write(layout.journal(0), &forged).unwrap();
    assert!(open(killed.path()).is_err());
    let plan = repair(killed.path());
    assert_eq!(plan.loss().files[0].file, "journal-0");
    plan.carry_out(&reviewer()).unwrap();
    assert!(verify(killed.path()).consistent);
    assert_eq!(fs::read(layout.journal(0)).unwrap(), b"");
    let LogEvent::Recovered { quarantined, .. } = &recovered_records(killed.path())[1] else {
        panic!("two records")
    };
    assert_eq!(
        fs::read(layout.quarantine().join(quarantined)).unwrap(),
        forged
    );
}

/// An acknowledged batch of the journal is damaged, so the later ones cannot continue the log.
#[test]
fn batches_after_a_damaged_one_are_reported_as_lost_and_quarantined() {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::at(dir.path());
    layout.make().unwrap();
    write(dir.path(), u64::MAX, vec![proposed(ProposalId::new(), "t")]);
    let log = fs::read(layout.segment(1)).unwrap();
    let mut journal = Vec::new();
    let mut at = log.len() as u64;
    let mut hash = unseal(log.split(|b| *b == b'\n').nth(1).unwrap())
        .unwrap()
        .hash;
    let mut ends = vec![];
    for seq in 2..5 {
        let event = proposed(ProposalId::new(), "t").0;
        let event = crate::secrets::Redactor::default().redact(event, vec![]);
        let now = crate::clock::Now::read();
        let (line, next) = super::super::line::record(seq, None, "b", now, &event, &hash).unwrap();
        hash = next;
        let mut whole = Vec::new();
        frame::write(&mut whole, &[7; 8], 1, at, &line, &[]).unwrap();
        journal.extend(whole);
        ends.push(journal.len());
        at += line.len() as u64;
    }
    journal[ends[0] + 70] ^= 1;
    fs::write(layout.journal(0), &journal).unwrap();
    // The first batch is put back. The third proves that the second was acknowledged.
    assert!(open(dir.path()).is_err());
    let plan = repair(dir.path());
    let loss = plan.loss().clone();
    assert_eq!(loss.stays_through, 2);
    assert!(loss.damage.what.contains("is gone"), "{}", loss.damage);
    plan.carry_out(&reviewer()).unwrap();
    assert!(verify(dir.path()).consistent);
    assert_eq!(verify(dir.path()).records, 3 + 2);
    // What was open there may have run in what is lost.
    let log = Log::open(dir.path()).unwrap();
    for (id, state) in &loss.open {
        assert_eq!(*state, State::Pending);
        let records = log.records(*id).unwrap().records;
        let LogEvent::Failed { state, message, .. } = &records[1].event else {
            panic!("{records:?}")
        };
        assert_eq!(*state, State::Error);
        assert!(message.contains("whether it ran is unknown"), "{message}");
    }
    assert_eq!(loss.open.len(), 2);
    assert!(open(dir.path()).unwrap().unfinished.is_empty());
}

#[test]
fn a_log_without_its_beginning_is_not_repaired() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path(), 2_000);
    let layout = Layout::at(dir.path());
    let refusal = || {
        let error = Log::open(dir.path()).unwrap().repair().unwrap_err();
        assert!(matches!(error, AuditError::Beyond { .. }), "{error}");
        error.to_string()
    };
    fs::remove_file(layout.segment(1)).unwrap();
    assert!(refusal().contains("no record says that it was removed"));
    for number in layout.segments().unwrap() {
        fs::remove_file(layout.segment(number)).unwrap();
    }
    assert!(refusal().contains("this segment is missing"));
    assert_eq!(fs::read_dir(layout.quarantine()).unwrap().count(), 0);
}

/// A crash during a repair leaves a log that is either damaged or repaired.
#[test]
fn an_interrupted_repair_can_be_repeated() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path(), 2_000);
    let layout = Layout::at(dir.path());
    let last = layout.segments().unwrap().pop().unwrap();
    let kept = fs::read(layout.segment(last)).unwrap();
    flip(&layout.segment(2), 300);
    let lock = fs::read(layout.lock()).unwrap();
    repair(dir.path()).carry_out(&reviewer()).unwrap();
    // The new end was written, but a later segment was not removed.
    fs::write(layout.segment(3), &kept).unwrap();
    assert!(open(dir.path()).is_err());
    repair(dir.path()).carry_out(&reviewer()).unwrap();
    assert!(verify(dir.path()).consistent);
    // Everything was written but the note.
    fs::write(layout.lock(), lock).unwrap();
    assert!(open(dir.path()).is_err());
    repair(dir.path()).carry_out(&reviewer()).unwrap();
    assert!(verify(dir.path()).consistent);
    // Without a note the start itself recovers a torn end.
    unnoted(dir.path());
    assert!(Log::open(dir.path()).unwrap().repair().unwrap().is_none());
    drop(open(dir.path()).unwrap());
}

/// A hole in a file costs neither memory nor room.
#[test]
fn an_end_that_no_crash_leaves_is_named_and_set_aside_by_a_repair_alone() {
    use std::os::unix::fs::MetadataExt as _;
    const HOLE: u64 = 200 * 1024 * 1024;
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path();
    sample(state, 1024 * 1024);
    let segment = Layout::at(state).segment(1);
    let sound = fs::metadata(&segment).unwrap().len();
    let file = fs::File::options().write(true).open(&segment).unwrap();
    file.set_len(sound + HOLE).unwrap();
    let damage = verify(state).damage.unwrap();
    assert_eq!(damage.what, "it is longer than any record");
    assert!(matches!(open(state), Err(AuditError::Damaged { .. })));
    assert_eq!(fs::metadata(&segment).unwrap().len(), sound + HOLE);
    repair(state).carry_out(&reviewer()).unwrap();
    let report = verify(state);
    assert!(
        report.consistent && report.set_aside[0].bytes == HOLE,
        "{report:?}"
    );
    let mut kept = fs::read_dir(state.join("quarantine")).unwrap();
    let kept = kept.next().unwrap().unwrap().metadata().unwrap();
    assert_eq!(kept.len(), HOLE);
    assert!(kept.blocks() * 512 < HOLE / 10, "{}", kept.blocks());
}
