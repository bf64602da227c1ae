//! What vouches for a log that is only read: the whole of it is verified and compared with its latest checkpoint, away
//! from the loop.

use std::time::{Duration, Instant};

use crate::app::review::Source;
use crate::audit::Signed;
use crate::tui::Vouched;

/// The least time between two checks of a log that grows, and how many times what a check takes.
const LEAST: Duration = Duration::from_secs(10);
const TIMES: u32 = 20;

/// When the log is checked.
#[derive(Debug, Default)]
pub struct Checks {
    began: Option<Instant>,
    ended: Option<(Instant, Duration)>,
    /// How many records the latest checkpoint signed then.
    signed: u64,
}

impl Checks {
    /// How soon to check again, if the latest checkpoint signs so many records; `None` if there is no reason to.
    pub fn due_in(&self, signed: u64) -> Option<Duration> {
        match (self.began, self.ended) {
            (Some(_), _) => None,
            (None, None) => Some(Duration::ZERO),
            (None, Some(_)) if signed == self.signed => None,
            (None, Some((at, took))) => Some(LEAST.max(took * TIMES).saturating_sub(at.elapsed())),
        }
    }

    pub fn begin(&mut self, signed: u64) {
        (self.began, self.signed) = (Some(Instant::now()), signed);
    }

    pub fn end(&mut self) {
        if let Some(began) = self.began.take() {
            self.ended = Some((Instant::now(), began.elapsed()));
        }
    }
}

/// Reads the whole log.
pub fn vouched(source: &Source) -> Vouched {
    let store = &source.checkpoints;
    // Before the log is read: a checkpoint that is made meanwhile may sign records that were not read.
    let signed: Result<Option<Signed>, _> = match store.key() {
        Ok(Some(key)) => store.latest(&key),
        Ok(None) => Ok(None),
        Err(e) => Err(e),
    };
    let known: Vec<Signed> = signed.iter().flatten().cloned().collect();
    let checked = source
        .open()
        .and_then(|log| log.verify_signed(Some(store), &known));
    let (report, compared) = match checked {
        Ok(checked) => checked,
        Err(e) => return Vouched::Damaged(e.to_string()),
    };
    match (report.first(), compared, signed) {
        // What follows damage was not compared.
        (Some(first), _, _) if report.damage.is_some() => Vouched::Damaged(first.to_string()),
        (_, Err(why), _) => Vouched::Contradicted(why.to_string()),
        (Some(first), Ok(()), _) => Vouched::Damaged(first.to_string()),
        (None, Ok(()), Err(why)) => Vouched::Unusable(why.to_string()),
        (None, Ok(()), Ok(signed)) => match signed.map_or(0, |s| s.checkpoint.size) {
            0 => Vouched::NotAnchored,
            seq => Vouched::Through(seq),
        },
    }
}
