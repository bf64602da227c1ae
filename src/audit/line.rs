//! The format of a record.
//!
//! A segment consists of lines of JSON, each ended by a line feed. A record is
//!
//! ```text
//! {"v":1,"seq":7,"batch":5,"boot_id":"…","mono_ns":…,"ts":"…","kind":"…",…,"actor":"…","prev":"<64 hex>","hash":"<64 hex>"}
//! ```
//!
//! and the first line of each segment is a header,
//! `{"v":1,"segment":2,"first_seq":7,"ts":"…","prev":"…","hash":"…"}`.
//!
//! - `hash` is SHA-256 over the line's bytes before `,"hash":"`, that is, without the last 75 bytes and the
//!   line feed. Readers hash the bytes as written; nothing is serialised again to check them.
//! - `prev` is the `hash` of the preceding line, headers included, across segments. It is 64 zeros in the
//!   header of the first segment.
//! - `seq` counts records from 1 without gaps. It alone orders them, never a clock. `mono_ns` is
//!   CLOCK_BOOTTIME of the boot named by `boot_id`.
//! - `batch` is the `seq` of the first record of a batch, which one sync made durable. A record that was
//!   synced alone has no `batch`, and neither have records of earlier versions. A batch begins only when the
//!   preceding one is durable, so everything before an intact record of a later batch was acknowledged.
//! - `redacted` counts by kind the secrets that were replaced before the line was hashed. Most records have none.
//! - `v` is the version of the format. Records of later versions are part of the chain but are not
//!   interpreted. A kind that the record's version does not have is damage.
//! - The positions of `v`, `seq`, `batch` (or `segment`, `first_seq`), `prev` and `hash` are fixed, so that a
//!   duplicate field elsewhere in the line cannot replace them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::clock::Now;
use crate::model::{Digest, LogEvent};
use crate::secrets::{Counts, Redacted};

/// Longest line that is written or read, including the line feed. Every record is far shorter: a proposal's
/// code and inputs are blobs, and the rest of its frame is less than 1 MiB.
pub(super) const LINE_MAX: usize = 32 * 1024 * 1024;

/// Capacity that suffices for most lines without reallocation.
const LINE_USUAL: usize = 2 * 1024;

/// `,"hash":"` 64 digits `"}`
const TAIL: usize = 9 + 64 + 2;
/// `,"prev":"` 64 digits `"`
const PREV: usize = 9 + 64 + 1;

/// The `prev` of a log's first line.
pub(super) const GENESIS: Digest = Digest::from_bytes([0; 32]);

/// The version of the format that this program writes. Only the fixed positions of later versions are read.
pub(super) const VERSION: u32 = 1;

/// A record as it was written.
#[derive(Clone, Debug)]
pub struct Record {
    pub seq: u64,
    /// The first record of its batch, unless it was synced alone.
    pub batch: Option<u64>,
    /// The boot in which it was written, and CLOCK_BOOTTIME at that time.
    pub boot_id: String,
    pub mono_ns: u64,
    pub ts: Timestamp,
    pub event: LogEvent,
    /// `person`, `agent` or `dashboard`.
    pub actor: String,
    /// The secrets that were replaced in it and in its contents, by kind.
    pub redacted: Counts,
    /// The whole line, without its line feed.
    pub line: String,
}

/// The fields of every record.
#[derive(Deserialize)]
#[expect(dead_code, reason = "some fields are only required to exist")]
struct Envelope {
    v: u32,
    seq: u64,
    batch: Option<u64>,
    boot_id: String,
    mono_ns: u64,
    ts: Timestamp,
    kind: String,
    actor: String,
    #[serde(default)]
    redacted: Counts,
    prev: String,
    hash: String,
}

impl Record {
    /// Reads a line that stands alone, as in a proof. Its place in a log is not checked.
    ///
    /// # Errors
    /// A description, as that of a line of a log; also if its own hash is not that of its bytes.
    pub fn read(line: &[u8]) -> Result<Self, String> {
        unseal(line)?;
        Self::parse(line)
    }

