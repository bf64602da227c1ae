//! Drills: proposals that the dashboard makes itself, to tell a person whether they still read.
//!
//! One looks like a real proposal until it is decided: it has the name and peer of the latest one, and is judged, seen and
//! decided by the same rules. It cannot run, because `decision::grant` makes no grant of it; where it would have made
//! one, the drill ends. It counts for no agent, its quotas or its history, and nobody is answered.

use std::sync::Arc;

use crate::clock::Now;
use crate::model::{
    Code, ConnId, Draft, Drill, DrillEnd, DrilledLog, LogEvent, Proposal, ProposalId, Reviewer,
    State, Viewed,
};

use super::accept::{Given, params_digest};
use super::decision::Confirmation;
use super::effect::Effect;
use super::entry::Entry;
use super::outcome::OutcomeText;
use super::phase::End;
use super::state::{BrokerState, Then};

/// No connection has this number.
const NOBODY: ConnId = ConnId(u64::MAX);

impl BrokerState {
    /// Takes in a drill. One that cannot look like a real proposal, or that would not be accepted, is dropped; so is a
    /// second one while one waits.
    pub(super) fn drill(
        &mut self,
        id: ProposalId,
        draft: Draft,
        drill: Drill,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let waits = |e: &Entry| e.is_drill() && !e.state().is_final();
        let taken = self.entries.contains_key(&id) || self.entries.values().any(waits);
        if self.closing || self.audit.is_down() || taken {
            return;
        }
        let Ok(profile) = self.profile_for(draft.profile.as_deref()) else {
            return;
        };
        let inputs = self.check_inputs(NOBODY, &draft.inputs, &profile);
        let (Ok(artifacts), Ok(())) = (inputs, self.check_code(&draft.code, &profile)) else {
            return;
        };
        let real = self.entries.values().filter(|e| !e.is_drill());
        let Some(latest) = real.max_by_key(|e| e.seq).map(|e| e.proposal.clone()) else {
            return;
        };
        let (params, _) = params_digest(&draft);
        let proposal = Arc::new(Proposal {
            id,
            proposed: Code::new(draft.code),
            profile,
            title: draft.title,
            reason: draft.reason,
            agent: latest.agent.clone(),
            peer: latest.peer.clone(),
            stream: false,
            idempotency_key: None,
            drill: Some(drill),
        });
        let given = Given {
            params,
            inputs: draft.inputs,
            artifacts,
        };
        let ttl = self.settings.ttl;
        self.take_in(proposal, None, given, ttl, now, fx);
    }

    /// A person confirmed the sheet of a drill, and nothing but its being one prevented the grant.
    pub(super) fn drill_granted(&mut self, by: &Confirmation, now: Now, fx: &mut Vec<Effect>) {
        self.refusal = None;
        let Some(entry) = self.entries.get(&by.id) else {
            return;
        };
        let (code, proposed) = (entry.code().text(), entry.proposal.proposed.text());
        let drill = entry.proposal.drill.as_ref();
        let stands = drill.is_none_or(|drill| drill.stands_in(code, proposed));
        let end = match stands {
            true => DrillEnd::Granted,
            false => DrillEnd::Caught,
        };
        self.end_drill(by.id, end, Some((by.by.clone(), by.viewed)), now, fx);
    }

    /// A person denied it. Whoever never looked at it, and denied everything of its agent, did not catch it.
    pub(super) fn drill_denied(
        &mut self,
        id: ProposalId,
        by: Reviewer,
        viewed: Viewed,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let end = match viewed.selected_ms {
            0 => DrillEnd::Unanswered,
            _ => DrillEnd::Caught,
        };
        self.end_drill(id, end, Some((by, viewed)), now, fx);
    }

    pub(super) fn drill_unanswered(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        self.end_drill(id, DrillEnd::Unanswered, None, now, fx);
    }

    fn end_drill(
        &mut self,
        id: ProposalId,
        end: DrillEnd,
        by: Option<(Reviewer, Viewed)>,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get(&id).filter(|e| e.awaits_decision()) else {
            return;
        };
        let Some(drill) = entry.proposal.drill.clone() else {
            return;
        };
        let text = OutcomeText::drilled(&drill, end);
        let (by, viewed) = by.unzip();
        let event = LogEvent::Drilled(Box::new(DrilledLog {
            id,
            end,
            drill,
            by,
            viewed,
        }));
        let ended = End {
            state: State::Drilled,
            text,
            decision: None,
            run: None,
        };
        self.set_final(id, ended, now);
        // In the person's lane, as an edit of it would be: this must not pass one.
        self.record_decided(event, Vec::new(), Then::Tell(id), now, fx);
    }
}
