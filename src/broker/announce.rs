//! From accepted to shown: the verdict and the inputs arrive, the `proposed` record becomes
//! durable, then the agent gets its answer and the person sees the proposal.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Now;
use crate::model::{
    Blob, BoundInput, DecisionKind, Finding, JobId, LogEvent, ProposalId, ProposedLog, State,
    Value, Verdict,
};

use super::accept::proposed_reply;
use super::desks::Job;
use super::effect::{Effect, Reply, RpcError};
use super::entry::Entry;
use super::outcome::{OutcomeText, decided};
use super::phase::{Contents, Early, End, Phase, Recording};
use super::refusals::closing;
use super::state::{BrokerState, Then};

/// The most that one analysis is charged for. If the analyser answered, the time it reports counts:
/// no agent pays while the machine is busy with something else or sleeps.
const CHARGE_MAX: Duration = Duration::from_secs(2);
/// Why nothing can become of code that no votes are asked about, where nobody sits.
const UNASKED: &str = "no policy of this host asks reviewers about it, and the host has no screen where a person could decide";
/// Log bytes charged for one finding besides its text.
const FINDING_BYTES: usize = 256;

/// What is certain about the values of the inputs, by their names.
pub(super) fn values(inputs: &[BoundInput]) -> BTreeMap<String, Value> {
    let known = inputs.iter().map(|i| Some((i.name.clone(), Value::of(i)?)));
    known.flatten().collect()
}

impl BrokerState {
    pub(super) fn analysed(
        &mut self,
        job: JobId,
        verdict: Verdict,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let Some((work, since)) = self.desks.end(job) else {
            return;
        };
        let passed = now.boot.saturating_sub(since.boot).min(CHARGE_MAX);
        let spent = match verdict.elapsed_us {
            // The analyser gave no answer, so the whole elapsed time is charged.
            0 => passed,
            worked => passed.min(Duration::from_micros(worked)),
        };
        // An agent pays neither for a person's edit nor for a drill.
        if !matches!(work.job, Job::Edit(..) | Job::Drill(_)) {
            self.quotas.charge_analysis(work.peer, spent, now.boot);
        }
        match work.job {
            Job::Check { conn, call } => {
                if self.connections.contains_key(&conn) {
                    let reply = Ok(Reply::Verdict(Arc::new(verdict)));
                    fx.push(Effect::Reply { conn, call, reply });
                }
            }
            Job::Proposal(id) | Job::Drill(id) => {
                let phase = self.entries.get_mut(&id).map(|entry| &mut entry.phase);
                match phase {
                    Some(Phase::Arriving(arriving)) => arriving.verdict = Some(Arc::new(verdict)),
                    // The log failed meanwhile. The screen still shows the verdict.
                    Some(Phase::Ended(ended)) => ended.proposed = Some(Arc::new(verdict)),
                    _ => {}
                }
                self.judged(id, now, fx);
            }
            Job::Edit(id, digest) => self.edit_judged(id, digest, verdict, now, fx),
        }
        self.pump(now, fx);
    }

    pub(super) fn inputs_bound(
        &mut self,
        id: ProposalId,
        inputs: Result<Vec<BoundInput>, String>,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let read = Contents::from(inputs);
        let Some(entry) = self.entries.get_mut(&id).filter(|e| e.inputs().is_none()) else {
            return;
        };
        match &mut entry.phase {
            Phase::Arriving(arriving) => {
                if let Some(mut work) = arriving.work.take() {
                    work.values = values(&read.inputs);
                    self.desks.push(*work);
                }
                arriving.inputs = Some(read);
            }
            Phase::Ended(ended) => ended.inputs = Some(read.inputs),
            Phase::Recording(_) | Phase::Waiting(_) | Phase::Revising(_) | Phase::Granted(_) => {}
        }
        self.judged(id, now, fx);
        self.pump(now, fx);
    }

