use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::Path;
use std::sync::mpsc;

use super::super::samples::proposed;
use super::super::{Log, WriterEvent, open};
use crate::model::{LogEvent, ProposalId, Ticket};

const SEGMENT: &str = "log/00000001.jsonl";

/// Writes records, lets `meddle` change the state folder, submits another record and returns the writer's
/// answer to it.
fn answer_after(records: u64, meddle: impl FnOnce(&Path)) -> WriterEvent {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let (report, reports) = mpsc::channel();
    let opened = open(&state).unwrap();
    let handle = opened.writer.start(Box::new(move |event| {
        let _ = report.send(event);
    }));
    for n in 0..records {
        let (event, blobs) = proposed(ProposalId::new(), "t");
        handle.submit(Ticket::Core(n), event, blobs);
        let answer = reports.recv().unwrap();
        assert!(matches!(answer, WriterEvent::Durable { .. }), "{answer:?}");
    }
    // Wait for the blobs' files, which are written after their records.
    for content in [
        super::super::samples::CODE,
        super::super::samples::TEXT.as_bytes(),
    ] {
        let digest = crate::model::Digest::of(content);
        while !super::Layout::at(&state).blob(&digest).1.exists() {
            std::thread::yield_now();
        }
    }
    meddle(&state);
    handle.submit(Ticket::Core(records), LogEvent::Closed, Vec::new());
    let answer = reports.recv().unwrap();
    handle.close();
    assert!(reports.iter().next().is_none(), "there was a second event");
    answer
}

fn folder(path: &Path) {
    fs::DirBuilder::new().mode(0o700).create(path).unwrap();
}

fn copy(from: &Path, target: &Path) {
    folder(target);
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = target.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The dashboard shows a log that was moved away even if nobody proposes anything.
#[test]
fn a_log_that_is_moved_away_while_nothing_is_written_goes_down() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let (report, reports) = mpsc::channel();
    let opened = open(&state).unwrap();
    let handle = opened.writer.start(Box::new(move |event| {
        let _ = report.send(event);
    }));
    fs::rename(state.join("log"), state.join("log.x")).unwrap();
    let WriterEvent::Down { reason } = reports.recv().unwrap() else {
        panic!("nothing was written");
    };
    assert!(reason.contains("log is gone"), "{reason}");
    handle.close();
}

