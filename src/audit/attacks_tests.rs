//! Whoever can write the folder attacks a log that was signed: each attack is named by its own words.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::open::open_with;
use super::query::Query;
use super::samples::{CODE, TEXT, denied, finished, granted, proposed, started};
use super::tlog::{Anchoring, Notary, NotaryEvent, Store};
use super::written::write;
use super::{Log, Vouched};
use crate::model::{Digest, ProposalId};

const SEGMENT: u64 = 2_500;

/// A log of several segments, and its checkpoints beside it.
pub(super) struct Signed {
    _folder: tempfile::TempDir,
    pub state: PathBuf,
}

impl Signed {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().canonicalize().unwrap().join("state");
        let new = Self {
            _folder: folder,
            state,
        };
        new.grow();
        new.grow();
        assert_eq!(new.sign(), []);
        assert_eq!(new.said(), "nothing");
        assert!(new.segments().len() > 3);
        new
    }

    /// One proposal that ran, and one that was denied.
    fn grow(&self) {
        let ids = [(); 2].map(|()| ProposalId::new());
        let events = vec![
            proposed(ids[0], "one"),
            proposed(ids[1], "two"),
            (granted(ids[0]), Vec::new()),
            (started(ids[0]), Vec::new()),
            (denied(ids[1]), Vec::new()),
            finished(ids[0]),
        ];
        write(open_with(&self.state, SEGMENT).unwrap(), events);
    }

    fn store(&self) -> Store {
        Store::beside(&self.state)
    }

    fn records(&self) -> u64 {
        Log::open(&self.state).unwrap().verify().unwrap().records
    }

    fn sign(&self) -> Vec<NotaryEvent> {
        let (tell, told) = std::sync::mpsc::channel();
        let report = Box::new(move |event| tell.send(event).unwrap());
        Notary::start(&self.state, Anchoring::default(), self.records(), report).close();
        let begins = |event: &NotaryEvent| matches!(event, NotaryEvent::Began(_));
        told.into_iter().filter(|event| !begins(event)).collect()
    }

    fn segments(&self) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = fs::read_dir(self.state.join("log"))
            .unwrap()
            .map(|file| file.unwrap().path())
            .collect();
        all.sort();
        all
    }

    fn blob(&self, bytes: &[u8]) -> PathBuf {
        let hex = Digest::of(bytes).hex();
        self.state.join("blobs").join(&hex[..2]).join(hex)
    }

    /// Changes the lines of a segment.
    pub(super) fn lines(&self, segment: usize, change: impl FnOnce(&mut Vec<String>)) {
        let path = &self.segments()[segment];
        let text = fs::read_to_string(path).unwrap();
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        change(&mut lines);
        fs::write(path, lines.concat()).unwrap();
    }

    /// Hashes every line anew, so that each follows the one before it.
    fn rehash(&self) {
        let mut prev = "0".repeat(64);
        for path in self.segments() {
            let text = fs::read_to_string(&path).unwrap();
            let mut line = |line: &str| {
                let (body, _) = line.rsplit_once(",\"prev\":\"").unwrap();
                let body = format!("{body},\"prev\":\"{prev}\"");
                prev = Digest::of(body.as_bytes()).hex();
                format!("{body},\"hash\":\"{prev}\"}}\n")
            };
            let lines: String = text.lines().map(&mut line).collect();
            fs::write(path, lines).unwrap();
        }
        self.forget();
    }

    /// What `audit list`, which does not compare the whole log, finds first.
    fn listed(&self) -> String {
        let log = match (Log::open(&self.state), Vouched::of(&self.store())) {
            (Ok(log), Ok(vouched)) => log.vouched(vouched),
            (Err(e), _) => return e.to_string(),
            (_, Err(e)) => return e.to_string(),
        };
        match log.answers() {
            Ok(answers) => answers
                .faults()
                .first()
                .map_or("nothing".to_owned(), ToString::to_string),
            Err(e) => e.to_string(),
        }
    }

    /// Removes what says how far the log was acknowledged.
    fn forget(&self) {
        for name in ["lock", "journal-0", "journal-1"] {
            fs::remove_file(self.state.join(name)).unwrap();
        }
    }

    /// Grows, is signed, and is as before again.
    fn roll_back(&self) {
        let before = self.state.with_file_name("before");
        copy(&self.state, &before);
        self.grow();
        assert_eq!(self.sign(), []);
        fs::remove_dir_all(&self.state).unwrap();
        fs::rename(before, &self.state).unwrap();
    }

    /// What `audit verify` finds first.
    pub fn said(&self) -> String {
        let log = match Log::open(&self.state) {
            Ok(log) => log,
            Err(e) => return e.to_string(),
        };
        let report = match log.verify() {
            Ok(report) => report,
            Err(e) => return e.to_string(),
        };
        if let Some(first) = report.first() {
            return first.to_string();
        }
        let store = self.store();
        let latest = match store.key().and_then(|key| store.latest(&key.unwrap())) {
            Ok(latest) => latest.unwrap(),
            Err(e) => return e.to_string(),
        };
        match log.compare(Some(&store), &[latest]).unwrap() {
            Ok(()) => "nothing".to_owned(),
            Err(e) => e.to_string(),
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => assert!(fs::copy(entry.path(), to.join(entry.file_name())).is_ok()),
        }
    }
}

