//! The tools as agents see them: names, descriptions and schemas.
//!
//! The schemas are written by hand: plain types, no `uint64`, no unions with `null`, no references. Strict
//! clients refuse what generators make of optional numbers.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use crate::model::TOOLS;

/// What a client shows or tells its model about the server.
pub const INSTRUCTIONS: &str = "Python runs only through `run_python`: a person reads each snippet in a terminal and grants or denies it. \
     Waiting for that person can take minutes and is no error. Each snippet runs in a fresh process without network: \
     nothing is kept between snippets. Name data sets (`list_datasets`) as inputs instead of opening files. \
     `check_python` says at once what the rules refuse, without asking anybody; give it the same inputs, or names that \
     only they bind are not judged.";

/// Longest time a call is held, in seconds: below the time limits that clients commonly set.
pub const HOLD_MAX: u64 = 110;

fn object(value: Value) -> Arc<JsonObject> {
    match value {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn whole(description: &str) -> Value {
    json!({"type": "integer", "description": description})
}

fn input(properties: Value, required: &[&str]) -> Arc<JsonObject> {
    object(json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    }))
}

fn output(properties: Value, required: &[&str]) -> Arc<JsonObject> {
    object(json!({"type": "object", "properties": properties, "required": required}))
}

fn inputs() -> Value {
    json!({
        "type": "object",
        "description": "Variable name to input: {\"dataset\": NAME}, {\"json\": VALUE}, {\"text\": TEXT, \
            \"format\": \"csv\"|\"tsv\"|\"json\"|\"jsonl\"} or {\"artifact\": {\"id\": ID, \"name\": NAME}}.",
        "additionalProperties": {"type": "object"},
    })
}

fn wait_s() -> Value {
    json!({
        "type": "integer", "minimum": 0, "maximum": HOLD_MAX,
        "description": "Seconds to wait for the outcome before answering `pending`; left out: 110 with progress \
            notifications, else 50.",
    })
}

const STATES: [&str; 11] = [
    "pending",
    "granted",
    "running",
    "succeeded",
    "failed",
    "denied",
    "expired",
    "withdrawn",
    "blocked",
    "unattended",
    "error",
];

fn findings() -> Value {
    json!({
        "type": "array",
        "description": "What the static check found.",
        "items": {"type": "object", "properties": {
            "rule": text("The rule's code, for example IMPORT003."),
            "action": text("block, flag or note; only block prevents a grant."),
            "message": text("What was found."),
            "hint": text("What is allowed instead."),
            "line": whole("Line of the snippet, from 1."),
        }},
    })
}

fn outcome() -> Arc<JsonObject> {
    output(
        json!({
            "state": {"type": "string", "enum": STATES, "description": "`pending`, `granted` and `running`: call wait_for_run."},
            "id": text("The proposal's id."),
            "message": text("What happened and what to do."),
            "retry": {"type": "string", "enum": ["same", "changed", "no"], "description": "Whether asking again makes sense."},
            "reason": text("What the person who decided wrote."),
            "stdout": text("What the snippet printed."),
            "stderr": text("What it printed to standard error."),
            "truncated": {"type": "boolean", "description": "Whether stdout or stderr is cut."},
            "result": {"description": "The result of the profile's contract: the last expression, for example."},
            "error": {"type": "object", "description": "Why the run failed.", "properties": {
                "type": text("The kind of error."),
                "message": text("What went wrong."),
                "line": whole("Line of the snippet, from 1."),
                "exception": text("The Python exception."),
            }},
            "limit": text("The limit that ended the run."),
            "findings": findings(),
            "edited": {"type": "boolean", "description": "Whether a person changed the code before granting it."},
            "diff": text("What the person changed, as a unified diff."),
            "files": {"type": "array", "description": "Files that the run left.", "items": {"type": "object", "properties": {
                "name": text("Name for read_artifact."),
                "media_type": text("For example image/png."),
                "bytes": whole("Size."),
                "sha256": text("64 hex digits."),
                "uri": text("For resources/read."),
            }}},
        }),
        &["state", "id", "message"],
    )
}

