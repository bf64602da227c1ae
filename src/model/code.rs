//! Source text that is judged, shown and run.

use std::sync::Arc;

use super::Digest;

/// Source text with the digest of its exact bytes. Only [`Code::new`] makes one, so that the two agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    text: Arc<str>,
    digest: Digest,
}

impl Code {
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let digest = Digest::of(text.as_bytes());
        Self { text, digest }
    }

    pub const fn text(&self) -> &Arc<str> {
        &self.text
    }

    pub const fn digest(&self) -> Digest {
        self.digest
    }

    pub fn bytes(&self) -> u64 {
        self.text.len() as u64
    }
}
