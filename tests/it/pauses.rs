//! A person pauses an agent in the dashboard's terminal, and the agent hears of it on the socket.

use std::time::Duration;

use serde_json::{Value, json};

use crate::common;

use common::agent::Agent;
use common::dash::Dash;

fn named(code: &str) -> Value {
    json!({"code": code, "agent": {"name": "etl-bot"}, "title": "an export"})
}

#[test]
fn a_paused_agent_is_refused_until_it_is_resumed_and_the_log_says_so() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let waits = agent.propose(named("print('waits')\n"));
    dash.wait_text("an export");
    dash.keys("D");
    dash.wait_text("Tab pauses");
    dash.press("\t");
    dash.wait_text("etl-bot is paused");
    dash.wait_text("PAUSED");
    dash.wait_text("1 paused");

    let refused = |agent: &mut Agent, params: Value| {
        // The agent hears why once the record of the pause is durable; until then it is refused without a reason.
        for _ in 0..200 {
            let answer = agent.call("propose", params.clone());
            let error = &answer["error"];
            assert_eq!(error["code"], -32002, "{answer}");
            assert!(error["data"]["retry_after_ms"].is_u64(), "{answer}");
            let message = error["message"].as_str().unwrap();
            if message.contains("a person paused this agent") {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("the agent never hears of its pause");
    };
    refused(&mut agent, named("print(1)\n"));
    refused(
        &mut agent,
        json!({"code": "1", "agent": {"name": "another"}}),
    );
    refused(&mut dash.agent(), json!({"code": "1"}));
    // Everything else goes on.
    let state = agent.call("status", json!({"id": waits["id"]}));
    assert_eq!(state["result"]["state"], "pending", "{state}");
    let verdict = agent.call("check", json!({"code": "print(1)"}));
    assert_eq!(verdict["result"]["verdict"], "clear", "{verdict}");
    // Another process under the same name; another name of another process is another agent.
    let file = dash.root().join("fine.py");
    std::fs::write(&file, "print('fine')\n").unwrap();
    let file = file.to_str().unwrap().to_owned();
    let output = dash.cli(&["submit", &file, "--agent", "etl-bot"]);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("a person paused this agent") && said.contains("retry_after_ms"),
        "{said}"
    );
    let output = dash.cli(&["submit", &file, "--agent", "notebook", "--ttl", "1"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");

    dash.keys("D");
    dash.wait_text("Tab resumes");
    dash.press("\t");
    dash.wait_text("etl-bot may propose again");
    // It may propose once the record of the end is durable.
    let accepted = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        let answer = agent.call("propose", named("print(2)\n"));
        answer["result"]["state"] == "pending"
    });
    assert!(accepted, "a resumed agent may propose");

    let list = dash.cli(&["audit", "list", "--pauses"]);
    let list = String::from_utf8(list.stdout).unwrap();
    let kinds: Vec<&str> = list
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    assert_eq!(kinds, ["resumed", "paused"], "{list}");
    assert!(
        list.lines().all(|line| line.contains("etl-bot  uid ")),
        "{list}"
    );
    let json = dash.cli(&["audit", "list", "--pauses", "--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json[1]["kind"], "paused");
    assert_eq!(json[1]["agent"]["name"], "etl-bot");
    let proposals = dash.cli(&["audit", "list", "--json"]);
    let proposals: Value = serde_json::from_slice(&proposals.stdout).unwrap();
    assert_eq!(
        proposals.as_array().unwrap().len(),
        3,
        "pauses are no proposals"
    );
    let verify = dash.cli(&["audit", "verify"]);
    assert!(verify.status.success(), "{verify:?}");
}
