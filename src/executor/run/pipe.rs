//! One output stream of a run, with the text from before and after the release.

use std::time::Instant;

use crate::model::StreamName;

use crate::executor::run::output::Stream;

/// Maximum number of bytes to keep of what the interpreter printed before the release.
const EARLY_MAX: usize = 16 * 1024;

pub struct Pipe {
    pub name: StreamName,
    pub stream: Stream,
    /// Output of the interpreter before the release, only for the local log.
    pub early: Vec<u8>,
}

impl Pipe {
    pub const fn new(name: StreamName, stream: Stream) -> Self {
        Self {
            name,
            stream,
            early: Vec::new(),
        }
    }

    /// `released`: whether the snippet runs.
    pub fn take(&mut self, bytes: &[u8], released: bool) {
        if released {
            self.stream.feed(bytes, Instant::now());
        } else {
            let room = EARLY_MAX - self.early.len().min(EARLY_MAX);
            self.early
                .extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }
}
