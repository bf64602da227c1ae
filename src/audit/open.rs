//! Checks a state folder, recovers from a crash and opens the log for writing.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::aside;
use super::contents::Look;
use super::disk::{FileDisk, remove_temporary};
use super::erase;
use super::error::{AuditError, Faults};
use super::index::{IndexError, Known};
use super::judge::{Read, judge};
use super::layout::{Layout, segment_name};
use super::line::{self, GENESIS};
use super::lock::Lock;
use super::put_back::{PutBack, put_back};
use super::salts;
use super::scan::{Head, Scanned, Walk};
use super::tail::{self, Tail};
use super::unread::Unread;
use super::writer::{Chain, Writer, WriterEvent, WriterHandle};
use crate::clock::Now;
use crate::model::{LogEvent, Past, ProposalId, State, Ticket};
use crate::secrets::{Redactor, Secrets};

/// The next segment begins when the current one has this length.
pub(super) const SEGMENT_BYTES: u64 = 64 * 1024 * 1024;

/// From this length on the segments together are a long log, which takes more than a moment to read.
pub(super) const LONG: u64 = 16 * 1024 * 1024;

/// A log that can be written.
#[derive(Debug)]
pub struct Opened {
    pub writer: Writer,
    /// Sequence number of the last durable record.
    pub durable: u64,
    /// Proposals that an earlier dashboard left without a final state, oldest first.
    pub unfinished: Vec<(ProposalId, State)>,
    /// What the log says of earlier proposals; the shapes of their codes are not read. Empty while it is unread.
    pub past: Past,
    /// `None` if the whole log was read.
    pub unread: Option<Unread>,
    /// Describes what was moved to quarantine.
    pub recovered: Option<String>,
    /// Impossible records of an intact chain, and missing blobs. They must be shown to a person but do not
    /// stop the log.
    pub faults: Faults,
}

/// Opens the log of a state folder. Creates both if necessary.
///
/// An incomplete end that a crash left and that was never acknowledged is moved to `quarantine/`, and a
/// `recovered` record takes its place. Any other fault of the chain is an error, and nothing is changed.
///
/// # Errors
/// When another dashboard has the log open, the folder belongs to another user, lets others in or cannot be
/// written, or the log is damaged or of a later version.
pub fn open(state_dir: &Path) -> Result<Opened, AuditError> {
    open_with(state_dir, SEGMENT_BYTES)
}

/// Like [`open`], for a dashboard: the beginning of a long log is left unread, if an index of these very files is there.
/// Whoever starts must have it checked ([`Unread::check`]). `reading` is told before a long log is read, with its bytes.
pub fn start(state_dir: &Path, reading: &dyn Fn(u64)) -> Result<Opened, AuditError> {
    start_with(state_dir, LONG, reading)
}

pub(super) fn start_with(
    state_dir: &Path,
    long: u64,
    reading: &dyn Fn(u64),
) -> Result<Opened, AuditError> {
    let layout = Layout::at(state_dir);
    layout.make()?;
    let lock = Lock::take(&layout)?;
    let bytes = layout.segment_bytes();
    let bytes = bytes.map_err(|e| AuditError::io(layout.log(), "read", e))?;
    if bytes < long {
        return open_locked(layout, lock, SEGMENT_BYTES);
    }
    let mut known = Known::of(&layout);
    let nothing = Walk::default();
    let back = put_back(&layout, known.as_ref().map_or(&nothing, Known::walk))?;
    if erase::finish(&layout)? {
        // It went with what it knew of the contents.
        known = Known::of(&layout);
    }
    let begun = known
        .as_mut()
        .map_err(|why| why.to_string())
        .and_then(|known| Begun::by_index(&layout, known).map_err(|why| why.to_string()));
    let begun = match begun {
        Ok(begun) => begun,
        Err(why) => {
            tracing::info!("the start reads the whole log: {why}");
            reading(bytes);
            Begun::by_reading(&layout)?
        }
    };
    // Whoever waits for the index may have it now.
    drop(known);
    continued(layout, lock, SEGMENT_BYTES, Begun { back, ..begun })
}

