//! Durable records compared with the same bytes appended and synced.
//!
//! For a fair comparison, each kind of record has a peer that appends the very bytes of such a
//! record (its line and its contents) to a separate file on the same disk and syncs it with
//! `fdatasync`. All take turns, a few records at a time, and each turn is compared with the peer's
//! adjacent turn. The median is reported, so that single slow or fast moments of the disk do not
//! matter. Records are built before the clock starts, like the peer's bytes. The peer's file grows
//! like a log; the sync time in a file that does not grow is shown too, as the lower bound for any
//! log on this disk.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::iter;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use countersign::audit::{WriterEvent, WriterHandle, open};
use countersign::model::{Blob, LogEvent, ProposalId, Ticket};

#[path = "../../src/audit/samples.rs"]
#[allow(dead_code, reason = "shared with the tests, which use all of it")]
mod samples;

/// The number of turns, and the records per turn that are awaited one by one.
const TURNS: usize = 41;
const SINGLE: usize = 20;
/// Records submitted at once, and the number of such groups; each group goes to an idle log.
const GROUPED: usize = 4_096;
const GROUPS: usize = 5;

type NewRecord = (LogEvent, Vec<Blob>);

/// Seconds per record, one value per turn.
#[derive(Default)]
struct Spent {
    raw: Vec<f64>,
    /// Overwriting bytes that exist already.
    over: Vec<f64>,
    ours: Vec<f64>,
    grouped: Vec<f64>,
    /// The peer's turn before each group.
    beside: Vec<f64>,
    /// Several groups without a pause.
    unceasing: f64,
}

/// One kind of record: its times, and those of its bytes without a log.
pub struct Measured {
    name: &'static str,
    bytes: usize,
    spent: Spent,
}

/// A separate log, and the number of records awaited.
struct Log {
    handle: WriterHandle,
    awaited: Arc<AtomicUsize>,
    durable: Receiver<()>,
}

impl Log {
    fn at(folder: &Path) -> Self {
        let (tell, durable) = channel();
        let awaited = Arc::new(AtomicUsize::new(0));
        let left = awaited.clone();
        let handle = open(folder).unwrap().writer.start(Box::new(move |event| {
            assert!(matches!(event, WriterEvent::Durable { .. }), "{event:?}");
            if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                let _ = tell.send(());
            }
        }));
        Self {
            handle,
            awaited,
            durable,
        }
    }

    /// Submits records and waits until all are durable.
    fn write(&self, records: impl ExactSizeIterator<Item = NewRecord>) {
        self.awaited.store(records.len(), Ordering::Relaxed);
        for (event, blobs) in records {
            self.handle.submit(Ticket::Unawaited, event, blobs);
        }
        self.durable.recv().unwrap();
    }
}

fn proposed(n: usize) -> NewRecord {
    let code = format!("import math\n# {n}\n{}", "print(math.sqrt(2))\n".repeat(12));
    let blob = Blob::of(code.as_bytes());
    let (mut event, _) = samples::proposed(ProposalId::new(), "how many");
    if let LogEvent::Proposed(log) = &mut event {
        log.digest = blob.sha256;
        log.inputs.clear();
    }
    (event, vec![blob])
}

/// A record that refers to no content.
fn granted(_: usize) -> NewRecord {
    (samples::granted(ProposalId::new()), Vec::new())
}

/// The peer's files: one that grows, and one that does not.
struct Raw {
    bytes: Vec<u8>,
    grows: File,
    stays: File,
    at: u64,
}

impl Raw {
    /// Takes the bytes of one such record: the last line of a log that has just written it, and its
    /// contents.
    fn of(folder: &Path, name: &str, make: fn(usize) -> NewRecord) -> Self {
        let scratch = folder.join(format!("{name} once"));
        let log = Log::at(&scratch);
        let made = make(0);
        let contents: Vec<u8> = made.1.iter().flat_map(|b| b.bytes.to_vec()).collect();
        log.write(iter::once(made));
        let segment = fs::read(scratch.join("log/00000001.jsonl")).unwrap();
        log.handle.close();
        let line = segment.split_inclusive(|b| *b == b'\n').next_back();
        let bytes = [line.unwrap(), &contents].concat();
        let file = |kind: &str| folder.join(format!("{name} {kind}"));
        let open = |kind| {
            let mut options = OpenOptions::new();
            options.create(true).append(kind == "grows").write(true);
            options.open(file(kind)).unwrap()
        };
        let mut stays = open("stays");
        let all = TURNS * SINGLE * bytes.len();
        stays.write_all(&vec![0; all]).unwrap();
        stays.sync_all().unwrap();
        Self {
            bytes,
            grows: open("grows"),
            stays,
            at: 0,
        }
    }

