//! Outcomes as tool results: structured content for programs, and text that tells a model what happened and
//! whether asking again makes sense.

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use crate::model::{Outcome, Retry, Run, State, Verdict};

use super::files;
use super::link::Trouble;

/// Bytes of stdout, and of stderr, in the text for the model. The structured content has more.
const TEXT_MAX: usize = 60_000;
/// Bytes of a result that the text repeats if nothing was printed.
const RESULT_MAX: usize = 20_000;

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
        Trouble::Refused { data, .. } if !data.is_null() => text.push_str(&format!("\n{data}")),
        Trouble::Refused { .. } => {}
        Trouble::Down(_) => text.push_str(
            "\nNothing was refused. A person must start the dashboard in a terminal (`countersign`); then call the tool \
             again.",
        ),
        Trouble::Lost => text.push_str(
            "\nNothing was refused. What was pending is withdrawn; once a dashboard is open, propose it again.",
        ),
        Trouble::TooLarge(_) => text.push_str(
            "\nNothing was proposed. Send less: name a data set as an input instead of writing its rows into the call.",
        ),
    }
    if trouble.is_unknown_id() {
        text.push_str(
            "\nAn id belongs to the dashboard and to the connection that proposed it. If either was restarted, what was \
             pending is withdrawn: propose it again with run_python.",
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
pub fn waiting(id: &str, state: &str) -> CallToolResult {
    let message = match state {
        "pending" => "It waits for a person's decision; not refused; call wait_for_run.",
        _ => "A person granted it, and it has not ended; call wait_for_run.",
    };
    let text = format!("Proposal {id} is {state}. {message} Do not propose it again.");
    structured(
        text,
        json!({"state": state, "id": id, "message": message}),
        Vec::new(),
    )
}

/// An outcome without its files; [`files::shown`] adds them.
pub fn outcome(value: &Value) -> Result<(CallToolResult, Outcome), String> {
    let outcome = Outcome::deserialize(value)
        .map_err(|e| format!("the dashboard's answer is no outcome: {e}"))?;
    let mut result = structured(text(&outcome), content(&outcome, value), Vec::new());
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

/// One line for each finding.
pub fn findings_text(verdict: &Verdict) -> String {
    let line = |f: &crate::model::Finding| {
        let hint = match f.hint.as_str() {
            "" => String::new(),
            hint => format!("; {hint}"),
        };
        let action = f.action.as_str();
        format!("line {} {} {action}: {}{hint}\n", f.line, f.rule, f.message)
    };
    verdict.findings.iter().map(line).collect()
}

fn text(outcome: &Outcome) -> String {
    let mut text = String::new();
    if let Some(decision) = outcome.decision.as_ref().filter(|d| d.edited) {
        let diff = decision.diff.as_deref().unwrap_or_default();
        text.push_str(&format!(
            "A person changed the code before granting it:\n{diff}\n"
        ));
    }
    match &outcome.run {
        Some(run) => ran(&mut text, outcome, run),
        None => did_not_run(&mut text, outcome),
    }
    text.truncate(text.trim_end().len());
    text
}

fn ran(text: &mut String, outcome: &Outcome, run: &Run) {
    if outcome.state != State::Succeeded {
        text.push_str(&format!(
            "It ran and {}: {}\n",
            outcome.state, outcome.message
        ));
        if let Some(error) = &run.error {
            let name = error.exception.as_deref();
            let name = name.map_or_else(String::new, |name| format!("{name}: "));
            let line = error
                .line
                .map_or_else(String::new, |n| format!(" (line {n})"));
            let kind = error.kind.as_str();
            text.push_str(&format!("{kind}: {name}{}{line}\n", error.message));
        }
        text.push_str(advice(outcome.retry));
        text.push('\n');
    }
    match (run.stdout.is_empty(), run.result.is_null()) {
        (false, _) => {
            text.push_str(cut(&run.stdout, TEXT_MAX));
            line_end(text);
            if run.stdout_truncated || run.stdout.len() > TEXT_MAX {
                let bytes = run.stdout_bytes;
                text.push_str(&format!(
                    "[stdout is cut here; the run wrote {bytes} bytes]\n"
                ));
            }
        }
        (true, false) => {
            let result = run.result.to_string();
            text.push_str(&format!(
                "It printed nothing. Its result: {}\n",
                cut(&result, RESULT_MAX)
            ));
        }
        (true, true) if outcome.state == State::Succeeded => {
            text.push_str("It ran and printed nothing.\n");
        }
        (true, true) => {}
    }
    if !run.stderr.is_empty() {
        text.push_str(&format!("stderr:\n{}", cut(&run.stderr, TEXT_MAX)));
        line_end(text);
    }
    for note in run.notes_on_files() {
        text.push_str(&format!("note: {note}\n"));
    }
    if !run.artifacts.is_empty() {
        let each = |file: &crate::model::Artifact| {
            format!("{} ({}, {} bytes)", file.name, file.media_type, file.bytes)
        };
        let files: Vec<String> = run.artifacts.iter().map(each).collect();
        let id = outcome.id;
        text.push_str(&format!(
            "files: {}; read_artifact reads them (id {id})\n",
            files.join(", ")
        ));
    }
}

fn did_not_run(text: &mut String, outcome: &Outcome) {
    text.push_str(&format!(
        "It did not run: {}. {}\n",
        outcome.state, outcome.message
    ));
    let reason = outcome.decision.as_ref().and_then(|d| d.reason.as_deref());
    if let Some(reason) = reason.filter(|reason| !outcome.message.contains(reason)) {
        text.push_str(&format!("The reason: {reason}\n"));
    }
    if let Some(verdict) = outcome
        .verdict
        .as_ref()
        .filter(|_| outcome.state == State::Blocked)
    {
        text.push_str(&findings_text(verdict));
    }
    text.push_str(advice(outcome.retry));
}

const fn advice(retry: Retry) -> &'static str {
    match retry {
        Retry::Same => "The same proposal may be made again.",
        Retry::Changed => "Asking again makes sense only with changed code.",
        Retry::No => "Asking again makes no sense.",
    }
}

fn line_end(text: &mut String) {
    if !text.ends_with('\n') {
        text.push('\n');
    }
}

/// At most so many bytes, cut between characters.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
