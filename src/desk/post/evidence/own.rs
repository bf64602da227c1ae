//! What a host publishes of its own log, and whether what it published before fits that.

mod doubt;

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use crate::audit::{Ends, Tree};
use crate::desk::engine::{CheckpointRow, EngineError, Occasion, StatementRow};
use crate::desk::evidence::{
    Chain, FROM_MAX, Gathered, Last, Own, OwnDoubt, Proved, Published, Said,
};
use crate::model::ProposalId;

use super::{Evidence, Round, Word, now};

/// Between two checkpoints that are published.
const GAP: Duration = Duration::from_secs(20);
/// Proofs that are published in one look, and proposals that are asked about.
const PROOFS: usize = 64;
const ASKED: usize = 4096;

/// What is known of this host.
pub(super) struct Known {
    own: Own,
    /// Why nothing of it is used.
    pub broken: Option<String>,
    /// Whether the engine has the last one.
    is_there: bool,
    at: Option<Instant>,
    /// What was found wrong with the log, and whether the engine has that word.
    doubt: Option<OwnDoubt>,
    is_told: bool,
    /// Whether its operator was told that others do not hear it.
    is_silent: bool,
    /// What was told of rows that others wrote in its name.
    intrusion: Option<String>,
    /// Whether what an earlier start found wrong was looked at.
    is_recalled: bool,
    /// By its own rows on the engine: the greatest number, and the newest that fits.
    number: u64,
    fits: Option<u64>,
    /// Final records that were looked after since the start, the newest of them.
    proved: VecDeque<(u64, ProposalId)>,
    /// Whether there was a checkpoint when these were looked at.
    is_compared: bool,
}

/// The log, as far as it was read.
struct Read {
    ends: Ends,
    tree: Option<Tree>,
    /// The number of its last record.
    head: Option<u64>,
}

impl Known {
    pub fn open(state_dir: &Path, key: &str) -> Self {
        let (own, broken) = match Own::open(state_dir, key) {
            Ok(own) => (own, None),
            Err(why) => (Own::default(), Some(why)),
        };
        Self {
            own,
            broken,
            is_there: false,
            at: None,
            doubt: None,
            is_told: false,
            is_silent: false,
            intrusion: None,
            is_recalled: false,
            number: 0,
            fits: None,
            proved: VecDeque::new(),
            is_compared: false,
        }
    }

    pub fn is_doubted(&self) -> bool {
        self.doubt.is_some()
    }

    /// Writes down what was published. Where that fails, nothing is published.
    fn keep(&mut self, state_dir: &Path) -> Result<(), EngineError> {
        self.own.keep(state_dir).map_err(EngineError::Refused)
    }
}

impl Evidence {
    pub(super) async fn own(
        &self,
        round: &mut Round,
        all: bool,
        tell: &impl Fn(Word),
    ) -> Result<(), EngineError> {
        let known = &mut round.own;
        if known.broken.is_some() {
            return Ok(());
        }
        let read = self.read(std::mem::take(&mut known.own.ends)).await?;
        known.own.ends = read.ends;
        if all {
            // The engine may have lost what it had.
            known.own.ends.put_back(known.proved.drain(..));
        }
        // Without the engine: what is known here is said at once.
        self.recall(known, read.tree.as_ref(), read.head, tell);
        if all || (read.tree.is_some() && !known.is_compared) {
            let (tree, head) = (read.tree.as_ref(), read.head);
            if let Err(e) = self.compare(known, tree, head, tell).await {
                self.unheard(known, &e, tell);
                return Err(e);
            }
        }
        self.heed(known, read.tree.as_ref(), read.head, tell);
        if known.doubt.is_some() {
            return self.tell_doubt(known, tell).await;
        }
        let Some(tree) = read.tree else {
            return Ok(());
        };
        let is_new = known
            .own
            .last
            .as_ref()
            .is_none_or(|last| last.size < tree.size());
        if is_new && known.at.is_none_or(|at| at.elapsed() >= GAP) {
            self.make(known, &tree).await?;
        }
        let Some(last) = &known.own.last else {
            return Ok(());
        };
        if !known.is_there {
            self.engine.publish_checkpoint(&self.row(last)).await?;
            known.is_there = true;
        }
        self.prove(known, &tree).await
    }

    /// Reads the log on, which may take long at first.
    async fn read(&self, mut ends: Ends) -> Result<Read, EngineError> {
        let (state_dir, store) = (self.state_dir.clone(), self.store.clone());
        let read = tokio::task::spawn_blocking(move || {
            let head = ends.read_on(&state_dir).unwrap_or_else(|e| {
                tracing::warn!("evidence: {e}");
                None
            });
            let tree = Tree::newest(&store).unwrap_or_else(|e| {
                tracing::warn!("evidence: {e}");
                None
            });
            Read { ends, tree, head }
        });
        read.await.map_err(|e| EngineError::Protocol(e.to_string()))
    }

