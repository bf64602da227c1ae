//! Checks that the blobs named by records exist and match their digests.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

use super::error::Damage;
use super::layout::{Layout, open_regular};
use super::put_back;
use super::scan::Line;
use crate::model::{Digest, LogEvent, ProposalId};

/// Largest blob that is read: a crafted one could be an endless sparse file.
const BLOB_MAX: u64 = 1024 * 1024 * 1024;

/// How thoroughly blobs are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Each has a file of the recorded length, or is in the journal.
    There,
    /// Each is read and compared with its digest.
    Read,
    /// Only the blobs of one proposal are read.
    ReadOf(ProposalId),
}

impl Look {
    /// How thoroughly the blobs of one record are checked.
    pub fn at(self, event: &LogEvent) -> Self {
        match self {
            Self::ReadOf(id) if event.id() == Some(id) => Self::Read,
            Self::ReadOf(_) => Self::There,
            look => look,
        }
    }
}

/// The blobs of a log, as its records name them.
pub(super) struct Contents {
    layout: Layout,
    look: Look,
    /// Blobs checked so far, see [`Self::key`].
    seen: HashSet<u64>,
    /// Lengths that later records said of them, see [`Self::has_length`].
    lengths: HashSet<u64>,
    /// Reported already.
    faulty: HashSet<Digest>,
    keys: RandomState,
    /// Missing, unless a later record says that they were erased.
    missing: HashMap<Digest, Damage>,
    /// Recorded as erased, and not named since.
    erased: HashSet<Digest>,
    on_the_way: OnTheWay,
    /// How many blobs passed.
    pub good: u64,
}

impl Contents {
    pub fn of(layout: &Layout, look: Look) -> Self {
        Self {
            layout: layout.clone(),
            look,
            seen: HashSet::new(),
            lengths: HashSet::new(),
            faulty: HashSet::new(),
            keys: RandomState::new(),
            missing: HashMap::new(),
            erased: HashSet::new(),
            on_the_way: OnTheWay::default(),
            good: 0,
        }
    }

    /// A long log names many blobs. Nobody who does not know the keys of this reader can make two blobs alike in eight bytes,
    /// and by chance no two are.
    /// `done`: a later record need not check it again.
    fn key(&self, digest: &Digest, done: bool) -> u64 {
        self.keys.hash_one((digest, done))
    }

    /// Forgets what the journal had.
    pub fn looks_again(&mut self) {
        self.on_the_way = OnTheWay::default();
    }

    /// What is missing without a record that it was erased, in the log's order.
    pub fn missing(&self) -> Vec<Damage> {
        let mut missing: Vec<_> = self.missing.values().cloned().collect();
        missing.sort_by_key(|damage| damage.seq);
        missing
    }

    /// What is recorded as erased and not named since.
    pub fn erased(&self) -> &HashSet<Digest> {
        &self.erased
    }

    /// Checks the blobs that this record is the first to name, and returns those that are not what the record says.
    /// What is missing waits for a record that it was erased: see [`Self::missing`].
    pub fn named(&mut self, line: &Line<'_>, event: &LogEvent) -> Vec<Damage> {
        let mut bad = Vec::new();
        if let LogEvent::Erased { contents, .. } = event {
            for content in contents {
                for done in [true, false] {
                    let key = self.key(&content.sha256, done);
                    self.seen.remove(&key);
                }
                self.missing.remove(&content.sha256);
                self.faulty.remove(&content.sha256);
                self.erased.insert(content.sha256);
            }
        }
        let look = self.look.at(event);
        for named in named_by(event) {
            let digest = named.digest;
            let whole = look == Look::Read;
            if named.required {
                self.erased.remove(&digest);
            }
            let has = |done| self.seen.contains(&self.key(&digest, done));
            let is_known = has(true) || (!whole && has(false));
            let checked = match is_known {
                true => self.has_length(&named).map(|()| false).map_err(Bad::from),
                false => self.check(line, &named, look),
            };
            match checked {
                Ok(true) => {
                    self.good += 1;
                    self.seen.insert(self.key(&digest, whole));
                }
                // A later record may require it.
                Ok(false) => {}
                Err(Bad { what, missing }) => {
                    self.seen.insert(self.key(&digest, true));
                    self.faulty.insert(digest);
                    let hex = digest.hex();
                    let damage = Damage {
                        file: format!("blobs/{}/{hex}", &hex[..2]),
                        line: None,
                        seq: Some(line.seq),
                        what: format!(
                            "{what} (named by {} line {}, {})",
                            line.file,
                            line.number,
                            event.kind()
                        ),
                    };
                    match missing {
                        true => drop(self.missing.insert(digest, damage)),
                        false => bad.push(damage),
                    }
                }
            }
        }
        bad
    }

    /// Whether a blob that was checked for another record has the length that this one says. One fault of each is enough.
    fn has_length(&mut self, named: &NamedBlob) -> Result<(), String> {
        let Some(bytes) = named.bytes else {
            return Ok(());
        };
        let key = self.keys.hash_one((named.digest, bytes));
        if self.faulty.contains(&named.digest) || self.lengths.contains(&key) {
            return Ok(());
        }
        if check(&self.layout, named, Look::There)? {
            self.lengths.insert(key);
        }
        Ok(())
    }

