//! Records and what waits for them: every step is recorded before agents hear of it (invariant 8).

use serde_json::json;

use crate::clock::Now;
use crate::model::{Blob, DecisionKind, Lane, LogEvent, Peer, ProposalId, State, Ticket};

use super::effect::{Effect, RpcError};
use super::entry::Entry;
use super::outcome::OutcomeText;
use super::phase::{End, Granted};
use super::state::{AuditHealth, BrokerState, Then};

/// When an agent may retry after no descriptor or no disk space was left.
const RETRY_MS: u64 = 1000;

impl BrokerState {
    /// Records what an agent asked for.
    pub(super) fn record(
        &mut self,
        event: LogEvent,
        blobs: Vec<Blob>,
        then: Then,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        self.record_in(Lane::Agents, (event, blobs), then, now, fx);
    }

    /// Records a person's decision or its consequences. Such a record goes ahead of all records of
    /// what agents asked for.
    pub(super) fn record_decided(
        &mut self,
        event: LogEvent,
        blobs: Vec<Blob>,
        then: Then,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        self.record_in(Lane::Person, (event, blobs), then, now, fx);
    }

    fn record_in(
        &mut self,
        lane: Lane,
        (event, blobs): (LogEvent, Vec<Blob>),
        then: Then,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        if self.audit.is_down() {
            return self.unrecorded(then, now, fx);
        }
        let number = self.next_ticket;
        self.next_ticket += 1;
        self.tickets.insert((lane, number), then);
        fx.push(Effect::Record {
            ticket: Ticket::Core(number),
            lane,
            event: Box::new(event),
            blobs,
        });
    }

    pub(super) fn record_refusal(
        &mut self,
        peer: Peer,
        code: i64,
        message: String,
        count: u64,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let event = LogEvent::Refused {
            peer,
            code,
            message,
            count,
        };
        self.record(event, Vec::new(), Then::Nothing, now, fx);
    }

    pub(super) fn durable(&mut self, ticket: Ticket, now: Now, fx: &mut Vec<Effect>) {
        match ticket {
            // Records of the opened log and of what an earlier dashboard left.
            Ticket::Unawaited => self.one_more_durable(),
            Ticket::Core(number) => {
                if let Some(lane) = self.lane_of(number) {
                    self.on_disk.insert((lane, number));
                    self.go_on(lane, now, fx);
                }
            }
        }
    }

    fn lane_of(&self, number: u64) -> Option<Lane> {
        [Lane::Person, Lane::Agents]
            .into_iter()
            .find(|lane| self.tickets.contains_key(&(*lane, number)))
    }

    /// A record takes effect only once every earlier one of its lane is durable too.
    fn go_on(&mut self, lane: Lane, now: Now, fx: &mut Vec<Effect>) {
        while let Some(first) = self.first_of(lane)
            && self.on_disk.remove(&first)
        {
            if let Some(then) = self.tickets.remove(&first) {
                self.recorded(then, now, fx);
            }
        }
    }

    fn first_of(&self, lane: Lane) -> Option<(Lane, u64)> {
        let mut of_lane = self.tickets.range((lane, 0)..);
        of_lane
            .next()
            .map(|(key, _)| *key)
            .filter(|key| key.0 == lane)
    }

    fn one_more_durable(&mut self) {
        if let AuditHealth::Up { durable } = &mut self.audit {
            *durable += 1;
        }
    }

    fn recorded(&mut self, then: Then, now: Now, fx: &mut Vec<Effect>) {
        self.one_more_durable();
        match then {
            Then::Nothing => {}
            Then::EndUnseen(id) => self.end_unseen(id, now, fx),
            Then::Announce(id) => self.announce(id, now, fx),
            Then::Revise(id) => self.revised(id, now, fx),
            Then::Execute(id) => self.execute(id, now, fx),
            Then::Count(id, number) => self.counted(id, number, now, fx),
            Then::SendVote(id) => self.send_vote(id, fx),
            Then::Release(id) => self.let_go(id, now, fx),
            Then::Tell(id) => self.tell(id, now, fx),
            Then::TellPause(number) => self.pauses.recorded(number),
            Then::EndPause(number) => self.pauses.end(number),
        }
    }

