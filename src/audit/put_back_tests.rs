//! The journal restores what a crash of the machine takes.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};

use proptest::prelude::*;

use super::super::line;
use super::super::open::open_with;
use super::super::samples::{finished, granted, proposed, started};
use super::super::{Log, Report, WriterEvent, WriterHandle, open, outdated_segments, prune};
use super::*;
use crate::clock::Now;
use crate::model::{Blob, ProposalId, Reviewer, SourceStats, Ticket};

/// A log that is being written.
struct Writing {
    handle: WriterHandle,
    answers: Receiver<WriterEvent>,
}

fn writing(state: &Path) -> Writing {
    writing_in(state, u64::MAX)
}

fn writing_in(state: &Path, segment_bytes: u64) -> Writing {
    let (report, answers) = channel();
    let writer = open_with(state, segment_bytes).unwrap().writer;
    let handle = writer.start(Box::new(move |event| {
        let _ = report.send(event);
    }));
    Writing { handle, answers }
}

impl Writing {
    /// Writes records one by one, each after the preceding one is durable.
    fn write(&self, records: Vec<(LogEvent, Vec<Blob>)>) {
        for (event, blobs) in records {
            self.handle.submit(Ticket::Unawaited, event, blobs);
            let answer = self.answers.recv().unwrap();
            assert!(matches!(answer, WriterEvent::Durable { .. }), "{answer:?}");
        }
    }
}

/// Records of `count` proposals that ran, each with different code.
fn finished_runs(count: usize, bytes: usize) -> Vec<(LogEvent, Vec<Blob>)> {
    let mut records = Vec::new();
    for n in 0..count {
        let id = ProposalId::new();
        let (mut event, mut blobs) = proposed(id, "t");
        blobs[0] = Blob::of(format!("{n} {}", "x".repeat(bytes)).as_bytes());
        let digest = blobs[0].sha256;
        if let LogEvent::Proposed(log) = &mut event {
            log.digest = digest;
            log.verdict.source = SourceStats::of(&blobs[0].bytes);
        }
        records.push((event, blobs));
        let mut event = granted(id);
        if let LogEvent::Granted(log) = &mut event {
            log.digest = digest;
        }
        records.push((event, Vec::new()));
        records.push((started(id), Vec::new()));
        records.push(finished(id));
    }
    records
}

fn copy_of(state: &Path) -> tempfile::TempDir {
    fn copy(from: &Path, target: &Path) {
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let target = target.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                make_folder(&target).unwrap();
                copy(&entry.path(), &target);
            } else if fs::copy(entry.path(), target).is_err() {
                // A temporary file that was renamed in the meantime.
                assert!(!entry.path().exists());
            }
        }
    }
    let dir = tempfile::tempdir().unwrap();
    copy(state, dir.path());
    dir
}

/// A copy without everything that was not synced, as after a crash of the machine: only the journal and what
/// existed before the log was opened are left.
fn crashed_copy(state: &Path) -> tempfile::TempDir {
    let dir = copy_of(state);
    cut_to_header(dir.path());
    for folder in fs::read_dir(dir.path().join("blobs")).unwrap() {
        fs::remove_dir_all(folder.unwrap().path()).unwrap();
    }
    dir
}

fn cut_to_header(state: &Path) {
    let log = segment(state);
    let header = fs::read(&log).unwrap().iter().position(|b| *b == b'\n');
    let file = OpenOptions::new().write(true).open(&log).unwrap();
    file.set_len(header.unwrap() as u64 + 1).unwrap();
}

fn segment(state: &Path) -> PathBuf {
    Layout::at(state).segment(1)
}

fn journal(state: &Path) -> PathBuf {
    Layout::at(state).journal(0)
}

fn verify(state: &Path) -> Report {
    Log::open(state).unwrap().verify().unwrap()
}