    /// Parses a line whose place in the chain was checked.
    ///
    /// # Errors
    /// A description, when the line is not a record of this version: its kind is unknown, or a field is
    /// missing, duplicated or of the wrong type.
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        let no_record = |e: serde_json::Error| format!("it is not a record: {e}");
        let envelope: Envelope = serde_json::from_slice(line).map_err(no_record)?;
        // Long kinds are parsed directly: deserialising a tagged enum would first buffer a copy.
        let event = match envelope.kind.as_str() {
            "proposed" => serde_json::from_slice(line).map(LogEvent::Proposed),
            "edited" => serde_json::from_slice(line).map(LogEvent::Edited),
            "granted" => serde_json::from_slice(line).map(LogEvent::Granted),
            "finished" => serde_json::from_slice(line).map(LogEvent::Finished),
            "voted" => serde_json::from_slice(line).map(LogEvent::Voted),
            "drilled" => serde_json::from_slice(line).map(LogEvent::Drilled),
            _ => serde_json::from_slice(line),
        };
        let event = event.map_err(no_record)?;
        if let Some(odd) = odd_digest(&event) {
            return Err(format!("it is not a record: `{odd}` is not a digest"));
        }
        Ok(Self {
            seq: envelope.seq,
            batch: envelope.batch,
            boot_id: envelope.boot_id,
            mono_ns: envelope.mono_ns,
            ts: envelope.ts,
            event,
            actor: envelope.actor,
            redacted: envelope.redacted,
            // Parsed JSON is UTF-8, so nothing is lost.
            line: String::from_utf8_lossy(line).into_owned(),
        })
    }
}

/// The first field that should be a digest and is not one, among those that are kept as text.
fn odd_digest(event: &LogEvent) -> Option<&str> {
    let is_hex = |text: &str| hex(text.as_bytes()).is_some();
    match event {
        // Empty if no policy judged the code.
        LogEvent::Proposed(p) => Some(p.policy_sha256.as_str()).filter(|text| !text.is_empty()),
        LogEvent::Edited(e) => Some(e.policy_sha256.as_str()).filter(|text| !text.is_empty()),
        LogEvent::Granted(g) => Some(g.policy_sha256.as_str()),
        LogEvent::Finished(f) => {
            let mut digests = f.artifacts.iter().map(|a| a.sha256.as_str());
            return digests.find(|text| !is_hex(text));
        }
        _ => None,
    }
    .filter(|text| !is_hex(text))
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
    #[serde(skip_serializing_if = "Counts::is_empty")]
    redacted: &'a Counts,
}

#[derive(Serialize)]
struct Header {
    v: u32,
    segment: u64,
    first_seq: u64,
    ts: Timestamp,
}

/// The line of a record, including its line feed, and its hash. `batch` is the first record of its batch,
/// unless it is synced alone.
pub(super) fn record(
    seq: u64,
    batch: Option<u64>,
    boot_id: &str,
    now: Now,
    record: &Redacted,
    prev: &Digest,
) -> serde_json::Result<(Vec<u8>, Digest)> {
    let body = Body {
        v: VERSION,
        seq,
        batch,
        boot_id,
        mono_ns: u64::try_from(now.boot.as_nanos()).unwrap_or(u64::MAX),
        ts: now.wall,
        event: record.event(),
        actor: actor(record.event()),
        redacted: record.counts(),
    };
    let mut bytes = Vec::with_capacity(LINE_USUAL);
    serde_json::to_writer(&mut bytes, &body)?;
    Ok(seal(bytes, prev))
}

/// The first line of a segment, including its line feed, and its hash.
pub(super) fn header(
    segment: u64,
    first_seq: u64,
    now: Now,
    prev: &Digest,
) -> serde_json::Result<(Vec<u8>, Digest)> {
    let header = Header {
        v: VERSION,
        segment,
        first_seq,
        ts: now.wall,
    };
    Ok(seal(serde_json::to_vec(&header)?, prev))
}

