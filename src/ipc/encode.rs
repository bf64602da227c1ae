//! Answers and notifications as lines of at most 1 MiB.
//!
//! A frame carries at most 200 kB of each output stream (protocol.md §4). If escapes or findings
//! would still make it too long, more is cut until it fits, so that no answer is lost for its size.
//! Every cut is marked.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::broker::{FRAME_STDOUT, Note, Reply, RpcError};

use super::envelope::Id;
use super::frame::FRAME_MAX;

/// Bytes of stdout, and of stderr, in one frame.
const OUTPUT_MAX: usize = FRAME_STDOUT;
/// Bytes of text in one `output` notification. Escapes make it at most six times longer, which
/// still fits a frame.
const NOTE_TEXT_MAX: usize = 128 * 1024;
/// Bytes of an error's message.
const MESSAGE_MAX: usize = 4096;

/// The answer to one call, including its LF.
pub(super) fn response(id: &Id, result: &Result<Reply, RpcError>) -> Vec<u8> {
    match result {
        Ok(reply) => success(id, reply),
        Err(error) => failure(id, error),
    }
}

fn success(id: &Id, reply: &Reply) -> Vec<u8> {
    let heavy = match reply {
        Reply::Outcome(outcome) => outcome
            .run
            .as_ref()
            .is_some_and(|run| run.stdout.len().max(run.stderr.len()) > OUTPUT_MAX),
        _ => false,
    };
    if !heavy && let Some(line) = line(&Answer::result(id, reply)) {
        return line;
    }
    let Ok(mut value) = serde_json::to_value(reply) else {
        return failure(id, &internal("the answer could not be written"));
    };
    for budget in [OUTPUT_MAX, 100_000, 50_000, 10_000, 0] {
        cut_output(&mut value, budget);
        if let Some(line) = line(&Answer::result(id, &value)) {
            return line;
        }
    }
    for budget in [1_000, 100, 10, 0] {
        cut_lists(&mut value, budget);
        if let Some(line) = line(&Answer::result(id, &value)) {
            return line;
        }
    }
    failure(id, &internal("the answer is larger than a frame"))
}

fn failure(id: &Id, error: &RpcError) -> Vec<u8> {
    if error.message.len() <= MESSAGE_MAX
        && let Some(line) = line(&Answer::error(id, error))
    {
        return line;
    }
    let mut message = error.message.clone();
    message.truncate(message.floor_char_boundary(MESSAGE_MAX));
    let short = RpcError::new(error.code, message);
    line(&Answer::error(id, &short)).unwrap_or_default()
}

fn internal(message: &str) -> RpcError {
    RpcError::new(RpcError::INTERNAL, message)
}

/// A notification as one frame, or as several if its text is long.
pub(super) fn note(note: &Note) -> Vec<Vec<u8>> {
    let Note::Output { id, stream, text } = note else {
        return line(&Notification::of(note)).into_iter().collect();
    };
    let mut rest = text.as_str();
    let mut frames = Vec::new();
    while !rest.is_empty() {
        let (head, tail) = rest.split_at(rest.floor_char_boundary(NOTE_TEXT_MAX));
        rest = tail;
        let part = Note::Output {
            id: *id,
            stream: *stream,
            text: head.to_owned(),
        };
        frames.extend(line(&Notification::of(&part)));
    }
    frames
}

/// The line, or `None` if it would be longer than a frame.
fn line<T: Serialize>(message: &T) -> Option<Vec<u8>> {
    let mut line = serde_json::to_vec(message).ok()?;
    if line.len() > FRAME_MAX {
        return None;
    }
    line.push(b'\n');
    Some(line)
}

#[derive(Serialize)]
struct Answer<'a, T> {
    jsonrpc: &'static str,
    id: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a RpcError>,
}

impl<'a, T> Answer<'a, T> {
    fn result(id: &Id, result: &'a T) -> Self {
        Self {
            jsonrpc: "2.0",
            id: raw(id),
            result: Some(result),
            error: None,
        }
    }
}

impl<'a> Answer<'a, ()> {
    fn error(id: &Id, error: &'a RpcError) -> Self {
        Self {
            jsonrpc: "2.0",
            id: raw(id),
            result: None,
            error: Some(error),
        }
    }
}

fn raw(id: &Id) -> Option<Box<RawValue>> {
    RawValue::from_string(id.as_json().to_owned()).ok()
}

#[derive(Serialize)]
struct Notification<'a> {
    jsonrpc: &'static str,
    #[serde(flatten)]
    note: &'a Note,
}

impl<'a> Notification<'a> {
    fn of(note: &'a Note) -> Self {
        Self {
            jsonrpc: "2.0",
            note,
        }
    }
}

/// Cuts both streams of an outcome to `budget` bytes, at a character boundary.
fn cut_output(value: &mut Value, budget: usize) {
    let Some(run) = value.get_mut("run").and_then(Value::as_object_mut) else {
        return;
    };
    for stream in ["stdout", "stderr"] {
        let Some(Value::String(text)) = run.get_mut(stream) else {
            continue;
        };
        if text.len() > budget {
            text.truncate(text.floor_char_boundary(budget));
            run.insert(format!("{stream}_truncated"), Value::Bool(true));
        }
    }
}

/// Shortens the rest: the profile's result is dropped, and long lists are cut and say by how much.
fn cut_lists(value: &mut Value, budget: usize) {
    if let Some(run) = value.get_mut("run").and_then(Value::as_object_mut)
        && run.get("result").is_some_and(|r| !r.is_null())
    {
        run.insert("result".to_owned(), Value::Null);
        run.insert("result_left_out".to_owned(), json!("larger than a frame"));
    }
    // A verdict is the whole answer of `check`, and a field of every other answer.
    if value.get("findings").is_some() {
        cut_verdict(value, budget);
    } else if let Some(verdict) = value.get_mut("verdict") {
        cut_verdict(verdict, budget);
    }
    if budget == 0
        && let Some(decision) = value.get_mut("decision").and_then(Value::as_object_mut)
    {
        decision.remove("code");
    }
}

fn cut_verdict(verdict: &mut Value, budget: usize) {
    let Some(verdict) = verdict.as_object_mut() else {
        return;
    };
    cut_list(verdict, "findings", "findings_left_out", budget);
    if let Some(Value::Array(uses)) = verdict.get_mut("capabilities") {
        for one in uses.iter_mut().filter_map(Value::as_object_mut) {
            cut_list(one, "lines", "lines_left_out", budget);
        }
    }
    cut_list(verdict, "capabilities", "capabilities_left_out", budget);
}

fn cut_list(object: &mut serde_json::Map<String, Value>, key: &str, said: &str, budget: usize) {
    let Some(Value::Array(list)) = object.get_mut(key) else {
        return;
    };
    if list.len() <= budget {
        return;
    }
    let gone = list.len() - budget;
    list.truncate(budget);
    let before = object.get(said).and_then(Value::as_u64).unwrap_or(0);
    object.insert(said.to_owned(), json!(before + gone as u64));
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
