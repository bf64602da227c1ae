//! Tasks: for clients that declare them, and alive after a restart of the adapter.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::dash::{Dash, PATIENCE};

use super::raw::{Client, text};
use super::{dashboard, grant};

fn takes_tasks() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})
}

fn begin(client: &mut Client, title: &str) -> Value {
    let code = format!("print('{title}', 6 * 7)\n");
    client.tool(
        "run_python",
        json!({"code": code, "title": title, "ttl_s": 600}),
    )
}

/// The task, once it is final.
fn ended(client: &mut Client, id: &Value) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let task = client.ask("tasks/get", json!({"taskId": id}))["result"].clone();
        if task["status"] != "working" {
            return task;
        }
        assert!(Instant::now() < deadline, "{task}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn states(dash: &Dash) -> Vec<(String, String)> {
    let list = dash.cli(&["audit", "list", "--json"]);
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = list.as_array().unwrap().iter();
    all.map(|p| (word(&p["title"]), word(&p["state"])))
        .collect()
}

#[test]
fn a_task_is_the_proposal_and_outlives_the_adapter() {
    let mut dash = dashboard();
    let mut client = Client::with(&dash, &takes_tasks());
    let task = begin(&mut client, "the first");
    assert_eq!(task["resultType"], "task", "{task}");
    assert_eq!(task["status"], "working", "{task}");
    assert!(task["ttlMs"].as_u64().unwrap() > 600_000, "{task}");
    let id = task["taskId"].clone();
    let now = client.ask("tasks/get", json!({"taskId": id}));
    assert_eq!(now["result"]["status"], "working", "{now}");
    let status = client.tool("proposal_status", json!({"id": id}));
    assert_eq!(status["structuredContent"]["state"], "pending", "{status}");
    let (code, _, said) = client.end();
    assert_eq!((code, said.as_str()), (Some(0), ""));

    // Another adapter, of the other revision: the same proposal, and no second one.
    let mut client = Client::modern(&dash, &takes_tasks());
    let now = client.ask("tasks/get", json!({"taskId": id}));
    assert_eq!(now["result"]["status"], "working", "{now}");
    assert_eq!(
        states(&dash),
        [("the first".to_owned(), "pending".to_owned())]
    );
    grant(&mut dash, "the first");
    let task = ended(&mut client, &id);
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(text(&task["result"]), "the first 42", "{task}");
    assert_eq!(task["result"]["structuredContent"]["state"], "succeeded");

    // Cancelling withdraws.
    let id = begin(&mut client, "the second")["taskId"].clone();
    client.ask("tasks/cancel", json!({"taskId": id}));
    assert_eq!(ended(&mut client, &id)["status"], "cancelled");
    // What nobody is asked about needs no task.
    let blocked = client.tool("run_python", json!({"code": "import subprocess\n"}));
    assert_eq!(
        blocked["structuredContent"]["state"], "blocked",
        "{blocked}"
    );
    // Not a task's id, and a client that takes no tasks.
    for id in [
        "nonsense",
        "../../x",
        "0193e2f0-0000-7000-8000-000000000000",
    ] {
        let answer = client.ask("tasks/get", json!({"taskId": id}));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let answer = Client::start(&dash).ask("tasks/get", json!({"taskId": id}));
    assert!(answer["error"]["code"].is_i64(), "{answer}");

    // A dashboard that was started again is not asked anew.
    let id = begin(&mut client, "the third")["taskId"].clone();
    dash.keys("q");
    dash.wait_text("Quit with");
    dash.press("y");
    assert!(dash.wait_exit().success());
    dash.then(&[]);
    dash.wait_for("the socket", |d, _| d.socket.exists());
    let answer = client.ask("tasks/get", json!({"taskId": id}));
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no such task"),
        "{answer}"
    );
    let known = states(&dash);
    let thirds: Vec<_> = known
        .iter()
        .filter(|(title, _)| title == "the third")
        .collect();
    assert_eq!(thirds, [&("the third".to_owned(), "unattended".to_owned())]);
}
