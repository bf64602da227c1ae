use std::io;

use super::super::line::GENESIS;
use super::super::samples::{finished, proposed};
use super::*;
use crate::model::ProposalId;

/// A call to the disk, or a report of the writer.
#[derive(Clone, Debug, PartialEq)]
enum Op {
    Put(Digest),
    SyncBlobs,
    Append(Vec<u8>),
    Sync,
    Rotate(u64),
    Reported(u64),
    Unrecorded(u64),
    Down(String),
}

/// Records every call and fails at the chosen one.
struct Faulty {
    ops: Arc<Mutex<Vec<Op>>>,
    fail_at: usize,
    /// With a code, fails once with it. Without, fails permanently like a full disk.
    code: Option<i32>,
}

impl Faulty {
    fn note(&self, op: Op) -> io::Result<()> {
        let mut ops = self.ops.lock().unwrap();
        ops.push(op);
        match self.code {
            Some(code) if ops.len() == self.fail_at + 1 => {
                return Err(io::Error::from_raw_os_error(code));
            }
            Some(_) => return Ok(()),
            None => {}
        }
        if ops.len() > self.fail_at {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        Ok(())
    }
}

impl Disk for Faulty {
    fn put(&mut self, blob: &Blob) -> io::Result<()> {
        self.note(Op::Put(blob.sha256))
    }
    fn sync_blobs(&mut self) -> io::Result<()> {
        self.note(Op::SyncBlobs)
    }
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.note(Op::Append(bytes.to_vec()))
    }
    fn sync(&mut self) -> io::Result<()> {
        self.note(Op::Sync)
    }
    fn rotate(&mut self, number: u64, _header: &[u8]) -> io::Result<bool> {
        match self.note(Op::Rotate(number)) {
            Err(e) if error::ran_out(&e) => Ok(false),
            done => done.map(|()| true),
        }
    }
    fn look(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs these events through a writer as one queue and returns the calls and reports in order.
fn run(fail_at: usize, segment_bytes: u64, events: Vec<(LogEvent, Vec<Blob>)>) -> Vec<Op> {
    run_with(fail_at, None, segment_bytes, events)
}

fn run_with(
    fail_at: usize,
    code: Option<i32>,
    segment_bytes: u64,
    events: Vec<(LogEvent, Vec<Blob>)>,
) -> Vec<Op> {
    let ops = Arc::new(Mutex::new(Vec::new()));
    let disk = Faulty {
        ops: ops.clone(),
        fail_at,
        code,
    };
    let chain = Chain {
        seq: 0,
        hash: GENESIS,
        boot_id: "boot".to_owned(),
    };
    let writer = Writer::new(Box::new(disk), chain, 1, 0, segment_bytes, None);
    let seen = ops.clone();
    let waiting = Lanes::default();
    for (n, (event, blobs)) in events.into_iter().enumerate() {
        waiting.push(Entry {
            lane: Lane::Agents,
            ticket: Ticket::Core(n as u64),
            event,
            blobs,
        });
    }
    waiting.close();
    writer.serve(&waiting, &move |event| {
        seen.lock().unwrap().push(match event {
            WriterEvent::Durable { ticket, seq, .. } => {
                assert!(number(ticket) + 1 == seq || code.is_some());
                Op::Reported(seq)
            }
            WriterEvent::Unrecorded { ticket, .. } => Op::Unrecorded(number(ticket)),
            WriterEvent::Down { reason } => Op::Down(reason),
        });
    });
    ops.lock().unwrap().clone()
}

fn two_proposals() -> Vec<(LogEvent, Vec<Blob>)> {
    let id = ProposalId::new();
    vec![proposed(id, "t"), finished(id)]
}

#[test]
fn blobs_are_durable_before_the_lines_that_name_them_and_lines_before_their_report() {
    let ops = run(usize::MAX, u64::MAX, two_proposals());
    let shape: Vec<&str> = ops
        .iter()
        .map(|op| match op {
            Op::Put(_) => "put",
            Op::SyncBlobs => "sync blobs",
            Op::Append(_) => "append",
            Op::Sync => "sync",
            Op::Rotate(_) => "rotate",
            Op::Reported(_) => "reported",
            Op::Unrecorded(_) => "unrecorded",
            Op::Down(_) => "down",
        })
        .collect();
    // Both records are in one commit.
    assert_eq!(
        shape,
        [
            "put",
            "put",
            "put",
            "put",
            "sync blobs",
            "append",
            "sync",
            "reported",
            "reported"
        ]
    );
    let Op::Append(lines) = &ops[5] else {
        panic!("{ops:?}")
    };
    assert_eq!(lines.iter().filter(|b| **b == b'\n').count(), 2);
}

#[test]
fn after_the_first_error_nothing_is_retried_or_reported() {
    let whole = run(usize::MAX, 0, two_proposals()).len() - 2;
    for fail_at in 0..whole {
        let ops = run(fail_at, 0, two_proposals());
        assert_eq!(ops.len(), fail_at + 2, "{ops:?}");
        let Some(Op::Down(reason)) = ops.last() else {
            panic!("not down: {ops:?}")
        };
        assert!(reason.contains("free some space"), "{reason}");
        assert!(!ops.iter().any(|op| matches!(op, Op::Reported(_))));
    }
}

/// The kinds of the appended records.
fn kinds(ops: &[Op]) -> Vec<String> {
    let lines = ops.iter().filter_map(|op| match op {
        Op::Append(lines) => Some(lines),
        _ => None,
    });
    lines
        .flat_map(|lines| lines.split_inclusive(|b| *b == b'\n'))
        .map(|line| {
            let record = crate::audit::Record::parse(&line[..line.len() - 1]).unwrap();
            record.event.kind().to_owned()
        })
        .collect()
}

#[test]
fn a_record_whose_blobs_cannot_be_stored_fails_alone() {
    use nix::errno::Errno;
    let id = ProposalId::new();
    let events = || {
        let alone = (LogEvent::Expired { id }, Vec::new());
        vec![proposed(id, "t"), alone, finished(id)]
    };
    // Two records have two blobs each, so the first four calls are `put`.
    for code in [Errno::EMFILE, Errno::ENFILE, Errno::ENOSPC, Errno::EDQUOT] {
        for (fail_at, ticket, left) in [
            (0, 0, ["expired", "finished"]),
            (1, 0, ["expired", "finished"]),
            (2, 2, ["proposed", "expired"]),
            (3, 2, ["proposed", "expired"]),
        ] {
            let ops = run_with(fail_at, Some(code as i32), u64::MAX, events());
            assert_eq!(kinds(&ops), left, "{code} at {fail_at}: {ops:?}");
            assert!(ops.contains(&Op::Unrecorded(ticket)), "{ops:?}");
            let reported: Vec<&Op> = ops
                .iter()
                .filter(|o| matches!(o, Op::Reported(_)))
                .collect();
            assert_eq!(reported, [&Op::Reported(1), &Op::Reported(2)]);
        }
        // A blob folder cannot be opened for its sync: all records with blobs fail.
        let ops = run_with(4, Some(code as i32), u64::MAX, events());
        assert_eq!(kinds(&ops), ["expired"], "{ops:?}");
    }
    // Without a descriptor for the next segment, the current one continues.
    let ops = run_with(5, Some(Errno::EMFILE as i32), 0, events());
    assert_eq!(ops[5], Op::Rotate(2), "{ops:?}");
    assert_eq!(kinds(&ops), ["proposed", "expired", "finished"]);
    // An error of the disk itself is permanent in every call.
    for fail_at in 0..7 {
        let ops = run_with(fail_at, Some(Errno::EIO as i32), u64::MAX, events());
        assert!(matches!(ops.last(), Some(Op::Down(_))), "{ops:?}");
        assert_eq!(ops.len(), fail_at + 2, "{ops:?}");
    }
    // Every error of an append or a sync of lines is permanent.
    for (fail_at, code) in [(5, Errno::ENOSPC), (6, Errno::ENOSPC), (5, Errno::EMFILE)] {
        let ops = run_with(fail_at, Some(code as i32), u64::MAX, events());
        assert!(matches!(ops.last(), Some(Op::Down(_))), "{ops:?}");
    }
}

#[test]
fn records_of_a_batch_name_its_first_record_and_a_single_record_names_none() {
    let batches = |events| {
        let ops = run(usize::MAX, u64::MAX, events);
        let Some(Op::Append(lines)) = ops.iter().find(|op| matches!(op, Op::Append(_))) else {
            panic!("{ops:?}")
        };
        lines
            .split_inclusive(|b| *b == b'\n')
            .map(|line| {
                let line = &line[..line.len() - 1];
                let record = crate::audit::Record::parse(line).unwrap();
                let place = line::unseal(line).unwrap().place;
                let batch = record.batch.unwrap_or(record.seq);
                assert_eq!(
                    place,
                    line::LineRole::Record {
                        seq: record.seq,
                        batch
                    }
                );
                record.batch
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(batches(two_proposals()), [Some(1), Some(1)]);
    assert_eq!(batches(vec![(LogEvent::Closed, Vec::new())]), [None]);
}

#[test]
fn the_next_segment_begins_before_a_line_is_appended_to_a_full_one() {
    let ops = run(usize::MAX, 0, two_proposals());
    let rotate = ops.iter().position(|op| *op == Op::Rotate(2)).unwrap();
    assert!(matches!(ops[rotate + 1], Op::Append(_)));
}

#[test]
fn records_after_down_are_dropped_without_blocking() {
    let (report, reports) = std::sync::mpsc::channel();
    let disk = Faulty {
        ops: Arc::default(),
        fail_at: 0,
        code: None,
    };
    let chain = Chain {
        seq: 0,
        hash: GENESIS,
        boot_id: "boot".to_owned(),
    };
    let writer = Writer::new(Box::new(disk), chain, 1, 0, u64::MAX, None);
    let handle = writer.start(Box::new(move |event| {
        let _ = report.send(event);
    }));
    for n in 0..3 {
        handle.submit(Ticket::Core(n), LogEvent::Closed, Vec::new());
    }
    handle.close();
    let all: Vec<WriterEvent> = reports.iter().collect();
    assert!(matches!(all[..], [WriterEvent::Down { .. }]), "{all:?}");
}

/// Records calls and reports, and calls `at_sync` during each sync, so that a test can submit records then.
struct Slow<F: FnMut(usize)> {
    ops: Arc<Mutex<Vec<Op>>>,
    syncs: usize,
    fail_at: usize,
    at_sync: F,
}

impl<F: FnMut(usize) + Send> Disk for Slow<F> {
    fn look(&mut self) -> io::Result<()> {
        Ok(())
    }
    fn put(&mut self, blob: &Blob) -> io::Result<()> {
        self.ops.lock().unwrap().push(Op::Put(blob.sha256));
        Ok(())
    }
    fn sync_blobs(&mut self) -> io::Result<()> {
        self.ops.lock().unwrap().push(Op::SyncBlobs);
        Ok(())
    }
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.ops.lock().unwrap().push(Op::Append(bytes.to_vec()));
        Ok(())
    }
    fn sync(&mut self) -> io::Result<()> {
        self.syncs += 1;
        (self.at_sync)(self.syncs);
        if self.syncs == self.fail_at {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        self.ops.lock().unwrap().push(Op::Sync);
        Ok(())
    }
    fn rotate(&mut self, number: u64, _header: &[u8]) -> io::Result<bool> {
        self.ops.lock().unwrap().push(Op::Rotate(number));
        Ok(true)
    }
}

fn number(ticket: Ticket) -> u64 {
    match ticket {
        Ticket::Core(number) => number,
        Ticket::Unawaited => panic!("a record that nobody waits for"),
    }
}

const FLOOD: u64 = 10_000;
/// Tickets from this number on are in the person's lane.
const DECIDED: u64 = 1_000_000;

fn submit_decision(lanes: &Lanes, n: u64) {
    lanes.push(Entry {
        lane: Lane::Person,
        ticket: Ticket::Core(DECIDED + n),
        event: LogEvent::Expired {
            id: ProposalId::new(),
        },
        blobs: Vec::new(),
    });
}

/// Runs a flood of proposals through a writer. A person decides during the third and the fourth sync. The sync
/// number `fail_at` fails.
fn flood(fail_at: usize) -> Vec<Op> {
    let lanes = Lanes::default();
    for n in 0..FLOOD {
        lanes.push(Entry {
            lane: Lane::Agents,
            ticket: Ticket::Core(n),
            event: LogEvent::Blocked {
                id: ProposalId::new(),
            },
            blobs: vec![Blob::of(n.to_string().as_bytes())],
        });
    }
    let ops = Arc::new(Mutex::new(Vec::new()));
    let person = lanes.clone();
    let disk = Slow {
        ops: ops.clone(),
        syncs: 0,
        fail_at,
        at_sync: move |syncs| match syncs {
            3 => submit_decision(&person, 0),
            4 => submit_decision(&person, 1),
            5 => person.close(),
            _ => {}
        },
    };
    let chain = Chain {
        seq: 0,
        hash: GENESIS,
        boot_id: "boot".to_owned(),
    };
    let seen = ops.clone();
    Writer::new(Box::new(disk), chain, 1, 0, u64::MAX, None).serve(&lanes, &move |event| {
        seen.lock().unwrap().push(match event {
            WriterEvent::Durable { ticket, lane, .. } => {
                assert_eq!(lane == Lane::Person, number(ticket) >= DECIDED);
                Op::Reported(number(ticket))
            }
            WriterEvent::Unrecorded { ticket, .. } => Op::Unrecorded(number(ticket)),
            WriterEvent::Down { reason } => Op::Down(reason),
        });
    });
    ops.lock().unwrap().clone()
}

#[test]
fn a_persons_decision_is_durable_with_the_next_sync_however_many_proposals_wait() {
    let ops = flood(usize::MAX);
    let syncs_before = |op: &Op| {
        let at = ops.iter().position(|o| o == op).unwrap();
        ops[..at].iter().filter(|o| **o == Op::Sync).count()
    };
    // Submitted during the third and the fourth sync; durable with the fourth and the fifth.
    assert_eq!(syncs_before(&Op::Reported(DECIDED)), 4);
    assert_eq!(syncs_before(&Op::Reported(DECIDED + 1)), 5);
    // Nothing is lost or reported twice, and each lane keeps its order.
    let reported: Vec<u64> = ops
        .iter()
        .filter_map(|op| match op {
            Op::Reported(ticket) => Some(*ticket),
            _ => None,
        })
        .collect();
    let agents: Vec<u64> = reported.iter().copied().filter(|t| *t < DECIDED).collect();
    assert_eq!(agents, (0..FLOOD).collect::<Vec<_>>());
    assert_eq!(reported.len() as u64, FLOOD + 2);
    // The lines are one chain in the order of the reports.
    let mut prev = GENESIS;
    let mut seq = 0;
    for op in &ops {
        let Op::Append(lines) = op else { continue };
        for line in lines.split(|b| *b == b'\n').filter(|l| !l.is_empty()) {
            let sealed = super::super::line::unseal(line).unwrap();
            seq += 1;
            assert_eq!(sealed.prev, prev);
            assert!(
                matches!(sealed.place, line::LineRole::Record { seq: n, .. } if n == seq),
                "{:?}",
                sealed.place
            );
            prev = sealed.hash;
        }
    }
    assert_eq!(seq, FLOOD + 2);
}

#[test]
fn no_record_is_reported_before_its_sync_or_after_an_error_in_either_lane() {
    for fail_at in 1..=6 {
        let ops = flood(fail_at);
        let mut appended = 0;
        let mut synced = 0;
        let mut reported = 0;
        for op in &ops {
            match op {
                Op::Append(lines) => appended += lines.iter().filter(|b| **b == b'\n').count(),
                Op::Sync => synced = appended,
                Op::Reported(_) => {
                    reported += 1;
                    assert!(reported <= synced, "reported before its sync");
                }
                _ => {}
            }
        }
        assert_eq!(reported, synced, "every synced record is reported");
        let syncs = ops.iter().filter(|op| **op == Op::Sync).count();
        assert_eq!(syncs, fail_at - 1);
        assert!(matches!(ops.last(), Some(Op::Down(_))), "{:?}", ops.last());
        if fail_at <= 4 {
            assert!(!ops.contains(&Op::Reported(DECIDED)));
        }
    }
}

/// A reproducible random queue of records with and without blobs.
fn random_queue(seed: u64) -> Vec<(LogEvent, Vec<Blob>)> {
    let mut state = seed;
    let mut next = |below: u64| {
        // Numerical Recipes' generator; its upper bits are good enough here.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut all = Vec::new();
    for n in 0..=next(12) {
        let id = ProposalId::new();
        all.push(match next(3) {
            0 => (LogEvent::Expired { id }, Vec::new()),
            1 => finished(id),
            _ => {
                let (event, mut blobs) = proposed(id, "t");
                blobs.push(Blob::of(format!("{seed} {n}").as_bytes()));
                (event, blobs)
            }
        });
    }
    all
}

/// For every queue and fault: a reported record is durable, and its blobs were durable before it.
#[test]
fn blobs_then_lines_then_reports_in_every_queue_and_after_every_fault() {
    let mut checked = 0;
    for seed in 0..40 {
        let queue = random_queue(seed);
        let steps = run(usize::MAX, u64::MAX, queue.clone()).len();
        for fail_at in 0..=steps {
            let ops = run(fail_at, 4_000, queue.clone());
            for (reported, op) in ops.iter().enumerate() {
                let Op::Reported(seq) = op else { continue };
                let line = format!("\"seq\":{seq},");
                let has_line = |op: &Op| matches!(op, Op::Append(b) if String::from_utf8_lossy(b).contains(&line));
                let written = ops[..reported].iter().rposition(has_line).unwrap();
                assert!(
                    ops[written..reported].contains(&Op::Sync),
                    "{seed} {fail_at}"
                );
                for blob in &queue[usize::try_from(*seq).unwrap() - 1].1 {
                    let synced = ops[..written].iter().rposition(|op| *op == Op::SyncBlobs);
                    let before = &ops[..synced.unwrap()];
                    assert!(before.contains(&Op::Put(blob.sha256)), "{seed} {fail_at}");
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 5_000, "{checked}");
}
