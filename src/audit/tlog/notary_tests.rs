#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::sync::mpsc;

use tempfile::TempDir;

use super::super::Prover;
use super::*;
use crate::audit::open::open_with;
use crate::audit::{Log, WriterEvent, prune};
use crate::model::{LogEvent, Ticket};

/// A state folder, and the folder of its checkpoints beside it.
pub(super) struct Bench {
    _folder: TempDir,
    pub(super) state: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().canonicalize().unwrap().join("state");
        Self {
            _folder: folder,
            state,
        }
    }

    pub(super) fn with(records: usize) -> Self {
        let bench = Self::new();
        bench.grow(records);
        bench
    }

    /// Appends records, as a dashboard does.
    pub(super) fn grow(&self, records: usize) {
        self.grow_in(u64::MAX, records);
    }

    /// In segments of this length.
    fn grow_in(&self, segment_bytes: u64, records: usize) {
        let (tell, told) = mpsc::channel();
        let writer = open_with(&self.state, segment_bytes).unwrap().writer;
        let handle = writer.start(Box::new(move |event| tell.send(event).unwrap()));
        for n in 0..records {
            let event = LogEvent::EnvironmentChanged {
                environment: Digest::of(format!("{:p} {n}", &self.state).as_bytes()),
                what: format!("change {n}"),
            };
            handle.submit(Ticket::Unawaited, event, Vec::new());
        }
        for _ in 0..records {
            assert!(matches!(told.recv().unwrap(), WriterEvent::Durable { .. }));
        }
        handle.close();
    }

    pub(super) fn records(&self) -> u64 {
        let report = Log::open(&self.state).unwrap().verify().unwrap();
        report.removed_through.unwrap_or(0) + report.records
    }

    fn file(&self) -> PathBuf {
        self.state.join("log/00000001.jsonl")
    }

    fn lines(&self) -> Vec<String> {
        let text = fs::read_to_string(self.file()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// Writes these lines as whoever can write the folder would: as a sound chain.
    fn forge(&self, lines: &[String]) {
        let mut prev = "0".repeat(64);
        let mut text = String::new();
        for (seq, line) in lines.iter().enumerate() {
            let (body, _) = line.split_once(",\"prev\":\"").unwrap();
            let (_, rest) = body.split_once("\"ts\":").unwrap();
            // Its clock never went back.
            let rest = rest.split_once(',').map_or("", |(_, rest)| rest);
            let comma = if rest.is_empty() { "" } else { "," };
            let start = match seq {
                0 => "{\"v\":1,\"segment\":1,\"first_seq\":1,".to_owned(),
                seq => format!("{{\"v\":1,\"seq\":{seq},\"boot_id\":\"b\",\"mono_ns\":{seq},"),
            };
            let body =
                format!("{start}\"ts\":\"2026-11-27T00:00:00Z\"{comma}{rest},\"prev\":\"{prev}\"");
            prev = Digest::of(body.as_bytes()).hex();
            text.push_str(&format!("{body},\"hash\":\"{prev}\"}}\n"));
        }
        fs::write(self.file(), text).unwrap();
        for name in ["lock", "journal-0", "journal-1"] {
            let _ = fs::remove_file(self.state.join(name));
        }
        let _ = fs::remove_dir_all(self.state.join("index"));
        let report = Log::open(&self.state).unwrap().verify().unwrap();
        assert!(report.consistent, "{:?}", report.first());
    }

    pub(super) fn store(&self) -> Store {
        Store::beside(&self.state)
    }

    /// Lets a notary work until it is closed.
    pub(super) fn notarize(&self) -> Vec<NotaryEvent> {
        self.notarize_with(Anchoring::default())
    }

    pub(super) fn notarize_with(&self, anchoring: Anchoring) -> Vec<NotaryEvent> {
        let (tell, told) = mpsc::channel();
        let report = Box::new(move |event| tell.send(event).unwrap());
        Notary::start(&self.state, anchoring, self.records(), report).close();
        // Most logs here are longer than nothing when they are first signed.
        let begins = |event: &NotaryEvent| matches!(event, NotaryEvent::Began(_));
        told.into_iter().filter(|event| !begins(event)).collect()
    }

    pub(super) fn latest(&self) -> Signed {
        let store = self.store();
        let key = store.key().unwrap().unwrap();
        store.latest(&key).unwrap().unwrap()
    }

    pub(super) fn compare(&self, signed: &[Signed]) -> String {
        let log = Log::open(&self.state).unwrap();
        match log.compare(Some(&self.store()), signed).unwrap() {
            Ok(()) => "extends".to_owned(),
            Err(e) => e.to_string().split(':').next().unwrap().to_owned(),
        }
    }
}

fn contradiction(events: &[NotaryEvent]) -> &str {
    match events {
        [NotaryEvent::Contradiction(why)] => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_durable_is_signed_at_the_end_and_goes_on_after_a_restart() {
    let bench = Bench::with(10);
    assert_eq!(bench.notarize(), []);
    let first = bench.latest();
    assert_eq!(first.checkpoint.size, 10);
    bench.grow(200);
    assert_eq!(bench.notarize(), []);
    let second = bench.latest();
    assert_eq!(second.checkpoint.size, 210);
    assert_eq!(first.checkpoint.origin, second.checkpoint.origin);
    assert_eq!(bench.compare(&[first, second]), "extends");
    // Everything is private, the key above all.
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(bench.store().dir()), 0o700);
    assert_eq!(mode(&bench.store().dir().join("key")), 0o600);
}

#[test]
fn a_checkpoint_is_made_every_64_records_while_the_log_is_open() {
    let bench = Bench::with(10);
    let notary = Notary::start(&bench.state, Anchoring::default(), 10, Box::new(|_| {}));
    let informer = notary.informer();
    bench.grow(200);
    (11..=210).for_each(|seq| informer.durable(seq));
    let until = Instant::now() + Duration::from_secs(20);
    let size = || {
        let key = bench.store().key().ok().flatten()?;
        let latest = bench.store().latest(&key).ok().flatten()?;
        Some(latest.checkpoint.size)
    };
    while size().unwrap_or(0) < 192 {
        assert!(Instant::now() < until, "{:?}", size());
        std::thread::sleep(Duration::from_millis(10));
    }
    notary.close();
    assert_eq!(size(), Some(210));
}

#[test]
fn what_is_derived_is_made_again_when_it_is_missing_or_changed() {
    let bench = Bench::with(100);
    assert_eq!(bench.notarize(), []);
    let dir = bench.store().dir().to_owned();
    for (n, harm) in [0, 1, 2, 3].into_iter().enumerate() {
        match harm {
            0 => fs::remove_file(dir.join("hashes")).unwrap(),
            1 => fs::remove_file(dir.join("tree.json")).unwrap(),
            2 => fs::write(dir.join("hashes"), [0; 6000]).unwrap(),
            _ => fs::write(dir.join("tree.json"), "{}").unwrap(),
        }
        bench.grow(1);
        assert_eq!(bench.notarize(), [], "{harm}");
        let latest = bench.latest();
        assert_eq!(latest.checkpoint.size, 101 + n as u64);
        assert_eq!(bench.compare(&[latest]), "extends");
    }
}

/// What the owner of the folder can do to a log so that it is sound in itself.
#[test]
fn each_attack_on_a_log_that_was_signed_has_its_name() {
    let bench = Bench::with(100);
    assert_eq!(bench.notarize(), []);
    let signed = bench.latest();
    let lines = bench.lines();
    let deleted = {
        let mut lines = lines.clone();
        lines.remove(50);
        lines
    };
    let reordered = {
        let mut lines = lines.clone();
        lines.swap(50, 51);
        lines
    };
    let doubled = {
        let mut lines = lines.clone();
        lines.insert(50, lines[50].clone());
        lines
    };
    let changed = {
        let mut lines = lines.clone();
        lines[70] = lines[70].replace("\"change ", "\"nothing ");
        lines
    };
    let spliced = {
        let other = Bench::with(100).lines();
        [&lines[..50], &other[50..]].concat()
    };
    let swapped = Bench::with(120).lines();
    let rolled_back = lines[..80].to_vec();
    let grown_again = [&rolled_back[..], &swapped[80..]].concat();
    let deleted_and_grown = [&deleted[..], &swapped[100..]].concat();
    for (name, forged, fault) in [
        (
            "deleted",
            &deleted,
            "the log is shorter than the checkpoint",
        ),
        (
            "deleted, grown",
            &deleted_and_grown,
            "another root at size 100",
        ),
        ("reordered", &reordered, "another root at size 100"),
        ("doubled", &doubled, "another root at size 100"),
        ("changed", &changed, "another root at size 100"),
        ("spliced", &spliced, "another root at size 100"),
        ("swapped", &swapped, "another root at size 100"),
        (
            "rolled back",
            &rolled_back,
            "the log is shorter than the checkpoint",
        ),
        (
            "rolled back, grown",
            &grown_again,
            "another root at size 100",
        ),
    ] {
        bench.forge(forged);
        assert_eq!(
            bench.compare(std::slice::from_ref(&signed)),
            fault,
            "{name}"
        );
        // The next dashboard finds a log that is shorter, or that does not go on from what was signed.
        fs::remove_file(bench.store().dir().join("tree.json")).unwrap_or_default();
        let events = bench.notarize();
        assert!(
            contradiction(&events).starts_with(fault),
            "{name}: {events:?}"
        );
        assert_eq!(bench.latest(), signed, "{name}: it was not signed");
    }
}

#[test]
fn a_log_that_grew_from_another_past_is_not_signed() {
    let bench = Bench::with(100);
    assert_eq!(bench.notarize(), []);
    let signed = bench.latest();
    bench.forge(&Bench::with(150).lines());
    let events = bench.notarize();
    assert!(contradiction(&events).starts_with("another root at size 100"));
    assert_eq!(bench.latest(), signed);
}

/// Nothing on the machine can tell: only a checkpoint that is kept elsewhere does.
#[test]
fn a_log_that_is_rolled_back_with_its_checkpoints_is_found_by_one_that_is_kept_elsewhere() {
    let bench = Bench::with(50);
    assert_eq!(bench.notarize(), []);
    let (lines, before) = (bench.lines(), bench.latest());
    bench.grow(50);
    assert_eq!(bench.notarize(), []);
    let elsewhere = bench.latest();
    bench.forge(&lines);
    // The old lines again, byte for byte.
    fs::write(bench.file(), lines.join("\n") + "\n").unwrap();
    bench.store().keep(&before).unwrap();
    assert_eq!(bench.compare(&[before]), "extends");
    let fault = "the log is shorter than the checkpoint";
    assert_eq!(bench.compare(&[elsewhere]), fault);
}

#[test]
fn a_checkpoint_of_no_record_says_nothing_and_one_of_too_many_is_not_reached() {
    let bench = Bench::with(5);
    assert_eq!(bench.notarize(), []);
    let key = bench.store().key_that_signs().unwrap();
    let of = |size, root| {
        let origin = key.verifier.name.clone();
        Signed::new(Checkpoint { origin, size, root }, &key)
    };
    assert_eq!(bench.compare(&[of(0, Digest::of(b""))]), "extends");
    let fault = "the log is shorter than the checkpoint";
    assert_eq!(
        bench.compare(&[of(i64::MAX as u64, Digest::of(b""))]),
        fault
    );
    assert_eq!(
        bench.compare(&[of(6, bench.latest().checkpoint.root)]),
        fault
    );
    assert_eq!(
        bench.compare(&[of(4, bench.latest().checkpoint.root)]),
        "another root at size 4"
    );
}

#[test]
fn a_log_that_was_pruned_before_its_first_checkpoint_is_signed_from_what_is_left() {
    let bench = Bench::new();
    (0..30).for_each(|_| bench.grow_in(500, 1));
    let log = Log::open(&bench.state).unwrap();
    let done = prune(&log, jiff::Timestamp::MAX, 30, Default::default()).unwrap();
    assert!(done.segments.len() > 10, "{done:?}");
    bench.grow(3);
    let removed = Log::open(&bench.state).unwrap().verify().unwrap();
    assert!(removed.removed_through.unwrap() > 10);
    assert_eq!(bench.notarize(), []);
    let first = bench.latest();
    assert_eq!(bench.compare(std::slice::from_ref(&first)), "extends");
    // It goes on from there, whether or not what is derived is kept.
    bench.grow(5);
    fs::remove_file(bench.store().dir().join("tree.json")).unwrap();
    assert_eq!(bench.notarize(), []);
    let second = bench.latest();
    assert_eq!(second.checkpoint.size, first.checkpoint.size + 5);
    assert_eq!(bench.compare(&[first, second.clone()]), "extends");
    // Without its checkpoint, hashes that are there are not replaced by others: something was signed.
    for name in ["latest", "begun", "tree.json"] {
        fs::remove_file(bench.store().dir().join(name)).unwrap();
    }
    bench.grow(1);
    let events = bench.notarize();
    let none = "their hashes are not kept here";
    let fails =
        |event: &NotaryEvent| matches!(event, NotaryEvent::Failed(why) if why.contains(none));
    assert!(!events.is_empty() && events.iter().all(fails), "{events:?}");
    assert!(!bench.store().dir().join("latest").exists());
    bench.store().keep(&second).unwrap();
    assert_eq!(bench.notarize(), []);
}

#[test]
fn a_folder_of_checkpoints_that_is_not_as_it_should_be_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let said = |bench: &Bench, anchoring| match &bench.notarize_with(anchoring)[..] {
        [NotaryEvent::Failed(why)] => why.clone(),
        other => panic!("{other:?}"),
    };
    let here = |bench: &Bench| Anchoring {
        checkpoints: Some(bench.store().dir().to_owned()),
        ..Anchoring::default()
    };
    let bench = Bench::with(5);
    assert_eq!(bench.notarize(), []);
    let other = Bench::with(5);
    assert!(said(&other, here(&bench)).contains("these are the checkpoints of the log in"));
    let key = bench.store().dir().join("key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
    bench.grow(1);
    assert!(said(&bench, here(&bench)).contains("others can read this key (mode 0640)"));
    // No other key takes its place.
    fs::remove_file(&key).unwrap();
    assert!(said(&bench, here(&bench)).contains("the key that signs is gone"));
    let dir = bench.store().dir().to_owned();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o750)).unwrap();
    assert!(said(&bench, here(&bench)).contains("lets other users in"));
}

