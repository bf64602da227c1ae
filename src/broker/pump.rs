//! Work that waits for a verdict: how much of it one peer may queue, and whose turn is next.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use crate::clock::Now;
use crate::model::{Environment, JobId, Peer, Setting};

use crate::policy::{Contract, Policy};

use super::announce::values;
use super::desks::{Desk, Job, Work};
use super::effect::{Effect, RpcError};
use super::entry::Entry;
use super::quota::key;
use super::seat::Offered;
use super::state::BrokerState;

/// Proposals and checks that a peer may have waiting for a verdict or for the disk.
const WAITING_PER_PEER: usize = 256;
/// The same for a uid, because one uid can start many processes.
const WAITING_PER_UID: usize = 1024;

impl BrokerState {
    /// The same for a proposal that waits.
    pub(super) fn setting_of(&self, entry: &Entry, policy: &Policy) -> Option<Setting> {
        let inputs = entry.inputs()?;
        let work = Work {
            job: Job::Proposal(entry.proposal.id),
            code: entry.code().text().clone(),
            profile: policy.name.clone(),
            inputs: Some(inputs.iter().map(|input| input.name.clone()).collect()),
            values: match policy.contract {
                Contract::Analysis => values(inputs),
                _ => BTreeMap::new(),
            },
            peer: key(&entry.proposal.peer),
        };
        Some(self.setting(&work))
    }

    /// What is known now about a run of this work.
    fn setting(&self, work: &Work) -> Setting {
        Setting {
            tier: Some(self.settings.tier),
            inputs: work.inputs.clone(),
            datasets: self.settings.datasets.clone(),
            python: match &self.environment {
                Environment::Ready { installed, .. } => Some(installed.clone()),
                Environment::Making { .. }
                | Environment::Changed { .. }
                | Environment::Failed { .. } => None,
            },
            values: work.values.clone(),
        }
    }

    /// The offer that this work judges, in a reviewer's seat.
    fn offer_of(&self, work: &Work) -> Option<&Offered> {
        match &work.job {
            Job::Proposal(id) => self.entries.get(id)?.offered.as_ref(),
            Job::Check { .. } | Job::Drill(_) | Job::Edit(..) => None,
        }
    }

    /// Refuses work that would only lengthen this peer's own queue. Checked before anything is
    /// hashed, queued, analysed or logged, so that each request of a flood costs only a refusal.
    pub(super) fn check_backlog(&self, peer: &Peer) -> Result<(), RpcError> {
        let of_peer = self
            .desks
            .of_peer(key(peer))
            .max(self.unannounced.of_peer(key(peer)));
        let of_uid = self
            .desks
            .of_uid(peer.uid)
            .max(self.unannounced.of_uid(peer.uid));
        let (n, whose, max) = match () {
            () if of_peer >= WAITING_PER_PEER => (of_peer, "peer", WAITING_PER_PEER),
            () if of_uid >= WAITING_PER_UID => (of_uid, "uid", WAITING_PER_UID),
            () => return Ok(()),
        };
        let message = format!("{n} requests of this {whose} wait for a verdict");
        Err(RpcError::new(RpcError::TOO_MANY, message)
            .with_data(json!({"retry_after_ms": 100, "limit_waiting": max})))
    }

    /// Gives each free desk the next piece of work in turn.
    pub(super) fn pump(&mut self, now: Now, fx: &mut Vec<Effect>) {
        for desk in Desk::ALL {
            self.pump_one(desk, now, fx);
        }
    }

    fn pump_one(&mut self, desk: Desk, now: Now, fx: &mut Vec<Effect>) {
        while let Some(work) = self.desks.next(desk) {
            let wanted = match &work.job {
                Job::Proposal(id) | Job::Drill(id) | Job::Edit(id, _) => {
                    self.entries.contains_key(id)
                }
                Job::Check { conn, .. } => self.connections.contains_key(conn),
            };
            if !wanted {
                continue;
            }
            let job = JobId(self.next_job);
            self.next_job += 1;
            let (code, profile) = (work.code.clone(), work.profile.clone());
            let offered = self.offer_of(&work);
            let policy = offered.map(|offered| Arc::new(offered.offer.policy.clone()));
            let setting = match offered {
                Some(offered) => offered.offer.setting.clone(),
                None => self.setting(&work),
            };
            self.desks.begin(desk, job, work, now);
            fx.push(Effect::Analyse {
                job,
                desk,
                code,
                profile,
                policy,
                setting,
            });
        }
    }
}
