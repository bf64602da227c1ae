//! Records without secrets: the only ones that the log writes.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::coding::Coding;
use super::python::Python;
use super::record::{Said, texts};
use super::repeats::{CUT, Repeats, TELLING};
use super::salt::{Salt, salted};
use super::{Counts, Moved, SPAN, Secrets, Span};
use crate::model::{
    Blob, BoundInput, Digest, FinishedLog, GrantDigest, LogEvent, Nonce, ProposalId, SourceStats,
    State, StreamName, Verdict,
};

/// How many replaced contents can still be found by the digest of what they were: about 15 MB.
const KEPT_MAX: usize = 100_000;

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

/// Makes and keeps the salt of a proposal.
pub type Salts = Arc<dyn Fn(ProposalId) -> Option<Salt> + Send + Sync>;

/// Replaces secrets in records before they are hashed.
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Secrets,
    salts: Option<Salts>,
    /// Of proposals that have not ended: what each replaced content became. Later records name the same contents.
    open: HashMap<ProposalId, Open>,
    kept: Kept,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

/// The contents of one proposal in which something was replaced, by the digests of what they were.
#[derive(Clone, Debug, Default)]
struct Open {
    salt: Option<Salt>,
    contents: HashMap<Digest, Content>,
    /// What was replaced in its records: its other texts may repeat it.
    repeats: Repeats,
}

/// A content as the log keeps it.
#[derive(Clone, Debug)]
struct Content {
    blob: Blob,
    /// How long it was.
    bytes: u64,
    /// Of what it was; code alone has one.
    salted: Option<Digest>,
    counts: Counts,
    moved: Moved,
}

/// The digests of contents that the log keeps with replaced secrets, by the digests of what they were. In memory only.
#[derive(Clone, Debug, Default)]
pub struct Kept(Arc<Mutex<Known>>);

/// A content of a proposal. What another one says is no secret of it, even where the bytes are the same.
type OfOne = (ProposalId, Digest);

#[derive(Debug, Default)]
struct Known {
    kept_as: HashMap<OfOne, Digest>,
    /// The latest proposal that had each content.
    latest: HashMap<Digest, ProposalId>,
    /// The oldest first.
    order: VecDeque<OfOne>,
}

impl Kept {
    /// The digest under which the log has this content, whosever it is.
    pub fn of(&self, content: &Digest) -> Digest {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let latest = known.latest.get(content);
        let kept_as = latest.and_then(|id| known.kept_as.get(&(*id, *content)));
        kept_as.copied().unwrap_or(*content)
    }

    /// The digest under which the log has this content of a proposal.
    pub fn of_proposal(&self, id: ProposalId, content: &Digest) -> Digest {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept_as = known.kept_as.get(&(id, *content));
        kept_as.copied().unwrap_or(*content)
    }

    fn add(&self, id: ProposalId, content: Digest, kept_as: Digest) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.kept_as.insert((id, content), kept_as).is_none() {
            known.order.push_back((id, content));
        }
        known.latest.insert(content, id);
        while known.order.len() > KEPT_MAX
            && let Some(oldest) = known.order.pop_front()
        {
            known.kept_as.remove(&oldest);
            let (id, content) = oldest;
            if known.latest.get(&content) == Some(&id) {
                known.latest.remove(&content);
            }
        }
    }
}

impl Redactor {
    pub fn new(secrets: Secrets) -> Self {
        Self {
            secrets,
            ..Self::default()
        }
    }

    /// Looks for these secrets from now on, and for no others.
    pub fn looks_for(&mut self, secrets: Secrets) {
        self.secrets = secrets;
    }

    /// Salts come from here from now on. Without it, or where it has none, they are forgotten with their proposals, and
    /// nobody can show what the code was.
    pub fn salts(&mut self, salts: Salts) {
        self.salts = Some(salts);
    }

    /// Shared with this one for as long as either lives.
    pub fn kept(&self) -> Kept {
        self.kept.clone()
    }

    /// The record of this proposal is not in the log, and no other will be.
    pub fn forget(&mut self, id: ProposalId) {
        self.open.remove(&id);
    }

