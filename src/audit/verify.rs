//! Checks a log: chain, sequence, and that every blob a record names is there and right.

use std::collections::HashSet;
use std::io::{self, Read};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::error::{AuditError, Damage};
use super::layout::{Layout, open_regular};
use super::line::Record;
use super::log::damage;
use super::put_back;
use super::scan::scan;
use crate::model::{Digest, LogEvent};

/// Blobs named one by one in a report; the others are counted.
const NAMED: usize = 20;

/// Largest blob that is read; a crafted one could be a sparse file without end.
const BLOB_MAX: u64 = 1024 * 1024 * 1024;

/// What a check found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Whether everything that was checked is right.
    pub consistent: bool,
    /// Sound records that are there.
    pub records: u64,
    pub segments: u64,
    /// Records up to this sequence number were removed under retention, as a later record says that
    /// names the end of their chain.
    pub removed_through: Option<u64>,
    /// Hash of the last sound line, 64 hex digits.
    pub head: String,
    /// Blobs that were read and are what their names say.
    pub blobs: u64,
    /// Records of kinds that this version does not know; the chain covers them all the same.
    pub unknown: u64,
    /// The first thing wrong in the chain; nothing after it was looked at.
    pub damage: Option<Damage>,
    /// The first 20 blobs that are missing or changed, each with the first record that names it.
    pub bad_blobs: Vec<Damage>,
    /// How many blobs are missing or changed.
    pub bad_blob_count: u64,
}

impl Report {
    /// Up to where an anchor outside the folder vouches for the log. There is none yet: whoever can
    /// write the folder can cut its end off, or write all of it anew, unseen.
    pub fn anchored_through(&self) -> Option<u64> {
        None
    }
}

/// A record of a kind that is not known.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only that they are there matters")]
struct Envelope {
    boot_id: String,
    mono_ns: u64,
    ts: Timestamp,
    kind: String,
    actor: String,
}

pub(super) fn verify(layout: &Layout) -> Result<Report, AuditError> {
    let mut seen: HashSet<Digest> = HashSet::new();
    let (mut good, mut bad_blob_count, mut unknown) = (0, 0, 0);
    let mut bad_blobs = Vec::new();
    let mut on_the_way = OnTheWay::default();
    let scanned = scan(layout, |line| {
        let record = match Record::parse(line.bytes) {
            Ok(record) => record,
            Err(e) => {
                serde_json::from_slice::<Envelope>(line.bytes)
                    .map_err(|_| format!("it is no record: {e}"))?;
                unknown += 1;
                return Ok(());
            }
        };
        for (digest, required) in named_by(&record.event) {
            if !seen.insert(digest) {
                continue;
            }
            match on_the_way.check(layout, &digest, required) {
                Ok(true) => good += 1,
                Ok(false) => {
                    // Another record may yet require it.
                    seen.remove(&digest);
                }
                Err(what) => {
                    bad_blob_count += 1;
                    if bad_blobs.len() < NAMED {
                        let hex = digest.hex();
                        bad_blobs.push(Damage {
                            file: format!("blobs/{}/{hex}", &hex[..2]),
                            line: None,
                            seq: Some(line.seq),
                            what: format!(
                                "{what} (named by {} line {}, {})",
                                line.file,
                                line.number,
                                record.event.kind()
                            ),
                        });
                    }
                }
            }
        }
        Ok(())
    })?;
    let head = scanned.head;
    let removed = scanned.removed;
    let damage = damage(layout, scanned)?;
    Ok(Report {
        consistent: damage.is_none() && bad_blob_count == 0,
        records: head.seq - removed.map_or(0, |removed| removed.seq),
        segments: head.segment - removed.map_or(0, |removed| removed.segment),
        removed_through: removed.map(|removed| removed.seq),
        head: head.hash.hex(),
        blobs: good,
        unknown,
        damage,
        bad_blobs,
        bad_blob_count,
    })
}

/// The blobs an event names, and whether each must be there.
pub(super) fn named_by(event: &LogEvent) -> Vec<(Digest, bool)> {
    match event {
        LogEvent::Proposed(p) => {
            let brought = p.inputs.iter().filter(|i| i.is_kept());
            std::iter::once((p.digest, true))
                .chain(brought.map(|i| (i.sha256, true)))
                .collect()
        }
        LogEvent::Finished(f) => {
            let artifacts = f.artifacts.iter().filter_map(|a| a.sha256.parse().ok());
            // The same content may be there for another record.
            let required = f.unkept.is_none();
            let outputs = [f.stdout_sha256, f.stderr_sha256];
            outputs
                .into_iter()
                .chain(f.result_sha256)
                .chain(artifacts)
                .map(|digest| (digest, required))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// How often the journal is read for a content that is in vain looked for.
const LOOKS: u32 = 64;

/// Contents that have no files yet, once one was looked for there.
#[derive(Default)]
struct OnTheWay {
    known: HashSet<Digest>,
    looks: u32,
}

impl OnTheWay {
    /// Whether a blob is there and right; `Ok(false)` for one that may be absent and is.
    fn check(&mut self, layout: &Layout, digest: &Digest, required: bool) -> Result<bool, String> {
        match check(layout, digest) {
            Ok(false) => {}
            told => return told,
        }
        if self.has(layout, digest, required) {
            return Ok(true);
        }
        // It may have got its file since.
        match check(layout, digest) {
            Ok(false) if required => Err("it is missing".to_owned()),
            told => told,
        }
    }

    fn has(&mut self, layout: &Layout, digest: &Digest, required: bool) -> bool {
        // What was looked at before may be older than the record.
        let again = required && self.looks < LOOKS;
        if !self.known.contains(digest) && (self.looks == 0 || again) {
            self.known = put_back::on_the_way(layout).into_keys().collect();
            let found = self.known.contains(digest);
            self.looks = if found { 1 } else { self.looks + 1 };
        }
        self.known.contains(digest)
    }
}

/// Whether a blob has a file, and that is right.
fn check(layout: &Layout, digest: &Digest) -> Result<bool, String> {
    let (_, path) = layout.blob(digest);
    let file = match open_regular(&path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(format!("it cannot be read: {e}")),
    };
    if file.metadata().is_ok_and(|m| m.len() > BLOB_MAX) {
        return Err("it is larger than any blob".to_owned());
    }
    let mut hash = Sha256::new();
    let mut chunk = vec![0; 64 * 1024];
    let mut file = file.take(BLOB_MAX);
    loop {
        match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => hash.update(&chunk[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(format!("it cannot be read: {e}")),
        }
    }
    if hash.finalize().as_slice() == digest.as_bytes() {
        Ok(true)
    } else {
        Err("its content is not what its name says".to_owned())
    }
}
