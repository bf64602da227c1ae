//! Somebody who can write the folder tampers with a log, and `verify` finds it.

use proptest::prelude::*;

use super::super::super::line::{LineRole, unseal};
use super::super::super::samples::{self, every_kind};
use super::*;

#[test]
fn lines_that_are_removed_repeated_or_reordered_are_found() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path());
    let log = Log::open(dir.path()).unwrap();
    let paths = segments(dir.path());
    for (n, path) in paths.iter().enumerate() {
        let text = fs::read_to_string(path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let mut tampered: Vec<Vec<&str>> = Vec::new();
        for at in 0..lines.len() {
            let cut_end = n + 1 == paths.len() && at + 1 == lines.len();
            if !cut_end {
                let mut removed = lines.clone();
                removed.remove(at);
                tampered.push(removed);
            }
            let mut repeated = lines.clone();
            repeated.insert(at, lines[at]);
            tampered.push(repeated);
            if at > 0 {
                let mut swapped = lines.clone();
                swapped.swap(at - 1, at);
                tampered.push(swapped);
            }
        }
        for lines in tampered {
            fs::write(path, lines.join("\n") + "\n").unwrap();
            let report = log.verify().unwrap();
            assert!(report.damage.is_some(), "{}: {lines:#?}", path.display());
        }
        fs::write(path, &text).unwrap();
        if n + 1 < paths.len() {
            fs::remove_file(path).unwrap();
            let damage = log.verify().unwrap().damage.unwrap();
            assert!(damage.what.contains("missing"), "{damage}");
            fs::write(path, &text).unwrap();
        }
    }
    assert!(log.verify().unwrap().consistent);
}

/// A missing beginning must be exactly what a `pruned` record says was removed.
#[test]
fn a_removal_that_differs_from_its_record_is_found() {
    let dir = tempfile::tempdir().unwrap();
    finished_sample(dir.path());
    let log = Log::open(dir.path()).unwrap();
    let before = segments(dir.path());
    let contents: Vec<_> = before.iter().map(|p| fs::read(p).unwrap()).collect();
    // No record of the removal.
    fs::remove_file(&before[0]).unwrap();
    let damage = log.verify().unwrap().damage.unwrap();
    assert_eq!(damage.file, "log/00000001.jsonl");
    assert!(
        damage.what.contains("no record says that it was removed"),
        "{damage}"
    );
    assert!(matches!(open(dir.path()), Err(AuditError::Damaged { .. })));
    fs::write(&before[0], &contents[0]).unwrap();

    super::super::super::prune(&log, end_of_time(), 30, Default::default()).unwrap();
    for _ in 0..3 {
        let event = LogEvent::Expired {
            id: ProposalId::new(),
        };
        write(open_with(dir.path(), 1).unwrap(), vec![(event, Vec::new())]);
    }
    assert!(log.verify().unwrap().consistent);
    // More is missing than was removed, and the segment with the `pruned` record is missing too.
    let remaining = segments(dir.path());
    let first = fs::read(&remaining[0]).unwrap();
    fs::remove_file(&remaining[0]).unwrap();
    let damage = log.verify().unwrap().damage.unwrap();
    assert!(damage.what.contains("no record says"), "{damage}");
    fs::write(&remaining[0], &first).unwrap();
    // A segment in the middle is missing.
    let second = fs::read(&remaining[1]).unwrap();
    fs::remove_file(&remaining[1]).unwrap();
    assert!(
        log.verify()
            .unwrap()
            .damage
            .unwrap()
            .what
            .contains("missing")
    );
    fs::write(&remaining[1], &second).unwrap();
    // A forged segment replaces a removed one.
    let at = before.len() - 2;
    let header = String::from_utf8(contents[at].clone()).unwrap();
    let body = header.lines().next().unwrap();
    let forged = sealed(&body.as_bytes()[..body.len() - 75 - 74], &"0".repeat(64));
    fs::write(&before[at], forged).unwrap();
    assert!(log.verify().unwrap().damage.is_some());
    fs::remove_file(&before[at]).unwrap();
    // The `pruned` record names another end.
    let text = String::from_utf8(first.clone()).unwrap();
    let bodies: Vec<String> = text
        .lines()
        .map(|l| l[..l.len() - 75 - 74].replace("\"through_seq\":", "\"through_seq\":1"))
        .collect();
    let line = text.lines().next().unwrap();
    let prev = &line[line.len() - 75 - 65..line.len() - 75 - 1];
    let mut prev = prev.to_owned();
    let mut bytes = Vec::new();
    for body in bodies {
        let line = sealed(body.as_bytes(), &prev);
        prev = String::from_utf8(line[line.len() - 67..line.len() - 3].to_vec()).unwrap();
        bytes.extend_from_slice(&line);
    }
    fs::write(&remaining[0], bytes).unwrap();
    let damage = log.verify().unwrap().damage.unwrap();
    assert!(damage.what.contains("names another end"), "{damage}");
    fs::write(&remaining[0], &first).unwrap();
    assert!(log.verify().unwrap().consistent);
}