/// Waits until `count` blobs have files.
fn await_blob_files(state: &Path, count: usize) {
    let files = || {
        let folders = fs::read_dir(Layout::at(state).blobs()).unwrap();
        let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
        files
            .filter(|file| file.as_ref().unwrap().path().extension().is_none())
            .count()
    };
    while files() < count {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Opens and closes a log, then checks it.
fn reopen(state: &Path) -> Report {
    open(state).unwrap().writer.start(Box::new(|_| {})).close();
    verify(state)
}

/// The number of `recovered` records, after checking that there are as many files in quarantine.
fn count_quarantined(state: &Path) -> usize {
    let text = fs::read_to_string(segment(state)).unwrap();
    let records = text.matches("\"kind\":\"recovered\"").count();
    let files = fs::read_dir(Layout::at(state).quarantine())
        .unwrap()
        .count();
    assert_eq!(records, files);
    records
}

#[test]
fn records_reported_durable_survive_the_loss_of_everything_unsynced() {
    let dir = tempfile::tempdir().unwrap();
    let log = writing(dir.path());
    log.write(finished_runs(20, 100));
    let whole = fs::read(segment(dir.path())).unwrap();
    let lost = crashed_copy(dir.path());
    // Until the next start, readers continue in the journal and report how many records are only there.
    let report = verify(lost.path());
    assert!(report.consistent, "{report:?}");
    assert_eq!((report.records, report.in_journal), (80, 80));
    let listing = Log::open(lost.path()).unwrap().proposals().unwrap();
    assert_eq!(listing.faults.first(), None);
    assert_eq!(listing.proposals.len(), 20);

    let report = reopen(lost.path());
    assert!(report.consistent, "{report:?}");
    // Each proposal's code, and the shared input, output and empty error stream.
    assert_eq!((report.records, report.blobs), (80, 23));
    assert_eq!(report.in_journal, 0);
    assert_eq!(
        fs::read(segment(lost.path())).unwrap(),
        whole,
        "the order is kept"
    );
    // The journal is empty once everything is in its final place.
    for number in 0..2 {
        let left = fs::metadata(Layout::at(lost.path()).journal(number)).unwrap();
        assert_eq!(left.len(), 0);
    }
    assert_eq!(count_quarantined(lost.path()), 0);
    // A crash before the journal was emptied changes nothing.
    fs::copy(journal(dir.path()), journal(lost.path())).unwrap();
    assert!(verify(lost.path()).consistent);
    let report = reopen(lost.path());
    assert!(report.consistent && report.records == 80, "{report:?}");
    log.handle.close();
}

#[test]
fn a_log_that_was_closed_needs_no_journal() {
    let dir = tempfile::tempdir().unwrap();
    let log = writing(dir.path());
    log.write(finished_runs(3, 100));
    log.handle.close();
    for number in 0..2 {
        fs::remove_file(Layout::at(dir.path()).journal(number)).unwrap();
    }
    let report = verify(dir.path());
    assert!(report.consistent && report.records == 12, "{report:?}");
}

#[test]
fn an_incomplete_batch_is_quarantined_and_earlier_ones_survive() {
    let dir = tempfile::tempdir().unwrap();
    let log = writing(dir.path());
    log.write(finished_runs(3, 100));
    let bytes = fs::read(journal(dir.path())).unwrap();
    let turn = frame::read(&bytes);
    assert_eq!((turn.frames.len(), turn.broken), (12, None));
    let last = turn.frames.last().unwrap().at;
    let end = bytes.iter().rposition(|b| *b != 0).unwrap() + 1;
    for lost in [1, 33, 100, end - last - 1] {
        let dir = crashed_copy(dir.path());
        let file = OpenOptions::new().write(true).open(journal(dir.path()));
        file.unwrap().set_len((end - lost) as u64).unwrap();
        assert!(verify(dir.path()).damage.is_some());
        let report = reopen(dir.path());
        assert!(report.consistent, "{report:?}");
        assert_eq!(report.records, 11 + 1, "one `recovered` record is added");
        assert_eq!(count_quarantined(dir.path()), 1);
    }
    log.handle.close();
}

#[test]
fn a_changed_byte_of_the_journal_is_reported_and_does_not_harm_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let log = writing(dir.path());
    log.write(finished_runs(1, 100));
    let bytes = fs::read(journal(dir.path())).unwrap();
    await_blob_files(dir.path(), 4);
    let copy = copy_of(dir.path());
    log.handle.close();
    assert!(verify(copy.path()).consistent);
    let whole = fs::read(segment(copy.path())).unwrap();
    let end = bytes.iter().rposition(|b| *b != 0).unwrap() + 1;
    for at in 0..end {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        fs::write(journal(copy.path()), &changed).unwrap();
        let damage = verify(copy.path()).damage;
        let damage = damage.unwrap_or_else(|| panic!("the change of byte {at} is not reported"));
        assert_eq!(damage.file, "journal-0", "{at}: {damage}");
        // Opening is too slow to try it for every byte.
        if at % 97 == 0 {
            let copy = copy_of(copy.path());
            let report = reopen(copy.path());
            assert!(report.consistent, "{at}: {report:?}");
            assert_eq!(report.records, 4 + 1);
            assert_eq!(count_quarantined(copy.path()), 1);
            let after = fs::read(segment(copy.path())).unwrap();
            assert!(after.starts_with(&whole));
        }
    }
}

#[test]
fn records_lost_in_a_changed_journal_are_reported_and_never_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let log = writing(dir.path());
    log.write(finished_runs(3, 100));
    let bytes = fs::read(journal(dir.path())).unwrap();
    let sixth = frame::read(&bytes).frames[5].at;
    let lost = crashed_copy(dir.path());
    log.handle.close();
    let mut changed = bytes.clone();
    changed[sixth + 60] ^= 1;
    fs::write(journal(lost.path()), &changed).unwrap();
    assert!(verify(lost.path()).damage.is_some());
    // Later batches prove that the changed one was durable.
    let error = open(lost.path()).unwrap_err().to_string();
    assert!(
        error.contains("is gone: the log was durable up to"),
        "{error}"
    );
    assert_eq!(fs::read(journal(lost.path())).unwrap(), changed);
    assert_eq!(count_quarantined(lost.path()), 0);
}