type Attack = fn(&Signed, &Signed);

/// The log and another one of the same shape, and the words that name the attack.
const ATTACKS: [(&str, Attack, &str); 26] = [
    (
        "a record is deleted",
        |log, _| log.lines(1, |lines| drop(lines.remove(1))),
        "should stand here",
    ),
    (
        "two records change places",
        |log, _| log.lines(0, |lines| lines.swap(1, 2)),
        "should stand here",
    ),
    (
        "a record stands twice",
        |log, _| log.lines(1, |lines| lines.insert(1, lines[1].clone())),
        "should stand here",
    ),
    (
        "a record of another log stands in the place of one",
        |log, other| {
            let text = fs::read_to_string(&other.segments()[0]).unwrap();
            let line = text.split_inclusive('\n').nth(2).unwrap().to_owned();
            log.lines(0, |lines| lines[2] = line);
        },
        "it does not follow the line before it",
    ),
    (
        "a record is changed",
        |log, _| {
            log.lines(0, |lines| {
                lines[1] = lines[1].replacen("analysis", "analysys", 1);
            });
        },
        "its bytes are not the ones that were hashed",
    ),
    (
        "the end of a record is cut",
        |log, _| log.lines(0, |lines| lines[1].replace_range(40.., "\n")),
        "it does not have the shape of a record",
    ),
    (
        "two records become one line",
        |log, _| log.lines(0, |lines| assert!(lines[1].pop().is_some())),
        "its bytes are not the ones that were hashed",
    ),
    (
        "a header stands twice",
        |log, _| log.lines(0, |lines| lines.insert(1, lines[0].clone())),
        "a header stands among records",
    ),
    (
        "a header is deleted",
        |log, _| log.lines(1, |lines| drop(lines.remove(0))),
        "the segment's header is missing",
    ),
    (
        "the end of a segment in the middle is cut",
        |log, _| {
            log.lines(1, |lines| {
                lines.last_mut().unwrap().pop();
            });
        },
        "its end is missing",
    ),
    (
        "a segment in the middle is emptied",
        |log, _| fs::write(&log.segments()[1], "").unwrap(),
        "it is empty",
    ),
    (
        "two segments change places",
        |log, _| {
            let all = log.segments();
            let aside = log.state.join("aside");
            fs::rename(&all[1], &aside).unwrap();
            fs::rename(&all[2], &all[1]).unwrap();
            fs::rename(&aside, &all[2]).unwrap();
        },
        "it is the header of segment 3",
    ),
    (
        "a segment of another log stands in the place of one",
        |log, other| assert!(fs::copy(&other.segments()[1], &log.segments()[1]).is_ok()),
        "it does not follow the line before it",
    ),
    (
        "a segment in the middle is deleted, as a rotator does",
        |log, _| fs::rename(&log.segments()[1], log.state.join("00000002.jsonl.1")).unwrap(),
        "log/00000002.jsonl (seq",
    ),
    (
        "the first segment is deleted",
        |log, _| fs::remove_file(&log.segments()[0]).unwrap(),
        "no record says that it was removed",
    ),
    (
        "the last record is cut",
        |log, _| {
            let last = log.segments().len() - 1;
            log.lines(last, |lines| drop(lines.pop()));
        },
        "is gone: the log was durable up to byte",
    ),
    (
        "the last record is cut, and what says that it was there",
        |log, _| {
            log.forget();
            let last = log.segments().len() - 1;
            log.lines(last, |lines| drop(lines.pop()));
        },
        "the log is shorter than the checkpoint",
    ),
    (
        "the last segment is deleted, and what says that it was there",
        |log, _| {
            log.forget();
            fs::remove_file(log.segments().last().unwrap()).unwrap();
        },
        "the log is shorter than the checkpoint",
    ),
    (
        "the folder is rolled back",
        |log, _| log.roll_back(),
        "the log is shorter than the checkpoint",
    ),
    (
        "the folder is rolled back and grows anew",
        |log, _| {
            log.roll_back();
            log.grow();
        },
        "another root at size",
    ),
    (
        "the folder is that of another log",
        |log, other| {
            fs::remove_dir_all(&log.state).unwrap();
            copy(&other.state, &log.state);
        },
        "another root at size",
    ),
    (
        "a record is changed, and all lines are hashed anew",
        |log, _| {
            log.lines(0, |lines| {
                lines[1] = lines[1].replacen("\"one\"", "\"eno\"", 1);
            });
            log.rehash();
        },
        "another root at size",
    ),
    (
        "the latest checkpoint is deleted",
        |log, _| fs::remove_file(log.store().dir().join("latest")).unwrap(),
        "latest: it is gone, and begun",
    ),
    (
        "a content is that of another name",
        |log, _| assert!(fs::copy(log.blob(TEXT.as_bytes()), log.blob(CODE)).is_ok()),
        "its content is not what its name says",
    ),
    (
        "a content is deleted",
        |log, _| fs::remove_file(log.blob(CODE)).unwrap(),
        "it is missing",
    ),
    (
        "the checkpoint is that of another log",
        |log, other| {
            let latest = other.store().dir().join("latest");
            fs::copy(latest, log.store().dir().join("latest")).unwrap();
        },
        "other origin",
    ),
];

