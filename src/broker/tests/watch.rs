//! What must never happen, modelled independently of the core: the watch sees only events and
//! effects, and asks the core only for a grant's digest at the moment of the confirmation.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use super::super::decision::grant;
use super::super::effect::{Effect, Note, Reply};
use super::super::event::{Event, HumanAct, Request};
use super::super::offer::Publication;
use super::super::state::{BrokerState, LogDoubt};
use crate::clock::Now;
use crate::model::{
    AgentId, CallId, ConnId, DecisionKind, Digest, Draft, GrantDigest, JobId, Lane, LogEvent,
    Outcome, Person, ProposalId, State, Ticket, VerdictKind,
};

/// The state that a record brings its proposal into, whether the record is durable, and the code that it gives its
/// proposal.
type Written = (
    Option<(ProposalId, State)>,
    bool,
    Option<(ProposalId, String)>,
);

const LANES: [Lane; 2] = [Lane::Person, Lane::Agents];

#[derive(Default)]
pub struct Watch {
    /// The arguments of each `propose`, accepted or not.
    pub(super) proposed: HashMap<ProposalId, Asked>,
    uids: HashMap<ConnId, u32>,
    pids: HashMap<ConnId, i32>,
    calls: HashMap<(ConnId, CallId), Call>,
    /// What each connection proposed, to know which ids it may ask about.
    asks: Vec<(ConnId, u32, Draft)>,
    /// Which connection learned an id from `propose`.
    heard: HashSet<(ConnId, ProposalId)>,
    jobs: HashMap<JobId, String>,
    /// The analyser's verdict, by code: the core must not invent a better one.
    verdicts: HashMap<String, VerdictKind>,
    pub(super) confirmed: HashMap<ProposalId, GrantDigest>,
    /// The code that was there to read when it was confirmed.
    pub(super) read: HashMap<ProposalId, String>,
    /// Every code that a person gave a proposal.
    edits: HashSet<(ProposalId, String)>,
    /// The code of a proposal whose edit is durable.
    pub(super) current: HashMap<ProposalId, String>,
    records: BTreeMap<(Lane, Ticket), Written>,
    /// States whose record is durable.
    durable: HashSet<(ProposalId, State)>,
    finals: HashMap<ProposalId, State>,
    executed: HashSet<ProposalId>,
    released: HashSet<ProposalId>,
    killed: HashSet<ProposalId>,
    told: HashSet<(ConnId, ProposalId)>,
    /// The code of each drill: none may be granted or run, and nobody may hear of it.
    drills: HashMap<ProposalId, String>,
    /// Agents that a person paused and nobody asked to resume.
    paused: Vec<AgentId>,
    /// Proposed by a paused process without a key: the core must not take them.
    unwanted: HashSet<ProposalId>,
    /// Who granted it by a vote. Two people are enough where votes are asked for.
    pub(super) voted: HashMap<ProposalId, HashSet<Person>>,
    down: bool,
    /// Nothing is granted, because of the log.
    pub(super) doubt: Option<LogDoubt>,
    quit: bool,
    exited: bool,
}

pub(super) struct Asked {
    conn: ConnId,
    uid: u32,
    draft: Draft,
    pub(super) code: String,
    pub(super) deadline: Duration,
}

/// What a call may be answered with.
struct Call {
    id: Option<ProposalId>,
    propose: bool,
}

