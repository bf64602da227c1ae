//! Final states: entered in one place, told once, kept for a while.

use serde_json::{Map, Value};

use crate::clock::Now;
use crate::model::{BoundInput, KeptRun, ProposalId, State};
use crate::policy::Contract;

use super::announce::findings_bytes;
use super::effect::{Effect, Note, Reply};
use super::entry::Entry;
use super::quota::key;
use super::session::Session;
use super::shared::PUBLIC;
use super::state::BrokerState;

/// Ended proposals kept in memory; the log keeps all of them.
const ENDED_MAX: usize = 2_000;
/// Bytes of code and output that ended proposals may hold.
const ENDED_BYTES_MAX: usize = 64 * 1024 * 1024;

impl BrokerState {
    /// Lets agents hear of a state, once its record is durable.
    pub(super) fn hear(&mut self, id: ProposalId, state: State, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        entry.heard = state;
        for conn in &entry.streams {
            fx.push(Effect::Notify {
                conn: *conn,
                note: Note::State { id, state },
            });
        }
    }

    /// The final record is durable: everybody who waits hears.
    pub(super) fn tell(&mut self, id: ProposalId, fx: &mut Vec<Effect>) {
        let Some(entry) = self
            .entries
            .get_mut(&id)
            .filter(|e| !e.told && e.state.is_final())
        else {
            return;
        };
        entry.told = true;
        let state = entry.state;
        let kept = kept(entry);
        if state == State::Succeeded {
            self.keep_public(id);
        }
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        fx.extend(kept.map(|run| Effect::Keep(Box::new(run))));
        let waiters = std::mem::take(&mut entry.waiters);
        let withdrawers = std::mem::take(&mut entry.withdrawers);
        let outcome = (!waiters.is_empty()).then(|| Box::new(entry.outcome()));
        self.hear(id, state, fx);
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

    /// Answers the waits that ran out.
    pub(super) fn time_out_waits(&mut self, now: Now, fx: &mut Vec<Effect>) {
        while let Some((until, conn, call, id)) = self.timeouts.first().copied() {
            if until > now.boot {
                break;
            }
            self.timeouts.pop_first();
            let Some(entry) = self.entries.get_mut(&id) else {
                continue;
            };
            entry.waiters.retain(|(c, k, _)| (*c, *k) != (conn, call));
            let reply = Ok(Reply::State {
                id,
                state: entry.heard,
            });
            fx.push(Effect::Reply { conn, call, reply });
        }
    }

    pub(super) fn leave_undecided(&mut self, id: ProposalId) {
        let Some(entry) = self.entries.get(&id).filter(|e| e.state == State::Pending) else {
            return;
        };
        self.deadlines.remove(&(entry.deadline, id));
        self.waiting.remove(&entry.seq);
        self.undecided.remove(key(&entry.proposal.peer));
    }

    /// Keeps what a succeeded run left in `public`.
    pub(super) fn keep_public(&mut self, id: ProposalId) {
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        if self.contract_of(&entry.proposal.profile) != Some(Contract::Scoped) {
            return;
        }
        let left = entry.run.as_ref().and_then(|run| run.result.get(PUBLIC));
        let Some(Value::Object(after)) = left.cloned() else {
            return;
        };
        let (session, before) = (entry.session.clone(), given(entry));
        // A connection that closed meanwhile keeps nothing.
        if let Session::Connection(conn) = session
            && !self.connections.contains_key(&conn)
        {
            return;
        }
        self.shared.merge(&session, &before, after);
    }

    /// The one way into a final state.
    pub(super) fn set_final(&mut self, id: ProposalId, state: State, now: Now) {
        self.leave_undecided(id);
        let Some(entry) = self.entries.get_mut(&id).filter(|e| !e.state.is_final()) else {
            return;
        };
        entry.state = state;
        entry.ended = Some(now);
        let announced = entry.announced;
        self.active.remove(&entry.seq);
        if announced {
            self.keep_ended(id);
        }
    }

    pub(super) fn keep_ended(&mut self, id: ProposalId) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        entry.weight = weight(entry);
        self.ended_bytes += entry.weight;
        self.ended.push_back(id);
    }

    /// Forgets the oldest ended proposals beyond what memory is kept for.
    fn forget_old(&mut self) {
        while self.ended.len() > ENDED_MAX
            || (self.ended_bytes > ENDED_BYTES_MAX && self.ended.len() > 1)
        {
            let Some(id) = self.ended.front().copied() else {
                return;
            };
            if self.entries.get(&id).is_some_and(|e| !e.told) {
                return;
            }
            self.ended.pop_front();
            if let Some(entry) = self.forget(id) {
                self.ended_bytes = self.ended_bytes.saturating_sub(entry.weight);
            }
        }
    }

    /// Takes an entry out, and everything that leads to it but `ended`.
    pub(super) fn forget(&mut self, id: ProposalId) -> Option<Entry> {
        let entry = self.entries.remove(&id)?;
        if !entry.announced {
            self.unannounced.remove(key(&entry.proposal.peer));
        }
        for conn in &entry.owners {
            if let Some(connection) = self.connections.get_mut(conn) {
                connection.owned.remove(&id);
            }
        }
        for (conn, call, until) in &entry.waiters {
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

/// Bytes an ended entry holds, about.
fn weight(entry: &Entry) -> usize {
    let p = &entry.proposal;
    let words = [&p.title, &p.reason];
    let words: usize = words.into_iter().flatten().map(String::len).sum();
    let run = entry
        .run
        .as_ref()
        .map_or(0, |r| r.stdout.len() + r.stderr.len());
    let brought = entry.inputs.iter().flat_map(|inputs| inputs.iter());
    let inputs: usize = brought.filter_map(BoundInput::brought).map(str::len).sum();
    let findings = entry.verdict.as_deref().map_or(0, findings_bytes);
    // What an agent brings is held twice: as it came, and as it is bound.
    2048 + p.code.len() + words + run + 2 * inputs + findings
}

/// What is kept of a run that succeeded; nothing of any other.
fn kept(entry: &Entry) -> Option<KeptRun> {
    let ended = entry.ended.filter(|_| entry.state == State::Succeeded)?;
    let proposal = &entry.proposal;
    Some(KeptRun {
        id: proposal.id,
        at: ended.wall,
        digest: proposal.digest,
        profile: proposal.profile.clone(),
        agent: proposal.agent.as_ref().map(|a| a.name.clone()),
        title: proposal.title.clone(),
        inputs: entry.inputs.clone().unwrap_or_default(),
        code: proposal.code.clone(),
    })
}

/// The scope as the run was given it: what its reviewer saw.
fn given(entry: &Entry) -> Map<String, Value> {
    let inputs = entry.inputs.as_deref().unwrap_or_default();
    let text = inputs
        .iter()
        .find(|input| input.name == PUBLIC)
        .and_then(|input| input.brought());
    text.and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}
