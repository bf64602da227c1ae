//! The checkpoints of all hosts, as a reader with the file of hosts can check them.

use std::collections::BTreeMap;

use crate::ballot::Key;
use crate::desk::engine::{CheckpointRow, CosignatureRow};
use crate::desk::hosts::Hosts;
use crate::model::visible;

use super::chain::Chain;
use super::published::{Published, cosigned_text};

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

    pub fn checkpoint(&mut self, row: &CheckpointRow) {
        let Some(key) = self.hosts.key(&row.host) else {
            return self.unknown(&row.host);
        };
        match Published::read(key, row) {
            Ok(published) => self
                .chains
                .entry(row.host.clone())
                .or_default()
                .add(&published),
            Err(why) => self.fault(
                &row.host,
                format!(
                    "the checkpoint of {} records is not believed: {why}",
                    row.size
                ),
            ),
        }
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
            return self.fault(&row.host, what);
        }
        let chain = self.chains.entry(row.host.clone()).or_default();
        if row.cosigner != row.host && !chain.cosign(link, &row.cosigner) {
            self.waiting.push(row);
        }
    }

    /// What others signed and the engine does not have any more. `all`: every checkpoint was read.
    pub fn close(&mut self, all: bool) {
        for row in std::mem::take(&mut self.waiting) {
            let chain = self.chains.entry(row.host.clone()).or_default();
            let what = match chain.has_size(row.size) {
                true => format!(
                    "CONFLICT: {} signed another log of {} records than the one here: that was rewritten, or {} did not check",
                    row.cosigner, row.size, row.cosigner
                ),
                false if all || chain.newest().is_none_or(|((size, _), _)| size < row.size) => {
                    format!(
                        "the checkpoint of {} records that {} signed is gone from the engine",
                        row.size, row.cosigner
                    )
                }
                false => continue,
            };
            self.fault(&row.host, what);
        }
        let mut found = Vec::new();
        for (host, chain) in &self.chains {
            found.extend(
                chain
                    .doubts()
                    .iter()
                    .map(|doubt| (host.clone(), doubt.to_string())),
            );
            let gaps = if all { chain.gaps() } else { Vec::new() };
            found.extend(gaps.iter().map(|size| {
                let what = format!(
                    "what lies before its checkpoint of {size} records is gone from the engine: nothing there proves that it \
                     extends an earlier one"
                );
                (host.clone(), what)
            }));
        }
        for (host, what) in found {
            self.fault(&host, what);
        }
        self.faults.sort();
        self.faults.dedup();
    }
}
