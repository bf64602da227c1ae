//! The core, with the test playing everything around it: peers, analyser, log, executor, person.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use uuid::Uuid;

use super::super::effect::{Effect, Note, Reply, RpcError};
use super::super::entry::Entry;
use super::super::event::{Event, ExecNote, HumanAct, Request};
use super::super::notice::Notice;
use super::super::offer::Publication;
use super::super::poll::Unsigned;
use super::super::state::{BrokerState, Settings};
use super::super::{Confirmation, Grant, grant_digest, next_deadline, update};
pub use super::samples::*;
use super::watch::Watch;
use crate::ballot::Electorate;
use crate::clock::Now;
use crate::model::{
    Artifact, Blob, CallId, Code, ConnId, Draft, Drill, GrantDigest, Harm, InputRequest, JobId,
    Lane, LogEvent, Outcome, Peer, ProposalId, Reviewer, Setting, State, Ticket, VerdictKind,
    Viewed, Vote,
};

/// The inputs to be read, and the artifacts that some of them refer to.
pub type Asked = (BTreeMap<String, InputRequest>, BTreeMap<String, Artifact>);

pub type Answer = Result<Reply, RpcError>;

/// The core and its surroundings. Each effect is stored for the component that would receive it.
pub struct World {
    pub state: BrokerState,
    pub now: Now,
    pub watch: Watch,
    pub answers: BTreeMap<(ConnId, CallId), Answer>,
    pub notes: Vec<(ConnId, Note)>,
    /// Records being written, in order.
    pub records: VecDeque<(Lane, Ticket, LogEvent)>,
    /// Every record so far, in order.
    pub log: Vec<LogEvent>,
    pub chain: super::chain::Chain,
    pub jobs: VecDeque<(JobId, String)>,
    /// The setting that each piece of work was analysed with.
    pub known: Vec<Setting>,
    pub binds: VecDeque<ProposalId>,
    pub asked: BTreeMap<ProposalId, Asked>,
    /// The blobs that came with each record, in the order of `log`.
    pub blobs: Vec<Vec<Blob>>,
    pub executed: Vec<ProposalId>,
    /// Grants that the executor received and has not used.
    pub grants: Vec<Grant>,
    pub released: Vec<ProposalId>,
    pub killed: Vec<ProposalId>,
    pub attention: usize,
    pub kept: Vec<crate::model::KeptRun>,
    pub exited: bool,
    /// What was handed to those who carry it to reviewers.
    pub published: Vec<Publication>,
    pub notices: Vec<Notice>,
    /// Votes that the person at the terminal is to sign.
    pub signing: VecDeque<(ProposalId, u32, Unsigned)>,
    /// Held children before whose release the votes are counted again.
    pub looks: Vec<ProposalId>,
    /// What is to be offered once the files were read for it.
    offering: VecDeque<ProposalId>,
    /// What the files say then; as they were last read, unless a test says otherwise.
    pub files: Option<Result<Arc<Electorate>, String>>,
    /// Votes of a seat that were sent to a host.
    pub sent: VecDeque<(ProposalId, u32, Vote)>,
    /// Whether the costly model check runs after every event.
    pub thorough: bool,
    next_call: u64,
    next_id: u128,
}

impl World {
    pub fn new() -> Self {
        Self::with(settings())
    }

    /// Three connections: A and B are peers of uid 1000, C is of uid 1001.
    pub fn with(settings: Settings) -> Self {
        let mut w = Self {
            state: BrokerState::new(settings, ready(), 0),
            now: Now {
                boot: s(1000),
                wall: "2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap(),
            },
            watch: Watch::default(),
            answers: BTreeMap::new(),
            notes: Vec::new(),
            records: VecDeque::new(),
            log: Vec::new(),
            chain: super::chain::Chain::default(),
            jobs: VecDeque::new(),
            known: Vec::new(),
            binds: VecDeque::new(),
            asked: BTreeMap::new(),
            blobs: Vec::new(),
            executed: Vec::new(),
            grants: Vec::new(),
            released: Vec::new(),
            killed: Vec::new(),
            attention: 0,
            kept: Vec::new(),
            exited: false,
            published: Vec::new(),
            notices: Vec::new(),
            signing: VecDeque::new(),
            looks: Vec::new(),
            offering: VecDeque::new(),
            files: None,
            sent: VecDeque::new(),
            thorough: true,
            next_call: 0,
            next_id: 0,
        };
        w.connect(A, 1000, 10);
        w.connect(B, 1000, 11);
        w.connect(C, 1001, 20);
        w
    }

