//! Whether the contents that records name are there, and are what their names say.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

use super::error::Damage;
use super::layout::{Layout, open_regular};
use super::put_back;
use super::scan::Line;
use crate::model::{Digest, LogEvent};

/// Largest blob that is read; a crafted one could be a sparse file without end.
const BLOB_MAX: u64 = 1024 * 1024 * 1024;

/// How closely contents are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Each has a file, or stands in the journal.
    There,
    /// Each is read and held against its name.
    Read,
}

/// The contents of a log, as its records name them.
pub(super) struct Contents<'a> {
    layout: &'a Layout,
    look: Look,
    seen: HashSet<Digest>,
    on_the_way: OnTheWay,
    /// How many were found to be right.
    pub good: u64,
}

impl<'a> Contents<'a> {
    pub fn of(layout: &'a Layout, look: Look) -> Self {
        Self {
            layout,
            look,
            seen: HashSet::new(),
            on_the_way: OnTheWay::default(),
            good: 0,
        }
    }

    /// Looks at what a record names and no record before it did; what is wrong comes back.
    pub fn named(&mut self, line: &Line<'_>, event: &LogEvent) -> Vec<Damage> {
        let mut bad = Vec::new();
        for (digest, required) in named_by(event) {
            if !self.seen.insert(digest) {
                continue;
            }
            match self.check(&digest, required) {
                Ok(true) => self.good += 1,
                Ok(false) => {
                    // Another record may yet require it.
                    self.seen.remove(&digest);
                }
                Err(what) => {
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
    fn check(&mut self, digest: &Digest, required: bool) -> Result<bool, String> {
        match check(self.layout, digest, self.look) {
            Ok(false) => {}
            told => return told,
        }
        if self.on_the_way.has(self.layout, digest, required) {
            return Ok(true);
        }
        // It may have got its file since.
        match check(self.layout, digest, self.look) {
            Ok(false) if required => Err("it is missing".to_owned()),
            told => told,
        }
    }
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
fn check(layout: &Layout, digest: &Digest, look: Look) -> Result<bool, String> {
    let (_, path) = layout.blob(digest);
    let unreadable = |e: io::Error| match e.kind() {
        io::ErrorKind::NotFound => Ok(false),
        _ => Err(format!("it cannot be read: {e}")),
    };
    if look == Look::There {
        return match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_file() => Ok(true),
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
    if hash.finalize().as_slice() == digest.as_bytes() {
        Ok(true)
    } else {
        Err("its content is not what its name says".to_owned())
    }
}
