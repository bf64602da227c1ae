//! Whether the contents that records name are there, and are what their names say.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

use super::error::Damage;
use super::layout::{Layout, open_regular};
use super::put_back;
use super::scan::Line;
use crate::model::{Digest, LogEvent, ProposalId};

/// Largest blob that is read; a crafted one could be a sparse file without end.
const BLOB_MAX: u64 = 1024 * 1024 * 1024;

/// How closely contents are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Each has a file, as long as the record says, or stands in the journal.
    There,
    /// Each is read and held against its name.
    Read,
    /// Those of one proposal are read.
    ReadOf(ProposalId),
}

impl Look {
    /// How closely the contents of a record are looked at.
    fn at(self, event: &LogEvent) -> Self {
        match self {
            Self::ReadOf(id) if event.id() == Some(id) => Self::Read,
            Self::ReadOf(_) => Self::There,
            look => look,
        }
    }
}

/// The contents of a log, as its records name them.
pub(super) struct Contents<'a> {
    layout: &'a Layout,
    look: Look,
    /// Which were looked at, and whether there is nothing more to say of them.
    seen: HashMap<Digest, bool>,
    on_the_way: OnTheWay,
    /// How many were found to be right.
    pub good: u64,
}

impl<'a> Contents<'a> {
    pub fn of(layout: &'a Layout, look: Look) -> Self {
        Self {
            layout,
            look,
            seen: HashMap::new(),
            on_the_way: OnTheWay::default(),
            good: 0,
        }
    }

    /// Looks at what a record names and no record before it did; what is wrong comes back.
    pub fn named(&mut self, line: &Line<'_>, event: &LogEvent) -> Vec<Damage> {
        let mut bad = Vec::new();
        let look = self.look.at(event);
        for named in named_by(event) {
            let digest = named.digest;
            let whole = look == Look::Read;
            match self.seen.insert(digest, whole) {
                Some(done) if done || !whole => {
                    self.seen.insert(digest, done);
                    continue;
                }
                _ => {}
            }
            match self.check(&named, look) {
                Ok(true) => self.good += 1,
                Ok(false) => {
                    // Another record may yet require it.
                    self.seen.remove(&digest);
                }
                Err(what) => {
                    self.seen.insert(digest, true);
                    let hex = digest.hex();
                    bad.push(Damage {
                        file: format!("blobs/{}/{hex}", &hex[..2]),
                        line: None,
                        seq: Some(line.seq),
                        what: format!(
                            "{what} (named by {} line {}, {})",
                            line.file,
                            line.number,
                            event.kind()
                        ),
                    });
                }
            }
        }
        bad
    }

    /// Whether a blob is there and right; `Ok(false)` for one that may be absent and is.
    fn check(&mut self, named: &NamedBlob, look: Look) -> Result<bool, String> {
        match check(self.layout, named, look) {
            Ok(false) => {}
            told => return told,
        }
        if self
            .on_the_way
            .has(self.layout, &named.digest, named.required)
        {
            return Ok(true);
        }
        // It may have got its file since.
        match check(self.layout, named, look) {
            Ok(false) if named.required => Err("it is missing".to_owned()),
            told => told,
        }
    }
}

/// A content as a record names it.
pub(super) struct NamedBlob {
    pub digest: Digest,
    /// How long it is, where the record says so.
    bytes: Option<u64>,
    /// Whether it must be there.
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
            std::iter::once(blob(p.digest, Some(p.verdict.source.bytes), true))
                .chain(brought.map(|i| blob(i.sha256, Some(i.bytes), true)))
                .collect()
        }
        LogEvent::Finished(f) => {
            // The same content may be there for another record.
            let required = f.unkept.is_none();
            // What was printed is counted as it came, and kept as text.
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

/// How often the journal is read for a content that is in vain looked for.
const LOOKS: u32 = 64;

/// Contents that have no files yet, once one was looked for there.
#[derive(Default)]
struct OnTheWay {
    known: HashSet<Digest>,
    looks: u32,
}

impl OnTheWay {
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

/// Whether a blob has a file, and that is right as far as it is looked at.
fn check(layout: &Layout, named: &NamedBlob, look: Look) -> Result<bool, String> {
    let (_, path) = layout.blob(&named.digest);
    let unreadable = |e: io::Error| match e.kind() {
        io::ErrorKind::NotFound => Ok(false),
        _ => Err(format!("it cannot be read: {e}")),
    };
    if look == Look::There {
        return match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_file() => match named.bytes {
                Some(bytes) if bytes != meta.len() => Err(format!(
                    "it is {} bytes long, and the record says {bytes}",
                    meta.len()
                )),
                _ => Ok(true),
            },
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
    loop {
        match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => hash.update(&chunk[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(format!("it cannot be read: {e}")),
        }
    }
    if hash.finalize().as_slice() == named.digest.as_bytes() {
        Ok(true)
    } else {
        Err("its content is not what its name says".to_owned())
    }
}
