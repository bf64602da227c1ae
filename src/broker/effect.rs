//! What the core asks the shell to do.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{
    Artifact, Blob, CallId, ConnId, Digest, InputRequest, JobId, KeptRun, Lane, Limits, LogEvent,
    Outcome, ProposalId, Setting, State, StreamName, Ticket, Verdict, Vote,
};

use crate::policy::Policy;

use super::decision::Grant;
use super::desks::Desk;
use super::entry::Entry;
use super::notice::Notice;
use super::offer::Publication;
use super::poll::Unsigned;

/// Everything the shell can be asked to do. The effects of one update are carried out in order.
#[derive(Debug)]
pub enum Effect {
    Reply {
        conn: ConnId,
        call: CallId,
        reply: Result<Reply, RpcError>,
    },
    Notify {
        conn: ConnId,
        note: Note,
    },
    Analyse {
        job: JobId,
        desk: Desk,
        code: Arc<str>,
        profile: String,
        /// The policy, if it is another host's.
        policy: Option<Arc<Policy>>,
        setting: Setting,
    },
    /// Read, parse and hash the contents that the inputs name; answered by `Event::InputsBound`.
    BindInputs {
        id: ProposalId,
        inputs: BTreeMap<String, InputRequest>,
        /// The artifacts that inputs refer to, by input name.
        artifacts: BTreeMap<String, Artifact>,
    },
    /// Read part of a file that a run left, from the log's own copy, and answer the call.
    ReadArtifact {
        conn: ConnId,
        call: CallId,
        artifact: Artifact,
        offset: u64,
    },
    /// Describe the configured data sets to this call, without their paths.
    DescribeDatasets {
        conn: ConnId,
        call: CallId,
    },
    /// Write a record; answered by `Event::Durable` or `Event::AuditDown`, or by
    /// `Event::Unrecorded` if the record has blobs.
    Record {
        ticket: Ticket,
        lane: Lane,
        event: Box<LogEvent>,
        blobs: Vec<Blob>,
    },
    /// Create the child and hold it. This consumes the grant.
    Execute(Box<Grant>),
    /// Have the person at the terminal sign their vote; answered by `Event::Signed`.
    Sign {
        id: ProposalId,
        version: u32,
        vote: Box<Unsigned>,
    },
    /// Hand this to those who carry it to reviewers.
    Publish(Publication),
    /// Have people told by the host's command, if there is one.
    Notice(Notice),
    /// Send a vote of this seat to a host; answered by what that says, or by `Event::NotSent`.
    SendVote {
        host: String,
        id: ProposalId,
        version: u32,
        vote: Box<Vote>,
    },
    /// Read again who may vote; answered by `Event::LookedAgain`.
    LookAgain {
        id: ProposalId,
    },
    /// Let the held child run.
    Release {
        id: ProposalId,
    },
    Kill {
        id: ProposalId,
    },
    /// The run succeeded and its record is durable: keep its code for the user.
    Keep(Box<KeptRun>),
    /// A new proposal waits: ring the bell if nobody is looking.
    Attention,
    /// Every record is durable and nothing runs: exit.
    Exit,
}

/// The result of a successful call.
impl Reply {
    /// What a wait hears that ends before its proposal.
    pub(super) fn still(entry: &Entry) -> Self {
        let (id, state) = (entry.proposal.id, entry.heard());
        match entry.told_hopeless() {
            Some(hopeless) => Self::Vain {
                id,
                state,
                hopeless,
            },
            None => Self::State { id, state },
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Reply {
    Hello {
        protocol: u32,
        server: BTreeMap<&'static str, String>,
        session: String,
        profiles: Vec<ProfileInfo>,
        limits: Value,
    },
    Proposed {
        id: ProposalId,
        digest: Digest,
        state: State,
        verdict: Arc<Verdict>,
        expires_at: Timestamp,
    },
    Outcome(Box<Outcome>),
    Status {
        id: ProposalId,
        state: State,
        #[serde(skip_serializing_if = "Option::is_none")]
        verdict: Option<Arc<Verdict>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
        /// How many others wait that arrived before, while it waits itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        before: Option<usize>,
        /// Whether the person has it on the screen, while it waits.
        #[serde(skip_serializing_if = "Option::is_none")]
        shown: Option<bool>,
        /// Why no votes can grant it, while it waits all the same.
        #[serde(skip_serializing_if = "Option::is_none")]
        hopeless: Option<String>,
    },
    /// A wait that timed out for what no votes can grant.
    Vain {
        id: ProposalId,
        state: State,
        hopeless: String,
    },
    /// `{id, state}`: the answer to a wait that timed out or to a withdrawal.
    State {
        id: ProposalId,
        state: State,
    },
    Verdict(Arc<Verdict>),
    Datasets(Vec<crate::model::DatasetInfo>),
    Artifact {
        base64: String,
        /// Where the next part begins; absent after the last part.
        #[serde(skip_serializing_if = "Option::is_none")]
        next_offset: Option<u64>,
    },
}

/// What `hello` says about a profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProfileInfo {
    pub name: String,
    pub imports: Vec<String>,
    pub given: Vec<String>,
    pub limits: Limits,
}

/// A JSON-RPC error object; the codes are those of protocol.md §2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

impl RpcError {
    pub const PARSE: i64 = -32700;
    pub const INVALID_REQUEST: i64 = -32600;
    pub const METHOD_NOT_FOUND: i64 = -32601;
    pub const INVALID_PARAMS: i64 = -32602;
    pub const INTERNAL: i64 = -32603;
    pub const TOO_LARGE: i64 = -32001;
    pub const TOO_MANY: i64 = -32002;
    pub const UNKNOWN_NAME: i64 = -32003;
    pub const UNKNOWN_ID: i64 = -32004;
    pub const FORBIDDEN: i64 = -32005;

    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: Value::Null,
        }
    }

    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = data;
        self
    }
}

/// A notification to a proposer that asked for `stream`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "method", content = "params", rename_all = "lowercase")]
pub enum Note {
    State {
        id: ProposalId,
        state: State,
    },
    Output {
        id: ProposalId,
        stream: StreamName,
        text: String,
    },
}
