//! What a log shows to others who do not have it: its newest checkpoint, that this extends earlier ones, and that records are in
//! it. The hashes are those that the notary keeps.

use std::collections::VecDeque;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::checkpoint::{Checkpoint, Signed};
use super::keys::VerifierKey;
use super::last::line_of;
use super::store::{HashFile, Store, StoreError};
use super::tree::{consistency, inclusion, leads_to, leaf, root};
use crate::audit::AuditError;
use crate::audit::layout::Layout;
use crate::audit::line::Record;
use crate::audit::scan::Walk;
use crate::model::{Digest, ProposalId};

pub use super::tree::extends;

/// The root that a proof of a record leads to; `None` if it has another length.
pub fn includes(seq: u64, line: &[u8], size: u64, path: &[Digest]) -> Option<Digest> {
    leads_to(seq.checked_sub(1)?, size, leaf(line), path)
}

/// The tree of the newest checkpoint.
#[derive(Debug)]
pub struct Tree {
    pub key: VerifierKey,
    pub signed: Signed,
    nodes: HashFile,
}

impl Tree {
    /// `None` if there is no checkpoint yet, or the hashes that are kept do not lead to it.
    ///
    /// # Errors
    /// If the folder cannot be read, or contradicts itself.
    pub fn newest(store: &Store) -> Result<Option<Self>, StoreError> {
        let Some(key) = store.key()? else {
            return Ok(None);
        };
        let (Some(signed), Ok(nodes)) = (store.latest(&key)?, store.hashes()) else {
            return Ok(None);
        };
        let Checkpoint {
            size, root: wanted, ..
        } = signed.checkpoint;
        let leads = size > 0 && root(&nodes, size).is_ok_and(|root| root == wanted);
        Ok(leads.then_some(Self { key, signed, nodes }))
    }

    pub fn size(&self) -> u64 {
        self.signed.checkpoint.size
    }

    pub fn root(&self) -> Digest {
        self.signed.checkpoint.root
    }

    /// The root over the first records.
    pub fn root_at(&self, size: u64) -> Option<Digest> {
        let within = (1..=self.size()).contains(&size);
        within.then(|| root(&self.nodes, size).ok()).flatten()
    }

    /// What proves that it extends the tree of the first `old` records.
    pub fn since(&self, old: u64) -> Option<Vec<Digest>> {
        let path = consistency(&self.nodes, old, self.size()).ok()?;
        let shown = extends((old, self.root_at(old)?), (self.size(), self.root()), &path);
        shown.then_some(path)
    }

    /// What proves that this record is among the first `size`.
    pub fn path(&self, seq: u64, line: &[u8], size: u64) -> Option<Vec<Digest>> {
        let path = inclusion(&self.nodes, seq.checked_sub(1)?, size).ok()?;
        let leads = includes(seq, line, size, &path)? == self.root_at(size)?;
        leads.then_some(path)
    }
}

/// The final records of proposals, in the order of the log. It goes on where it stopped.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Ends {
    walk: Walk,
    /// Those that were not taken yet.
    ends: VecDeque<(u64, ProposalId)>,
}

impl Ends {
    /// Reads what the log has more. Returns the number of its last record; `None` if it is damaged before.
    ///
    /// # Errors
    /// When a file cannot be read at all.
    pub fn read_on(&mut self, state_dir: &Path) -> Result<Option<u64>, AuditError> {
        let Self { walk, ends } = self;
        walk.go_on(&Layout::at(state_dir), |line| {
            // Whether it can be read is for others to say.
            if let Ok(record) = Record::parse(line.bytes)
                && let Some(id) = record.event.id()
                && record.event.state().is_some_and(|state| state.is_final())
            {
                ends.push_back((line.seq, id));
            }
            Ok(())
        })?;
        let scanned = walk.scanned();
        Ok(scanned.damage.is_none().then_some(scanned.head.seq))
    }

    /// Some of the first `size` records.
    pub fn among(&self, size: u64, most: usize) -> Vec<(u64, ProposalId)> {
        let among = self.ends.iter().take_while(|(seq, _)| *seq <= size);
        among.take(most).copied().collect()
    }

    /// Takes those up to this record.
    pub fn take(&mut self, through: u64) -> Vec<(u64, ProposalId)> {
        let mut taken = Vec::new();
        taken.extend(std::iter::from_fn(|| {
            self.ends.pop_front_if(|(seq, _)| *seq <= through)
        }));
        taken
    }

    /// Puts back what was taken.
    pub fn put_back(&mut self, taken: impl DoubleEndedIterator<Item = (u64, ProposalId)>) {
        taken.rev().for_each(|one| self.ends.push_front(one));
    }

    /// How many were not taken.
    pub fn left(&self) -> usize {
        self.ends.len()
    }

    /// The line of a record, looked for from the log's end.
    pub fn line(state_dir: &Path, seq: u64) -> Option<Vec<u8>> {
        line_of(&Layout::at(state_dir), seq).ok()?
    }
}