    pub fn connect(&mut self, conn: ConnId, uid: u32, pid: i32) {
        let peer = Peer {
            uid,
            gid: uid,
            pid,
            exe: Some("python3".to_owned()),
            gateway: None,
        };
        self.send(Event::Connected { conn, peer });
    }

    /// Sends one event and checks every effect that follows from it.
    pub fn send(&mut self, event: Event) {
        self.watch.before(&self.state, &event, self.now);
        self.chain.observe(&event);
        let effects = update(&mut self.state, event.clone(), self.now);
        for effect in effects {
            self.watch.effect(&effect, self.now);
            self.take(effect);
        }
        self.watch.after(&event);
        if self.thorough {
            super::consistency::check(&self.state, self.now);
            self.watch.check(&self.state);
            let next = next_deadline(&self.state);
            let due = next.is_some_and(|t| t <= self.now.boot);
            assert!(!due, "the core asks for a timer that has expired");
            let waits = !self.state.deadlines.is_empty() || !self.state.timeouts.is_empty();
            assert!(!waits || next.is_some(), "a deadline has no timer");
        }
        while let Some(id) = self.offering.pop_front() {
            let read = self.files.clone();
            let electorate = read.unwrap_or_else(|| self.state.electorate().clone());
            self.send(Event::LookedAgain { id, electorate });
        }
    }

    fn take(&mut self, effect: Effect) {
        match effect {
            Effect::Reply { conn, call, reply } => {
                let previous = self.answers.insert((conn, call), reply);
                assert!(previous.is_none(), "{conn:?} {call:?} was answered twice");
            }
            Effect::Notify { conn, note } => self.notes.push((conn, note)),
            Effect::Analyse {
                job, code, setting, ..
            } => {
                self.jobs.push_back((job, code.to_string()));
                self.known.push(setting);
            }
            Effect::BindInputs {
                id,
                inputs,
                artifacts,
            } => {
                self.binds.push_back(id);
                self.asked.insert(id, (inputs, artifacts));
            }
            Effect::ReadArtifact {
                conn,
                call,
                artifact,
                offset,
            } => {
                let reply = Reply::Artifact {
                    base64: format!("{}@{offset}", artifact.sha256),
                    next_offset: None,
                };
                self.answers.insert((conn, call), Ok(reply));
            }
            Effect::DescribeDatasets { conn, call } => {
                self.answers
                    .insert((conn, call), Ok(Reply::Datasets(vec![])));
            }
            Effect::Record {
                ticket,
                lane,
                event,
                blobs,
            } => {
                self.blobs.push(blobs);
                self.log.push((*event).clone());
                self.chain.submitted(lane, ticket, self.now, &event);
                self.records.push_back((lane, ticket, *event));
            }
            Effect::Execute(grant) => {
                self.executed.push(grant.id());
                self.grants.push(*grant);
            }
            Effect::Sign { id, version, vote } => self.signing.push_back((id, version, *vote)),
            Effect::Publish(publication) => self.published.push(publication),
            Effect::Notice(notice) => self.notices.push(notice),
            Effect::LookAgain { id } if self.entry(id).awaits_decision() => {
                self.offering.push_back(id);
            }
            Effect::LookAgain { id } => self.looks.push(id),
            Effect::SendVote {
                id, version, vote, ..
            } => self.sent.push_back((id, version, *vote)),
            Effect::Release { id } => self.released.push(id),
            Effect::Kill { id } => self.killed.push(id),
            Effect::Attention => self.attention += 1,
            Effect::Keep(run) => self.kept.push(*run),
            Effect::Exit => {
                assert!(!self.exited, "the core exited twice");
                self.exited = true;
            }
        }
    }

    pub fn pass(&mut self, time: Duration) {
        self.now.boot = self.now.boot.saturating_add(time);
        self.now.wall = self.now.wall.checked_add(time).unwrap_or(Timestamp::MAX);
    }

    /// Lets time pass and the timer fire.
    pub fn tick(&mut self, time: Duration) {
        self.pass(time);
        self.send(Event::Tick);
    }

