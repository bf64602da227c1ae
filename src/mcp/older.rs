//! Tasks as revision 2025-11-25 has them: `params.task` of a call, `tasks/result`, and other shapes of the same
//! answers. `rmcp` knows those of the extension alone, so [`super::front`] gives these requests names of their own.
//!
//! The task is the same one ([`super::tasks`]): its id is the proposal's.

use rmcp::model::{CallToolResult, JsonObject};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};

use crate::model::TOOLS;

use super::server::Adapter;
use super::tasks;
use super::tools::{self, Began};

pub const REVISION: &str = "2025-11-25";
/// No method of an agent begins so: the front refuses it.
pub const PREFIX: &str = "older/";
/// Seconds of one question for an outcome.
const STEP: u64 = 25;

/// The name under which a request of an older client goes on, if it is about a task.
pub fn renamed(method: &str, params: &Map<String, Value>) -> Option<String> {
    let is_ours = match method {
        "tools/call" => params.get("task").is_some_and(Value::is_object),
        "tasks/get" | "tasks/result" | "tasks/cancel" => true,
        _ => false,
    };
    is_ours.then(|| format!("{PREFIX}{method}"))
}

/// Says in what is sent to an older client that there are tasks.
pub fn describe(message: &mut Value) {
    let Some(result) = message.get_mut("result") else {
        return;
    };
    if result["protocolVersion"] == REVISION {
        result["capabilities"]["tasks"] =
            json!({"cancel": {}, "requests": {"tools": {"call": {}}}});
    }
    let tools = result.get_mut("tools").and_then(Value::as_array_mut);
    for tool in tools.into_iter().flatten() {
        if tool["name"] == TOOLS[0] {
            tool["execution"] = json!({"taskSupport": "optional"});
        }
    }
}

/// Answers a request that [`renamed`] renamed; `None` for any other.
pub async fn answer(
    adapter: &Adapter,
    method: &str,
    params: &Value,
    context: &RequestContext<RoleServer>,
) -> Option<Result<Value, ErrorData>> {
    let id = params["taskId"].as_str().unwrap_or_default();
    Some(match method.strip_prefix(PREFIX)? {
        "tools/call" => call(adapter, params, context).await,
        "tasks/get" => get(adapter, id).await,
        "tasks/result" => result(adapter, id, context).await,
        "tasks/cancel" => cancel(adapter, id).await,
        _ => return None,
    })
}

async fn call(
    adapter: &Adapter,
    params: &Value,
    context: &RequestContext<RoleServer>,
) -> Result<Value, ErrorData> {
    if params["name"] != TOOLS[0] {
        let message = "only run_python can be a task; leave `task` out".to_owned();
        return Err(ErrorData::invalid_params(message, None));
    }
    let arguments = params.get("arguments").and_then(Value::as_object).cloned();
    let began = tools::run_python(adapter, arguments, context, true).await;
    match began.map_err(|why| ErrorData::invalid_params(why, None))? {
        Began::Task(task) => Ok(json!({"task": shape(&task)})),
        Began::Ended(ended) => {
            let content = ended.structured_content.as_ref();
            let id = content.and_then(|content| content["id"].as_str());
            match id {
                Some(id) => Ok(json!({"task": get(adapter, id).await?})),
                None => Err(ErrorData::internal_error(words(&ended), None)),
            }
        }
    }
}

/// What an error says.
fn words(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|block| block.as_text());
    texts.map(|text| text.text.as_str()).collect()
}

async fn get(adapter: &Adapter, id: &str) -> Result<Value, ErrorData> {
    let task = tasks::get(adapter, id).await?;
    Ok(shape(&task))
}

/// A task of the extension in the older shape.
fn shape(task: &impl serde::Serialize) -> Value {
    let task = serde_json::to_value(task).unwrap_or_default();
    let failed = task["status"] == "completed" && task["result"]["isError"] == true;
    let status = match failed {
        true => json!("failed"),
        false => task["status"].clone(),
    };
    json!({
        "taskId": task["taskId"], "status": status, "statusMessage": task["statusMessage"],
        "createdAt": task["createdAt"], "lastUpdatedAt": task["lastUpdatedAt"],
        "ttl": task["ttlMs"], "pollInterval": task["pollIntervalMs"],
    })
}

/// Waits for the end. A client that stops waiting withdraws nothing: `tasks/cancel` does.
async fn result(
    adapter: &Adapter,
    id: &str,
    context: &RequestContext<RoleServer>,
) -> Result<Value, ErrorData> {
    let mut gone = adapter.gone.clone();
    loop {
        let params = json!({"id": id, "timeout_s": STEP});
        let answer = tokio::select! {
            answer = tasks::with_attaching(adapter, "wait", params, id) => answer?,
            () = context.ct.cancelled() => return Err(stopped()),
            _ = gone.wait_for(|gone| *gone) => return Err(stopped()),
        };
        // Only an outcome has a message.
        if answer.get("message").is_some() {
            adapter.bound.ended(id);
            let ended = tools::outcome(adapter, id, &answer).await;
            let mut ended: JsonObject = tasks::object(&ended);
            let related = json!({"io.modelcontextprotocol/related-task": {"taskId": id}});
            ended.insert("_meta".to_owned(), related);
            return Ok(ended.into());
        }
    }
}

fn stopped() -> ErrorData {
    ErrorData::internal_error("the client stopped waiting; the task goes on", None)
}

async fn cancel(adapter: &Adapter, id: &str) -> Result<Value, ErrorData> {
    let task = get(adapter, id).await?;
    if task["status"] != "working" {
        let message = format!("the task is {} already", task["status"]);
        return Err(ErrorData::invalid_params(message, None));
    }
    tasks::cancel(adapter, id).await?;
    get(adapter, id).await
}
