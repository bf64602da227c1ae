//! What the index could hide of single proposals: the segments are searched for their ids, without being judged.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Read as _};

use serde::Deserialize;

use super::super::layout::{Layout, open_regular};
use super::super::line::LINE_MAX;
use super::lines::Place;
use super::{Index, IndexError};
use crate::model::ProposalId;

/// What is read of a line.
#[derive(Deserialize)]
struct Named {
    id: Option<ProposalId>,
}

impl Index {
    /// Whether the log has a line of this proposal that the index does not name.
    pub fn hides(&self, id: ProposalId) -> Result<bool, IndexError> {
        let places = match self.number(id)? {
            Some(n) => Place::all_of(&self.connection, n)?,
            None => Vec::new(),
        };
        let known: HashSet<(i64, i64)> = places.iter().map(|p| (p.segment, p.offset)).collect();
        let mut hidden = false;
        each_line_with(
            &self.log.layout,
            &id.to_string(),
            |segment, offset, line| {
                let at = (segment.cast_signed(), offset.cast_signed());
                hidden = !known.contains(&at) && named(line) == Some(id);
                !hidden
            },
        )?;
        Ok(hidden)
    }

    /// The ids in the log that begin or end with these digits, two at most.
    pub fn ids_in_lines(&self, digits: &str) -> Result<Vec<ProposalId>, IndexError> {
        let mut found = Vec::new();
        each_line_with(&self.log.layout, digits, |_, _, line| {
            let id = named(line).filter(|id| {
                let id = id.to_string();
                id.starts_with(digits) || id.ends_with(digits)
            });
            found.extend(id.filter(|id| !found.contains(id)));
            found.len() < 2
        })?;
        Ok(found)
    }
}

fn named(line: &[u8]) -> Option<ProposalId> {
    serde_json::from_slice::<Named>(line).ok()?.id
}

/// Passes the lines that have this text, each with its segment and where it begins there, until `visit` has enough.
fn each_line_with(
    layout: &Layout,
    text: &str,
    mut visit: impl FnMut(u64, u64, &[u8]) -> bool,
) -> Result<(), IndexError> {
    let mut line = Vec::new();
    for segment in layout.segments()? {
        let file = open_regular(&layout.segment(segment))?;
        let mut lines = BufReader::with_capacity(256 * 1024, file);
        let mut offset = 0;
        loop {
            line.clear();
            let most = LINE_MAX as u64 + 1;
            let read = lines.by_ref().take(most).read_until(b'\n', &mut line)? as u64;
            if read == 0 {
                break;
            }
            let has = std::str::from_utf8(&line).is_ok_and(|line| line.contains(text));
            if has && !visit(segment, offset, line.strip_suffix(b"\n").unwrap_or(&line)) {
                return Ok(());
            }
            offset += read;
        }
    }
    Ok(())
}
