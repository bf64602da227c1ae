//! The checkpoints of all hosts, as a reader with the file of hosts can check them.

use std::collections::{BTreeMap, BTreeSet};

use crate::ballot::Key;
use crate::desk::engine::{CheckpointRow, CosignatureRow};
use crate::desk::hosts::Hosts;
use crate::model::visible;

use super::admitted::Said;
use super::chain::Chain;
use super::gathered::{Extent, Gathered};
use super::published::cosigned_text;
use super::signers::Signers;

/// What does not hold, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    pub host: String,
    pub what: String,
}

/// What is known of all hosts.
#[derive(Debug)]
pub struct Book {
    hosts: Hosts,
    pub chains: BTreeMap<String, Chain>,
    /// What is not believed.
    pub faults: Vec<Fault>,
    /// Signatures on checkpoints that were not there when they were read.
    waiting: Vec<CosignatureRow>,
    signers: Signers,
    /// How much was read of each host.
    extents: BTreeMap<String, Extent>,
    /// Hosts whose logs are doubted, once everything was read.
    doubted: BTreeSet<String>,
}

impl Book {
    pub fn new(hosts: Hosts) -> Self {
        let chains = hosts
            .names()
            .map(|name| (name.to_owned(), Chain::default()));
        Self {
            chains: chains.collect(),
            hosts,
            faults: Vec::new(),
            waiting: Vec::new(),
            signers: Signers::default(),
            extents: BTreeMap::new(),
            doubted: BTreeSet::new(),
        }
    }

    pub fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    pub fn fault(&mut self, host: &str, what: impl Into<String>) {
        let what = what.into();
        let host = visible(host).into_owned();
        self.faults.push(Fault { host, what });
    }

    /// Nothing of a host without a key is believed.
    pub fn unknown(&mut self, host: &str) {
        const WHAT: &str = "the file of hosts does not name it: nothing of it is believed";
        let host = visible(host);
        if !self.faults.iter().any(|f| f.host == host && f.what == WHAT) {
            self.fault(&host, WHAT);
        }
    }

    /// Whether the host signed it; where not, that is a fault of what is named so.
    pub fn is_signed(&mut self, host: &str, bytes: &[u8], signature: &str, name: &str) -> bool {
        match self.hosts.check(host, bytes, signature) {
            Ok(()) => {
                self.signers.held(host);
                true
            }
            Err(why) => {
                let fault = Fault {
                    host: visible(host).into_owned(),
                    what: format!("{name}: {why}"),
                };
                self.signers.unsigned(host, fault, signature);
                false
            }
        }
    }

    /// What was read of one host.
    pub fn gathered(&mut self, host: &str, gathered: &Gathered) {
        self.extents.insert(host.to_owned(), gathered.extent);
        for row in &gathered.rows {
            self.checkpoint(row);
        }
    }

    pub fn checkpoint(&mut self, row: &CheckpointRow) {
        let Some(key) = self.hosts.key(&row.host).cloned() else {
            return self.unknown(&row.host);
        };
        let name = format!("the checkpoint of {} records is not believed", row.size);
        if !self.is_signed(&row.host, &row.body, &row.signature, &name) {
            return;
        }
        let said = Said::read(&key, row);
        let chain = self.chains.entry(row.host.clone()).or_default();
        match said {
            Ok(Said::Checkpoint(published)) => chain.add(&published),
            Ok(Said::Doubt(admitted)) => chain.admit(admitted),
            Err(why) => self.fault(&row.host, format!("{name}: {why}")),
        }
    }

    /// What is wrong with the hosts' logs: what contradicts itself, and what hosts say themselves.
    pub fn doubts(&self) -> impl Iterator<Item = Fault> {
        self.chains.iter().flat_map(|(host, chain)| {
            let doubts = chain.doubts().into_iter().map(|doubt| doubt.to_string());
            let admitted = chain.admitted().map(ToString::to_string);
            doubts.chain(admitted).map(|what| Fault {
                host: host.clone(),
                what,
            })
        })
    }

    /// Whether the log of this host is doubted, so that nothing of it counts as proved. After [`Self::close`].
    pub fn is_doubted(&self, host: &str) -> bool {
        self.doubted.contains(host)
    }

    /// After the checkpoints.
    pub fn cosignature(&mut self, row: CosignatureRow) {
        let link = (row.size, row.root);
        let Some(key) = self.hosts.key(&row.host).map(Key::fingerprint) else {
            return self.unknown(&row.host);
        };
        let text = cosigned_text((&row.host, key), link, &row.cosigner);
        if let Err(why) = self.hosts.check(&row.cosigner, &text, &row.signature) {
            let what = format!(
                "a signature on the checkpoint of {} records is not believed: {why}",
                row.size
            );
            let host = visible(&row.host).into_owned();
            let fault = Fault { host, what };
            return self.signers.not_cosigned(&row.host, &row.cosigner, fault);
        }
        self.signers.cosigned(&row.cosigner);
        let chain = self.chains.entry(row.host.clone()).or_default();
        if row.cosigner != row.host && !chain.cosign(link, &row.cosigner) {
            self.waiting.push(row);
        }
    }

    /// What others signed and the engine does not have any more. `all`: every checkpoint of every host was read.
    pub fn close(&mut self, all: bool) {
        let (blamed, faults) = self.signers.close(&self.hosts);
        self.faults.extend(faults);
        self.waiting.retain(|row| !blamed.contains(&row.host));
        for row in std::mem::take(&mut self.waiting) {
            let extent = match all {
                true => Extent::All,
                false => self.extents.get(&row.host).copied().unwrap_or_default(),
            };
            let chain = self.chains.entry(row.host.clone()).or_default();
            // The newest few have all of the largest.
            let is_due = extent != Extent::Newest
                || chain.newest().is_none_or(|((size, _), _)| size < row.size);
            let what = match chain.has_size(row.size) {
                true => format!(
                    "CONFLICT: {} signed another log of {} records than the one here: that was rewritten, or {} did not check",
                    row.cosigner, row.size, row.cosigner
                ),
                false if is_due => format!(
                    "the checkpoint of {} records that {} signed {}",
                    row.size,
                    row.cosigner,
                    extent.missing()
                ),
                false => continue,
            };
            self.fault(&row.host, what);
        }
        let mut found: Vec<Fault> = self.doubts().collect();
        self.doubted = found.iter().map(|fault| fault.host.clone()).collect();
        for (host, chain) in &self.chains {
            let gaps = if all { chain.gaps() } else { Vec::new() };
            found.extend(gaps.iter().map(|size| {
                let what = format!(
                    "what lies before its checkpoint of {size} records is gone from the engine: nothing there proves that it \
                     extends an earlier one"
                );
                Fault {
                    host: host.clone(),
                    what,
                }
            }));
        }
        self.faults.extend(found);
        self.faults.sort();
        self.faults.dedup();
    }
}

#[cfg(test)]
#[path = "book_tests.rs"]
mod tests;
