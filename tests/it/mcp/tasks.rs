//! Tasks: for clients that declare them, and alive after a restart of the adapter.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::dash::{Dash, PATIENCE};

use super::raw::{Client, part, text};
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
    assert_eq!(part(&task["result"], "stdout"), "the first 42\n", "{task}");
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
    let mut other = Client::spawn(&dash);
    other.initialize("2025-06-18", &json!({}));
    for method in ["tasks/get", "tasks/result", "older/tasks/get"] {
        let answer = other.ask(method, json!({"taskId": id}));
        assert!(answer["error"]["code"].is_i64(), "{method}: {answer}");
    }

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

#[test]
fn revision_2025_11_25_has_tasks_in_a_shape_of_its_own() {
    let mut dash = dashboard();
    let mut client = Client::spawn(&dash);
    let answer = client.initialize("2025-11-25", &json!({}));
    let offered = &answer["result"]["capabilities"]["tasks"];
    assert!(offered["requests"]["tools"]["call"].is_object(), "{answer}");
    let list = client.ask("tools/list", json!({}));
    let tool = &list["result"]["tools"][0];
    assert_eq!(tool["execution"]["taskSupport"], "optional", "{tool}");
    let call = |client: &mut Client, tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments, "task": {"ttl": 60_000}});
        client.ask("tools/call", params)
    };
    let begin = |client: &mut Client, code: &str, title: &str| {
        let answer = call(client, "run_python", json!({"code": code, "title": title}));
        answer["result"]["task"].clone()
    };
    let answer = call(&mut client, "check_python", json!({"code": "1"}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let answer = call(&mut client, "run_python", json!({"code": 5}));
    let said = answer["error"]["message"].as_str().unwrap();
    assert_eq!(said, "`code` must be a string, not 5");

    let task = begin(&mut client, "print(6 * 7)\n", "an older task");
    assert_eq!(task["status"], "working", "{task}");
    assert!(task["ttl"].as_u64().unwrap() > 60_000, "{task}");
    let id = task["taskId"].clone();
    let now = client.ask("tasks/get", json!({"taskId": id}));
    assert_eq!(now["result"]["status"], "working", "{now}");
    let wanted = client.send("tasks/result", json!({"taskId": id}));
    grant(&mut dash, "an older task");
    let result = client.result(wanted);
    assert_eq!(part(&result, "stdout"), "42\n", "{result}");
    let related = &result["_meta"]["io.modelcontextprotocol/related-task"];
    assert_eq!(related["taskId"], id, "{result}");
    let now = client.ask("tasks/get", json!({"taskId": id}));
    assert_eq!(now["result"]["status"], "completed", "{now}");

    let id = begin(&mut client, "print(1)\n", "given up")["taskId"].clone();
    let now = client.ask("tasks/cancel", json!({"taskId": id}));
    assert_eq!(now["result"]["status"], "cancelled", "{now}");
    let again = client.ask("tasks/cancel", json!({"taskId": id}));
    assert_eq!(again["error"]["code"], -32602, "{again}");
    // What nobody is asked about has failed at once, and says why.
    let task = begin(&mut client, "import subprocess\n", "blocked");
    assert_eq!(task["status"], "failed", "{task}");
    let result = client.ask("tasks/result", json!({"taskId": task["taskId"]}));
    assert!(
        text(&result["result"]).contains("It did not run: blocked"),
        "{result}"
    );
    for (method, id, code) in [
        ("tasks/list", "x", -32601),
        ("tasks/get", "x", -32602),
        ("older/tasks/get", "x", -32601),
    ] {
        let answer = client.ask(method, json!({"taskId": id}));
        assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
    }
}