#[test]
fn a_log_that_contradicts_its_journal_is_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let log = writing(dir.path());
    log.write(finished_runs(1, 100));
    let copy = copy_of(dir.path());
    log.handle.close();
    let path = segment(copy.path());
    let bytes = fs::read(&path).unwrap();
    let text = String::from_utf8(bytes.clone()).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    // The last record is replaced, with a correct chain.
    let prev = unseal(lines[3].trim_end().as_bytes()).unwrap().hash;
    let id = ProposalId::new();
    let (forged, _) = line::record(
        4,
        None,
        "boot",
        Now::read(),
        &crate::secrets::Redactor::default().redact(LogEvent::Expired { id }, vec![]),
        &prev,
    )
    .unwrap();
    let mut forged = [lines[..4].concat().as_bytes(), &forged].concat();
    forged.extend(&bytes[bytes.len().min(forged.len())..]);
    let mut no_end = bytes.clone();
    *no_end.last_mut().unwrap() = b' ';
    for changed in [forged, no_end] {
        fs::write(&path, &changed).unwrap();
        assert!(verify(copy.path()).damage.is_some());
        let error = open(copy.path()).unwrap_err();
        assert!(matches!(error, AuditError::Damaged { .. }), "{error}");
        assert_eq!(fs::read(&path).unwrap(), changed, "nothing was changed");
        assert_ne!(fs::metadata(journal(copy.path())).unwrap().len(), 0);
    }
    // A chain broken in the middle is still reported with its line.
    let mut changed = bytes.clone();
    changed[bytes.len() / 2] ^= 1;
    fs::write(&path, &changed).unwrap();
    assert!(verify(copy.path()).damage.unwrap().line.is_some());
    assert!(matches!(open(copy.path()), Err(AuditError::Damaged { .. })));
    assert_eq!(fs::read(&path).unwrap(), changed);
}

#[test]
fn a_journal_of_another_log_is_not_put_back() {
    let logs = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let lost = logs.each_ref().map(|dir| {
        let log = writing(dir.path());
        log.write(finished_runs(1, 100));
        let lost = crashed_copy(dir.path());
        log.handle.close();
        lost
    });
    fs::copy(journal(lost[0].path()), journal(lost[1].path())).unwrap();
    let before = fs::read(segment(lost[1].path())).unwrap();
    assert!(verify(lost[1].path()).damage.is_some());
    let error = open(lost[1].path()).unwrap_err();
    assert!(matches!(error, AuditError::Damaged { .. }), "{error}");
    assert_eq!(fs::read(segment(lost[1].path())).unwrap(), before);
}

#[test]
fn a_log_older_than_its_journal_is_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let log = writing(dir.path());
    log.write(finished_runs(2, 100));
    let older = fs::read(segment(dir.path())).unwrap();
    log.handle.close();
    let log = writing(dir.path());
    log.write(finished_runs(2, 200));
    let copy = copy_of(dir.path());
    log.handle.close();
    let cut = older.iter().rposition(|b| *b == b'{').unwrap();
    let first = older[..cut].iter().rposition(|b| *b == b'\n').unwrap() + 1;
    fs::write(segment(copy.path()), &older[..first]).unwrap();
    let damage = verify(copy.path()).damage.unwrap();
    assert!(
        damage.what.contains("is gone: the log was durable up to"),
        "{damage}"
    );
    // No start drops acknowledged records.
    let error = open(copy.path()).unwrap_err();
    assert!(matches!(error, AuditError::Damaged { .. }), "{error}");
}

