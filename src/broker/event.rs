//! Events that the core reacts to.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::ballot::Electorate;
use crate::model::{
    AgentClaim, AgentId, Blob, BoundInput, CallId, Code, ConnId, Draft, Drill, Environment,
    InputRequest, Isolation, JobId, Peer, ProposalId, Reviewer, Run, RunEvent, StreamName, Ticket,
    Usage, Verdict, Via, Viewed, Vote,
};

use super::before::Remembered;
use super::decision::Confirmation;
use super::offer::{Offer, Statement};
use super::state::LogDoubt;

/// A decoded request. The sender generates ids and tokens, which need randomness.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    Hello {
        agent: Option<AgentClaim>,
        /// The token of an earlier session, sent to resume that session.
        resume: Option<String>,
        /// The token of the new session if none is resumed.
        fresh: String,
    },
    Propose {
        id: ProposalId,
        draft: Box<Draft>,
    },
    Wait {
        id: ProposalId,
        timeout: Option<Duration>,
    },
    Status {
        id: ProposalId,
    },
    Withdraw {
        id: ProposalId,
    },
    Check {
        code: Arc<str>,
        profile: Option<String>,
        /// What the code would have as inputs; `None` if nobody said.
        inputs: Option<BTreeMap<String, InputRequest>>,
    },
    Datasets,
    /// Part of a file that one of the agent's own runs left, from the byte `offset`.
    Artifact {
        id: ProposalId,
        name: String,
        offset: u64,
    },
}

/// What a person did in the dashboard's terminal. Only `app` creates these, from keys that `tui`
/// interpreted.
#[derive(Clone, Debug, PartialEq)]
pub enum HumanAct {
    Grant(Confirmation),
    Deny {
        id: ProposalId,
        reason: Option<String>,
        viewed: Viewed,
        by: Reviewer,
    },
    /// A person changed the code of a pending proposal. What comes back is judged like any code and
    /// must be seen and granted like any.
    Edit {
        id: ProposalId,
        code: Code,
        /// What differs from the code as proposed, for the agent.
        diff: Arc<str>,
        by: Reviewer,
    },
    Kill {
        id: ProposalId,
        by: Reviewer,
    },
    /// Refuse new proposals of this agent.
    Pause {
        agent: AgentId,
        by: Reviewer,
    },
    /// End every pause that covers this agent.
    Resume {
        agent: AgentId,
        by: Reviewer,
    },
    /// Quit, SIGTERM or a closed terminal.
    Quit {
        by: Reviewer,
    },
}

/// What the executor reports about one run.
#[derive(Clone, Debug, PartialEq)]
pub enum ExecNote {
    /// Notes for the person and the log that agents do not get: about private data sets before the
    /// child is held, and about why a held child is not released.
    Noted(Vec<RunEvent>),
    /// The child is confined and held; its confinement was read from outside.
    Prepared(Isolation),
    /// The child was released.
    Released,
    Output {
        stream: StreamName,
        text: String,
    },
    /// What the run uses, about once a second; the last one, just before its end, has the totals.
    Used(Usage),
    /// The files that the run left; sent just before its end.
    Left(Vec<Blob>),
    /// The child ran and ended.
    Ended(Box<Run>),
    /// The run could not start or finish, for a reason outside the snippet.
    Failed {
        message: String,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Connected {
        conn: ConnId,
        peer: Peer,
    },
    Disconnected {
        conn: ConnId,
    },
    Request {
        conn: ConnId,
        call: CallId,
        request: Request,
    },
    Analysed {
        job: JobId,
        verdict: Box<Verdict>,
    },
    /// The contents of a proposal's inputs were read and hashed, or could not be read.
    InputsBound {
        id: ProposalId,
        inputs: Result<Vec<BoundInput>, String>,
    },
    /// The record is durable.
    Durable {
        ticket: Ticket,
    },
    /// The record's blobs could not be kept: the record is not in the log, and the log goes on.
    Unrecorded {
        ticket: Ticket,
        reason: String,
    },
    /// The proposal that the person has on the screen; its agent may hear that.
    Shown {
        id: Option<ProposalId>,
    },
    /// The log can no longer be written.
    AuditDown {
        reason: String,
    },
    /// Nothing is granted from now on, because of the log.
    LogDoubted(LogDoubt),
    /// The log, which could not be read, was read.
    LogRead,
    Human(HumanAct),
    /// The dashboard makes a proposal of its own; see [`super::drill`].
    Drill {
        id: ProposalId,
        draft: Box<Draft>,
        drill: Drill,
    },
    Exec {
        id: ProposalId,
        note: ExecNote,
    },
    Environment(Environment),
    /// The engine of this host's reviewers can be reached, or why it cannot.
    Reached(Result<(), String>),
    /// The files of who may vote were read, or cannot be.
    Electorate(Result<Arc<Electorate>, String>),
    /// The same, for a held child that votes granted: it may be released if they still do.
    LookedAgain {
        id: ProposalId,
        electorate: Result<Arc<Electorate>, String>,
    },
    /// The vote of the person at the terminal was signed, or why it was not.
    Signed {
        id: ProposalId,
        version: u32,
        vote: Result<Vote, String>,
        by: Reviewer,
    },
    /// In a reviewer's seat: a host, whose signature was checked, offers a proposal.
    Offered {
        offer: Box<Offer>,
        /// As it was signed.
        bytes: Arc<[u8]>,
    },
    /// In a reviewer's seat: what a host, whose signature was checked, says of an offer.
    Stated(Box<Statement>),
    /// In a reviewer's seat: a vote did not reach its host.
    NotSent {
        id: ProposalId,
        why: String,
    },
    /// What a host's offers say of earlier proposals was read from its log.
    Remembered(Remembered),
    /// In a reviewer's seat: on these its log has votes and no end.
    VotedBefore(Vec<ProposalId>),
    /// A vote came from elsewhere.
    Cast {
        id: ProposalId,
        version: u32,
        vote: Box<Vote>,
        via: Via,
    },
    /// A deadline may have come.
    Tick,
}
