//! One output pipe of a run, and what came through it after the release.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::time::Instant;

use crate::broker::StreamName;

use super::output::Stream;

/// What the interpreter printed before the release is kept up to so many bytes.
const EARLY_MAX: usize = 16 * 1024;

pub struct Pipe {
    pub name: StreamName,
    /// None at its end.
    pub file: Option<File>,
    pub stream: Stream,
    /// What the interpreter itself printed before: for the local log only.
    pub early: Vec<u8>,
}

impl Pipe {
    pub fn new(name: StreamName, fd: Option<OwnedFd>, stream: Stream) -> Self {
        Self {
            name,
            file: fd.map(File::from),
            stream,
            early: Vec::new(),
        }
    }

    /// Takes in what is there. `live`: whether the run was released.
    pub fn read(&mut self, live: bool) {
        let mut buffer = [0u8; 64 * 1024];
        let Some(file) = &mut self.file else {
            return;
        };
        match file.read(&mut buffer) {
            Ok(0) => self.file = None,
            Ok(n) if live => self.stream.feed(&buffer[..n], Instant::now()),
            Ok(n) => {
                let room = EARLY_MAX - self.early.len().min(EARLY_MAX);
                self.early.extend_from_slice(&buffer[..n.min(room)]);
            }
            Err(e) if is_nothing(&e) => {}
            Err(_) => self.file = None,
        }
    }
}

/// Whether reading found nothing this time: what was there may have been taken back.
pub fn is_nothing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
    )
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::given::output_pipe;
    use super::super::output::Redactor;
    use super::*;

    #[test]
    fn what_was_taken_back_before_it_was_read_is_not_waited_for() {
        let [read, write] = output_pipe().unwrap();
        let stream = Stream::new(100, Redactor::default());
        let mut pipe = Pipe::new(StreamName::Stdout, Some(read), stream);
        // Would not come back from here, with the writer still there.
        pipe.read(true);
        assert!(pipe.file.is_some() && !pipe.stream.any());
        let mut write = File::from(write);
        write.write_all(b"more").unwrap();
        pipe.read(true);
        assert!(pipe.stream.any());
        drop(write);
        pipe.read(true);
        assert!(pipe.file.is_none());
    }
}