    pub fn redact(&mut self, mut event: LogEvent, blobs: Vec<Blob>) -> Redacted {
        let mut counts = Counts::new();
        let id = event.id();
        let mut open = id.and_then(|id| self.open.remove(&id)).unwrap_or_default();
        texts(&mut event, &mut |text, _| {
            let found = self.secrets.find(text);
            open.repeats.add(text, &found);
            if let Cow::Owned(kept) = Secrets::replaced(text, &found, &mut counts) {
                *text = kept;
            }
        });
        let Some(id) = id else {
            return Redacted {
                event,
                blobs,
                counts,
            };
        };
        let code = match &event {
            LogEvent::Proposed(p) => Some(p.digest),
            LogEvent::Edited(e) => Some(e.digest),
            _ => None,
        };
        // Each text may repeat what only another one says is a secret.
        let mut read = Vec::with_capacity(blobs.len());
        for blob in &blobs {
            let one = Coding::read(&blob.bytes);
            let found = one.map(|(_, text)| {
                let found = match code == Some(blob.sha256) {
                    true => self.secrets.find_in_code(&text),
                    false => self.secrets.find(&text),
                };
                open.repeats.add(&text, &found);
                found
            });
            read.push(found);
        }
        let cut = cut(&event);
        let mut kept_blobs = Vec::with_capacity(blobs.len());
        let mut binary = HashSet::new();
        for (blob, found) in blobs.into_iter().zip(read) {
            let what = What {
                is_code: code == Some(blob.sha256),
                is_cut: cut.contains(&blob.sha256),
            };
            let kept = match (Coding::read(&blob.bytes), found) {
                (Some((coding, text)), Some(found)) => {
                    self.content(id, &mut open, &blob, coding, &text, found, what)
                }
                _ => {
                    binary.insert(blob.sha256.hex());
                    None
                }
            };
            kept_blobs.push(kept.unwrap_or(blob));
        }
        if let LogEvent::Finished(f) = &mut event {
            let files = f
                .artifacts
                .iter()
                .filter(|file| binary.contains(&file.sha256));
            f.unsearched = files.map(|file| file.name.clone()).collect();
        }
        if !open.repeats.is_empty() {
            // Names of files are made plain before they come here.
            let said = match &event {
                LogEvent::Finished(_) => open.repeats.with_plain(),
                _ => open.repeats.clone(),
            };
            texts(&mut event, &mut |text, by| {
                let mut found = super::joined(said.begun(text));
                // An agent could give a password the name of what it calls, and so hide it.
                found.retain(|span| by == Said::Other || !is_name(&text[span.at.clone()]));
                if let Cow::Owned(kept) = Secrets::replaced(text, &found, &mut counts) {
                    *text = kept;
                }
            });
        }
        let named = open.name(&mut event);
        let contents = named.iter().filter_map(|digest| open.contents.get(digest));
        for (kind, number) in contents.flat_map(|content| &content.counts) {
            *counts.entry(kind.clone()).or_default() += number;
        }
        // Output that cannot be stored is recorded once more, without it.
        let again = matches!(&event, LogEvent::Finished(f) if f.unkept.is_none());
        let ended = event.state().is_some_and(State::is_final) && !again
            || matches!(event, LogEvent::Erased { .. });
        if !ended && !open.is_empty() {
            self.open.insert(id, open);
        }
        Redacted {
            event,
            blobs: kept_blobs,
            counts,
        }
    }

