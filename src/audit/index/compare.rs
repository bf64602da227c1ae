//! The index in the state folder beside a reading of the whole log: whether it says what the log says.
//!
//! Every row of records, of proposals and of facts is compared with what the same feeding would write. The words of codes
//! are not: of them only that each proposal has an entry.

use std::collections::BTreeMap;
use std::rc::Rc;

use jiff::Timestamp;
use rusqlite::Connection;

use super::super::cases::{Cases, Person};
use super::super::error::Damage;
use super::super::judge::{Read, Reader};
use super::super::layout::Layout;
use super::super::life::Lives;
use super::super::log::Log;
use super::super::vouched::Vouched;
use super::feed::{Feed, To};
use super::lines::Kept;
use super::{Believed, FILE, IndexError, Resume, kept, own_folder};
use crate::model::{DrillPlan, ProposalId};

/// What differs so far.
#[derive(Debug, Default)]
pub(super) struct Differences {
    /// Proposals whose rows differ, by their numbers. A later record may bring one in line.
    pub rows: BTreeMap<i64, String>,
    /// Rows that no later record changes.
    pub first: Option<String>,
    pub records: u64,
    /// How many facts each proposal has.
    pub facts: BTreeMap<i64, u64>,
}

impl Differences {
    pub fn note(&mut self, what: impl FnOnce() -> String) {
        self.first.get_or_insert_with(what);
    }
}

/// A comparison that goes along with a reading of the log.
pub(in crate::audit) struct Comparison {
    feed: Feed,
    /// The last record that the index has.
    through: u64,
    seen: u64,
}

impl Comparison {
    /// `None` if there is no index that the next question would use.
    pub fn begin(layout: &Layout) -> Option<Self> {
        Self::of(layout)
            .inspect_err(|e| tracing::debug!("no index is compared: {e}"))
            .ok()
    }

    fn of(layout: &Layout) -> Result<Self, IndexError> {
        let folder = own_folder(layout)?;
        let (connection, _) = kept(layout, &folder.join(FILE), Believed::Stamps)?;
        // It stays as it is now, whoever goes on with it.
        connection.execute_batch("BEGIN")?;
        let at: String = connection.query_one("SELECT at FROM stopped", [], |row| row.get(0))?;
        let resume: Resume = serde_json::from_str(&at)?;
        let log = Log {
            layout: layout.clone(),
            vouched: Vouched::Nothing,
        };
        Self::over(Rc::new(connection), log, resume.walk.scanned().head.seq)
    }

    /// Compares the index of an open transaction, up to this record.
    pub(super) fn over(
        connection: Rc<Connection>,
        log: Log,
        through: u64,
    ) -> Result<Self, IndexError> {
        let (kept, cases) = (Kept::default(), Cases::default());
        Ok(Self {
            feed: Feed::new(connection, log, kept, cases, To::Compare)?,
            through,
            seen: 0,
        })
    }

    /// The last record that the index has.
    pub fn through(&self) -> u64 {
        self.through
    }

    /// Who had the dashboard open last, and its drills.
    pub(super) fn knows(&self) -> (Option<Person>, Option<(Timestamp, DrillPlan)>) {
        (self.feed.cases.here.clone(), self.feed.cases.plan)
    }

    /// The next record is about this proposal.
    pub fn comes(&mut self, id: ProposalId, lives: &Lives) {
        if self.seen < self.through {
            self.feed.meets_again(id, self.seen, lives);
        }
    }

    pub fn compares(&mut self, read: &Read<'_>, lives: &mut Lives) {
        let (Read::Record(line, _) | Read::Later(line, _)) = read;
        if line.seq <= self.through {
            self.seen = line.seq;
            self.feed.compares(read, lives);
        }
    }

    /// The result, for a log that was read to its end.
    pub fn end(self) -> Option<Damage> {
        match self.differs() {
            Ok(None) => None,
            Ok(Some(what)) => Some(IndexError::Differs(what).damage()),
            Err(e) => Some(e.damage()),
        }
    }

    /// The same in words.
    pub(super) fn differs(self) -> Result<Option<String>, IndexError> {
        let (seen, through) = (self.seen, self.through);
        match seen < through {
            true => Ok(Some(format!(
                "it has records up to seq {through}, and the log ends at {seen}"
            ))),
            false => self.feed.compared(),
        }
    }
}

impl Reader for Comparison {
    fn meets(&mut self, id: ProposalId, lives: &mut Lives) {
        self.comes(id, lives);
    }

    fn reads(&mut self, read: Read<'_>, lives: &mut Lives) {
        self.compares(&read, lives);
    }
}
