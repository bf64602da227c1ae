//! Events for the tests of this module.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::model::{
    About, Action, AgentClaim, AgentId, Blob, Bound, BoundInput, Digest, Drill, DrillEnd,
    DrilledLog, EditedLog, ErasedContent, ErasedPart, Exit, Finding, FinishedLog, GrantDigest,
    GrantedLog, Harm, HeardVote, InputKind, Isolation, Limits, LogEvent, Nonce, Peer, PolicyRef,
    ProposalId, ProposedLog, Reviewer, Severity, SourceStats, State, Terms, TextFormat, Tier,
    Timing, Verdict, VerdictKind, Via, Viewed, Vote, VoteKind, VotedLog, Votes,
};

pub const CODE: &[u8] = b"print(1)\n";
/// What a person made of [`CODE`].
pub const EDITED: &[u8] = b"print(2)\n";
pub const TEXT: &str = "a,b\n1,2\n";

/// Removes the note of how far the log was acknowledged, as if it had never been closed.
pub fn unnoted(state: &std::path::Path) {
    std::fs::write(state.join("lock"), "1\nlog\n").unwrap();
}

pub fn agent() -> AgentId {
    AgentId {
        uid: 1000,
        pid: 4312,
        name: "etl-bot".to_owned(),
        gateway: None,
    }
}

pub fn peer() -> Peer {
    Peer {
        uid: 1000,
        gid: 1000,
        pid: 42,
        exe: Some("python3".to_owned()),
        gateway: None,
    }
}

/// What the agent of [`proposed`] brought.
pub fn inputs() -> Vec<BoundInput> {
    vec![BoundInput {
        name: "extra".to_owned(),
        kind: InputKind::Text {
            text: String::new(),
            format: TextFormat::Csv,
        },
        bytes: TEXT.len() as u64,
        sha256: Digest::of(TEXT.as_bytes()),
    }]
}

pub fn proposed(id: ProposalId, title: &str) -> (LogEvent, Vec<Blob>) {
    let (code, text) = (Blob::of(CODE), Blob::of(TEXT.as_bytes()));
    let event = LogEvent::Proposed(Box::new(ProposedLog {
        id,
        digest: code.sha256,
        kept: None,
        profile: "analysis".to_owned(),
        policy_sha256: "0".repeat(64),
        agent: Some(AgentClaim {
            name: "etl-bot".to_owned(),
            ..AgentClaim::default()
        }),
        peer: peer(),
        title: Some(title.to_owned()),
        reason: None,
        traceparent: None,
        inputs: inputs(),
        verdict: Verdict {
            verdict: VerdictKind::Clear,
            policy: PolicyRef {
                profile: "analysis".to_owned(),
                sha256: "0".repeat(64),
            },
            findings: Vec::new(),
            capabilities: Vec::new(),
            source: SourceStats::of(CODE),
            elapsed_us: 61,
            facts: None,
            places: Vec::new(),
            flows: Default::default(),
        },
        expires_at: Timestamp::now() + Duration::from_secs(1_800),
        drill: None,
    }));
    (event, vec![code, text])
}

pub fn granted(id: ProposalId) -> LogEvent {
    granted_as(id, CODE)
}

pub fn drill() -> Drill {
    Drill {
        template: "sample".to_owned(),
        harm: Harm::Write,
        line: 1,
        does: "writes".to_owned(),
        wording: Default::default(),
    }
}

/// A drill like the proposal in [`proposed`].
pub fn proposed_drill(id: ProposalId) -> (LogEvent, Vec<Blob>) {
    let (mut event, blobs) = proposed(id, "a drill");
    if let LogEvent::Proposed(proposed) = &mut event {
        proposed.drill = Some(drill());
    }
    (event, blobs)
}

pub fn drilled(id: ProposalId, end: DrillEnd) -> LogEvent {
    let decided = end != DrillEnd::Unanswered;
    LogEvent::Drilled(Box::new(DrilledLog {
        id,
        end,
        drill: drill(),
        by: decided.then(Reviewer::default),
        viewed: decided.then(Viewed::default),
    }))
}

