//! No secret reaches the files of a log.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::samples::{denied, edited, finding, finished, granted, proposed, started};
use super::{Log, Teller, open, story, written::write};
use crate::model::{
    Artifact, Blob, Capability, CapabilityUse, Finding, LogEvent, ProposalId, RunError,
    RunErrorKind, RunEvent, SourceStats,
};
use crate::secrets::{Redactor, Secrets};

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
    let marks = |told: &[String]| {
        let marks = told
            .iter()
            .filter(|line| line.contains("runs text or data"));
        marks.count()
    };
    assert_eq!(marks(&told), 0);
    let mut runs_text = records.clone();
    if let LogEvent::Proposed(p) = &mut runs_text[0].event {
        p.verdict.capabilities = vec![CapabilityUse {
            capability: Capability::DynamicCode,
            lines: vec![2],
            detail: "exec".to_owned(),
        }];
    }
    assert_eq!(marks(&story(&runs_text, teller)), 1);
    let told = told
        .iter()
        .filter(|line| line.contains("replaced before this was kept: github-token."));
    assert_eq!(told.count(), 2);
}

#[test]
fn what_the_analyser_names_is_no_password_and_code_that_runs_text_is_marked() {
    let id = ProposalId::new();
    let (mut asked, _) = proposed(id, "t");
    let text =
        "import os\npassword = \"os.system\"\nother_token = \"x9Kq2Lm8WzQ4\"\nos.system(x)\n";
    let code = Blob::of(text.as_bytes());
    let said = "os.system: starts `x9Kq2Lm8WzQ4`";
    if let LogEvent::Proposed(p) = &mut asked {
        p.digest = code.sha256;
        p.verdict.capabilities = vec![CapabilityUse {
            capability: Capability::Exec,
            lines: vec![4],
            detail: said.to_owned(),
        }];
        p.title = Some("password os.system".to_owned());
    }
    let mut redactor = Redactor::new(Secrets::default());
    let kept = redactor.redact(asked, vec![code]);
    let LogEvent::Proposed(p) = kept.event() else {
        panic!("{kept:?}");
    };
    let detail = &p.verdict.capabilities[0].detail;
    assert_eq!(detail, "os.system: starts `[REDACTED:secret]`");
    assert!(
        p.title.as_ref().unwrap().contains("[REDACTED:"),
        "{:?}",
        p.title
    );
    let code = String::from_utf8_lossy(&kept.blobs()[0].bytes).into_owned();
    assert!(
        code.contains("\nos.system(x)\n") && !code.contains("\"os.system"),
        "{code}"
    );
}

/// The code and the inputs of a proposal, and their blobs.
fn with_secrets(id: ProposalId) -> (LogEvent, Vec<Blob>, Blob) {
    let (mut asked, _) = proposed(id, "t");
    let code = Blob::of(format!("key = '{}'\nprint(1)\n", token(1)).as_bytes());
    let text = Blob::of(format!("a\n{}\n", token(2)).as_bytes());
    if let LogEvent::Proposed(p) = &mut asked {
        p.digest = code.sha256;
        p.verdict.source = SourceStats::of(&code.bytes);
        p.inputs[0].sha256 = text.sha256;
        p.inputs[0].bytes = text.bytes.len() as u64;
    }
    (asked, vec![code.clone(), text], code)
}

