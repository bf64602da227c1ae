//! Splits bytes into lines: one JSON object per line, LF at the end, at most 1 MiB.

use std::io::{self, BufRead as _};

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Bytes of a frame without its LF (protocol.md §2).
pub const FRAME_MAX: usize = 1024 * 1024;

/// Bytes that a buffer keeps between frames; a large frame's memory is released.
const KEEP: usize = 64 * 1024;

/// Bytes requested from the kernel at a time.
const CHUNK: usize = 16 * 1024;

/// What a read returned.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// A line without its LF. Also an unfinished last line.
    Line(Vec<u8>),
    /// A line longer than a frame may be. What follows cannot be split into lines.
    TooLong,
    /// The peer sends no more.
    End,
}

/// Splits what a peer sends into lines.
#[derive(Debug)]
pub struct FrameReader<R> {
    source: R,
    buffer: Vec<u8>,
    /// Where the first line not yet taken begins. Taking a line moves this index, not the bytes:
    /// with a buffer full of short lines, moving bytes would take quadratic time.
    start: usize,
    /// There is no LF between `start` and here.
    searched: usize,
    limit: usize,
    ended: bool,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    pub fn new(source: R, limit: usize) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            limit,
            ended: false,
        }
    }

    /// The next line, if a whole one has already arrived.
    pub fn take(&mut self) -> Option<Next> {
        let found = line_feed(&self.buffer[self.searched..]);
        let end = found.map_or(self.buffer.len(), |at| self.searched + at);
        if end - self.start > self.limit {
            return Some(Next::TooLong);
        }
        if found.is_some() {
            let line = self.buffer[self.start..end].to_vec();
            self.start = end + 1;
            self.searched = self.start;
            return Some(Next::Line(line));
        }
        self.searched = end;
        if !self.ended {
            return None;
        }
        let rest = self.buffer.split_off(self.start);
        self.forget();
        Some(match rest.is_empty() {
            true => Next::End,
            false => Next::Line(rest),
        })
    }

    /// Waits for more bytes. Can be dropped at any await without losing any.
    pub async fn fill(&mut self) -> io::Result<()> {
        if self.is_within() {
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        } else {
            self.forget();
        }
        self.buffer.reserve(CHUNK);
        if self.source.read_buf(&mut self.buffer).await? == 0 {
            self.ended = true;
        }
        Ok(())
    }

    /// The next line.
    pub async fn next(&mut self) -> io::Result<Next> {
        loop {
            if let Some(next) = self.take() {
                return Ok(next);
            }
            self.fill().await?;
        }
    }

    pub fn source(&self) -> &R {
        &self.source
    }

    /// Whether a line has begun but is not complete.
    pub fn is_within(&self) -> bool {
        self.start < self.buffer.len()
    }

    /// Reads and discards until the peer stops sending.
    pub async fn discard(&mut self) -> io::Result<()> {
        while !self.ended {
            self.forget();
            self.fill().await?;
        }
        Ok(())
    }

    /// Empties the buffer and releases the memory that a large line took.
    fn forget(&mut self) {
        self.buffer.clear();
        self.buffer.shrink_to(KEEP);
        self.start = 0;
        self.searched = 0;
    }
}

/// The position of the first LF. The standard library's search is many times faster than a loop.
fn line_feed(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    // Reading from a slice cannot fail.
    let passed = rest.skip_until(b'\n').unwrap_or(0);
    passed.checked_sub(1).filter(|at| bytes[*at] == b'\n')
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    async fn read_all(bytes: &[u8], limit: usize) -> Vec<Next> {
        let mut reader = FrameReader::new(bytes, limit);
        let mut seen = Vec::new();
        loop {
            let next = reader.next().await.unwrap();
            let last = next == Next::End || next == Next::TooLong;
            seen.push(next);
            if last {
                return seen;
            }
        }
    }

    fn line(text: &str) -> Next {
        Next::Line(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn lines_are_cut_at_lf_and_the_unfinished_last_one_counts() {
        assert_eq!(
            read_all(b"ab\n\ncd\r\nef", 10).await,
            [line("ab"), line(""), line("cd\r"), line("ef"), Next::End]
        );
    }

    #[tokio::test]
    async fn the_limit_is_exact_whether_or_not_the_end_was_seen() {
        assert_eq!(read_all(b"12345\n", 5).await, [line("12345"), Next::End]);
        assert_eq!(read_all(b"123456\n", 5).await, [Next::TooLong]);
        assert_eq!(read_all(b"123456", 5).await, [Next::TooLong]);
        assert_eq!(
            read_all(b"1\n123456789", 5).await,
            [line("1"), Next::TooLong]
        );
    }

    #[tokio::test]
    async fn a_buffer_full_of_empty_lines_costs_no_more_than_its_length() {
        let mut bytes = vec![b'x'; FRAME_MAX];
        bytes.resize(8 * FRAME_MAX, b'\n');
        let mut reader = FrameReader::new(bytes.as_slice(), FRAME_MAX);
        let started = std::time::Instant::now();
        let mut lines = 0;
        while reader.next().await.unwrap() != Next::End {
            lines += 1;
        }
        assert_eq!(lines, 7 * FRAME_MAX);
        // Moving the remaining bytes for each line would take minutes.
        assert!(started.elapsed() < std::time::Duration::from_secs(120));
    }

    #[tokio::test]
    async fn a_line_torn_into_single_bytes_arrives_whole() {
        let (mut far, near) = tokio::io::duplex(1);
        let writer = tokio::spawn(async move {
            for byte in b"{\"a\":1}\n{}\n" {
                far.write_all(&[*byte]).await.unwrap();
            }
        });
        let mut reader = FrameReader::new(near, FRAME_MAX);
        assert_eq!(reader.next().await.unwrap(), line("{\"a\":1}"));
        assert_eq!(reader.next().await.unwrap(), line("{}"));
        assert_eq!(reader.next().await.unwrap(), Next::End);
        writer.await.unwrap();
    }
}
