//! `propose`: which proposals are accepted, under which limits, and which are refused.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::clock::Now;
use crate::model::{
    Artifact, CallId, Code, ConnId, Digest, Draft, InputRequest, Limits, Peer, Proposal,
    ProposalId, Readers, agent_name, is_input_name, is_traceparent,
};
use crate::policy::Contract;

use super::asking::Asking;
use super::audience::Audience;
use super::desks::{Job, Work};
use super::effect::{Effect, Reply, RpcError};
use super::entry::Entry;
use super::lift::check_table;
use super::phase::{Arriving, Contents, Phase};
use super::quota::key;
use super::refusals::{
    CALLS_MAX, CLAIM_BYTES, REASON_BYTES, TITLE_BYTES, check_claim, closing, invalid,
    too_many_calls, unknown, used_up, within,
};
use super::session::Session;
use super::shared;
use super::state::BrokerState;
use super::vain::Prospect;

/// Log bytes charged for a proposal's records, on top of what the agent sent.
const RECORD_BYTES: u64 = 2048;

/// What comes with a proposal beside its code and words.
pub(super) struct Given {
    pub params: Digest,
    pub inputs: BTreeMap<String, InputRequest>,
    /// The artifacts that inputs refer to, by input name.
    pub artifacts: BTreeMap<String, Artifact>,
}

impl BrokerState {
    pub(super) fn propose(
        &mut self,
        (conn, call): (ConnId, CallId),
        id: ProposalId,
        mut draft: Draft,
        peer: &Peer,
        now: Now,
        fx: &mut Vec<Effect>,
    ) -> Result<(), RpcError> {
        self.open_for_work()?;
        // A repeated proposal under a known key takes no slot. Anything else needs one; without a
        // free slot it is refused before its content is looked at.
        let known = draft.idempotency_key.as_ref();
        let known = known.and_then(|name| self.keys.get(&(peer.uid, name.clone())).copied());
        let agent = draft.agent.as_ref();
        let agent = agent.or_else(|| self.connections.get(&conn).and_then(|c| c.agent.as_ref()));
        if known.is_none() {
            self.pauses.check(peer, agent_name(agent, peer))?;
            self.check_room(peer, now)?;
        }
        let agent = agent.cloned();
        let profile = self.profile_for(draft.profile.as_deref())?;
        self.check_asked(&profile)?;
        self.check_code(&draft.code, &profile)?;
        check_words(&draft)?;
        let artifacts = self.check_inputs(conn, &draft.inputs, &profile)?;
        let ttl = self.ttl_for(draft.ttl_s)?;
        let (params, bytes) = params_digest(&draft);
        if let Some(known) = known {
            return self.reattach((conn, call), known, params, draft.stream, fx);
        }
        if self.entries.contains_key(&id) {
            return Err(RpcError::new(RpcError::INTERNAL, "this id is taken"));
        }
        // Charge before the work is done, so that a burst cannot exceed the quota.
        self.quotas
            .charge_log(key(peer), RECORD_BYTES + bytes, now.boot);
        let proposal = Arc::new(Proposal {
            id,
            proposed: Code::new(draft.code),
            profile: profile.clone(),
            title: draft.title,
            reason: draft.reason,
            agent,
            peer: peer.clone(),
            stream: draft.stream,
            idempotency_key: draft.idempotency_key,
            traceparent: draft.traceparent,
            drill: None,
        });
        if let Some(name) = &proposal.idempotency_key {
            self.keys.insert((peer.uid, name.clone()), id);
        }
        let session = self.session_of(conn);
        // The session's public values are an input like any other: shown, and bound by the grant.
        if self.contract_of(&profile) == Some(Contract::Scoped)
            && let Some(public) = self.shared.of(&session)
        {
            let json = public.clone().into();
            let shared = InputRequest::Json { json };
            draft.inputs.insert(shared::PUBLIC.to_owned(), shared);
        }
        let given = Given {
            params,
            inputs: draft.inputs,
            artifacts,
        };
        self.take_in(proposal, Some((conn, call)), given, ttl, now, fx);
        Ok(())
    }

    /// Takes an accepted proposal in: it is analysed, and its inputs are read. `from`: the call that is answered,
    /// unless it is a drill.
    pub(super) fn take_in(
        &mut self,
        proposal: Arc<Proposal>,
        from: Option<(ConnId, CallId)>,
        given: Given,
        ttl: Duration,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let Given {
            params,
            inputs,
            artifacts,
        } = given;
        let (id, profile) = (proposal.id, proposal.profile.clone());
        let read = inputs.is_empty().then(Contents::none);
        let readers = self.readers_of(&inputs);
        let contents = (params, read);
        self.enter(from, proposal.clone(), contents, readers, ttl, now);
        let names = inputs.keys().cloned().collect();
        let told = self.contract_of(&profile) == Some(Contract::Analysis)
            && inputs.values().any(InputRequest::tells_columns);
        // Move the requested inputs into the effect: parsed JSON takes many times the memory of its
        // text.
        if !inputs.is_empty() {
            fx.push(Effect::BindInputs {
                id,
                inputs,
                artifacts,
            });
        }
        let (code, peer) = (proposal.proposed.text().clone(), key(&proposal.peer));
        let work = Work {
            job: match &proposal.drill {
                None => Job::Proposal(id),
                Some(_) => Job::Drill(id),
            },
            code,
            profile,
            inputs: Some(names),
            values: BTreeMap::new(),
            peer,
        };
        match self.entries.get_mut(&id).map(|entry| &mut entry.phase) {
            Some(Phase::Arriving(arriving)) if told => arriving.work = Some(Box::new(work)),
            _ => self.desks.push(work),
        }
        self.pump(now, fx);
    }

