//! The data types shared by all modules: plain data with serde, no I/O and no clock.
//!
//! May use only the standard library, serde, sha2, uuid, jiff and the Unicode tables.

mod ballot;
mod code;
mod digest;
mod drill;
mod effects;
mod environment;
pub mod file_name;
mod flow;
pub mod for_editors;
mod glyphs;
mod grant;
mod heard;
mod ids;
mod input;
pub mod json;
mod kept;
mod left_out;
mod limits;
mod log;
mod lookalikes;
mod nearest;
mod news;
mod notice;
mod number;
mod outcome;
mod pace;
mod past;
mod peer;
mod proposal;
mod readers;
mod setting;
mod shape;
mod state;
mod stream;
mod summary;
mod ticket;
mod tier;
mod tools;
mod trace;
pub mod unseen;
mod usage;
mod verdict;
mod view;
mod visible;
mod withheld;

pub use ballot::{
    All, BadName, Ballot, HOST_NAMESPACE, NAMESPACE, Nonce, Person, Quorum, Role, Rule, Terms,
    Vote, VoteKind, When,
};
pub use code::Code;
pub use digest::{Digest, GrantDigest};
pub use drill::{Drill, DrillEnd, DrillPlan, DrilledLog, Harm, Wording};
pub use effects::{EffectMark, Effects, InputUse, Leaving, LeavingPart, Touch};
pub use environment::Environment;
pub use flow::{Alteration, Altered, Change, ColumnRead, Flow, Flows, How, Named, Share, Way};
pub use glyphs::{Mark, columns};
pub use grant::Bound;
pub use heard::{About, HeardVote};
pub use ids::{CallId, ConnId, JobId, ProposalId};
pub use input::{
    ArtifactRef, BoundInput, Column, DataFormat, DatasetInfo, InputKind, InputRequest, ROWS_MIN,
    Sensitivity, TextFormat, is_input_name,
};
pub use kept::KeptRun;
pub use left_out::{LeftOut, Reason};
pub use limits::Limits;
pub use log::{
    Blob, EditedLog, ErasedContent, ErasedPart, FinishedLog, Gap, GrantedLog, LogEvent,
    ProposedLog, Via, VotedLog, Votes,
};
pub use lookalikes::{Claimed, Imitation, Letter, claimed, differences, imitations};
pub use nearest::{alike, closest, did_you_mean, nearest};
pub use news::{Before, But, GrantedBefore, Like, News, Than};
pub use notice::NoticeEvent;
pub use number::grouped;
pub use outcome::{
    Accesses, Artifact, Decision, DecisionKind, Exit, Isolation, LimitKind, Outcome, Retry, Run,
    RunError, RunErrorKind, RunEvent, Timing,
};
pub use pace::{Pace, Piece};
pub use past::{Decided, Earlier, Of, Other, Past, Tally};
pub use peer::{AgentId, Peer};
pub use proposal::{AgentClaim, Draft, Proposal, agent_name};
pub use readers::{ALL as ALL_DATA, Readers, Routes};
pub use setting::{Form, Installed, Setting, Value};
pub use shape::Shape;
pub use state::State;
pub use stream::StreamName;
pub use summary::{ColumnSummary, Summary};
pub use ticket::{Lane, Ticket};
pub use tier::{Preflight, Tier};
pub use tools::TOOLS;
pub use trace::{is_traceparent, trace_of};
pub use usage::Usage;
pub use verdict::{
    Action, Capability, CapabilityUse, CodeFacts, Finding, Place, PolicyRef, Severity, SourceStats,
    Verdict, VerdictKind,
};
pub use view::{Opened, Part, Reviewer, Viewed};
pub use visible::{VisibleWriter, escape, visible, visible_json, visible_lines};
pub use withheld::{REDACTED, Withheld};
