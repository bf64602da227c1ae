//! Tasks (extension `io.modelcontextprotocol/tasks`) for clients that declare them: the task's id is the
//! proposal's, and each question about it is answered from the socket.
//!
//! Ids belong to the connection that proposed them, or to the idempotency key. So that a task is there after a
//! restart of the adapter, a note in a private folder keeps the key with the params and the session; the same
//! proposal then attaches to itself. A dashboard that does not know the session is another one: nothing is
//! proposed to it again.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use nix::fcntl::OFlag;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResult, CreateTaskResult, DetailedTask, GetTaskResult, JsonObject, Task, TaskPayload,
    TaskStatus,
};
use serde_json::{Value, json};

use crate::model::ProposalId;

use super::answer;
use super::link::{Link, Trouble};
use super::server::Adapter;
use super::tools;

/// How long a task outlives its proposal's deadline: a run, and the time to fetch what it left.
const BEYOND: Duration = Duration::from_secs(3600);
/// Notes older than any proposal may live (`ttl_max_s` is at most a week) are removed.
const NOTES_KEPT: Duration = Duration::from_secs(8 * 24 * 3600);
const POLL_MS: u64 = 2000;
/// Bytes of a note: a proposal's params and little else.
const NOTE_MAX: u64 = 32 * 1024 * 1024;

/// Where the notes are; without a private folder there are none, and a task ends with its adapter.
pub struct Notes {
    folder: Option<PathBuf>,
}

impl Notes {
    pub fn open(folder: &Path) -> Self {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        let private = made
            .and_then(|()| fs::symlink_metadata(folder))
            .is_ok_and(|at| at.is_dir() && at.permissions().mode() & 0o077 == 0);
        let notes = Self {
            folder: private.then(|| folder.to_owned()),
        };
        notes.forget_old();
        notes
    }