impl Watch {
    pub fn before(&mut self, state: &BrokerState, event: &Event, now: Now) {
        match event {
            Event::Connected { conn, peer } => {
                self.uids.insert(*conn, peer.uid);
                self.pids.insert(*conn, peer.pid);
            }
            Event::Request {
                conn,
                call,
                request,
            } => self.asked(state, (*conn, *call), request, now),
            Event::Drill { id, draft, .. } => {
                self.drills.insert(*id, draft.code.to_string());
            }
            Event::Analysed { job, verdict } => {
                if let Some(code) = self.jobs.remove(job) {
                    self.verdicts.insert(code, verdict.verdict);
                }
            }
            Event::Durable { ticket } => {
                for lane in LANES {
                    if let Some(record) = self.records.get_mut(&(lane, *ticket)) {
                        record.1 = true;
                    }
                }
                self.chain();
            }
            Event::Unrecorded { ticket, .. } => {
                // The log does not have this record: another record may end the same proposal.
                for lane in LANES {
                    let gone = self.records.remove(&(lane, *ticket));
                    if let Some((Some((id, _)), false, None)) = gone {
                        self.finals.remove(&id);
                    }
                }
                self.chain();
            }
            Event::AuditDown { .. } => self.down = true,
            Event::LogDoubted(doubt) => {
                let lasts = matches!(self.doubt, Some(LogDoubt::Contradicted(_)));
                self.doubt = Some(doubt.clone()).filter(|_| !lasts).or(self.doubt.take());
            }
            Event::LogRead => {
                let lasts = |doubt: &LogDoubt| matches!(doubt, LogDoubt::Contradicted(_));
                self.doubt = self.doubt.take().filter(lasts);
            }
            Event::Human(HumanAct::Edit { id, code, .. }) => {
                self.edits.insert((*id, code.text().to_string()));
            }
            Event::Human(HumanAct::Grant(c)) => {
                let Some(asked) = self.proposed.get(&c.id) else {
                    return;
                };
                let code = self.current.get(&c.id).unwrap_or(&asked.code);
                let grantable = self.verdicts.get(code).is_some_and(|v| v.grantable());
                let bound = state
                    .entry(c.id)
                    .and_then(|e| grant::grant_digest(state, e).ok());
                let shown = self.durable.contains(&(c.id, State::Pending));
                if grantable
                    && shown
                    && now.boot < asked.deadline
                    && bound == Some(c.digest)
                    && !self.finals.contains_key(&c.id)
                    && !self.quit
                    && !self.down
                    && self.doubt.is_none()
                {
                    self.confirmed.entry(c.id).or_insert(c.digest);
                    self.read.entry(c.id).or_insert(code.clone());
                }
            }
            Event::Cast { id, vote, .. } => self.voted(state, *id, vote, now),
            Event::Signed {
                id, vote: Ok(vote), ..
            } => self.voted(state, *id, vote, now),
            Event::Human(HumanAct::Pause { agent, .. }) if !self.quit && !self.down => {
                self.paused.push(agent.clone());
            }
            Event::Human(HumanAct::Resume { agent, .. }) => {
                let covers = |p: &AgentId| p.covers(agent.uid, agent.pid, &agent.name);
                self.paused.retain(|paused| !covers(paused));
            }
            Event::Human(HumanAct::Quit { .. }) => self.quit = true,
            _ => {}
        }
    }

    /// A record behind a gap in its lane does not count as durable.
    fn chain(&mut self) {
        for lane in LANES {
            while let Some((key, (_, true, _))) =
                self.records.iter().find(|((of, _), _)| *of == lane)
            {
                let key = *key;
                if let Some((after, _, code)) = self.records.remove(&key) {
                    self.durable.extend(after);
                    self.current.extend(code);
                }
            }
        }
    }

    pub fn after(&mut self, event: &Event) {
        // Effects that came due with this event may still go to the connection that it closes.
        if let Event::Disconnected { conn } = event {
            self.uids.remove(conn);
        }
    }

    fn asked(&mut self, state: &BrokerState, at: (ConnId, CallId), request: &Request, now: Now) {
        let id = match request {
            Request::Propose { id, draft } => {
                let ttl = draft.ttl_s.map_or(state.settings.ttl, Duration::from_secs);
                let uid = self.uids.get(&at.0).copied().unwrap_or(u32::MAX);
                let pid = self.pids.get(&at.0).copied().unwrap_or(-1);
                let by_process = |p: &AgentId| (p.uid, p.pid) == (uid, pid);
                if draft.idempotency_key.is_none() && self.paused.iter().any(by_process) {
                    self.unwanted.insert(*id);
                }
                let mut plain = (**draft).clone();
                plain.stream = false;
                self.asks.push((at.0, uid, plain.clone()));
                let asked = Asked {
                    conn: at.0,
                    uid,
                    draft: plain,
                    code: draft.code.to_string(),
                    deadline: now.boot.saturating_add(ttl),
                };
                self.proposed.insert(*id, asked);
                None
            }
            Request::Wait { id, .. }
            | Request::Status { id }
            | Request::Withdraw { id }
            | Request::Artifact { id, .. } => Some(*id),
            _ => None,
        };
        let propose = matches!(request, Request::Propose { .. });
        self.calls.insert(at, Call { id, propose });
    }

