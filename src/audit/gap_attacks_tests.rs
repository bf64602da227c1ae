//! Whoever can write the folder attacks what removals say of a log: each attack is named by its own words, or changes nothing
//! of what is told.

use std::fs;
use std::path::PathBuf;

use jiff::Timestamp;

use super::line::Record;
use super::open::{append, open_with};
use super::prune::{Order, prune};
use super::samples::{denied, finished, granted, proposed, started};
use super::tlog::{Anchoring, Notary, NotaryEvent, Store};
use super::written::write;
use super::{Log, gap};
use crate::model::{Digest, LogEvent, ProposalId, Reviewer};

const SEGMENT: u64 = 2_500;

/// A log of several segments, its checkpoints beside it, and its first segments removed.
struct Cut {
    _folder: tempfile::TempDir,
    state: PathBuf,
}

impl Cut {
    /// Signed, and not cut yet.
    fn whole() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().canonicalize().unwrap().join("state");
        let new = Self {
            _folder: folder,
            state,
        };
        for _ in 0..3 {
            new.grow();
        }
        assert_eq!(new.sign(), []);
        assert!(new.segments().len() > 4, "{}", new.segments().len());
        new
    }

    /// Retention took the oldest segments, and a checkpoint signs that.
    fn new() -> Self {
        let new = Self::whole();
        new.prune(2);
        assert_eq!(new.sign(), []);
        assert_eq!(new.said(), "nothing");
        new
    }

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

    /// Removes all segments but this many.
    fn prune(&self, left: usize) {
        let log = Log::open(&self.state).unwrap();
        let all = self.segments();
        let length = |path: &PathBuf| fs::metadata(path).unwrap().len();
        let most: u64 = all[all.len() - left..].iter().map(length).sum();
        let order = Order::of(Some(Timestamp::MAX), None).down_to(Some(most));
        let pruned = prune(&log, order.signed_in(self.store()), 30, Reviewer::default()).unwrap();
        assert!(!pruned.segments.is_empty());
    }

    fn store(&self) -> Store {
        Store::beside(&self.state)
    }

    fn sign(&self) -> Vec<NotaryEvent> {
        let (tell, told) = std::sync::mpsc::channel();
        let report = Box::new(move |event| tell.send(event).unwrap());
        let report_of = Log::open(&self.state).unwrap().verify().unwrap();
        let last = report_of.removed_through.unwrap_or(0) + report_of.records;
        Notary::start(&self.state, Anchoring::default(), last, report).close();
        // The first one says so, which is no fault.
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

    /// Every line of the log, with the number of its segment.
    fn lines(&self) -> Vec<(usize, String)> {
        let mut all = Vec::new();
        for (n, path) in self.segments().iter().enumerate() {
            let text = fs::read_to_string(path).unwrap();
            all.extend(text.lines().map(|line| (n, line.to_owned())));
        }
        all
    }

    /// Writes these lines as a sound chain that begins where the log's does, as whoever can write the folder can.
    fn forge(&self, lines: &[(usize, String)]) {
        let paths = self.segments();
        let mut texts = vec![String::new(); paths.len()];
        let (_, first) = self.lines().remove(0);
        let mut prev = field(&first, "prev");
        let mut seq: Option<u64> = None;
        for (n, line) in lines {
            let (body, _) = line.split_once(",\"prev\":\"").unwrap();
            let body = match body.split_once(",\"first_seq\":") {
                Some((begin, rest)) if body.contains("\"segment\":") => {
                    let (stated, rest) = rest.split_once(',').unwrap();
                    let next = seq.map_or_else(|| stated.parse().unwrap(), |seq| seq + 1);
                    seq = Some(next - 1);
                    format!("{begin},\"first_seq\":{next},{rest}")
                }
                _ => {
                    let (_, rest) = body.split_once("\"seq\":").unwrap();
                    let (_, rest) = rest.split_once(',').unwrap();
                    let next = seq.unwrap() + 1;
                    seq = Some(next);
                    format!("{{\"v\":1,\"seq\":{next},{rest}")
                }
            };
            let body = format!("{body},\"prev\":\"{prev}\"");
            prev = Digest::of(body.as_bytes()).hex();
            texts[*n].push_str(&format!("{body},\"hash\":\"{prev}\"}}\n"));
        }
        for (path, text) in paths.iter().zip(texts) {
            fs::write(path, text).unwrap();
        }
        self.forget();
    }

    /// Removes what says how far the log was acknowledged.
    fn forget(&self) {
        for name in ["lock", "journal-0", "journal-1"] {
            let _ = fs::remove_file(self.state.join(name));
        }
        let _ = fs::remove_dir_all(self.state.join("index"));
    }

    /// What `audit verify` finds first.
    fn said(&self) -> String {
        let log = match Log::open(&self.state) {
            Ok(log) => log,
            Err(e) => return e.to_string(),
        };
        let store = self.store();
        let key = store.key().unwrap().unwrap();
        let latest = store.latest(&key).unwrap().unwrap();
        match log.verify_signed(Some(&store), &[latest]) {
            Err(e) => e.to_string(),
            Ok((report, compared)) => match (report.first(), compared) {
                (Some(first), _) => first.to_string(),
                (None, Err(e)) => e.to_string(),
                (None, Ok(())) => "nothing".to_owned(),
            },
        }
    }

    /// What every view says of what is not there.
    fn told(&self) -> Option<String> {
        let mut answers = Log::open(&self.state).unwrap().answers().unwrap();
        gap(&answers.removals().unwrap(), &|at| at.to_string())
    }

    fn pruned_at(lines: &[(usize, String)]) -> usize {
        let is = |(_, line): &(usize, String)| line.contains("\"kind\":\"pruned\"");
        lines.iter().rposition(is).unwrap()
    }
}

