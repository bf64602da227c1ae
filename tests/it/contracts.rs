//! Each contract through the real dashboard: proposed on the socket, granted by keys, run by the
//! real child, with the result on the screen.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::dash::{Dash, Options, PATIENCE};
use common::processes;
use serde_json::{Value, json};

const ALL: &str = "profiles = [\"analysis\", \"feature\", \"chart\", \"scoped\"]\n";

#[test]
fn q3_a_chart_comes_back_as_json_and_is_sketched() {
    let mut dash = Dash::with(&Options {
        config: ALL,
        ..Options::default()
    });
    let mut agent = dash.agent();
    let proposal = agent.propose(json!({
        "profile": "chart",
        "code": "import plotly.graph_objects as go\n\
                 t = data['t1']\n\
                 fig = go.Figure(go.Bar(x=t['names'], y=t['values']))\n\
                 fig.update_layout(title='Rate by region')\n\
                 result = {'output': 'two bars', 'chart': fig}\n",
        "inputs": {"t1": {"json": {"names": ["north", "south"], "values": [1, 2]}}},
    }));
    assert_eq!(proposal["state"], "pending", "{proposal}");
    dash.grant(&mut agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    let result = &outcome["run"]["result"];
    assert_eq!(result["output"], "two bars");
    assert_eq!(result["chart"]["data"][0]["y"], json!([1, 2]));
    dash.wait_text("Rate by region");
    dash.wait_text("north ████");
    // The agent's result is on the screen and in the log, even if nothing was printed.
    dash.wait_text("two bars");
    // The agent reads the chart as a file; its user exports it and its picture from the log.
    let files = &outcome["run"]["artifacts"];
    assert_eq!(files[0]["name"], "chart1.json", "{files}");
    assert_eq!(files[1]["media_type"], "image/png", "{files}");
    let read = agent.call(
        "artifact",
        json!({"id": proposal["id"], "name": "chart1.json"}),
    );
    let content = STANDARD.decode(read["result"]["base64"].as_str().unwrap());
    let chart: serde_json::Value = serde_json::from_slice(&content.unwrap()).unwrap();
    assert_eq!(chart, result["chart"]);
    let folder = dash.root().join("charts");
    let id = proposal["id"].as_str().unwrap();
    let shown = dash.cli(&["audit", "show", id, "--out", folder.to_str().unwrap()]);
    assert!(shown.status.success(), "{shown:?}");
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(text.contains("\"output\":\"two bars\""), "{text}");
    let picture = std::fs::read(folder.join("chart1.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
    assert_eq!(picture.len() as u64, files[1]["bytes"].as_u64().unwrap());
    assert!(folder.join("chart1.json").exists());
}

#[test]
fn f8_a_feature_is_returned_only_with_a_measured_lift() {
    let mut table = "a,b,y\n".to_owned();
    for i in 0..60 {
        let (a, b) = (1 + i * 7 % 20, 1 + i * 11 % 9);
        table.push_str(&format!("{a},{b},{}\n", f64::from(a) / f64::from(b)));
    }
    let mut dash = Dash::with(&Options {
        config: &format!("{ALL}[datasets.sales]\npath = \"sales.csv\"\n"),
        files: &[("sales.csv", &table)],
        ..Options::default()
    });
    let mut agent = dash.agent();
    let error = agent.call(
        "propose",
        json!({"profile": "feature", "code": "df['n'] = 1\n"}),
    )["error"]
        .clone();
    assert_eq!(error["code"], -32602, "{error}");
    for (code, adopted) in [
        ("df['n'] = df['a'] / df['b']\n", true),
        ("df['n'] = 1\n", false),
    ] {
        let proposal = agent.propose(json!({
            "profile": "feature",
            "code": code,
            "inputs": {"df": {"dataset": "sales"}, "lift": {"json": {"target": "y"}}},
        }));
        dash.grant(&mut agent, &proposal);
        let outcome = agent.outcome(&proposal["id"]);
        assert_eq!(outcome["state"], "succeeded", "{outcome}");
        let result = &outcome["run"]["result"];
        assert_eq!(result["lift"]["adopted"], adopted, "{result}");
        assert_eq!(result["arrow"].is_string(), adopted, "{result}");
        let text = outcome["message"].as_str().unwrap();
        assert_eq!(text.contains("not adopted"), !adopted, "{text}");
    }
}

#[test]
fn d2_public_lives_on_for_the_session_and_for_no_other() {
    let mut dash = Dash::with(&Options {
        config: ALL,
        ..Options::default()
    });
    let mut agent = dash.agent();
    let hello = agent.call("hello", json!({"protocol": 1, "agent": {"name": "a"}}));
    let session = hello["result"]["session"].as_str().unwrap().to_owned();
    let run = |dash: &mut Dash, agent: &mut common::agent::Agent, code: &str| {
        let proposal = agent.propose(json!({"profile": "scoped", "code": code}));
        dash.grant(agent, &proposal);
        agent.outcome(&proposal["id"])
    };
    let first = run(
        &mut dash,
        &mut agent,
        "public.count = 4711\nprivate.key = 'abc123'\n",
    );
    assert_eq!(
        first["run"]["result"]["public"],
        json!({"count": 4711}),
        "{first}"
    );
    agent.close();
    let read = "print(public['count'] if 'count' in public else None, 'key' in private)\n";
    // The server's token identifies a session, not the agent's name.
    let mut other = dash.agent();
    other.call("hello", json!({"protocol": 1, "agent": {"name": "a"}}));
    let foreign = run(&mut dash, &mut other, read);
    assert_eq!(foreign["run"]["stdout"], "None False\n", "{foreign}");
    let mut again = dash.agent();
    again.call("hello", json!({"protocol": 1, "session": session}));
    let proposal = again.propose(json!({"profile": "scoped", "code": read}));
    dash.go_to_urgent();
    // The reviewer sees the session's values.
    dash.wait_text("4711");
    dash.grant(&mut again, &proposal);
    let resumed = again.outcome(&proposal["id"]);
    assert_eq!(resumed["run"]["stdout"], "4711 False\n", "{resumed}");
}

/// Checks the agent's answer, the screens and the log.
#[test]
fn d5_accesses_and_crossings_are_reported_recorded_and_shown() {
    let mut dash = Dash::with(&Options {
        config: ALL,
        ..Options::default()
    });
    let mut agent = dash.agent();
    let mut run = |code: &str| {
        let proposal = agent.propose(json!({"profile": "scoped", "code": code}));
        dash.grant(&mut agent, &proposal);
        agent.outcome(&proposal["id"])
    };
    let first = run("public.status = 'active'\n");
    assert_eq!(first["run"]["accesses"]["public"]["allowed"], 1, "{first}");
    let outcome = run("print(public.status)\n\
                       try:\n    private.other\nexcept SecurityError:\n    print('caught')\n");
    assert_eq!(outcome["run"]["stdout"], "active\ncaught\n", "{outcome}");
    assert_eq!(
        outcome["run"]["accesses"],
        json!({
            "private": {"allowed": 0, "blocked": 1},
            "public": {"allowed": 1, "blocked": 0},
            "system": {"allowed": 0, "blocked": 0},
            "local": {"allowed": 0, "blocked": 0},
            "functions": {"allowed": 0, "blocked": 0},
        })
    );
    let events = outcome["run"]["events"].as_array().unwrap();
    let kinds: Vec<_> = events.iter().map(|e| (&e["kind"], &e["line"])).collect();
    assert_eq!(
        kinds,
        [
            (&json!("crossing"), &json!(1)),
            (&json!("scope"), &json!(3))
        ]
    );
    // On the dashboard, beside the decision.
    dash.wait_text("private 0 allowed, 1");
    // In the log.
    let shown = dash.cli(&["audit", "show", outcome["id"].as_str().unwrap()]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    for expected in [
        "guard: crossing line 1: public.status from before this run: read",
        "guard: scope line 3: the scope `private` has no `other`",
        "guard: accesses: private 0 allowed, 1 blocked · public 1 allowed, 0 blocked\n",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    // On the review screen.
    dash.keys("2");
    dash.wait_text("AUDIT");
    dash.press("\r");
    dash.wait_text("PROPOSAL");
    dash.press("i");
    dash.wait_text("RECORD");
    dash.press("G");
    dash.wait_text("guard: crossing line 1");
    dash.wait_text("guard: accesses: private 0 allowed, 1 blocked");
}

/// A JSON list with so many values that counting them outlasts every wait here.
fn many_values() -> String {
    format!("[{}1]", "1,".repeat(24_000_000))
}

#[test]
fn the_counting_of_a_private_data_set_ends_with_its_run() {
    let many = many_values();
    for how in ["x", "quit", "disconnect"] {
        let mut dash = Dash::with(&Options {
            config: "tier = \"process\"\nprofiles = [\"mine\"]\nprofile = \"mine\"\n\
                     [run]\nkill_on_disconnect = true\n\
                     [datasets.people]\npath = \"people.json\"\nsensitivity = \"private\"\n",
            files: &[("people.json", &many)],
            policies: &[(
                "mine.toml",
                "name = \"mine\"\ncontract = \"analysis\"\n[builtins]\nallow = [\"print\"]\n\
                 [nodes]\nallow = [\"*\"]\n[isolation]\ntier = \"process\"\n\
                 [capabilities]\nDATA_READ = \"note\"\n",
            )],
            ..Options::default()
        });
        let mut agent = dash.agent();
        let proposal = agent.propose(json!({
            "code": "print(1)\n",
            "inputs": {"people": {"dataset": "people"}},
        }));
        assert_eq!(proposal["state"], "pending", "{proposal}");
        dash.grant(&mut agent, &proposal);
        // This tier preloads nothing, so any process below the dashboard is the one that counts.
        dash.wait_for("the counting", |dash, _| {
            !processes::runs(dash.pid()).is_empty()
        });
        match how {
            "x" => {
                dash.keys("x");
                let outcome = agent.outcome(&proposal["id"]);
                assert_eq!(outcome["state"], "failed", "{outcome}");
                let text = outcome["message"].as_str().unwrap();
                assert_eq!(text, "A person stopped it before it started.");
                assert!(outcome["run"].is_null());
                dash.wait_text("before it started.");
            }
            "quit" => {
                let wait = agent.send("wait", json!({"id": proposal["id"]}));
                assert_eq!(agent.state(&proposal["id"]), "granted");
                dash.keys("q");
                dash.wait_text("Quit with");
                dash.keys("y");
                let outcome = agent.answer(wait, PATIENCE)["result"].clone();
                let text = outcome["message"].as_str().unwrap();
                assert_eq!(
                    text,
                    "The dashboard closed and stopped it before it started."
                );
                dash.wait_exit();
            }
            _ => {
                agent.close();
                let ended = |dash: &Dash, _: &str| {
                    let listed = dash.cli(&["audit", "list"]);
                    String::from_utf8_lossy(&listed.stdout).contains("failed")
                };
                dash.wait_for("the end", ended);
            }
        }
        if how != "quit" {
            dash.wait_for("no process", |dash, _| {
                processes::runs(dash.pid()).is_empty()
            });
        }
        let id = proposal["id"].as_str().unwrap();
        let shown = dash.cli(&["audit", "show", id]);
        let shown = String::from_utf8_lossy(&shown.stdout);
        assert!(shown.contains("stopped before it was let go"), "{shown}");
    }
}

/// Only the screen leaves parts out.
#[test]
fn a_progress_bar_is_one_line_on_the_screen_and_every_byte_for_agent_and_log() {
    let mut dash = Dash::with(&Options {
        config: ALL,
        ..Options::default()
    });
    let mut agent = dash.agent();
    let proposal = agent.propose(json!({
        "code": "import sys\nfrom tqdm import tqdm\n\
                 for i in tqdm(range(4), mininterval=0, ncols=40):\n    print('row', i, flush=True)\n\
                 print('a long last state\\rshort', file=sys.stderr)\n",
    }));
    assert_eq!(proposal["state"], "pending", "{proposal}");
    dash.grant(&mut agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    let stderr = outcome["run"]["stderr"].as_str().unwrap();
    let states = stderr.matches("/4 [").count();
    assert!(states > 2 && stderr.contains("  0%|"), "{stderr:?}");
    assert!(stderr.ends_with("a long last state\rshort\n"), "{stderr:?}");
    // What the two streams wrote comes to the screen one after the other.
    let full = format!("← {}×┊ 100%|", states - 1);
    dash.wait_for("the last states", |_, text| {
        let bar = text.matches("/4 [").count() == 1 && text.contains(&full);
        bar && text.contains("← 1×┊ short") && text.contains("row 3")
    });
    let log = dash.cli(&["audit", "show", proposal["id"].as_str().unwrap()]);
    let text = String::from_utf8(log.stdout).unwrap();
    assert_eq!(text.matches("/4 [").count(), states, "{text}");
}

/// The agent names the target but cannot choose whether the lift is measured.
#[test]
fn f8_no_feature_is_returned_without_a_measured_lift_if_the_owner_wants_it() {
    let dash = Dash::with(&Options {
        config: "[feature.lift]\nenabled = true\n",
        ..Options::default()
    });
    let mut agent = dash.agent();
    let mut inputs = json!({"df": {"text": "a,y\n1,2\n2,3\n", "format": "csv"}});
    let mut ask = |inputs: &Value| {
        let code = "df['n'] = df['a'] * 2";
        agent.call(
            "propose",
            json!({"profile": "feature", "code": code, "inputs": inputs}),
        )
    };
    let refused = ask(&inputs);
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("lift was measured"), "{message}");
    inputs["lift"] = json!({"json": {"target": "y"}});
    let accepted = ask(&inputs);
    assert_eq!(accepted["result"]["state"], "pending", "{accepted}");
}
