//! Durable records beside the same bytes appended and synced.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use countersign::audit::{WriterEvent, WriterHandle, open};
use countersign::broker::Ticket;
use countersign::model::{Blob, LogEvent, ProposalId};

#[path = "../../src/audit/samples.rs"]
#[allow(dead_code, reason = "shared with the tests, which use all of it")]
mod samples;

/// Records that are waited for one by one.
const SINGLE: usize = 400;
/// Records that are handed over at once, a few times.
const GROUPED: usize = 4_096;
const GROUPS: usize = 3;

/// Records a second.
pub struct Rates {
    raw: f64,
    /// A proposal with its code.
    proposed: f64,
    /// A record that names no content, such as a grant's.
    granted: f64,
    grouped: f64,
    grouped_granted: f64,
}

/// A log of its own, and what it says.
struct Log {
    handle: WriterHandle,
    said: Receiver<WriterEvent>,
}

impl Log {
    fn at(folder: &Path) -> Self {
        let (tell, said) = channel();
        let handle = open(folder).unwrap().writer.start(Box::new(move |event| {
            let _ = tell.send(event);
        }));
        Self { handle, said }
    }

    fn durable(&self, count: usize) {
        for _ in 0..count {
            match self.said.recv().unwrap() {
                WriterEvent::Durable { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

fn proposed(n: usize) -> (LogEvent, Vec<Blob>) {
    let code = format!("import math\n# {n}\n{}", "print(math.sqrt(2))\n".repeat(12));
    let blob = Blob::of(code.as_bytes());
    let (mut event, _) = samples::proposed(ProposalId::new(), "how many");
    if let LogEvent::Proposed(log) = &mut event {
        log.digest = blob.sha256;
        log.inputs.clear();
    }
    (event, vec![blob])
}

fn granted(_: usize) -> (LogEvent, Vec<Blob>) {
    (samples::granted(ProposalId::new()), Vec::new())
}

pub fn measure() -> Rates {
    let folder = tempfile::Builder::new()
        .prefix("socket-bench-")
        .tempdir_in(env!("CARGO_TARGET_TMPDIR"))
        .unwrap();
    let log = Log::at(&folder.path().join("state"));
    let path = folder.path().join("raw");
    let mut raw = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .unwrap();
    let (line, contents) = proposed(0);
    let line = serde_json::to_vec(&line).unwrap().len() + 250;
    let bytes = vec![b'x'; line + contents[0].bytes.len()];
    let mut spent = [0.0; 3];
    // In turns, a few at a time: what the machine does meanwhile meets all of them.
    for n in 0..SINGLE {
        for at in 0..3 {
            let at = (at + n) % 3;
            let begun = Instant::now();
            match at {
                0 => append(&mut raw, &bytes),
                1 => single(&log, proposed(n)),
                _ => single(&log, granted(n)),
            }
            spent[at] += begun.elapsed().as_secs_f64();
        }
    }
    let rate = |spent: f64| SINGLE as f64 / spent;
    let grouped = (0..GROUPS)
        .map(|g| group(&log, g, proposed))
        .fold(0.0, f64::max);
    let grouped_granted = (0..GROUPS)
        .map(|g| group(&log, g, granted))
        .fold(0.0, f64::max);
    log.handle.close();
    Rates {
        raw: rate(spent[0]),
        proposed: rate(spent[1]),
        granted: rate(spent[2]),
        grouped,
        grouped_granted,
    }
}

fn append(file: &mut File, bytes: &[u8]) {
    file.write_all(bytes).unwrap();
    file.sync_data().unwrap();
}

fn single(log: &Log, (event, blobs): (LogEvent, Vec<Blob>)) {
    log.handle.submit(Ticket(0), event, blobs);
    log.durable(1);
}

/// Records a second when they are handed over at once.
fn group(log: &Log, group: usize, make: fn(usize) -> (LogEvent, Vec<Blob>)) -> f64 {
    let first = SINGLE + group * GROUPED;
    let records: Vec<_> = (first..first + GROUPED).map(make).collect();
    let begun = Instant::now();
    for (event, blobs) in records {
        log.handle.submit(Ticket(0), event, blobs);
    }
    log.durable(GROUPED);
    GROUPED as f64 / begun.elapsed().as_secs_f64()
}

pub fn print(rates: &Rates) {
    println!("Durable records a second; each proposal has code of its own.\n");
    println!("{:<44} {:>9} {:>9}", "", "1/s", "x raw");
    let line = |name: &str, rate: f64| {
        println!("{name:<44} {rate:>9.0} {:>9.2}", rate / rates.raw);
    };
    line("append + fdatasync of the same bytes", rates.raw);
    line("a proposal with its code, one by one", rates.proposed);
    line("a grant, one by one", rates.granted);
    line("proposals with their code, grouped", rates.grouped);
    line("grants, grouped", rates.grouped_granted);
    println!();
    for (what, rate, least) in [
        ("a proposal, one by one", rates.proposed, 0.9),
        ("a grant, one by one", rates.granted, 0.9),
        ("proposals, grouped", rates.grouped, 20.0),
        ("grants, grouped", rates.grouped_granted, 20.0),
    ] {
        let found = rate / rates.raw;
        let said = if found >= least { "met" } else { "MISSED" };
        println!("target: {what} at least {least} x raw: {found:.2}, {said}");
    }
}