/// A field of a line that is a text.
fn field(line: &str, name: &str) -> String {
    let (_, rest) = line.split_once(&format!("\"{name}\":\"")).unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}

type Attack = fn(&mut Vec<(usize, String)>, usize);

fn swap(line: &mut String, from: &str, to: &str) {
    assert!(line.contains(from), "{from}: {line}");
    *line = line.replacen(from, to, 1);
}

/// What is done to the lines, of which one is the record of the gap, and the words that name it.
const ATTACKS: [(&str, Attack, &str); 7] = [
    (
        "the gap record is removed",
        |lines, at| drop(lines.remove(at)),
        "no record says that it was removed",
    ),
    (
        "the gap record is moved",
        |lines, at| lines.swap(at - 1, at),
        "another root at size",
    ),
    (
        "the gap record stands twice",
        |lines, at| lines.insert(at, lines[at].clone()),
        "another root at size",
    ),
    (
        "a second gap begins behind the end of the first",
        |lines, at| {
            let mut second = lines[at].1.clone();
            let through: u64 = number(&second, "through_seq");
            let (first, records) = (through + 2, 1);
            let next = through + 2;
            swap(
                &mut second,
                &format!("\"through_seq\":{through}"),
                &format!("\"through_seq\":{next}"),
            );
            let begins = number(&second, "first_seq");
            swap(
                &mut second,
                &format!("\"first_seq\":{begins},"),
                &format!("\"first_seq\":{first},"),
            );
            let counted = number(&second, "records");
            swap(
                &mut second,
                &format!("\"records\":{counted}"),
                &format!("\"records\":{records}"),
            );
            let zeros = "0".repeat(64);
            swap(&mut second, &zeros, &"1".repeat(64));
            lines.insert(at + 1, (lines[at].0, second));
        },
        "and the removal before it ended at seq",
    ),
    (
        "a second gap overlaps the first, and says that newer records went",
        |lines, at| {
            let mut second = lines[at].1.clone();
            let through: u64 = number(&second, "through_seq");
            let records = number(&second, "records");
            swap(
                &mut second,
                &format!("\"through_seq\":{through}"),
                &format!("\"through_seq\":{}", through + 1),
            );
            swap(
                &mut second,
                &format!("\"records\":{records}"),
                &format!("\"records\":{}", records + 1),
            );
            lines.insert(at + 1, (lines[at].0, second));
        },
        "another root at size",
    ),
    (
        "the gap has another root",
        |lines, at| {
            let root = field(&lines[at].1, "root");
            let other = format!("sha256:{}", Digest::of(b"x").hex());
            swap(&mut lines[at].1, &root, &other[..root.len()]);
        },
        "another root at size",
    ),
    (
        "the gap has another person and another reason",
        |lines, at| {
            swap(
                &mut lines[at].1,
                "\"retention_days\":30",
                "\"retention_days\":90",
            );
        },
        "another root at size",
    ),
];

