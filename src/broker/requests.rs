//! What agents ask for: each request is answered, queued, or refused with what would have been
//! accepted. Nothing here decides on a proposal.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::clock::Now;
use crate::model::{
    AgentClaim, CallId, ConnId, Environment, InputRequest, Limits, Peer, ProposalId,
};

use super::desks::{Job, Work};
use super::effect::{Effect, ProfileInfo, Reply, RpcError};
use super::event::Request;
use super::phase::Early;
use super::quota::key;
use super::refusals::{
    CALLS_MAX, REASON_BYTES, TITLE_BYTES, check_claim, closing, too_many_calls, used_up,
};
use super::state::{BrokerState, Profile};

/// What a check is about: code, profile, and inputs if they are known.
type Checked = (
    Arc<str>,
    Option<String>,
    Option<BTreeMap<String, InputRequest>>,
);

/// Session tokens kept; the oldest is forgotten first.
const SESSIONS_MAX: usize = 4096;

impl BrokerState {
    pub(super) fn request(
        &mut self,
        conn: ConnId,
        call: CallId,
        request: Request,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let Some(peer) = self.connections.get(&conn).map(|c| c.peer.clone()) else {
            return;
        };
        let reply = match request {
            Request::Hello {
                agent,
                resume,
                fresh,
            } => Some(self.hello(conn, agent, resume, fresh)),
            Request::Propose { id, draft } => self
                .propose((conn, call), id, *draft, &peer, now, fx)
                .err()
                .map(Err),
            Request::Wait { id, timeout } => self.wait(conn, call, id, timeout, now),
            Request::Status { id } => Some(self.status(conn, id)),
            Request::Withdraw { id } => self.withdraw(conn, call, id, now, fx),
            Request::Check {
                code,
                profile,
                inputs,
            } => self
                .check((conn, call), (code, profile, inputs), &peer, now, fx)
                .err()
                .map(Err),
            Request::Artifact { id, name, offset } => {
                match self.own_artifact(conn, id, &name, offset) {
                    Err(error) => Some(Err(error)),
                    Ok(artifact) => {
                        fx.push(Effect::ReadArtifact {
                            conn,
                            call,
                            artifact,
                            offset,
                        });
                        None
                    }
                }
            }
            // What uses them is refused, and a gateway lists those of other hosts.
            Request::Datasets => match self.check_log() {
                Err(error) => Some(Err(error)),
                Ok(()) => {
                    fx.push(Effect::DescribeDatasets { conn, call });
                    None
                }
            },
        };
        if let Some(reply) = reply {
            if let Err(error) = &reply {
                self.note_refusal(&peer, error, now, fx);
            }
            fx.push(Effect::Reply { conn, call, reply });
        }
    }

    fn hello(
        &mut self,
        conn: ConnId,
        agent: Option<AgentClaim>,
        resume: Option<String>,
        fresh: String,
    ) -> Result<Reply, RpcError> {
        if let Some(agent) = &agent {
            check_claim(agent)?;
        }
        let Some(connection) = self.connections.get_mut(&conn) else {
            return Err(RpcError::new(RpcError::INTERNAL, "the connection is gone"));
        };
        let uid = connection.peer.uid;
        let resumed = resume.filter(|t| self.sessions.iter().any(|(s, u)| s == t && *u == uid));
        connection.agent = agent;
        let session = resumed.unwrap_or_else(|| self.new_session(fresh, uid));
        if let Some(connection) = self.connections.get_mut(&conn) {
            connection.session = Some(session.clone());
        }
        let server = BTreeMap::from([
            ("name", "countersign".to_owned()),
            ("version", self.settings.version.clone()),
        ]);
        Ok(Reply::Hello {
            protocol: 1,
            server,
            session,
            profiles: self.profile_infos(),
            limits: json!({
                "frame_bytes": 1024 * 1024,
                "code_bytes": Limits::CODE_BYTES_MAX,
                "title_bytes": TITLE_BYTES,
                "reason_bytes": REASON_BYTES,
                "inputs": Limits::INPUTS_MAX,
                "ttl_s": self.settings.ttl.as_secs(),
                "ttl_max_s": self.settings.ttl_max.as_secs(),
                "max_pending": self.settings.max_pending,
                "max_pending_per_peer": self.settings.max_pending_per_peer,
            }),
        })
    }

    /// Keeps a token. A uid that creates too many loses its own oldest, not another uid's.
    fn new_session(&mut self, token: String, uid: u32) -> String {
        if self.sessions.len() >= SESSIONS_MAX {
            let own = self.sessions.iter().position(|(_, u)| *u == uid);
            self.sessions.remove(own.unwrap_or(0));
        }
        self.sessions.push_back((token.clone(), uid));
        token
    }

