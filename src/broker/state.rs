//! What the core knows. The dashboard reads it; only `update` changes it.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::clock::Now;
use crate::model::{
    Blob, BoundInput, CallId, ConnId, Decision, Digest, Environment, Lane, Peer, Proposal,
    ProposalId, Run, RunEvent, State, StreamName, Tier, Verdict,
};
use crate::policy::Policy;

use super::census::Census;
use super::decision::Grant;
use super::desks::Desks;
use super::outcome::OutcomeText;
use super::quota::Quotas;
use super::shared::Shared;

/// What configuration and policies fix for the life of the process.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The profile of a proposal that names none.
    pub profile: String,
    /// The profiles a proposal may name, in the order shown.
    pub profiles: Vec<Profile>,
    /// The weakest tier of any run; the stronger of this and the policy's counts.
    pub tier: Tier,
    pub ttl: Duration,
    pub ttl_max: Duration,
    /// Names of the configured data sets.
    pub datasets: BTreeSet<String>,
    pub max_pending: usize,
    pub max_pending_per_peer: usize,
    pub max_pending_per_uid: usize,
    pub kill_on_disconnect: bool,
    /// Whether columns are kept only where their lift was measured: the owner's gate.
    pub lift: bool,
    /// Reported by `hello`.
    pub version: String,
}

/// A profile in force.
#[derive(Clone, Debug)]
pub struct Profile {
    pub policy: Arc<Policy>,
    /// What a snippet finds in its namespace, for `hello`.
    pub given: Vec<String>,
}

/// The state of the audit log.
#[derive(Clone, Debug, PartialEq)]
pub enum AuditHealth {
    /// This many records are durable.
    Up { durable: u64 },
    /// Nothing runs any more.
    Down { reason: String },
}

impl AuditHealth {
    pub fn is_down(&self) -> bool {
        matches!(self, Self::Down { .. })
    }
}

/// What a child printed so far, for the screen; the outcome has the whole.
#[derive(Clone, Debug, Default)]
pub struct LiveOutput {
    pub stdout: String,
    pub stderr: String,
    /// The order in which pieces came: stream and end offset in that stream's text.
    pub order: Vec<(StreamName, usize)>,
}

impl LiveOutput {
    /// Bytes kept of each stream; a run's own cap ends it long before.
    pub const CAP: usize = 1024 * 1024;
}

/// One proposal and what became of it.
#[derive(Debug)]
pub struct Entry {
    pub proposal: Arc<Proposal>,
    pub state: State,
    /// `None` while the analyser has not answered.
    pub verdict: Option<Arc<Verdict>>,
    /// `None` while contents are being read.
    pub inputs: Option<Arc<[BoundInput]>>,
    /// Whether its `proposed` record is durable and the agent was told; only then is it shown.
    pub announced: bool,
    pub received: Now,
    /// Boot time at which it expires; a tie denies.
    pub deadline: Duration,
    pub expires_at: Timestamp,
    pub decision: Option<Decision>,
    pub run: Option<Run>,
    pub output: LiveOutput,
    /// What the person and the log are told of its private data sets. No outcome has it.
    pub noted: Vec<RunEvent>,
    /// The contents of the files it left, between the executor's word and the record.
    pub(super) left: Vec<Blob>,
    /// The session it belongs to: the server's token, or the connection where none was asked for.
    pub(super) session: Session,
    /// When the child was released.
    pub released: Option<Now>,
    /// When it became final.
    pub ended: Option<Now>,
    /// Why it did not run, for the agent and the screen.
    pub(super) text: OutcomeText,
    /// The connections it belongs to.
    pub(super) owners: BTreeSet<ConnId>,
    /// Owners that asked for `stream`.
    pub(super) streams: BTreeSet<ConnId>,
    /// Calls of `propose` that wait for the verdict.
    pub(super) proposers: Vec<(ConnId, CallId)>,
    /// Calls of `wait`, with the boot time at which each runs out.
    pub(super) waiters: Vec<(ConnId, CallId, Option<Duration>)>,
    /// The final record is durable: waiters may hear.
    pub(super) told: bool,
    /// The grant, between the key and the durable record.
    pub(super) armed: Option<Box<Grant>>,
    /// SHA-256 of the params, to recognise the same proposal under the same key.
    pub(super) params: Digest,
    /// How far its run has come.
    pub(super) stage: Stage,
    /// Why its child is to be killed, once it is.
    pub(super) stopped: Option<Stop>,
    /// The last state agents may hear: it follows the durable record.
    pub(super) heard: State,
    /// A final state that came before the verdict did; taken on when it is announced.
    pub(super) early: Option<Early>,
    /// Calls of `withdraw` that wait for the record.
    pub(super) withdrawers: Vec<(ConnId, CallId)>,
    /// Arrival number.
    pub(super) seq: u64,
    /// Why the inputs could not be read.
    pub(super) input_fault: Option<String>,
    /// What it counts for among the ended ones, in bytes; 0 while it is not one of them.
    pub(super) weight: usize,
}