    pub fn fresh_id(&mut self) -> ProposalId {
        self.next_id += 1;
        ProposalId::from_uuid(Uuid::from_u128(self.next_id))
    }

    pub fn request(&mut self, conn: ConnId, request: Request) -> CallId {
        self.next_call += 1;
        let call = CallId(self.next_call);
        self.send(Event::Request {
            conn,
            call,
            request,
        });
        call
    }

    pub fn answer(&self, conn: ConnId, call: CallId) -> Option<&Answer> {
        self.answers.get(&(conn, call))
    }

    /// Sends a request of the first connection that may be answered later.
    pub fn ask_later(&mut self, request: Request) -> CallId {
        self.request(A, request)
    }

    /// Sends a request that is answered at once.
    pub fn ask(&mut self, conn: ConnId, request: Request) -> Answer {
        let call = self.request(conn, request);
        self.answer(conn, call)
            .expect("the request is answered at once")
            .clone()
    }

    /// The error of a request that is refused at once.
    pub fn refused(&mut self, conn: ConnId, request: Request) -> RpcError {
        self.ask(conn, request).expect_err("the request is refused")
    }

    pub fn propose(&mut self, conn: ConnId, draft: Draft) -> (ProposalId, CallId) {
        let id = self.fresh_id();
        let draft = Box::new(draft);
        (id, self.request(conn, Request::Propose { id, draft }))
    }

    pub fn propose_refused(&mut self, conn: ConnId, draft: Draft) -> RpcError {
        let id = self.fresh_id();
        let draft = Box::new(draft);
        self.refused(conn, Request::Propose { id, draft })
    }

    /// Gives this verdict to everything that waits for the analyser.
    pub fn analyse(&mut self, kind: VerdictKind) {
        while let Some((job, code)) = self.jobs.pop_front() {
            let verdict = Box::new(verdict(kind, &code));
            self.send(Event::Analysed { job, verdict });
        }
    }

    /// Makes the oldest record durable.
    pub fn durable_one(&mut self) -> Option<LogEvent> {
        let (_, ticket, event) = self.records.pop_front()?;
        self.send(Event::Durable { ticket });
        Some(event)
    }

    /// Makes the oldest record of a lane durable.
    pub fn durable_in(&mut self, lane: Lane) -> Option<LogEvent> {
        let at = self.records.iter().position(|(of, ..)| *of == lane)?;
        let (_, ticket, event) = self.records.remove(at)?;
        self.send(Event::Durable { ticket });
        Some(event)
    }

    /// Makes every pending record durable.
    pub fn durable(&mut self) {
        while self.durable_one().is_some() {}
    }

    /// Reports that the blobs of the n-th record with contents could not be kept.
    pub fn unkept(&mut self, n: usize) -> Option<LogEvent> {
        let with_contents = |event: &LogEvent| match event {
            LogEvent::Proposed(_) | LogEvent::Edited(_) => true,
            LogEvent::Finished(f) => f.unkept.is_none(),
            _ => false,
        };
        let candidates: Vec<usize> = (0..self.records.len())
            .filter(|at| with_contents(&self.records[*at].2))
            .collect();
        let at = *candidates.get(n.checked_rem(candidates.len())?)?;
        let (_, ticket, event) = self.records.remove(at)?;
        self.unrecorded(ticket);
        Some(event)
    }

    pub fn unrecorded(&mut self, ticket: Ticket) {
        let reason = "Too many open files (os error 24)".to_owned();
        self.send(Event::Unrecorded { ticket, reason });
    }

    /// A proposal that waits for a person.
    pub fn pending(&mut self, conn: ConnId, draft: Draft) -> ProposalId {
        let (id, _) = self.propose(conn, draft);
        self.analyse(VerdictKind::Clear);
        self.durable();
        assert!(self.entry(id).awaits_decision());
        id
    }

    pub fn entry(&self, id: ProposalId) -> &Entry {
        self.state.entry(id).expect("the proposal is known")
    }

    pub fn state_of(&self, id: ProposalId) -> State {
        self.entry(id).state()
    }

    pub fn digest(&self, id: ProposalId) -> GrantDigest {
        grant_digest(&self.state, self.entry(id)).expect("the proposal can be granted")
    }

