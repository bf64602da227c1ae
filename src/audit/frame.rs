//! The journal's format: frames, each a batch that became durable with one sync.
//!
//! ```text
//! frame:  magic · nonce of the turn · segment · offset · length of the lines · number of blobs ·
//!         length of the body · lines · (digest · length · bytes)* · SHA-256 of all before it
//! ```
//!
//! A header of zeros, or the end of the file, follows the last frame. Bytes after it are left over from an
//! earlier turn and are never read: they can contain anything an agent proposed, even a forged frame.

use std::io;

use memchr::memmem;

use super::mark::Mark;
use crate::model::{Blob, Digest};

const MAGIC: [u8; 8] = *b"csjrnl1\n";
pub(super) const NONCE: usize = 8;
pub(super) const HEADER: usize = 8 + NONCE + 8 + 8 + 4 + 4 + 8;
const HASH: usize = 32;

/// A durable batch.
pub(super) struct Frame<'a> {
    nonce: [u8; NONCE],
    pub segment: u64,
    /// Where in the segment the lines go.
    pub offset: u64,
    pub lines: &'a [u8],
    pub blobs: Vec<(Digest, &'a [u8])>,
    /// Where in the journal the frame begins.
    pub at: usize,
}

/// The frames of one turn, read up to the first incomplete one.
pub(super) struct Turn<'a> {
    pub frames: Vec<Frame<'a>>,
    /// Where the first incomplete frame begins.
    pub broken: Option<usize>,
    /// The furthest end of a complete frame of the same turn after the broken one. If there is one, the
    /// broken frame was complete once: frames are synced in order.
    pub beyond: Option<Mark>,
}

impl Frame<'_> {
    /// Where the frame's lines begin in the log.
    pub fn mark(&self) -> Mark {
        Mark {
            segment: self.segment,
            offset: self.offset,
        }
    }

    /// Where the frame's lines end in the log.
    pub fn end(&self) -> Mark {
        Mark {
            segment: self.segment,
            offset: self.offset + self.lines.len() as u64,
        }
    }
}

/// How many possible frames are tried after a broken one: a crafted journal could have any number.
const TRIES: usize = 64;

/// Encodes a frame into `bytes`, replacing their content.
pub(super) fn write(
    bytes: &mut Vec<u8>,
    nonce: &[u8; NONCE],
    segment: u64,
    offset: u64,
    lines: &[u8],
    blobs: &[Blob],
) -> io::Result<()> {
    let too_long = |_| io::Error::other("a batch is too long for the journal");
    let body = lines.len() + blobs.iter().map(|b| 36 + b.bytes.len()).sum::<usize>();
    bytes.clear();
    bytes.reserve(HEADER + body + HASH + HEADER);
    bytes.extend(MAGIC);
    bytes.extend(nonce);
    bytes.extend(segment.to_le_bytes());
    bytes.extend(offset.to_le_bytes());
    bytes.extend(u32::try_from(lines.len()).map_err(too_long)?.to_le_bytes());
    bytes.extend(u32::try_from(blobs.len()).map_err(too_long)?.to_le_bytes());
    bytes.extend((body as u64).to_le_bytes());
    bytes.extend_from_slice(lines);
    for blob in blobs {
        let length = u32::try_from(blob.bytes.len()).map_err(too_long)?;
        bytes.extend(blob.sha256.as_bytes());
        bytes.extend(length.to_le_bytes());
        bytes.extend_from_slice(&blob.bytes);
    }
    let hash = Digest::of(bytes);
    bytes.extend(hash.as_bytes());
    Ok(())
}

/// Decodes one file of the journal.
pub(super) fn read(bytes: &[u8]) -> Turn<'_> {
    let mut frames: Vec<Frame<'_>> = Vec::new();
    let mut at = 0;
    let broken = loop {
        let rest = &bytes[at..];
        if rest.iter().take(HEADER).all(|b| *b == 0) {
            break None;
        }
        match whole(rest, at) {
            Some((frame, length)) if frames.first().is_none_or(|f| f.nonce == frame.nonce) => {
                frames.push(frame);
                at += length;
            }
            _ => break Some(at),
        }
    };
    let nonce = match frames.first() {
        Some(frame) => Some(frame.nonce),
        None => broken.and_then(|at| header_nonce(&bytes[at..])),
    };
    let beyond = broken.zip(nonce);
    Turn {
        beyond: beyond.and_then(|(at, nonce)| beyond_broken(bytes, at, nonce)),
        frames,
        broken,
    }
}

fn header_nonce(bytes: &[u8]) -> Option<[u8; NONCE]> {
    let mut rest = Bytes(bytes);
    (rest.array::<8>()? == MAGIC).then_some(())?;
    rest.array()
}

/// The furthest end of a complete frame of this turn after the broken one. The nonce excludes frames of
/// earlier turns and forged frames inside blobs.
fn beyond_broken(bytes: &[u8], broken: usize, nonce: [u8; NONCE]) -> Option<Mark> {
    let begins = [&MAGIC[..], &nonce].concat();
    let mut furthest = None;
    let mut at = broken + 1;
    for _ in 0..TRIES {
        let Some(found) = memmem::find(bytes.get(at..)?, &begins) else {
            break;
        };
        at += found;
        match whole(&bytes[at..], at) {
            Some((frame, length)) => {
                furthest = furthest.max(Some(frame.end()));
                at += length;
            }
            None => at += 1,
        }
    }
    furthest
}

/// Takes bytes from the front. Every length is checked: a state folder may come from elsewhere.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u32(&mut self) -> Option<usize> {
        usize::try_from(u32::from_le_bytes(self.array()?)).ok()
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.array()?))
    }
}

/// The frame at the front and its length; `None` if there is no complete frame.
fn whole(bytes: &[u8], at: usize) -> Option<(Frame<'_>, usize)> {
    let mut rest = Bytes(bytes);
    if rest.array::<8>()? != MAGIC {
        return None;
    }
    let nonce = rest.array()?;
    let (segment, offset) = (rest.u64()?, rest.u64()?);
    let (lines, count) = (rest.u32()?, rest.u32()?);
    let body = usize::try_from(rest.u64()?).ok()?;
    let mut body = Bytes(rest.take(body)?);
    let hashed = bytes.len() - rest.0.len();
    if rest.take(HASH)? != Digest::of(&bytes[..hashed]).as_bytes() {
        return None;
    }
    let lines = body.take(lines)?;
    // No file is longer than `i64::MAX`.
    i64::try_from(offset)
        .ok()?
        .checked_add(i64::try_from(lines.len()).ok()?)?;
    let mut blobs = Vec::new();
    for _ in 0..count {
        let digest = Digest::from_bytes(body.array()?);
        let length = body.u32()?;
        blobs.push((digest, body.take(length)?));
    }
    let frame = Frame {
        nonce,
        segment,
        offset,
        lines,
        blobs,
        at,
    };
    Some((frame, hashed + HASH))
}