/// Ways to interfere with a log that is being written, and the expected reason.
#[test]
fn a_record_that_no_reader_can_find_brings_the_log_down() {
    type Meddling = fn(&Path);
    let cases: [(&str, Meddling, &str); 21] = [
        (
            "the segment is removed",
            |s| fs::remove_file(s.join(SEGMENT)).unwrap(),
            "log/00000001.jsonl is gone",
        ),
        (
            "a log rotator renames the segment",
            |s| fs::rename(s.join(SEGMENT), s.join("log/00000001.jsonl.1")).unwrap(),
            "log/00000001.jsonl is gone",
        ),
        (
            "a log rotator renames the segment and makes a new one",
            |s| {
                fs::rename(s.join(SEGMENT), s.join("log/00000001.jsonl.1")).unwrap();
                fs::write(s.join(SEGMENT), "").unwrap();
            },
            "log/00000001.jsonl is not the one",
        ),
        (
            "the segment is replaced by a copy of itself",
            |s| {
                fs::copy(s.join(SEGMENT), s.join("copy")).unwrap();
                fs::rename(s.join("copy"), s.join(SEGMENT)).unwrap();
            },
            "log/00000001.jsonl is not the one",
        ),
        (
            "the segment is replaced by a link",
            |s| {
                fs::rename(s.join(SEGMENT), s.join("elsewhere")).unwrap();
                symlink(s.join("elsewhere"), s.join(SEGMENT)).unwrap();
            },
            "log/00000001.jsonl is not the one",
        ),
        (
            "a log rotator copies and truncates the segment",
            |s| {
                let file = OpenOptions::new().write(true).open(s.join(SEGMENT));
                file.unwrap().set_len(0).unwrap();
            },
            "another program changed it",
        ),
        (
            "the segment's end is cut off",
            |s| {
                let file = OpenOptions::new()
                    .write(true)
                    .open(s.join(SEGMENT))
                    .unwrap();
                file.set_len(file.metadata().unwrap().len() - 1).unwrap();
            },
            "another program changed it",
        ),
        (
            "another program appends to the segment",
            |s| {
                let file = OpenOptions::new().append(true).open(s.join(SEGMENT));
                file.unwrap().write_all(b"{}\n").unwrap();
            },
            "another program changed it",
        ),
        (
            "the log folder is removed",
            |s| fs::remove_dir_all(s.join("log")).unwrap(),
            "log is gone",
        ),
        (
            "the log folder is renamed",
            |s| fs::rename(s.join("log"), s.join("log.1")).unwrap(),
            "log is gone",
        ),
        (
            "the log folder is replaced by a copy",
            |s| {
                fs::rename(s.join("log"), s.join("log.1")).unwrap();
                copy(&s.join("log.1"), &s.join("log"));
            },
            "log is not the one",
        ),
        (
            "the log folder is replaced by a link to it",
            |s| {
                fs::rename(s.join("log"), s.join("log.1")).unwrap();
                symlink(s.join("log.1"), s.join("log")).unwrap();
            },
            "log is not the one",
        ),
        (
            "the blobs are removed",
            |s| {
                // Rename first: the settler would rewrite single files that are missing.
                fs::rename(s.join("blobs"), s.join("removed")).unwrap();
                fs::remove_dir_all(s.join("removed")).unwrap();
            },
            "blobs is gone",
        ),
        (
            "the blobs are replaced",
            |s| {
                fs::rename(s.join("blobs"), s.join("blobs.1")).unwrap();
                folder(&s.join("blobs"));
            },
            "blobs is not the one",
        ),
        (
            "the lock is removed, so that a second dashboard could write",
            |s| fs::remove_file(s.join("lock")).unwrap(),
            "lock is gone",
        ),
        (
            "the journal is removed",
            |s| fs::remove_file(s.join("journal-0")).unwrap(),
            "journal-0 is gone",
        ),
        (
            "the file of the journal whose turn comes next is removed",
            |s| fs::remove_file(s.join("journal-1")).unwrap(),
            "journal-1 is gone",
        ),
        (
            "the journal is replaced by a copy of itself",
            |s| {
                fs::copy(s.join("journal-0"), s.join("copy")).unwrap();
                fs::rename(s.join("copy"), s.join("journal-0")).unwrap();
            },
            "journal-0 is not the one",
        ),
        (
            "the journal is cut",
            |s| {
                let file = OpenOptions::new().write(true).open(s.join("journal-0"));
                file.unwrap().set_len(0).unwrap();
            },
            "another program changed it",
        ),
        (
            "the state folder is renamed",
            |s| fs::rename(s, s.with_extension("1")).unwrap(),
            "state is gone",
        ),
        (
            "the state folder is replaced",
            |s| {
                fs::rename(s, s.with_extension("1")).unwrap();
                copy(&s.with_extension("1"), s);
            },
            "state is not the one",
        ),
    ];
    for (what, meddle, expected) in cases {
        let event = answer_after(3, meddle);
        let WriterEvent::Down { reason } = event else {
            panic!("{what}: {event:?}")
        };
        assert!(reason.contains(expected), "{what}: {reason}");
        assert!(reason.contains("start again"), "no remedy: {reason}");
        assert!(
            !reason.contains("syncing"),
            "the sync did not fail: {reason}"
        );
    }
}

#[test]
fn readers_and_backups_do_not_bring_the_log_down() {
    let event = answer_after(2, |state| {
        assert!(Log::open(state).unwrap().verify().unwrap().consistent);
        // A backup by hard links, another file beside the segments, a link to the state folder.
        fs::hard_link(state.join(SEGMENT), state.join("backup")).unwrap();
        fs::write(state.join("log/notes"), "x").unwrap();
        fs::rename(state, state.with_extension("1")).unwrap();
        symlink(state.with_extension("1"), state).unwrap();
    });
    assert!(matches!(event, WriterEvent::Durable { .. }), "{event:?}");
}
