//! A durable note of how far the log was acknowledged, for what the journal cannot prove.
//!
//! The journal proves that the batches in its frames were acknowledged. When it drops frames (at the end of a
//! turn, on close) or is bypassed (by a batch written directly to the segment), the end of the acknowledged
//! log is noted in the file `lock`. Damage before that place concerns acknowledged records, so a start never
//! sets it aside without a person. A note can be out of date but never claims too much. It is no protection
//! against somebody who can write the folder.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::{Mutex, PoisonError};

use nix::fcntl::OFlag;

use super::error;
use super::layout::{Layout, open_regular};

/// A place in a log. Marks compare in log order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark {
    pub segment: u64,
    pub offset: u64,
}

/// The content of the file `lock`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Note {
    /// The last holder of the lock, if known.
    pub pid: Option<i32>,
    /// Whether the folder ever had a log.
    pub begun: bool,
    pub acknowledged: Option<Mark>,
}

impl Note {
    /// Reads at most 128 bytes, more than a note ever has: the file may be crafted.
    pub fn read(file: &File) -> io::Result<Self> {
        let mut bytes = [0; 128];
        let read = file.read_at(&mut bytes, 0)?;
        let text = String::from_utf8_lossy(&bytes[..read]);
        let mut lines = text.lines();
        let pid = lines.next().and_then(|line| line.parse().ok());
        let mut words = lines.next().unwrap_or_default().split(' ');
        let begun = words.next() == Some("log");
        let mut number = || words.next()?.parse().ok();
        let mark = || {
            Some(Mark {
                segment: number()?,
                offset: number()?,
            })
        };
        Ok(Self {
            pid: pid.filter(|p| *p > 0),
            begun,
            acknowledged: Some(mark).filter(|_| begun).and_then(|mut mark| mark()),
        })
    }

    /// The note of a state folder; empty if there is no `lock`.
    pub fn of(layout: &Layout) -> io::Result<Self> {
        match open_regular(&layout.lock()) {
            Ok(file) => Self::read(&file),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(e) => Err(e),
        }
    }

    /// Writes the note with this process's pid, which only serves messages: the kernel keeps the lock itself.
    pub fn write(&self, file: &File) -> io::Result<()> {
        let mut text = format!("{}\n", std::process::id());
        if let Some(Mark { segment, offset }) = self.acknowledged {
            text.push_str(&format!("log {segment} {offset}\n"));
        } else if self.begun {
            text.push_str("log\n");
        }
        file.write_all_at(text.as_bytes(), 0)?;
        file.set_len(text.len() as u64)
    }
}

/// Notes how far everything is durable in its final place. The owner must hold the lock.
#[derive(Debug)]
pub(super) struct Marker {
    file: File,
    noted: Mutex<Mark>,
}

impl Marker {
    pub fn open(layout: &Layout) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
            .open(layout.lock())?;
        Ok(Self {
            file,
            noted: Mutex::default(),
        })
    }

    /// Notes a place durably. Does nothing if a later place is noted; if space runs out, the old note stays.
    pub fn note(&self, mark: Mark) -> io::Result<()> {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if mark <= *noted {
            return Ok(());
        }
        let note = Note {
            pid: None,
            begun: true,
            acknowledged: Some(mark),
        };
        match note.write(&self.file).and_then(|()| self.file.sync_data()) {
            Err(e) if !error::ran_out(&e) => return Err(e),
            _ => *noted = mark,
        }
        Ok(())
    }
}
