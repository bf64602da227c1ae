//! What a start that believed the index has still to read: the whole log, away from the start.
//!
//! A start needs the end of the log and what is open. It takes both from the index, if the files are the very ones that
//! the index is of, and the person sees that the log is still checked. This check is the one of a start without an index.

use super::contents::Look;
use super::error::{AuditError, Damage, Faults};
use super::judge::{Read, Reader, judge};
use super::layout::Layout;
use super::life::Lives;
use super::scan::Head;
use crate::model::{LogEvent, Past, ProposalId, State};

/// What was not read at the start.
#[derive(Debug)]
pub struct Unread {
    pub(super) layout: Layout,
    /// Where the log ended then.
    pub(super) head: Head,
    /// What was open then, according to the index.
    pub(super) unfinished: Vec<ProposalId>,
}

/// What the whole log says.
#[derive(Debug)]
pub struct Checked {
    /// Of the proposals before the start.
    pub past: Past,
    /// What was open at the start and is not in the index, oldest first.
    pub missed: Vec<(ProposalId, State)>,
    /// Impossible records of an intact chain, and missing blobs.
    pub faults: Faults,
}

struct Reading {
    head: Head,
    past: Past,
    /// What was open at the start; `None` until its last record was read.
    open: Option<Vec<(ProposalId, State)>>,
}

impl Reader for Reading {
    fn reads(&mut self, read: Read<'_>, lives: &mut Lives) {
        let line = match read {
            Read::Record(line, record) => {
                // Of what was written since, only how the older ones ended.
                if record.seq <= self.head.seq || !matches!(record.event, LogEvent::Proposed(_)) {
                    self.past.learn(record.ts, &record.event, None);
                }
                line
            }
            Read::Later(line, _) => line,
        };
        // A dashboard that was killed may have left a segment with nothing but its header, which is no record.
        if (line.seq, line.boundary.hash) == (self.head.seq, self.head.record()) {
            self.open = Some(lives.open());
        }
    }
}

impl Unread {
    /// Reads and judges the whole log. It may be written meanwhile.
    ///
    /// # Errors
    /// What would have stopped a start that reads the log: then nothing may be granted any more.
    pub fn check(&self) -> Result<Checked, AuditError> {
        let mut reading = Reading {
            head: self.head,
            past: Past::default(),
            open: None,
        };
        let judged = judge(&self.layout, Look::There, &mut reading)?;
        let dir = || self.layout.state.clone();
        if let Some(damage) = judged.scanned.damage {
            return Err(AuditError::Damaged { dir: dir(), damage });
        }
        if let Some(place) = judged.scanned.later {
            return Err(AuditError::Later { dir: dir(), place });
        }
        let Some(open) = reading.open else {
            let damage = Damage {
                file: "log".to_owned(),
                line: None,
                seq: Some(self.head.seq),
                what: "the record after which this dashboard continued is not there".to_owned(),
            };
            return Err(AuditError::Damaged { dir: dir(), damage });
        };
        let known = |id: &ProposalId| self.unfinished.contains(id);
        Ok(Checked {
            past: reading.past,
            missed: open.into_iter().filter(|(id, _)| !known(id)).collect(),
            faults: Faults {
                chain: None,
                ..judged.faults
            },
        })
    }
}

#[cfg(test)]
#[path = "unread_tests.rs"]
mod tests;
