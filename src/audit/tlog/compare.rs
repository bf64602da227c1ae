//! Whether a log extends the checkpoints that are kept elsewhere.

use std::cell::OnceCell;
use std::collections::VecDeque;

use super::checkpoint::{Checkpoint, Signed};
use super::error::TlogError;
use super::proof;
use super::store::{HashFile, Store};
use super::tree::{Frontier, InMemory, leaf, root};
use crate::audit::AuditError;
use crate::audit::layout::Layout;
use crate::audit::lines::OneByOne;
use crate::audit::lock;
use crate::audit::put_back;
use crate::audit::scan::{Line, scan};
use crate::audit::verify::Removed;
use crate::model::Digest;

/// Passes every record to `visit`, those that are only in the journal too, up to where the chain ends or breaks. Returns
/// the number of the last one.
fn each(layout: &Layout, mut visit: impl FnMut(&Line<'_>)) -> Result<u64, AuditError> {
    let mut visit = |line: &Line<'_>| {
        visit(line);
        Ok(())
    };
    let mut scanned = scan(layout, &mut OneByOne::default(), &mut visit)?;
    let holder = lock::holder(layout).map_err(|e| AuditError::io(layout.lock(), "read", e))?;
    if holder.writes_nothing() {
        put_back::check(layout, &mut scanned, &mut visit)?;
    }
    Ok(scanned.head.seq)
}

/// A comparison that goes along with the records.
pub(in crate::audit) struct Comparing<'a> {
    store: Option<&'a Store>,
    /// The smallest first.
    left: VecDeque<&'a Checkpoint>,
    /// So far the largest goes.
    newest: u64,
    edge: Option<Frontier>,
    /// The root over the records that were removed, and how many these are.
    removed: Option<(u64, Digest)>,
    compared: Result<(), TlogError>,
}

impl<'a> Comparing<'a> {
    /// `store` has the hashes of records that retention removed.
    pub fn with(store: Option<&'a Store>, signed: &'a [Signed]) -> Self {
        let mut wanted: Vec<_> = signed.iter().map(|signed| &signed.checkpoint).collect();
        wanted.retain(|checkpoint| checkpoint.size > 0);
        wanted.sort_by_key(|checkpoint| checkpoint.size);
        Self {
            store,
            newest: wanted.last().map_or(0, |checkpoint| checkpoint.size),
            left: wanted.into(),
            edge: None,
            removed: None,
            compared: Ok(()),
        }
    }

    /// Takes the next record.
    pub fn record(&mut self, line: &Line<'_>) {
        if self.compared.is_ok() {
            self.compared = self.step(line);
        }
    }

    /// The result, for a log that ends with this record and in which these removals are recorded.
    pub fn end(self, records: u64, removals: &[Removed]) -> Result<(), TlogError> {
        self.compared?;
        for gap in removals {
            let stated = gap.gap.as_ref().and_then(|gap| gap.root);
            // The program states the root of what it removes if checkpoints reach so far, and has it signed at once.
            let unsigned = gap.seq > self.newest && gap.through_seq <= self.newest;
            if unsigned && stated.is_none() {
                return Err(TlogError::NoRoot {
                    seq: gap.seq,
                    through: gap.through_seq,
                });
            }
            if let (Some(stated), Some((size, root))) = (stated, self.removed)
                && size == gap.through_seq
                && stated != root
            {
                return Err(TlogError::Gap(size));
            }
        }
        match self.left.front() {
            Some(Checkpoint { size, .. }) => Err(TlogError::Shorter {
                records,
                size: *size,
            }),
            None => Ok(()),
        }
    }

    fn step(&mut self, line: &Line<'_>) -> Result<(), TlogError> {
        if self.left.is_empty() {
            return Ok(());
        }
        if self.edge.is_none() {
            self.begin(line.seq - 1)?;
        }
        let Some(edge) = &mut self.edge else {
            return Ok(());
        };
        edge.push(leaf(line.bytes), |_| {});
        while let Some(checkpoint) = self.left.pop_front_if(|c| c.size == line.seq) {
            same(checkpoint, edge.root())?;
        }
        Ok(())
    }

