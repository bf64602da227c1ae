//! How the waiting for a decision ends: granted, denied, expired, withdrawn, unattended.

use crate::clock::Now;
use crate::model::{
    BoundInput, Decision, DecisionKind, GrantedLog, LogEvent, ProposalId, Reviewer, State, Viewed,
    VoteKind, Votes,
};

use super::decision::{Confirmation, Consent, Grant, Refused, grant};
use super::effect::Effect;
use super::entry::Entry;
use super::outcome::{OutcomeText, decided};
use super::phase::{Early, End, Granted, Phase, Stage};
use super::poll::Poll;
use super::state::{BrokerState, Then};

impl BrokerState {
    pub(super) fn confirm(&mut self, confirmation: &Confirmation, now: Now, fx: &mut Vec<Effect>) {
        let id = confirmation.id;
        match grant::grant(self, Consent::Person(confirmation), now) {
            Ok(grant) => {
                self.refusal = None;
                let (by, viewed) = (confirmation.by.clone(), confirmation.viewed);
                self.granted(grant, by, viewed, None, now, fx);
            }
            Err(Refused::Drill) => self.drill_granted(confirmation, now, fx),
            Err(Refused::Votes) => {
                self.refusal = None;
                let voted = match self.settings.seat() {
                    None => self.vote_here(confirmation, fx),
                    Some(_) => {
                        let viewed = confirmation.viewed;
                        self.vote_from_seat(id, VoteKind::Grant, viewed, None, fx)
                    }
                };
                if let Err(why) = voted {
                    self.refusal = Some((id, why));
                }
            }
            Err(why) => self.refusal = Some((id, why)),
        }
    }

    /// Records a grant; once that is durable, its child is made.
    pub(super) fn granted(
        &mut self,
        grant: Grant,
        by: Reviewer,
        viewed: Viewed,
        votes: Option<Votes>,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let id = grant.id();
        let event = LogEvent::Granted(Box::new(GrantedLog {
            id,
            digest: grant.code().digest(),
            grant_digest: grant.digest(),
            profile: grant.policy().name.clone(),
            policy_sha256: grant.policy().sha256.hex(),
            limits: *grant.limits(),
            tier: grant.tier(),
            environment: grant.environment(),
            inputs: grant
                .inputs()
                .iter()
                .map(BoundInput::without_text)
                .collect(),
            private_told: grant.inputs().iter().any(|i| grant.policy().tells(i)),
            by,
            viewed,
            votes,
        }));
        self.leave_undecided(id);
        if let Some(entry) = self.entries.get_mut(&id)
            && let Phase::Waiting(review) = &entry.phase
        {
            let edit = review.edit.as_ref();
            let decision = Decision {
                edited: edit.is_some(),
                code: edit.map(|edit| edit.code.text().to_string()),
                diff: edit.map(|edit| edit.diff.to_string()),
                ..decided(DecisionKind::Granted, now)
            };
            entry.phase = Phase::Granted(Box::new(Granted {
                review: review.clone(),
                decision,
                stage: Stage::Armed(Box::new(grant)),
                stopped: None,
                noted: Vec::new(),
            }));
            self.active.insert(entry.seq, id);
            self.ledger
                .became(&entry.proposal.agent_id(), State::Granted);
        }
        self.record_decided(event, Vec::new(), Then::Execute(id), now, fx);
    }

    pub(super) fn deny(
        &mut self,
        id: ProposalId,
        reason: Option<String>,
        viewed: Viewed,
        by: Reviewer,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        if self.entries.get(&id).is_some_and(Entry::is_drill) {
            return self.drill_denied(id, by, viewed, now, fx);
        }
        let reason = reason.filter(|r| !r.trim().is_empty());
        if self.settings.seat().is_some() {
            let kind = self.entries.get(&id).map(|entry| self.denies_as(entry));
            let kind = kind.unwrap_or(VoteKind::Deny);
            let voted = self.vote_from_seat(id, kind, viewed, reason, fx);
            self.refusal = voted.err().map(|why| (id, why));
            return;
        }
        let text = OutcomeText::denied(reason.as_deref());
        let kind = decided(DecisionKind::Denied, now);
        let decision = Decision {
            reason: reason.clone(),
            ..kind
        };
        let event = LogEvent::Denied {
            id,
            reason,
            by,
            viewed,
        };
        if self.stop_waiting(id, decision, text, &event, now) {
            self.record_decided(event, Vec::new(), Then::Tell(id), now, fx);
        }
    }

