//! Durable records beside the same bytes appended and synced.
//!
//! What is fair here: each kind of record has a peer that appends the very bytes of such a record (its
//! line and its contents) to a file of its own on the same disk and syncs it with `fdatasync`. All of
//! them take turns, a few records at a time, in one run, and each turn is compared with the peer's turn
//! beside it; what is reported is the median, so that neither a slow moment of the disk nor a fast one
//! decides. Records are made before the clock starts, as the peer's bytes are. The peer's file grows,
//! as a log does; what the same sync takes in a file that does not grow is shown beside it, since that
//! is the least that any log on this disk can take.

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

/// How often everything has its turn, and how many records are waited for one by one in each.
const TURNS: usize = 41;
const SINGLE: usize = 20;
/// Records that are handed over at once, a few times, each time to a log that is quiet.
const GROUPED: usize = 4_096;
const GROUPS: usize = 5;

type Made = (LogEvent, Vec<Blob>);

/// Seconds for one record, turn by turn.
#[derive(Default)]
struct Spent {
    raw: Vec<f64>,
    /// Over bytes that are there.
    over: Vec<f64>,
    ours: Vec<f64>,
    grouped: Vec<f64>,
    /// The peer's turn before each group.
    beside: Vec<f64>,
    /// Several groups in one.
    unceasing: f64,
}

/// One kind of record: what it took, and what its bytes took without a log.
pub struct Measured {
    name: &'static str,
    bytes: usize,
    spent: Spent,
}

/// A log of its own, and how many records are waited for.
struct Log {
    handle: WriterHandle,
    awaited: Arc<AtomicUsize>,
    said: Receiver<()>,
}

impl Log {
    fn at(folder: &Path) -> Self {
        let (tell, said) = channel();
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
            said,
        }
    }

    /// Hands over records and waits until all of them are durable.
    fn write(&self, records: impl ExactSizeIterator<Item = Made>) {
        self.awaited.store(records.len(), Ordering::Relaxed);
        for (event, blobs) in records {
            self.handle.submit(Ticket::Unawaited, event, blobs);
        }
        self.said.recv().unwrap();
    }
}

fn proposed(n: usize) -> Made {
    let code = format!("import math\n# {n}\n{}", "print(math.sqrt(2))\n".repeat(12));
    let blob = Blob::of(code.as_bytes());
    let (mut event, _) = samples::proposed(ProposalId::new(), "how many");
    if let LogEvent::Proposed(log) = &mut event {
        log.digest = blob.sha256;
        log.inputs.clear();
    }
    (event, vec![blob])
}

/// A record that names no content.
fn granted(_: usize) -> Made {
    (samples::granted(ProposalId::new()), Vec::new())
}

/// A file of the peer's: one that grows, and one that does not.
struct Raw {
    bytes: Vec<u8>,
    grows: File,
    stays: File,
    at: u64,
}

impl Raw {
    /// With the bytes of one such record: the last line of a log that has just taken it, and its contents.
    fn of(folder: &Path, name: &str, make: fn(usize) -> Made) -> Self {
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

/// Seconds that one of so many took.
fn each(count: usize, work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64() / count as f64
}

/// Makes the record of this number.
type Make = fn(usize) -> Made;

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
    // Each is first as often as any other.
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
    let mut made = |make: fn(usize) -> Made, count| {
        next += count;
        (next - count..next).map(make).collect::<Vec<_>>()
    };
    for _ in 0..GROUPS {
        for ((raw, spent), (_, make)) in raws.iter_mut().zip(&mut spent).zip(kinds) {
            spent.beside.push(each(SINGLE, || {
                (0..SINGLE).for_each(|_| raw.append());
            }));
            let group = made(make, GROUPED);
            // Opened anew: all that came before is in its own place.
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

/// How many times as fast as its peer, turn by turn beside each other.
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
            let said = if found >= least { "met" } else { "MISSED" };
            println!("target: {name}, {what}, at least {least} x raw: {found:.2}, {said}");
        }
    }
}