/// A grant of this code.
pub fn granted_as(id: ProposalId, code: &[u8]) -> LogEvent {
    let mut granted = GrantedLog {
        id,
        digest: Digest::of(code),
        grant_digest: GrantDigest(Digest::of(b"")),
        profile: "analysis".to_owned(),
        policy_sha256: "0".repeat(64),
        limits: Limits::default(),
        tier: Tier::Process,
        environment: Digest::of(b"python"),
        inputs: inputs(),
        private_told: false,
        by: Reviewer::default(),
        viewed: Viewed {
            lines_seen: SourceStats::of(code).lines,
            ..Viewed::default()
        },
        votes: None,
    };
    bind(&mut granted);
    LogEvent::Granted(Box::new(granted))
}

/// Gives a grant the digest of what it says.
pub fn bind(granted: &mut GrantedLog) {
    let bound = Bound {
        id: granted.id,
        code: granted.digest,
        inputs: &granted.inputs,
        told: granted.private_told,
        profile: &granted.profile,
        policy: granted.policy_sha256.parse().unwrap(),
        limits: &granted.limits,
        tier: granted.tier,
        environment: granted.environment,
    };
    granted.grant_digest = bound.digest();
}

/// A person's edit of the code in [`proposed`], and the blob of what they made of it.
pub fn edited(id: ProposalId, from: &[u8], to: &[u8]) -> (LogEvent, Vec<Blob>) {
    let code = Blob::of(to);
    let event = LogEvent::Edited(Box::new(EditedLog {
        id,
        from: Digest::of(from),
        digest: code.sha256,
        kept: None,
        profile: "analysis".to_owned(),
        policy_sha256: "0".repeat(64),
        verdict: Verdict {
            verdict: VerdictKind::Clear,
            policy: PolicyRef {
                profile: "analysis".to_owned(),
                sha256: "0".repeat(64),
            },
            findings: Vec::new(),
            capabilities: Vec::new(),
            source: SourceStats::of(to),
            elapsed_us: 61,
            facts: None,
            places: Vec::new(),
            flows: Default::default(),
        },
        by: Reviewer::default(),
    }));
    (event, vec![code])
}

/// A vote on [`CODE`] that nobody signed.
pub fn voted(id: ProposalId, name: &str) -> VotedLog {
    let LogEvent::Granted(g) = granted(id) else {
        unreachable!("the sample is a grant");
    };
    VotedLog {
        id,
        version: 1,
        host: "lab-1".to_owned(),
        host_key: "SHA256:host".to_owned(),
        offer: Digest::of(b"offer"),
        code: g.digest,
        grant: g.grant_digest,
        terms: Terms::default(),
        nonce: Nonce(Digest::of(b"nonce")),
        deadline: Timestamp::from_second(30).unwrap(),
        vote: Vote {
            kind: VoteKind::Grant,
            voter: name.parse().unwrap(),
            viewed: Viewed::default(),
            reason: None,
            signature: String::new(),
        },
        key: format!("SHA256:{name}"),
        touched: None,
        verified: None,
        via: Via::Socket { uid: 7, pid: 9 },
        about: None,
    }
}

/// A vote of ana at her seat.
pub fn voted_elsewhere(id: ProposalId, kind: VoteKind) -> VotedLog {
    let mut v = voted(id, "ana");
    v.vote.kind = kind;
    v.via = Via::Terminal(Reviewer::default());
    v.about = Some(Box::new(About {
        proposed_at: Timestamp::from_second(5).unwrap(),
        uid: 1000,
        agent: "etl-bot".to_owned(),
        title: Some("revenue".to_owned()),
        profile: "grave".to_owned(),
        verdict: VerdictKind::Flagged,
        findings: 2,
        data: vec!["sales".to_owned()],
        private: false,
    }));
    v
}

/// How it ended, by the host's word.
pub fn settled_elsewhere(id: ProposalId, state: State) -> LogEvent {
    LogEvent::Settled {
        id,
        host: "lab-1".to_owned(),
        state,
        message: "it ran".to_owned(),
        votes: vec![HeardVote {
            voter: "ben".parse().unwrap(),
            vote: VoteKind::Grant,
            at: Timestamp::from_second(7).unwrap(),
            key: "SHA256:ben".to_owned(),
        }],
    }
}

/// A grant by the votes of these people.
pub fn granted_by(id: ProposalId, names: &[&str]) -> LogEvent {
    let mut event = granted(id);
    if let LogEvent::Granted(g) = &mut event {
        g.votes = Some(Votes {
            by: names.iter().map(|name| name.parse().unwrap()).collect(),
            offer: Digest::of(b"offer"),
            signers: Digest::of(b"s"),
            people: Digest::of(b"p"),
            revoked: Digest::of(b"r"),
        });
    }
    event
}