    /// The log begins after `removed` records. Their hashes must be here, and lead to what was signed later.
    fn begin(&mut self, removed: u64) -> Result<(), TlogError> {
        if removed == 0 {
            self.edge = Some(Frontier::default());
            return Ok(());
        }
        let none = TlogError::NoBeginning(removed);
        let hashes = self.store.and_then(|store| store.hashes().ok());
        let (Some(hashes), Some(newest)) = (hashes, self.left.back()) else {
            return Err(none);
        };
        if newest.size <= removed {
            return Err(none);
        }
        let Ok(edge) = Frontier::of(&hashes, removed) else {
            return Err(none);
        };
        self.removed = Some((removed, edge.root()));
        self.edge = Some(edge);
        // What is wrong with these hashes shows at the newest checkpoint.
        while let Some(checkpoint) = self.left.pop_front_if(|c| c.size <= removed) {
            let here = root(&hashes, checkpoint.size);
            same(checkpoint, here.unwrap_or(Digest::from_bytes([0; 32])))?;
        }
        Ok(())
    }
}

fn same(checkpoint: &Checkpoint, root: Digest) -> Result<(), TlogError> {
    let size = checkpoint.size;
    match checkpoint.root == root {
        true => Ok(()),
        false => Err(TlogError::OtherRoot { size }),
    }
}

/// The root over the first `size` records, if a checkpoint goes so far and the hashes that are kept lead to it.
pub(in crate::audit) fn root_of(store: &Store, size: u64) -> Option<Digest> {
    let key = store.key().ok()??;
    let newest = store.latest(&key).ok()??.checkpoint;
    let hashes = store.hashes().ok()?;
    let leads = newest.size >= size && root(&hashes, newest.size).ok()? == newest.root;
    root(&hashes, size).ok().filter(|_| leads)
}

/// Compares a log with checkpoints of it.
pub(in crate::audit) fn compare(
    layout: &Layout,
    store: Option<&Store>,
    signed: &[Signed],
) -> Result<Result<(), TlogError>, AuditError> {
    let mut comparing = Comparing::with(store, signed);
    let records = each(layout, |line| comparing.record(line))?;
    Ok(comparing.end(records, &[]))
}

/// The hashes of the tree of the first `size` records, from the log.
pub(super) fn hashes(
    layout: &Layout,
    size: u64,
) -> Result<Result<InMemory, TlogError>, AuditError> {
    let (mut edge, mut all) = (Frontier::default(), InMemory::default());
    let mut first = None;
    let records = each(layout, |line| {
        if *first.get_or_insert(line.seq) == 1 && edge.size() < size {
            edge.push(leaf(line.bytes), |hash| all.0.push(hash));
        }
    })?;
    Ok(match first {
        Some(seq @ 2..) => Err(TlogError::NoBeginning(seq - 1)),
        _ if records < size => Err(TlogError::Shorter { records, size }),
        _ => Ok(all),
    })
}

/// The hashes that lead to one checkpoint: those of the store, else those of the log, which is then read once.
pub struct Prover {
    layout: Layout,
    kept: Option<HashFile>,
    read: OnceCell<InMemory>,
}

/// Why a record is not proved.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    #[error(transparent)]
    Tree(#[from] TlogError),
    #[error(transparent)]
    Log(#[from] AuditError),
}

impl Prover {
    pub(in crate::audit) fn of(layout: &Layout, store: &Store, signed: &Signed) -> Self {
        let Checkpoint {
            size, root: wanted, ..
        } = signed.checkpoint;
        let kept = store.hashes().ok();
        let kept = kept.filter(|kept| root(kept, size).is_ok_and(|root| root == wanted));
        Self {
            layout: layout.clone(),
            kept,
            read: OnceCell::new(),
        }
    }

    /// The proof that a record is in the log, in the form of C2SP `tlog-proof`.
    ///
    /// # Errors
    /// When the log cannot be read, or does not lead to the checkpoint.
    pub fn proof(&self, signed: &Signed, seq: u64, line: &[u8]) -> Result<String, ProofError> {
        if let Some(kept) = &self.kept
            && let Ok(proof) = proof::proof(line, seq, signed, kept)
        {
            return Ok(proof);
        }
        let size = signed.checkpoint.size;
        let read = match self.read.get() {
            Some(read) => read,
            None => {
                let read = hashes(&self.layout, size)??;
                self.read.get_or_init(|| read)
            }
        };
        let proof = proof::proof(line, seq, signed, read);
        proof.map_err(|_| TlogError::OtherRoot { size }.into())
    }
}
