//! Contents that a rule compares with a record. What is not there, or is not what its name says, is judged elsewhere.

use std::io::Read as _;

use super::super::layout::{Layout, open_regular};
use crate::model::Digest;

/// A frame of the socket brings no more.
const MOST: u64 = 1024 * 1024;

pub(super) fn read(layout: &Layout, digest: &Digest) -> Option<String> {
    let mut text = String::new();
    let file = open_regular(&layout.blob(digest).1).ok()?;
    file.take(MOST).read_to_string(&mut text).ok()?;
    (Digest::of(text.as_bytes()) == *digest).then_some(text)
}

/// How many bytes it has.
pub(super) fn len(layout: &Layout, digest: &Digest) -> Option<u64> {
    let file = std::fs::symlink_metadata(layout.blob(digest).1).ok()?;
    file.is_file().then_some(file.len())
}
