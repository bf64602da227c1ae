//! No secret reaches the files of a log.

use std::fs;
use std::path::Path;

use super::samples::{denied, finished, granted, proposed, started};
use super::{Log, Teller, open, story, written::write};
use crate::model::{Artifact, Blob, LogEvent, ProposalId, RunError, RunErrorKind, RunEvent};

/// A token of GitHub's format, a different one for each place.
fn token(place: u8) -> String {
    format!("ghp_{}{place:02}", "aB3".repeat(12).get(..34).unwrap())
}

fn assert_free_of_tokens(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert!(!path.to_str().unwrap().contains("ghp_"), "{path:?}");
        if path.is_dir() {
            assert_free_of_tokens(&path);
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let at = bytes.windows(4).position(|four| four == b"ghp_");
        assert_eq!(at, None, "{path:?}");
    }
}

#[test]
fn texts_of_records_output_and_files_are_kept_without_secrets_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let id = ProposalId::new();
    let (mut asked, code) = proposed(id, &token(1));
    if let LogEvent::Proposed(p) = &mut asked {
        p.reason = Some(token(2));
        p.agent.as_mut().unwrap().name = token(3);
        p.peer.exe = Some(token(4));
    }
    let (mut ended, mut left) = finished(id);
    if let LogEvent::Finished(f) = &mut ended {
        let out = Blob::of(format!("a {} b\n", token(5)).as_bytes());
        let file = Blob::of(format!("x,y\n{},1\n", token(6)).as_bytes());
        let png = Blob::of(b"\x89PNG\xff");
        f.stdout_sha256 = out.sha256;
        f.result_sha256 = Some(out.sha256);
        let files = [(token(7), &file), ("plain.png".to_owned(), &png)];
        f.artifacts = files
            .map(|(name, blob)| Artifact {
                name,
                media_type: "text/csv".to_owned(),
                bytes: blob.bytes.len() as u64,
                sha256: blob.sha256.hex(),
            })
            .to_vec();
        f.error = Some(RunError {
            kind: RunErrorKind::SnippetError,
            message: token(8),
            line: None,
            exception: Some(token(9)),
        });
        f.state = crate::model::State::Failed;
        f.events = vec![RunEvent {
            kind: token(10),
            message: token(11),
            line: None,
        }];
        f.accesses.insert(token(12), Default::default());
        left[0] = out;
        left.extend([file, png]);
    }
    let other = ProposalId::new();
    let mut no = denied(other);
    if let LogEvent::Denied { reason, .. } = &mut no {
        *reason = Some(token(13));
    }
    write(
        open(dir.path()).unwrap(),
        vec![
            (asked, code),
            (granted(id), vec![]),
            (started(id), vec![]),
            (ended, left),
            proposed(other, "t"),
            (no, vec![]),
        ],
    );
    assert_free_of_tokens(dir.path());

    let log = Log::open(dir.path()).unwrap();
    let report = log.verify().unwrap();
    assert!(report.consistent, "{report:?}");
    let records = log.records(id).unwrap().records;
    let redacted = |at: usize| records[at].redacted.get("github-token").copied();
    assert_eq!(
        [redacted(0), redacted(1), redacted(3)],
        [Some(4), None, Some(8)]
    );
    let LogEvent::Finished(f) = &records[3].event else {
        panic!("no end");
    };
    assert_eq!(
        log.blob(&f.stdout_sha256).unwrap(),
        b"a [REDACTED:github-token] b\n"
    );
    assert_eq!(f.artifacts[0].name, "REDACTED-github-token");
    let file = log.blob(&f.artifacts[0].sha256.parse().unwrap()).unwrap();
    assert_eq!(file, b"x,y\n[REDACTED:github-token],1\n");
    assert_eq!(file.len() as u64, f.artifacts[0].bytes);
    assert_eq!(
        log.blob(&f.artifacts[1].sha256.parse().unwrap()).unwrap(),
        b"\x89PNG\xff"
    );
    let teller = Teller {
        at: &|_| String::new(),
        given: &|text| format!("`{text}`"),
    };
    let told = story(&records, teller);
    let told = told
        .iter()
        .filter(|line| line.contains("replaced before this was kept: github-token."));
    assert_eq!(told.count(), 2);
}

/// The digests of output that could not be stored are those of what would have been.
#[test]
fn the_digest_of_output_that_is_not_kept_tells_no_secret() {
    let id = ProposalId::new();
    let mut redactor = crate::secrets::Redactor::default();
    let (mut ended, mut left) = finished(id);
    let out = Blob::of(token(1).as_bytes());
    if let LogEvent::Finished(f) = &mut ended {
        f.stdout_sha256 = out.sha256;
    }
    left[0] = out.clone();
    let kept = redactor.redact(ended.clone(), left);
    if let LogEvent::Finished(f) = &mut ended {
        f.unkept = Some("no space".to_owned());
    }
    let again = redactor.redact(ended, Vec::new());
    let stdout = |record: &crate::secrets::Redacted| match record.event() {
        LogEvent::Finished(f) => f.stdout_sha256,
        _ => panic!("no end"),
    };
    assert_eq!(stdout(&kept), stdout(&again));
    assert_ne!(stdout(&again), out.sha256);
    assert_eq!(redactor.kept().of(&out.sha256), stdout(&kept));
}
