//! Final states: entered in one place, reported once, kept for a while.

use serde_json::{Map, Value};

use crate::clock::Now;
use crate::model::{BoundInput, KeptRun, ProposalId, State};
use crate::policy::Contract;

use super::announce::findings_bytes;
use super::effect::{Effect, Note, Reply};
use super::entry::Entry;
use super::offer::Says;
use super::phase::{End, Phase, Telling};
use super::session::Session;
use super::shared::PUBLIC;
use super::state::BrokerState;

/// Ended proposals kept in memory; the log keeps all of them.
const ENDED_MAX: usize = 2_000;
/// Bytes of code and output that ended proposals may hold.
const ENDED_BYTES_MAX: usize = 64 * 1024 * 1024;

impl BrokerState {
    /// Notifies streaming agents of a state, once its record is durable.
    pub(super) fn hear(&mut self, id: ProposalId, state: State, now: Now, fx: &mut Vec<Effect>) {
        self.notify_end(id, fx);
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        let message = entry.message().to_owned();
        self.publish(id, None, Says::State { state, message }, now, fx);
        for conn in &entry.audience.streams {
            fx.push(Effect::Notify {
                conn: *conn,
                note: Note::State { id, state },
            });
        }
    }

    /// The final record is durable: answer every waiting call.
    pub(super) fn tell(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        let Some(ended) = entry.ending_mut() else {
            return;
        };
        let Telling::Shown { weight } = ended.telling else {
            return;
        };
        ended.telling = Telling::Told { weight };
        let state = ended.state;
        let kept = kept(entry);
        if state == State::Succeeded {
            self.keep_public(id);
        }
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        fx.extend(kept.map(|run| Effect::Keep(Box::new(run))));
        let waiters = std::mem::take(&mut entry.audience.waiters);
        let withdrawers = std::mem::take(&mut entry.audience.withdrawers);
        let ended = entry.ending().filter(|_| !waiters.is_empty());
        let outcome = ended.map(|ended| Box::new(ended.outcome(&entry.proposal)));
        self.hear(id, state, now, fx);
        for (conn, call, until) in waiters {
            if let Some(until) = until {
                self.timeouts.remove(&(until, conn, call, id));
            }
            if let Some(outcome) = outcome.clone() {
                fx.push(Effect::Reply {
                    conn,
                    call,
                    reply: Ok(Reply::Outcome(outcome)),
                });
            }
        }
        for (conn, call) in withdrawers {
            fx.push(Effect::Reply {
                conn,
                call,
                reply: Ok(Reply::State { id, state }),
            });
        }
        self.forget_old();
    }

    /// Answers the `wait` calls that timed out.
    pub(super) fn time_out_waits(&mut self, now: Now, fx: &mut Vec<Effect>) {
        while let Some((until, conn, call, id)) = self.timeouts.first().copied() {
            if until > now.boot {
                break;
            }
            self.timeouts.pop_first();
            let Some(entry) = self.entries.get_mut(&id) else {
                continue;
            };
            let waiters = &mut entry.audience.waiters;
            waiters.retain(|(c, k, _)| (*c, *k) != (conn, call));
            let reply = Ok(Reply::still(entry));
            fx.push(Effect::Reply { conn, call, reply });
        }
    }

    pub(super) fn leave_undecided(&mut self, id: ProposalId) {
        let pending = |e: &&Entry| e.state() == State::Pending;
        let Some(entry) = self.entries.get(&id).filter(pending) else {
            return;
        };
        self.deadlines.remove(&(entry.deadline, id));
        self.waiting.remove(&entry.seq);
        match entry.counts_for() {
            Some(peer) => {
                self.undecided.remove(peer);
                self.ledger.left(&entry.proposal.agent_id());
            }
            None => {
                let received = entry.received.boot;
                self.uncount_drill(id, received);
            }
        }
        self.leave_escalation(id);
    }

    /// Keeps the `public` values that a succeeded run left.
    pub(super) fn keep_public(&mut self, id: ProposalId) {
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        if self.contract_of(&entry.proposal.profile) != Some(Contract::Scoped) {
            return;
        }
        let left = entry.run().and_then(|run| run.result.get(PUBLIC));
        let Some(Value::Object(after)) = left.cloned() else {
            return;
        };
        let (session, before) = (entry.session.clone(), given(entry));
        // If the connection closed meanwhile, nothing is kept.
        if let Session::Connection(conn) = session
            && !self.connections.contains_key(&conn)
        {
            return;
        }
        self.shared.merge(&session, &before, after);
    }

