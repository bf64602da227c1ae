//! The storage the writer needs (`Disk`), and its implementation on files (`FileDisk`).

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::fcntl::OFlag;

use super::error;
use super::journal::Journal;
use super::layout::{Layout, open_regular, sync_dir};
use super::mark::{Mark, Marker};
use super::place::LogLocation;
use super::settler::permanent;
use crate::model::{Blob, Digest};

/// Blobs up to this size become durable in the journal, together with the lines that name them. Larger
/// blobs are synced as files.
const SMALL: usize = 256 * 1024;
/// Capacity of the line buffer that is kept between batches.
const LINES_KEPT: usize = 1024 * 1024;
/// How many blobs are remembered as durable.
const DURABLE_MAX: usize = 100_000;

/// The interface behind which tests inject failures. A failed sync is never repeated: the kernel may drop
/// dirty pages after reporting an error once, so a second success would prove nothing.
pub(super) trait Disk: Send {
    /// Stores a blob; it is durable only after `sync_blobs` and `sync`. An error for which
    /// [`super::error::ran_out`] is true has no effect on disk.
    fn put(&mut self, blob: &Blob) -> io::Result<()>;
    /// Makes the directory entries of blob files durable. After an error for which
    /// [`super::error::ran_out`] is true, the next call continues.
    fn sync_blobs(&mut self) -> io::Result<()>;
    /// Appends bytes to the current segment.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes everything appended and put durable, and checks that readers can find it.
    fn sync(&mut self) -> io::Result<()>;
    /// Begins segment `number` durably with `header`, under its final name. `false` if descriptors or
    /// space ran out; the current segment then continues.
    fn rotate(&mut self, number: u64, header: &[u8]) -> io::Result<bool>;
    /// Checks between two batches that readers can find what was written.
    fn look(&mut self) -> io::Result<()>;
}

/// A state folder.
#[derive(Debug)]
pub(super) struct FileDisk {
    layout: Layout,
    place: LogLocation,
    segment: File,
    number: u64,
    /// Length of the segment, without `lines`.
    length: u64,
    marker: Arc<Marker>,
    /// `None` after an error: the next start recovers from the journal's files.
    journal: Option<Journal>,
    /// Lines and blobs that the next sync makes durable.
    lines: Vec<u8>,
    blobs: Vec<Blob>,
    /// The digests of `blobs`, and their size in the journal.
    taken: HashSet<Digest>,
    room: usize,
    /// Blobs that are durable, as files or in the journal.
    durable: HashSet<Digest>,
    /// Folders with entries that are not durable yet.
    dirty: BTreeSet<PathBuf>,
}

impl FileDisk {
    /// Continues the existing segment `number`.
    pub fn continue_segment(layout: Layout, number: u64) -> io::Result<Self> {
        let segment = open_append(&layout.segment(number), false)?;
        // An earlier process may have written lines without syncing them; later records depend on them.
        segment.sync_all()?;
        sync_dir(&layout.log())?;
        Self::new(layout, number, segment)
    }

    /// Begins the first segment.
    pub fn first_segment(layout: Layout, header: &[u8]) -> io::Result<Self> {
        let segment = begin_segment(&layout, 1, header)?;
        Self::new(layout, 1, segment)
    }

    fn new(layout: Layout, number: u64, segment: File) -> io::Result<Self> {
        let marker = Arc::new(Marker::open(&layout)?);
        let length = segment.metadata()?.len();
        // Everything in the segment is durable, and later records depend on it.
        marker.note(Mark {
            segment: number,
            offset: length,
        })?;
        Ok(Self {
            place: LogLocation::of(&layout, &segment, number)?,
            journal: Some(Journal::open(&layout, &marker)?),
            marker,
            layout,
            number,
            length,
            segment,
            lines: Vec::new(),
            blobs: Vec::new(),
            taken: HashSet::new(),
            room: 0,
            durable: HashSet::new(),
            dirty: BTreeSet::new(),
        })
    }

