//! What each tool does: arguments in, calls on the socket, an answer out.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolResult, ContentBlock, CreateTaskResult, Implementation, JsonObject, ResourceContents,
};
use rmcp::service::RequestContext;
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::model::{Artifact, Verdict, VerdictKind};

use super::answer;
use super::arguments::Arguments;
use super::files;
use super::schemas::HOLD_MAX;
use super::server::Adapter;
use super::tasks;
use super::told::{self, Fence, on_one_line};
use super::waiting::{Held, hold};

/// Bytes of text that one call of `read_artifact` returns.
const PART_MAX: usize = 100_000;
/// Bytes of a claim about the agent that the socket takes, with room to spare.
const CLAIM_MAX: usize = 100;

/// An argument that is wrong, in words for the model; or an answer.
type Answer = Result<CallToolResult, String>;

/// What `run_python` answers with.
pub enum Began {
    Ended(CallToolResult),
    /// The client takes tasks, and a person has not decided.
    Task(CreateTaskResult),
}

/// `as_task`: the call itself asks for a task, as the older revision does.
pub async fn run_python(
    adapter: &Adapter,
    given: Option<JsonObject>,
    context: &RequestContext<RoleServer>,
    as_task: bool,
) -> Result<Began, String> {
    let known = [
        "code", "title", "reason", "profile", "inputs", "ttl_s", "wait_s",
    ];
    let mut arguments = Arguments::new(&known, given)?;
    let mut params = json!({"code": arguments.needed("code")?});
    for name in ["title", "reason"] {
        if let Some(text) = arguments.text(name)? {
            params[name] = text.into();
        }
    }
    if let Some(profile) = arguments.text("profile")?.or(adapter.profile.clone()) {
        params["profile"] = profile.into();
    }
    if let Some(inputs) = arguments.object("inputs")?.filter(|map| !map.is_empty()) {
        params["inputs"] = inputs.into();
    }
    if let Some(ttl) = arguments.whole("ttl_s", 1, u64::MAX)? {
        params["ttl_s"] = ttl.into();
    }
    let wait_s = arguments.whole("wait_s", 0, HOLD_MAX)?;
    if let Some(client) = context.client_info() {
        params["agent"] = claim(&client);
    }
    let takes_tasks = context.client_capabilities();
    let takes_tasks = as_task || takes_tasks.is_some_and(|client| client.supports_tasks());
    if takes_tasks {
        params["idempotency_key"] = tasks::key().into();
    }
    let place = match adapter.bound.place(&adapter.link).await {
        Ok(place) => place,
        Err(trouble) => return Ok(Began::Ended(answer::trouble(&trouble))),
    };
    let proposed = match adapter.link.call("propose", params.clone()).await {
        Ok(proposed) => proposed,
        Err(trouble) => return Ok(Began::Ended(answer::trouble(&trouble))),
    };
    let Some(id) = proposed["id"].as_str() else {
        return Err("the dashboard answered a proposal without an id".to_owned());
    };
    if proposed["state"] == "pending" {
        adapter.bound.waits(id);
    }
    drop(place);
    if takes_tasks && proposed["state"] == "pending" {
        tasks::keep(adapter, id, &params).await;
        let expires_at = proposed["expires_at"].as_str();
        return Ok(Began::Task(tasks::created(id, expires_at)));
    }
    Ok(Began::Ended(wait(adapter, id, wait_s, context).await))
}

pub async fn wait_for_run(
    adapter: &Adapter,
    given: Option<JsonObject>,
    context: &RequestContext<RoleServer>,
) -> Answer {
    let mut arguments = Arguments::new(&["id", "wait_s"], given)?;
    let id = arguments.needed("id")?;
    let wait_s = arguments.whole("wait_s", 0, HOLD_MAX)?;
    Ok(wait(adapter, &id, wait_s, context).await)
}

