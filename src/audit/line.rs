//! The bytes of a record.
//!
//! A segment is lines of JSON, each ended by a line feed. A record is
//!
//! ```text
//! {"v":1,"seq":7,"batch":5,"boot_id":"…","mono_ns":…,"ts":"…","kind":"…",…,"actor":"…","prev":"<64 hex>","hash":"<64 hex>"}
//! ```
//!
//! and the first line of each segment is a header,
//! `{"v":1,"segment":2,"first_seq":7,"ts":"…","prev":"…","hash":"…"}`.
//!
//! - `hash` is SHA-256 over the line's bytes before `,"hash":"`: without the line feed and the last
//!   75 bytes. What was written is what is hashed; nothing is ever serialised again to check it.
//! - `prev` is the `hash` of the line before, headers included, across segments; 64 zeros in the
//!   header of the first segment.
//! - `seq` counts records from 1 without gaps and is what orders them, never a clock; `mono_ns` is
//!   CLOCK_BOOTTIME of the boot named by `boot_id`.
//! - `batch` is the `seq` of the first of the records that one sync made durable together; a record
//!   that was synced by itself has none, and so have all of earlier versions. A batch is begun only
//!   once the one before it is durable: what stands before an intact record of a later batch was
//!   acknowledged.
//! - The positions of `v`, `seq`, `batch` (or `segment`, `first_seq`), `prev` and `hash` are fixed, so that no
//!   second field of the same name can stand for them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::clock::Now;
use crate::model::{Digest, LogEvent};

/// Longest line that is written or read, line feed included. Far above any record: a proposal's
/// code and contents are blobs, what is left of a frame is less than 1 MiB.
pub(super) const LINE_MAX: usize = 32 * 1024 * 1024;

/// `,"hash":"` 64 digits `"}`
const TAIL: usize = 9 + 64 + 2;
/// `,"prev":"` 64 digits `"`
const PREV: usize = 9 + 64 + 1;

/// The `prev` of the first line of all.
pub(super) const GENESIS: Digest = Digest::from_bytes([0; 32]);

/// A record as it was written.
#[derive(Clone, Debug, Deserialize)]
pub struct Record {
    pub v: u32,
    pub seq: u64,
    /// The first record of those that became durable together, where there were several.
    #[serde(default)]
    pub batch: Option<u64>,
    pub boot_id: String,
    /// CLOCK_BOOTTIME in nanoseconds.
    pub mono_ns: u64,
    pub ts: Timestamp,
    #[serde(flatten)]
    pub event: LogEvent,
    /// `person`, `agent` or `dashboard`.
    pub actor: String,
    pub prev: String,
    pub hash: String,
    /// The line itself, without its line feed.
    #[serde(skip)]
    pub line: String,
}

impl Record {
    /// Understands a line whose place in the chain was checked.
    pub(super) fn parse(line: &[u8]) -> Result<Self, serde_json::Error> {
        let mut record: Self = serde_json::from_slice(line)?;
        // It is JSON, hence UTF-8.
        record.line = String::from_utf8_lossy(line).into_owned();
        Ok(record)
    }
}

#[derive(Serialize)]
struct Body<'a> {
    v: u32,
    seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<u64>,
    boot_id: &'a str,
    mono_ns: u64,
    ts: Timestamp,
    #[serde(flatten)]
    event: &'a LogEvent,
    actor: &'static str,
}

#[derive(Serialize)]
struct Header {
    v: u32,
    segment: u64,
    first_seq: u64,
    ts: Timestamp,
}

/// The line of a record, with its line feed, and its hash. `batch` is the first record of those that
/// are synced with it, where there are others.
pub(super) fn record(
    seq: u64,
    batch: Option<u64>,
    boot_id: &str,
    now: Now,
    event: &LogEvent,
    prev: &Digest,
) -> serde_json::Result<(Vec<u8>, Digest)> {
    let body = Body {
        v: 1,
        seq,
        batch,
        boot_id,
        mono_ns: u64::try_from(now.boot.as_nanos()).unwrap_or(u64::MAX),
        ts: now.wall,
        event,
        actor: actor(event),
    };
    Ok(seal(serde_json::to_vec(&body)?, prev))
}

/// The first line of a segment, with its line feed, and its hash.
pub(super) fn header(
    segment: u64,
    first_seq: u64,
    now: Now,
    prev: &Digest,
) -> serde_json::Result<(Vec<u8>, Digest)> {
    let header = Header {
        v: 1,
        segment,
        first_seq,
        ts: now.wall,
    };
    Ok(seal(serde_json::to_vec(&header)?, prev))
}

