//! A file of messages without secrets.

use std::io::{self, Write};

use super::{Counts, Secrets};

/// Whoever writes a message at once has all of it searched.
pub(super) struct Without<W> {
    pub secrets: Secrets,
    pub inner: W,
}

impl<W: Write> Write for Without<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let kept = self.secrets.redact(&text, &mut Counts::new());
        self.inner.write_all(kept.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
