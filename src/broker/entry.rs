//! One proposal in the core, from its arrival until it is forgotten.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::clock::Now;
use crate::model::{
    Blob, BoundInput, CallId, ConnId, Decision, Digest, Outcome, Proposal, Run, RunEvent, State,
    StreamName, Verdict,
};

use super::decision::Grant;
use super::outcome::{OutcomeText, Stop};
use super::session::Session;

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

    /// The outcome object of protocol.md §4.
    pub fn outcome(&self) -> Outcome {
        Outcome {
            id: self.proposal.id,
            digest: self.proposal.digest,
            state: self.state,
            message: self.text.message.clone(),
            retry: self.text.retry,
            verdict: self.verdict.as_deref().cloned(),
            decision: self.decision.clone(),
            run: self.run.clone(),
        }
    }

    /// Why it ended as it did, in one sentence.
    pub fn message(&self) -> &str {
        &self.text.message
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