    /// Looks whether what this host signed before is still in its log.
    async fn compare(
        &self,
        known: &mut Known,
        tree: Option<&Tree>,
        head: Option<u64>,
        tell: &impl Fn(Word),
    ) -> Result<(), EngineError> {
        let rows = self
            .engine
            .newest_checkpoints(std::slice::from_ref(&self.host))
            .await?;
        let (key, mut chain) = (self.board.key(), Chain::default());
        let gathered = Gathered::of(&self.engine, &self.host, &key, rows).await?;
        let intrusion = gathered.intrusion();
        if intrusion != known.intrusion {
            if let Some(what) = &intrusion {
                tracing::warn!("{}: {what}", self.host);
                tell(Word::Odd(format!("{}: {what}", self.host)));
            }
            known.intrusion = intrusion;
        }
        let mut signed: Vec<Published> = Vec::new();
        known.is_told = false;
        for row in &gathered.rows {
            match Said::read(&key, row) {
                Ok(Said::Checkpoint(published)) => {
                    chain.add(&published);
                    signed.push(published);
                }
                Ok(Said::Doubt(admitted)) => {
                    let own = known.doubt.as_ref().map(|doubt| &doubt.admitted);
                    known.is_told |= own == Some(&admitted);
                    chain.admit(admitted);
                }
                // What it did not sign is noise of somebody who has its password, and no word about its log.
                Err(_) => {}
            }
        }
        known.number = known.number.max(chain.number());
        self.say_again(known);
        known.is_there = known
            .own
            .last
            .as_ref()
            .is_some_and(|last| chain.has((last.size, last.root)));
        known.is_compared = tree.is_some();
        let root_at = |size| tree.and_then(|tree| tree.root_at(size));
        let fits = |p: &&Published| root_at(p.size) == Some(p.root);
        known.fits = signed.iter().filter(fits).map(|p| p.size).max();
        // Where its own checkpoints have more than the log, the notary says so.
        let is_other = |p: &&Published| match root_at(p.size) {
            Some(root) => root != p.root,
            None => head.is_some_and(|head| head < p.size),
        };
        let newest = signed.iter().filter(is_other).max_by_key(|p| p.size);
        let link = newest.map(|p| (p.size, p.root));
        if let Some(link) = link
            && known.doubt.is_none()
        {
            let why = self.admit(known, head, link);
            tell(self.own_word(why, false));
        }
        Ok(())
    }

    /// Signs the newest checkpoint for others, with proofs from what they may have seen last.
    async fn make(&self, known: &mut Known, tree: &Tree) -> Result<(), EngineError> {
        let others = self
            .engine
            .newest_cosignatures(std::slice::from_ref(&self.host))
            .await?;
        let mut earlier: Vec<u64> = Vec::new();
        let last = known.own.last.as_ref().map(|last| last.size);
        let seen = others.iter().map(|row| row.size);
        for size in last.into_iter().chain(known.fits).chain(seen) {
            if !earlier.contains(&size) && earlier.len() < FROM_MAX {
                earlier.push(size);
            }
        }
        let before = known.own.last.as_ref().map_or(0, |last| last.number);
        let number = before.max(known.number) + 1;
        let who = (self.host.as_str(), self.host_key.as_str());
        let body = Published::bytes(who, number, now(), tree, &earlier);
        let signature = self.board.sign(&body).map_err(EngineError::Refused)?;
        let body = String::from_utf8(body).map_err(|e| EngineError::Protocol(e.to_string()))?;
        let new = Some(Last {
            key: self.host_key.clone(),
            size: tree.size(),
            root: tree.root(),
            number,
            body,
            signature,
        });
        let old = std::mem::replace(&mut known.own.last, new);
        // A number that is not written down would be given twice.
        if let Err(why) = known.keep(&self.state_dir) {
            known.own.last = old;
            return Err(why);
        }
        known.is_there = false;
        known.at = Some(Instant::now());
        Ok(())
    }

    fn row(&self, last: &Last) -> CheckpointRow {
        CheckpointRow {
            host: self.host.clone(),
            size: last.size,
            body: last.body.clone().into_bytes(),
            signature: last.signature.clone(),
        }
    }

    /// Publishes that final records are in the last checkpoint.
    async fn prove(&self, known: &mut Known, tree: &Tree) -> Result<(), EngineError> {
        let Some(last) = &known.own.last else {
            return Ok(());
        };
        let checkpoint = (last.size, last.root);
        if tree.root_at(last.size) != Some(last.root) {
            return Ok(());
        }
        let due = known.own.ends.among(last.size, ASKED);
        let Some((mut through, _)) = due.last().copied() else {
            return Ok(());
        };
        let ids: Vec<ProposalId> = due.iter().map(|(_, id)| *id).collect();
        let offered = self.engine.unproved(&self.host, &ids).await?;
        let mut lacking: Vec<(u64, ProposalId)> = due;
        lacking.retain(|(_, id)| offered.contains(id));
        if lacking.len() > PROOFS {
            lacking.truncate(PROOFS);
            through = lacking.last().map_or(through, |(seq, _)| *seq);
        }
        for (seq, id) in lacking {
            let state_dir = self.state_dir.clone();
            let line = tokio::task::spawn_blocking(move || Ends::line(&state_dir, seq));
            let line = line.await.ok().flatten();
            let path = line
                .as_ref()
                .and_then(|line| tree.path(seq, line, checkpoint.0));
            let who = (self.host.as_str(), self.host_key.as_str());
            let body = line
                .zip(path)
                .and_then(|(line, path)| Proved::bytes(who, id, (seq, line), checkpoint, path));
            let Some(body) = body else {
                tracing::warn!("evidence: record {seq} of {id} is not proved");
                continue;
            };
            let signature = self.board.sign(&body).map_err(EngineError::Refused)?;
            let row = StatementRow {
                host: self.host.clone(),
                proposal: id,
                seq,
                to: None,
                gateway: None,
                occasion: Occasion::Proof,
                body,
                signature,
            };
            match self.engine.publish_statement(&row).await {
                // It is its row's fault, which the next one does not share.
                Err(e @ (EngineError::Refused(_) | EngineError::TooLarge(_))) => {
                    tracing::warn!("evidence: the proof of {id}: {e}");
                }
                done => done?,
            }
        }
        known.proved.extend(known.own.ends.take(through));
        let many = known.proved.len().saturating_sub(ASKED);
        known.proved.drain(..many);
        match known.own.is_short() {
            true => known.keep(&self.state_dir),
            false => Ok(()),
        }
    }
}