#[test]
fn code_and_inputs_are_kept_without_secrets_and_under_digests_that_tell_none() {
    let dir = tempfile::tempdir().unwrap();
    let id = ProposalId::new();
    let (asked, blobs, code) = with_secrets(id);
    let edited_code = Blob::of(format!("key = '{}'\nprint(2)\n", token(3)).as_bytes());
    let (mut edit, _) = edited(id, super::samples::CODE, super::samples::EDITED);
    if let LogEvent::Edited(e) = &mut edit {
        e.from = code.sha256;
        e.digest = edited_code.sha256;
        e.verdict.source = SourceStats::of(&edited_code.bytes);
    }
    let mut grant = granted(id);
    let mut plain = Vec::from([code.sha256, edited_code.sha256, blobs[1].sha256]);
    if let LogEvent::Granted(g) = &mut grant {
        g.digest = edited_code.sha256;
        plain.push(g.grant_digest.0);
    }
    write(
        open(dir.path()).unwrap(),
        vec![
            (asked, blobs),
            (edit, vec![edited_code.clone()]),
            (grant, vec![]),
            (started(id), vec![]),
            finished(id),
        ],
    );
    assert_free_of_tokens(dir.path());
    for entry in fs::read_dir(dir.path().join("log")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(plain.iter().all(|digest| !text.contains(&digest.hex())));
    }

    let log = Log::open(dir.path()).unwrap();
    let report = log.verify().unwrap();
    assert!(report.consistent, "{report:?}");
    let records = log.records(id).unwrap().records;
    let (LogEvent::Proposed(p), LogEvent::Edited(e), LogEvent::Granted(g)) =
        (&records[0].event, &records[1].event, &records[2].event)
    else {
        panic!("other records");
    };
    assert_eq!(
        log.blob(&p.code()).unwrap(),
        b"key = '[REDACTED:github-token]'\nprint(1)\n"
    );
    assert_eq!((e.from, g.digest), (p.digest, e.digest));
    let counted = |at: usize| records[at].redacted.get("github-token").copied();
    assert_eq!(
        [counted(0), counted(1), counted(2)],
        [Some(2), Some(1), None]
    );

    // Whoever has the code can show that it is the one, with the salt.
    let is = |at: usize, code: &[u8]| log.is_code(&records[at].event, code);
    assert_eq!(is(0, &code.bytes), Ok(Some(true)));
    assert_eq!(is(1, &edited_code.bytes), Ok(Some(true)));
    assert_eq!(is(0, &edited_code.bytes), Ok(Some(false)));
    assert_eq!(is(0, &log.blob(&p.code()).unwrap()), Ok(Some(false)));
    assert_eq!(is(2, &code.bytes), Ok(None));
    let salt = dir.path().join("salts").join(id.to_string());
    assert_eq!(
        fs::metadata(&salt).unwrap().permissions().mode() & 0o777,
        0o600
    );
    fs::remove_file(salt).unwrap();
    assert!(is(0, &code.bytes).unwrap_err().contains("salt"));
}