    /// The only function that sets a final state.
    pub(super) fn set_final(&mut self, id: ProposalId, end: End, now: Now) {
        self.leave_undecided(id);
        let open = |e: &&mut Entry| !e.state().is_final();
        let Some(entry) = self.entries.get_mut(&id).filter(open) else {
            return;
        };
        let announced = entry.announced();
        if !entry.is_drill() {
            self.ledger.became(&entry.proposal.agent_id(), end.state);
        }
        entry.phase = std::mem::take(&mut entry.phase).ended(end, now);
        self.active.remove(&entry.seq);
        if announced {
            self.keep_ended(id);
        }
    }

    pub(super) fn keep_ended(&mut self, id: ProposalId) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        let weight = weight(entry);
        if let Phase::Ended(ended) = &mut entry.phase {
            ended.telling = Telling::Shown { weight };
            self.ended_bytes += weight;
            self.ended.push_back(id);
        }
    }

    /// Forgets the oldest ended proposals beyond the memory limits.
    fn forget_old(&mut self) {
        while self.ended.len() > ENDED_MAX
            || (self.ended_bytes > ENDED_BYTES_MAX && self.ended.len() > 1)
        {
            let Some(id) = self.ended.front().copied() else {
                return;
            };
            if self.entries.get(&id).is_some_and(|e| !e.told()) {
                return;
            }
            self.ended.pop_front();
            let forgotten = self.forget(id);
            if let Some(ended) = forgotten.as_ref().and_then(Entry::ending) {
                let weight = ended.telling.weight();
                self.ended_bytes = self.ended_bytes.saturating_sub(weight);
            }
        }
    }

    /// Removes an entry and every reference to it except the one in `ended`.
    pub(super) fn forget(&mut self, id: ProposalId) -> Option<Entry> {
        let entry = self.entries.remove(&id)?;
        if let Some(peer) = entry.counts_for().filter(|_| !entry.announced()) {
            self.unannounced.remove(peer);
        }
        for conn in &entry.audience.owners {
            if let Some(connection) = self.connections.get_mut(conn) {
                connection.owned.remove(&id);
            }
        }
        for (conn, call, until) in &entry.audience.waiters {
            if let Some(until) = until {
                self.timeouts.remove(&(*until, *conn, *call, id));
            }
        }
        if let Some(name) = &entry.proposal.idempotency_key {
            self.keys.remove(&(entry.proposal.peer.uid, name.clone()));
        }
        Some(entry)
    }
}

/// Approximate number of bytes that an ended entry holds.
fn weight(entry: &Entry) -> usize {
    let p = &entry.proposal;
    let words = [&p.title, &p.reason];
    let words: usize = words.into_iter().flatten().map(String::len).sum();
    let run = entry.run().map_or(0, |r| r.stdout.len() + r.stderr.len());
    let brought = entry.inputs().into_iter().flat_map(|inputs| inputs.iter());
    let inputs: usize = brought.filter_map(BoundInput::brought).map(str::len).sum();
    let verdicts = [
        entry.proposed_verdict(),
        entry.phase.edit().map(|e| &e.verdict),
    ];
    let findings: usize = verdicts
        .into_iter()
        .flatten()
        .map(|v| findings_bytes(v))
        .sum();
    // The decision has the edited code and the diff a second time.
    let edit = entry
        .phase
        .edit()
        .map_or(0, |edit| 2 * (edit.code.text().len() + edit.diff.len()));
    // Inputs that an agent sends are held twice: as sent, and as bound.
    2048 + p.proposed.text().len() + words + run + 2 * inputs + findings + edit
}

/// What is kept for the user after a succeeded run; `None` for any other end.
fn kept(entry: &Entry) -> Option<KeptRun> {
    let ended = entry.ending().filter(|e| e.state == State::Succeeded)?;
    let proposal = &entry.proposal;
    Some(KeptRun {
        id: proposal.id,
        at: ended.at.wall,
        digest: entry.code().digest(),
        profile: proposal.profile.clone(),
        agent: proposal.agent.as_ref().map(|a| a.name.clone()),
        title: proposal.title.clone(),
        inputs: ended.inputs.clone().unwrap_or_default(),
        code: entry.code().text().clone(),
    })
}

/// The scope `public` as given to the run: what its reviewer saw.
fn given(entry: &Entry) -> Map<String, Value> {
    let inputs = entry.inputs().into_iter().flat_map(|inputs| inputs.iter());
    let text = inputs
        .into_iter()
        .find(|input| input.name == PUBLIC)
        .and_then(|input| input.brought());
    text.and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}