pub(super) fn open_with(state_dir: &Path, segment_bytes: u64) -> Result<Opened, AuditError> {
    let layout = Layout::at(state_dir);
    layout.make()?;
    let lock = Lock::take(&layout)?;
    open_locked(layout, lock, segment_bytes)
}

/// Like [`open`], with a lock that the caller took.
pub(super) fn open_locked(
    layout: Layout,
    lock: Lock,
    segment_bytes: u64,
) -> Result<Opened, AuditError> {
    let back = put_back(&layout, &Walk::default())?;
    erase::finish(&layout)?;
    let begun = Begun::by_reading(&layout)?;
    continued(layout, lock, segment_bytes, Begun { back, ..begun })
}

/// What a start knows before it looks at the log's end.
struct Begun {
    back: PutBack,
    scanned: Scanned,
    faults: Faults,
    unfinished: Vec<(ProposalId, State)>,
    past: Past,
    unread: Option<Unread>,
}

impl Begun {
    fn by_reading(layout: &Layout) -> Result<Self, AuditError> {
        let mut past = Past::default();
        let judged = judge(layout, Look::There, &mut |read: Read<'_>| {
            if let Read::Record(_, record) = read {
                past.learn(record.ts, &record.event, None);
            }
        })?;
        Ok(Self {
            back: PutBack::default(),
            scanned: judged.scanned,
            faults: judged.faults,
            unfinished: judged.lives.open(),
            past,
            unread: None,
        })
    }

    fn by_index(layout: &Layout, known: &mut Known) -> Result<Self, IndexError> {
        let (scanned, faults) = known.read_on()?;
        let unfinished = known.unfinished()?;
        let unread = Unread {
            layout: layout.clone(),
            head: scanned.head,
            unfinished: unfinished.iter().map(|(id, _)| *id).collect(),
        };
        Ok(Self {
            back: PutBack::default(),
            scanned,
            faults,
            unfinished,
            past: Past::default(),
            unread: Some(unread),
        })
    }
}

fn continued(
    layout: Layout,
    lock: Lock,
    segment_bytes: u64,
    begun: Begun,
) -> Result<Opened, AuditError> {
    let state_dir = &layout.state.clone();
    let Begun {
        back,
        scanned,
        mut faults,
        unfinished: open,
        past,
        unread,
    } = begun;
    let dir = || state_dir.to_owned();
    let unfinished = match tail::look(&layout, &scanned, back.acknowledged) {
        Ok(Tail::Lost(damage)) => return Err(AuditError::Damaged { dir: dir(), damage }),
        Ok(Tail::Unfinished(bytes)) => Some(bytes),
        Ok(Tail::Whole) => None,
        Err(e) => return Err(AuditError::io(layout.log(), "read", e)),
    };
    if let Some(place) = scanned.later {
        return Err(AuditError::Later { dir: dir(), place });
    }
    // The incomplete end is repaired below.
    faults.chain = None;
    // They only take room, and to look for them among the contents of a long log takes longer than the start.
    if unread.is_none() {
        remove_temporary(&layout);
    }
    let mut chain = Chain {
        seq: scanned.head.seq,
        hash: scanned.head.hash,
        boot_id: boot_id(),
    };
    let mut head = scanned.head;
    let io = |action| {
        let log = layout.log();
        move |e| AuditError::io(log, action, e)
    };
    let mut recovered = None;
    let disk = if head.segment == 0 {
        let now = Now::read();
        let (header, hash) =
            line::header(1, 1, now, &GENESIS).map_err(|e| io("written")(e.into()))?;
        chain.hash = hash;
        head.segment = 1;
        head.offset = header.len() as u64;
        FileDisk::first_segment(layout.clone(), &header).map_err(io("written"))?
    } else {
        if let Some(bytes) = unfinished {
            recovered = recover(&layout, &mut head, &mut chain, bytes)?;
        }
        FileDisk::continue_segment(layout.clone(), head.segment).map_err(io("opened"))?
    };
    let mut writer = Writer::new(
        Box::new(disk),
        chain,
        head.segment,
        head.offset,
        segment_bytes,
        Some(lock),
    );
    let salts = layout.clone();
    writer.salts(Arc::new(move |id| {
        let salt = salts::make(&salts, id);
        salt.inspect_err(|e| tracing::warn!("the salt of {id} is not kept: {e}"))
            .ok()
    }));
    for event in back.aside {
        recovered =
            Some("the journal ended in an incomplete batch, which was set aside".to_owned());
        writer
            .write_first(event)
            .map_err(|why| failed(state_dir, why))?;
    }
    Ok(Opened {
        durable: writer.durable(),
        writer,
        unfinished: open,
        past,
        unread,
        recovered,
        faults,
    })
}

