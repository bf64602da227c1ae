//! Moves damaged bytes to quarantine and leaves a record in their place.

use std::io::{self, Read, Seek, SeekFrom, Write as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};

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
    let quarantined = quarantined(&name, offset, &sha256);
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

fn quarantined(name: &str, offset: u64, sha256: &Digest) -> String {
    format!("{name}-{offset}-{}", sha256.short(12))
}

/// Like [`keep`], with the bytes of a file from an offset to its end. Whoever can write the folder can have made it long.
pub(super) fn keep_rest(
    layout: &Layout,
    name: String,
    path: &Path,
    offset: u64,
) -> io::Result<LogEvent> {
    const PIECE: usize = 64 * 1024;
    let mut file = open_regular(path)?;
    file.seek(SeekFrom::Start(offset))?;
    // Removed when it is dropped, unless it got its name.
    let mut kept = tempfile::NamedTempFile::new_in(layout.quarantine())?;
    let (mut piece, mut bytes, mut hash) = (vec![0; PIECE], 0, Sha256::new());
    loop {
        let read = match file.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => &piece[..read],
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        hash.update(read);
        bytes += read.len() as u64;
        // Holes stay holes.
        match read.iter().all(|b| *b == 0) {
            true => drop(kept.seek(SeekFrom::Current(read.len() as i64))?),
            false => kept.write_all(read)?,
        }
    }
    kept.as_file().set_len(bytes)?;
    kept.as_file().sync_all()?;
    let sha256 = Digest::from_bytes(hash.finalize().into());
    let quarantined = quarantined(&name, offset, &sha256);
    kept.persist(layout.quarantine().join(&quarantined))
        .map_err(|e| e.error)?;
    sync_dir(&layout.quarantine())?;
    Ok(LogEvent::Recovered {
        segment: name,
        offset,
        bytes,
        sha256,
        quarantined,
        lost: None,
        by: None,
    })
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