const RUN: &str = "Proposes Python code. A person reads it and decides whether it runs; it then runs in a confined process and \
    the output comes back. Use it for every piece of Python. Each call is a fresh process: imports, variables and files \
    of earlier calls are gone. Under the profile `analysis`, which holds unless an administrator set another one, pd and np \
    are there, each input is a variable of its name (tables as DataFrames), print or a bare last expression shows results, figures and files written to \
    relative paths come back. No network, no subprocesses, no absolute paths. If the answer is `pending`, nobody has \
    refused: call wait_for_run. If it is denied, the reason says what to change.";

/// The tools, in the order of [`TOOLS`].
pub fn tools() -> Vec<Tool> {
    let id = || text("The id that run_python answered.");
    let tool = |name, title: &str, description, input, output, reads_only: bool| {
        Tool::new(name, description, input)
            .with_raw_output_schema(output)
            .with_annotations(
                ToolAnnotations::with_title(title)
                    .read_only(reads_only)
                    .destructive(false)
                    .idempotent(reads_only)
                    .open_world(false),
            )
    };
    vec![
        tool(
            TOOLS[0],
            "Run Python, if a person grants it",
            RUN,
            input(
                json!({
                    "code": text("The snippet, at most 65536 bytes."),
                    "title": text("What it is, in a few words, for the person who decides."),
                    "reason": text("Why it should run."),
                    "profile": text("The profile to run under; left out: the dashboard's default."),
                    "inputs": inputs(),
                    "ttl_s": {"type": "integer", "minimum": 1, "description": "Seconds until the proposal expires undecided."},
                    "wait_s": wait_s(),
                }),
                &["code"],
            ),
            outcome(),
            false,
        ),
        tool(
            TOOLS[1],
            "Wait for a proposal's outcome",
            "Waits for the outcome of a proposal that run_python answered as pending, granted or running.",
            input(json!({"id": id(), "wait_s": wait_s()}), &["id"]),
            outcome(),
            true,
        ),
        tool(
            TOOLS[2],
            "Check Python without running it",
            "Says what the static check finds in a snippet. Runs nothing and asks nobody.",
            input(
                json!({
                    "code": text("The snippet, at most 65536 bytes."),
                    "profile": text("The profile to judge by; left out: the dashboard's default."),
                    "inputs": inputs(),
                }),
                &["code"],
            ),
            output(
                json!({
                    "verdict": {"type": "string", "enum": ["clear", "flagged", "blocked", "unanalyzable"],
                        "description": "`blocked` and `unanalyzable` cannot be granted."},
                    "findings": findings(),
                }),
                &["verdict", "findings"],
            ),
            true,
        ),
        tool(
            TOOLS[3],
            "List data sets",
            "The data sets that a proposal may name as inputs, with their columns.",
            input(json!({}), &[]),
            output(
                json!({"datasets": {"type": "array", "items": {"type": "object", "properties": {
                    "name": text("Name for inputs."),
                    "format": text("csv, tsv, json, jsonl or parquet."),
                    "rows": whole("Number of rows, if known."),
                    "sensitivity": text("public or private."),
                    "columns": {"type": "array", "items": {"type": "object", "properties": {
                        "name": text("The column's name."),
                        "dtype": text("Its type in pandas."),
                    }}},
                }}}}),
                &["datasets"],
            ),
            true,
        ),
        tool(
            TOOLS[4],
            "A proposal's state",
            "The state of a proposal, without waiting.",
            input(json!({"id": id()}), &["id"]),
            output(
                json!({
                    "id": text("The proposal's id."),
                    "state": {"type": "string", "enum": STATES},
                    "expires_at": text("When it expires undecided (RFC 3339)."),
                    "hopeless": text("Why no votes can grant it, as people and keys are."),
                }),
                &["id", "state"],
            ),
            true,
        ),
        tool(
            TOOLS[5],
            "Read a file of a run",
            "Reads a file that a run left: pictures as images, text in parts of at most 100000 bytes.",
            input(
                json!({
                    "id": id(),
                    "name": text("The file's name, as `files` of the outcome has it."),
                    "offset": {"type": "integer", "minimum": 0, "description": "Where to begin, in bytes; `next_offset` of the part before."},
                }),
                &["id", "name"],
            ),
            output(
                json!({
                    "id": text("The proposal's id."),
                    "name": text("The file's name."),
                    "offset": whole("Where this part begins."),
                    "bytes": whole("Size of this part."),
                    "next_offset": whole("Where the next part begins; missing at the end."),
                }),
                &["id", "name", "offset", "bytes"],
            ),
            true,
        ),
    ]
}