/// Turns `{…}` into `{…,"prev":"…","hash":"…"}` and a line feed.
fn seal(mut bytes: Vec<u8>, prev: &Digest) -> (Vec<u8>, Digest) {
    bytes.pop();
    bytes.extend_from_slice(format!(",\"prev\":\"{}\"", prev.hex()).as_bytes());
    let hash = Digest::of(&bytes);
    bytes.extend_from_slice(format!(",\"hash\":\"{}\"}}\n", hash.hex()).as_bytes());
    (bytes, hash)
}

/// Who made it happen.
fn actor(event: &LogEvent) -> &'static str {
    match event {
        LogEvent::Granted(_)
        | LogEvent::Denied { .. }
        | LogEvent::Killed { by: Some(_), .. }
        | LogEvent::Replicated { .. }
        | LogEvent::Pruned { .. }
        | LogEvent::Opened { .. } => "person",
        LogEvent::Killed { by: None, .. }
        | LogEvent::Proposed(_)
        | LogEvent::Withdrawn { .. }
        | LogEvent::Refused { .. } => "agent",
        LogEvent::Blocked { .. }
        | LogEvent::Started { .. }
        | LogEvent::Finished(_)
        | LogEvent::Expired { .. }
        | LogEvent::Unattended { .. }
        | LogEvent::Failed { .. }
        | LogEvent::EnvironmentChanged { .. }
        | LogEvent::Recovered { .. }
        | LogEvent::Closed => "dashboard",
    }
}

/// What a line says of its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Header {
        segment: u64,
        first_seq: u64,
    },
    /// `batch` is the record's own `seq` where the line names none.
    Record {
        seq: u64,
        batch: u64,
    },
}

/// A line whose own hash is right.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sealed {
    pub place: Place,
    pub prev: Digest,
    pub hash: Digest,
}

/// Reads the fixed positions of a line (without its line feed) and checks its hash.
pub(super) fn unseal(line: &[u8]) -> Result<Sealed, &'static str> {
    const SHAPE: &str = "it does not have the shape of a record";
    let cut = line.len().checked_sub(TAIL).ok_or(SHAPE)?;
    let (body, tail) = line.split_at(cut);
    let hash = tail
        .strip_prefix(b",\"hash\":\"")
        .and_then(|t| t.strip_suffix(b"\"}"))
        .and_then(hex)
        .ok_or(SHAPE)?;
    let prev = body
        .len()
        .checked_sub(PREV)
        .and_then(|at| body[at..].strip_prefix(b",\"prev\":\""))
        .and_then(|t| t.strip_suffix(b"\""))
        .and_then(hex)
        .ok_or(SHAPE)?;
    if Digest::of(body) != hash {
        return Err("its bytes are not the ones that were hashed");
    }
    let place = place(body).ok_or("it is of a format this version does not know")?;
    Ok(Sealed { place, prev, hash })
}

fn place(body: &[u8]) -> Option<Place> {
    if let Some(rest) = body.strip_prefix(b"{\"v\":1,\"seq\":") {
        let (seq, rest) = number(rest)?;
        let batch = match rest.strip_prefix(b"\"batch\":") {
            Some(rest) => number(rest)?.0,
            None => seq,
        };
        // A batch cannot begin after its records.
        return (batch <= seq).then_some(Place::Record { seq, batch });
    }
    let rest = body.strip_prefix(b"{\"v\":1,\"segment\":")?;
    let (segment, rest) = number(rest)?;
    let (first_seq, _) = number(rest.strip_prefix(b"\"first_seq\":")?)?;
    Some(Place::Header { segment, first_seq })
}

/// Decimal digits up to a comma, as serde writes them.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let end = bytes.iter().take(21).position(|b| *b == b',')?;
    let digits = std::str::from_utf8(&bytes[..end]).ok()?;
    let value: u64 = digits.parse().ok()?;
    (value.to_string() == digits).then_some((value, &bytes[end + 1..]))
}

/// 64 lower-case hex digits.
fn hex(digits: &[u8]) -> Option<Digest> {
    let plain = |b: &u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    if digits.len() != 64 || !digits.iter().all(plain) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The sequence number a line claims, for naming it when it is damaged.
pub(super) fn claimed_seq(line: &[u8]) -> Option<u64> {
    match place(line)? {
        Place::Record { seq, .. } => Some(seq),
        Place::Header { .. } => None,
    }
}