/// How far a run has come. The executor's reports are believed only where they follow from
/// what it was asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing was asked of the executor.
    Idle,
    /// A child was asked for.
    Made,
    /// It is held; the `started` record is on its way.
    Held,
    /// It was let go.
    LetGo,
}

/// Why a run was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Person,
    Closing,
    Disconnect,
}

/// What ended a proposal before it was announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Early {
    Expired,
    Withdrawn { disconnected: bool },
}

impl Entry {
    /// Whether it is waiting for a person.
    pub fn awaits_decision(&self) -> bool {
        self.state == State::Pending && self.announced
    }

    /// Seconds it was given to be decided in.
    pub fn ttl_s(&self) -> u64 {
        self.deadline.saturating_sub(self.received.boot).as_secs()
    }

    /// How many calls of this connection wait for something about it.
    pub(super) fn calls_of(&self, conn: ConnId) -> usize {
        let waits = self.waiters.iter().map(|(c, ..)| c);
        let others = self.proposers.iter().chain(&self.withdrawers);
        let all = waits.chain(others.map(|(c, _)| c));
        all.filter(|c| **c == conn).count()
    }

    /// Time left to decide; zero when over.
    pub fn left(&self, now: Now) -> Duration {
        self.deadline.saturating_sub(now.boot)
    }
}

/// What happens when a record is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Nothing,
    /// Record what ended it before anybody saw it.
    EndUnseen(ProposalId),
    Announce(ProposalId),
    Execute(ProposalId),
    Release(ProposalId),
    Tell(ProposalId),
}

/// Whose runs may use each other's files and share the scope `public`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Session {
    /// The random token that `hello` answered.
    Token(String),
    /// An agent that never said `hello` has its connection.
    Connection(ConnId),
}

/// A connected agent.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub peer: Peer,
    pub agent: Option<crate::model::AgentClaim>,
    pub session: Option<String>,
    /// The proposals that belong to it.
    pub owned: BTreeSet<ProposalId>,
}

impl Connection {
    pub fn new(peer: Peer) -> Self {
        Self {
            peer,
            agent: None,
            session: None,
            owned: BTreeSet::new(),
        }
    }

    pub fn session_of(&self, conn: ConnId) -> Session {
        match &self.session {
            Some(token) => Session::Token(token.clone()),
            None => Session::Connection(conn),
        }
    }
}

/// What the analyser is working on.
#[derive(Clone, Debug)]
pub(super) enum Job {
    Proposal(ProposalId),
    Check { conn: ConnId, call: CallId },
}

/// Work waiting for the analyser.
#[derive(Clone, Debug)]
pub(super) struct Work {
    pub job: Job,
    pub code: Arc<str>,
    pub profile: String,
    /// The names that the inputs bind, where there is a proposal.
    pub inputs: Option<BTreeSet<String>>,
    pub peer: (u32, i32),
}