    pub fn effect(&mut self, effect: &Effect, now: Now) {
        assert!(!self.exited, "an effect after the exit: {effect:?}");
        match effect {
            Effect::Reply { conn, call, reply } => self.reply((*conn, *call), reply),
            Effect::Notify { conn, note } => self.note(*conn, note),
            Effect::Analyse { job, code, .. } => {
                self.jobs.insert(*job, code.to_string());
            }
            Effect::Record {
                ticket,
                lane,
                event,
                ..
            } => {
                assert!(!self.down, "a record for a log that is down");
                self.record((*lane, *ticket), event);
            }
            Effect::Execute(grant) => {
                let id = grant.id();
                assert!(
                    !self.down && !self.quit,
                    "a run starts while the log is down or the dashboard closes"
                );
                assert_eq!(self.doubt, None, "a run starts while the log is in doubt");
                assert_eq!(
                    self.confirmed.get(&id),
                    Some(&grant.digest()),
                    "a run without a matching human grant"
                );
                assert_eq!(
                    self.read.get(&id).map(String::as_str),
                    Some(&**grant.code().text()),
                    "other code runs than was there to read"
                );
                assert_eq!(grant.code().digest(), Digest::of(self.read[&id].as_bytes()));
                assert!(
                    self.durable.contains(&(id, State::Granted)),
                    "the state is not recorded"
                );
                assert!(
                    now.boot < self.proposed[&id].deadline,
                    "a step after the deadline"
                );
                assert!(!self.killed.contains(&id) && !self.finals.contains_key(&id));
                assert!(self.executed.insert(id), "a proposal is executed twice");
            }
            Effect::Release { id } => {
                assert!(
                    !self.down && !self.quit,
                    "a run is released while the log is down or the dashboard closes"
                );
                assert!(
                    self.executed.contains(id),
                    "a child is released that was never made"
                );
                assert!(
                    self.durable.contains(&(*id, State::Running)),
                    "the state is not recorded"
                );
                assert!(
                    now.boot < self.proposed[id].deadline,
                    "a step after the deadline"
                );
                assert!(
                    !self.killed.contains(id),
                    "a child is released after its kill"
                );
                assert!(
                    !self.finals.contains_key(id),
                    "a child is released after its end"
                );
                assert!(self.released.insert(*id), "a child is released twice");
            }
            Effect::Kill { id } => {
                assert!(
                    self.executed.contains(id),
                    "a child is killed that was never made"
                );
                self.killed.insert(*id);
            }
            Effect::Exit => {
                let open = self.records.len();
                assert!(
                    self.down || open == 0,
                    "the dashboard exited with {open} records in progress"
                );
                self.exited = true;
            }
            Effect::Keep(run) => {
                assert!(
                    self.released.contains(&run.id),
                    "code is kept that never ran"
                );
            }
            Effect::ReadArtifact {
                conn,
                call,
                artifact,
                ..
            } => {
                let asked = self.calls.get(&(*conn, *call)).and_then(|call| call.id);
                let id = asked.expect("a file is read for a call about a proposal");
                assert!(
                    self.owns(*conn, id),
                    "the file belongs to another connection"
                );
                assert!(
                    self.durable
                        .iter()
                        .any(|(of, state)| *of == id && state.is_final()),
                    "a file is sent before the record that names it"
                );
                assert!(crate::model::Artifact::is_name(&artifact.name));
            }
            Effect::Sign { id, .. } | Effect::LookAgain { id } => {
                assert!(!self.finals.contains_key(id), "asked for after its end");
                assert!(!self.drills.contains_key(id), "a drill is put to the vote");
            }
            // A seat's, and what is told without the core.
            Effect::SendVote { .. } | Effect::Notice(_) => {}
            Effect::Publish(publication) => {
                let id = match publication {
                    Publication::Offer { id, .. } => id,
                    Publication::Statement(statement) => &statement.proposal,
                };
                assert!(!self.drills.contains_key(id), "others hear of a drill");
                assert!(
                    self.durable.contains(&(*id, State::Pending)),
                    "others hear of what is not recorded"
                );
            }
            Effect::BindInputs { .. } | Effect::DescribeDatasets { .. } | Effect::Attention => {}
        }
    }