    /// This record's blobs could not be kept, so it is not in the log. That affects its proposal
    /// alone: one that was never recorded is forgotten, an edit is undone, and a run is recorded again
    /// without its output. Other records have no blobs: if the log cannot take such a record, it can take none.
    pub(super) fn not_recorded(
        &mut self,
        ticket: Ticket,
        reason: &str,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let Ticket::Core(number) = ticket else {
            return;
        };
        let Some(lane) = self.lane_of(number) else {
            return;
        };
        let Some(then) = self.tickets.remove(&(lane, number)) else {
            return;
        };
        let entry = |id| self.entries.get(&id);
        match then {
            Then::EndUnseen(id) => self.forget_unrecorded(id, reason, now, fx),
            Then::Announce(id) if entry(id).is_some_and(|e| !e.state().is_final()) => {
                self.forget_unrecorded(id, reason, now, fx);
            }
            Then::Tell(id) if entry(id).is_some_and(|e| e.run().is_some()) => {
                self.end_unkept(id, reason, now, fx);
            }
            Then::Revise(id) => self.not_revised(id),
            Then::Nothing
            | Then::Announce(_)
            | Then::Execute(_)
            | Then::Count(..)
            | Then::SendVote(_)
            | Then::Release(_)
            | Then::Tell(_)
            | Then::TellPause(_)
            | Then::EndPause(_) => {
                self.unrecorded(then, now, fx);
                return self.audit_down(reason.to_owned(), now, fx);
            }
        }
        self.go_on(lane, now, fx);
    }

    /// Ends a proposal that the log does not have: the agent's call gets an error, and a refusal is
    /// recorded.
    fn forget_unrecorded(&mut self, id: ProposalId, reason: &str, now: Now, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        let (peer, is_drill) = (entry.proposal.peer.clone(), entry.is_drill());
        let message = "the proposal could not be recorded, and nothing runs unrecorded; you may \
                       propose it again";
        let error = RpcError::new(RpcError::INTERNAL, message)
            .with_data(json!({ "retry_after_ms": RETRY_MS }));
        self.drop_unknown(id, &error, fx);
        let message = format!("a proposal was not recorded: {reason}");
        let code = RpcError::INTERNAL;
        // No agent asked for a drill.
        if !self.closing && !is_drill && self.quotas.refused(&peer, code, &message, now.boot) {
            self.record_refusal(peer, code, message, 1, now, fx);
        }
    }

    /// The log can no longer be written: everything open ends, everything running is killed.
    pub(super) fn audit_down(&mut self, reason: String, now: Now, fx: &mut Vec<Effect>) {
        if self.audit.is_down() {
            return;
        }
        self.audit = AuditHealth::Down { reason };
        self.on_disk.clear();
        for then in std::mem::take(&mut self.tickets).into_values() {
            self.unrecorded(then, now, fx);
        }
        let open: Vec<ProposalId> = self
            .entries
            .values()
            .filter(|e| !e.told())
            .map(|e| e.proposal.id)
            .collect();
        for id in open {
            self.lost(id, now, fx);
        }
    }

    /// Handles what waited for a record that will never be durable.
    fn unrecorded(&mut self, then: Then, now: Now, fx: &mut Vec<Effect>) {
        match then {
            Then::Nothing | Then::TellPause(_) | Then::EndPause(_) => {}
            Then::EndUnseen(id)
            | Then::Announce(id)
            | Then::Revise(id)
            | Then::Execute(id)
            | Then::Count(id, _)
            | Then::SendVote(id)
            | Then::Release(id)
            | Then::Tell(id) => self.lost(id, now, fx),
        }
    }

    /// Ends a proposal whose next record cannot be written: it is killed if it runs, and its
    /// results are not reported.
    fn lost(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get_mut(&id).filter(|e| !e.told()) else {
            return;
        };
        if entry.granted().is_some_and(Granted::has_child) {
            fx.push(Effect::Kill { id });
        }
        let why = "the audit log cannot be written, and nothing runs unrecorded";
        let text = if entry.let_go() {
            OutcomeText::broken(why)
        } else {
            OutcomeText::error(why)
        };
        let announced = entry.announced();
        // A decision is reported once it is durable; this one never will be.
        let told = matches!(entry.heard(), State::Granted | State::Running);
        if !announced {
            let error = RpcError::new(RpcError::INTERNAL, "the audit log cannot be written");
            for (conn, call) in std::mem::take(&mut entry.audience.proposers) {
                fx.push(Effect::Reply {
                    conn,
                    call,
                    reply: Err(error.clone()),
                });
            }
        }
        let end = End {
            state: State::Error,
            text: text.clone(),
            decision: None,
            run: None,
        };
        self.set_final(id, end, now);
        if let Some(ended) = self.entries.get_mut(&id).and_then(Entry::ending_mut) {
            // Also applies to what had ended, but was not yet durable.
            ended.state = State::Error;
            ended.text = text;
            ended.decision = ended
                .decision
                .take()
                .filter(|d| told && d.kind == DecisionKind::Granted);
            ended.lose_run();
        }
        if !announced {
            self.keep_ended(id);
            if let Some(peer) = self.entries.get(&id).and_then(Entry::counts_for) {
                self.unannounced.remove(peer);
            }
        }
        self.tell(id, now, fx);
    }
}