/// Appends one record to a log that no dashboard has open. The record is durable on return.
///
/// # Errors
/// Those of [`open`], and when the record cannot be made durable.
pub fn append(state_dir: &Path, event: LogEvent) -> Result<(), AuditError> {
    write_one(state_dir, open(state_dir)?, event)?.close();
    Ok(())
}

/// Makes one record durable. The log stays locked until the handle is closed.
pub(super) fn write_one(
    state_dir: &Path,
    opened: Opened,
    event: LogEvent,
) -> Result<WriterHandle, AuditError> {
    let (report, reports) = std::sync::mpsc::channel();
    let handle = opened.writer.start(Box::new(move |said| {
        let _ = report.send(said);
    }));
    handle.submit(Ticket::Unawaited, event, Vec::new());
    let why = match reports.recv() {
        Ok(WriterEvent::Durable { .. }) => return Ok(handle),
        Ok(WriterEvent::Unrecorded { reason, .. } | WriterEvent::Down { reason }) => reason,
        Err(_) => "the writer ended unexpectedly".to_owned(),
    };
    handle.close();
    Err(failed(state_dir, why))
}

pub(super) fn failed(state_dir: &Path, reason: String) -> AuditError {
    AuditError::io(state_dir, "written", io::Error::other(reason))
}

/// Moves the incomplete end of the last segment to quarantine and puts a `recovered` record in its place.
fn recover(
    layout: &Layout,
    head: &mut Head,
    chain: &mut Chain,
    bytes: u64,
) -> Result<Option<String>, AuditError> {
    let path = layout.segment(head.segment);
    let segment = segment_name(head.segment);
    let mut records = Vec::new();
    if bytes > 0 {
        let kept = aside::keep_rest(layout, segment.clone(), &path, head.offset)
            .map_err(|e| AuditError::io(layout.quarantine(), "written", e))?;
        records.push(kept);
    }
    let redactor = Redactor::new(Secrets::here([]));
    aside::replace(layout, (head, chain), b"", &records, redactor)?;
    Ok((bytes > 0).then(|| {
        format!("the log ended in {bytes} incomplete bytes ({segment}), which were set aside")
    }))
}

/// A boot that the kernel does not name. Two of them may not be the same.
pub(super) const UNKNOWN_BOOT: &str = "unknown";

/// Identifies the boot to which `mono_ns` refers.
pub(super) fn boot_id() -> String {
    let Ok(boot) = fs::read_to_string("/proc/sys/kernel/random/boot_id") else {
        return UNKNOWN_BOOT.to_owned();
    };
    let offsets = fs::read_to_string("/proc/self/timens_offsets").unwrap_or_default();
    clock_of(boot.trim(), &offsets)
}

/// The clock that counts from a boot: in a time namespace another one
/// (<https://man7.org/linux/man-pages/man7/time_namespaces.7.html>).
fn clock_of(boot: &str, offsets: &str) -> String {
    let own = offsets.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let is_it = matches!(words.next(), Some("boottime" | "7"));
        let (s, ns) = (words.next()?, words.next()?);
        (is_it && (s, ns) != ("0", "0")).then(|| format!("{boot}+{s}.{ns}"))
    });
    own.unwrap_or_else(|| boot.to_owned())
}

#[cfg(test)]
#[path = "open_tests.rs"]
mod tests;