    /// `Ok(true)` if the blob is sound, `Ok(false)` if it is absent and may be.
    fn check(&mut self, line: &Line<'_>, named: &NamedBlob, look: Look) -> Result<bool, Bad> {
        let ahead = line.ahead.looked.and_then(|all| all.get(&named.digest));
        let first = ahead.cloned();
        match first.unwrap_or_else(|| check(&self.layout, named, look)) {
            Ok(false) => {}
            result => return result.map_err(Bad::from),
        }
        if self
            .on_the_way
            .has(&self.layout, &named.digest, named.required)
        {
            return Ok(true);
        }
        // The file may have been written in the meantime.
        match check(&self.layout, named, look) {
            Ok(false) if named.required => Err(Bad {
                what: "it is missing".to_owned(),
                missing: true,
            }),
            result => result.map_err(Bad::from),
        }
    }
}

/// What is wrong with a blob.
struct Bad {
    what: String,
    missing: bool,
}

impl From<String> for Bad {
    fn from(what: String) -> Self {
        Self {
            what,
            missing: false,
        }
    }
}

/// A blob as a record names it.
pub(super) struct NamedBlob {
    pub digest: Digest,
    /// Length, if the record states it.
    bytes: Option<u64>,
    /// Its absence is a fault.
    pub required: bool,
}

/// The blobs an event names.
pub(super) fn named_by(event: &LogEvent) -> Vec<NamedBlob> {
    let blob = |digest, bytes, required| NamedBlob {
        digest,
        bytes,
        required,
    };
    match event {
        LogEvent::Proposed(p) => {
            let brought = p.inputs.iter().filter(|i| i.is_kept());
            std::iter::once(blob(p.code(), Some(p.verdict.source.bytes), true))
                .chain(brought.map(|i| blob(i.sha256, Some(i.bytes), true)))
                .collect()
        }
        LogEvent::Edited(e) => vec![blob(e.code(), Some(e.verdict.source.bytes), true)],
        LogEvent::Finished(f) => {
            // An unkept output may still exist because another record names the same bytes.
            let required = f.unkept.is_none();
            // Output is counted as raw bytes but kept as text, so its recorded length does not apply.
            let outputs = [f.stdout_sha256, f.stderr_sha256].into_iter();
            let artifacts = f.artifacts.iter();
            let artifacts = artifacts.filter_map(|a| Some((a.sha256.parse().ok()?, Some(a.bytes))));
            outputs
                .chain(f.result_sha256)
                .map(|digest| (digest, None))
                .chain(artifacts)
                .map(|(digest, bytes)| blob(digest, bytes, required))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// How often the journal is read again for blobs that are not found in it.
const LOOKS: u32 = 64;

/// Blobs that are only in the journal. Read on first use.
#[derive(Default)]
struct OnTheWay {
    known: HashSet<Digest>,
    looks: u32,
}

impl OnTheWay {
    fn has(&mut self, layout: &Layout, digest: &Digest, required: bool) -> bool {
        // The last reading of the journal may be older than the record.
        let again = required && self.looks < LOOKS;
        if !self.known.contains(digest) && (self.looks == 0 || again) {
            self.known = put_back::on_the_way(layout).into_keys().collect();
            let found = self.known.contains(digest);
            self.looks = if found { 1 } else { self.looks + 1 };
        }
        self.known.contains(digest)
    }
}

/// Whether a blob has a file. An error says what is wrong with that file.
pub(super) fn check(layout: &Layout, named: &NamedBlob, look: Look) -> Result<bool, String> {
    let (_, path) = layout.blob(&named.digest);
    let unreadable = |e: io::Error| match e.kind() {
        io::ErrorKind::NotFound => Ok(false),
        _ => Err(format!("it cannot be read: {e}")),
    };
    let has = |there: u64| match named.bytes {
        Some(bytes) if bytes != there => Err(format!(
            "it is {there} bytes long, and the record says {bytes}"
        )),
        _ => Ok(true),
    };
    if look == Look::There {
        return match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_file() => has(meta.len()),
            Ok(_) => Err("it is not a regular file".to_owned()),
            Err(e) => unreadable(e),
        };
    }
    let file = match open_regular(&path) {
        Ok(file) => file,
        Err(e) => return unreadable(e),
    };
    if file.metadata().is_ok_and(|m| m.len() > BLOB_MAX) {
        return Err("it is larger than any blob".to_owned());
    }
    let mut hash = Sha256::new();
    let mut chunk = vec![0; 64 * 1024];
    let mut file = file.take(BLOB_MAX);
    let mut there = 0;
    loop {
        match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => {
                hash.update(&chunk[..n]);
                there += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(format!("it cannot be read: {e}")),
        }
    }
    match hash.finalize().as_slice() == named.digest.as_bytes() {
        true => has(there),
        false => Err("its content is not what its name says".to_owned()),
    }
}
