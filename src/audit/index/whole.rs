//! An index that is compared with the whole log before it answers, if the log is short enough for that.

use std::rc::Rc;

use super::super::contents::Look;
use super::super::error::Faults;
use super::super::judge;
use super::noted::{Noted, noted};
use super::{Comparison, FILE, Index, IndexError, note};
use crate::audit::error::Damage;

/// A log of so many bytes, about 10,000 records, is compared within a fraction of a second.
pub(in crate::audit) const SHORT: u64 = 9 * 1024 * 1024;

impl Index {
    /// Compares the whole index with the whole log, chain and contents included, unless it was just made of it. Nobody
    /// changes the index from then on, as far as this one sees it.
    pub fn compare(&mut self, by: &str) -> Result<(), IndexError> {
        if self.is_sure() {
            return Ok(());
        }
        let compared = self.compare_all(by);
        compared.map_err(|e| match e {
            IndexError::Log(_) | IndexError::Damaged | IndexError::Differs(_) => e,
            // A value that no index has.
            e => IndexError::Differs(e.to_string()),
        })
    }

    fn compare_all(&mut self, by: &str) -> Result<(), IndexError> {
        self.connection.execute_batch("BEGIN")?;
        let through = self.resume.walk.scanned().head.seq;
        let mut comparison =
            Comparison::over(Rc::clone(&self.connection), self.log.clone(), through)?;
        let judged = judge::judge(&self.log.layout, Look::There, &mut comparison)?;
        let (here, plan) = comparison.knows();
        if judged.faults.chain.is_some() {
            // The log has the word: it is read from its beginning for the answer.
            return Err(IndexError::Damaged);
        }
        if let Some(what) = comparison.differs()? {
            return Err(IndexError::Differs(what));
        }
        let same = (here, plan) == (self.resume.here.clone(), self.resume.plan);
        let now = judged.scanned.head.seq == through;
        let faults = &self.resume.judged.faults.lives;
        let known = (faults, self.resume.judged.later) == (&judged.faults.lives, judged.later);
        if !same || (now && !known) {
            let what = "it tells another state of the log";
            return Err(IndexError::Differs(what.to_owned()));
        }
        self.faults = Faults {
            chain: self.faults.chain.take(),
            ..judged.faults
        };
        self.sure = true;
        let _ = note(&self.log.layout, through, by);
        Ok(())
    }

    /// When it was last compared with the log, as a note beside it says.
    pub fn noted(&self) -> Option<Noted> {
        noted(&self.log.layout)
    }
}

impl IndexError {
    /// What is wrong with the index.
    pub fn damage(&self) -> Damage {
        Damage {
            file: format!("index/{FILE}"),
            line: None,
            seq: None,
            what: match self {
                Self::Changed(damage) => {
                    format!("it names another line than the log has: {damage}")
                }
                other => other.to_string(),
            },
        }
    }
}
