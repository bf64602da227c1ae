//! The core's state. The dashboard reads it; only `update` changes it.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;

use crate::ballot::{Electorate, Turns};
use crate::clock::Now;
use crate::model::{AgentId, CallId, ConnId, Environment, Lane, ProposalId, Tier, agent_name};
use crate::policy::{Contract, Policy};

use super::before::Memory;
use super::census::Census;
use super::decision::Refused;
use super::desks::Desks;
use super::drill::Hidden;
use super::effect::RpcError;
use super::entry::Entry;
use super::ledger::{Ledger, Tally};
use super::pause::Pauses;
use super::poll::Voting;
use super::quota::{QuotaUse, Quotas};
use super::seat::Seat;
use super::session::{Connection, Session};
use super::shared::Shared;

/// What configuration and policies fix for the life of the process.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The profile for proposals that name none.
    pub profile: String,
    /// The profiles that a proposal may name, in the order shown.
    pub profiles: Vec<Profile>,
    /// The weakest tier allowed for any run; the stronger of it and the policy's applies.
    pub tier: Tier,
    pub ttl: Duration,
    pub ttl_max: Duration,
    /// Names of the configured data sets.
    pub datasets: BTreeSet<String>,
    pub max_pending: usize,
    pub max_pending_per_peer: usize,
    pub max_pending_per_uid: usize,
    pub kill_on_disconnect: bool,
    /// Whether columns are kept only if their lift was measured: the owner's setting.
    pub lift: bool,
    /// Reported by `hello`.
    pub version: String,
    /// Set if people vote here: what `[desk]` says, and this program's key.
    pub voting: Option<Arc<Voting>>,
    pub attendance: Attendance,
}

/// Who is at this program, and so what can become of a proposal here.
#[derive(Clone, Debug)]
pub enum Attendance {
    /// A person at its terminal decides, and people vote where a policy asks for it.
    Person,
    /// A reviewer: nothing is granted here, and nothing runs.
    Reviewer(Seat),
    /// Nobody: only votes grant. What no votes are asked about cannot be granted, and is refused or ends at once.
    Nobody,
}

impl Settings {
    /// Whether this is a host on which people vote: offers go out from here.
    pub const fn is_host(&self) -> bool {
        self.voting.is_some() && self.seat().is_none()
    }

    /// Set in a reviewer's seat.
    pub const fn seat(&self) -> Option<&Seat> {
        match &self.attendance {
            Attendance::Reviewer(seat) => Some(seat),
            Attendance::Person | Attendance::Nobody => None,
        }
    }
}

/// A profile in force.
#[derive(Clone, Debug)]
pub struct Profile {
    pub policy: Arc<Policy>,
    /// What a snippet finds in its namespace; reported by `hello`.
    pub given: Vec<String>,
    /// The policy that its file extends.
    pub base: Option<Arc<Policy>>,
}

/// The state of the audit log.
#[derive(Clone, Debug, PartialEq)]
pub enum AuditHealth {
    /// This many records are durable.
    Up { durable: u64 },
    /// The log cannot be written, so nothing runs any more.
    Down { reason: String },
}

impl AuditHealth {
    pub fn is_down(&self) -> bool {
        matches!(self, Self::Down { .. })
    }
}

/// Why nothing is granted although the log takes records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogDoubt {
    /// It could not be read. That may pass.
    Unreadable(String),
    /// It is not the log that was signed. That does not pass.
    Contradicted(String),
}

/// What happens once a record is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Nothing,
    /// Record the end that came before anybody saw the proposal.
    EndUnseen(ProposalId),
    Announce(ProposalId),
    /// A person's edit becomes what can be granted.
    Revise(ProposalId),
    Execute(ProposalId),
    /// A vote of this seat may be sent.
    SendVote(ProposalId),
    /// The vote with this number counts.
    Count(ProposalId, u64),
    Release(ProposalId),
    Tell(ProposalId),
    /// Agents may hear of the pause with this number.
    TellPause(u64),
    /// The pause with this number ends.
    EndPause(u64),
}

/// How far an agent is told how many wait before its own proposal, so that an answer costs little.
const BEFORE_MAX: usize = 100;