#[test]
fn each_attack_on_the_folder_is_named_by_its_own_words() {
    let (log, other) = (Signed::new(), Signed::new());
    let parent = log.state.parent().unwrap().to_owned();
    let good = tempfile::tempdir().unwrap();
    copy(&parent, good.path());
    for (name, attack, words) in ATTACKS {
        attack(&log, &other);
        let (said, listed) = (log.said(), log.listed());
        assert!(said.contains(words), "{name}: {said}");
        // Contents are looked at when they are shown.
        if !words.contains("content") && !words.contains("missing") {
            assert!(listed.contains(words), "list: {name}: {listed}");
        }
        fs::remove_dir_all(&parent).unwrap();
        copy(good.path(), &parent);
        assert_eq!(log.said(), "nothing", "{name} cannot be undone");
    }
}

/// Every `step`th bit of a file is flipped, one at a time.
fn flips(path: &Path, step: usize, mut look: impl FnMut(usize)) {
    let whole = fs::read(path).unwrap();
    for bit in (0..whole.len() * 8).step_by(step) {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fs::write(path, flipped).unwrap();
        look(bit);
    }
    fs::write(path, whole).unwrap();
}

/// Whatever bit is flipped, it is named, or nothing that is shown is wrong.
fn every_bit(step: usize) {
    let log = Signed::new();
    let mut named = log.segments();
    named.extend([log.blob(CODE), log.blob(TEXT.as_bytes())]);
    named.push(log.store().dir().join("latest"));
    for path in named {
        flips(&path, step, |bit| {
            assert_ne!(log.said(), "nothing", "{}: bit {bit}", path.display());
        });
    }
    index_bits(&log, step * 64);
    derived_bits(&log, step * 8);
}

/// The index may hide what it has; it shows nothing that the log does not have.
fn index_bits(log: &Signed, step: usize) {
    let everything = || Query::parse("", Timestamp::now()).unwrap();
    let opened = Log::open(&log.state).unwrap();
    let mut without = opened.answers_without_index().unwrap();
    let all = without.page(&everything(), 0, usize::MAX).unwrap();
    drop(opened.answers().unwrap());
    let index = log.state.join("index/v1.sqlite3");
    let whole = fs::read(&index).unwrap();
    flips(&index, step, |bit| {
        let shown = opened
            .answers()
            .and_then(|mut answers| answers.page(&everything(), 0, usize::MAX));
        for case in shown.unwrap_or_default() {
            assert!(all.contains(&case), "bit {bit}: {case:?}");
        }
        // What a look left beside it is not part of the next one.
        fs::remove_dir_all(log.state.join("index")).unwrap();
        DirBuilder::new()
            .mode(0o700)
            .create(log.state.join("index"))
            .unwrap();
        fs::write(&index, &whole).unwrap();
    });
}

/// What the notary derives from the log changes nothing that it signs.
fn derived_bits(log: &Signed, step: usize) {
    for name in ["hashes", "tree.json"] {
        flips(&log.store().dir().join(name), step, |bit| {
            assert_eq!(log.sign(), [], "{name}: bit {bit}");
            assert_eq!(log.said(), "nothing", "{name}: bit {bit}");
        });
    }
    log.grow();
    assert_eq!(log.sign(), []);
    assert_eq!(log.said(), "nothing");
}

#[test]
fn a_flipped_bit_is_named_or_shows_nothing_wrong() {
    every_bit(41);
}

/// Minutes: `cargo test --lib -- --ignored every_bit`.
#[test]
#[ignore = "every single bit; takes minutes"]
fn every_bit_of_a_small_log_is_named_or_shows_nothing_wrong() {
    every_bit(1);
}

/// A dashboard begins to sign again: it does not go on from what contradicts what it signed.
#[test]
fn no_checkpoint_follows_one_that_the_log_contradicts() {
    for (name, attack, words) in ATTACKS {
        if !["another root", "shorter than", "it is gone, and"]
            .iter()
            .any(|w| words.contains(w))
        {
            continue;
        }
        let (log, other) = (Signed::new(), Signed::new());
        attack(&log, &other);
        log.grow();
        let before = fs::read(log.store().dir().join("latest")).ok();
        let told = log.sign();
        let contradicts = matches!(&told[..], [NotaryEvent::Contradiction(_)]);
        assert!(contradicts, "{name}: {told:?}");
        assert_eq!(
            fs::read(log.store().dir().join("latest")).ok(),
            before,
            "{name}"
        );
    }
}