#[test]
fn a_missing_or_changed_blob_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path());
    let log = Log::open(dir.path()).unwrap();
    let digest = Digest::of(samples::CODE);
    let (_, path) = Layout::at(dir.path()).blob(&digest);
    fs::write(&path, "print(2)\n").unwrap();
    let report = log.verify().unwrap();
    assert!(!report.consistent && report.damage.is_none());
    assert!(report.bad_blobs[0].file.contains(&digest.hex()));
    assert_eq!(report.bad_blobs[0].seq, Some(1));
    assert!(log.blob(&digest).unwrap_err().contains("not what its name"));
    fs::remove_file(&path).unwrap();
    let report = log.verify().unwrap();
    assert!(report.bad_blobs[0].what.contains("missing"));
    assert!(log.blob(&digest).unwrap_err().contains("missing"));
}

#[test]
fn a_byte_flipped_anywhere_is_found() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path());
    let log = Log::open(dir.path()).unwrap();
    let files: Vec<_> = files_of_log(dir.path())
        .into_iter()
        .filter(|(_, bytes)| !bytes.is_empty())
        .collect();
    let total: usize = files.iter().map(|(_, b)| b.len()).sum();
    proptest!(|(at in 0..total, with in 1u8..)| {
        let mut at = at;
        let (path, bytes) = files
            .iter()
            .find(|(_, b)| {
                let here = at < b.len();
                if !here {
                    at -= b.len();
                }
                here
            })
            .unwrap();
        let mut flipped = bytes.clone();
        flipped[at] ^= with;
        fs::write(path, &flipped).unwrap();
        let found = !log.verify().unwrap().consistent;
        fs::write(path, bytes).unwrap();
        prop_assert!(found, "{} byte {at} xor {with}", path.display());
    });
}

/// Seals a hostile body with a correct hash.
fn sealed(body: &[u8], prev: &str) -> Vec<u8> {
    let mut line = body.to_vec();
    line.extend_from_slice(format!(",\"prev\":\"{prev}\"").as_bytes());
    let hash = Digest::of(&line).hex();
    line.extend_from_slice(format!(",\"hash\":\"{hash}\"}}\n").as_bytes());
    line
}

/// Rebuilds a segment from lines without `prev` and `hash`, linked into a correct chain.
fn relink(bodies: &[String]) -> Vec<u8> {
    let mut prev = "0".repeat(64);
    let mut bytes = Vec::new();
    for body in bodies {
        let line = sealed(body.as_bytes(), &prev);
        prev = String::from_utf8(line[line.len() - 67..line.len() - 3].to_vec()).unwrap();
        bytes.extend_from_slice(&line);
    }
    bytes
}