/// Everything the core knows.
#[derive(Debug)]
pub struct BrokerState {
    pub settings: Settings,
    pub environment: Environment,
    pub audit: AuditHealth,
    pub log_doubt: Option<LogDoubt>,
    /// Who may vote, as last read, or why that is not known.
    pub(super) electorate: Result<Arc<Electorate>, String>,
    /// Who might vote when that was last known: to tell people of their own votes, never to count them.
    pub(super) known: Option<Arc<Electorate>>,
    /// When who may vote was looked at last.
    pub(super) looked: Option<Timestamp>,
    /// Whether nothing is known to be wrong between this host and its reviewers elsewhere.
    pub(super) reaches_reviewers: bool,
    /// In a reviewer's seat: what its log has votes on and no end of.
    pub(super) voted: BTreeSet<ProposalId>,
    /// What its offers say of earlier proposals.
    pub(super) memory: Memory,
    pub(super) entries: BTreeMap<ProposalId, Entry>,
    /// Announced and waiting for a decision, in the order of arrival.
    pub(super) waiting: BTreeMap<u64, ProposalId>,
    /// Granted or running, in the order of arrival.
    pub(super) active: BTreeMap<u64, ProposalId>,
    /// Final and announced, in the order in which they ended.
    pub(super) ended: VecDeque<ProposalId>,
    /// Bytes of output and code that the ended proposals hold.
    pub(super) ended_bytes: usize,
    /// Deadlines of everything that can still expire, soonest first.
    pub(super) deadlines: BTreeSet<(Duration, ProposalId)>,
    /// When others are asked too about what waits, soonest first.
    pub(super) escalations: BTreeSet<(Duration, ProposalId)>,
    /// Who was asked for a vote when.
    pub(super) turns: Turns,
    /// `wait` calls with a timeout, soonest first.
    pub(super) timeouts: BTreeSet<(Duration, ConnId, CallId, ProposalId)>,
    /// Proposals that are not decided, announced or not.
    pub(super) undecided: Census,
    /// Proposals not announced yet: the analyser or the log still works on them.
    pub(super) unannounced: Census,
    pub(super) next_seq: u64,
    pub(super) connections: HashMap<ConnId, Connection>,
    pub(super) keys: HashMap<(u32, String), ProposalId>,
    /// Session tokens and the uid each belongs to, oldest first.
    pub(super) sessions: VecDeque<(String, u32)>,
    /// What the runs of each session left in the scope `public`.
    pub(super) shared: Shared,
    pub(super) desks: Desks,
    /// Records being written, by lane and ticket number, and what waits for each.
    pub(super) tickets: BTreeMap<(Lane, u64), Then>,
    /// Records that became durable before an earlier one of their lane.
    pub(super) on_disk: BTreeSet<(Lane, u64)>,
    pub(super) next_ticket: u64,
    pub(super) next_job: u64,
    pub(super) quotas: Quotas,
    pub(super) pauses: Pauses,
    pub(super) ledger: Ledger,
    pub(super) closing: bool,
    /// The `closed` record is being written.
    pub(super) closed: bool,
    pub(super) exited: bool,
    /// How many edits of a person took effect.
    pub(super) edits: u64,
    /// The drill that waits.
    pub(super) hidden: Option<Hidden>,
    /// What the person has on the screen.
    pub(super) shown: Option<ProposalId>,
    /// The last refused confirmation, for the person who pressed the key.
    pub(super) refusal: Option<(ProposalId, Refused)>,
}

impl BrokerState {
    pub fn new(settings: Settings, environment: Environment, durable: u64) -> Self {
        Self {
            settings,
            environment,
            audit: AuditHealth::Up { durable },
            log_doubt: None,
            reaches_reviewers: true,
            electorate: Err("the files of who may vote were not read".to_owned()),
            known: None,
            looked: None,
            voted: BTreeSet::new(),
            memory: Memory::default(),
            entries: BTreeMap::new(),
            waiting: BTreeMap::new(),
            active: BTreeMap::new(),
            ended: VecDeque::new(),
            ended_bytes: 0,
            deadlines: BTreeSet::new(),
            escalations: BTreeSet::new(),
            turns: Turns::default(),
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
            pauses: Pauses::default(),
            ledger: Ledger::default(),
            closing: false,
            closed: false,
            exited: false,
            edits: 0,
            hidden: None,
            shown: None,
            refusal: None,
        }
    }

    pub fn entry(&self, id: ProposalId) -> Option<&Entry> {
        self.entries.get(&id)
    }