    /// Takes a blob into the next batch; `false` if it does not fit into the journal.
    fn journaled(&mut self, blob: &Blob) -> io::Result<bool> {
        let Some(journal) = &mut self.journal else {
            return Ok(false);
        };
        if blob.bytes.len() > SMALL || !journal.take(blob, self.room)? {
            return Ok(false);
        }
        if !self.durable.contains(&blob.sha256) && self.taken.insert(blob.sha256) {
            self.room += blob.bytes.len() + 64;
            self.blobs.push(blob.clone());
        }
        Ok(true)
    }

    /// Drops the journal, so that no further sync is attempted, not even when it closes.
    fn failed(&mut self, error: io::Error) -> io::Error {
        self.journal = None;
        permanent(error)
    }

    fn sync_with(&mut self, journal: &mut Journal) -> io::Result<()> {
        let end = Mark {
            segment: self.number,
            offset: self.length + self.lines.len() as u64,
        };
        match journal.commit(self.number, self.length, &self.lines, &self.blobs) {
            // The batch is durable; the segment is written only for its readers.
            Ok(()) => self.segment.write_all(&self.lines)?,
            Err(e) if error::ran_out(&e) => {
                if !self.blobs.is_empty() {
                    journal.settle_blobs(&self.blobs)?;
                }
                self.segment.write_all(&self.lines)?;
                self.segment.sync_data()?;
                self.marker.note(end)?;
            }
            Err(e) => return Err(e),
        }
        self.length += self.lines.len() as u64;
        self.lines.clear();
        self.lines.shrink_to(LINES_KEPT);
        if self.durable.len() > DURABLE_MAX {
            self.durable.clear();
        }
        self.durable.extend(self.taken.drain());
        self.blobs.clear();
        self.room = 0;
        self.place.check(self.length)?;
        journal.check(&self.place)
    }
}

impl Disk for FileDisk {
    fn put(&mut self, blob: &Blob) -> io::Result<()> {
        if Digest::of(&blob.bytes) != blob.sha256 {
            return Err(io::Error::other("a blob is not what its digest says"));
        }
        match self.journaled(blob) {
            Ok(false) => {}
            Ok(true) => return Ok(()),
            Err(e) => return Err(self.failed(e)),
        }
        let (folder, path) = self.layout.blob(&blob.sha256);
        if !has_content(&path, &blob.bytes) {
            make_folder(&folder)?;
            write_whole(&path, &blob.bytes)?;
        }
        // The settler may have made the folder for a blob that is durable only in the journal.
        self.dirty.insert(self.layout.blobs());
        self.dirty.insert(folder);
        Ok(())
    }

    fn sync_blobs(&mut self) -> io::Result<()> {
        while let Some(folder) = self.dirty.first() {
            // Opening is not syncing, so it may be retried after a failure.
            let opened = File::open(folder)?;
            self.dirty.pop_first();
            opened.sync_all().map_err(|e| self.failed(e))?;
        }
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.lines.extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let Some(mut journal) = self.journal.take() else {
            return Err(io::Error::other("an earlier sync failed"));
        };
        self.sync_with(&mut journal)?;
        self.journal = Some(journal);
        Ok(())
    }

    fn rotate(&mut self, number: u64, header: &[u8]) -> io::Result<bool> {
        // Readers expect every segment but the last to be complete without the journal. This takes a while, during
        // which a killed writer must not leave an empty segment.
        self.segment.sync_all().map_err(|e| self.failed(e))?;
        // Open both first: running out of descriptors must not leave half a rotation.
        let opened = File::open(self.layout.log()).and_then(|folder| {
            let segment = open_append(&self.layout.segment(number), true)?;
            Ok((folder, segment))
        });
        let (folder, mut segment) = match opened {
            Ok(opened) => opened,
            Err(e) if error::ran_out(&e) => return Ok(false),
            Err(e) => return Err(e),
        };
        segment
            .write_all(header)
            .and_then(|()| segment.sync_all())
            .and_then(|()| folder.sync_all())
            .and_then(|()| self.place.switch_to(&segment, number))
            .map_err(|e| self.failed(e))?;
        self.segment = segment;
        self.number = number;
        self.length = header.len() as u64;
        Ok(true)
    }