    /// Records the proposal once verdict and inputs are known. If it already ended, its end is
    /// recorded next.
    fn judged(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        let deserted = self.is_deserted(id);
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        let Phase::Arriving(arriving) = &entry.phase else {
            return;
        };
        let Some(recording) = arriving.complete() else {
            return;
        };
        if entry.offered.is_some() {
            return self.offer_judged(id, recording, now, fx);
        }
        let over = self.end_before_shown(entry, &recording).is_some();
        if entry.is_drill() && (over || deserted) {
            // Nobody saw it, so there is nothing to record.
            return self.drop_unknown(id, &closing(), fx);
        }
        let review = &recording.review;
        let (event, blobs) = proposed_record(entry, &review.proposed, &review.inputs);
        let then = match over {
            false => Then::Announce(id),
            true => Then::EndUnseen(id),
        };
        let findings = findings_bytes(&review.proposed) as u64;
        let payer = entry.counts_for();
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.phase = Phase::Recording(recording);
        }
        // Code and inputs were charged when they arrived.
        if let Some(peer) = payer {
            self.quotas.charge_log(peer, findings, now.boot);
        }
        self.record(event, blobs, then, now, fx);
    }

    /// The `proposed` record is durable, but the proposal ended before anybody saw it. The end gets
    /// a record of its own, which must follow the `proposed` record.
    pub(super) fn end_unseen(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        let Phase::Recording(recording) = &entry.phase else {
            return;
        };
        let Some(unseen) = self.end_before_shown(entry, recording) else {
            return;
        };
        let (kind, text) = match &unseen {
            Unseen::Early(Early::Expired) => (
                Some(DecisionKind::Expired),
                OutcomeText::expired(entry.ttl_s(), false, self.reaches_reviewers),
            ),
            Unseen::Early(Early::Withdrawn { disconnected }) => (
                Some(DecisionKind::Withdrawn),
                OutcomeText::withdrawn(*disconnected),
            ),
            Unseen::Blocked => {
                let text = OutcomeText::blocked(&recording.review.proposed);
                (Some(DecisionKind::Blocked), text)
            }
            Unseen::Fault(message) => (None, OutcomeText::error(message)),
            Unseen::Unasked => (None, OutcomeText::never(UNASKED)),
        };
        let event = unseen.record(id);
        let end = End {
            state: event.state().unwrap_or(State::Error),
            text,
            decision: kind.map(|k| decided(k, now)),
            run: None,
        };
        self.set_final(id, end, now);
        self.record(event, Vec::new(), Then::Announce(id), now, fx);
    }

    fn end_before_shown(&self, entry: &Entry, recording: &Recording) -> Option<Unseen> {
        if let Some(early) = recording.early {
            return Some(Unseen::Early(early));
        }
        let verdict = &recording.review.proposed;
        if !verdict.verdict.grantable() {
            return Some(Unseen::Blocked);
        }
        if let Some(message) = recording.fault.clone() {
            return Some(Unseen::Fault(message));
        }
        let unasked = self.is_unasked(&entry.proposal.profile, verdict);
        unasked.then_some(Unseen::Unasked)
    }

    /// The `proposed` record is durable: answer the agent and show the proposal to the person.
    pub(super) fn announce(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        let early = match &mut entry.phase {
            Phase::Recording(recording) => {
                let early = recording.early;
                entry.phase = Phase::Waiting(recording.review.clone());
                early
            }
            Phase::Ended(ended) => {
                ended.heard = ended.state;
                self.keep_ended(id);
                None
            }
            Phase::Arriving(_) | Phase::Waiting(_) | Phase::Revising(_) | Phase::Granted(_) => {
                return;
            }
        };
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        if let Some(peer) = entry.counts_for() {
            self.unannounced.remove(peer);
        }
        if let Some(reply) = proposed_reply(entry) {
            for (conn, call) in std::mem::take(&mut entry.audience.proposers) {
                fx.push(Effect::Reply {
                    conn,
                    call,
                    reply: Ok(reply.clone()),
                });
            }
        }
        if entry.state().is_final() {
            return self.tell(id, now, fx);
        }
        self.waiting.insert(entry.seq, id);
        // The proposal may have ended while the record was being written.
        match early {
            Some(Early::Expired) => self.end_expired(id, now, fx),
            Some(Early::Withdrawn { disconnected }) => {
                self.end_withdrawn(id, disconnected, now, fx);
            }
            None if self.closing => self.end_unattended(id, now, fx),
            None if self.offers_nothing() => self.end_doubted(id, now, fx),
            None => {
                self.put_to_vote(id, now, fx);
                fx.push(Effect::Attention);
            }
        }
    }

    /// Drops proposals that have no record yet, because the dashboard closes.
    pub(super) fn drop_unrecorded(&mut self, fx: &mut Vec<Effect>) {
        let dropped: Vec<ProposalId> = self
            .entries
            .values()
            .filter(|e| matches!(e.phase, Phase::Arriving(_)))
            .map(|e| e.proposal.id)
            .collect();
        for id in dropped {
            self.drop_unknown(id, &closing(), fx);
        }
    }

    /// Forgets a proposal that the log does not have, and answers every call that waits for it.
    pub(super) fn drop_unknown(&mut self, id: ProposalId, why: &RpcError, fx: &mut Vec<Effect>) {
        self.leave_undecided(id);
        let Some(entry) = self.forget(id) else {
            return;
        };
        for (conn, call) in entry.audience.calls() {
            fx.push(Effect::Reply {
                conn,
                call,
                reply: Err(why.clone()),
            });
        }
    }
}