    /// Creates the entry; the deadline runs from here.
    fn enter(
        &mut self,
        from: Option<(ConnId, CallId)>,
        proposal: Arc<Proposal>,
        (params, inputs): (Digest, Option<Contents>),
        readers: Readers,
        ttl: Duration,
        now: Now,
    ) {
        let id = proposal.id;
        let seq = self.next_seq;
        self.next_seq += 1;
        let deadline = now.boot.saturating_add(ttl);
        self.deadlines.insert((deadline, id));
        let session = from.map_or(Session::Nobody, |(conn, _)| self.session_of(conn));
        let mut audience = Audience::default();
        self.ledger.proposed(proposal.agent_id(), now.boot);
        if let Some((conn, call)) = from {
            self.undecided.add(key(&proposal.peer));
            self.unannounced.add(key(&proposal.peer));
            if let Some(connection) = self.connections.get_mut(&conn) {
                connection.owned.insert(id);
            }
            audience.join(conn, proposal.stream);
            audience.proposers.push((conn, call));
        }
        let entry = Entry {
            proposal,
            received: now,
            deadline,
            expires_at: now.wall.checked_add(ttl).unwrap_or(jiff::Timestamp::MAX),
            session,
            params,
            seq,
            audience,
            phase: Phase::Arriving(Arriving {
                inputs,
                ..Arriving::default()
            }),
            offers: 0,
            refused_votes: Vec::new(),
            readers,
            asking: Asking::default(),
            prospect: Prospect::default(),
            offered: None,
        };
        self.entries.insert(id, entry);
    }

    fn reattach(
        &mut self,
        (conn, call): (ConnId, CallId),
        id: ProposalId,
        params: Digest,
        stream: bool,
        fx: &mut Vec<Effect>,
    ) -> Result<(), RpcError> {
        let Some(entry) = self.entries.get_mut(&id) else {
            return Err(RpcError::new(
                RpcError::INTERNAL,
                "the proposal of this key is gone",
            ));
        };
        if entry.params != params {
            return Err(invalid(
                "idempotency_key",
                "this idempotency_key belongs to a proposal with other params".to_owned(),
                "the same params, or a new key",
            ));
        }
        if entry.audience.calls_of(conn) >= CALLS_MAX {
            return Err(too_many_calls());
        }
        entry.audience.join(conn, stream);
        if let Some(connection) = self.connections.get_mut(&conn) {
            connection.owned.insert(id);
        }
        match proposed_reply(entry) {
            Some(reply) => fx.push(Effect::Reply {
                conn,
                call,
                reply: Ok(reply),
            }),
            None => entry.audience.proposers.push((conn, call)),
        }
        Ok(())
    }

    fn open_for_work(&self) -> Result<(), RpcError> {
        if self.closing {
            return Err(closing());
        }
        if self.audit.is_down() {
            return Err(RpcError::new(
                RpcError::INTERNAL,
                "the audit log cannot be written; nothing can be proposed until the dashboard \
                 is restarted",
            ));
        }
        self.check_log()
    }

    pub(super) fn profile_for(&self, name: Option<&str>) -> Result<String, RpcError> {
        let name = name.unwrap_or(&self.settings.profile);
        if self.profile(name).is_some() {
            return Ok(name.to_owned());
        }
        let known: Vec<&str> = self
            .settings
            .profiles
            .iter()
            .map(|p| p.policy.name.as_str())
            .collect();
        Err(unknown("profile", name, "profile", &known))
    }

    pub(super) fn check_code(&self, code: &str, profile: &str) -> Result<(), RpcError> {
        if code.is_empty() {
            return Err(invalid(
                "code",
                "the code is empty".to_owned(),
                "Python source, at least one character",
            ));
        }
        let limit = self.code_bytes(profile);
        if code.len() as u64 > limit {
            let message = format!(
                "the code has {} bytes; at most {limit} are taken",
                code.len()
            );
            return Err(RpcError::new(RpcError::TOO_LARGE, message)
                .with_data(json!({"param": "code", "limit_bytes": limit})));
        }
        Ok(())
    }