    fn look(&mut self) -> io::Result<()> {
        let looked = self.place.check(self.length).and_then(|()| {
            let journal = self.journal.as_ref();
            journal.map_or(Ok(()), |journal| journal.check(&self.place))
        });
        match looked {
            // The check was not possible; the next sync repeats it.
            Err(e) if error::ran_out(&e) => Ok(()),
            looked => looked.map_err(|e| self.failed(e)),
        }
    }
}

impl Drop for FileDisk {
    fn drop(&mut self) {
        // If closing fails, the next start recovers from the journal.
        if let Some(journal) = self.journal.take() {
            let _ = journal.close();
        }
    }
}

/// Makes a folder for blobs if it does not exist.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
        _ => Ok(()),
    }
}

/// Whether the file exists with exactly these bytes.
pub(super) fn has_content(path: &Path, bytes: &[u8]) -> bool {
    let Ok(file) = open_regular(path) else {
        return false;
    };
    let mut there = Vec::new();
    file.take(bytes.len() as u64 + 1)
        .read_to_end(&mut there)
        .is_ok_and(|_| there == bytes)
}

/// Writes a file atomically: its name either does not exist or has the whole content. The caller syncs the
/// folder. There is only one writer, so one temporary name for each file suffices, and what a crash left
/// under that name is replaced.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(path, "tmp", bytes, |file| {
        file.sync_all().map_err(permanent)
    })
}

/// Like [`write_whole`], but not durable, and under another temporary name, since the settler's thread uses it.
pub(super) fn write_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(path, "new", bytes, |_| Ok(()))
}

fn write(
    path: &Path,
    extension: &str,
    bytes: &[u8],
    sync: fn(&File) -> io::Result<()>,
) -> io::Result<()> {
    let temporary = path.with_extension(extension);
    let create = || {
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&temporary)
    };
    let mut file = match create() {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(&temporary)?;
            create()?
        }
        created => created?,
    };
    let written = file.write_all(bytes).and_then(|()| {
        sync(&file)?;
        fs::rename(&temporary, path)
    });
    // A partial file would waste space when space is short.
    written.inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// Removes temporary files that a crash left behind, as far as possible. The caller must hold the lock.
pub(super) fn remove_temporary(layout: &Layout) {
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let ends_in = |path: &Path, extension: &str| path.extension().is_some_and(|e| e == extension);
    for folder in names(&layout.blobs()) {
        for path in names(&folder) {
            let blob: Option<Digest> = path
                .file_stem()
                .and_then(|stem| stem.to_str()?.parse().ok());
            let ours = blob.is_some_and(|digest| layout.blob(&digest).0 == folder);
            if ours && (ends_in(&path, "tmp") || ends_in(&path, "new")) {
                let _ = fs::remove_file(path);
            }
        }
    }
    for path in names(&layout.quarantine()) {
        if ends_in(&path, "tmp") {
            let _ = fs::remove_file(path);
        }
    }
}

fn begin_segment(layout: &Layout, number: u64, header: &[u8]) -> io::Result<File> {
    let mut file = open_append(&layout.segment(number), true)?;
    file.write_all(header)?;
    file.sync_all()?;
    sync_dir(&layout.log())?;
    Ok(file)
}

fn open_append(path: &Path, new: bool) -> io::Result<File> {
    OpenOptions::new()
        .append(true)
        .create_new(new)
        .mode(0o600)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .open(path)
}

/// Replaces everything from `offset` of a segment with `bytes`. The old tail is cut off only when the new
/// one is durable, so that no crash can lose both.
pub(super) fn replace_tail(path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()> {
    let file = OpenOptions::new()
        .write(true)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .open(path)?;
    file.write_all_at(bytes, offset)?;
    file.sync_all()?;
    file.set_len(offset + bytes.len() as u64)?;
    file.sync_all()
}
