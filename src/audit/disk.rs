//! What the writer asks of a disk, and the disk that is one.

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
use super::settler::lasting;
use crate::model::{Blob, Digest};

/// Contents up to this size become durable in the journal, with the lines that name them; larger ones
/// in files of their own.
const SMALL: usize = 256 * 1024;
/// So much room for lines is kept from batch to batch.
const LINES_KEPT: usize = 1024 * 1024;
/// Contents remembered as durable.
const VOUCHED: usize = 100_000;

/// The seam at which tests let a disk fail. No sync is ever repeated after it failed.
pub(super) trait Disk: Send {
    /// Keeps the content of a blob; durable only after `sync_blobs` and `sync`. An error that is
    /// one of [`super::error::ran_out`] left nothing behind and touched nothing else.
    fn put(&mut self, blob: &Blob) -> io::Result<()>;
    /// Makes the names of blobs durable that have files of their own already. After an error that is one of
    /// [`super::error::ran_out`] the next call does what is left.
    fn sync_blobs(&mut self) -> io::Result<()>;
    /// Adds bytes to the current segment.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes everything appended and put durable, and makes sure that readers can find it.
    fn sync(&mut self) -> io::Result<()>;
    /// Begins segment `number` with `header`, durably, under the name it keeps. `false`: there was no
    /// descriptor or no room for it, and the segment before it goes on.
    fn rotate(&mut self, number: u64, header: &[u8]) -> io::Result<bool>;
    /// Makes sure, between two batches, that readers can find what was written.
    fn look(&mut self) -> io::Result<()>;
}

/// A state folder.
#[derive(Debug)]
pub(super) struct FileDisk {
    layout: Layout,
    place: LogLocation,
    segment: File,
    number: u64,
    /// Bytes the segment has after all that was appended.
    length: u64,
    marker: Arc<Marker>,
    /// `None` after an error: what it holds stays for the next start.
    journal: Option<Journal>,
    /// What the next sync makes durable.
    lines: Vec<u8>,
    blobs: Vec<Blob>,
    /// The digests of these, and how much room they take.
    taken: HashSet<Digest>,
    room: usize,
    /// Contents that are durable in their own places, or in the journal.
    vouched: HashSet<Digest>,
    /// Folders whose names are not durable yet.
    dirty: BTreeSet<PathBuf>,
}

impl FileDisk {
    /// Continues the segment `number`, which exists.
    pub fn continue_segment(layout: Layout, number: u64) -> io::Result<Self> {
        let segment = open_append(&layout.segment(number), false)?;
        // What an earlier process wrote but had not made durable is built upon from here on.
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
        // All that is there is durable, and is built upon.
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
            vouched: HashSet::new(),
            dirty: BTreeSet::new(),
        })
    }

    /// Whether the next sync makes this content durable.
    fn journaled(&mut self, blob: &Blob) -> io::Result<bool> {
        let Some(journal) = &mut self.journal else {
            return Ok(false);
        };
        if blob.bytes.len() > SMALL || !journal.take(blob, self.room)? {
            return Ok(false);
        }
        if !self.vouched.contains(&blob.sha256) && self.taken.insert(blob.sha256) {
            self.room += blob.bytes.len() + 64;
            self.blobs.push(blob.clone());
        }
        Ok(true)
    }

    /// No sync comes after one that failed, not even the journal's last.
    fn failed(&mut self, error: io::Error) -> io::Error {
        self.journal = None;
        lasting(error)
    }

    fn sync_with(&mut self, journal: &mut Journal) -> io::Result<()> {
        let end = Mark {
            segment: self.number,
            offset: self.length + self.lines.len() as u64,
        };
        match journal.commit(self.number, self.length, &self.lines, &self.blobs) {
            // Durable; from here on it only goes to where it is read.
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
        if self.vouched.len() > VOUCHED {
            self.vouched.clear();
        }
        self.vouched.extend(self.taken.drain());
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
        if !holds(&path, &blob.bytes) {
            make_folder(&folder)?;
            write_whole(&path, &blob.bytes)?;
        }
        // The folder may have been made for a content that only the journal vouches for.
        self.dirty.insert(self.layout.blobs());
        self.dirty.insert(folder);
        Ok(())
    }

    fn sync_blobs(&mut self) -> io::Result<()> {
        while let Some(folder) = self.dirty.first() {
            // To open it is no sync yet: what fails here is tried again.
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
        // Both descriptors first: afterwards every error is one of writing.
        let opened = File::open(self.layout.log()).and_then(|folder| {
            let segment = open_append(&self.layout.segment(number), true)?;
            Ok((folder, segment))
        });
        let (folder, mut segment) = match opened {
            Ok(opened) => opened,
            Err(e) if error::ran_out(&e) => return Ok(false),
            Err(e) => return Err(e),
        };
        // What is not the last segment is whole without the journal.
        self.segment
            .sync_all()
            .and_then(|()| segment.write_all(header))
            .and_then(|()| segment.sync_all())
            .and_then(|()| folder.sync_all())
            .and_then(|()| self.place.goes_on(&segment, number))
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
            // Whether it is there could not be told; the next record will.
            Err(e) if error::ran_out(&e) => Ok(()),
            looked => looked.map_err(|e| self.failed(e)),
        }
    }
}

impl Drop for FileDisk {
    fn drop(&mut self) {
        // What stays in the journal when this fails is put back by the next start.
        if let Some(journal) = self.journal.take() {
            let _ = journal.close();
        }
    }
}

/// Makes a folder for blobs, unless it is there.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
        _ => Ok(()),
    }
}

/// Whether the file holds exactly these bytes already.
pub(super) fn holds(path: &Path, bytes: &[u8]) -> bool {
    let Ok(file) = open_regular(path) else {
        return false;
    };
    let mut there = Vec::new();
    file.take(bytes.len() as u64 + 1)
        .read_to_end(&mut there)
        .is_ok_and(|_| there == bytes)
}

/// Writes a file so that its name either does not exist or holds all of it. The caller makes the
/// folder durable. There is one writer, so one temporary name for each file is enough, and what a
/// crash left under it is overwritten.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(path, "tmp", bytes, |file| file.sync_all().map_err(lasting))
}

/// The same beside the writer's thread, and not durable.
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
    // A file that found no room takes room from all that follows.
    written.inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// Removes what a crash left under temporary names. Only under the lock; what cannot be removed stays.
pub(super) fn remove_temporary(layout: &Layout) {
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let of = |path: &Path, extension: &str| path.extension().is_some_and(|e| e == extension);
    for folder in names(&layout.blobs()) {
        for path in names(&folder) {
            let blob: Option<Digest> = path
                .file_stem()
                .and_then(|stem| stem.to_str()?.parse().ok());
            let ours = blob.is_some_and(|digest| layout.blob(&digest).0 == folder);
            if ours && (of(&path, "tmp") || of(&path, "new")) {
                let _ = fs::remove_file(path);
            }
        }
    }
    for path in names(&layout.quarantine()) {
        if of(&path, "tmp") {
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

/// Puts `bytes` at `offset` of a segment in place of all that follows. The old tail goes only once
/// the new one is durable, so that no crash in between can lose both.
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
