//! The writer on a simulated disk whose power fails. What was not synced is lost, kept, or kept in part, sector by sector, in
//! any order; what was synced stays. The next start must find all that was reported, with its contents.

use std::collections::BTreeMap;
use std::io;

use super::super::layout::Layout;
use super::super::line::GENESIS;
use super::super::samples::{denied, finished, granted, proposed, started};
use super::super::{Log, open};
use super::*;
use crate::model::ProposalId;

const SECTOR: usize = 512;

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// A file: its beginning is on the disk, the rest only in memory.
#[derive(Clone, Default)]
struct Bytes {
    all: Vec<u8>,
    synced: usize,
    /// Whether its name is on the disk.
    named: bool,
}

impl Bytes {
    /// What a power cut leaves; `None` if not even the name.
    fn after_the_cut(&self, dice: &mut Dice) -> Option<Vec<u8>> {
        if !self.named && dice.below(3) == 0 {
            return None;
        }
        let length = self.synced + dice.below(self.all.len() - self.synced + 1);
        let mut left = self.all[..length].to_vec();
        let mut at = self.synced;
        while at < length {
            let end = (at / SECTOR + 1) * SECTOR;
            if dice.below(2) == 0 {
                left[at..end.min(length)].fill(0);
            }
            at = end;
        }
        Some(left)
    }
}

#[derive(Default)]
struct Files {
    segments: BTreeMap<u64, Bytes>,
    blobs: BTreeMap<Digest, Bytes>,
}

/// Fails with its chosen call and all further ones.
struct Disconnected {
    files: Arc<Mutex<Files>>,
    calls: usize,
    fails_at: usize,
    code: i32,
    dice: Dice,
}

impl Disconnected {
    /// `Err` when the power is gone; the call may have had a part of its effect.
    fn call(&mut self) -> io::Result<()> {
        self.calls += 1;
        match self.calls > self.fails_at {
            true => Err(io::Error::from_raw_os_error(self.code)),
            false => Ok(()),
        }
    }

    fn partly(&mut self, bytes: &[u8], failed: &io::Result<()>) -> Vec<u8> {
        match failed {
            Ok(()) => bytes.to_vec(),
            Err(_) => bytes[..self.dice.below(bytes.len() + 1)].to_vec(),
        }
    }
}

impl Disk for Disconnected {
    fn put(&mut self, blob: &Blob) -> io::Result<()> {
        let done = self.call();
        let all = self.partly(&blob.bytes, &done);
        let mut files = self.files.lock().unwrap();
        let file = files.blobs.entry(blob.sha256).or_default();
        if file.synced == 0 {
            file.all = all;
        }
        done
    }

    fn sync_blobs(&mut self) -> io::Result<()> {
        self.call()?;
        let mut files = self.files.lock().unwrap();
        files.blobs.values_mut().for_each(|file| file.named = true);
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let done = self.call();
        let part = self.partly(bytes, &done);
        let mut files = self.files.lock().unwrap();
        let mut last = files.segments.last_entry().unwrap();
        last.get_mut().all.extend(part);
        done
    }

    fn sync(&mut self) -> io::Result<()> {
        let done = self.call();
        if done.is_err() && self.dice.below(2) == 0 {
            return done;
        }
        // A sync that fails may have had its effect.
        let mut files = self.files.lock().unwrap();
        let Files { segments, blobs } = &mut *files;
        for file in segments.values_mut().chain(blobs.values_mut()) {
            file.synced = file.all.len();
        }
        done
    }

    fn rotate(&mut self, number: u64, header: &[u8]) -> io::Result<bool> {
        let done = self.call();
        let all = self.partly(header, &done);
        let synced = if done.is_ok() { all.len() } else { 0 };
        let named = done.is_ok();
        let mut files = self.files.lock().unwrap();
        files.segments.insert(number, Bytes { all, synced, named });
        done.map(|()| true)
    }