    /// The content as the log keeps it, if something was replaced in it.
    #[expect(clippy::too_many_arguments, reason = "one caller")]
    fn content(
        &self,
        id: ProposalId,
        open: &mut Open,
        blob: &Blob,
        coding: Coding,
        text: &str,
        found: Vec<Span>,
        What { is_code, is_cut }: What,
    ) -> Option<Blob> {
        let again = open.repeats.whole(text);
        let again = match Python::of(text).filter(|_| is_code) {
            Some(code) => code.again(again),
            None => again,
        };
        let mut found = [found, again].concat();
        if is_cut {
            let last = last_word(text);
            open.repeats.add(text, last.as_slice());
            found.extend(last);
        }
        let found = super::joined(found);
        if found.is_empty() {
            return None;
        }
        let mut counts = Counts::new();
        let kept = Secrets::replaced(text, &found, &mut counts);
        let kept = coding.write(&kept);
        let kept = Blob::of(&kept);
        self.kept.add(id, blob.sha256, kept.sha256);
        if open.salt.is_none() && is_code {
            let stored = self.salts.as_ref().and_then(|salts| salts(id));
            open.salt = stored.or_else(Salt::new);
        }
        let salt = open.salt.as_ref().filter(|_| is_code);
        let content = Content {
            blob: kept.clone(),
            bytes: blob.bytes.len() as u64,
            salted: salt.map(|salt| salted(salt, &blob.bytes)),
            counts,
            moved: Moved::of(text, &found),
        };
        open.contents.insert(blob.sha256, content);
        Some(kept)
    }
}

/// Whether a text may be the name of something that code calls: what a finding says.
fn is_name(text: &str) -> bool {
    let part = |part: &str| {
        part.chars().all(|c| c.is_alphanumeric() || c == '_')
            && !part.starts_with(|c: char| c.is_ascii_digit())
    };
    let words = |text: &str| text.chars().any(|c| c.is_ascii_digit());
    text.split('.').all(part) && (text.contains('.') || !words(text))
}

/// What is known of a content beside its bytes.
#[derive(Clone, Copy, Debug)]
struct What {
    is_code: bool,
    /// It goes on after its last byte, and nobody kept that.
    is_cut: bool,
}

/// Output of a run that printed more than is kept.
fn cut(event: &LogEvent) -> Vec<Digest> {
    let LogEvent::Finished(f) = event else {
        return Vec::new();
    };
    let streams = [
        (f.stdout_truncated, f.stdout_sha256),
        (f.stderr_truncated, f.stderr_sha256),
    ];
    let cut = streams.into_iter().filter(|(is_cut, _)| *is_cut);
    cut.map(|(_, digest)| digest).collect()
}

/// Where a text is cut, nobody can say what its last word was the beginning of.
fn last_word(text: &str) -> Option<Span> {
    let begin = text
        .char_indices()
        .rev()
        .take(SPAN)
        .take_while(|(_, c)| !c.is_whitespace())
        .last();
    let at = begin.map_or(text.len(), |(at, _)| at)..text.len();
    (at.len() >= TELLING).then(|| Span {
        at,
        kind: CUT.into(),
    })
}

impl Open {
    fn is_empty(&self) -> bool {
        self.salt.is_none() && self.contents.is_empty() && self.repeats.is_empty()
    }

    /// Puts digests of what the log has into a record, and returns the digests of what it had. A digest of what was
    /// replaced would tell a short secret to whoever tries all of them.
    fn name(&self, event: &mut LogEvent) -> BTreeSet<Digest> {
        match event {
            LogEvent::Proposed(p) => {
                let mut named = BTreeSet::from([p.digest]);
                p.kept = self.code(&mut p.digest, Some(&mut p.verdict));
                named.extend(self.inputs(&mut p.inputs));
                named
            }
            LogEvent::Edited(e) => {
                let named = BTreeSet::from([e.digest]);
                self.code(&mut e.from, None);
                e.kept = self.code(&mut e.digest, Some(&mut e.verdict));
                named
            }
            LogEvent::Granted(g) => {
                let code = self.code(&mut g.digest, None).is_some();
                let inputs = self.inputs(&mut g.inputs);
                if code || !inputs.is_empty() {
                    let GrantDigest(grant) = g.grant_digest;
                    let salt = self.salt.clone().or_else(Salt::new);
                    let bound = [b"grant ", grant.as_bytes().as_slice()].concat();
                    g.grant_digest = GrantDigest(salt.map_or(grant, |salt| salted(&salt, &bound)));
                }
                BTreeSet::new()
            }
            LogEvent::Voted(v) => {
                // Without the nonce nobody can try codes against the signature.
                if self.code(&mut v.code, None).is_some() {
                    let salt = self.salt.clone().or_else(Salt::new);
                    let hidden = |label: &[u8], digest: Digest| {
                        let bound = [label, digest.as_bytes().as_slice()].concat();
                        salt.as_ref()
                            .map_or(Digest::of(b""), |salt| salted(salt, &bound))
                    };
                    v.grant = GrantDigest(hidden(b"grant ", v.grant.0));
                    v.nonce = Nonce(hidden(b"nonce ", v.nonce.0));
                }
                BTreeSet::new()
            }
            LogEvent::Finished(f) => self.left(f),
            _ => BTreeSet::new(),
        }
    }