    fn record(&mut self, ticket: (Lane, Ticket), event: &LogEvent) {
        if let Some(id) = event.id() {
            assert_eq!(
                self.drills.contains_key(&id),
                match event {
                    LogEvent::Proposed(proposed) => proposed.drill.is_some(),
                    LogEvent::Drilled(_) => true,
                    LogEvent::Edited(_) => self.drills.contains_key(&id),
                    _ => false,
                },
                "a drill and a real proposal are told apart by their records: {event:?}"
            );
            if let Some(state) = event.state().filter(|s| s.is_final()) {
                let before = self.finals.insert(id, state);
                assert_eq!(before, None, "a proposal has two recorded ends");
                if matches!(state, State::Succeeded) {
                    assert!(
                        self.released.contains(&id),
                        "a run succeeded without a release"
                    );
                }
            } else if event.state().is_some() {
                assert!(
                    !self.finals.contains_key(&id),
                    "a step is recorded after the end"
                );
            }
            if let LogEvent::Granted(granted) = event {
                assert_eq!(
                    self.confirmed.get(&id),
                    Some(&granted.grant_digest),
                    "a grant is recorded without a confirmation"
                );
                assert_eq!(
                    Some(granted.digest),
                    self.read.get(&id).map(|code| Digest::of(code.as_bytes())),
                    "a grant is recorded for other code than was there to read"
                );
            }
        }
        let mut code = None;
        if let LogEvent::Edited(edited) = event {
            let of = |id: &ProposalId| match self.drills.get(id) {
                Some(code) => code,
                None => &self.proposed[id].code,
            };
            let before = self
                .current
                .get(&edited.id)
                .unwrap_or_else(|| of(&edited.id));
            assert_eq!(
                edited.from,
                Digest::of(before.as_bytes()),
                "an edit of other code"
            );
            let mut made = self.edits.iter().filter(|(id, _)| *id == edited.id);
            let made = made.find(|(_, code)| Digest::of(code.as_bytes()) == edited.digest);
            code = Some(made.expect("an edit comes from a person").clone());
        }
        let after = event.id().zip(event.state());
        self.records.insert(ticket, (after, false, code));
    }

    fn reply(&mut self, at: (ConnId, CallId), reply: &Result<Reply, super::super::RpcError>) {
        let call = self
            .calls
            .remove(&at)
            .expect("a reply answers one open call");
        assert!(
            self.uids.contains_key(&at.0),
            "a reply goes to a closed connection"
        );
        let Ok(reply) = reply else { return };
        let (id, state) = match reply {
            Reply::Proposed {
                id, state, verdict, ..
            } => {
                let source = &verdict.source.sha256;
                assert_eq!(*source, Digest::of(self.proposed[id].code.as_bytes()).hex());
                assert!(call.propose);
                assert!(
                    self.owns(at.0, *id),
                    "the proposal belongs to another connection"
                );
                self.heard.insert((at.0, *id));
                self.may_hear(*id, *state);
                assert!(
                    self.durable.contains(&(*id, State::Pending)) || self.down,
                    "a proposal is answered before its record"
                );
                return;
            }
            Reply::Outcome(outcome) => {
                assert!(outcome.state.is_final());
                assert!(
                    outcome.message.starts_with(char::is_uppercase),
                    "an outcome says why"
                );
                let ran = outcome.run.is_some();
                assert!(
                    !ran || self.released.contains(&outcome.id),
                    "an outcome has a run that never happened"
                );
                self.tells_edits_only_if_granted(outcome);
                (outcome.id, outcome.state)
            }
            Reply::Status {
                id, state, verdict, ..
            } => {
                let recorded = self.durable.contains(&(*id, State::Pending)) || self.down;
                assert!(
                    verdict.is_none() || recorded,
                    "a verdict is reported before its record"
                );
                let of = |code: &String| Digest::of(code.as_bytes()).hex();
                assert!(
                    verdict
                        .as_ref()
                        .is_none_or(|v| v.source.sha256 == of(&self.proposed[id].code)),
                    "the verdict on an edit is told"
                );
                (*id, *state)
            }
            Reply::State { id, state } | Reply::Vain { id, state, .. } => (*id, *state),
            Reply::Hello { .. }
            | Reply::Verdict(_)
            | Reply::Datasets(_)
            | Reply::Artifact { .. } => return,
        };
        assert_eq!(call.id, Some(id), "a reply is about another proposal");
        assert!(
            self.owns(at.0, id),
            "the proposal belongs to another connection"
        );
        self.may_hear(id, state);
    }