    fn append(&mut self) {
        self.grows.write_all(&self.bytes).unwrap();
        self.grows.sync_data().unwrap();
    }

    fn write_over(&mut self) {
        self.stays.write_all_at(&self.bytes, self.at).unwrap();
        self.stays.sync_data().unwrap();
        self.at += self.bytes.len() as u64;
    }
}

/// Seconds per item for `work` on `count` items.
fn each(count: usize, work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64() / count as f64
}

/// Builds the record with this number.
type Make = fn(usize) -> NewRecord;

pub fn measure() -> Vec<Measured> {
    let folder = tempfile::Builder::new()
        .prefix("socket-bench-")
        .tempdir_in(env!("CARGO_TARGET_TMPDIR"))
        .unwrap();
    let kinds: [(&'static str, Make); 2] =
        [("a proposal with its code", proposed), ("a grant", granted)];
    let state = folder.path().join("state");
    let log = Log::at(&state);
    let mut raws = kinds.map(|(name, make)| Raw::of(folder.path(), name, make));
    let mut spent = [Spent::default(), Spent::default()];
    // Rotates the order, so that each is first equally often.
    for turn in 0..TURNS * 6 {
        let step = (turn / 6 + turn) % 6;
        let (raw, spent) = (&mut raws[step % 2], &mut spent[step % 2]);
        match step / 2 {
            0 => spent.raw.push(each(SINGLE, || {
                (0..SINGLE).for_each(|_| raw.append());
            })),
            1 => spent.over.push(each(SINGLE, || {
                (0..SINGLE).for_each(|_| raw.write_over());
            })),
            _ => {
                let first = (turn / 6) * SINGLE + 1;
                let made: Vec<_> = (first..first + SINGLE).map(kinds[step % 2].1).collect();
                spent.ours.push(each(SINGLE, || {
                    for made in made {
                        log.write(iter::once(made));
                    }
                }));
            }
        }
    }
    log.handle.close();
    let mut next = TURNS * SINGLE + 1;
    let mut made = |make: fn(usize) -> NewRecord, count| {
        next += count;
        (next - count..next).map(make).collect::<Vec<_>>()
    };
    for _ in 0..GROUPS {
        for ((raw, spent), (_, make)) in raws.iter_mut().zip(&mut spent).zip(kinds) {
            spent.beside.push(each(SINGLE, || {
                (0..SINGLE).for_each(|_| raw.append());
            }));
            let group = made(make, GROUPED);
            // Reopened, so that no earlier work is pending.
            let log = Log::at(&state);
            spent
                .grouped
                .push(each(GROUPED, || log.write(group.into_iter())));
            log.handle.close();
        }
    }
    for (spent, (_, make)) in spent.iter_mut().zip(kinds) {
        let all = made(make, GROUPS * GROUPED);
        let log = Log::at(&state);
        spent.unceasing = each(all.len(), || log.write(all.into_iter()));
        log.handle.close();
    }
    let measured = kinds.into_iter().zip(raws).zip(spent);
    measured
        .map(|(((name, _), raw), spent)| Measured {
            name,
            bytes: raw.bytes.len(),
            spent,
        })
        .collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The median over all turns of the peer's time divided by ours.
fn ratio(raw: &[f64], ours: &[f64]) -> f64 {
    median(raw.iter().zip(ours).map(|(raw, ours)| raw / ours).collect())
}

pub fn print(all: &[Measured]) {
    println!("Durable records a second; each proposal has code of its own.\n");
    println!("{:<44} {:>9} {:>9}", "", "1/s", "x raw");
    for Measured { name, bytes, spent } in all {
        let line = |what: &str, each: f64, found: f64| {
            println!("{what:<44} {:>9.0} {found:>9.2}", 1.0 / each);
        };
        println!("{name} ({bytes} bytes)");
        let singly = |what, one: &[f64]| line(what, median(one.to_vec()), ratio(&spent.raw, one));
        singly("  append + fdatasync", &spent.raw);
        singly("  over bytes that are there + fdatasync", &spent.over);
        singly("  one by one", &spent.ours);
        line(
            "  grouped",
            median(spent.grouped.clone()),
            ratio(&spent.beside, &spent.grouped),
        );
        line(
            "  grouped, five times as many",
            spent.unceasing,
            median(spent.beside.clone()) / spent.unceasing,
        );
    }
    println!();
    for Measured { name, spent, .. } in all {
        for (what, found, least) in [
            ("one by one", ratio(&spent.raw, &spent.ours), 0.9),
            ("grouped", ratio(&spent.beside, &spent.grouped), 20.0),
        ] {
            let result = if found >= least { "met" } else { "MISSED" };
            println!("target: {name}, {what}, at least {least} x raw: {found:.2}, {result}");
        }
    }
}