    /// Replaces the digest of code by a salted one, and returns the blob that the log has.
    fn code(&self, digest: &mut Digest, verdict: Option<&mut Verdict>) -> Option<Digest> {
        let Content { blob, salted, .. } = self.contents.get(digest)?;
        // Without randomness, it tells nothing of the secret either.
        *digest = salted.unwrap_or(blob.sha256);
        if let Some(verdict) = verdict {
            verdict.source = SourceStats::of(&blob.bytes);
        }
        Some(blob.sha256)
    }

    fn inputs(&self, inputs: &mut [BoundInput]) -> BTreeSet<Digest> {
        let mut named = BTreeSet::new();
        for input in inputs {
            if let Some(Content { blob, .. }) = self.contents.get(&input.sha256)
                && input.is_kept()
            {
                named.insert(input.sha256);
                input.sha256 = blob.sha256;
                input.bytes = blob.bytes.len() as u64;
            }
        }
        named
    }

    fn left(&self, finished: &mut FinishedLog) -> BTreeSet<Digest> {
        let mut named = BTreeSet::new();
        let streams = [
            (StreamName::Stdout, finished.stdout_sha256),
            (StreamName::Stderr, finished.stderr_sha256),
        ];
        for (stream, digest) in streams {
            if let Some(content) = self.contents.get(&digest) {
                finished.pace.moves(stream, |at| content.moved.now(at));
            }
        }
        // How much was printed would tell how long a secret is.
        let printed = |bytes: &mut u64, digest: &Digest| {
            if let Some(content) = self.contents.get(digest) {
                *bytes = bytes.saturating_sub(content.bytes) + content.blob.bytes.len() as u64;
            }
        };
        printed(&mut finished.stdout_bytes, &finished.stdout_sha256);
        printed(&mut finished.stderr_bytes, &finished.stderr_sha256);
        let mut replace = |digest: &mut Digest| {
            let blob = &self.contents.get(digest)?.blob;
            named.insert(std::mem::replace(digest, blob.sha256));
            Some(blob.bytes.len() as u64)
        };
        replace(&mut finished.stdout_sha256);
        replace(&mut finished.stderr_sha256);
        finished.result_sha256.as_mut().and_then(&mut replace);
        for artifact in &mut finished.artifacts {
            if let Ok(mut digest) = artifact.sha256.parse()
                && let Some(bytes) = replace(&mut digest)
            {
                artifact.sha256 = digest.hex();
                artifact.bytes = bytes;
            }
        }
        named
    }
}

#[cfg(test)]
#[test]
fn the_newest_of_many_replaced_contents_are_found_and_their_number_is_bounded() {
    let (kept, id) = (Kept::default(), ProposalId::new());
    let number = |n: usize| Digest::of(&n.to_le_bytes());
    for n in 0..KEPT_MAX + 10 {
        kept.add(id, number(n), number(n + KEPT_MAX * 2));
    }
    assert_eq!(kept.of(&number(9)), number(9));
    for n in [10, KEPT_MAX, KEPT_MAX + 9] {
        assert_eq!(kept.of(&number(n)), number(n + KEPT_MAX * 2));
        let other = ProposalId::new();
        assert_eq!(kept.of_proposal(id, &number(n)), kept.of(&number(n)));
        assert_eq!(kept.of_proposal(other, &number(n)), number(n));
    }
    let known = kept.0.lock().unwrap();
    let sizes = [known.order.len(), known.kept_as.len(), known.latest.len()];
    assert_eq!(sizes, [KEPT_MAX; 3]);
}
