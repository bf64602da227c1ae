//! `countersign mcp` with a real dashboard, keys through its terminal, and an agent that speaks lines of JSON.

mod packages;
mod raw;
mod tasks;

use std::time::Duration;

use serde_json::{Value, json};

use crate::common::dash::{Dash, Options};

use raw::{Client, text};

const SALES: &str = "region,amount\nnorth,10\nsouth,32\n";

fn dashboard() -> Dash {
    Dash::with(&Options {
        config: "[datasets.sales]\npath = \"sales.csv\"\nsensitivity = \"public\"\n",
        files: &[("sales.csv", SALES)],
        ..Options::default()
    })
}

fn grant(dash: &mut Dash, title: &str) {
    dash.press_until("u", title, |screen| {
        screen.contains(&format!("says: {title}"))
    });
    dash.open_sheet();
    dash.press_until(" y", "the grant", |screen| !screen.contains("GRANT?"));
}

/// Each structured result must be what the tool's schema says, as strict clients check.
fn conforms(client: &mut Client, tool: &str, result: &Value) {
    let list = client.ask("tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().unwrap().clone();
    let tool = tools.iter().find(|t| t["name"] == tool).unwrap();
    let schema = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
    let content = &result["structuredContent"];
    let errors: Vec<String> = schema.iter_errors(content).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?} in {content}");
}

#[test]
fn a_granted_snippet_comes_back_with_its_output_figures_and_files() {
    let mut dash = dashboard();
    let mut client = Client::start(&dash);
    let code = "import matplotlib.pyplot as plt\n\
                print('total', int(df.amount.sum()))\n\
                df.plot(x='region', y='amount')\n\
                plt.savefig('chart.png')\n\
                df.to_csv('out.csv', index=False)\n";
    let call = client.send(
        "tools/call",
        json!({
            "name": "run_python", "_meta": {"progressToken": "p1"},
            "arguments": {"code": code, "title": "a total", "reason": "the report", "inputs": {"df": {"dataset": "sales"}}},
        }),
    );
    // The person sees who asks.
    dash.wait_text("raw-agent");
    let told = client.until(Duration::from_secs(60), |c| {
        let waits = |note: &Value| {
            let message = note["params"]["message"].as_str().unwrap_or_default();
            message.contains("waiting for a person")
        };
        c.notes.iter().filter(|n| waits(n)).count() >= 2
    });
    assert!(told, "{:?}", client.notes);
    let progress: Vec<f64> = client
        .notes
        .iter()
        .map(|n| n["params"]["progress"].as_f64().unwrap())
        .collect();
    assert!(progress.windows(2).all(|w| w[0] < w[1]), "{progress:?}");
    assert_eq!(client.notes[0]["params"]["progressToken"], "p1");
    grant(&mut dash, "a total");
    let result = client.result(call);
    assert_eq!(result["isError"], false, "{result}");
    assert!(text(&result).starts_with("total 42\n"), "{result}");
    conforms(&mut client, "run_python", &result);
    let content = result["structuredContent"].clone();
    assert_eq!(content["state"], "succeeded");
    assert_eq!(content["stdout"], "total 42\n");
    let blocks = result["content"].as_array().unwrap();
    let image = blocks
        .iter()
        .find(|b| b["type"] == "image")
        .expect("the figure is an image");
    assert_eq!(image["mimeType"], "image/png");
    assert!(image["data"].as_str().unwrap().starts_with("iVBORw0KGgo"));
    let link = blocks
        .iter()
        .find(|b| b["type"] == "resource_link" && b["name"] == "out.csv")
        .expect("the file is a link");
    let uri = link["uri"].as_str().unwrap();
    let read = client.ask("resources/read", json!({"uri": uri}));
    assert_eq!(read["result"]["contents"][0]["text"], SALES, "{read}");
    let listed = client.ask("resources/list", json!({}));
    assert!(
        listed["result"]["resources"]
            .as_array()
            .unwrap()
            .iter()
            .any(|r| r["uri"] == uri),
        "{listed}"
    );
    let part = client.tool(
        "read_artifact",
        json!({"id": content["id"], "name": "out.csv", "offset": 7}),
    );
    assert_eq!(text(&part), SALES[7..], "{part}");
    conforms(&mut client, "read_artifact", &part);
    let picture = client.tool(
        "read_artifact",
        json!({"id": content["id"], "name": "chart.png"}),
    );
    assert_eq!(picture["content"][1]["type"], "image", "{picture}");
    // A later wait answers the same.
    let again = client.tool("wait_for_run", json!({"id": content["id"]}));
    assert_eq!(again["structuredContent"]["stdout"], "total 42\n");
    let status = client.tool("proposal_status", json!({"id": content["id"]}));
    assert_eq!(status["structuredContent"]["state"], "succeeded");
    conforms(&mut client, "proposal_status", &status);

    let datasets = client.tool("list_datasets", json!({}));
    assert_eq!(
        datasets["structuredContent"]["datasets"][0]["name"], "sales",
        "{datasets}"
    );
    assert!(
        text(&datasets).contains("sales (csv, 2 rows, public): region"),
        "{datasets}"
    );
    conforms(&mut client, "list_datasets", &datasets);
    let verdict = client.tool("check_python", json!({"code": "import subprocess\n"}));
    assert_eq!(
        verdict["structuredContent"]["verdict"], "blocked",
        "{verdict}"
    );
    assert!(text(&verdict).contains("IMPORT"), "{verdict}");
    conforms(&mut client, "check_python", &verdict);
    let (code, _, said) = client.end();
    assert_eq!((code, said.as_str()), (Some(0), ""));
}