    /// An agent learns what a person made of its code with a grant of it, and not otherwise.
    fn tells_edits_only_if_granted(&self, outcome: &Outcome) {
        let proposed = &self.proposed[&outcome.id].code;
        assert_eq!(outcome.digest, Digest::of(proposed.as_bytes()));
        let decision = outcome.decision.as_ref();
        let granted = decision.filter(|d| d.kind == DecisionKind::Granted);
        let read = granted.and(self.read.get(&outcome.id));
        let edited = read.filter(|code| *code != proposed);
        assert_eq!(decision.is_some_and(|d| d.edited), edited.is_some());
        assert_eq!(decision.and_then(|d| d.code.as_ref()), edited);
        let diff = decision.and_then(|d| d.diff.as_ref());
        assert_eq!(diff, edited.map(|code| format!("to {code}")).as_ref());
        let judged = edited.unwrap_or(proposed);
        if let Some(verdict) = &outcome.verdict {
            let digest = Digest::of(judged.as_bytes()).hex();
            assert_eq!(
                verdict.source.sha256, digest,
                "the verdict is on other code"
            );
        }
    }

    fn note(&mut self, conn: ConnId, note: &Note) {
        assert!(
            self.uids.contains_key(&conn),
            "a note goes to a closed connection"
        );
        match note {
            Note::State { id, state } => {
                assert!(
                    self.owns(conn, *id),
                    "the proposal belongs to another connection"
                );
                self.may_hear(*id, *state);
                if state.is_final() {
                    let once = self.told.insert((conn, *id));
                    assert!(once, "an end is noted twice");
                }
            }
            Note::Output { id, .. } => {
                assert!(
                    self.released.contains(id),
                    "output comes from a child that was not released"
                );
            }
        }
    }

    /// A proposal belongs to the connection that proposed it, and to connections of the same uid
    /// that proposed the same under the same key.
    fn owns(&self, conn: ConnId, id: ProposalId) -> bool {
        let Some(asked) = self.proposed.get(&id) else {
            return false;
        };
        let same_proposal = |(c, uid, draft): &(ConnId, u32, Draft)| {
            *c == conn && *uid == asked.uid && *draft == asked.draft
        };
        let keyed = asked.draft.idempotency_key.is_some();
        asked.conn == conn || (keyed && self.asks.iter().any(same_proposal))
    }

    /// Record first: an agent may hear of a state only once its record is durable (invariant 8).
    fn may_hear(&self, id: ProposalId, state: State) {
        let lost = self.down && state == State::Error;
        let allowed = state == State::Pending || lost || self.durable.contains(&(id, state));
        assert!(
            allowed,
            "{id} is reported as {state} before the record is durable"
        );
        if state == State::Running {
            assert!(
                self.released.contains(&id),
                "a run is reported that was never released"
            );
        }
    }

    /// Unless the dashboard closes, only a proposal whose end was reported may be forgotten. Nothing of a paused
    /// process is taken.
    pub fn check(&self, state: &BrokerState) {
        for id in &self.unwanted {
            assert!(
                state.entry(*id).is_none(),
                "a paused agent's proposal is taken"
            );
        }
        for (_, id) in &self.heard {
            let known = state.entry(*id).is_some();
            let end_reported = self
                .finals
                .get(id)
                .is_some_and(|s| self.durable.contains(&(*id, *s)));
            assert!(
                known || end_reported || self.quit,
                "{id} was forgotten before its end"
            );
        }
    }
}