/// Why a proposal ends before anybody sees it.
enum Unseen {
    Early(Early),
    Blocked,
    /// Something of it could not be read.
    Fault(String),
    /// Nobody could decide on it here.
    Unasked,
}

impl Unseen {
    fn record(self, id: ProposalId) -> LogEvent {
        let failed = |message| LogEvent::Failed {
            id,
            state: State::Error,
            message,
        };
        match self {
            Self::Early(Early::Expired) => LogEvent::Expired { id },
            Self::Early(Early::Withdrawn { disconnected }) => {
                LogEvent::Withdrawn { id, disconnected }
            }
            Self::Blocked => LogEvent::Blocked { id },
            Self::Fault(message) => failed(message),
            Self::Unasked => failed(UNASKED.to_owned()),
        }
    }
}

/// Approximate size of the findings in the log and in memory.
pub(super) fn findings_bytes(verdict: &Verdict) -> usize {
    let of = |f: &Finding| FINDING_BYTES + f.message.len() + f.hint.len();
    verdict.findings.iter().map(of).sum()
}

fn proposed_record(
    entry: &Entry,
    verdict: &Verdict,
    inputs: &[BoundInput],
) -> (LogEvent, Vec<Blob>) {
    let p = &entry.proposal;
    let mut blobs = vec![Blob::of(p.proposed.text().as_bytes())];
    blobs.extend(
        inputs
            .iter()
            .filter_map(BoundInput::brought)
            .map(|t| Blob::of(t.as_bytes())),
    );
    let log = ProposedLog {
        id: p.id,
        digest: p.proposed.digest(),
        kept: None,
        profile: p.profile.clone(),
        policy_sha256: verdict.policy.sha256.clone(),
        agent: p.agent.clone(),
        peer: p.peer.clone(),
        title: p.title.clone(),
        reason: p.reason.clone(),
        traceparent: p.traceparent.clone(),
        inputs: inputs.iter().map(BoundInput::without_text).collect(),
        verdict: verdict.clone(),
        expires_at: entry.expires_at,
        drill: p.drill.clone(),
    };
    (LogEvent::Proposed(Box::new(log)), blobs)
}
