//! Whoever can write the folder changes one field of a right log and makes the chain anew: the record that contradicts
//! another one is named, with the reason.

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use serde::de::IgnoredAny;

use super::super::samples::{
    CODE, EDITED, denied, drilled, edited, finished, granted, granted_as, proposed, proposed_drill,
    started,
};
use super::super::written::write;
use super::super::{Log, Report, append, open};
use crate::model::{
    Artifact, Blob, Digest, DrillEnd, ErasedContent, ErasedPart, LimitKind, LogEvent, Pace,
    Preflight, ProposalId, Reviewer, RunError, RunErrorKind, State, StreamName, Tier,
};

/// Writes a log that contradicts nothing, through the real writer.
fn right(state: &Path) {
    let ids = [(); 5].map(|()| ProposalId::new());
    let [ran, drill, late, no, failed] = ids;
    let opened = LogEvent::Opened {
        version: "0".to_owned(),
        by: Reviewer::default(),
        tier: Tier::Process,
        environment: None,
        preflight: vec![Preflight {
            tier: Tier::Process,
            layers: vec!["rlimits".to_owned(), "cgroup".to_owned()],
            does_not_stop: Vec::new(),
        }],
        drills: None,
    };
    let (mut soon, soon_blobs) = proposed(late, "late");
    if let LogEvent::Proposed(p) = &mut soon {
        p.expires_at = Timestamp::now() + std::time::Duration::from_millis(300);
    }
    let (mut end, mut end_blobs) = finished(ran);
    let (mut fails, fails_blobs) = finished(failed);
    if let (LogEvent::Finished(f), LogEvent::Finished(other)) = (&mut end, &mut fails) {
        let mut pace = Pace::default();
        pace.push(0, StreamName::Stdout, 1);
        pace.push(40, StreamName::Stdout, 1);
        f.pace = pace;
        let file = Blob::of(b"a file");
        f.artifacts = ["a.txt", "b.txt"]
            .map(|name| Artifact {
                name: name.to_owned(),
                media_type: "text/plain".to_owned(),
                bytes: file.bytes.len() as u64,
                sha256: file.sha256.hex(),
            })
            .into();
        end_blobs.push(file);
        (other.state, other.limit) = (State::Failed, Some(LimitKind::Wall));
        other.error = Some(RunError {
            kind: RunErrorKind::Timeout,
            message: "m".to_owned(),
            line: None,
            exception: None,
        });
    }
    let none = |event| (event, Vec::new());
    let events = vec![
        none(opened.clone()),
        proposed(ran, "ran"),
        edited(ran, CODE, EDITED),
        none(granted_as(ran, EDITED)),
        none(started(ran)),
        (end, end_blobs),
        proposed_drill(drill),
        none(drilled(drill, DrillEnd::Caught)),
        (soon, soon_blobs),
        none(LogEvent::Expired { id: late }),
        proposed(no, "no"),
        none(denied(no)),
        proposed(failed, "fails"),
        none(granted(failed)),
        none(started(failed)),
        none(LogEvent::Killed {
            id: failed,
            by: Some(Reviewer::default()),
        }),
        (fails, fails_blobs),
        none(LogEvent::Closed),
    ];
    write(open(state).unwrap(), events);
    let replicated = LogEvent::Replicated {
        id: ran,
        digest: Digest::of(EDITED),
        by: Reviewer::default(),
    };
    append(state, replicated).unwrap();
    let erased = LogEvent::Erased {
        id: ran,
        contents: vec![ErasedContent {
            part: ErasedPart::Output,
            sha256: Digest::of(b"1\n"),
        }],
        reason: "asked to".to_owned(),
        by: Reviewer::default(),
    };
    append(state, erased).unwrap();
    write(
        open(state).unwrap(),
        vec![none(opened), none(LogEvent::Closed)],
    );
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

const SEGMENT: &str = "log/00000001.jsonl";

fn lines(state: &Path) -> Vec<String> {
    let text = fs::read_to_string(state.join(SEGMENT)).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Writes these lines as a sound chain with numbers of its own, and no index.
fn chain(state: &Path, lines: &[String]) {
    let mut prev = Digest::from_bytes([0; 32]).hex();
    let mut text = String::new();
    for (n, line) in lines.iter().enumerate() {
        let (body, _) = line.split_once(",\"prev\":\"").unwrap();
        let body = match body.split_once(",\"boot_id\"") {
            Some((_, rest)) => format!("{{\"v\":1,\"seq\":{n},\"boot_id\"{rest}"),
            None => body.to_owned(),
        };
        let body = format!("{body},\"prev\":\"{prev}\"");
        prev = Digest::of(body.as_bytes()).hex();
        text.push_str(&format!("{body},\"hash\":\"{prev}\"}}\n"));
    }
    fs::write(state.join(SEGMENT), text).unwrap();
    super::super::samples::unnoted(state);
    for n in 0..2 {
        let _ = fs::remove_file(state.join(format!("journal-{n}")));
    }
    let _ = fs::remove_dir_all(state.join("index"));
}

/// Sets the field at a path of names, which is there, to a JSON text.
fn set(line: &str, path: &str, value: &str) -> String {
    let mut from = 0;
    for name in path.split('.') {
        let name = format!("\"{name}\":");
        from += line[from..].find(&name).expect(path) + name.len();
    }
    let mut there = serde_json::Deserializer::from_str(&line[from..]).into_iter::<IgnoredAny>();
    there.next().unwrap().unwrap();
    let to = from + there.byte_offset();
    format!("{}{value}{}", &line[..from], &line[to..])
}

fn verify(state: &Path) -> Report {
    Log::open(state).unwrap().verify().unwrap()
}

/// The number of the n-th line of a kind.
fn of_kind(lines: &[String], kind: &str, nth: usize) -> usize {
    let kind = format!("\"kind\":\"{kind}\"");
    let mut all = (0..lines.len()).filter(|n| lines[*n].contains(&kind));
    all.nth(nth).unwrap()
}

/// The kind and which one of it, a field, its new value, which record is named, and the reason.
type Forgery = (
    (&'static str, usize),
    &'static str,
    &'static str,
    (&'static str, usize),
    &'static str,
);

const OTHER: &str = "\"sha256:1111111111111111111111111111111111111111111111111111111111111111\"";
const OTHER_HEX: &str = "\"1111111111111111111111111111111111111111111111111111111111111111\"";

const FINDING: &str = r#"[{"rule":"EXEC001","name":"n","severity":"critical","action":"block","message":"m","hint":"","cwe":[],"line":1,"column":1,"end_line":1,"end_column":2,"capability":null}]"#;
const KERNEL: &str = r#"[{"tier":"kernel","layers":["userns","pidns","netns","ipcns","utsns","mntns","cgroupns","nocaps","bounding","no_new_privs","seccomp","rlimits","landlock:7"],"does_not_stop":[]}]"#;
const TWICE: &str = r#"[{"tier":"process","layers":["rlimits"],"does_not_stop":[]},{"tier":"process","layers":["rlimits"],"does_not_stop":[]}]"#;
const NOTED: &str = r#"[{"rule":"EXEC001","name":"n","severity":"low","action":"note","message":"m","hint":"","cwe":[],"line":4000,"column":1,"end_line":4000,"end_column":2,"capability":null}]"#;

#[rustfmt::skip]
const FORGED: &[Forgery] = &[
    (("granted", 0), "inputs.name", "\"other\"", ("granted", 0), "`granted` names other inputs than were proposed"),
    (("granted", 0), "inputs.sha256", OTHER, ("granted", 0), "`granted` names other inputs than were proposed"),
    (("granted", 0), "inputs", "[]", ("granted", 0), "`granted` names other inputs than were proposed"),
    (("proposed", 0), "inputs.format", "\"tsv\"", ("granted", 0), "`granted` names other inputs than were proposed"),
    (("granted", 0), "grant_digest", OTHER, ("granted", 0), "`granted` has a `grant_digest` that its fields do not give"),
    (("granted", 1), "environment", OTHER, ("granted", 1), "`granted` has a `grant_digest` that its fields do not give"),
    (("granted", 0), "limits.wall_s", "301", ("granted", 0), "`granted` has a `grant_digest` that its fields do not give"),
    (("granted", 0), "limits.artifacts", "1", ("granted", 0), "`granted` has a `grant_digest` that its fields do not give"),
    (("granted", 0), "viewed.selected_ms", "99000000", ("granted", 0), "`granted` after a look of 99,000,000 ms"),
    (("granted", 0), "by.uid", "7", ("granted", 0), "`granted` by another than who opened the dashboard (seq 1): another uid"),
    (("denied", 0), "by.login", "\"eve\"", ("denied", 0), "`denied` by another than who opened the dashboard (seq 1): another login"),
    (("drilled", 0), "by.host", "\"h\"", ("drilled", 0), "`drilled` by another than who opened the dashboard (seq 1): another host"),
    (("edited", 0), "by.tty", "\"t\"", ("edited", 0), "`edited` by another than who opened the dashboard (seq 1): another tty"),
    (("killed", 0), "by.loginuid", "5", ("killed", 0), "`killed` by another than who opened the dashboard (seq 1): another loginuid"),
    (("opened", 0), "tier", "\"kernel\"", ("granted", 0), "`granted` for tier process, and the dashboard runs nothing below kernel (seq 1)"),
    (("opened", 0), "preflight.tier", "\"kernel\"", ("opened", 0), "`opened` has tier kernel without userns, which is required for it"),
    (("opened", 0), "preflight", KERNEL, ("granted", 0), "`granted` for tier process, which the dashboard did not find here (seq 1)"),
    (("opened", 0), "preflight", TWICE, ("opened", 0), "`opened` names tier process twice"),
    (("opened", 0), "preflight.layers", "[\"rlimits\",\"rlimits\"]", ("opened", 0), "`opened` names the layer rlimits twice"),
    (("started", 0), "isolation.layers", "[\"rlimits\",\"seccomp\",\"seccomp\"]", ("started", 0), "`started` names the layer seccomp twice"),
    (("granted", 0), "viewed.findings_shown", "9", ("granted", 0), "`granted` after 9 findings had been shown, of 0"),
    (("denied", 0), "viewed.findings_shown", "1", ("denied", 0), "`denied` after 1 findings had been shown, of 0"),
    (("granted", 0), "viewed.lines_seen", "0", ("granted", 0), "`granted` although 0 of 1 line had been seen"),
    (("granted", 0), "viewed.lines_seen", "999", ("granted", 0), "`granted` after 999 lines had been seen, in 17 bytes"),
    (("started", 0), "isolation.layers", "[\"cgroup\"]", ("started", 0), "`started` without rlimits, which tier process has here (seq 1)"),
    (("opened", 0), "preflight.layers", "[\"rlimits\",\"seccomp\"]", ("started", 0), "`started` without seccomp, which tier process has here"),
    (("proposed", 0), "source.sha256", OTHER_HEX, ("proposed", 0), "`proposed` has a verdict on other code"),
    (("edited", 0), "source.sha256", OTHER_HEX, ("edited", 0), "`edited` has a verdict on other code"),
    (("proposed", 0), "policy.sha256", OTHER_HEX, ("proposed", 0), "`proposed` has a verdict by another policy"),
    (("proposed", 0), "expires_at", "\"1970-01-01T00:00:00Z\"", ("proposed", 0), "`proposed` with a deadline of 1970-01-01T00:00:00Z, before it arrived"),
    (("proposed", 2), "expires_at", "\"2999-01-01T00:00:00Z\"", ("expired", 0), "`expired` after 0 s of "),
    (("drilled", 0), "harm", "\"network\"", ("drilled", 0), "`drilled` names another drill than was proposed"),
    (("finished", 0), "duration_ms", "41000", ("finished", 0), "`finished` after 41,000 ms"),
    (("finished", 0), "timing_us.grant_to_start", "9", ("finished", 0), "`finished` before it was started, by its `timing_us`"),
    (("finished", 0), "timing_us.grant_to_exit", "99000000", ("finished", 0), "`finished` 99,000 ms after its grant by its `timing_us`"),
    (("finished", 0), "pace", "[[40,\"stdout\",1],[5,\"stdout\",1]]", ("finished", 0), "`finished` has a pace that goes back from 40 to 5 ms"),
    (("finished", 0), "pace", "[[40000,\"stdout\",1]]", ("finished", 0), "`finished` has output after 40,000 ms"),
    (("finished", 0), "pace", "[[0,\"stdout\",3]]", ("finished", 0), "`finished` has 3 bytes of stdout in its pace, and 2 in its output"),
    (("finished", 0), "pace", "[[0,\"stderr\",1]]", ("finished", 0), "`finished` has 1 bytes of stderr in its pace, and 0 in its output"),
    (("finished", 0), "stdout_bytes", "0", ("finished", 0), "`finished` counts 0 bytes of stdout, and names other output"),
    (("finished", 0), "stderr_bytes", "5", ("finished", 0), "`finished` counts 5 bytes of stderr, and names other output"),
    (("finished", 0), "artifacts.name", "\"b.txt\"", ("finished", 0), "`finished` names the file b.txt twice"),
    (("finished", 0), "artifacts.name", "\"a b\"", ("finished", 0), "`finished` names a file as no file can be named"),
    (("finished", 0), "artifacts.name", "\"stdout\"", ("finished", 0), "`finished` has other output in its file stdout"),
    (("finished", 1), "error", "null", ("finished", 1), "`finished` at the limit `wall`, and without an error"),
    (("erased", 0), "contents.sha256", OTHER, ("erased", 0), "`erased` sha256:1111111111"),
    (("erased", 0), "contents.part", "\"code\"", ("erased", 0), "`erased` sha256:"),
    (("proposed", 0), "verdict.verdict", "\"flagged\"", ("proposed", 0), "`proposed` has the verdict flagged, and its findings give clear"),
    (("proposed", 0), "verdict.verdict", "\"unanalyzable\"", ("proposed", 0), "`proposed` has the verdict unanalyzable, and its findings give clear"),
    (("proposed", 0), "findings", FINDING, ("proposed", 0), "`proposed` has the verdict clear, and its findings give blocked"),
    (("edited", 0), "findings", NOTED, ("edited", 0), "`edited` has a verdict about line 4,000 of 1"),
    (("proposed", 0), "capabilities", "[{\"capability\":\"EXEC\",\"lines\":[1,3],\"detail\":\"\"}]", ("proposed", 0), "`proposed` has a verdict about line 3 of 1"),
    (("proposed", 0), "source.lines", "4000", ("proposed", 0), "`proposed` counts 4,000 lines of code in 9 bytes"),
    (("proposed", 0), "verdict.policy.profile", "\"script\"", ("proposed", 0), "`proposed` has a verdict by another profile"),
    (("finished", 0), "stdout_bytes", "300000", ("finished", 0), "`finished` has 300,000 bytes of stdout, of which 200,000 are kept, and says that they are whole"),
    (("finished", 0), "stdout_truncated", "true", ("finished", 0), "`finished` has 2 bytes of stdout, of which 200,000 are kept, and says that they are cut"),
    (("finished", 0), "timing_us", "{\"grant_to_start\":1,\"grant_to_first_output\":null,\"grant_to_exit\":41000}", ("finished", 0), "`finished` has output, and its `timing_us` has none"),
    (("finished", 0), "timing_us", "{\"grant_to_start\":1,\"grant_to_first_output\":99000000,\"grant_to_exit\":41000}", ("finished", 0), "`finished` printed 98,959 ms after its end, by its `timing_us`"),
    (("opened", 1), "mono_ns", "5", ("opened", 1), "`opened` is "),
    (("closed", 0), "mono_ns", "4611686018427387904", ("replicated", 0), "`replicated` is "),
    (("closed", 1), "mono_ns", "4611686018427387904", ("closed", 1), "it is "),
    (("replicated", 0), "digest", OTHER, ("replicated", 0), "`replicated` names other code than was granted"),
];

#[test]
fn each_contradiction_between_two_records_is_named_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("right");
    right(&state);
    let all = lines(&state);
    let report = verify(&state);
    assert_eq!((report.odd, report.impossible), (Vec::new(), Vec::new()));
    let copied = |n: usize, lines: &[String]| {
        let to = dir.path().join(format!("forged-{n}"));
        copy(&state, &to);
        chain(&to, lines);
        to
    };
    let same = verify(&copied(999, &all));
    assert!(
        same.consistent && same.odd_count == 0 && same.records == 22,
        "{same:?}"
    );
    let mut wrong = Vec::new();
    for (n, ((kind, nth), path, value, (named, which), reason)) in FORGED.iter().enumerate() {
        let mut lines = all.clone();
        let at = of_kind(&lines, kind, *nth);
        lines[at] = set(&lines[at], path, value);
        let report = verify(&copied(n, &lines));
        let seq = of_kind(&all, named, *which) as u64;
        let first = report.odd.first();
        if report.damage.is_some()
            || !first.is_some_and(|d| d.seq == Some(seq) && d.what.starts_with(reason))
        {
            wrong.push(format!("{kind} {path} {value}: {seq} {reason}: {report:?}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn records_at_another_place_or_of_another_time_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("right");
    right(&state);
    let all = lines(&state);
    let odd = |name: &str, lines: &[String]| {
        let to = dir.path().join(name);
        copy(&state, &to);
        chain(&to, lines);
        let report = verify(&to);
        assert_eq!(report.damage, None);
        let odd = report.odd.into_iter();
        odd.map(|d| (d.seq.unwrap(), d.what)).collect::<Vec<_>>()
    };
    // An erasure cannot be written while a dashboard has the log open.
    let mut moved = all.clone();
    let erased = moved.remove(of_kind(&all, "erased", 0));
    let at = of_kind(&all, "finished", 0) + 1;
    moved.insert(at, erased);
    let what = "`erased` while the dashboard of seq 1 had the log open".to_owned();
    assert_eq!(odd("moved", &moved), [(at as u64, what)]);
    // Nobody closes while something runs, and nobody decides after the dashboard began to close.
    let mut early = all.clone();
    let closed = early.remove(of_kind(&all, "closed", 0));
    let at = of_kind(&all, "finished", 1);
    early.insert(at, closed);
    let found = odd("early", &early);
    assert_eq!(found[0].0, at as u64, "{found:?}");
    assert!(found[0].1.starts_with("`closed` while ") && found[0].1.contains(" had no end"));
    // Another dashboard goes on with what the one before left.
    let mut taken = all.clone();
    taken.remove(of_kind(&all, "closed", 1));
    let opened = taken.remove(of_kind(&all, "opened", 1));
    let at = of_kind(&all, "finished", 0);
    taken.insert(at, opened);
    let found = odd("taken", &taken);
    let words = "`finished` of a proposal that an earlier dashboard left without an end: ";
    assert!(
        found.iter().any(|(_, what)| what.starts_with(words)),
        "{found:?}"
    );
    let mut left = all.clone();
    let at = of_kind(&all, "expired", 0);
    left[at] = set(&left[at], "kind", "\"unattended\"");
    let found = odd("left", &left);
    let words = format!("`denied` after the dashboard left a proposal undecided (seq {at}), ");
    assert!(found[0].1.starts_with(&words), "{found:?}");
    // The time of an id, in all of its records.
    let line = &all[of_kind(&all, "proposed", 0)];
    let id = line.split_once("\"id\":\"").unwrap().1[..36].to_owned();
    let old = format!("019b0000-0000{}", &id[13..]);
    let lines: Vec<String> = all.iter().map(|line| line.replace(&id, &old)).collect();
    let found = odd("old", &lines);
    assert!(
        found[0].1.contains(", and its id was made at 2025-12-"),
        "{found:?}"
    );
    assert!(found[0].1.starts_with("`proposed` at "), "{found:?}");
}

#[test]
fn a_length_that_a_content_does_not_have_is_named_by_every_reader() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("right");
    right(&state);
    let all = lines(&state);
    for (n, (kind, path, length, says)) in [
        ("finished", "artifacts.bytes", "1", 6),
        ("finished", "artifacts.sha256.bytes", "7", 6),
        ("proposed", "source.bytes", "10", 9),
        ("edited", "source.bytes", "8", 9),
    ]
    .into_iter()
    .enumerate()
    {
        let to = dir.path().join(format!("forged-{n}"));
        copy(&state, &to);
        let mut lines = all.clone();
        let at = of_kind(&lines, kind, 0);
        lines[at] = set(&lines[at], path, length);
        chain(&to, &lines);
        let report = verify(&to);
        let what = format!("it is {says} bytes long, and the record says {length} ");
        let first = report.bad_blobs.first().unwrap();
        assert!(first.what.starts_with(&what), "{path}: {report:?}");
        assert_eq!((first.seq, report.bad_blob_count), (Some(at as u64), 1));
        let alone = Log::open(&to).unwrap().answers_without_index().unwrap();
        assert_eq!(alone.faults().blobs.first, report.bad_blobs);
    }
}
