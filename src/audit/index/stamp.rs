//! Whether the files of the log are still the ones that were read.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::layout::Layout;

/// What the file system says of a file. It has no word of a change that its owner hides, which only
/// `audit verify` finds; a copy of the file has another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    dev: u64,
    ino: u64,
    bytes: u64,
    /// Nanoseconds since 1970: last change of the content, and of anything.
    mtime: i128,
    ctime: i128,
}

impl Stamp {
    /// `None` if there is no file.
    pub fn of(path: &Path) -> io::Result<Option<Self>> {
        let meta = match fs::symlink_metadata(path) {
            Ok(meta) => meta,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e),
        };
        let ns = |s: i64, n: i64| i128::from(s) * 1_000_000_000 + i128::from(n);
        Ok(Some(Self {
            dev: meta.dev(),
            ino: meta.ino(),
            bytes: meta.len(),
            mtime: ns(meta.mtime(), meta.mtime_nsec()),
            ctime: ns(meta.ctime(), meta.ctime_nsec()),
        }))
    }

    /// Whether it is the same file, which may have grown.
    fn grew_to(self, later: Self) -> bool {
        (self.dev, self.ino) == (later.dev, later.ino) && later.bytes >= self.bytes
    }
}

/// The segments, and the contents that were found missing or changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamps {
    segments: Vec<(u64, Option<Stamp>)>,
    faulty: Vec<(PathBuf, Option<Stamp>)>,
}

/// How the files compare with those that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Since {
    Unchanged,
    /// The last segment grew, or there are more.
    Grew,
    Changed,
}

impl Stamps {
    pub fn of<'f>(layout: &Layout, faulty: impl Iterator<Item = &'f str>) -> io::Result<Self> {
        let segments = layout.segments()?.into_iter();
        let segments = segments.map(|n| Ok((n, Stamp::of(&layout.segment(n))?)));
        let faulty = faulty.map(|file| Ok((file.into(), Stamp::of(&layout.state.join(file))?)));
        Ok(Self {
            segments: segments.collect::<io::Result<_>>()?,
            faulty: faulty.collect::<io::Result<_>>()?,
        })
    }

    /// The same segments, with the contents that are faulty by now.
    pub fn with(self, faulty: Self) -> Self {
        Self {
            faulty: faulty.faulty,
            ..self
        }
    }

    pub fn now(&self, layout: &Layout) -> io::Result<Since> {
        let faulty = self.faulty.iter().filter_map(|(file, _)| file.to_str());
        let now = Self::of(layout, faulty)?;
        if now == *self {
            return Ok(Since::Unchanged);
        }
        let Some(((last, before), earlier)) = self.segments.split_last() else {
            return Ok(Since::Changed);
        };
        let same = now.faulty == self.faulty && now.segments.starts_with(earlier);
        let there = now.segments.get(earlier.len());
        let grew = there.is_some_and(|(n, stamp)| {
            n == last && before.zip(*stamp).is_some_and(|(a, b)| a.grew_to(b))
        });
        Ok(match same && grew {
            true => Since::Grew,
            false => Since::Changed,
        })
    }
}
