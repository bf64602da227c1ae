//! One event in, effects out.

use std::time::Duration;

use crate::clock::Now;
use crate::model::{ConnId, Environment, LogEvent, ProposalId, Reviewer};

use super::effect::Effect;
use super::event::{Event, HumanAct};
use super::outcome::Stop;
use super::session::Connection;
use super::state::{BrokerState, Then};

/// Advances the core by one event. Deadlines that have come are handled first, whatever the event
/// is: a timer missed during suspend cannot let a late decision through.
pub fn update(state: &mut BrokerState, event: Event, now: Now) -> Vec<Effect> {
    let mut fx = Vec::new();
    // Handled first, so that no further record is sent to a log that cannot take it.
    if let Event::AuditDown { reason } = &event {
        state.audit_down(reason.clone(), now, &mut fx);
    }
    state.expire_due(now, &mut fx);
    state.escalate_due(now, &mut fx);
    state.time_out_waits(now, &mut fx);
    match event {
        Event::Connected { conn, peer } => {
            state.connections.insert(conn, Connection::new(peer));
        }
        Event::Disconnected { conn } => state.disconnected(conn, now, &mut fx),
        Event::Request {
            conn,
            call,
            request,
        } => state.request(conn, call, request, now, &mut fx),
        Event::Analysed { job, verdict } => state.analysed(job, *verdict, now, &mut fx),
        Event::InputsBound { id, inputs } => state.inputs_bound(id, inputs, now, &mut fx),
        Event::Durable { ticket } => state.durable(ticket, now, &mut fx),
        Event::Unrecorded { ticket, reason } => {
            state.not_recorded(ticket, &reason, now, &mut fx);
        }
        Event::Human(act) => state.human(act, now, &mut fx),
        Event::Drill { id, draft, drill } => state.drill(id, *draft, drill, now, &mut fx),
        Event::Exec { id, note } => state.exec(id, note, now, &mut fx),
        Event::Environment(environment) => state.environment_is(environment, now, &mut fx),
        Event::Electorate(electorate) => state.electorate_is(electorate, now, &mut fx),
        Event::Reached(reached) => state.reaches_reviewers = reached.is_ok(),
        Event::LookedAgain { id, electorate } => {
            state.looked_again(id, electorate, now, &mut fx);
        }
        Event::Signed {
            id,
            version,
            vote,
            by,
        } => state.signed((id, version), vote, by, now, &mut fx),
        Event::Offered { offer, bytes } => state.offered(*offer, bytes, now, &mut fx),
        Event::Stated(statement) => state.stated(*statement, now, &mut fx),
        Event::NotSent { id, why } => state.not_sent(id, why),
        Event::Cast {
            id,
            version,
            vote,
            via,
        } => state.cast((id, version), *vote, via, now, &mut fx),
        Event::VotedBefore(ids) => state.voted.extend(ids),
        Event::Remembered(what) => state.remembered(what),
        Event::LogDoubted(doubt) => state.doubted(doubt, now, &mut fx),
        Event::LogRead => state.log_read(),
        Event::Shown { id } => state.shown = id,
        Event::AuditDown { .. } | Event::Tick => {}
    }
    for due in state.quotas.due_refusals(now.boot, state.closing) {
        state.record_refusal(due.peer, due.code, due.message, due.count, now, &mut fx);
    }
    state.end_deserted_drill(now, &mut fx);
    state.leave_when_settled(now, &mut fx);
    state.learn(&fx, now);
    fx
}

/// The boot time at which the next [`Event::Tick`] is needed.
pub fn next_deadline(state: &BrokerState) -> Option<Duration> {
    let deadline = state.deadlines.first().map(|(t, _)| *t);
    let escalation = state.escalations.first().map(|(t, _)| *t);
    let timeout = state.timeouts.first().map(|(t, ..)| *t);
    [deadline, escalation, timeout, state.quotas.next_due()]
        .into_iter()
        .flatten()
        .min()
}

impl BrokerState {
    /// Takes over a new environment; a change to one that was ready is recorded.
    fn environment_is(&mut self, environment: Environment, now: Now, fx: &mut Vec<Effect>) {
        if let (Environment::Ready { digest, .. }, Environment::Changed { what }) =
            (&self.environment, &environment)
            && !self.closed
        {
            let event = LogEvent::EnvironmentChanged {
                environment: *digest,
                what: what.clone(),
            };
            self.record(event, Vec::new(), Then::Nothing, now, fx);
        }
        self.environment = environment;
        self.put_all_to_vote(now, fx);
    }

    fn human(&mut self, act: HumanAct, now: Now, fx: &mut Vec<Effect>) {
        if self.is_unattended() && !matches!(act, HumanAct::Quit { .. }) {
            // Nobody is there who could have done that.
            return;
        }
        match act {
            HumanAct::Grant(confirmation) => self.confirm(&confirmation, now, fx),
            HumanAct::Deny {
                id,
                reason,
                viewed,
                by,
            } => self.deny(id, reason, viewed, by, now, fx),
            HumanAct::Edit { id, code, diff, by } => self.edit(id, code, diff, by, now, fx),
            HumanAct::Kill { id, by } => self.kill(id, Stop::Person, Some(by), now, fx),
            HumanAct::Pause { agent, by } => self.pause(agent, by, now, fx),
            HumanAct::Resume { agent, by } => self.resume(&agent, &by, now, fx),
            HumanAct::Quit { by } => self.close(&by, now, fx),
        }
    }

    /// Begins to close: waiting proposals become unattended, running ones are killed.
    fn close(&mut self, by: &Reviewer, now: Now, fx: &mut Vec<Effect>) {
        if self.closing {
            return;
        }
        self.closing = true;
        self.drop_unrecorded(fx);
        let waiting: Vec<ProposalId> = self.waiting.values().copied().collect();
        for id in waiting {
            self.end_unattended(id, now, fx);
        }
        let running: Vec<ProposalId> = self.active.values().copied().collect();
        for id in running {
            self.kill(id, Stop::Closing, Some(by.clone()), now, fx);
        }
    }

    /// Withdraws proposals that only this connection waited for; runs continue unless configured
    /// otherwise.
    fn disconnected(&mut self, conn: ConnId, now: Now, fx: &mut Vec<Effect>) {
        let Some(connection) = self.connections.remove(&conn) else {
            return;
        };
        self.shared.forget(conn);
        for id in connection.owned {
            let Some(entry) = self.entries.get_mut(&id) else {
                continue;
            };
            for (_, call, until) in entry.audience.leave(conn) {
                if let Some(until) = until {
                    self.timeouts.remove(&(until, conn, call, id));
                }
            }
            let keyed = entry.proposal.idempotency_key.is_some();
            let orphaned = entry.audience.owners.is_empty() && !keyed;
            let runs = entry.granted().is_some();
            if orphaned {
                self.take_back(id, true, now, fx);
            }
            if orphaned && runs && self.settings.kill_on_disconnect {
                self.kill(id, Stop::Disconnect, None, now, fx);
            }
        }
    }

    /// When closing: exits once every record is durable and nothing runs.
    fn leave_when_settled(&mut self, now: Now, fx: &mut Vec<Effect>) {
        if !self.closing || self.exited || !self.active.is_empty() || !self.tickets.is_empty() {
            return;
        }
        if self.audit.is_down() || self.closed {
            self.exited = true;
            fx.push(Effect::Exit);
        } else {
            self.closed = true;
            self.record_decided(LogEvent::Closed, Vec::new(), Then::Nothing, now, fx);
        }
    }
}