    fn look(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs in any order of their proposals.
fn events(dice: &mut Dice) -> Vec<(LogEvent, Vec<Blob>)> {
    let mut lives: Vec<Vec<(LogEvent, Vec<Blob>)>> = Vec::new();
    for n in 0..4 {
        let id = ProposalId::new();
        let mut life = vec![proposed(id, &format!("title {n}"))];
        match dice.below(3) {
            0 => life.push((denied(id), Vec::new())),
            _ => life.extend([
                (granted(id), Vec::new()),
                (started(id), Vec::new()),
                finished(id),
            ]),
        }
        life.reverse();
        lives.push(life);
    }
    let mut all = Vec::new();
    while !lives.is_empty() {
        let at = dice.below(lives.len());
        match lives[at].pop() {
            Some(next) => all.push(next),
            None => drop(lives.remove(at)),
        }
    }
    all
}

/// Writes until the power fails; returns the reported sequence numbers with their events.
fn write(
    events: &[(LogEvent, Vec<Blob>)],
    disk: Disconnected,
    batch: usize,
) -> (Vec<(u64, usize)>, bool) {
    let (header, hash) = line::header(1, 1, Now::read(), &GENESIS).unwrap();
    let first = Bytes {
        synced: header.len(),
        all: header.clone(),
        named: true,
    };
    disk.files.lock().unwrap().segments.insert(1, first);
    let chain = Chain {
        seq: 0,
        hash,
        boot_id: "boot".to_owned(),
    };
    let mut writer = Writer::new(Box::new(disk), chain, 1, header.len() as u64, 3_000, None);
    let mut reported = Vec::new();
    let numbered: Vec<_> = events.iter().enumerate().collect();
    for batch in numbered.chunks(batch) {
        let entries = batch.iter().map(|(n, (event, blobs))| Entry {
            lane: Lane::Agents,
            ticket: Ticket::Core(*n as u64),
            event: event.clone(),
            blobs: blobs.clone(),
        });
        let Ok(said) = writer.commit(entries.collect()) else {
            return (reported, false);
        };
        for event in said {
            match event {
                WriterEvent::Durable { ticket, seq, .. } => {
                    let Ticket::Core(n) = ticket else {
                        panic!("{ticket:?}")
                    };
                    reported.push((seq, usize::try_from(n).unwrap()));
                }
                WriterEvent::Unrecorded { .. } => return (reported, false),
                WriterEvent::Down { reason } => panic!("{reason}"),
            }
        }
    }
    (reported, true)
}

/// What the cut left, as a state folder.
fn folder(files: &Files, dice: &mut Dice) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::at(dir.path());
    layout.make().unwrap();
    for (number, file) in &files.segments {
        if let Some(bytes) = file.after_the_cut(dice) {
            std::fs::write(layout.segment(*number), bytes).unwrap();
        }
    }
    for (digest, file) in &files.blobs {
        if let Some(bytes) = file.after_the_cut(dice) {
            let (folder, path) = layout.blob(digest);
            let _ = std::fs::create_dir(folder);
            std::fs::write(path, bytes).unwrap();
        }
    }
    dir
}

#[test]
fn nothing_that_was_reported_is_lost_whatever_sectors_a_power_cut_takes() {
    use nix::errno::Errno;
    let codes = [Errno::EIO, Errno::ENOSPC, Errno::EMFILE, Errno::EROFS];
    let mut whole = 0;
    for seed in 0..200_u64 {
        let mut dice = Dice(seed);
        let events = events(&mut dice);
        let files = Arc::new(Mutex::new(Files::default()));
        let disk = Disconnected {
            files: files.clone(),
            calls: 0,
            fails_at: dice.below(60),
            code: codes[seed as usize % codes.len()] as i32,
            dice: Dice(seed ^ 0xff),
        };
        let (reported, all) = write(&events, disk, 1 + dice.below(5));
        whole += usize::from(all);
        let dir = folder(&files.lock().unwrap(), &mut dice);
        let opened = open(dir.path()).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        drop(opened);
        let log = Log::open(dir.path()).unwrap();
        let report = log.verify().unwrap();
        assert!(report.damage.is_none(), "seed {seed}: {report:?}");
        for (seq, n) in &reported {
            let (event, blobs) = &events[*n];
            let records = log.records(event.id().unwrap()).unwrap().records;
            let record = records.iter().find(|record| record.seq == *seq);
            let record = record.unwrap_or_else(|| panic!("seed {seed}: seq {seq} is lost"));
            assert_eq!(record.event.kind(), event.kind(), "seed {seed}");
            for blob in blobs {
                assert_eq!(log.blob(&blob.sha256).unwrap(), *blob.bytes, "seed {seed}");
            }
        }
    }
    assert!(
        (10..190).contains(&whole),
        "{whole} of 200 ended before the cut"
    );
}