async fn wait(
    adapter: &Adapter,
    id: &str,
    wait_s: Option<u64>,
    context: &RequestContext<RoleServer>,
) -> CallToolResult {
    let gone = adapter.gone.clone();
    match hold(&adapter.link, id, wait_s, context, gone).await {
        Held::Outcome(value) => {
            adapter.bound.ended(id);
            outcome(adapter, id, &value).await
        }
        Held::Still(state, why) => answer::waiting(id, &state, why.as_deref()),
        // Nobody reads this.
        Held::Abandoned => answer::error("the call was cancelled; what was pending is withdrawn"),
        Held::Trouble(trouble) => answer::trouble(&trouble),
    }
}

/// The outcome with its files.
pub async fn outcome(adapter: &Adapter, id: &str, value: &Value) -> CallToolResult {
    match answer::outcome(value) {
        Err(why) => answer::error(why),
        Ok((mut result, outcome)) => {
            let run = outcome.run.as_ref();
            let left: &[Artifact] = run.map_or(&[], |run| &run.artifacts);
            let shown = files::shown(&adapter.link, id, left).await;
            result.content.extend(shown);
            adapter.remember(id, left);
            result
        }
    }
}

pub async fn check_python(adapter: &Adapter, given: Option<JsonObject>) -> Answer {
    let mut arguments = Arguments::new(&["code", "profile", "inputs"], given)?;
    let mut params = json!({"code": arguments.needed("code")?});
    // Without this argument the inputs are unknown, and names that only they bind are not judged.
    if let Some(inputs) = arguments.object("inputs")? {
        params["inputs"] = inputs.into();
    }
    if let Some(profile) = arguments.text("profile")?.or(adapter.profile.clone()) {
        params["profile"] = profile.into();
    }
    let verdict = match adapter.link.call("check", params).await {
        Ok(verdict) => verdict,
        Err(trouble) => return Ok(answer::trouble(&trouble)),
    };
    let verdict = Verdict::deserialize(&verdict)
        .map_err(|e| format!("the dashboard's answer is no verdict: {e}"))?;
    let kind = verdict.verdict;
    let means = match kind {
        VerdictKind::Clear => "no rule matched; a person still decides",
        VerdictKind::Flagged => "a person may grant it after a stronger confirmation",
        VerdictKind::Blocked => "nobody can grant it; change what blocks",
        VerdictKind::Unanalyzable => "it cannot be read, so nobody can grant it",
    };
    let text = format!("{kind}: {means}\n{}", told::findings(&verdict));
    let content = json!({"verdict": kind.as_str(), "findings": answer::findings(&verdict)});
    Ok(answer::structured(
        text.trim_end().to_owned(),
        content,
        Vec::new(),
    ))
}

pub async fn list_datasets(adapter: &Adapter, given: Option<JsonObject>) -> Answer {
    Arguments::new(&[], given)?;
    let mut datasets = match adapter.link.call("datasets", json!({})).await {
        Ok(datasets) => datasets,
        Err(trouble) => return Ok(answer::trouble(&trouble)),
    };
    let mut text = String::new();
    for dataset in datasets.as_array_mut().into_iter().flatten() {
        // What is not known is left out: the schema has no null.
        if let Some(fields) = dataset.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        let column = |c: &Value| {
            let (name, dtype) = (c["name"].as_str(), c["dtype"].as_str());
            format!("{} {}", name.unwrap_or_default(), dtype.unwrap_or_default())
        };
        let columns: Vec<String> = dataset["columns"]
            .as_array()
            .into_iter()
            .flatten()
            .map(column)
            .collect();
        let name = dataset["name"].as_str().unwrap_or_default();
        let rows = dataset["rows"]
            .as_u64()
            .map_or_else(String::new, |n| format!(", {n} rows"));
        let (format, kind) = (dataset["format"].as_str(), dataset["sensitivity"].as_str());
        let (format, kind) = (format.unwrap_or_default(), kind.unwrap_or_default());
        text.push_str(&format!(
            "{name} ({format}{rows}, {kind}): {}\n",
            on_one_line(&columns.join(", "))
        ));
    }
    match text.as_str() {
        "" => text.push_str("No data sets are configured."),
        _ => text.push_str(
            "Name one as an input of run_python: {\"inputs\": {\"df\": {\"dataset\": \"NAME\"}}}",
        ),
    }
    Ok(answer::structured(
        text,
        json!({"datasets": datasets}),
        Vec::new(),
    ))
}

