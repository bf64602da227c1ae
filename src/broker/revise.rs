//! A person edits the code of a pending proposal. The edit is judged like any code and recorded, and
//! only then it is what can be granted. Agents hear of it with a grant or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::clock::Now;
use crate::model::{
    Blob, Code, Digest, EditedLog, Limits, LogEvent, ProposalId, Reviewer, State, Verdict,
};
use crate::policy::Contract;

use super::announce::values;
use super::decision::Refused;
use super::desks::{Job, Work};
use super::effect::Effect;
use super::phase::{Edit, Phase, Review, Revising};
use super::quota::key;
use super::state::{BrokerState, Then};

impl BrokerState {
    /// Whether a person may edit the proposal's code now.
    ///
    /// # Errors
    /// Why not.
    pub fn editable(&self, id: ProposalId, now: Now) -> Result<(), Refused> {
        let entry = self.entry(id).ok_or(Refused::Unknown)?;
        if self.settings.seat().is_some() {
            return Err(Refused::NotHere);
        }
        if entry.state() != State::Pending {
            return Err(Refused::NotPending(entry.state()));
        }
        if now.boot >= entry.deadline {
            return Err(Refused::TooLate);
        }
        if self.is_closing() {
            return Err(Refused::Closing);
        }
        if self.audit.is_down() {
            return Err(Refused::AuditDown);
        }
        match entry.phase {
            Phase::Waiting(_) => Ok(()),
            Phase::Revising(_) => Err(Refused::Revising),
            _ => Err(Refused::Unannounced),
        }
    }

    /// The most bytes that this profile's code may have.
    pub fn code_bytes(&self, profile: &str) -> u64 {
        let limit = self.profile(profile).map(|p| p.policy.limits.code_bytes);
        limit
            .unwrap_or(Limits::CODE_BYTES_MAX)
            .min(Limits::CODE_BYTES_MAX)
    }

    /// Has an edited code analysed. Code that is the same as before, empty or too long changes nothing.
    pub(super) fn edit(
        &mut self,
        id: ProposalId,
        code: Code,
        diff: Arc<str>,
        by: Reviewer,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        if self.settings.seat().is_some() {
            self.refusal = Some((id, Refused::NotHere));
            return;
        }
        if let Err(why) = self.editable(id, now) {
            self.refusal = Some((id, why));
            return;
        }
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        let most = self.code_bytes(&entry.proposal.profile);
        if *entry.code() == code || !(1..=most).contains(&code.bytes()) {
            return;
        }
        let profile = entry.proposal.profile.clone();
        let analysis = self.contract_of(&profile) == Some(Contract::Analysis);
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        let Phase::Waiting(review) = &entry.phase else {
            return;
        };
        let names: BTreeSet<String> = review.inputs.iter().map(|i| i.name.clone()).collect();
        let work = Work {
            job: Job::Edit(id, code.digest()),
            code: code.text().clone(),
            profile,
            inputs: Some(names),
            values: match analysis {
                true => values(&review.inputs),
                false => BTreeMap::new(),
            },
            peer: key(&entry.proposal.peer),
        };
        entry.phase = Phase::Revising(Box::new(Revising {
            review: review.clone(),
            code,
            diff,
            by,
            verdict: None,
        }));
        self.refusal = None;
        self.desks.push(work);
        self.pump(now, fx);
    }

    /// The analyser answered: records the edit, unless the proposal ended meanwhile.
    pub(super) fn edit_judged(
        &mut self,
        id: ProposalId,
        digest: Digest,
        verdict: Verdict,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        let from = entry.code().digest();
        let Phase::Revising(revising) = &mut entry.phase else {
            return;
        };
        if revising.code.digest() != digest || revising.verdict.is_some() {
            return;
        }
        let log = EditedLog {
            id,
            from,
            digest,
            kept: None,
            profile: entry.proposal.profile.clone(),
            policy_sha256: verdict.policy.sha256.clone(),
            verdict: verdict.clone(),
            by: revising.by.clone(),
        };
        revising.verdict = Some(Arc::new(verdict));
        let blobs = vec![Blob::of(revising.code.text().as_bytes())];
        let event = LogEvent::Edited(Box::new(log));
        self.record_decided(event, blobs, Then::Revise(id), now, fx);
    }

    /// The edit is recorded: from now on it is what can be granted.
    pub(super) fn revised(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        let Phase::Revising(revising) = &entry.phase else {
            return;
        };
        let Some(verdict) = &revising.verdict else {
            return;
        };
        let edit = Edit {
            code: revising.code.clone(),
            verdict: verdict.clone(),
            diff: revising.diff.clone(),
        };
        // A person who restored the code as proposed edited nothing.
        let edited = edit.code != entry.proposal.proposed;
        self.edits += 1;
        entry.phase = Phase::Waiting(Review {
            edit: edited.then(|| Arc::new(edit)),
            ..revising.review.clone()
        });
        self.put_to_vote(id, now, fx);
    }

    /// The edit could not be recorded: the code is what it was before.
    pub(super) fn not_revised(&mut self, id: ProposalId) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        if let Phase::Revising(revising) = &entry.phase {
            entry.phase = Phase::Waiting(revising.review.clone());
            self.refusal = Some((id, Refused::Unrecorded));
        }
    }
}