/// Turns `{…}` into `{…,"prev":"…","hash":"…"}` and a line feed.
fn seal(mut bytes: Vec<u8>, prev: &Digest) -> (Vec<u8>, Digest) {
    bytes.pop();
    bytes.reserve_exact(PREV + TAIL + 1);
    bytes.extend_from_slice(b",\"prev\":\"");
    prev.digits(|digits| bytes.extend_from_slice(digits.as_bytes()));
    bytes.push(b'"');
    let hash = Digest::of(&bytes);
    bytes.extend_from_slice(b",\"hash\":\"");
    hash.digits(|digits| bytes.extend_from_slice(digits.as_bytes()));
    bytes.extend_from_slice(b"\"}\n");
    (bytes, hash)
}

/// Who caused the event.
pub(super) fn actor(event: &LogEvent) -> &'static str {
    match event {
        LogEvent::Edited(_)
        | LogEvent::Granted(_)
        | LogEvent::Voted(_)
        | LogEvent::Denied { .. }
        | LogEvent::Killed { by: Some(_), .. }
        | LogEvent::Paused { .. }
        | LogEvent::Resumed { .. }
        | LogEvent::Replicated { .. }
        | LogEvent::Pruned { .. }
        | LogEvent::Erased { .. }
        | LogEvent::Recovered { by: Some(_), .. }
        | LogEvent::Opened { .. } => "person",
        LogEvent::Drilled(d) if d.by.is_some() => "person",
        LogEvent::Proposed(p) if p.drill.is_some() => "dashboard",
        LogEvent::Killed { by: None, .. }
        | LogEvent::Proposed(_)
        | LogEvent::Withdrawn { .. }
        | LogEvent::Refused { .. } => "agent",
        LogEvent::Blocked { .. }
        | LogEvent::VoteRefused { .. }
        | LogEvent::Escalated { .. }
        | LogEvent::Settled { .. }
        | LogEvent::Started { .. }
        | LogEvent::Finished(_)
        | LogEvent::Drilled(_)
        | LogEvent::Expired { .. }
        | LogEvent::Unattended { .. }
        | LogEvent::Failed { .. }
        | LogEvent::EnvironmentChanged { .. }
        | LogEvent::Recovered { by: None, .. }
        | LogEvent::Unanchored { .. }
        | LogEvent::Doubted { .. }
        | LogEvent::Closed => "dashboard",
    }
}

/// What a line states about its place in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineRole {
    Header {
        segment: u64,
        first_seq: u64,
    },
    /// `batch` is the record's own `seq` if the line names none.
    Record {
        seq: u64,
        batch: u64,
    },
}

/// A line whose own hash matches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sealed {
    /// Version of the format.
    pub v: u32,
    pub place: LineRole,
    pub prev: Digest,
    pub hash: Digest,
}

/// Reads the fixed positions of a line without line feed and checks its hash.
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
    let (v, place) = place(body).ok_or("it is of a format this version does not know")?;
    Ok(Sealed {
        v,
        place,
        prev,
        hash,
    })
}

fn place(body: &[u8]) -> Option<(u32, LineRole)> {
    let (v, rest) = number(body.strip_prefix(b"{\"v\":")?)?;
    let v = u32::try_from(v).ok().filter(|v| *v >= VERSION)?;
    if let Some(rest) = rest.strip_prefix(b"\"seq\":") {
        let (seq, rest) = number(rest)?;
        let batch = match rest.strip_prefix(b"\"batch\":") {
            Some(rest) => number(rest)?.0,
            None => seq,
        };
        // A batch cannot begin after one of its records.
        return (batch <= seq).then_some((v, LineRole::Record { seq, batch }));
    }
    let (segment, rest) = number(rest.strip_prefix(b"\"segment\":")?)?;
    let (first_seq, _) = number(rest.strip_prefix(b"\"first_seq\":")?)?;
    Some((v, LineRole::Header { segment, first_seq }))
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

/// The sequence number a damaged line claims, for messages.
pub(super) fn claimed_seq(line: &[u8]) -> Option<u64> {
    match place(line)? {
        (_, LineRole::Record { seq, .. }) => Some(seq),
        (_, LineRole::Header { .. }) => None,
    }
}
