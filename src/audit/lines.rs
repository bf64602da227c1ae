//! Where a walk of the chain gets its lines from: one after the other, or read and hashed ahead by threads.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::layout::open_regular;
use super::line::{LINE_MAX, Record, Sealed, unseal};
use crate::model::Digest;

/// The lines of segments.
pub(super) trait Lines {
    /// Goes to a place of a segment, where a line begins.
    fn begin(&mut self, path: &Path, offset: u64) -> io::Result<()>;

    /// The next line; `None` at the end of the segment.
    fn next(&mut self) -> io::Result<Option<Lined<'_>>>;
}

/// A line before its place in the chain is checked.
pub(super) struct Lined<'a> {
    /// With its line feed, unless its end is missing; one byte more than [`LINE_MAX`] if it is longer than any record.
    pub bytes: &'a [u8],
    /// What its fixed positions say. Of no line whose end is missing.
    pub sealed: Result<Sealed, &'static str>,
    pub ahead: Ahead<'a>,
}

/// The results of [`super::contents::check`], for some contents.
pub(super) type Looked = HashMap<Digest, Result<bool, String>>;

/// What threads found out of a line before its turn.
#[derive(Default)]
pub(super) struct Ahead<'a> {
    pub record: Cell<Option<Result<Box<Record>, String>>>,
    pub looked: Option<&'a Looked>,
}

impl fmt::Debug for Ahead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ahead").finish_non_exhaustive()
    }
}

/// Lines that are read when it is their turn.
#[derive(Default)]
pub(super) struct OneByOne {
    segment: Option<BufReader<File>>,
    buffer: Vec<u8>,
}

impl Lines for OneByOne {
    fn begin(&mut self, path: &Path, offset: u64) -> io::Result<()> {
        let mut segment = open_regular(path)?;
        segment.seek(SeekFrom::Start(offset))?;
        self.segment = Some(BufReader::with_capacity(256 * 1024, segment));
        Ok(())
    }

    fn next(&mut self) -> io::Result<Option<Lined<'_>>> {
        let Some(segment) = &mut self.segment else {
            return Ok(None);
        };
        self.buffer.clear();
        let mut line = segment.take(LINE_MAX as u64 + 1);
        if line.read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        Ok(Some(Lined {
            bytes: &self.buffer,
            sealed: sealed(&self.buffer),
            ahead: Ahead::default(),
        }))
    }
}

/// Reads the fixed positions of a line that has its end.
pub(super) fn sealed(line: &[u8]) -> Result<Sealed, &'static str> {
    match line.strip_suffix(b"\n") {
        Some(bytes) if line.len() <= LINE_MAX => unseal(bytes),
        _ => Err("its end is missing"),
    }
}
