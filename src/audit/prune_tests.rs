#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use super::super::open::open_with;
use super::super::samples::{finished, granted, proposed, started};
use super::super::written::write;
use super::*;

/// Runs in segments of their own, with kept code, the oldest first.
fn runs(state: &Path) -> Vec<ProposalId> {
    let ids: Vec<ProposalId> = (0..3).map(|_| ProposalId::new()).collect();
    for (n, id) in ids.iter().enumerate() {
        let (output, mut blobs) = finished(*id);
        let own = format!("output of run {n}");
        let LogEvent::Finished(mut log) = output else {
            panic!("{output:?}");
        };
        log.stdout_sha256 = Digest::of(own.as_bytes());
        log.stdout_bytes = own.len() as u64;
        blobs.push(crate::model::Blob::of(own.as_bytes()));
        let events = vec![
            proposed(*id, "t"),
            (granted(*id), Vec::new()),
            (started(*id), Vec::new()),
            (LogEvent::Finished(log), blobs),
        ];
        write(open_with(state, 1).unwrap(), events);
        fs::create_dir_all(state.join("kept")).unwrap();
        let kept = state.join(format!("kept/run_2026-01-0{}T00-00-00Z_{id}.py", n + 1));
        fs::write(kept, "print(1)").unwrap();
    }
    ids
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .args([from, to])
        .status();
    assert!(copied.unwrap().success());
}

/// Everything in a folder, as paths inside it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push(path.strip_prefix(folder).unwrap().to_owned()),
            }
        }
    }
    found.sort();
    found
}

/// A crash leaves what was to go after some of it, in the order in which it goes: kept code, segments, contents.
#[test]
fn a_removal_by_bytes_cut_short_anywhere_leaves_a_sound_log_and_the_next_one_completes_it() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let (before, after, cut) = (dir.join("before"), dir.join("after"), dir.join("cut"));
    runs(&before);
    copy(&before, &after);
    let order = |state: &Path| {
        let log = Log::open(state).unwrap();
        (log, Order::of(None, Some(1)))
    };
    let (log, by_bytes) = order(&after);
    let done = prune(&log, by_bytes, 0, Reviewer::default()).unwrap();
    assert!(
        done.segments.len() > 2 && done.blobs > 1 && done.kept.len() > 1,
        "{done:?}"
    );
    let left = files(&after);
    let went: Vec<PathBuf> = files(&before)
        .into_iter()
        .filter(|path| !left.contains(path) && !path.starts_with("index"))
        .collect();
    let kind = |path: &PathBuf| {
        let kinds = ["kept", "log", "blobs"];
        kinds
            .iter()
            .position(|kind| path.starts_with(kind))
            .unwrap()
    };
    let mut went: Vec<_> = went.into_iter().map(|path| (kind(&path), path)).collect();
    went.sort();
    for stopped in 0..=went.len() {
        copy(&after, &cut);
        for (_, path) in &went[stopped..] {
            fs::copy(before.join(path), cut.join(path)).unwrap();
        }
        let report = Log::open(&cut).unwrap().verify().unwrap();
        assert!(report.consistent, "{stopped}: {report:?}");
        assert!(super::super::open(&cut).is_ok(), "{stopped}");
        let (log, by_bytes) = order(&cut);
        prune(&log, by_bytes, 0, Reviewer::default()).unwrap();
        let report = log.verify().unwrap();
        assert!(report.consistent, "{stopped}: {report:?}");
        let still: Vec<_> = went
            .iter()
            .filter(|(_, path)| cut.join(path).exists())
            .collect();
        assert!(still.is_empty(), "{stopped}: {still:?}");
    }
}
