//! Moves damaged bytes to quarantine and leaves a record in their place.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::disk::{replace_tail, write_whole};
use super::error::AuditError;
use super::layout::{Layout, open_regular, sync_dir};
use super::line;
use super::scan::Head;
use super::writer::Chain;
use crate::clock::Now;
use crate::model::{Digest, LogEvent};
use crate::secrets::Redactor;

/// Copies bytes of a file durably to `quarantine/`. The caller must record the returned event.
pub(super) fn keep(
    layout: &Layout,
    name: String,
    offset: u64,
    bytes: &[u8],
) -> io::Result<LogEvent> {
    let sha256 = Digest::of(bytes);
    let quarantined = format!("{name}-{offset}-{}", sha256.short(12));
    write_whole(&layout.quarantine().join(&quarantined), bytes)?;
    sync_dir(&layout.quarantine())?;
    Ok(LogEvent::Recovered {
        segment: name,
        offset,
        bytes: bytes.len() as u64,
        sha256,
        quarantined,
        lost: None,
        by: None,
    })
}

/// Reads a file from an offset to its end.
pub(super) fn from(path: &Path, offset: u64) -> io::Result<Vec<u8>> {
    let mut file = open_regular(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Replaces everything after the last segment's sound lines: a header if there is none, then `lines`, which
/// continue the chain, then `records`. The old tail is cut off only when the new one is durable.
pub(super) fn replace(
    layout: &Layout,
    (head, chain): (&mut Head, &mut Chain),
    lines: &[u8],
    records: &[LogEvent],
    mut redactor: Redactor,
) -> Result<(), AuditError> {
    let path = layout.segment(head.segment);
    let io = |e| AuditError::io(&path, "written", e);
    let now = Now::read();
    let mut tail = lines.to_vec();
    if !head.headed {
        let (header, hash) = line::header(head.segment, chain.seq + 1, now, &chain.hash)
            .map_err(|e| io(e.into()))?;
        tail.extend_from_slice(&header);
        chain.hash = hash;
    }
    let together = (records.len() > 1).then_some(chain.seq + 1);
    for event in records {
        let event = &redactor.redact(event.clone(), Vec::new());
        let seq = chain.seq + 1;
        let (record, hash) = line::record(seq, together, &chain.boot_id, now, event, &chain.hash)
            .map_err(|e| io(e.into()))?;
        tail.extend_from_slice(&record);
        chain.seq = seq;
        chain.hash = hash;
    }
    replace_tail(&path, head.offset, &tail).map_err(io)?;
    head.offset += tail.len() as u64;
    head.headed = true;
    Ok(())
}