/// Everything the core knows.
#[derive(Debug)]
pub struct BrokerState {
    pub settings: Settings,
    pub environment: Environment,
    pub audit: AuditHealth,
    pub(super) entries: BTreeMap<ProposalId, Entry>,
    /// Announced and waiting for a decision, in the order of arrival.
    pub(super) waiting: BTreeMap<u64, ProposalId>,
    /// Granted or running, in the order of arrival.
    pub(super) active: BTreeMap<u64, ProposalId>,
    /// Final and announced, in the order they ended.
    pub(super) ended: VecDeque<ProposalId>,
    /// Bytes of output and code that the ended ones hold.
    pub(super) ended_bytes: usize,
    /// Everything that can still expire, soonest first.
    pub(super) deadlines: BTreeSet<(Duration, ProposalId)>,
    /// Waits that run out, soonest first.
    pub(super) timeouts: BTreeSet<(Duration, ConnId, CallId, ProposalId)>,
    /// Those not decided, announced or not.
    pub(super) undecided: Census,
    /// Those not announced: the analyser or the log still has work with them.
    pub(super) unannounced: Census,
    pub(super) next_seq: u64,
    pub(super) connections: HashMap<ConnId, Connection>,
    pub(super) keys: HashMap<(u32, String), ProposalId>,
    /// Session tokens and the uid each belongs to, oldest first.
    pub(super) sessions: VecDeque<(String, u32)>,
    /// What runs of a session left in the scope `public`.
    pub(super) shared: Shared,
    pub(super) desks: Desks,
    /// Records on their way to the disk by the number of their ticket, and what waits for each.
    pub(super) tickets: BTreeMap<(Lane, u64), Then>,
    /// Those of them that arrived before an earlier one of their lane did.
    pub(super) on_disk: BTreeSet<(Lane, u64)>,
    pub(super) next_ticket: u64,
    pub(super) next_job: u64,
    pub(super) quotas: Quotas,
    pub(super) closing: bool,
    /// The `closed` record is on its way.
    pub(super) closed: bool,
    pub(super) exited: bool,
    /// The last refusal of a confirmation, for the person who pressed the key.
    pub(super) refusal: Option<(ProposalId, super::decision::Refused)>,
}

impl BrokerState {
    pub fn new(settings: Settings, environment: Environment, durable: u64) -> Self {
        Self {
            settings,
            environment,
            audit: AuditHealth::Up { durable },
            entries: BTreeMap::new(),
            waiting: BTreeMap::new(),
            active: BTreeMap::new(),
            ended: VecDeque::new(),
            ended_bytes: 0,
            deadlines: BTreeSet::new(),
            timeouts: BTreeSet::new(),
            undecided: Census::default(),
            unannounced: Census::default(),
            next_seq: 0,
            connections: HashMap::new(),
            keys: HashMap::new(),
            sessions: VecDeque::new(),
            shared: Shared::default(),
            desks: Desks::default(),
            tickets: BTreeMap::new(),
            on_disk: BTreeSet::new(),
            next_ticket: 0,
            next_job: 0,
            quotas: Quotas::default(),
            closing: false,
            closed: false,
            exited: false,
            refusal: None,
        }
    }

    pub fn entry(&self, id: ProposalId) -> Option<&Entry> {
        self.entries.get(&id)
    }

    /// Those waiting for a decision, oldest first.
    pub fn pending(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.waiting.values().filter_map(|id| self.entries.get(id))
    }

    /// How many wait for a decision.
    pub fn pending_count(&self) -> usize {
        self.waiting.len()
    }

    /// Those granted or running, oldest first.
    pub fn running(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.active.values().filter_map(|id| self.entries.get(id))
    }

    /// How many are granted or running.
    pub fn running_count(&self) -> usize {
        self.active.len()
    }

    /// Those that ended, the latest first.
    pub fn decided(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.ended
            .iter()
            .rev()
            .filter_map(|id| self.entries.get(id))
    }

    /// Everything a person may see: waiting, running, decided.
    pub fn shown(&self) -> impl Iterator<Item = &Entry> {
        self.pending().chain(self.running()).chain(self.decided())
    }

    pub fn is_closing(&self) -> bool {
        self.closing
    }

    /// Why the last confirmation of this proposal was not taken.
    pub fn refusal(&self, id: ProposalId) -> Option<&super::decision::Refused> {
        self.refusal
            .as_ref()
            .filter(|(r, _)| *r == id)
            .map(|(_, why)| why)
    }

    /// The policy in force for an entry's profile.
    pub fn policy_of(&self, entry: &Entry) -> Option<Arc<Policy>> {
        self.profile(&entry.proposal.profile)
            .map(|p| p.policy.clone())
    }

    pub fn profile(&self, name: &str) -> Option<&Profile> {
        self.settings
            .profiles
            .iter()
            .find(|p| p.policy.name == name)
    }

    /// The stronger of the configured tier and the policy's.
    pub fn tier_for(&self, policy: &Policy) -> Tier {
        self.settings.tier.max(policy.tier)
    }

    /// Number of connected agents.
    pub fn connected(&self) -> usize {
        self.connections.len()
    }
}
