//! Drills through a real terminal: a person decides on what the dashboard itself made, nothing of it runs, and no agent hears
//! of it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common;

use common::agent::Agent;
use common::dash::{Dash, Options};
use common::processes;

/// After each decision a drill comes, in the order that this seed gives.
const CONFIG: &str = "[drills]\nevery = 1\nseed = 4\n[datasets.staff]\npath = \"staff.csv\"\nsensitivity = \"private\"\n";

fn options() -> Options<'static> {
    Options {
        config: CONFIG,
        files: &[(
            "staff.csv",
            "name,salary\nana,41\nbo,42\ncy,43\ndee,44\neli,45\n",
        )],
        ..Options::default()
    }
}

/// A proposal of a real agent, which the person denies; then the drill waits, as long as the agent stays.
#[must_use]
fn until_a_drill_waits(dash: &mut Dash) -> Agent {
    let mut agent = dash.agent();
    let real = agent.propose(json!({
        "code": "print('real')\n", "title": "a real one", "agent": {"name": "etl-bot"},
    }));
    dash.go_to_urgent();
    dash.keys("dno\r");
    assert_eq!(agent.outcome(&real["id"])["state"], "denied");
    wait_for_a_drill(dash);
    dash.go_to_urgent();
    dash.wait_text("etl-bot");
    agent
}

fn wait_for_a_drill(dash: &Dash) {
    dash.wait_for("a drill", |dash, _| {
        let newest = &list(dash)[0];
        newest["drill"] == true && newest["state"] == "pending"
    });
}

