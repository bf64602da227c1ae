//! What can happen to the core.

use std::time::Duration;

use crate::model::{
    AgentClaim, Blob, BoundInput, CallId, ConnId, Draft, Environment, Isolation, JobId, Peer,
    ProposalId, Reviewer, Run, RunEvent, StreamName, Ticket, Verdict, Viewed,
};

use super::decision::Confirmation;

/// A decoded request. Ids and tokens that need randomness are made by the sender.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    Hello {
        agent: Option<AgentClaim>,
        /// The token of an earlier session, given back to resume it.
        resume: Option<String>,
        /// The token to use when nothing is resumed.
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
        code: std::sync::Arc<str>,
        profile: Option<String>,
    },
    Datasets,
    /// A part of a file that an own run left, from `offset` bytes on.
    Artifact {
        id: ProposalId,
        name: String,
        offset: u64,
    },
}

/// What a person did in the dashboard's terminal. Only `app`, out of keys that `tui`
/// understood, makes these.
#[derive(Clone, Debug, PartialEq)]
pub enum HumanAct {
    Grant(Confirmation),
    Deny {
        id: ProposalId,
        reason: Option<String>,
        viewed: Viewed,
        by: Reviewer,
    },
    Kill {
        id: ProposalId,
        by: Reviewer,
    },
    /// Quit, SIGTERM or the terminal's end.
    Quit {
        by: Reviewer,
    },
}

/// What the executor reports of one run.
#[derive(Clone, Debug, PartialEq)]
pub enum ExecNote {
    /// What the person and the log are told and agents are not: of private data sets, before the child is
    /// held; of what keeps a held one from being let go.
    Noted(Vec<RunEvent>),
    /// The child is confined and held; what confines it was read from outside.
    Prepared(Isolation),
    /// The child was let go.
    Released,
    Output {
        stream: StreamName,
        text: String,
    },
    /// The files it left, just before its end.
    Left(Vec<Blob>),
    /// It ran and ended.
    Ended(Box<Run>),
    /// It could not be run, or not be run to its end, for a reason that is not the snippet's.
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
    /// The contents of a proposal's inputs are read and hashed, or could not be.
    InputsBound {
        id: ProposalId,
        inputs: Result<Vec<BoundInput>, String>,
    },
    /// The record is on the disk.
    Durable {
        ticket: Ticket,
    },
    /// What the record names could not be kept: it is not in the log, and the log goes on.
    Unrecorded {
        ticket: Ticket,
        reason: String,
    },
    /// The log cannot be written any more.
    AuditDown {
        reason: String,
    },
    Human(HumanAct),
    Exec {
        id: ProposalId,
        note: ExecNote,
    },
    Environment(Environment),
    /// Time passed.
    Tick,
}
