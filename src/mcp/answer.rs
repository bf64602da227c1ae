//! Outcomes as tool results: structured content for programs, exact, and [`told`] for models.

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use crate::model::{Outcome, State, Verdict};

use super::files;
use super::link::Trouble;
use super::told;

/// An answer that is an error for the model to read.
pub fn error(text: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// Why the socket gave no result, and what to do.
pub fn trouble(trouble: &Trouble) -> CallToolResult {
    error(trouble_text(trouble))
}

pub fn trouble_text(trouble: &Trouble) -> String {
    let mut text = trouble.to_string();
    match trouble {
        Trouble::Refused { data, .. } if data["closing"] == true => text.push_str(
            "\nNothing was refused. Once a person has started a dashboard again (`countersign`), propose it again.",
        ),
        Trouble::Refused { data, .. } if data["doubted"] == true => {
            text.push_str("\nAsking this host again changes nothing. Tell the person for whom you work.");
        }
        Trouble::Refused { data, .. } if !data.is_null() => text.push_str(&format!("\n{data}")),
        Trouble::Refused { .. } => {}
        Trouble::Down(_) => text.push_str(
            "\nNothing was refused. A person must start the dashboard in a terminal (`countersign`); then call the tool \
             again.",
        ),
        Trouble::Lost => text.push_str(
            "\nNothing was refused, and what was pending is withdrawn. If the dashboard is gone, a person must start it in a \
             terminal (`countersign`); then propose again.",
        ),
        Trouble::Away(_) => {}
        Trouble::TooLarge(_) => text.push_str(
            "\nNothing was proposed. Send less: name a data set as an input instead of writing its rows into the call.",
        ),
    }
    if trouble.is_unknown_id() {
        text.push_str(
            "\nAn id belongs to the dashboard and to the connection that proposed it. If either was restarted, what was \
             pending is withdrawn, and files of earlier runs can no longer be read: propose it again with run_python.",
        );
    }
    text
}

/// An answer whose text and structured content are both given.
pub fn structured(text: String, content: Value, more: Vec<ContentBlock>) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.content.extend(more);
    result.structured_content = Some(content);
    result
}

/// A proposal that has no outcome yet.
///
/// `hopeless`: why no votes can grant it.
pub fn waiting(id: &str, state: &str, hopeless: Option<&str>) -> CallToolResult {
    let message = match (state, hopeless) {
        ("pending", Some(why)) => return in_vain(id, state, why),
        ("pending", None) => "It waits for a person's decision; not refused; call wait_for_run.",
        (_, _) => "A person granted it, and it has not ended; call wait_for_run.",
    };
    let text = format!("Proposal {id} is {state}. {message} Do not propose it again.");
    structured(
        text,
        json!({"state": state, "id": id, "message": message}),
        Vec::new(),
    )
}

/// It waits, and nobody can grant it.
fn in_vain(id: &str, state: &str, why: &str) -> CallToolResult {
    let text = format!(
        "Proposal {id} is {state}. {why} A person may still deny it; do not wait for it, and do not propose the same again."
    );
    let content = json!({"state": state, "id": id, "message": why});
    structured(text, content, Vec::new())
}

/// An outcome without its files; [`files::shown`] adds them.
pub fn outcome(value: &Value) -> Result<(CallToolResult, Outcome), String> {
    let outcome = Outcome::deserialize(value)
        .map_err(|e| format!("the dashboard's answer is no outcome: {e}"))?;
    let mut result = CallToolResult::success(told::blocks(&outcome));
    result.structured_content = Some(content(&outcome, value));
    result.is_error = Some(outcome.state != State::Succeeded);
    Ok((result, outcome))
}

/// `value` is the outcome as it arrived.
fn content(outcome: &Outcome, value: &Value) -> Value {
    let mut fields = Map::new();
    for name in ["state", "id", "message", "retry"] {
        fields.insert(name.to_owned(), value[name].clone());
    }
    if let Some(decision) = &outcome.decision {
        if let Some(reason) = &decision.reason {
            fields.insert("reason".to_owned(), reason.as_str().into());
        }
        if decision.edited {
            fields.insert("edited".to_owned(), true.into());
            let diff = decision.diff.as_deref().unwrap_or_default();
            fields.insert("diff".to_owned(), diff.into());
        }
    }
    if let Some(verdict) = outcome.verdict.as_ref().filter(|v| !v.findings.is_empty()) {
        fields.insert("findings".to_owned(), findings(verdict));
    }
    if let Some(run) = &outcome.run {
        let cut = run.stdout_truncated || run.stderr_truncated;
        fields.insert("stdout".to_owned(), run.stdout.as_str().into());
        fields.insert("stderr".to_owned(), run.stderr.as_str().into());
        fields.insert("truncated".to_owned(), cut.into());
        if !run.result.is_null() {
            fields.insert("result".to_owned(), run.result.clone());
        }
        if run.error.is_some() {
            // As it arrived: its optional fields are left out, not null.
            fields.insert("error".to_owned(), value["run"]["error"].clone());
        }
        if let Some(limit) = run.limit {
            fields.insert("limit".to_owned(), limit.as_str().into());
        }
        let id = outcome.id.to_string();
        let list: Vec<Value> = run.artifacts.iter().map(|file| {
            json!({"name": file.name, "media_type": file.media_type, "bytes": file.bytes, "sha256": file.sha256,
                   "uri": files::uri(&id, &file.name)})
        }).collect();
        fields.insert("files".to_owned(), list.into());
    }
    fields.into()
}

pub fn findings(verdict: &Verdict) -> Value {
    let finding = verdict.findings.iter().map(|f| {
        json!({"rule": f.rule, "action": f.action.as_str(), "message": f.message, "hint": f.hint, "line": f.line})
    });
    finding.collect()
}
