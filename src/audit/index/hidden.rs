//! What the index could hide of single proposals: the segments are searched for their ids, without being judged.
//!
//! The search is one over bytes, by all processors. What it finds and the index names is passed over; only the rest is
//! looked at as lines. It ends where the index was read to: what a dashboard writes meanwhile is nothing that it hides; and
//! before it at the proposal's end, if that is shown: behind it can only stand what became of kept contents, which the
//! check finds (`unread`).

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::fs::FileExt as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use aho_corasick::AhoCorasick;
use serde::Deserialize;

use super::super::layout::{Layout, open_regular};
use super::super::line::{LINE_MAX, Record};
use super::super::mark::Mark;
use super::lines::Place;
use super::{Index, IndexError};
use crate::model::{ProposalId, State};

/// So much is searched at once: it stays in the processor's own memory between the reading and the search.
const PIECE: u64 = 256 * 1024;
/// More processors find no more: the file system's memory is the limit.
const THREADS: usize = 4;

/// What is read of a line.
#[derive(Deserialize)]
struct Named {
    id: Option<ProposalId>,
}

/// The lines of some proposals that the index names, and whose they are.
#[derive(Default)]
pub(super) struct Lines {
    /// Where each line begins and ends.
    places: HashMap<ProposalId, Vec<(u64, u64, u64)>>,
    /// The first of them.
    from: Option<Mark>,
    /// Behind the record with which the only proposal ended.
    until: Option<Mark>,
}

impl Lines {
    pub fn add(&mut self, id: ProposalId, segment: u64, offset: u64, length: usize) {
        let end = offset + length as u64;
        self.places
            .entry(id)
            .or_default()
            .push((segment, offset, end));
        let at = Mark { segment, offset };
        if self.from.is_none_or(|from| at < from) {
            self.from = Some(at);
        }
    }

    pub fn of(id: ProposalId, lines: &[(Place, Vec<u8>)]) -> Self {
        let mut shown = Self::default();
        // One that was never proposed is looked for from the beginning.
        shown.places.entry(id).or_default();
        shown.from = Some(Mark::default());
        for (place, bytes) in lines {
            let (segment, offset) = (place.segment.cast_unsigned(), place.offset.cast_unsigned());
            let begins = shown.places[&id].is_empty() && is_first(bytes);
            shown.add(id, segment, offset, bytes.len());
            if is_last(bytes) {
                let offset = offset + bytes.len() as u64;
                shown.until = Some(Mark { segment, offset });
            }
            if begins {
                shown.from = Some(Mark { segment, offset });
            }
        }
        shown
    }

    pub fn take_in(&mut self, other: Self) {
        if let Some(from) = other.from {
            self.from = Some(self.from.map_or(from, |own| own.min(from)));
        }
        self.places.extend(other.places);
    }

    fn has(&self, id: ProposalId, segment: u64, at: u64) -> bool {
        let places = self.places.get(&id).into_iter().flatten();
        places
            .into_iter()
            .any(|(of, begin, end)| *of == segment && (*begin..*end).contains(&at))
    }
}

/// Whether a line is the first one of its proposal.
fn is_first(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Kind<'a> {
        kind: &'a str,
    }
    serde_json::from_slice::<Kind<'_>>(line).is_ok_and(|line| line.kind == "proposed")
}

/// Whether its proposal ended with a line.
fn is_last(line: &[u8]) -> bool {
    let state = Record::parse(line).ok().and_then(|r| r.event.state());
    state.is_some_and(State::is_final)
}

impl Index {
    /// A proposal of these of which the log has a line that is not among those shown, after the first of them.
    pub(super) fn hidden(&self, shown: &Lines) -> Result<Option<ProposalId>, IndexError> {
        let Some(from) = shown.from else {
            return Ok(None);
        };
        let ids: Vec<ProposalId> = shown.places.keys().copied().collect();
        let end = self.resume.walk.scanned().head.mark();
        let end = shown.until.map_or(end, |until| until.min(end));
        let found = hits(&self.log.layout, from, end, &ids)?;
        for (segment, at, n) in found {
            let Some(id) = ids.get(n).filter(|id| !shown.has(**id, segment, at)) else {
                continue;
            };
            // The text of another proposal can have it too.
            let line = line_around(&self.log.layout, segment, at)?;
            if named(&line) == Some(*id) {
                return Ok(Some(*id));
            }
        }
        Ok(None)
    }

