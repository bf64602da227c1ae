//! Whether a log goes on from its newest checkpoint, without reading it.
//!
//! Each line has the hash of the line before it, so in a sound chain the line of the last record that was signed stands for
//! all before it. It is looked for from the log's end, not through the index, and must lead to the checkpoint's root.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use super::checkpoint::Signed;
use super::store::Store;
use super::tree::{inclusion, leads_to, leaf};
use crate::audit::layout::{Layout, open_regular};
use crate::audit::line::claimed_seq;

/// How much of a segment's end is read at first.
const WINDOW: u64 = 64 * 1024;

/// Whether the last record that was signed is the one that the log has; `None` if that cannot be told without reading
/// the log.
pub(in crate::audit) fn ends_as_signed(
    layout: &Layout,
    store: &Store,
    signed: &Signed,
) -> Option<bool> {
    let checkpoint = &signed.checkpoint;
    let size = checkpoint.size;
    let index = size.checked_sub(1)?;
    let line = line_of(layout, size).ok()??;
    let path = inclusion(&store.hashes().ok()?, index, size).ok()?;
    Some(leads_to(index, size, leaf(&line), &path) == Some(checkpoint.root))
}

/// The line that claims to be of this record.
pub(super) fn line_of(layout: &Layout, seq: u64) -> io::Result<Option<Vec<u8>>> {
    for number in layout.segments()?.into_iter().rev() {
        let file = open_regular(&layout.segment(number))?;
        match look(&file, seq)? {
            Looked::Found(line) => return Ok(Some(line)),
            Looked::Passed => return Ok(None),
            Looked::Earlier => {}
        }
    }
    Ok(None)
}

enum Looked {
    Found(Vec<u8>),
    /// There are only earlier records before it.
    Passed,
    /// All records here are later ones.
    Earlier,
}

fn look(file: &File, seq: u64) -> io::Result<Looked> {
    let length = file.metadata()?.len();
    let mut window = WINDOW;
    loop {
        let from = length.saturating_sub(window);
        let mut bytes = vec![0; usize::try_from(length - from).unwrap_or(0)];
        file.read_exact_at(&mut bytes, from)?;
        let mut lines = bytes.as_slice();
        if from > 0 {
            // Its first line may have begun before.
            let whole = lines.iter().position(|b| *b == b'\n').map(|at| at + 1);
            lines = &lines[whole.unwrap_or(lines.len())..];
        }
        for line in lines.rsplit(|b| *b == b'\n') {
            match claimed_seq(line) {
                Some(n) if n == seq => return Ok(Looked::Found(line.to_vec())),
                Some(n) if n < seq => return Ok(Looked::Passed),
                _ => {}
            }
        }
        if from == 0 {
            return Ok(Looked::Earlier);
        }
        window = window.saturating_mul(8);
    }
}