fn number(line: &str, name: &str) -> u64 {
    let (_, rest) = line.split_once(&format!("\"{name}\":")).unwrap();
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap();
    rest[..digits].parse().unwrap()
}

#[test]
fn each_attack_on_a_signed_gap_is_named_by_its_own_words() {
    for (name, attack, words) in ATTACKS {
        let log = Cut::new();
        // Records stand behind it, so that the attack is not at the end alone.
        log.grow();
        assert_eq!(log.sign(), []);
        let mut lines = log.lines();
        log.forge(&lines);
        assert_eq!(
            log.said(),
            "nothing",
            "{name}: forging alone changes nothing"
        );
        let at = Cut::pruned_at(&lines);
        attack(&mut lines, at);
        log.forge(&lines);
        let said = log.said();
        assert!(said.contains(words), "{name}: {said}");
    }
}

/// A crash can leave what a record says is removed, but not with another end.
#[test]
fn a_removal_of_what_is_there_with_another_end_is_told() {
    for (through_segment, words) in [
        (1, "`pruned` names another end of segment 1, which is there"),
        (99, "`pruned` of segment 99, and it stands in segment "),
    ] {
        let log = Cut::whole();
        let event = LogEvent::Pruned {
            through_segment,
            through_seq: 5,
            head: Digest::from_bytes([0; 32]),
            retention_days: 1,
            hold: Vec::new(),
            gap: None,
            by: Reviewer::default(),
        };
        append(&log.state, event).unwrap();
        assert!(log.said().contains(words), "{}", log.said());
    }
}

/// The first segments are deleted, and a record says that retention took them.
#[test]
fn a_cut_log_with_a_forged_gap_is_told_and_its_root_is_compared() {
    let log = Cut::whole();
    let right = Cut::whole();
    right.prune(2);
    let lines = right.lines();
    let genuine = lines[Cut::pruned_at(&lines)].1.clone();
    // What a real removal of this log would have written, with the root of another log.
    let segments = log.segments();
    log.prune(2);
    let mut lines = log.lines();
    let at = Cut::pruned_at(&lines);
    assert!(log.segments().len() < segments.len());
    let (own, other) = (field(&lines[at].1, "root"), field(&genuine, "root"));
    assert_ne!(own, other);
    swap(&mut lines[at].1, &own, &other);
    log.forge(&lines);
    let why = "states another root than the hashes that are kept";
    assert!(log.said().contains(why), "{}", log.said());
    // The notary does not sign it either, and says so once and for all.
    let signed = log.sign();
    assert!(
        matches!(&signed[..], [NotaryEvent::Contradiction(said)] if said.contains(why)),
        "{signed:?}"
    );
    // Without a root it is none of this program's, where checkpoints reach so far. Every view tells it, too.
    let rooted = format!(",\"root\":\"{other}\"");
    swap(&mut lines[at].1, &rooted, "");
    log.forge(&lines);
    let said = log.said();
    assert!(
        said.contains("states no root, and no checkpoint signs it"),
        "{said}"
    );
    let told = log.told().unwrap();
    assert!(told.contains("were removed on"), "{told}");
    let record = Record::parse(log.lines()[at].1.as_bytes()).unwrap();
    let store = log.store();
    let latest = store
        .latest(&store.key().unwrap().unwrap())
        .unwrap()
        .unwrap();
    assert!(record.seq > latest.checkpoint.size);
}

#[test]
fn every_view_tells_the_newest_gap_with_and_without_the_index() {
    let log = Cut::whole();
    assert_eq!(log.told(), None);
    log.prune(4);
    let told = log.told().unwrap();
    assert!(told.starts_with("records up to "), "{told}");
    assert!(
        told.contains(" by uid 0: retention: 30 days; seq "),
        "{told}"
    );
    // The segment that has the first one's record stays.
    log.grow();
    log.prune(log.segments().len() - 1);
    let told = log.told().unwrap();
    assert!(
        told.contains("were removed, the last of them on "),
        "{told}"
    );
    let mut answers = Log::open(&log.state)
        .unwrap()
        .answers_without_index()
        .unwrap();
    let without = gap(&answers.removals().unwrap(), &|at| at.to_string());
    assert_eq!(without.as_deref(), Some(told.as_str()));
}
