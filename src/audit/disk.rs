//! What the writer asks of a disk, and the disk that is one.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use super::layout::{Layout, open_regular, sync_dir};
use crate::model::{Blob, Digest};

/// The seam at which tests let a disk fail. No call is ever repeated after it failed.
pub(super) trait Disk: Send {
    /// Writes the content of a blob under its name; durable only after `sync_blobs`.
    fn put(&mut self, blob: &Blob) -> io::Result<()>;
    /// Makes the names of all blobs put so far durable.
    fn sync_blobs(&mut self) -> io::Result<()>;
    /// Adds bytes to the current segment.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes everything appended durable.
    fn sync(&mut self) -> io::Result<()>;
    /// Begins segment `number` with `header`, durably, under the name it keeps.
    fn rotate(&mut self, number: u64, header: &[u8]) -> io::Result<()>;
}

/// A state folder.
#[derive(Debug)]
pub(super) struct FileDisk {
    layout: Layout,
    segment: File,
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
        Ok(Self {
            layout,
            segment,
            dirty: BTreeSet::new(),
        })
    }

    /// Begins the first segment.
    pub fn first_segment(layout: Layout, header: &[u8]) -> io::Result<Self> {
        let segment = begin_segment(&layout, 1, header)?;
        Ok(Self {
            layout,
            segment,
            dirty: BTreeSet::new(),
        })
    }
}

impl Disk for FileDisk {
    fn put(&mut self, blob: &Blob) -> io::Result<()> {
        if Digest::of(&blob.bytes) != blob.sha256 {
            return Err(io::Error::other("a blob is not what its digest says"));
        }
        let (folder, path) = self.layout.blob(&blob.sha256);
        self.dirty.insert(folder.clone());
        if holds(&path, &blob.bytes) {
            return Ok(());
        }
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => {
                self.dirty.insert(self.layout.blobs());
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
        write_whole(&path, &blob.bytes)
    }

    fn sync_blobs(&mut self) -> io::Result<()> {
        while let Some(folder) = self.dirty.pop_first() {
            sync_dir(&folder)?;
        }
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.segment.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.segment.sync_data()
    }

    fn rotate(&mut self, number: u64, header: &[u8]) -> io::Result<()> {
        self.segment = begin_segment(&self.layout, number, header)?;
        Ok(())
    }
}

/// Whether the file holds exactly these bytes already.
fn holds(path: &Path, bytes: &[u8]) -> bool {
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
    let temporary = path.with_extension("tmp");
    let _ = fs::remove_file(&temporary);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&temporary, path)
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