pub async fn proposal_status(adapter: &Adapter, given: Option<JsonObject>) -> Answer {
    let mut arguments = Arguments::new(&["id"], given)?;
    let id = arguments.needed("id")?;
    let status = match adapter.link.call("status", json!({"id": id})).await {
        Ok(status) => status,
        Err(trouble) => return Ok(answer::trouble(&trouble)),
    };
    let state = status["state"].as_str().unwrap_or_default();
    let mut content = json!({"id": id, "state": state});
    let mut text = format!("Proposal {id} is {state}.");
    if let Some(expires) = status["expires_at"].as_str() {
        content["expires_at"] = expires.into();
        if state == "pending" {
            text.push_str(&format!(" It expires undecided at {expires}."));
        }
    }
    if let Some(why) = status["hopeless"].as_str() {
        content["hopeless"] = why.into();
        text.push_str(&format!(" {why}"));
    }
    Ok(answer::structured(text, content, Vec::new()))
}

pub async fn read_artifact(adapter: &Adapter, given: Option<JsonObject>) -> Answer {
    let mut arguments = Arguments::new(&["id", "name", "offset"], given)?;
    let id = arguments.needed("id")?;
    let name = arguments.needed("name")?;
    let offset = arguments.whole("offset", 0, u64::MAX)?.unwrap_or(0);
    let (mut bytes, mut next) = match files::part(&adapter.link, &id, &name, offset).await {
        Ok(part) => part,
        Err(trouble) => return Ok(answer::trouble(&trouble)),
    };
    let mut content = json!({"id": id, "name": name, "offset": offset});
    if offset == 0 && files::is_png(&bytes) {
        if next.is_some() {
            bytes = match files::whole(&adapter.link, &id, &name).await {
                Ok(whole) => whole,
                Err(trouble) => return Ok(answer::trouble(&trouble)),
            };
        }
        content["bytes"] = bytes.len().into();
        let text = format!("{name}: a picture of {} bytes", bytes.len());
        return Ok(answer::structured(
            text,
            content,
            vec![files::image(&bytes)],
        ));
    }
    if bytes.len() > PART_MAX {
        bytes.truncate(PART_MAX);
        next = Some(offset + PART_MAX as u64);
    }
    let part = cut_text(&mut bytes, &mut next, offset);
    let (begins, ends) = (offset, offset + bytes.len() as u64);
    content["bytes"] = bytes.len().into();
    let more = match next {
        Some(next) => {
            content["next_offset"] = next.into();
            format!(" There is more: call read_artifact again with offset {next}.")
        }
        None => String::new(),
    };
    let (words, block) = match part {
        Some(text) => {
            let fence = Fence::new();
            let words = format!("{name}, bytes {begins} to {ends}.{more}\n{}", fence.words());
            (words, fence.around("content", &text, ""))
        }
        None => {
            let contents: ResourceContents = files::contents(files::uri(&id, &name), bytes, None);
            let words = format!("{name}, bytes {begins} to {ends}, which are no text.{more}");
            (words, ContentBlock::resource(contents))
        }
    };
    Ok(answer::structured(words, content, vec![block]))
}

/// The part as text, without a character that its end cuts in two; `None` if it is no text.
fn cut_text(bytes: &mut Vec<u8>, next: &mut Option<u64>, offset: u64) -> Option<String> {
    if let Err(e) = std::str::from_utf8(bytes) {
        let cut_short = e.error_len().is_none() && next.is_some() && e.valid_up_to() > 0;
        if !cut_short {
            return None;
        }
        bytes.truncate(e.valid_up_to());
        *next = Some(offset + bytes.len() as u64);
    }
    String::from_utf8(bytes.clone()).ok()
}

/// What the client says about itself, cut to what the socket takes.
fn claim(client: &Implementation) -> Value {
    let cut = |text: &str| text[..text.floor_char_boundary(CLAIM_MAX)].to_owned();
    let name = match client.name.as_str() {
        "" => "an MCP client",
        name => name,
    };
    json!({"name": cut(name), "version": cut(&client.version)})
}