#[test]
fn forged_lines_with_correct_hashes_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let id = ProposalId::new();
    let events = every_kind(id).into_iter().map(|e| (e, Vec::new()));
    write(open(dir.path()).unwrap(), events.collect());
    let path = &segments(dir.path())[0];
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let bodies: Vec<String> = lines
        .iter()
        .map(|l| l[..l.len() - 75 - 74].to_owned())
        .collect();
    let log = Log::open(dir.path()).unwrap();
    let damage = |bytes: &[u8]| {
        fs::write(path, bytes).unwrap();
        log.verify().unwrap().damage
    };
    assert_eq!(damage(&relink(&bodies)), None, "the forger can write a log");

    // One changed record with its own hash corrected: the next one does not follow it.
    let prev = &lines[3][lines[3].len() - 75 - 65..lines[3].len() - 75 - 1];
    let one = sealed(bodies[3].replace("blocked", "expired").as_bytes(), prev);
    let mut forged = lines.clone();
    let one = String::from_utf8(one).unwrap();
    forged[3] = one.trim_end();
    let found = damage((forged.join("\n") + "\n").as_bytes()).unwrap();
    assert_eq!(found.line, Some(5), "{found}");
    assert!(found.what.contains("does not follow"), "{found}");

    // One record removed and the chain relinked: `seq` has a gap.
    let mut without = bodies.clone();
    without.remove(3);
    let found = damage(&relink(&without)).unwrap();
    assert_eq!((found.line, found.seq), (Some(4), Some(4)), "{found}");
    assert!(found.what.contains("seq 3 should stand here"), "{found}");

    for (from, to, what) in [
        ("\"segment\":1", "\"segment\":2", "header of segment 2"),
        ("\"first_seq\":1", "\"first_seq\":9", "begins at seq 9"),
        ("{\"v\":1", "{\"v\":0", "does not know"),
        ("{\"v\":1", "{\"v\": 1", "does not know"),
    ] {
        let mut bodies = bodies.clone();
        bodies[0] = bodies[0].replacen(from, to, 1);
        let found = damage(&relink(&bodies)).unwrap();
        assert!(found.what.contains(what), "{found}");
    }
    let mut twice = bodies.clone();
    twice.insert(2, bodies[0].clone());
    assert!(
        damage(&relink(&twice))
            .unwrap()
            .what
            .contains("a header stands")
    );
    let headless = relink(&bodies[1..]);
    assert!(
        damage(&headless)
            .unwrap()
            .what
            .contains("header is missing")
    );
    // A duplicate field: readers could disagree on which of them counts.
    let mut double = bodies.clone();
    double[1] = format!("{},\"kind\":\"closed\"", double[1]);
    assert!(
        damage(&relink(&double))
            .unwrap()
            .what
            .contains("not a record")
    );
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_fail(
        junk in proptest::collection::vec(any::<u8>(), 0..400),
        body in proptest::string::string_regex(r#"[{}\[\]":,a-z0-9\\\x1b]{0,80}"#).unwrap(),
        how in 0..4,
    ) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("log")).unwrap();
        let header = sealed(b"{\"v\":1,\"segment\":1,\"first_seq\":1,\"ts\":\"x\"", &"0".repeat(64));
        let head = unseal(&header[..header.len() - 1]).unwrap();
        prop_assert_eq!(head.place, LineRole::Header { segment: 1, first_seq: 1 });
        let content = match how {
            0 => junk,
            1 => [header, junk].concat(),
            2 => {
                let body = format!("{{\"v\":1,\"seq\":1,{body}");
                [header, sealed(body.as_bytes(), &head.hash.hex())].concat()
            }
            _ => {
                let deep = format!("{{\"v\":1,\"seq\":1,\"kind\":{}", "[".repeat(100_000));
                [header, sealed(deep.as_bytes(), &head.hash.hex())].concat()
            }
        };
        fs::write(dir.path().join("log/00000001.jsonl"), &content).unwrap();
        let log = Log::open(dir.path()).unwrap();
        let id = ProposalId::new();
        for damage in [
            log.verify().unwrap().damage,
            log.proposals().unwrap().faults.chain,
            log.records(id).unwrap().faults.chain,
            log.summary().unwrap().faults.chain,
        ]
        .into_iter()
        .flatten()
        {
            prop_assert!(!damage.to_string().chars().any(char::is_control));
        }
        if how >= 2 {
            prop_assert!(log.verify().unwrap().damage.is_some());
        }
    }
}