    /// The ids in the log that begin or end with these digits, two at most.
    pub fn ids_in_lines(&self, digits: &str) -> Result<Vec<ProposalId>, IndexError> {
        let mut found = Vec::new();
        each_line_with(&self.log.layout, digits, |line| {
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

pub(super) fn named(line: &[u8]) -> Option<ProposalId> {
    serde_json::from_slice::<Named>(line).ok()?.id
}

/// Where these ids stand between two places: the segment, where in it, and which of them.
fn hits(
    layout: &Layout,
    from: Mark,
    end: Mark,
    ids: &[ProposalId],
) -> Result<Vec<(u64, u64, usize)>, IndexError> {
    let texts: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let longest = texts.iter().map(String::len).max().unwrap_or(0) as u64;
    let search = AhoCorasick::new(&texts).map_err(|e| IndexError::Other(e.to_string()))?;
    let (mut files, mut pieces) = (Vec::new(), Vec::new());
    for segment in layout.segments()? {
        if !(from.segment..=end.segment).contains(&segment) {
            continue;
        }
        let file = open_regular(&layout.segment(segment))?;
        let whole = file.metadata()?.len();
        let last = match segment == end.segment {
            true => end.offset.min(whole),
            false => whole,
        };
        let mut at = match segment == from.segment {
            true => from.offset,
            false => 0,
        };
        while at < last {
            pieces.push((files.len(), at, (at + PIECE).min(last), last));
            at += PIECE;
        }
        files.push((segment, file));
    }
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || -> io::Result<()> {
        let mut bytes = Vec::new();
        while let Some((file, begin, end, last)) = pieces.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let (segment, file) = &files[*file];
            // What begins in this piece may end in the next.
            let through = (*end + longest.saturating_sub(1)).min(*last);
            bytes.resize(usize::try_from(through - begin).unwrap_or(0), 0);
            file.read_exact_at(&mut bytes, *begin)?;
            let here = search.find_iter(&bytes);
            let here = here.map(|hit| (*segment, begin + hit.start() as u64, hit.pattern()));
            let here: Vec<_> = here.map(|(s, at, n)| (s, at, n.as_usize())).collect();
            if !here.is_empty() {
                let mut found = found
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
                found.extend(here);
            }
        }
        Ok(())
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let others = threads.min(THREADS).min(pieces.len()).saturating_sub(1);
        let others: Vec<_> = (0..others).map(|_| scope.spawn(work)).collect();
        let own = work();
        let panicked = || io::Error::other("a search ended");
        let ended = others.into_iter().map(|other| other.join());
        ended.fold(own, |all, one| {
            all.and(one.unwrap_or_else(|_| Err(panicked())))
        })
    })?;
    let mut found = found
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    found.sort_unstable();
    Ok(found)
}

/// The line in which this place of a segment is.
fn line_around(layout: &Layout, segment: u64, at: u64) -> Result<Vec<u8>, IndexError> {
    let file = open_regular(&layout.segment(segment))?;
    let whole = file.metadata()?.len();
    let mut window = 16 * 1024;
    loop {
        let (from, to) = (at.saturating_sub(window), (at + window).min(whole));
        let bytes = between(&file, from, to)?;
        let here = usize::try_from(at - from).unwrap_or(0);
        let begin = bytes[..here].iter().rposition(|b| *b == b'\n');
        let begin = begin.map(|at| at + 1).or((from == 0).then_some(0));
        let end = bytes[here..].iter().position(|b| *b == b'\n');
        let end = end
            .map(|at| here + at)
            .or((to == whole).then_some(bytes.len()));
        match begin.zip(end) {
            Some((begin, end)) => return Ok(bytes[begin..end].to_vec()),
            // No record is so long.
            None if window > LINE_MAX as u64 => return Ok(Vec::new()),
            None => window *= 8,
        }
    }
}

fn between(file: &File, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(to - from).unwrap_or(0)];
    file.read_exact_at(&mut bytes, from)?;
    Ok(bytes)
}

/// Passes the lines that have this text until `visit` has enough.
fn each_line_with(
    layout: &Layout,
    text: &str,
    mut visit: impl FnMut(&[u8]) -> bool,
) -> Result<(), IndexError> {
    let mut line = Vec::new();
    for segment in layout.segments()? {
        let file = open_regular(&layout.segment(segment))?;
        let mut lines = BufReader::with_capacity(256 * 1024, file);
        loop {
            line.clear();
            let most = LINE_MAX as u64 + 1;
            if lines.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            let has = std::str::from_utf8(&line).is_ok_and(|line| line.contains(text));
            if has && !visit(line.strip_suffix(b"\n").unwrap_or(&line)) {
                return Ok(());
            }
        }
    }
    Ok(())
}