/// The same digest would say that it ran before.
#[test]
fn code_with_a_secret_is_new_each_time_and_is_never_the_text_that_is_kept() {
    let mut redactor = crate::secrets::Redactor::default();
    let digests = [ProposalId::new(), ProposalId::new()].map(|id| {
        let (asked, blobs, _) = with_secrets(id);
        match redactor.redact(asked, blobs).event() {
            LogEvent::Proposed(p) => (p.digest, p.code()),
            _ => panic!("another record"),
        }
    });
    assert_eq!(digests[0].1, digests[1].1);
    assert_ne!(digests[0].0, digests[1].0);
    assert!(digests.iter().all(|(digest, kept)| digest != kept));
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

/// A run that left these files.
fn left(files: &[(&str, &[u8])]) -> (LogEvent, Vec<Blob>) {
    let (mut ended, mut blobs) = finished(ProposalId::new());
    if let LogEvent::Finished(f) = &mut ended {
        f.artifacts.clear();
        for (name, content) in files {
            let blob = Blob::of(content);
            f.artifacts.push(Artifact {
                name: (*name).to_owned(),
                media_type: "text/csv".to_owned(),
                bytes: blob.bytes.len() as u64,
                sha256: blob.sha256.hex(),
            });
            blobs.push(blob);
        }
    }
    (ended, blobs)
}

fn kept(record: LogEvent, blobs: Vec<Blob>) -> (crate::model::FinishedLog, Vec<Vec<u8>>) {
    let kept = crate::secrets::Redactor::default().redact(record, blobs);
    let LogEvent::Finished(f) = kept.event() else {
        panic!("no end");
    };
    let named = |file: &Artifact| {
        let blob = kept
            .blobs()
            .iter()
            .find(|blob| blob.sha256.hex() == file.sha256);
        blob.unwrap().bytes.to_vec()
    };
    ((**f).clone(), f.artifacts.iter().map(named).collect())
}

#[test]
fn text_in_every_coding_is_searched_and_binary_files_are_named() {
    let text = |secret: &str| format!("\u{feff}n\u{e4}me\n{secret}\n");
    let little =
        |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let big = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_be_bytes).collect() };
    let latin = |text: &str| -> Vec<u8> {
        text.chars()
            .skip(1)
            .map(|c| u8::try_from(c).unwrap())
            .collect()
    };
    let zip = b"PK\x03\x04\x14\0\x08\0\xff\xfe".as_slice();
    let was = text(&token(1));
    let (record, blobs) = left(&[
        ("a.csv", &little(&was)),
        ("b.csv", &big(&was)),
        ("c.csv", &latin(&was)),
        ("book.xlsx", zip),
        ("d.csv", &big(was.trim_start_matches('\u{feff}'))),
    ]);
    let (finished, files) = kept(record, blobs);
    let is = text("[REDACTED:github-token]");
    assert_eq!(files[0], little(&is));
    assert_eq!(files[1], big(&is));
    assert_eq!(files[2], latin(&is));
    assert_eq!(files[3], zip);
    assert_eq!(files[4], big(is.trim_start_matches('\u{feff}')));
    assert_eq!(finished.unsearched, ["book.xlsx"]);
}

#[test]
fn files_whose_names_differ_only_in_secrets_have_names_of_their_own() {
    let names = [1, 2, 3].map(|n| format!("out/{}.csv", token(n)));
    let files: Vec<(&str, &[u8])> = names
        .iter()
        .map(|name| (name.as_str(), name.as_bytes()))
        .collect();
    let (record, blobs) = left(&files);
    let (finished, _) = kept(record, blobs);
    let all: std::collections::BTreeSet<&str> = finished
        .artifacts
        .iter()
        .map(|file| file.name.as_str())
        .collect();
    assert_eq!(all.len(), 3, "{all:?}");
    assert!(
        all.iter()
            .all(|name| Artifact::is_name(name) && name.contains("REDACTED-github-token")),
        "{all:?}"
    );
}

/// A byte of the text as it is kept comes when the byte came that it stands for.
#[test]
fn output_without_its_secrets_keeps_its_timing() {
    use crate::model::StreamName::{Stderr, Stdout};
    let (mut ended, mut blobs) = finished(ProposalId::new());
    let (secret, rest) = (token(1), " two\nthree\n");
    let out = Blob::of(format!("one {secret}{rest}").as_bytes());
    if let LogEvent::Finished(f) = &mut ended {
        f.stdout_sha256 = out.sha256;
        f.pace = crate::model::Pace::default();
        // The secret came in two pieces.
        f.pace.push(0, Stdout, 10);
        f.pace.push(100, Stderr, 7);
        f.pace.push(200, Stdout, (secret.len() - 6 + 5) as u64);
        f.pace.push(300, Stdout, 6);
    }
    blobs[0] = out;
    let (finished, _) = kept(ended, blobs);
    let pieces: Vec<u64> = finished.pace.pieces().iter().map(|piece| piece.2).collect();
    assert_eq!(
        pieces,
        ["one [REDACTED:github-token]".len() as u64, 7, 5, 6]
    );
}