#[test]
fn a_lost_blob_is_restored_and_a_changed_one_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let log = writing(dir.path());
    log.write(finished_runs(1, 100));
    let bytes = format!("0 {}", "x".repeat(100)).into_bytes();
    let code = Digest::of(&bytes);
    await_blob_files(dir.path(), 4);
    let copy = copy_of(dir.path());
    log.handle.close();
    for (left, restored) in [
        (Vec::new(), true),
        (bytes[..50].to_vec(), true),
        (vec![0; bytes.len()], true),
        (vec![b'y'; bytes.len()], false),
        ([&bytes[..], b"more"].concat(), false),
    ] {
        let copy = copy_of(copy.path());
        let path = Layout::at(copy.path()).blob(&code).1;
        fs::write(&path, &left).unwrap();
        let report = reopen(copy.path());
        assert_eq!(report.consistent, restored, "{left:?}: {report:?}");
    }
}

#[test]
fn a_blob_without_a_file_is_read_from_the_journal_and_gets_its_file_at_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let log = writing(dir.path());
    log.write(finished_runs(3, 100));
    let copy = copy_of(dir.path());
    log.handle.close();
    let blobs = Layout::at(copy.path()).blobs();
    fs::remove_dir_all(&blobs).unwrap();
    make_folder(&blobs).unwrap();
    let report = verify(copy.path());
    assert!(report.consistent && report.blobs == 6, "{report:?}");
    let reader = Log::open(copy.path()).unwrap();
    let bytes = format!("0 {}", "x".repeat(100)).into_bytes();
    let code = Digest::of(&bytes);
    assert_eq!(reader.blob(&code), Ok(bytes));
    // An unknown blob is not found.
    assert!(reader.blob(&Digest::of(b"x")).is_err());
    let report = reopen(copy.path());
    assert!(report.consistent && report.blobs == 6, "{report:?}");
    assert!(Layout::at(copy.path()).blob(&code).1.exists());
    fs::remove_file(Layout::at(copy.path()).blob(&code).1).unwrap();
    assert_eq!(verify(copy.path()).bad_blob_count, 1);
}

#[test]
fn journal_files_take_turns_and_a_turn_is_synced_before_it_is_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let log = writing(dir.path());
    // More than two turns.
    log.write(finished_runs(80, 250_000));
    let copy = copy_of(dir.path());
    assert!(verify(copy.path()).consistent);
    let report = reopen(copy.path());
    assert!(report.consistent, "{report:?}");
    assert_eq!(report.records, 320);
    let size = |number| {
        fs::metadata(Layout::at(dir.path()).journal(number))
            .unwrap()
            .len()
    };
    for number in 0..2 {
        assert!(size(number) > 8 << 20 && size(number) < FILE_MAX);
    }
    log.handle.close();
    assert_eq!((size(0), size(1)), (0, 0));
    assert!(verify(dir.path()).consistent);
}

#[test]
fn frames_forged_by_agents_are_never_taken_for_batches() {
    let dir = tempfile::tempdir().unwrap();
    let log = writing(dir.path());
    log.write(finished_runs(2, 100));
    let real = fs::read(journal(dir.path())).unwrap();
    let frames = frame::read(&real).frames.len();
    // The digest at the end of the last frame may itself end with zero bytes.
    let last = real.iter().rposition(|b| *b != 0).unwrap() + 1;
    let end = (last..real.len())
        .find(|end| frame::read(&real[..*end]).broken.is_none())
        .unwrap();
    // A blob that contains complete frames: in a complete batch, in an incomplete one, and in bytes left by
    // an earlier turn.
    let content = Blob::of(&real[..end]);
    let mut outer = Vec::new();
    frame::write(&mut outer, &[7; 8], 1, 0, b"", &[content]).unwrap();
    assert_eq!(frame::read(&outer).frames.len(), 1);
    let torn = frame::read(&outer[..outer.len() - 1]);
    assert_eq!((torn.frames.len(), torn.broken), (0, Some(0)));
    let with_leftovers = [&real[..end], &[0; frame::HEADER], &real[..end]].concat();
    let turn = frame::read(&with_leftovers);
    assert_eq!((turn.frames.len(), turn.broken), (frames, None));
    log.handle.close();
}

