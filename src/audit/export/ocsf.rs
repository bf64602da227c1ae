//! Events of OCSF 1.8.0, one JSON object a line: API Activity (6003) for each decision, with its authorisation, and Script
//! Activity (1009) for each run. `metadata.correlation_uid`, the proposal's id, joins the two, and `metadata.uid` is the
//! hash of the record that the event is made of. What an agent says of itself or its code is in `unmapped.claims`.

use std::io::{self, Write};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::super::cases::{Case, Course};
use super::super::line::{Record, unseal};
use super::super::{Log, Told};
use crate::model::{
    Digest, DrillEnd, Exit, FinishedLog, LogEvent, Peer, ProposedLog, Reviewer, Severity, State,
    Verdict, VerdictKind, trace_of,
};

const VERSION: &str = "1.8.0";

/// Writes the events of one proposal. One that waits has none yet.
pub(super) fn events(out: &mut dyn Write, told: &Told, log: &Log) -> io::Result<()> {
    let Some(about) = About::of(told) else {
        return Ok(());
    };
    for event in [about.decision(), about.run(log)].into_iter().flatten() {
        serde_json::to_writer(&mut *out, &event)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// A proposal's records.
struct About<'a> {
    case: &'a Case,
    records: &'a [Record],
    proposed: &'a ProposedLog,
}

/// A decision in the schema's words: what was done, whether the run was allowed, and what follows.
struct Decided {
    what: &'static str,
    action: (u8, &'static str),
    disposition: (u8, &'static str),
}

const ALLOWED: (u8, &str) = (1, "Allowed");
const DENIED: (u8, &str) = (2, "Denied");

impl<'a> About<'a> {
    fn of(told: &'a Told) -> Option<Self> {
        let proposed = told.records.iter().find_map(|r| match &r.event {
            LogEvent::Proposed(p) => Some(&**p),
            _ => None,
        })?;
        Some(Self {
            case: &told.case,
            records: &told.records,
            proposed,
        })
    }

    fn decided(&self) -> Option<Decided> {
        let decided = |what, action, disposition| Decided {
            what,
            action,
            disposition,
        };
        Some(match self.case.course {
            Course::Waits => return None,
            Course::Granted => decided("Grant", ALLOWED, (8, "Approved")),
            Course::Denied => decided("Deny", DENIED, (25, "Rejected")),
            Course::Expired => decided("Expire", DENIED, (16, "No Action")),
            // Nothing of a drill can run, whatever a person said of it.
            Course::Drilled(DrillEnd::Caught) => decided("Catch drill", DENIED, (25, "Rejected")),
            Course::Drilled(DrillEnd::Granted) => decided("Grant drill", DENIED, (8, "Approved")),
            Course::Drilled(DrillEnd::Unanswered) => {
                decided("Leave drill", DENIED, (16, "No Action"))
            }
            Course::Other => match self.case.state {
                State::Blocked => decided("Block", DENIED, (2, "Blocked")),
                State::Withdrawn => decided("Withdraw", DENIED, (16, "No Action")),
                State::Unattended => decided("Leave", DENIED, (16, "No Action")),
                _ => decided("Fail", DENIED, (27, "Error")),
            },
        })
    }

    /// The decision, as the answer to the request that the proposal is.
    fn decision(&self) -> Option<Value> {
        let decided = self.decided()?;
        let record = self.records.iter().find(|r| r.seq == self.case.seq)?;
        let by = by(&record.event);
        let mut event = self.event(record, (6, "Application Activity"), (6003, "API Activity"));
        event.extend(fields(json!({
            "activity_id": 99,
            "activity_name": decided.what,
            "type_uid": 600_399,
            "type_name": "API Activity: Other",
            "action_id": decided.action.0,
            "action": decided.action.1,
            "disposition_id": decided.disposition.0,
            "disposition": decided.disposition.1,
            "status_id": 1,
            "status": "Success",
            "actor": match by {
                Some(by) => json!({"user": user(by)}),
                None => json!({"app_name": PRODUCT}),
            },
            "api": {
                "operation": decided.what.to_lowercase(),
                "service": {"name": PRODUCT},
                "request": {"uid": self.case.id.to_string()},
                "response": {"message": self.case.denial.as_deref().unwrap_or("")},
            },
            "src_endpoint": {"hostname": host(by)},
            "authorizations": self.authorizations(decided.action.1),
            "resources": [{"uid": self.digest().to_string(), "type": "Python code"}],
            "message": format!("{}: a proposal of Python code", decided.what),
        })));
        if let Some(trace) = self.proposed.traceparent.as_deref().and_then(trace_of) {
            event["metadata"]["profiles"] = json!(["security_control", "trace"]);
            event.insert("trace".to_owned(), json!({"uid": trace}));
        }
        Some(Value::Object(event))
    }

    /// The run, once it began.
    fn run(&self, log: &Log) -> Option<Value> {
        let started = self
            .records
            .iter()
            .find(|r| matches!(r.event, LogEvent::Started { .. }))?;
        let granted = self.records.iter().find_map(|r| match &r.event {
            LogEvent::Granted(granted) => Some(&**granted),
            _ => None,
        });
        let finished = self.records.iter().find_map(|r| match &r.event {
            LogEvent::Finished(f) => Some((r, &**f)),
            _ => None,
        });
        let failed = self
            .records
            .iter()
            .find(|r| matches!(r.event, LogEvent::Failed { .. }));
        let record = finished.map(|(r, _)| r).or(failed).unwrap_or(started);
        let code = log.blob(&self.digest()).ok();
        let code = code.and_then(|bytes| String::from_utf8(bytes).ok());
        let mut event = self.event(record, (1, "System Activity"), (1009, "Script Activity"));
        let mut script = json!({
            "type_id": 3,
            "type": "Python",
            "uid": self.digest().to_string(),
            "hashes": [{"algorithm_id": 3, "algorithm": "SHA-256", "value": self.digest().hex()}],
            "script_content": {"value": code.as_deref().unwrap_or("")},
        });
        if code.is_none() {
            script["script_content"]["is_truncated"] = json!(true);
        }
        event.extend(fields(json!({
            "activity_id": 1,
            "activity_name": "Execute",
            "type_uid": 100_901,
            "type_name": "Script Activity: Execute",
            "action_id": ALLOWED.0,
            "action": ALLOWED.1,
            "disposition_id": 1,
            "disposition": "Allowed",
            "start_time": started.ts.as_millisecond(),
            "script": script,
            "actor": {
                "process": {
                    "pid": self.proposed.peer.pid,
                    "name": self.proposed.peer.exe.as_deref().unwrap_or("unknown"),
                    "user": account(&self.proposed.peer),
                },
            },
            "device": {
                "type_id": 0,
                "type": "Unknown",
                "hostname": host(granted.map(|g| &g.by)),
            },
            "authorizations": self.authorizations(ALLOWED.1),
        })));
        event.extend(match (finished, failed) {
            (Some((record, f)), _) => ended(record.ts, f),
            (None, Some(record)) => fields(json!({
                "status_id": 2,
                "status": "Failure",
                "status_detail": "error",
                "end_time": record.ts.as_millisecond(),
            })),
            (None, None) => fields(json!({
                "status_id": 99,
                "status": "Running",
            })),
        });
        Some(Value::Object(event))
    }

    /// What every event has.
    fn event(
        &self,
        record: &Record,
        (category, category_name): (u32, &str),
        (class, class_name): (u32, &str),
    ) -> Map<String, Value> {
        let hash = unseal(record.line.as_bytes()).map(|sealed| sealed.hash.hex());
        let severity = severity(self.verdict());
        fields(json!({
            "time": record.ts.as_millisecond(),
            "category_uid": category,
            "category_name": category_name,
            "class_uid": class,
            "class_name": class_name,
            "severity_id": severity.0,
            "severity": severity.1,
            "metadata": {
                "version": VERSION,
                "product": {"name": PRODUCT, "vendor_name": PRODUCT},
                "profiles": ["security_control"],
                "correlation_uid": self.case.id.to_string(),
                "uid": hash.unwrap_or_default(),
                "sequence": record.seq,
                "log_name": "audit",
                "original_time": record.ts.to_string(),
            },
            "unmapped": self.unmapped(),
        }))
    }

    fn unmapped(&self) -> Value {
        let judged = self.case.judged();
        let claim = self.proposed.agent.as_ref();
        json!({
            "state": self.case.state,
            "verdict": judged.verdict,
            "rules": judged.rules,
            "capabilities": judged.caps,
            "profile": self.case.asked.profile,
            "data": self.case.asked.data,
            "private": self.case.asked.private,
            "edited": self.case.edited.is_some(),
            "drill": self.case.drill.is_some(),
            "viewed": self.case.viewed,
            "votes": self.case.votes,
            "agent": agent(&self.proposed.peer),
            "claims": {
                "agent": claim,
                "title": self.case.asked.title,
                "reason": self.case.asked.reason,
                "traceparent": self.proposed.traceparent,
            },
        })
    }

    /// Of the kept code of what was granted, else of what was proposed.
    fn digest(&self) -> Digest {
        let edited = self.case.edited.as_ref();
        edited.map_or(self.case.asked.digest, |edit| edit.digest)
    }

    /// The verdict on that.
    fn verdict(&self) -> &Verdict {
        let digest = self.digest();
        let mut edits = self.records.iter().rev().filter_map(|r| match &r.event {
            LogEvent::Edited(e) if e.code() == digest => Some(&e.verdict),
            _ => None,
        });
        let edited = self.case.edited.is_some();
        edits
            .next()
            .filter(|_| edited)
            .unwrap_or(&self.proposed.verdict)
    }

    fn authorizations(&self, decision: &str) -> Value {
        let mut policy = json!({"name": self.case.asked.profile, "is_applied": true});
        let granted = self.records.iter().find_map(|r| match &r.event {
            LogEvent::Granted(granted) => Some(granted.policy_sha256.as_str()),
            _ => None,
        });
        let sha256 = granted.unwrap_or(&self.proposed.policy_sha256);
        if !sha256.is_empty() {
            policy["uid"] = json!(format!("sha256:{sha256}"));
        }
        json!([{"decision": decision, "policy": policy}])
    }
}

const PRODUCT: &str = "Countersign";

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// The person of a decision.
fn by(event: &LogEvent) -> Option<&Reviewer> {
    match event {
        LogEvent::Granted(g) => Some(&g.by),
        LogEvent::Denied { by, .. } => Some(by),
        LogEvent::Drilled(d) => d.by.as_ref(),
        _ => None,
    }
}

fn user(by: &Reviewer) -> Value {
    let mut user = json!({"uid": by.uid.to_string(), "type_id": 1, "type": "User"});
    if let Some(login) = &by.login {
        user["name"] = json!(login);
    }
    user
}

/// Whose process asked.
fn account(peer: &Peer) -> Value {
    match &peer.gateway {
        None => json!({"uid": peer.uid.to_string(), "type_id": 0}),
        Some(login) => json!({"name": login, "type_id": 99, "type": "Gateway"}),
    }
}

fn agent(peer: &Peer) -> Value {
    match &peer.gateway {
        None => json!({"uid": peer.uid, "pid": peer.pid}),
        Some(login) => json!({"gateway": login}),
    }
}

fn host(by: Option<&Reviewer>) -> &str {
    let host = by.and_then(|by| by.host.as_deref());
    host.filter(|host| !host.is_empty()).unwrap_or("localhost")
}

/// The worst finding's.
fn severity(verdict: &Verdict) -> (u8, &'static str) {
    let worst = verdict.findings.iter().map(|f| match f.severity {
        Severity::Critical => (5, "Critical"),
        Severity::High => (4, "High"),
        Severity::Medium => (3, "Medium"),
        Severity::Low => (2, "Low"),
        Severity::Info => (1, "Informational"),
    });
    worst.max().unwrap_or(match verdict.verdict {
        VerdictKind::Unanalyzable => (0, "Unknown"),
        _ => (1, "Informational"),
    })
}

fn ended(at: Timestamp, f: &FinishedLog) -> Map<String, Value> {
    let (status_id, status) = match f.state {
        State::Succeeded => (1, "Success"),
        _ => (2, "Failure"),
    };
    let detail = f.limit.map(|limit| format!("limit {}", limit.as_str()));
    let error = f.error.as_ref().map(|e| e.kind.as_str().to_owned());
    fields(json!({
        "status_id": status_id,
        "status": status,
        "status_code": match &f.exit {
            Exit::Code(code) => code.to_string(),
            Exit::Signal(name) => name.clone(),
        },
        "status_detail": detail.or(error).unwrap_or_else(|| f.state.as_str().to_owned()),
        "end_time": at.as_millisecond(),
        "duration": f.duration_ms,
    }))
}