/// What the analysis says of code repeats names of it, and a limit can cut a secret in two.
#[test]
fn what_is_said_of_a_content_repeats_no_secret_and_a_cut_end_keeps_no_part_of_one() {
    let dir = tempfile::tempdir().unwrap();
    let id = ProposalId::new();
    let code = Blob::of(b"API_KEY=wsy0R2r2QqzYTveQCqOpy3HJ\n");
    let (mut asked, _) = proposed(id, "t");
    if let LogEvent::Proposed(p) = &mut asked {
        p.digest = code.sha256;
        p.verdict.source = SourceStats::of(&code.bytes);
        p.verdict.findings = vec![Finding {
            message: "wsy0R2r2QqzYTveQ…: a name that nothing binds before this".to_owned(),
            ..finding()
        }];
        p.title = Some("the wsy0R2r2QqzYTveQCqOpy3HJ one".to_owned());
    }
    let (mut end, mut blobs) = finished(id);
    if let LogEvent::Finished(f) = &mut end {
        let stdout = Blob::of(format!("x = {}", &token(1)[..30]).as_bytes());
        f.stdout_sha256 = stdout.sha256;
        f.stdout_bytes = 1_000_000;
        f.stdout_truncated = true;
        blobs = vec![stdout, Blob::of(b"")];
        f.stderr_sha256 = blobs[1].sha256;
    }
    let all = vec![
        (asked, vec![code]),
        (granted(id), vec![]),
        (started(id), vec![]),
        (end, blobs),
    ];
    write(open(dir.path()).unwrap(), all);
    let log = Log::open(dir.path()).unwrap();
    let records = log.records(id).unwrap().records;
    let lines: String = records.iter().map(|record| record.line.as_str()).collect();
    assert!(!lines.contains("wsy0R2r2"), "{lines}");
    let LogEvent::Proposed(p) = &records[0].event else {
        panic!("{lines}");
    };
    assert!(
        p.verdict.findings[0]
            .message
            .ends_with("…: a name that nothing binds before this")
    );
    let LogEvent::Finished(f) = &records[3].event else {
        panic!("{lines}");
    };
    assert_eq!(log.blob(&f.stdout_sha256).unwrap(), b"x = [REDACTED:cut]");
}

/// One text says that it is a password, and another one has it alone.
#[test]
fn what_one_text_of_a_proposal_says_is_a_secret_is_none_of_the_others() {
    let id = ProposalId::new();
    let mut redactor = crate::secrets::Redactor::default();
    let code = Blob::of(b"f('Kj8wqrtz5')\npassword = 'Gh7zxcvb'\nfilter('filters')\n");
    let (mut asked, _) = proposed(id, "t");
    if let LogEvent::Proposed(p) = &mut asked {
        p.digest = code.sha256;
        p.title = Some("password: Kj8wqrtz5".to_owned());
        p.reason = Some("Gh7zxcvb is old".to_owned());
    }
    let kept = redactor.redact(asked, vec![code]);
    assert_eq!(
        String::from_utf8_lossy(&kept.blobs()[0].bytes),
        "f('[REDACTED:password]')\npassword = '[REDACTED:password]'\nfilter('filters')\n"
    );
    let line = serde_json::to_string(kept.event()).unwrap();
    assert!(
        !line.contains("Kj8wqrtz5") && !line.contains("Gh7zxcvb"),
        "{line}"
    );
    let (mut end, mut blobs) = finished(id);
    if let LogEvent::Finished(f) = &mut end {
        blobs = vec![Blob::of(b"1 Gh7zxcvb 2\n"), Blob::of(b"Kj8wqrtz5")];
        f.stdout_sha256 = blobs[0].sha256;
        f.stderr_sha256 = blobs[1].sha256;
        f.stdout_bytes = 13;
    }
    let kept = redactor.redact(end, blobs);
    let LogEvent::Finished(f) = kept.event() else {
        panic!("no end");
    };
    // The record tells no length of what was replaced.
    assert_eq!(f.stdout_bytes, kept.blobs()[0].bytes.len() as u64);
    let texts: Vec<_> = kept.blobs().iter().map(|blob| &blob.bytes[..]).collect();
    assert_eq!(
        texts,
        [
            b"1 [REDACTED:password] 2\n".as_slice(),
            b"[REDACTED:password]"
        ]
    );
}