    fn profile_infos(&self) -> Vec<ProfileInfo> {
        let here = |module: &&String| match &self.environment {
            Environment::Ready { installed, .. } => !installed.lacks(module),
            _ => true,
        };
        let info = |p: &Profile| ProfileInfo {
            name: p.policy.name.clone(),
            imports: p.policy.imports.keys().filter(here).cloned().collect(),
            given: p.given.clone(),
            limits: p.policy.limits,
        };
        self.profiles_asked().map(info).collect()
    }

    fn wait(
        &mut self,
        conn: ConnId,
        call: CallId,
        id: ProposalId,
        timeout: Option<Duration>,
        now: Now,
    ) -> Option<Result<Reply, RpcError>> {
        if let Err(error) = self.owned(conn, id) {
            return Some(Err(error));
        }
        let entry = self.entries.get_mut(&id)?;
        if let Some(ended) = entry.ending().filter(|_| entry.told()) {
            let outcome = Box::new(ended.outcome(&entry.proposal));
            return Some(Ok(Reply::Outcome(outcome)));
        }
        if timeout == Some(Duration::ZERO) {
            return Some(Ok(Reply::still(entry)));
        }
        if entry.audience.calls_of(conn) >= CALLS_MAX {
            return Some(Err(too_many_calls()));
        }
        let until = timeout.map(|t| now.boot.saturating_add(t));
        entry.audience.waiters.push((conn, call, until));
        if let Some(until) = until {
            self.timeouts.insert((until, conn, call, id));
        }
        None
    }

    fn status(&self, conn: ConnId, id: ProposalId) -> Result<Reply, RpcError> {
        let entry = self.owned(conn, id)?;
        let waits = self.waiting.contains_key(&entry.seq);
        let verdict = entry.proposed_verdict().cloned();
        Ok(Reply::Status {
            id,
            state: entry.heard(),
            verdict: verdict.filter(|_| entry.announced()),
            expires_at: Some(entry.expires_at),
            before: waits.then(|| self.before(entry)),
            shown: waits.then(|| self.shown == Some(id)),
            hopeless: entry.told_hopeless().filter(|_| waits),
        })
    }

    fn withdraw(
        &mut self,
        conn: ConnId,
        call: CallId,
        id: ProposalId,
        now: Now,
        fx: &mut Vec<Effect>,
    ) -> Option<Result<Reply, RpcError>> {
        if let Err(error) = self.owned(conn, id) {
            return Some(Err(error));
        }
        self.take_back(id, false, now, fx);
        let entry = self.entries.get_mut(&id)?;
        let ending = entry.state().is_final() || entry.phase.early().is_some();
        if entry.told() || !ending {
            return Some(Ok(Reply::State {
                id,
                state: entry.heard(),
            }));
        }
        if entry.audience.calls_of(conn) >= CALLS_MAX {
            return Some(Err(too_many_calls()));
        }
        entry.audience.withdrawers.push((conn, call));
        None
    }

    /// Withdraws a proposal that is still pending; any other stays as it is.
    pub(super) fn take_back(
        &mut self,
        id: ProposalId,
        disconnected: bool,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        if entry.awaits_decision() {
            self.end_withdrawn(id, disconnected, now, fx);
        } else {
            entry.phase.end_early(Early::Withdrawn { disconnected });
        }
    }

    fn check(
        &mut self,
        (conn, call): (ConnId, CallId),
        (code, profile, inputs): Checked,
        peer: &Peer,
        now: Now,
        fx: &mut Vec<Effect>,
    ) -> Result<(), RpcError> {
        if self.closing {
            return Err(closing());
        }
        let profile = self.profile_for(profile.as_deref())?;
        self.check_code(&code, &profile)?;
        if let Some((what, ms)) = self.quotas.exhausted(key(peer), now.boot) {
            return Err(used_up(what, ms));
        }
        self.check_backlog(peer)?;
        if let Some(inputs) = &inputs {
            self.check_inputs(conn, inputs, &profile)?;
        }
        let job = Job::Check { conn, call };
        self.desks.push(Work {
            job,
            code,
            profile,
            // Their names alone: a check reads no data.
            inputs: inputs.map(|inputs| inputs.into_keys().collect()),
            values: BTreeMap::new(),
            peer: key(peer),
        });
        self.pump(now, fx);
        Ok(())
    }

    /// Notes a refusal for the log; repeated ones are counted into one record.
    fn note_refusal(&mut self, peer: &Peer, error: &RpcError, now: Now, fx: &mut Vec<Effect>) {
        // A closing dashboard waits for its records, so an agent must not be able to add more.
        let kept = !self.closing
            && matches!(
                error.code,
                RpcError::TOO_LARGE
                    | RpcError::TOO_MANY
                    | RpcError::UNKNOWN_NAME
                    | RpcError::UNKNOWN_ID
            );
        if kept
            && self
                .quotas
                .refused(peer, error.code, &error.message, now.boot)
        {
            self.record_refusal(peer.clone(), error.code, error.message.clone(), 1, now, fx);
        }
    }
}