fn list(dash: &Dash) -> Value {
    let output = dash.cli(&["audit", "list", "--json"]);
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_granted_drill_does_not_run() {
    let mut dash = Dash::with(&options());
    let _agent = until_a_drill_waits(&mut dash);
    let id = list(&dash)[0]["id"].clone();
    assert_eq!(
        (&list(&dash)[0]["state"], &list(&dash)[0]["drill"]),
        (&json!("pending"), &json!(true))
    );
    let row = String::from_utf8(dash.cli(&["audit", "list"]).stdout).unwrap();
    assert!(row.lines().next().unwrap().contains("  drill  "), "{row}");
    // Its rows in the dashboard say nothing; a record that is opened says what it is.
    dash.keys("2");
    let rows = dash.wait_text("AUDIT");
    assert!(!rows.contains("drill"), "{rows}");
    // Nor does a question.
    dash.press("/");
    dash.keys("drill:yes");
    dash.press("\r");
    dash.wait_text("0 proposals  query: drill:yes");
    dash.press("\x1b");
    dash.wait_text("AUDIT");
    dash.press("\r");
    dash.wait_text("TIMELINE");
    dash.press("i");
    dash.wait_text("drill: {");
    // Screen 3 counts it among its agent's, as the header does.
    dash.keys("3");
    dash.wait_text("quotas of its process: 1 of");
    dash.keys("1");
    // No agent can ask for it, the one whose name it has included.
    let mut agent = dash.agent();
    let answer = agent.call("status", json!({"id": id}));
    assert_eq!(answer["error"]["code"], -32004, "{answer}");

    dash.open_sheet();
    let confirmed = dash
        .digits()
        .map_or("y".to_owned(), |digits| format!("{digits}\r"));
    let ran = |text: &str| text.contains("nothing ran");
    for _ in 0..200 {
        dash.press(&confirmed[..confirmed.len() - 1]);
        dash.press(&confirmed[confirmed.len() - 1..]);
        // A key that came too early counts again only after a while without it; the next key ends what is told.
        let most = Instant::now() + Duration::from_millis(2_500);
        if ran(&dash.wait_while(most, |text| !ran(text))) {
            break;
        }
    }
    let text = dash.wait_text("That was a drill, and nothing ran; line 4 prints");
    dash.wait_for("the record", |d, _| {
        d.log_text().contains("\"end\":\"granted\"")
    });
    assert!(text.contains("drilled"), "{text}");
    assert_eq!(processes::runs(dash.pid()), [] as [u32; 0]);
    let log = dash.log_text();
    for kind in ["granted", "started", "finished", "killed"] {
        let kind = format!("\"kind\":\"{kind}\"");
        assert!(!log.contains(&kind), "{kind} in {log}");
    }
    assert!(
        log.contains("\"end\":\"granted\"") && log.contains("\"drills\":{\"every\":1,\"seed\":4}")
    );
    assert_eq!(list(&dash)[0]["state"], "drilled");
    let shown = dash.cli(&["audit", "show", id.as_str().unwrap()]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    for words in [
        "proposed by dashboard",
        "a drill of the dashboard",
        "drilled by person",
        "granted; nothing ran by",
        "line 4 prints",
    ] {
        assert!(shown.contains(words), "{words} is not in {shown}");
    }
    assert!(dash.cli(&["audit", "verify"]).status.success());
    let stats = dash.cli(&["audit", "stats", "--format", "json", "--since", "1d"]);
    let stats: Value = serde_json::from_slice(&stats.stdout).unwrap();
    let reviewer = &stats["reviewers"][0];
    assert_eq!(
        (&reviewer["granted"], &reviewer["denied"]),
        (&json!(0), &json!(1)),
        "{stats}"
    );
    assert_eq!(reviewer["drills"]["granted"], 1);
    assert_eq!(stats["drills"]["rate"], 0.0);
    assert_eq!(stats["drills"]["by_harm"]["private_data"]["shown"], 1);
    assert_eq!(stats["drills"]["plan"]["seed"], 4);
    assert_eq!(
        (&stats["proposals"], &stats["agents"][0]["proposed"]),
        (&json!(1), &json!(1))
    );
    let words = String::from_utf8(dash.cli(&["audit", "stats"]).stdout).unwrap();
    assert!(
        words.contains("drills: 0 of 1 answered caught (0 %)"),
        "{words}"
    );
    let wrong = dash.cli(&["audit", "stats", "--since", "yesterday"]);
    assert_eq!(wrong.status.code(), Some(2));
    let told = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(told.contains("7d or 4w"), "{told}");
    dash.keys("q");
    dash.wait_exit();
    let raw = String::from_utf8_lossy(&dash.raw()).into_owned();
    assert!(
        raw.contains("1 drill: 0 caught, 1 granted; none of them ran."),
        "{raw}"
    );
}

#[test]
fn a_denied_drill_is_caught_and_nothing_is_learned_by_the_agent() {
    let mut dash = Dash::with(&options());
    let _agent = until_a_drill_waits(&mut dash);
    dash.keys("d");
    dash.wait_text("reason for etl-bot");
    dash.keys("it prints rows\r");
    dash.wait_text("Caught: that was a drill; line 4 prints");
    dash.wait_for("the record", |d, _| {
        d.log_text().contains("\"end\":\"caught\"")
    });
    let log = dash.log_text();
    let denials = log.matches("\"kind\":\"denied\"").count();
    assert_eq!(denials, 1, "{log}");
    assert!(!log.contains("it prints rows"), "{log}");
    // One that still waits when the dashboard closes is not answered.
    let mut agent = dash.agent();
    let real = agent.propose(json!({"code": "print('real')\n", "title": "another"}));
    dash.go_to_urgent();
    dash.keys("dno\r");
    assert_eq!(agent.outcome(&real["id"])["state"], "denied");
    wait_for_a_drill(&dash);
    dash.wait_text("1 pending");
    dash.keys("q");
    dash.wait_text("Quit");
    dash.keys("y");
    dash.wait_exit();
    let raw = String::from_utf8_lossy(&dash.raw()).into_owned();
    assert!(
        raw.contains("2 drills: 1 caught, 0 granted, 1 not answered; none of them ran."),
        "{raw}"
    );
    assert!(dash.cli(&["audit", "verify"]).status.success());
}