#[test]
fn the_command_gets_each_checkpoint_and_its_failure_is_told_until_it_works() {
    let bench = Bench::with(5);
    let kept = bench.state.with_file_name("kept");
    let script = format!("test -e '{0}' && cat >> '{0}'", kept.display());
    let anchoring = Anchoring {
        command: ["sh", "-c", &script].map(str::to_owned).to_vec(),
        ..Anchoring::default()
    };
    let events = bench.notarize_with(anchoring.clone());
    let why = "anchor_command: `sh` failed, exit status: 1".to_owned();
    assert_eq!(events, [NotaryEvent::Failed(why)]);
    fs::write(&kept, "").unwrap();
    bench.grow(1);
    assert_eq!(bench.notarize_with(anchoring), []);
    assert_eq!(
        fs::read_to_string(kept).unwrap(),
        bench.latest().note.print()
    );
}

#[test]
fn what_retention_removed_stays_in_the_tree() {
    let bench = Bench::new();
    (0..30).for_each(|_| bench.grow_in(500, 1));
    assert_eq!(bench.notarize(), []);
    let old = bench.latest();
    (0..30).for_each(|_| bench.grow_in(500, 1));
    assert_eq!(bench.notarize(), []);
    let signed = bench.latest();
    let log = Log::open(&bench.state).unwrap();
    let done = prune(&log, jiff::Timestamp::MAX, 30, Default::default()).unwrap();
    assert!(done.segments.len() > 10, "{done:?}");
    let end = log.verify().unwrap().removed_through.unwrap();
    assert!(end > old.checkpoint.size);
    assert_eq!(bench.compare(&[old.clone(), signed.clone()]), "extends");
    // With what was kept, and from the first record that is left.
    for lost in ["", "tree.json"] {
        let _ = fs::remove_file(bench.store().dir().join(lost));
        bench.grow(1);
        assert_eq!(bench.notarize(), [], "without {lost:?}");
        assert_eq!(
            bench.compare(&[old.clone(), signed.clone(), bench.latest()]),
            "extends"
        );
    }
    // A removed record that was signed otherwise is noticed by the hashes.
    let forged = Signed::new(
        Checkpoint {
            root: Digest::of(b"another"),
            ..old.checkpoint.clone()
        },
        &bench.store().key_that_signs().unwrap(),
    );
    assert_eq!(
        bench.compare(&[forged, bench.latest()]),
        "another root at size 30"
    );
    for lost in ["tree.json", "hashes"] {
        fs::remove_file(bench.store().dir().join(lost)).unwrap();
    }
    let why = format!("the records up to seq {end} were removed under retention");
    assert!(bench.compare(&[bench.latest()]).starts_with(&why));
    bench.grow(1);
    match &bench.notarize()[..] {
        [.., NotaryEvent::Failed(told)] => assert!(told.starts_with(&why), "{told}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_record_is_proved_with_the_hashes_and_without() {
    let bench = Bench::with(70);
    assert_eq!(bench.notarize(), []);
    let signed = bench.latest();
    let layout = Layout::at(&bench.state);
    let prove = |seq: u64, line: &str| {
        let prover = Prover::of(&layout, &bench.store(), &signed);
        let proved = prover.proof(&signed, seq, line.as_bytes());
        proved.map_err(|e| e.to_string())
    };
    let lines = bench.lines();
    let with: Vec<_> = (1..=70)
        .map(|seq| prove(seq, &lines[seq as usize]).unwrap())
        .collect();
    fs::remove_file(bench.store().dir().join("hashes")).unwrap();
    for (seq, with) in (1..).zip(&with) {
        assert_eq!(&prove(seq, &lines[seq as usize]).unwrap(), with);
    }
    let fault =
        "another root at size 70: the log's first 70 records are not the ones that were signed";
    assert_eq!(prove(5, &lines[6]).unwrap_err(), fault);
    assert_eq!(prove(71, &lines[6]).unwrap_err(), fault);
}

/// A copy without its checkpoints gets a new key: what it signs says since when.
#[test]
fn a_key_that_signs_a_log_that_was_there_says_since_when() {
    let bench = Bench::with(100);
    let report = |told: mpsc::Sender<NotaryEvent>| Box::new(move |event| told.send(event).unwrap());
    let (tell, told) = mpsc::channel();
    Notary::start(&bench.state, Anchoring::default(), 100, report(tell)).close();
    assert_eq!(told.iter().collect::<Vec<_>>(), [NotaryEvent::Began(100)]);
    let begun = |bench: &Bench| {
        let key = bench.store().key().unwrap().unwrap();
        bench.store().begun(&key).unwrap().unwrap()
    };
    let first = begun(&bench);
    assert_eq!(first.from, 101);
    assert!(
        first
            .said(110)
            .contains("; the 100 records before it were there already")
    );
    let signed = first.said(100);
    assert!(
        signed.starts_with("signed through seq 100, at ")
            && signed.contains(" made after all of that: ")
    );
    bench.grow(10);
    assert_eq!(bench.notarize(), []);
    assert_eq!(begun(&bench), first, "it began again");
    // A log that is signed from its beginning.
    let whole = Bench::with(3);
    let (tell, told) = mpsc::channel();
    let notary = Notary::start(&whole.state, Anchoring::default(), 0, report(tell));
    notary.informer().durable(3);
    notary.close();
    assert_eq!(told.iter().collect::<Vec<_>>(), []);
    assert_eq!(begun(&whole).from, 1);
    // Another key's word, or a changed one, is none.
    let file = |bench: &Bench| bench.store().dir().join("begun");
    let text = fs::read_to_string(file(&bench)).unwrap();
    fs::write(file(&whole), &text).unwrap();
    let key = whole.store().key().unwrap().unwrap();
    assert!(whole.store().begun(&key).is_err());
    fs::write(file(&bench), text.replacen("101", "1", 1)).unwrap();
    let key = bench.store().key().unwrap().unwrap();
    assert!(bench.store().begun(&key).is_err());
}
