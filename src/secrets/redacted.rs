//! Records without secrets: the only ones that the log writes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::record::texts;
use super::{Counts, Secrets};
use crate::model::{Blob, Digest, FinishedLog, LogEvent, ProposalId};

/// How many replaced contents can still be found by the digest of what they were.
const KEPT_MAX: usize = 10_000;

/// A record and its blobs, without what [`Secrets`] found in them. Only [`Redactor::redact`] makes one.
#[derive(Clone, Debug)]
pub struct Redacted {
    event: LogEvent,
    blobs: Vec<Blob>,
    counts: Counts,
}

impl Redacted {
    pub const fn event(&self) -> &LogEvent {
        &self.event
    }

    pub fn blobs(&self) -> &[Blob] {
        &self.blobs
    }

    /// What was replaced.
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }
}

/// Replaces secrets in records before they are hashed.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    secrets: Secrets,
    /// Of proposals that have not ended: what each replaced content became. A record that has no blobs names the
    /// same contents.
    open: HashMap<ProposalId, HashMap<Digest, Content>>,
    kept: Kept,
}

/// A content as the log keeps it.
#[derive(Clone, Debug)]
struct Content {
    sha256: Digest,
    bytes: u64,
    counts: Counts,
}

/// The digests of contents that the log keeps with replaced secrets, by the digests of what they were. In memory only.
#[derive(Clone, Debug, Default)]
pub struct Kept(Arc<Mutex<HashMap<Digest, Digest>>>);

impl Kept {
    /// The digest under which the log has this content.
    pub fn of(&self, content: &Digest) -> Digest {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(content).copied().unwrap_or(*content)
    }

    fn add(&self, content: Digest, kept_as: Digest) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(content, kept_as);
    }
}

impl Redactor {
    pub fn new(secrets: Secrets) -> Self {
        Self {
            secrets,
            ..Self::default()
        }
    }

    /// Shared with this one for as long as either lives.
    pub fn kept(&self) -> Kept {
        self.kept.clone()
    }

    pub fn redact(&mut self, mut event: LogEvent, blobs: Vec<Blob>) -> Redacted {
        let mut counts = Counts::new();
        texts(&mut event, &mut |text| {
            if let std::borrow::Cow::Owned(kept) = self.secrets.redact(text, &mut counts) {
                *text = kept;
            }
        });
        let blobs = match &mut event {
            LogEvent::Finished(finished) => self.finished(finished, blobs, &mut counts),
            _ => blobs,
        };
        if let Some(id) = event.id()
            && event.state().is_some_and(crate::model::State::is_final)
            && !matches!(&event, LogEvent::Finished(f) if f.unkept.is_none())
        {
            self.open.remove(&id);
        }
        Redacted {
            event,
            blobs,
            counts,
        }
    }

    /// Replaces secrets in what a run left. If these contents cannot be stored, the run is recorded again without them:
    /// the digests are then those of the same replaced contents.
    fn finished(
        &mut self,
        finished: &mut FinishedLog,
        blobs: Vec<Blob>,
        counts: &mut Counts,
    ) -> Vec<Blob> {
        let of_run = self.open.entry(finished.id).or_default();
        let mut kept_blobs = Vec::with_capacity(blobs.len());
        for blob in blobs {
            let mut found = Counts::new();
            // Other bytes than text cannot be searched.
            let text = std::str::from_utf8(&blob.bytes).unwrap_or_default();
            let kept = match self.secrets.redact(text, &mut found) {
                std::borrow::Cow::Borrowed(_) => blob,
                std::borrow::Cow::Owned(text) => {
                    let kept = Blob::of(text.as_bytes());
                    self.kept.add(blob.sha256, kept.sha256);
                    let content = Content {
                        sha256: kept.sha256,
                        bytes: kept.bytes.len() as u64,
                        counts: found,
                    };
                    of_run.insert(blob.sha256, content);
                    kept
                }
            };
            kept_blobs.push(kept);
        }
        for content in of_run.values() {
            for (kind, number) in &content.counts {
                *counts.entry(kind.clone()).or_default() += number;
            }
        }
        let replace = |digest: &mut Digest| {
            if let Some(content) = of_run.get(digest) {
                *digest = content.sha256;
            }
        };
        replace(&mut finished.stdout_sha256);
        replace(&mut finished.stderr_sha256);
        finished.result_sha256.iter_mut().for_each(replace);
        for artifact in &mut finished.artifacts {
            let content = artifact
                .sha256
                .parse()
                .ok()
                .and_then(|d: Digest| of_run.get(&d));
            if let Some(content) = content {
                artifact.sha256 = content.sha256.hex();
                artifact.bytes = content.bytes;
            }
        }
        if of_run.is_empty() {
            self.open.remove(&finished.id);
        }
        kept_blobs
    }
}
