//! Samples for the core's tests: policies, drafts, verdicts, runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::super::event::ExecNote;
use super::super::state::{Attendance, Profile, Settings};
use crate::model::{
    Action, Artifact, Blob, BoundInput, Capability, CapabilityUse, ConnId, Digest, Draft,
    Environment, Exit, Finding, InputKind, InputRequest, Isolation, Limits, Run, RunError,
    RunErrorKind, Severity, SourceStats, Tier, Timing, Verdict, VerdictKind,
};
use crate::policy::{Attributes, Contract, Origin, Policy, PrivateValues, SetBy};

pub const A: ConnId = ConnId(1);
pub const B: ConnId = ConnId(2);
pub const C: ConnId = ConnId(3);

pub fn s(n: u64) -> Duration {
    Duration::from_secs(n)
}

pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub fn policy(name: &str) -> Policy {
    Policy {
        name: name.to_owned(),
        sha256: Digest::of(name.as_bytes()),
        origin: Origin::Builtin,
        set_by: SetBy::Program,
        contract: Contract::Analysis,
        guard: true,
        unjudged: BTreeSet::new(),
        imports: BTreeMap::from([("math".to_owned(), BTreeSet::from(["*".to_owned()]))]),
        builtins: BTreeSet::from(["print".to_owned()]),
        attributes: Attributes::default(),
        nodes: BTreeSet::new(),
        capabilities: BTreeMap::new(),
        // Not the default limits, so that code which uses the defaults instead is caught.
        limits: Limits {
            wall_s: 290,
            ..Limits::default()
        },
        tier: Tier::Process,
        private: PrivateValues::Hide,
        grant: Vec::new(),
    }
}

pub fn settings() -> Settings {
    let profile = |name: &str| Profile {
        policy: Arc::new(policy(name)),
        given: vec!["pd".to_owned(), "np".to_owned()],
        base: None,
    };
    Settings {
        profile: "analysis".to_owned(),
        profiles: vec![profile("analysis"), profile("chart")],
        tier: Tier::Process,
        ttl: s(1800),
        ttl_max: s(28_800),
        datasets: BTreeSet::from(["penguins".to_owned()]),
        max_pending: 10_000,
        max_pending_per_peer: 1000,
        max_pending_per_uid: 5000,
        kill_on_disconnect: false,
        lift: false,
        version: "0.0.0".to_owned(),
        voting: None,
        attendance: Attendance::Person,
    }
}

pub fn ready() -> Environment {
    Environment::Ready {
        digest: Digest::of(b"environment"),
        label: "Python 3.11.7, 6 packages".to_owned(),
        installed: crate::model::Installed::default(),
    }
}

pub fn verdict(kind: VerdictKind, code: &str) -> Verdict {
    let finding = |action| Finding {
        rule: "EXEC001".to_owned(),
        name: "starts-a-process".to_owned(),
        severity: Severity::High,
        action,
        message: "starts a process".to_owned(),
        hint: String::new(),
        cwe: vec![78],
        line: 3,
        column: 1,
        end_line: 3,
        end_column: 9,
        capability: None,
    };
    let findings = match kind {
        VerdictKind::Clear => Vec::new(),
        VerdictKind::Flagged => vec![finding(Action::Flag)],
        VerdictKind::Blocked | VerdictKind::Unanalyzable => vec![finding(Action::Block)],
    };
    let sends = |(_, line): &(u32, &str)| line.contains("send(");
    let lines: Vec<u32> = (1..)
        .zip(code.lines())
        .filter(sends)
        .map(|(n, _)| n)
        .collect();
    let write = CapabilityUse {
        capability: Capability::FsWrite,
        lines,
        detail: "send".to_owned(),
    };
    let capabilities = [write].into_iter().filter(|write| !write.lines.is_empty());
    Verdict {
        verdict: kind,
        policy: policy("analysis").reference(),
        findings,
        capabilities: capabilities.collect(),
        source: SourceStats::of(code.as_bytes()),
        elapsed_us: 61,
        facts: None,
        places: Vec::new(),
        flows: Default::default(),
    }
}

pub fn draft(code: &str) -> Draft {
    Draft {
        code: code.into(),
        profile: None,
        title: None,
        reason: None,
        agent: None,
        inputs: BTreeMap::new(),
        ttl_s: None,
        stream: false,
        idempotency_key: None,
        traceparent: None,
    }
}

pub fn keyed(code: &str, key: &str) -> Draft {
    Draft {
        idempotency_key: Some(key.to_owned()),
        ..draft(code)
    }
}

pub fn json_input(value: serde_json::Value) -> BTreeMap<String, InputRequest> {
    BTreeMap::from([("threshold".to_owned(), InputRequest::Json { json: value })])
}

pub fn bound(name: &str, text: &str) -> BoundInput {
    BoundInput {
        name: name.to_owned(),
        kind: InputKind::Json {
            text: text.to_owned(),
        },
        bytes: text.len() as u64,
        sha256: Digest::of(text.as_bytes()),
    }
}

pub fn isolation() -> Isolation {
    Isolation {
        tier: Tier::Process,
        layers: vec!["rlimits".to_owned()],
    }
}

/// A run that succeeded and printed this text.
pub fn run(stdout: &str) -> Run {
    Run {
        exit: Exit::Code(0),
        limit: None,
        duration_ms: 41,
        timing_us: Timing::default(),
        stdout: stdout.to_owned(),
        stderr: String::new(),
        stdout_bytes: stdout.len() as u64,
        stderr_bytes: 0,
        stdout_truncated: false,
        stderr_truncated: false,
        isolation: isolation(),
        error: None,
        result: serde_json::Value::Null,
        artifacts: Vec::new(),
        artifacts_left_out: 0,
        artifacts_refused: Vec::new(),
        artifacts_unkept: Vec::new(),
        artifacts_renamed: Vec::new(),
        artifacts_withheld: 0,
        figures_unkept: 0,
        events: Vec::new(),
        accesses: BTreeMap::new(),
    }
}

/// A run that succeeded and left this file: the executor's two reports.
pub fn leaving(name: &str, content: &str) -> (ExecNote, ExecNote) {
    let blob = Blob::of(content.as_bytes());
    let artifact = Artifact {
        name: name.to_owned(),
        media_type: "text/plain".to_owned(),
        bytes: content.len() as u64,
        sha256: blob.sha256.hex(),
    };
    let run = Run {
        artifacts: vec![artifact],
        ..run("")
    };
    (ExecNote::Left(vec![blob]), ExecNote::Ended(Box::new(run)))
}

/// A run that ended with this kind of error.
pub fn failed_run(kind: RunErrorKind) -> Run {
    Run {
        exit: Exit::Code(1),
        error: Some(RunError {
            kind,
            message: "division by zero".to_owned(),
            line: Some(2),
            exception: Some("ZeroDivisionError".to_owned()),
        }),
        ..run("")
    }
}

/// The uid and pid of each connection slot.
pub const PEERS: [(u32, i32); 5] = [(1000, 10), (1000, 11), (1001, 20), (1001, 21), (1000, 10)];

/// The process of a slot, under a name that none of its proposals has.
pub fn slot_agent(slot: u8) -> crate::model::AgentId {
    let (uid, pid) = PEERS[usize::from(slot)];
    let name = "paused".to_owned();
    crate::model::AgentId {
        uid,
        pid,
        name,
        gateway: None,
    }
}