pub fn denied(id: ProposalId) -> LogEvent {
    LogEvent::Denied {
        id,
        reason: Some("no".to_owned()),
        by: Reviewer::default(),
        viewed: Viewed::default(),
    }
}

pub fn started(id: ProposalId) -> LogEvent {
    LogEvent::Started {
        id,
        isolation: Isolation {
            tier: Tier::Process,
            layers: vec!["rlimits".to_owned()],
        },
    }
}

pub fn finished(id: ProposalId) -> (LogEvent, Vec<Blob>) {
    let (out, err) = (Blob::of(b"1\n"), Blob::of(b""));
    let event = LogEvent::Finished(Box::new(FinishedLog {
        id,
        state: State::Succeeded,
        exit: Exit::Code(0),
        limit: None,
        duration_ms: 41,
        timing_us: Timing::default(),
        stdout_sha256: out.sha256,
        stderr_sha256: err.sha256,
        stdout_bytes: 2,
        stderr_bytes: 0,
        stdout_truncated: false,
        stderr_truncated: false,
        pace: Default::default(),
        result_sha256: None,
        error: None,
        artifacts: Vec::new(),
        events: Vec::new(),
        accesses: BTreeMap::new(),
        unkept: None,
        unsearched: Vec::new(),
    }));
    (event, vec![out, err])
}

/// One event of every kind; those of a proposal all use the same id.
pub fn every_kind(id: ProposalId) -> Vec<LogEvent> {
    let by = Reviewer::default();
    vec![
        LogEvent::Opened {
            version: "0".to_owned(),
            by: by.clone(),
            tier: Tier::Process,
            environment: None,
            preflight: Vec::new(),
            drills: None,
        },
        proposed(id, "t").0,
        LogEvent::Blocked { id },
        edited(id, CODE, EDITED).0,
        granted(id),
        started(id),
        finished(id).0,
        denied(id),
        drilled(id, DrillEnd::Caught),
        LogEvent::Escalated {
            id,
            asked: vec!["ana".parse().unwrap()],
            also: vec!["ben".parse().unwrap()],
        },
        LogEvent::Expired { id },
        LogEvent::Withdrawn {
            id,
            disconnected: true,
        },
        LogEvent::Unattended { id },
        LogEvent::Failed {
            id,
            state: State::Error,
            message: "m".to_owned(),
        },
        LogEvent::Replicated {
            id,
            digest: Digest::of(b""),
            by: by.clone(),
        },
        LogEvent::Killed { id, by: Some(by) },
        LogEvent::Refused {
            peer: peer(),
            code: -32002,
            message: "m".to_owned(),
            count: 3,
        },
        LogEvent::Paused {
            agent: agent(),
            by: Reviewer::default(),
        },
        LogEvent::Resumed {
            agent: agent(),
            by: Reviewer::default(),
        },
        LogEvent::Recovered {
            segment: "00000001.jsonl".to_owned(),
            offset: 1,
            bytes: 2,
            sha256: Digest::of(b""),
            quarantined: "q".to_owned(),
            lost: None,
            by: None,
        },
        LogEvent::EnvironmentChanged {
            environment: Digest::of(b"python"),
            what: "lib/x.py was changed".to_owned(),
        },
        LogEvent::Pruned {
            through_segment: 1,
            through_seq: 2,
            head: Digest::of(b""),
            retention_days: 30,
            hold: Vec::new(),
            gap: None,
            by: Reviewer::default(),
        },
        LogEvent::Erased {
            id,
            contents: vec![ErasedContent {
                part: ErasedPart::Output,
                sha256: Digest::of(b"no content"),
            }],
            reason: "asked to".to_owned(),
            by: Reviewer::default(),
        },
        LogEvent::Unanchored {
            reason: "the command failed".to_owned(),
        },
        LogEvent::Doubted {
            host: "lab-1".to_owned(),
            reason: "it signed two roots over 7 records".to_owned(),
        },
        LogEvent::Closed,
    ]
}

/// A finding in the first line, which a test changes where it matters.
pub fn finding() -> Finding {
    Finding {
        rule: "NET001".to_owned(),
        name: "network".to_owned(),
        severity: Severity::High,
        action: Action::Flag,
        message: "m".to_owned(),
        hint: String::new(),
        cwe: Vec::new(),
        line: 1,
        column: 1,
        end_line: 1,
        end_column: 2,
        capability: None,
    }
}
