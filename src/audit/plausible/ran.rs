//! What a run says of itself: its output, its pace, its files, its times.

use std::collections::BTreeSet;
use std::time::Duration;

use super::super::layout::Layout;
use super::{LATE, ROUNDING, millis, texts};
use crate::model::{Artifact, Digest, FinishedLog, Pace, StreamName, grouped};

/// When it was granted and started.
#[derive(Debug, Default)]
pub(super) struct Allowed {
    pub granted: Option<Duration>,
    pub started: Option<Duration>,
    /// How many bytes of each stream are kept.
    pub output: Option<u64>,
}

pub(super) fn finished(
    f: &FinishedLog,
    allowed: &Allowed,
    now: Duration,
    layout: Option<&Layout>,
) -> Option<String> {
    took(f, allowed, now)
        .or_else(|| first_output(f))
        .or_else(|| counted(f, allowed))
        .or_else(|| printed(f, layout))
        .or_else(|| paced(f, allowed, now))
        .or_else(|| left(f))
        .or_else(|| {
            let limit = f.limit.filter(|_| f.error.is_none())?;
            Some(format!(
                "`finished` at the limit `{}`, and without an error",
                limit.as_str()
            ))
        })
}

fn took(f: &FinishedLog, allowed: &Allowed, now: Duration) -> Option<String> {
    let ran = Duration::from_millis(f.duration_ms);
    if let Some(started) = allowed.started {
        let there = now.saturating_sub(started);
        if ran > there + ROUNDING {
            return Some(format!(
                "`finished` after {} ms, {} ms after it was started",
                grouped(f.duration_ms),
                grouped(millis(there))
            ));
        }
    }
    let (start, exit) = (f.timing_us.grant_to_start, f.timing_us.grant_to_exit);
    let [start, exit] = [start, exit].map(Duration::from_micros);
    if start > exit {
        return Some("`finished` before it was started, by its `timing_us`".to_owned());
    }
    // Earlier versions measured nothing.
    if !exit.is_zero() && ran > exit.saturating_sub(start) + ROUNDING {
        return Some(format!(
            "`finished` after {} ms, and {} ms by its `timing_us`",
            grouped(f.duration_ms),
            grouped(millis(exit.saturating_sub(start)))
        ));
    }
    // A run that was never let go ended as it began.
    if f.duration_ms == 0 && exit.saturating_sub(start) > ROUNDING {
        return Some(format!(
            "`finished` after 0 ms, and {} ms by its `timing_us`",
            grouped(millis(exit.saturating_sub(start)))
        ));
    }
    let there = now.saturating_sub(allowed.granted?);
    (exit > there + LATE).then(|| {
        format!(
            "`finished` {} ms after its grant by its `timing_us`, and {} ms by the records",
            grouped(millis(exit)),
            grouped(millis(there))
        )
    })
}

/// Whether the time of the first output is one of this output.
fn first_output(f: &FinishedLog) -> Option<String> {
    let exit = Duration::from_micros(f.timing_us.grant_to_exit);
    let first = f.timing_us.grant_to_first_output.map(Duration::from_micros);
    // The last of what was printed can be read after the end.
    if let Some(first) = first.filter(|first| !exit.is_zero() && *first > exit + LATE) {
        return Some(format!(
            "`finished` printed {} ms after its end, by its `timing_us`",
            grouped(millis(first.saturating_sub(exit)))
        ));
    }
    let has_output = f.stdout_bytes > 0 || f.stderr_bytes > 0;
    (!exit.is_zero() && first.is_some() != has_output).then(|| {
        match has_output {
            true => "`finished` has output, and its `timing_us` has none",
            false => "`finished` has no output, and its `timing_us` has some",
        }
        .to_owned()
    })
}

/// The streams: name, digest, bytes, whether they were cut.
fn streams(f: &FinishedLog) -> [(StreamName, &'static str, Digest, u64, bool); 2] {
    [
        (
            StreamName::Stdout,
            "stdout",
            f.stdout_sha256,
            f.stdout_bytes,
            f.stdout_truncated,
        ),
        (
            StreamName::Stderr,
            "stderr",
            f.stderr_sha256,
            f.stderr_bytes,
            f.stderr_truncated,
        ),
    ]
}

/// Whether just what is over the limit of the grant is cut.
fn counted(f: &FinishedLog, allowed: &Allowed) -> Option<String> {
    let most = allowed.output?;
    let mut wrong = streams(f).into_iter();
    let wrong = wrong.find(|(.., bytes, is_cut)| (*bytes > most) != *is_cut);
    wrong.map(|(_, name, _, bytes, is_cut)| {
        let cut = if is_cut { "cut" } else { "whole" };
        format!(
            "`finished` has {} bytes of {name}, of which {} are kept, and says that they are {cut}",
            grouped(bytes),
            grouped(most)
        )
    })
}

fn printed(f: &FinishedLog, layout: Option<&Layout>) -> Option<String> {
    let nothing = Digest::of(b"");
    for (stream, name, digest, bytes, is_cut) in streams(f) {
        let is_nothing = digest == nothing;
        if (bytes == 0 && (!is_nothing || is_cut)) || (bytes > 0 && is_nothing && !is_cut) {
            return Some(format!(
                "`finished` counts {} bytes of {name}, and names other output",
                grouped(bytes)
            ));
        }
        let pieces = f.pace.pieces().iter().filter(|piece| piece.1 == stream);
        let paced = pieces.fold(0_u64, |sum, piece| sum.saturating_add(piece.2));
        let kept = match is_nothing {
            true => Some(0),
            false => layout.and_then(|layout| texts::len(layout, &digest)),
        };
        if let Some(kept) = kept.filter(|kept| paced > *kept) {
            return Some(format!(
                "`finished` has {} bytes of {name} in its pace, and {} in its output",
                grouped(paced),
                grouped(kept)
            ));
        }
    }
    None
}

fn paced(f: &FinishedLog, allowed: &Allowed, now: Duration) -> Option<String> {
    let pieces = f.pace.pieces();
    if pieces.len() > Pace::MOST {
        return Some(format!(
            "`finished` has a pace of {} pieces; at most {} are kept",
            grouped(pieces.len() as u64),
            Pace::MOST
        ));
    }
    if let Some(back) = pieces.windows(2).find(|two| two[1].0 < two[0].0) {
        return Some(format!(
            "`finished` has a pace that goes back from {} to {} ms",
            grouped(back[0].0),
            grouped(back[1].0)
        ));
    }
    let last = pieces.last()?.0;
    let there = now.saturating_sub(allowed.started?);
    (Duration::from_millis(last) > there + ROUNDING).then(|| {
        format!(
            "`finished` has output after {} ms, {} ms after it was started",
            grouped(last),
            grouped(millis(there))
        )
    })
}

fn left(f: &FinishedLog) -> Option<String> {
    let mut names = BTreeSet::new();
    for file in &f.artifacts {
        if !Artifact::is_name(&file.name) {
            return Some("`finished` names a file as no file can be named".to_owned());
        }
        if !names.insert(file.name.as_str()) {
            return Some(format!("`finished` names the file {} twice", file.name));
        }
        let is_other = file.sha256 != f.stdout_sha256.hex();
        if file.name == Artifact::STDOUT && is_other {
            return Some("`finished` has other output in its file stdout".to_owned());
        }
    }
    None
}