    /// The entry, if it belongs to this connection. Another agent's id looks like an unknown one.
    pub(super) fn owned(&self, conn: ConnId, id: ProposalId) -> Result<&Entry, RpcError> {
        self.entries
            .get(&id)
            .filter(|e| e.audience.owners.contains(&conn))
            .ok_or_else(|| {
                RpcError::new(
                    RpcError::UNKNOWN_ID,
                    "no proposal of this connection has this id",
                )
                .with_data(json!({"expected": "an id that `propose` answered on this connection"}))
            })
    }

    /// The proposals that wait for a decision, oldest first.
    pub fn pending(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.waiting.values().filter_map(|id| self.entries.get(id))
    }

    /// The proposal that the person has on the screen, as far as the core knows.
    pub const fn on_screen(&self) -> Option<ProposalId> {
        self.shown
    }

    /// How many others wait that arrived before, counted up to [`BEFORE_MAX`]. No agent hears of a drill.
    pub(super) fn before(&self, entry: &Entry) -> usize {
        let drill = self.hidden.as_ref().map(|hidden| hidden.id);
        let earlier = self.waiting.range(..entry.seq);
        let others = earlier.filter(|(_, id)| Some(**id) != drill);
        others.take(BEFORE_MAX).count()
    }

    pub fn pending_count(&self) -> usize {
        self.waiting.len()
    }

    /// The proposals that are granted or running, oldest first.
    pub fn running(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.active.values().filter_map(|id| self.entries.get(id))
    }

    pub fn running_count(&self) -> usize {
        self.active.len()
    }

    /// The proposals that ended, the latest first.
    pub fn decided(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.ended
            .iter()
            .rev()
            .filter_map(|id| self.entries.get(id))
    }

    /// Everything a person may see: waiting, running and ended proposals.
    pub fn shown(&self) -> impl Iterator<Item = &Entry> {
        self.pending().chain(self.running()).chain(self.decided())
    }

    /// How many edits of a person took effect: with each, an entry has another code and verdict.
    pub const fn edits(&self) -> u64 {
        self.edits
    }

    pub fn is_closing(&self) -> bool {
        self.closing
    }

    /// Why the last confirmation of this proposal was refused.
    pub fn refusal(&self, id: ProposalId) -> Option<&Refused> {
        self.refusal
            .as_ref()
            .filter(|(r, _)| *r == id)
            .map(|(_, why)| why)
    }

    /// The policy in force for an entry's profile.
    pub fn policy_of(&self, entry: &Entry) -> Option<Arc<Policy>> {
        match &entry.offered {
            Some(offered) => Some(offered.policy.clone()),
            None => self
                .profile(&entry.proposal.profile)
                .map(|p| p.policy.clone()),
        }
    }

    pub fn profile(&self, name: &str) -> Option<&Profile> {
        self.settings
            .profiles
            .iter()
            .find(|p| p.policy.name == name)
    }

    pub(super) fn contract_of(&self, profile: &str) -> Option<Contract> {
        self.profile(profile).map(|p| p.policy.contract)
    }

    pub(super) fn session_of(&self, conn: ConnId) -> Session {
        let connection = self.connections.get(&conn);
        connection.map_or(Session::Connection(conn), |c| c.session_of(conn))
    }

    /// The stronger of the configured tier and the policy's.
    pub fn tier_for(&self, policy: &Policy) -> Tier {
        self.settings.tier.max(policy.tier)
    }

    pub fn connected(&self) -> usize {
        self.connections.len()
    }

    /// The process of each connection, and the name under which it would propose.
    pub fn connected_agents(&self) -> impl Iterator<Item = AgentId> {
        self.connections.values().map(|c| AgentId {
            uid: c.peer.uid,
            pid: c.peer.pid,
            name: agent_name(c.agent.as_ref(), &c.peer).to_owned(),
            gateway: c.peer.gateway.clone(),
        })
    }

    /// What each agent proposed since the start, by agent, and how many agents were forgotten.
    pub fn agents(&self) -> (&BTreeMap<AgentId, Tally>, u64) {
        (&self.ledger.agents, self.ledger.forgotten)
    }

    /// What this process has used of its quotas.
    pub fn usage(&self, uid: u32, pid: i32, now: Now) -> QuotaUse {
        let peer = (uid, pid);
        // A drill looks like the others while it waits; it uses up nothing.
        let hidden = self.hidden.as_ref();
        let drill = hidden.is_some_and(|drill| (drill.agent.uid, drill.agent.pid) == peer);
        let pending = self.undecided.of_peer(peer) + usize::from(drill);
        let most = self.settings.max_pending_per_peer;
        self.quotas.usage(peer, (pending, most), now.boot)
    }
}
