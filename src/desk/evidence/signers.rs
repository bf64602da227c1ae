//! Whose signatures hold. Where none of a host's does, the likely reason is its line in the reader's own file of hosts: that is told
//! once, and nobody is accused of each row.

use std::collections::{BTreeMap, BTreeSet};

use crate::ballot::key_of;
use crate::desk::hosts::Hosts;
use crate::model::visible;

use super::book::Fault;
use super::gathered::foreign;

/// More rows of a host that it did not sign are told in one sentence.
const EACH_MAX: usize = 8;

/// What was found of the signatures of each host.
#[derive(Debug, Default)]
pub(super) struct Signers {
    /// Hosts whose signature held at least once, and how often it did on rows of their own.
    held: BTreeMap<String, usize>,
    unsigned: BTreeMap<String, Vec<Unsigned>>,
    /// Signatures on others' checkpoints, which bind the keys of both: whose checkpoint, and who is to have signed.
    cosigned: Vec<(String, String, Fault)>,
}

#[derive(Debug)]
struct Unsigned {
    fault: Fault,
    armour: String,
}

impl Signers {
    /// The host signed a row of its own.
    pub fn held(&mut self, host: &str) {
        match self.held.get_mut(host) {
            Some(rows) => *rows += 1,
            None => drop(self.held.insert(host.to_owned(), 1)),
        }
    }

    /// The host signed something of another one.
    pub fn cosigned(&mut self, host: &str) {
        if !self.held.contains_key(host) {
            self.held.insert(host.to_owned(), 0);
        }
    }

    pub fn unsigned(&mut self, host: &str, fault: Fault, armour: &str) {
        let armour = armour.to_owned();
        let all = self.unsigned.entry(host.to_owned()).or_default();
        all.push(Unsigned { fault, armour });
    }

    pub fn not_cosigned(&mut self, host: &str, cosigner: &str, fault: Fault) {
        let (host, cosigner) = (host.to_owned(), cosigner.to_owned());
        self.cosigned.push((host, cosigner, fault));
    }

    /// Hosts of which nothing is believed because of one line, and everything that does not hold.
    pub fn close(&mut self, hosts: &Hosts) -> (BTreeSet<String>, Vec<Fault>) {
        let mut blamed = BTreeSet::new();
        let mut faults = Vec::new();
        for (host, all) in std::mem::take(&mut self.unsigned) {
            match self.held.get(&host) {
                Some(held) if all.len() > EACH_MAX => {
                    faults.push(Fault {
                        host: visible(&host).into_owned(),
                        what: foreign(all.len(), held + all.len()),
                    });
                    continue;
                }
                None if all.len() > 1 => {}
                _ => {
                    faults.extend(all.into_iter().map(|one| one.fault));
                    continue;
                }
            }
            let line = hosts.line(&host).unwrap_or(0);
            let what = format!(
                "nothing of it is believed: none of {} rows is signed with the key in line {line} of the file of hosts; {}",
                all.len(),
                reason(hosts, &all)
            );
            faults.push(Fault {
                host: visible(&host).into_owned(),
                what,
            });
            blamed.insert(host);
        }
        for (host, cosigner, fault) in std::mem::take(&mut self.cosigned) {
            if !blamed.contains(&host) && !blamed.contains(&cosigner) {
                faults.push(fault);
            }
        }
        (blamed, faults)
    }
}

/// By the keys that the signatures name. Nobody proved that they are theirs.
fn reason(hosts: &Hosts, all: &[Unsigned]) -> String {
    let keys: BTreeSet<Option<String>> = all
        .iter()
        .map(|one| {
            let key = key_of(&one.armour).ok()?;
            let whose = hosts
                .of_key(&key)
                .map(|other| format!(", which is `{other}`'s there"));
            Some(format!(
                "{}{}",
                key.fingerprint(),
                whose.unwrap_or_default()
            ))
        })
        .collect();
    let line = "that line most likely has a wrong or an old key: compare it with `desk/host_key.pub` of the host";
    match keys.first() {
        Some(Some(key)) if keys.len() == 1 => format!("all name the key {key}. {line}"),
        _ => line.to_owned(),
    }
}
