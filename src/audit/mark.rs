//! Up to where the log was acknowledged, where the journal does not say it.
//!
//! The journal vouches for what its frames hold. Whenever it forgets (at the end of a turn, at the close) or
//! is not asked (a batch that went to the segment directly), the place is noted here, in the file `lock`,
//! durably: whatever is wrong before that place was promised to somebody, and no start sets it aside by
//! itself. A note can be old, and is never false. Whoever can write the folder can change it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::{Mutex, PoisonError};

use nix::fcntl::OFlag;

use super::error;
use super::layout::{Layout, open_regular};

/// A place in a log: every byte before it is in a place that is less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark {
    pub segment: u64,
    pub offset: u64,
}

/// What `lock` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Note {
    /// Of who had the lock last, where it could be told.
    pub pid: Option<i32>,
    /// Whether a log was begun.
    pub begun: bool,
    pub acknowledged: Option<Mark>,
}

impl Note {
    /// No more than it ever holds is read.
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

    /// What the file of a folder says; nothing where it is not there.
    pub fn of(layout: &Layout) -> io::Result<Self> {
        match open_regular(&layout.lock()) {
            Ok(file) => Self::read(&file),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(e) => Err(e),
        }
    }

    /// Says it, with the own pid: for people, the lock itself is the kernel's.
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

/// Notes up to where everything is durable in its own place. Only under the lock.
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

    /// Notes a place, durably. One before it changes nothing; where there is no room, the old note stays.
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