    pub fn grant(&mut self, id: ProposalId) {
        let digest = self.digest(id);
        self.confirm(id, digest);
    }

    pub fn confirm(&mut self, id: ProposalId, digest: GrantDigest) {
        let verdict = self.state.entry(id).and_then(Entry::verdict);
        let viewed = Viewed {
            lines_seen: verdict.map_or(0, |v| v.source.lines),
            ..Viewed::default()
        };
        self.send(Event::Human(HumanAct::Grant(Confirmation {
            id,
            digest,
            by: Reviewer::default(),
            viewed,
        })));
    }

    pub fn deny(&mut self, id: ProposalId, reason: Option<&str>) {
        self.send(Event::Human(HumanAct::Deny {
            id,
            reason: reason.map(str::to_owned),
            viewed: Viewed::default(),
            by: Reviewer::default(),
        }));
    }

    /// The dashboard makes a drill, whose wrong line is the second.
    pub fn drill(&mut self, code: &str) -> ProposalId {
        let (id, drill) = (self.fresh_id(), Self::sample_drill());
        let draft = Box::new(draft(code));
        self.send(Event::Drill { id, draft, drill });
        id
    }

    pub fn sample_drill() -> Drill {
        Drill {
            template: "sample".to_owned(),
            harm: Harm::Write,
            line: 2,
            does: "writes what nobody asked for".to_owned(),
            wording: Default::default(),
        }
    }

    /// A person edits the code; the diff is any text.
    pub fn edit(&mut self, id: ProposalId, code: &str) {
        self.send(Event::Human(HumanAct::Edit {
            id,
            code: Code::new(code),
            diff: format!("to {code}").into(),
            by: Reviewer::default(),
        }));
    }

    /// A person edits the code, the analyser answers, and the record is durable.
    pub fn edited(&mut self, id: ProposalId, code: &str, kind: VerdictKind) {
        self.edit(id, code);
        self.analyse(kind);
        self.durable();
        assert_eq!(&**self.entry(id).code().text(), code);
    }

    pub fn kill(&mut self, id: ProposalId) {
        let by = Reviewer::default();
        self.send(Event::Human(HumanAct::Kill { id, by }));
    }

    pub fn quit(&mut self) {
        let by = Reviewer::default();
        self.send(Event::Human(HumanAct::Quit { by }));
    }

    pub fn exec(&mut self, id: ProposalId, note: ExecNote) {
        self.send(Event::Exec { id, note });
    }

    /// Grants a proposal and takes it to where its child runs.
    pub fn start(&mut self, id: ProposalId) {
        self.grant(id);
        self.durable();
        assert_eq!(self.executed.last(), Some(&id));
        self.exec(id, ExecNote::Prepared(isolation()));
        self.durable();
        assert_eq!(self.released.last(), Some(&id));
        self.exec(id, ExecNote::Released);
        assert_eq!(self.state_of(id), State::Running);
    }

    pub fn running(&mut self, conn: ConnId, draft: Draft) -> ProposalId {
        let id = self.pending(conn, draft);
        self.start(id);
        id
    }

    pub fn wait(&mut self, conn: ConnId, id: ProposalId) -> CallId {
        self.request(conn, Request::Wait { id, timeout: None })
    }

    /// The outcome that a call of `wait` got.
    pub fn outcome(&self, conn: ConnId, call: CallId) -> Outcome {
        match self.answer(conn, call) {
            Some(Ok(Reply::Outcome(outcome))) => (**outcome).clone(),
            other => panic!("no outcome but {other:?}"),
        }
    }

    /// The outcome that an owner would hear now.
    pub fn outcome_of(&mut self, conn: ConnId, id: ProposalId) -> Outcome {
        let call = self.wait(conn, id);
        self.outcome(conn, call)
    }

    pub fn audit_down(&mut self) {
        self.records.clear();
        let reason = "no space left on device".to_owned();
        self.send(Event::AuditDown { reason });
    }

    pub fn disconnect(&mut self, conn: ConnId) {
        self.send(Event::Disconnected { conn });
    }

    /// The kinds of the records about this proposal, in order.
    pub fn kinds(&self, id: ProposalId) -> Vec<&'static str> {
        let records = self.log.iter().filter(|e| e.id() == Some(id));
        records.map(LogEvent::kind).collect()
    }
}
