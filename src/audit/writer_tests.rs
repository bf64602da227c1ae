use std::io;

use super::super::line::GENESIS;
use super::super::samples::{finished, proposed};
use super::*;
use crate::model::ProposalId;

/// What a disk was asked to do.
#[derive(Clone, Debug, PartialEq)]
enum Op {
    Put(Digest),
    SyncBlobs,
    Append(Vec<u8>),
    Sync,
    Rotate(u64),
    Told(u64),
    Down(String),
}

/// Notes every call and fails at the chosen one.
struct Faulty {
    ops: Arc<Mutex<Vec<Op>>>,
    fail_at: usize,
}

impl Faulty {
    fn note(&self, op: Op) -> io::Result<()> {
        let mut ops = self.ops.lock().unwrap();
        ops.push(op);
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
    fn rotate(&mut self, number: u64, _header: &[u8]) -> io::Result<()> {
        self.note(Op::Rotate(number))
    }
}

/// Runs these events through a writer as one queue and brings back what happened, in order.
fn run(fail_at: usize, segment_bytes: u64, events: Vec<(LogEvent, Vec<Blob>)>) -> Vec<Op> {
    let ops = Arc::new(Mutex::new(Vec::new()));
    let disk = Faulty {
        ops: ops.clone(),
        fail_at,
    };
    let chain = Chain {
        seq: 0,
        hash: GENESIS,
        boot_id: "boot".to_owned(),
    };
    let writer = Writer::new(Box::new(disk), chain, 1, 0, segment_bytes, None);
    let seen = ops.clone();
    let (queue, waiting) = mpsc::channel();
    for (n, (event, blobs)) in events.into_iter().enumerate() {
        let entry = Entry {
            ticket: Ticket(n as u64),
            event,
            blobs,
        };
        queue.send(Message::Entry(Box::new(entry))).unwrap();
    }
    queue.send(Message::Close).unwrap();
    writer.serve(&waiting, &move |event| {
        seen.lock().unwrap().push(match event {
            WriterEvent::Durable { ticket, seq } => {
                assert_eq!(ticket.0 + 1, seq);
                Op::Told(seq)
            }
            WriterEvent::Down { reason } => Op::Down(reason),
        });
    });
    ops.lock().unwrap().clone()
}

fn two() -> Vec<(LogEvent, Vec<Blob>)> {
    let id = ProposalId::new();
    vec![proposed(id, "t"), finished(id)]
}

#[test]
fn blobs_are_durable_before_the_lines_that_name_them_and_lines_before_anyone_is_told() {
    let ops = run(usize::MAX, u64::MAX, two());
    let shape: Vec<&str> = ops
        .iter()
        .map(|op| match op {
            Op::Put(_) => "put",
            Op::SyncBlobs => "sync blobs",
            Op::Append(_) => "append",
            Op::Sync => "sync",
            Op::Rotate(_) => "rotate",
            Op::Told(_) => "told",
            Op::Down(_) => "down",
        })
        .collect();
    // One commit for both: what waits goes together.
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
            "told",
            "told"
        ]
    );
    let Op::Append(lines) = &ops[5] else {
        panic!("{ops:?}")
    };
    assert_eq!(lines.iter().filter(|b| **b == b'\n').count(), 2);
}

#[test]
fn after_the_first_error_nothing_is_tried_again_and_nobody_is_told() {
    let whole = run(usize::MAX, 0, two()).len() - 2;
    for fail_at in 0..whole {
        let ops = run(fail_at, 0, two());
        assert_eq!(ops.len(), fail_at + 2, "{ops:?}");
        let Some(Op::Down(reason)) = ops.last() else {
            panic!("not down: {ops:?}")
        };
        assert!(reason.contains("free some space"), "{reason}");
        assert!(!ops.iter().any(|op| matches!(op, Op::Told(_))));
    }
}

#[test]
fn a_full_segment_is_followed_by_the_next_before_the_line_is_written() {
    let ops = run(usize::MAX, 0, two());
    let rotate = ops.iter().position(|op| *op == Op::Rotate(2)).unwrap();
    assert!(matches!(ops[rotate + 1], Op::Append(_)));
}

#[test]
fn what_comes_after_down_is_dropped_without_blocking() {
    let (down, told) = mpsc::channel();
    let disk = Faulty {
        ops: Arc::default(),
        fail_at: 0,
    };
    let chain = Chain {
        seq: 0,
        hash: GENESIS,
        boot_id: "boot".to_owned(),
    };
    let writer = Writer::new(Box::new(disk), chain, 1, 0, u64::MAX, None);
    let handle = writer.start(Box::new(move |event| {
        let _ = down.send(event);
    }));
    for n in 0..3 {
        handle.submit(Ticket(n), LogEvent::Closed, Vec::new());
    }
    handle.close();
    let told: Vec<WriterEvent> = told.iter().collect();
    assert!(matches!(told[..], [WriterEvent::Down { .. }]), "{told:?}");
}