    /// Expires every proposal whose deadline has come. At exactly the deadline it has.
    pub(super) fn expire_due(&mut self, now: Now, fx: &mut Vec<Effect>) {
        while let Some((deadline, id)) = self.deadlines.first().copied() {
            if deadline > now.boot {
                break;
            }
            self.deadlines.pop_first();
            let Some(entry) = self.entries.get_mut(&id) else {
                continue;
            };
            if entry.awaits_decision() {
                self.end_expired(id, now, fx);
            } else {
                entry.phase.end_early(Early::Expired);
            }
        }
    }

    pub(super) fn end_expired(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        if entry.is_drill() {
            return self.drill_unanswered(id, now, fx);
        }
        let ttl_s = entry.ttl_s();
        let granted = entry.poll().is_some_and(Poll::has_grant);
        let decision = decided(DecisionKind::Expired, now);
        let text = OutcomeText::expired(ttl_s, granted, self.reaches_reviewers);
        let text = entry.expired_in_vain().unwrap_or(text);
        self.end_waiting(id, decision, text, LogEvent::Expired { id }, now, fx);
    }

    pub(super) fn end_withdrawn(
        &mut self,
        id: ProposalId,
        disconnected: bool,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let decision = decided(DecisionKind::Withdrawn, now);
        let text = OutcomeText::withdrawn(disconnected);
        let event = LogEvent::Withdrawn { id, disconnected };
        self.end_waiting(id, decision, text, event, now, fx);
    }

    pub(super) fn end_unattended(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        if self.entries.get(&id).is_some_and(Entry::is_drill) {
            return self.drill_unanswered(id, now, fx);
        }
        let decision = decided(DecisionKind::Unattended, now);
        let text = OutcomeText::unattended();
        self.end_waiting(id, decision, text, LogEvent::Unattended { id }, now, fx);
    }

    /// Ends a proposal that still waits, without a person's decision. Any other stays as it is.
    fn end_waiting(
        &mut self,
        id: ProposalId,
        decision: Decision,
        text: OutcomeText,
        event: LogEvent,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let after_edit = self.entries.get(&id).is_some_and(Entry::is_revising);
        if !self.stop_waiting(id, decision, text, &event, now) {
            return;
        }
        if let Some(host) = self.offered_by(id) {
            return self.ended_here(id, host, &event, now, fx);
        }
        self.record_end(id, event, after_edit, now, fx);
    }

    /// Ends what nobody can grant, as `error`. `text` is for its agent, `message` for the log.
    pub(super) fn end_failed(
        &mut self,
        id: ProposalId,
        text: OutcomeText,
        message: String,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let after_edit = self.entries.get(&id).is_some_and(Entry::is_revising);
        let state = State::Error;
        let end = End {
            state,
            text,
            decision: None,
            run: None,
        };
        self.set_final(id, end, now);
        let event = LogEvent::Failed { id, state, message };
        self.record_end(id, event, after_edit, now, fx);
    }

    /// The record of an edit is in the person's lane, and that of the end must not pass it.
    fn record_end(
        &mut self,
        id: ProposalId,
        event: LogEvent,
        after_edit: bool,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        match after_edit {
            true => self.record_decided(event, Vec::new(), Then::Tell(id), now, fx),
            false => self.record(event, Vec::new(), Then::Tell(id), now, fx),
        }
    }

    /// Moves a proposal that waits for a decision into its final state. False if it was not
    /// waiting.
    fn stop_waiting(
        &mut self,
        id: ProposalId,
        decision: Decision,
        text: OutcomeText,
        event: &LogEvent,
        now: Now,
    ) -> bool {
        if !self.entries.get(&id).is_some_and(Entry::awaits_decision) {
            return false;
        }
        let end = End {
            state: event.state().unwrap_or(State::Error),
            text,
            decision: Some(decision),
            run: None,
        };
        self.set_final(id, end, now);
        true
    }
}