/// What only the title says is a secret.
#[test]
fn a_kept_file_has_the_code_of_the_log() {
    const SECRET: &str = "Seggenrohr-73Qx!";
    let dir = tempfile::tempdir().unwrap();
    let id = ProposalId::new();
    let code = format!("x = '{SECRET}'\n");
    let (mut asked, mut blobs) = proposed(id, &format!("password={SECRET}"));
    if let LogEvent::Proposed(p) = &mut asked {
        blobs[0] = Blob::of(code.as_bytes());
        p.digest = blobs[0].sha256;
        p.verdict.source = SourceStats::of(code.as_bytes());
    }
    // The same bytes of another one, which says nothing of a secret.
    let other = ProposalId::new();
    let (mut honest, _) = proposed(other, "sums");
    if let (LogEvent::Proposed(p), LogEvent::Proposed(of)) = (&mut honest, &asked) {
        p.digest = of.digest;
        p.verdict.source = of.verdict.source.clone();
    }
    let mut opened = open(dir.path()).unwrap();
    let kept_as = opened.writer.redacts(crate::secrets::Secrets::default());
    let all = vec![(asked, blobs.clone()), (honest, blobs)];
    write(opened, all);
    let keeper = super::kept::Keeper::new(dir.path().to_owned(), Default::default(), kept_as);
    let run = crate::model::KeptRun {
        id,
        at: jiff::Timestamp::now(),
        digest: crate::model::Digest::of(code.as_bytes()),
        profile: "analysis".to_owned(),
        agent: Some(format!("bot of {SECRET}")),
        title: Some(format!("password={SECRET}")),
        inputs: Vec::new().into(),
        code: code.as_str().into(),
    };
    let path = keeper.keep(&run).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains(SECRET), "{text}");
    assert!(text.ends_with("\nx = '[REDACTED:password]'\n"), "{text}");
    assert!(
        text.contains("# redacted 1 password: this is not what ran"),
        "{text}"
    );
    let kept = super::kept::read(&path).unwrap();
    let log = Log::open(dir.path()).unwrap();
    let of_log = crate::model::Digest::of(&kept.code);
    assert_eq!(log.blob(&of_log).unwrap(), kept.code);
    let path = keeper.keep(&crate::model::KeptRun {
        id: other,
        title: Some("sums".to_owned()),
        agent: None,
        ..run
    });
    let kept = super::kept::read(&path.unwrap()).unwrap();
    assert_eq!(String::from_utf8(kept.code).unwrap(), code);
    let LogEvent::Proposed(p) = &log.records(other).unwrap().records[0].event else {
        panic!("it was proposed");
    };
    assert_eq!(log.blob(&p.digest).unwrap(), code.as_bytes());
}

/// A run's files have plain names when they come to the log.
#[test]
fn a_known_secret_goes_from_the_plain_name_of_a_file() {
    let id = ProposalId::new();
    let code = "password = 'Wq!8zK#3vT@6mB'\n";
    let (mut asked, mut blobs) = proposed(id, "t");
    if let LogEvent::Proposed(p) = &mut asked {
        blobs[0] = Blob::of(code.as_bytes());
        p.digest = blobs[0].sha256;
    }
    let mut redactor = crate::secrets::Redactor::default();
    redactor.redact(asked, blobs);
    let (mut ended, files) = left(&[("out/plot_Wq_8zK_3vT_6mB.csv", b"x")]);
    if let LogEvent::Finished(f) = &mut ended {
        f.id = id;
    }
    let kept = redactor.redact(ended, files);
    let LogEvent::Finished(f) = kept.event() else {
        panic!("no end");
    };
    let name = &f.artifacts[0].name;
    assert!(name.contains("REDACTED") && !name.contains("3vT"), "{name}");
}