    /// Checks the inputs and looks up the artifacts they name, by input.
    pub(super) fn check_inputs(
        &self,
        conn: ConnId,
        inputs: &BTreeMap<String, InputRequest>,
        profile: &str,
    ) -> Result<BTreeMap<String, Artifact>, RpcError> {
        match self.contract_of(profile) {
            Some(Contract::Feature) => check_table(inputs, self.settings.lift)?,
            Some(Contract::Scoped) => check_scopes(inputs)?,
            _ => {}
        }
        let most = Limits::INPUTS_MAX;
        if inputs.len() > most {
            let message = format!("{} inputs; at most {most} are taken", inputs.len());
            return Err(invalid("inputs", message, "fewer inputs"));
        }
        let mut artifacts = BTreeMap::new();
        for (name, input) in inputs {
            if !is_input_name(name) {
                return Err(invalid(
                    "inputs",
                    "an input's name is not one the code can use".to_owned(),
                    "an ASCII Python name of at most 64 characters that begins with a letter, \
                     is no keyword and neither pd nor np",
                ));
            }
            match input {
                InputRequest::Dataset { dataset } if !self.settings.datasets.contains(dataset) => {
                    let known: Vec<&str> =
                        self.settings.datasets.iter().map(String::as_str).collect();
                    return Err(unknown("data set", dataset, "inputs", &known));
                }
                InputRequest::Artifact { artifact } => {
                    artifacts.insert(name.clone(), self.artifact_input(conn, artifact)?);
                }
                InputRequest::Dataset { .. }
                | InputRequest::Json { .. }
                | InputRequest::Text { .. } => {}
            }
        }
        Ok(artifacts)
    }

    fn ttl_for(&self, asked: Option<u64>) -> Result<Duration, RpcError> {
        let max = self.settings.ttl_max;
        match asked.map(Duration::from_secs) {
            None => Ok(self.settings.ttl),
            Some(ttl) if ttl.is_zero() || ttl > max => Err(invalid(
                "ttl_s",
                "ttl_s is out of range".to_owned(),
                &format!("1 to {}", max.as_secs()),
            )),
            Some(ttl) => Ok(ttl),
        }
    }

    pub(super) fn check_room(&self, peer: &Peer, now: Now) -> Result<(), RpcError> {
        let s = &self.settings;
        let full = [
            (
                self.undecided.of_peer(key(peer)),
                s.max_pending_per_peer,
                "of this peer",
            ),
            (
                self.undecided.of_uid(peer.uid),
                s.max_pending_per_uid,
                "of this uid",
            ),
            (self.undecided.total, s.max_pending, "in all"),
        ]
        .into_iter()
        .find(|(n, max, _)| n >= max);
        if let Some((n, _, whose)) = full {
            let message = format!("{n} proposals {whose} wait for a decision");
            return Err(RpcError::new(RpcError::TOO_MANY, message).with_data(
                json!({"retry_after_ms": 1000, "expected": "wait for a decision, or withdraw"}),
            ));
        }
        match self.quotas.exhausted(key(peer), now.boot) {
            Some((what, ms)) => Err(used_up(what, ms)),
            None => self.check_backlog(peer),
        }
    }
}

/// The contract `scoped` reserves some input names. Only the scope `private` may be given as an
/// input.
fn check_scopes(inputs: &BTreeMap<String, InputRequest>) -> Result<(), RpcError> {
    let taken = Contract::Scoped.names().iter();
    let mut taken = taken.filter(|name| **name != "private");
    let Some(name) = taken.find(|name| inputs.contains_key(**name)) else {
        return Ok(());
    };
    Err(invalid(
        "inputs",
        format!("`{name}` is a name of the profile's own, which no input can have"),
        "`private` with a JSON object, or another name, to be read as system.inputs[name]",
    ))
}

/// What `propose` answers once the proposal is announced.
pub(super) fn proposed_reply(entry: &Entry) -> Option<Reply> {
    let verdict = entry.proposed_verdict().cloned();
    let verdict = verdict.filter(|_| entry.announced())?;
    Some(Reply::Proposed {
        id: entry.proposal.id,
        digest: entry.proposal.proposed.digest(),
        state: entry.heard(),
        verdict,
        expires_at: entry.expires_at,
    })
}

/// SHA-256 and size of the params, without `stream`: how the answer is watched is not part of the
/// proposal.
pub(super) fn params_digest(draft: &Draft) -> (Digest, u64) {
    let mut plain = draft.clone();
    plain.stream = false;
    // A Draft holds strings, numbers and JSON values, so serialising cannot fail.
    let text = serde_json::to_vec(&plain).unwrap_or_default();
    (Digest::of(&text), text.len() as u64)
}

fn check_words(draft: &Draft) -> Result<(), RpcError> {
    within("title", draft.title.as_deref(), TITLE_BYTES)?;
    within("reason", draft.reason.as_deref(), REASON_BYTES)?;
    within(
        "idempotency_key",
        draft.idempotency_key.as_deref(),
        CLAIM_BYTES,
    )?;
    if draft.idempotency_key.as_deref() == Some("") {
        let message = "idempotency_key is empty".to_owned();
        return Err(invalid("idempotency_key", message, "a key, or none"));
    }
    if draft
        .traceparent
        .as_deref()
        .is_some_and(|text| !is_traceparent(text))
    {
        let message = "traceparent has not the syntax of W3C Trace Context".to_owned();
        let expected = "00-<32 hex digits>-<16 hex digits>-<2 hex digits>, or none";
        return Err(invalid("traceparent", message, expected));
    }
    draft.agent.as_ref().map_or(Ok(()), check_claim)
}