/// Retention works after a crash as well, and the journal does not bring removed segments back.
#[test]
fn segments_removed_under_retention_stay_removed() {
    let dir = tempfile::tempdir().unwrap();
    let log = writing_in(dir.path(), 6_000);
    log.write(finished_runs(6, 100));
    let lost = copy_of(dir.path());
    log.handle.close();
    let layout = Layout::at(lost.path());
    let last = *layout.segments().unwrap().last().unwrap();
    assert!(last > 2, "no rotation");
    // The last segment's records are left only in the journal.
    let path = layout.segment(last);
    let header = fs::read(&path).unwrap();
    let header = header.iter().position(|b| *b == b'\n').unwrap() as u64 + 1;
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(header).unwrap();
    let journaled = fs::read(layout.journal(0)).unwrap();
    let reader = Log::open(lost.path()).unwrap();
    let end: jiff::Timestamp = "9999-01-01T00:00:00Z".parse().unwrap();
    // Records that are only in the journal belong to the log as well.
    let planned = outdated_segments(&reader, end).unwrap();
    assert_eq!(planned.segments.len() as u64, last - 1);
    let removed = prune(&reader, end, 1, Reviewer::default()).unwrap();
    assert!(
        !removed.segments.is_empty() && removed.blobs > 0,
        "{removed:?}"
    );
    assert!(verify(lost.path()).consistent);
    let blobs = |state: &Path| {
        let folders = fs::read_dir(state.join("blobs")).unwrap();
        folders
            .map(|f| fs::read_dir(f.unwrap().path()).unwrap().count())
            .sum::<usize>()
    };
    let remaining = blobs(lost.path());
    fs::write(layout.journal(0), journaled).unwrap();
    assert!(verify(lost.path()).consistent);
    assert!(reopen(lost.path()).consistent);
    assert_eq!(blobs(lost.path()), remaining);
}

#[test]
fn a_log_that_is_being_written_is_consistent_for_readers_and_its_copy_for_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let log = writing(dir.path());
    log.write(finished_runs(1, 100));
    let state = dir.path().to_owned();
    // A limited number of writes per round: readers could not keep up with unlimited growth.
    let (begin, rounds) = channel::<()>();
    std::thread::scope(|scope| {
        let writer = scope.spawn(move || {
            for () in rounds {
                for _ in 0..20 {
                    log.write(finished_runs(1, 3_000));
                }
            }
            log.handle.close();
        });
        let mut before = 0;
        for _ in 0..15 {
            begin.send(()).unwrap();
            let live = verify(&state);
            assert!(live.consistent && live.records >= before, "{live:?}");
            before = live.records;
            // Copy the log first, then the blobs it names, as a backup of a growing log must.
            let copy = tempfile::tempdir().unwrap();
            Layout::at(copy.path()).make().unwrap();
            fs::copy(segment(&state), segment(copy.path())).unwrap();
            let all = copy_of(&state);
            for name in ["blobs", "journal-0", "journal-1"] {
                let to = copy.path().join(name);
                let _ = fs::remove_dir_all(&to);
                fs::rename(all.path().join(name), to).unwrap();
            }
            let copied = reopen(copy.path());
            assert!(copied.consistent, "{copied:?}");
            assert!(copied.records >= before);
        }
        drop(begin);
        writer.join().unwrap();
    });
    assert!(verify(dir.path()).consistent);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// After a crash, any block of unsynced data may be on the disk or lost.
    #[test]
    fn any_loss_of_unsynced_data_is_restored(
        cut in 0.0..1.0_f64,
        zeroed in prop::collection::vec(0.0..1.0_f64, 0..4),
        blobs in prop::collection::vec(0..4_u8, 64),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let log = writing(dir.path());
        log.write(finished_runs(8, 100));
        let original = fs::read(segment(dir.path())).unwrap();
        let lost = copy_of(dir.path());
        log.handle.close();
        let header = original.iter().position(|b| *b == b'\n').unwrap() + 1;
        let mut damaged = original.clone();
        for at in zeroed {
            let at = (at * original.len() as f64) as usize / 512 * 512;
            let to = (at + 512).min(original.len());
            damaged[at.max(header)..to.max(header)].fill(0);
        }
        damaged.truncate(header + (cut * (original.len() - header) as f64) as usize);
        fs::write(segment(lost.path()), damaged).unwrap();
        let folders = fs::read_dir(lost.path().join("blobs")).unwrap();
        let files = folders.flat_map(|f| fs::read_dir(f.unwrap().path()).unwrap());
        for (file, what) in files.zip(blobs) {
            let path = file.unwrap().path();
            match what {
                0 => fs::remove_file(path).unwrap(),
                1 => fs::write(path, "").unwrap(),
                2 => {
                    let length = fs::metadata(&path).unwrap().len();
                    fs::write(path, vec![0; length as usize]).unwrap();
                }
                _ => {}
            }
        }
        let report = reopen(lost.path());
        prop_assert!(report.consistent, "{:?}", report);
        prop_assert_eq!(fs::read(segment(lost.path())).unwrap(), original);
    }
}