    fn forget_old(&self) {
        let entries = self
            .folder
            .iter()
            .flat_map(fs::read_dir)
            .flatten()
            .flatten();
        for entry in entries {
            let made = entry.metadata().and_then(|at| at.modified());
            let old = made.is_ok_and(|at| {
                SystemTime::now()
                    .duration_since(at)
                    .is_ok_and(|age| age > NOTES_KEPT)
            });
            if old {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn path(&self, id: &str) -> Option<PathBuf> {
        // Only what is an id becomes a file's name.
        let id: ProposalId = id.parse().ok()?;
        Some(self.folder.as_ref()?.join(format!("{id}.json")))
    }

    fn write(&self, id: &str, note: &Value) -> io::Result<()> {
        let Some(path) = self.path(id) else {
            return Ok(());
        };
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        file.write_all(note.to_string().as_bytes())
    }

    fn read(&self, id: &str) -> Option<Value> {
        // What is no file of ours, such as a pipe that nobody writes to, must not be waited for.
        let flags = (OFlag::O_NONBLOCK | OFlag::O_NOFOLLOW).bits();
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(self.path(id)?)
            .ok()?;
        let is_file = file.metadata().is_ok_and(|at| at.is_file());
        let mut text = Vec::new();
        let mut note = file.take(NOTE_MAX);
        let read = is_file.then(|| note.read_to_end(&mut text))?;
        read.ok()?;
        serde_json::from_slice(&text).ok()
    }

    fn remove(&self, id: &str) {
        if let Some(path) = self.path(id) {
            let _ = fs::remove_file(path);
        }
    }
}

/// The key under which a task's proposal stays when its connection closes.
pub fn key() -> String {
    format!("mcp-{}", ProposalId::new())
}

/// Notes how to attach to the proposal again.
pub async fn keep(adapter: &Adapter, id: &str, params: &Value) {
    let session = adapter.link.session().await;
    let note = json!({"session": session, "params": params});
    // Without the note the task ends with the adapter, which its client hears then.
    let _ = adapter.notes.write(id, &note);
}

/// Attaches to a proposal of an earlier connection. Whether it is there now.
pub async fn attach(link: &Link, notes: &Notes, id: &str) -> bool {
    let Some(note) = notes.read(id) else {
        return false;
    };
    let Some(session) = note["session"].as_str() else {
        return false;
    };
    // Only the dashboard that has the proposal knows the session.
    match link.resume(session).await {
        Ok(true) => {}
        Ok(false) => {
            notes.remove(id);
            return false;
        }
        Err(_) => return false,
    }
    let Ok(proposed) = link.call("propose", note["params"].clone()).await else {
        return false;
    };
    if proposed["id"] == id {
        return true;
    }
    // It had forgotten the key, and this is a new proposal that nobody asked for.
    let _ = link.call("withdraw", json!({"id": proposed["id"]})).await;
    notes.remove(id);
    false
}

/// The first answer to a call that becomes a task.
pub fn created(id: &str, expires_at: Option<&str>) -> CreateTaskResult {
    CreateTaskResult::new(task(id, "pending", expires_at))
}

fn task(id: &str, state: &str, expires_at: Option<&str>) -> Task {
    let made = id.parse::<ProposalId>().ok().and_then(|id| id.made_at());
    let now = jiff::Timestamp::now();
    let made = made.unwrap_or(now);
    let message = match state {
        "pending" => "waiting for a person's decision",
        other => other,
    };
    let mut task = Task::new(id, TaskStatus::Working, made.to_string(), now.to_string())
        .with_status_message(message)
        .with_poll_interval_ms(POLL_MS);
    let expires: Option<jiff::Timestamp> = expires_at.and_then(|at| at.parse().ok());
    if let Some(expires) = expires {
        let lives = expires.as_millisecond() - made.as_millisecond();
        task = task.with_ttl_ms(lives.max(0) as u64 + BEYOND.as_millis() as u64);
    }
    task
}

/// Answers `tasks/get`.
pub async fn get(adapter: &Adapter, id: &str) -> Result<GetTaskResult, ErrorData> {
    let status = with_attaching(adapter, "status", json!({"id": id}), id).await?;
    let expires_at = status["expires_at"].as_str();
    let answer = with_attaching(adapter, "wait", json!({"id": id, "timeout_s": 0}), id).await?;
    let state = answer["state"].as_str().unwrap_or("pending").to_owned();
    let payload = match (answer.get("message").is_some(), state.as_str()) {
        (false, _) => TaskPayload::Working,
        (true, "withdrawn") => TaskPayload::Cancelled,
        (true, _) => TaskPayload::Completed {
            result: object(&tools::outcome(adapter, id, &answer).await),
        },
    };
    let task = task(id, &state, expires_at);
    Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
}

/// Answers `tasks/cancel`: withdraws what is pending.
pub async fn cancel(adapter: &Adapter, id: &str) -> Result<(), ErrorData> {
    with_attaching(adapter, "withdraw", json!({"id": id}), id)
        .await
        .map(drop)
}

pub async fn with_attaching(
    adapter: &Adapter,
    method: &'static str,
    params: Value,
    id: &str,
) -> Result<Value, ErrorData> {
    let mut answer = adapter.link.call(method, params.clone()).await;
    let unknown = answer.as_ref().is_err_and(Trouble::is_unknown_id);
    if unknown && attach(&adapter.link, &adapter.notes, id).await {
        answer = adapter.link.call(method, params).await;
    }
    answer.map_err(|trouble| {
        let said = answer::trouble_text(&trouble);
        match trouble.is_unknown_id() {
            true => ErrorData::invalid_params(format!("no such task: {said}"), None),
            false => ErrorData::internal_error(said, None),
        }
    })
}

pub fn object(result: &CallToolResult) -> JsonObject {
    match serde_json::to_value(result) {
        Ok(Value::Object(object)) => object,
        _ => JsonObject::new(),
    }
}