#[test]
fn what_does_not_run_says_why_and_whether_asking_again_makes_sense() {
    let mut dash = dashboard();
    let mut client = Client::start(&dash);
    // Blocked: nobody is asked.
    let result = client.tool("run_python", json!({"code": "import subprocess\n"}));
    assert_eq!(result["isError"], true);
    assert_eq!(result["structuredContent"]["state"], "blocked");
    let said = text(&result);
    assert!(
        said.contains("did not run: blocked") && said.contains("only with changed code"),
        "{said}"
    );
    conforms(&mut client, "run_python", &result);
    // Expired: nobody decided.
    let result = client.tool("run_python", json!({"code": "print(1)\n", "ttl_s": 1}));
    assert_eq!(result["structuredContent"]["state"], "expired");
    assert!(text(&result).contains("may be made again"), "{result}");
    // Denied, with a reason.
    let call = client.begin(
        "run_python",
        json!({"code": "print(2)\n", "title": "to be denied"}),
    );
    dash.press_until("u", "it", |screen| screen.contains("says: to be denied"));
    dash.keys("d");
    dash.wait_text("deny, reason");
    dash.keys("use the other table\r");
    let result = client.result(call);
    assert_eq!(result["structuredContent"]["state"], "denied");
    assert_eq!(result["structuredContent"]["reason"], "use the other table");
    assert!(text(&result).contains("use the other table"), "{result}");
    conforms(&mut client, "run_python", &result);
    // Pending: not refused.
    let code = "print(1 / 0)\n";
    let result = client.tool(
        "run_python",
        json!({"code": code, "title": "a failure", "wait_s": 0}),
    );
    assert_eq!(result["isError"], false, "{result}");
    assert_eq!(result["structuredContent"]["state"], "pending");
    assert!(
        text(&result).contains("not refused; call wait_for_run"),
        "{result}"
    );
    conforms(&mut client, "run_python", &result);
    let id = result["structuredContent"]["id"].clone();
    grant(&mut dash, "a failure");
    let result = client.tool("wait_for_run", json!({"id": id}));
    assert_eq!(result["isError"], true);
    let said = text(&result);
    assert!(
        said.contains("It ran and failed")
            && said.contains("ZeroDivisionError")
            && said.contains("(line 1)"),
        "{said}"
    );
    conforms(&mut client, "wait_for_run", &result);
    // A cancelled call withdraws what is pending, and gets no answer.
    let call = client.begin(
        "run_python",
        json!({"code": "print(3)\n", "title": "to be cancelled"}),
    );
    dash.press_until("u", "it", |screen| screen.contains("says: to be cancelled"));
    client.cancel(call);
    dash.wait_for("the withdrawal", |_, screen| screen.contains("withdrawn"));
    assert!(!client.is_answered(call, Duration::from_millis(200)));
    // So does the end of standard input, at once.
    let call = client.begin(
        "run_python",
        json!({"code": "print(4)\n", "title": "to be left"}),
    );
    dash.press_until("u", "it", |screen| screen.contains("says: to be left"));
    let (code, took, _) = client.end();
    assert_eq!(code, Some(0));
    assert!(
        took < Duration::from_secs(4),
        "{took:?} after request {call}"
    );
    let list = dash.cli(&["audit", "list", "--json"]);
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    let states: Vec<(&str, &str)> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|p| {
            (
                p["title"].as_str().unwrap_or("-"),
                p["state"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        states,
        [
            ("to be left", "withdrawn"),
            ("to be cancelled", "withdrawn"),
            ("a failure", "failed"),
            ("to be denied", "denied"),
            ("-", "expired"),
            ("-", "blocked"),
        ]
    );
}

#[test]
fn without_a_dashboard_each_tool_says_how_to_start_one_and_works_once_it_is_there() {
    let mut dash = dashboard();
    let mut client = Client::start(&dash);
    let result = client.tool("check_python", json!({"code": "1"}));
    assert_eq!(result["structuredContent"]["verdict"], "clear", "{result}");
    let waits = client.tool("run_python", json!({"code": "print(1)\n", "wait_s": 0}));
    let waits = waits["structuredContent"]["id"].clone();
    dash.keys("q");
    dash.wait_text("Quit with");
    dash.press("y");
    assert!(dash.wait_exit().success());
    for (tool, arguments) in [
        ("run_python", json!({"code": "print(1)"})),
        ("check_python", json!({"code": "print(1)"})),
        ("list_datasets", json!({})),
        ("proposal_status", json!({"id": waits})),
        ("wait_for_run", json!({"id": waits})),
        ("read_artifact", json!({"id": waits, "name": "a.csv"})),
    ] {
        let result = client.tool(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        let said = text(&result);
        assert!(
            said.contains("start")
                && said.contains("`countersign`")
                && said.contains("Nothing was refused"),
            "{tool}: {said}"
        );
    }
    dash.then(&[]);
    dash.wait_for("the socket", |d, _| d.socket.exists());
    let result = client.tool("check_python", json!({"code": "1"}));
    assert_eq!(result["structuredContent"]["verdict"], "clear", "{result}");
    // The other dashboard knows nothing of what the first one had.
    let result = client.tool("wait_for_run", json!({"id": waits}));
    assert_eq!(result["isError"], true);
    assert!(
        text(&result).contains("propose it again with run_python"),
        "{result}"
    );
}

#[test]
fn wrong_arguments_and_hostile_input_get_an_answer_that_names_what_was_wrong() {
    let dash = dashboard();
    let mut client = Client::start(&dash);
    let id = "0193e2f0-0000-7000-8000-000000000000";
    for (tool, arguments, words) in [
        ("run_python", json!({}), &["`code` is missing"][..]),
        (
            "run_python",
            json!({"code": 5}),
            &["`code` must be a string, not 5"],
        ),
        (
            "run_python",
            json!({"code": ["a"]}),
            &["`code` must be a string, not an array"],
        ),
        (
            "run_python",
            json!({"code": "1", "ttl_s": "30"}),
            &["`ttl_s` must be a whole number", "not a string"],
        ),
        (
            "run_python",
            json!({"code": "1", "ttl_s": -1}),
            &["`ttl_s` must be a whole number"],
        ),
        (
            "run_python",
            json!({"code": "1", "wait_s": 111}),
            &["`wait_s` must be a whole number from 0 to 110"],
        ),
        (
            "run_python",
            json!({"code": "1", "inputs": []}),
            &["`inputs` must be an object"],
        ),
        (
            "run_python",
            json!({"code": "1", "inputs": {"df": {"dataset": "nowhere"}}}),
            &["nowhere", "sales"],
        ),
        (
            "run_python",
            json!({"code": "1", "inputs": {"df": {}}}),
            &["inputs.df", "dataset"],
        ),
        (
            "run_python",
            json!({"code": "1", "profile": "analysi"}),
            &["analysis"],
        ),
        (
            "run_python",
            json!({"code": "1", "titel": "x"}),
            &["`titel` is no argument", "Did you mean `title`?"],
        ),
        (
            "run_python",
            json!({"code": "x".repeat(70_000)}),
            &["70000 bytes"],
        ),
        (
            "run_python",
            json!({"code": "x".repeat(1 << 21)}),
            &["a frame has at most"],
        ),
        (
            "wait_for_run",
            json!({"id": "nonsense"}),
            &["nonsense", "run_python"],
        ),
        (
            "wait_for_run",
            json!({"id": id}),
            &["no proposal of this connection", "run_python"],
        ),
        (
            "proposal_status",
            json!({"id": 7}),
            &["`id` must be a string"],
        ),
        (
            "read_artifact",
            json!({"id": id, "name": "../../etc/passwd"}),
            &["run_python"],
        ),
        (
            "list_datasets",
            json!({"all": true}),
            &["`all` is no argument of this tool; it takes none"],
        ),
    ] {
        let result = client.tool(tool, arguments.clone());
        assert_eq!(result["isError"], true, "{tool} {result}");
        let said = text(&result);
        assert!(
            words.iter().all(|word| said.contains(word)),
            "{tool}: {said}"
        );
    }
    let answer = client.ask("tools/call", json!({"name": "run_pyton", "arguments": {}}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("did you mean `run_python`?"),
        "{answer}"
    );
    let answer = client.ask("resources/read", json!({"uri": "file:///etc/passwd"}));
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no file of a run"),
        "{answer}"
    );
    for method in ["grant", "tools/approve", "elicitation/create"] {
        let answer = client.ask(method, json!({"id": id}));
        assert!(answer["error"]["code"].is_i64(), "{method}: {answer}");
    }
    // Lines that are no requests: the next request is answered all the same.
    for line in [
        "",
        "}{",
        "null",
        "[]",
        "\"run\"",
        "{\"jsonrpc\": \"2.0\"}",
        "\u{1b}[2J",
        "[[[[[[[[[[[[[[[[",
        "{\"jsonrpc\":\"2.0\",\"id\":7000,\"method\":5}",
        "{\"jsonrpc\":\"2.0\",\"id\":7001,\"method\":\"tools/call\",\"params\":{\"name\":5}}",
        "{\"jsonrpc\":\"2.0\",\"id\":7002,\"result\":{}}",
    ] {
        client.line(line);
    }
    client.line(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)));
    client.line(&"x".repeat(17 << 20));
    let result = client.tool("check_python", json!({"code": "print(1)"}));
    assert_eq!(result["structuredContent"]["verdict"], "clear", "{result}");
    let list = dash.cli(&["audit", "list", "--json"]);
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!(list, json!([]), "nothing of this became a proposal");
}

#[test]
fn clients_of_each_revision_see_the_same_tools() {
    let dash = dashboard();
    let tools = |client: &mut Client| {
        let list = client.ask("tools/list", json!({}));
        list["result"]["tools"].clone()
    };
    let mut seen = Vec::new();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::spawn(&dash);
        let answer = client.initialize(revision, &json!({}));
        assert_eq!(answer["result"]["protocolVersion"], revision, "{answer}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "countersign");
        assert!(
            answer["result"]["instructions"]
                .as_str()
                .unwrap()
                .contains("run_python")
        );
        seen.push(tools(&mut client));
    }
    let mut client = Client::modern(&dash, &json!({}));
    let answer = client.ask("server/discover", json!({}));
    let revisions = answer["result"]["supportedVersions"].as_array().unwrap();
    assert!(
        revisions.contains(&json!("2026-07-28")) && revisions.contains(&json!("2025-11-25")),
        "{answer}"
    );
    seen.push(tools(&mut client));
    let result = client.tool("check_python", json!({"code": "print(1)"}));
    assert_eq!(result["structuredContent"]["verdict"], "clear", "{result}");
    assert_eq!(result["resultType"], "complete", "{result}");
    assert!(seen.windows(2).all(|w| w[0] == w[1]), "{seen:?}");

    let names: Vec<&str> = seen[0]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "run_python",
            "wait_for_run",
            "check_python",
            "list_datasets",
            "proposal_status",
            "read_artifact"
        ]
    );
    for tool in seen[0].as_array().unwrap() {
        for schema in ["inputSchema", "outputSchema"] {
            assert!(jsonschema::meta::is_valid(&tool[schema]), "{tool}");
            assert_eq!(tool[schema]["type"], "object");
            plain(&tool[schema]);
        }
    }
}

/// Nothing that strict clients refuse: formats, references, unions.
fn plain(schema: &Value) {
    match schema {
        Value::Object(fields) => {
            for (name, value) in fields {
                let refused = ["$ref", "anyOf", "oneOf", "allOf", "format", "$defs"];
                // `format` is also the name of a property of a data set.
                assert!(
                    !refused.contains(&name.as_str()) || value.is_object(),
                    "{name}: {schema}"
                );
                assert!(name != "type" || !value.is_array(), "{schema}");
                plain(value);
            }
        }
        Value::Array(items) => items.iter().for_each(plain),
        _ => {}
    }
}

#[test]
fn a_terminal_gets_usage_instead_of_a_server() {
    let mut dash = dashboard();
    // Nothing is open, so it asks nothing.
    dash.keys("q");
    dash.wait_exit();
    dash.then(&["mcp"]);
    let said = dash.wait_text("claude mcp add");
    assert!(said.contains("is started by an agent"), "{said}");
    assert_eq!(dash.wait_exit().exit_code(), 2);
}
