//! Reading ahead changes nothing of what is found.

use std::fs;
use std::path::Path;

use super::super::judge::{Read, judge_lines};
use super::super::lines::OneByOne;
use super::super::open::open_with;
use super::super::samples::{denied, finished, granted, proposed, started};
use super::super::written::write;
use super::*;
use crate::model::{LogEvent, ProposalId};

fn sample(state: &Path) {
    let mut events = Vec::new();
    for n in 0..6 {
        let id = ProposalId::new();
        events.push(proposed(id, &format!("title {n}")));
        match n % 3 {
            0 => events.push((denied(id), Vec::new())),
            _ => {
                events.push((granted(id), Vec::new()));
                events.push((started(id), Vec::new()));
                events.push(finished(id));
            }
        }
    }
    // One that cannot have happened.
    events.push((
        LogEvent::Expired {
            id: ProposalId::new(),
        },
        Vec::new(),
    ));
    write(open_with(state, 4_000).unwrap(), events);
}

/// All that a reader finds: the faults, the end, how many contents are sound, and the records.
fn found(layout: &Layout, look: Look, lines: &mut dyn Lines) -> String {
    let mut records = Vec::new();
    let judged = judge_lines(layout, look, lines, &mut |read: Read<'_>| match read {
        Read::Record(line, record) => records.push((line.number, line.offset, record.line)),
        Read::Later(line, id) => records.push((line.number, line.offset, format!("{id:?}"))),
    });
    let judged = judged.map(|j| (j.scanned, j.faults, j.blobs, j.later));
    format!("{judged:?} {records:?}")
}

fn agree(state: &Path, what: &str) {
    let layout = Layout::at(state);
    for look in [Look::There, Look::Read] {
        let alone = found(&layout, look, &mut OneByOne::default());
        // Pieces smaller than a line, of a few lines, and of all.
        for piece in [100, 3_000, 1 << 20] {
            let mut lines = Parallel::with_pieces(&layout, look, piece).unwrap();
            assert_eq!(found(&layout, look, &mut lines), alone, "{what}, {piece}");
        }
    }
}

#[test]
fn threads_find_what_one_reader_finds_in_the_same_words() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path();
    sample(state);
    agree(state, "as written");
    let layout = Layout::at(state);
    let segments = layout.segments().unwrap();
    assert!(segments.len() > 3, "no rotation");
    let path = layout.segment(segments[1]);
    let sound = fs::read(&path).unwrap();
    let mut dice = 1_u64;
    for _ in 0..40 {
        dice = dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let at = usize::try_from(dice >> 33).unwrap() % sound.len();
        let mut bytes = sound.clone();
        match dice >> 20 & 3 {
            0 => bytes[at] ^= 1,
            1 => bytes.truncate(at),
            2 => drop(bytes.drain(at..(at + 50).min(sound.len()))),
            _ => bytes[at] = b'\n',
        }
        fs::write(&path, &bytes).unwrap();
        agree(state, &format!("changed at {at}"));
    }
    fs::write(&path, &sound).unwrap();
    // A last line without its end, a missing segment, an empty one, contents that are gone and changed.
    let last = layout.segment(*segments.last().unwrap());
    let bytes = fs::read(&last).unwrap();
    fs::write(&last, &bytes[..bytes.len() - 5]).unwrap();
    agree(state, "torn");
    fs::write(&last, &bytes).unwrap();
    fs::write(&path, b"").unwrap();
    agree(state, "empty");
    fs::remove_file(&path).unwrap();
    agree(state, "missing");
    fs::write(&path, &sound).unwrap();
    let mut blobs: Vec<_> = walk(&layout.blobs());
    blobs.sort();
    fs::remove_file(&blobs[0]).unwrap();
    fs::write(&blobs[1], b"other").unwrap();
    agree(state, "contents");
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => walk(&path),
            false => vec![path],
        })
        .collect()
}

#[test]
fn a_line_longer_than_any_record_ends_the_log_without_being_kept() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path();
    sample(state);
    let layout = Layout::at(state);
    let path = layout.segment(*layout.segments().unwrap().last().unwrap());
    let file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    // Without a line feed anywhere.
    file.set_len(file.metadata().unwrap().len() + 3 * LINE_MAX as u64)
        .unwrap();
    agree(state, "endless");
}
