//! Drills: proposals that the dashboard makes itself, to tell a person whether they still read.
//!
//! One looks like a real proposal until it is decided: it has name, peer and time to live of one by an agent that is
//! connected, counts among that agent's on the screen, leaves when the agent leaves, and is judged, seen and decided by the
//! same rules. It cannot run, because `decision::grant` makes no grant of it; where it would have made one, the drill ends.
//! It costs no agent anything, is in no agent's history, and nobody is answered.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::Now;
use crate::model::{
    AgentId, Code, ConnId, Digest, Draft, Drill, DrillEnd, DrilledLog, LogEvent, Proposal,
    ProposalId, Reviewer, State, Viewed, trace_of,
};

use super::accept::{Given, params_digest};
use super::decision::Confirmation;
use super::effect::Effect;
use super::outcome::OutcomeText;
use super::phase::End;
use super::state::{BrokerState, Then};

/// Another step of an agent's trace, since a drill that had none where its agent has one would stand out.
fn step_of(traceparent: &str, id: ProposalId) -> Option<String> {
    let trace = trace_of(traceparent)?;
    let step = Digest::of(id.to_string().as_bytes()).hex();
    Some(format!("00-{trace}-{}-01", step.get(..16)?))
}

/// No connection has this number.
const NOBODY: ConnId = ConnId(u64::MAX);

/// The drill that waits.
#[derive(Clone, Debug)]
pub(super) struct Hidden {
    pub id: ProposalId,
    /// The agent whose name it has, and its connection.
    pub agent: AgentId,
    pub conn: ConnId,
    /// When this agent itself had proposed last.
    before: Option<Duration>,
}

/// The proposal that a drill imitates.
struct Model {
    conn: ConnId,
    proposal: Arc<Proposal>,
    ttl: Duration,
}

impl BrokerState {
    /// Whether a drill of this profile could look like a real proposal now.
    pub fn hides_drills(&self, profile: &str, now: Now) -> bool {
        self.model_for(profile, now).is_some()
    }

    /// The latest proposal under this profile, with a title, of an agent that is connected and could propose now.
    fn model_for(&self, profile: &str, now: Now) -> Option<Model> {
        if self.closing || self.audit.is_down() || self.hidden.is_some() {
            return None;
        }
        let owned = self
            .connections
            .iter()
            .flat_map(|(conn, c)| c.owned.iter().map(move |id| (*conn, *id)));
        let entries = owned.filter_map(|(conn, id)| Some((conn, self.entries.get(&id)?)));
        let alike = entries.filter(|(_, entry)| {
            let p = &entry.proposal;
            let titled = p.title.as_deref().is_some_and(|title| !title.is_empty());
            p.profile == profile && titled && p.idempotency_key.is_none()
        });
        let (conn, latest) = alike.max_by_key(|(_, entry)| entry.seq)?;
        let p = &latest.proposal;
        self.pauses.check(&p.peer, p.agent_name()).ok()?;
        self.check_room(&p.peer, now).ok()?;
        Some(Model {
            conn,
            proposal: p.clone(),
            ttl: latest.deadline.saturating_sub(latest.received.boot),
        })
    }

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
        if self.entries.contains_key(&id) {
            return;
        }
        let Ok(profile) = self.profile_for(draft.profile.as_deref()) else {
            return;
        };
        let inputs = self.check_inputs(NOBODY, &draft.inputs, &profile);
        let (Ok(artifacts), Ok(())) = (inputs, self.check_code(&draft.code, &profile)) else {
            return;
        };
        let Some(model) = self.model_for(&profile, now) else {
            return;
        };
        let like = model.proposal;
        let (params, _) = params_digest(&draft);
        let proposal = Arc::new(Proposal {
            id,
            proposed: Code::new(draft.code),
            profile,
            title: draft.title,
            reason: draft.reason.filter(|_| like.reason.is_some()),
            agent: like.agent.clone(),
            peer: like.peer.clone(),
            stream: false,
            idempotency_key: None,
            traceparent: like
                .traceparent
                .as_deref()
                .and_then(|trace| step_of(trace, id)),
            drill: Some(drill),
        });
        let given = Given {
            params,
            inputs: draft.inputs,
            artifacts,
        };
        let agent = proposal.agent_id();
        self.hidden = Some(Hidden {
            id,
            before: self.ledger.last(&agent),
            agent,
            conn: model.conn,
        });
        self.take_in(proposal, None, given, model.ttl, now, fx);
    }

    /// Whether this drill's agent is connected no more.
    pub(super) fn is_deserted(&self, id: ProposalId) -> bool {
        let drill = self.hidden.as_ref().filter(|hidden| hidden.id == id);
        drill.is_some_and(|hidden| !self.connections.contains_key(&hidden.conn))
    }

    /// Ends the drill whose agent left: that agent's own proposals are withdrawn now.
    pub(super) fn end_deserted_drill(&mut self, now: Now, fx: &mut Vec<Effect>) {
        let waiting = self.hidden.as_ref().map(|hidden| hidden.id);
        if let Some(id) = waiting.filter(|id| self.is_deserted(*id)) {
            self.drill_unanswered(id, now, fx);
        }
    }

    /// It waits no longer, so it counts among its agent's no more.
    pub(super) fn uncount_drill(&mut self, id: ProposalId, received: Duration) {
        if let Some(hidden) = self.hidden.take_if(|hidden| hidden.id == id) {
            self.ledger.uncount(&hidden.agent, received, hidden.before);
        }
    }

    /// A person confirmed the sheet of a drill, and nothing but its being one prevented the grant.
    pub(super) fn drill_granted(&mut self, by: &Confirmation, now: Now, fx: &mut Vec<Effect>) {
        self.refusal = None;
        let Some(entry) = self.entries.get(&by.id) else {
            return;
        };
        let inputs = entry.inputs().map_or(&[][..], |inputs| &inputs[..]);
        let drill = entry.proposal.drill.as_ref().zip(entry.verdict());
        let gone = entry.is_edited()
            && drill.is_some_and(|(drill, verdict)| {
                !drill.stands_in(entry.code().text(), verdict, inputs)
            });
        let end = match gone {
            true => DrillEnd::Caught,
            false => DrillEnd::Granted,
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
