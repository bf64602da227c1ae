//! What a start of the dashboard takes from the index instead of reading the whole log.
//!
//! The index says where the log ended when it was last read. That decides where the next record goes, so the last line is
//! hashed again (and all of its segment, if it was written since), and a proposal counts as open by its own lines. What else the index says is checked
//! afterwards, by reading the whole log ([`super::super::unread`]).

use std::fs::File;
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg};

use super::super::contents::Look;
use super::super::error::Faults;
use super::super::judge::Judging;
use super::super::layout::Layout;
use super::super::life::Lives;
use super::super::line::Record;
use super::super::log::Log;
use super::super::scan::{Scanned, Walk};
use super::super::vouched::Vouched;
use super::lines::Place;
use super::{Believed, FILE, Index, IndexError, kept, own_folder, turn};
use crate::model::{ProposalId, State};

/// How long a start waits for others that have the index open.
const PATIENCE: Duration = Duration::from_millis(200);

/// The index of a log that this process has locked.
pub(in crate::audit) struct Known {
    index: Index,
    _turn: Flock<File>,
}

impl Known {
    /// The index, if it is there and nobody changes it, and if it is of this log. Makes none.
    pub fn of(layout: &Layout) -> Result<Self, IndexError> {
        let folder = own_folder(layout)?;
        let turn = turn(&folder, FlockArg::LockExclusiveNonblock)?;
        let (connection, resume) = kept(layout, &folder.join(FILE), Believed::LastLine)?;
        connection.busy_timeout(PATIENCE)?;
        let head = resume.walk.scanned().head;
        if head.offset == 0 || !head.headed {
            return Err(IndexError::Other("it has no end of the log".to_owned()));
        }
        let log = Log {
            vouched: Vouched::Nothing,
            layout: layout.clone(),
        };
        Ok(Self {
            index: Index::at(&log, connection, resume),
            _turn: turn,
        })
    }

    /// Makes the index one of the files that are there, as somebody who may write the folder can.
    #[cfg(test)]
    pub fn forge(layout: &Layout, change: &str) {
        let connection = super::schema::open(&layout.index().join(FILE)).unwrap();
        connection.execute_batch(change).unwrap();
        let read = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
        let at = connection
            .query_one("SELECT at FROM stopped", [], read)
            .unwrap();
        let mut resume: super::Resume = serde_json::from_str(&at).unwrap();
        resume.stamps = super::Stamps::of(layout, std::iter::empty()).unwrap();
        let at = serde_json::to_string(&resume).unwrap();
        connection
            .execute("UPDATE stopped SET at = ?1", [at])
            .unwrap();
    }

    /// Where the reading stopped.
    pub fn walk(&self) -> &Walk {
        &self.index.resume.walk
    }

    /// Reads on to the log's end.
    pub fn read_on(&mut self) -> Result<(Scanned, Faults), IndexError> {
        self.index.go_on(&|_, _| {})?;
        let scanned = self.index.resume.walk.scanned();
        match scanned.damage.is_some() {
            // Whoever says what is wrong reads from the beginning.
            true => Err(IndexError::Other("the log's end is damaged".to_owned())),
            false => Ok((scanned, self.index.faults.clone())),
        }
    }

    /// Proposals without a final state, the oldest first.
    pub fn unfinished(&mut self) -> Result<Vec<(ProposalId, State)>, IndexError> {
        let mut lives = Lives::default();
        self.index.recall_open(&mut lives, &mut |_| {})?;
        Ok(lives.open())
    }
}

impl Index {
    /// Judges the open proposals by their own lines; `visit` sees their records.
    fn recall_open(
        &mut self,
        lives: &mut Lives,
        visit: &mut dyn FnMut(&Record),
    ) -> Result<(), IndexError> {
        let named: Vec<(i64, String)> = {
            let mut statement = self.connection.prepare(
                "SELECT n, id FROM proposals WHERE state IN ('pending', 'granted', 'running')",
            )?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<Result<_, _>>()?
        };
        for (n, id) in named {
            let id: ProposalId = id.parse().map_err(|_| IndexError::Odd)?;
            for place in Place::all_of(&self.connection, n)? {
                match self.kept.record(&self.log.layout, &place)? {
                    Some(record) if record.event.id() == Some(id) => {
                        // It was judged when it was read first.
                        let _ = lives.step(&record.event);
                        visit(&record);
                    }
                    Some(_) => return Err(IndexError::Odd),
                    None => lives.unjudged(id),
                }
            }
        }
        Ok(())
    }

    /// For a reader that goes on from here by itself. Its lives have the open proposals only.
    pub fn handed_over(
        mut self,
        visit: &mut dyn FnMut(&Record),
    ) -> Result<(Walk, Judging), IndexError> {
        let judged = self.resume.judged.clone();
        let mut judging = Judging::resumed(&self.log.layout, Look::There, judged);
        self.recall_open(&mut judging.lives, visit)?;
        Ok((self.resume.walk, judging))
    }
}
