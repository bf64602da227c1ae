//! The whole path through a real terminal, a real socket and a real child.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::dash::{Dash, Options, PATIENCE, progress};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

const PASTE: (&str, &str) = ("\x1b[200~", "\x1b[201~");

fn audit_list(dash: &Dash) -> String {
    let output = dash.cli(&["audit", "list"]);
    String::from_utf8(output.stdout).unwrap()
}

/// The log is consistent, and no record says that anything was granted or started.
fn assert_nothing_ran(dash: &Dash) {
    let verify = dash.cli(&["audit", "verify"]);
    assert!(
        verify.status.success(),
        "{}",
        String::from_utf8_lossy(&verify.stderr)
    );
    let log = dash.log_text();
    for kind in ["granted", "started", "finished"] {
        assert!(
            !log.contains(&format!("\"kind\":\"{kind}\"")),
            "{kind} in {log}"
        );
    }
}

#[test]
fn a_granted_proposal_runs_and_is_found_in_the_verified_log() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let proposal = agent.code("print(\"granted\", 6 * 7)\n");
    assert_eq!(proposal["state"], "pending");
    assert_eq!(proposal["verdict"]["verdict"], "clear");
    dash.grant(&mut agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    assert_eq!(outcome["run"]["stdout"], "granted 42\n");
    assert_eq!(outcome["run"]["exit"], json!({"code": 0}));
    dash.wait_text("granted 42");
    let verify = dash.cli(&["audit", "verify"]);
    assert_eq!(
        verify.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&verify.stderr)
    );
    let list = audit_list(&dash);
    assert!(
        list.contains(proposal["id"].as_str().unwrap()) && list.contains("succeeded"),
        "{list}"
    );
}

#[test]
fn a_data_set_reaches_the_code_under_its_input_name() {
    let mut dash = Dash::with(&Options {
        config: "[datasets.sales]\npath = \"sales.csv\"\n",
        files: &[("sales.csv", "region,amount\nnorth,1\nnorth,2\nsouth,3\n")],
        ..Options::default()
    });
    let mut agent = dash.agent();
    let proposal = agent.propose(json!({
        "code": "print(sales.groupby('region')['amount'].sum().to_dict(), factor)\n",
        "inputs": {"sales": {"dataset": "sales"}, "factor": {"json": {"k": [1, 2]}}},
    }));
    dash.grant(&mut agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(
        outcome["run"]["stdout"], "{'north': 3, 'south': 3} {'k': [1, 2]}\n",
        "{outcome}"
    );
}

#[test]
fn walled_code_runs_without_modules_and_its_tick_limit_and_refusals_are_reported_and_logged() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let walled = |code: &str| json!({"code": code, "profile": "walled"});
    let proposal = agent.propose(walled(
        "class Point:\n    def __init__(self, x):\n        self.x = x\nprint(Point(42).x)\n",
    ));
    assert_eq!(proposal["verdict"]["verdict"], "clear", "{proposal}");
    dash.grant(&mut agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["run"]["stdout"], "42\n", "{outcome}");

    let blocked = agent.propose(walled("import math\n"));
    assert_eq!(blocked["state"], "blocked", "{blocked}");

    let proposal = agent.propose(walled("n = 0\nwhile n >= 0:\n    n += 1\n"));
    dash.grant(&mut agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["run"]["error"]["type"], "TickLimit", "{outcome}");
    assert_eq!(outcome["run"]["limit"], "ticks");
    assert_eq!(outcome["run"]["events"][0]["kind"], "limit", "{outcome}");
    let id = proposal["id"].as_str().unwrap();
    let shown = dash.cli(&["audit", "show", id]);
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.contains("guard: limit line 2: "), "{shown}");
}

/// Makes a virtual environment with the managed interpreter; returns its interpreter and packages.
fn venv(folder: &std::path::Path) -> (std::path::PathBuf, std::path::PathBuf) {
    let base = common::python::managed_env();
    let output = std::process::Command::new(&base.executable)
        .args(["-m", "venv", "--without-pip"])
        .arg(folder)
        .status()
        .unwrap();
    assert!(output.success());
    let (major, minor, _) = base.version;
    let packages = folder.join(format!("lib/python{major}.{minor}/site-packages"));
    (folder.join("bin/python"), packages)
}

#[test]
fn a_changed_environment_closes_the_sheet_by_name_and_never_runs_under_its_old_digest() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(
        folder.path(),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let (python, packages) = venv(&folder.path().join("venv"));
    let config = format!(
        "profile = \"walled\"\npython = {:?}\n",
        python.display().to_string()
    );
    let mut dash = Dash::with(&Options {
        config: &config,
        ..Options::default()
    });
    let mut agent = dash.agent();
    let proposal = agent.code("print(6 * 7)\n");
    dash.open_sheet();
    dash.press_until("\x1b", "the queue", |text| !text.contains("GRANT?"));
    std::fs::write(packages.join("json.py"), "raise SystemExit\n").unwrap();
    // The sheet opens, the environment is checked, and the sheet closes.
    dash.press_until(" a", "the change", |text| {
        text.contains("json.py was added")
    });
    let log = || dash.log_text();
    dash.wait_for("the record", |_, _| {
        log().contains("\"kind\":\"environment_changed\"")
    });
    assert!(!log().contains("\"kind\":\"granted\""));
    // The next grant names the change and runs in the environment as read again.
    dash.grant(&mut agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["run"]["stdout"], "42\n", "{outcome}");
    let reported = outcome.to_string();
    assert!(!reported.contains("json.py"), "{reported}");
    let digests: std::collections::BTreeSet<String> = dash
        .log_text()
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|record| find(&record, "environment"))
        .collect();
    assert_eq!(digests.len(), 2, "{digests:?}");
}

/// The text under this name, at any depth.
fn find(record: &Value, name: &str) -> Option<String> {
    match record {
        Value::Object(map) => map
            .get(name)
            .and_then(Value::as_str)
            .map(str::to_owned)
            .or_else(|| map.values().find_map(|value| find(value, name))),
        Value::Array(list) => list.iter().find_map(|value| find(value, name)),
        _ => None,
    }
}

#[test]
fn a_denied_proposal_never_runs_and_its_agent_gets_the_reason() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let proposal = agent.code("print('denied')\n");
    dash.wait_text("print('denied')");
    dash.keys("d");
    dash.wait_text("deny, reason");
    dash.keys("not today\r");
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["state"], "denied");
    assert_eq!(outcome["decision"]["reason"], "not today");
    assert!(outcome["run"].is_null());
    assert_nothing_ran(&dash);
}

#[test]
fn an_undecided_proposal_expires_and_never_runs() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let proposal = agent.propose(json!({"code": "print('late')\n", "ttl_s": 1}));
    dash.keys("u");
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["state"], "expired");
    assert_eq!(outcome["retry"], "same");
    dash.wait_text("expired");
    assert_nothing_ran(&dash);
}

#[test]
fn a_withdrawn_proposal_never_runs() {
    let dash = Dash::start();
    let mut agent = dash.agent();
    let proposal = agent.code("print('withdrawn')\n");
    let answer = agent.call("withdraw", json!({"id": proposal["id"]}));
    assert_eq!(answer["result"]["state"], "withdrawn");
    assert_eq!(agent.outcome(&proposal["id"])["state"], "withdrawn");
    assert_nothing_ran(&dash);
}

#[test]
fn a_closed_connection_withdraws_proposals_without_a_key() {
    let dash = Dash::start();
    let mut agent = dash.agent();
    agent.code("print('gone')\n");
    let mut keyed = dash.agent();
    let params = json!({"code": "print('kept')\n", "idempotency_key": "k1"});
    let kept = keyed.propose(params.clone());
    agent.close();
    keyed.close();
    dash.wait_for("the withdrawal", |d, _| audit_list(d).contains("withdrawn"));
    let mut again = dash.agent();
    assert_eq!(again.propose(params)["id"], kept["id"]);
    assert_eq!(again.state(&kept["id"]), "pending");
    assert_nothing_ran(&dash);
}

#[test]
fn a_blocked_or_unparsable_proposal_is_final_at_once() {
    let dash = Dash::start();
    let mut agent = dash.agent();
    for (code, verdict) in [
        ("import os\nos.system('id')\n", "blocked"),
        ("x = (\n", "unanalyzable"),
    ] {
        let proposal = agent.code(code);
        assert_eq!(proposal["state"], "blocked");
        let outcome = agent.outcome(&proposal["id"]);
        assert_eq!(outcome["verdict"]["verdict"], verdict);
        assert!(outcome["run"].is_null());
    }
    assert_nothing_ran(&dash);
}

#[test]
fn keys_typed_ahead_never_grant() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    dash.keys("ayayayyy");
    let proposal = agent.code("print(1)\n");
    dash.keys("ayayayay");
    dash.wait_text("print(1)");
    assert_eq!(agent.state(&proposal["id"]), "pending");
    assert_nothing_ran(&dash);
}

#[test]
fn a_paste_never_grants() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let proposal = agent.code("print(1)\n");
    let (begin, end) = PASTE;
    dash.wait_text("print(1)");
    dash.keys(&format!("{begin}ay{end}"));
    dash.open_sheet();
    for _ in 0..8 {
        dash.keys(&format!("{begin}y\r{end}"));
        dash.wait_text("GRANT?");
    }
    assert_eq!(agent.state(&proposal["id"]), "pending");
    assert_nothing_ran(&dash);
}

#[test]
fn lines_that_were_not_seen_are_not_granted() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let code: String = (0..400).map(|i| format!("x{i} = {i}\n")).collect();
    let proposal = agent.code(&code);
    dash.go_to_urgent();
    // Once rows count as seen, the grace period is over; one key after a pause is not too early.
    dash.wait_for("the first page to count", |_, text| {
        progress(text).is_some_and(|(have, _)| have > 0)
    });
    dash.press("a");
    dash.wait_text("not seen; Space goes there");
    assert!(!dash.text().contains("GRANT?"));
    dash.keys("y");
    assert_eq!(agent.state(&proposal["id"]), "pending");
    dash.grant(&mut agent, &proposal);
    assert_eq!(agent.outcome(&proposal["id"])["state"], "succeeded");
}

#[test]
fn pages_that_rush_past_are_not_seen() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    agent.code(&"x = 1\n".repeat(5_000));
    let begun = std::time::Instant::now();
    dash.wait_for("the first page to count", |_, text| {
        progress(text).is_some_and(|(have, _)| have > 0)
    });
    let (page, all) = progress(&dash.text()).unwrap();
    assert_eq!(all, 5_000);
    // More pages than there are, and a screen is drawn for each.
    let keys = all / page + 60;
    let rush = format!("{}?", " ".repeat(keys));
    // The help appears only after all these keys were read.
    dash.until(&rush, "the help", |_, text| {
        text.contains("next unseen row, or a page down")
    });
    let text = dash.until("?", "the code", |_, text| progress(text).is_some());
    // Only as many rows count as a person could have seen in that time.
    let pages = begun.elapsed().as_millis() as usize / 150 + 1;
    let (have, all) = progress(&text).unwrap();
    assert!(
        have <= page * pages && have < all,
        "{have} after {pages} pages"
    );
}

#[test]
fn a_flagged_proposal_takes_its_digits_and_nothing_else() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let proposal = agent.propose(json!({"code": "x = 9**9**9 if False else 1\nprint(x)\n"}));
    assert_eq!(proposal["verdict"]["verdict"], "flagged", "{proposal}");
    dash.open_sheet();
    dash.press_until(" ", "the digits", |text| text.contains(" to grant"));
    let digits = dash.digits().expect("the sheet shows digits");
    let wrong = if digits == "0000" { "1111" } else { "0000" };
    for _ in 0..6 {
        dash.keys(&format!("y{wrong}\r"));
        dash.wait_text(" to grant");
    }
    assert_eq!(agent.state(&proposal["id"]), "pending");
    dash.grant(&mut agent, &proposal);
    assert_eq!(agent.outcome(&proposal["id"])["run"]["stdout"], "1\n");
}

#[test]
fn a_running_child_is_killed_by_the_kill_key() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    // The guard in the child is asked first and reports the snippet's line. It has a tenth of a
    // second, which may be too short on a busy machine.
    let reported = (0..10).any(|turn| {
        let proposal = agent.code(&format!(
            "import datetime\nprint('be' + 'gun {turn}', flush=True)\nx = 0\n\
             for i in range(10**9):\n    x += i\n"
        ));
        dash.grant(&mut agent, &proposal);
        dash.wait_text(&format!("begun {turn}"));
        dash.press_until("x", "the end", |text| !text.contains("1 running"));
        let outcome = agent.outcome(&proposal["id"]);
        assert_eq!(outcome["state"], "failed", "{outcome}");
        assert_eq!(outcome["run"]["error"]["type"], "Cancelled", "{outcome}");
        outcome["run"]["error"]["line"].is_u64()
    });
    assert!(reported, "no line of ten runs");
}

#[test]
fn quitting_asks_and_leaves_pending_proposals_unattended() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let proposal = agent.code("print('unattended')\n");
    let wait = agent.send("wait", json!({"id": proposal["id"]}));
    // Requests of a connection are handled in order: this answer means that `wait` was received.
    assert_eq!(agent.state(&proposal["id"]), "pending");
    dash.wait_text("print('unattended')");
    dash.keys("q");
    dash.wait_text("Quit with");
    dash.keys("y");
    let outcome = agent.answer(wait, PATIENCE)["result"].clone();
    assert_eq!(outcome["state"], "unattended");
    assert!(dash.wait_exit().success());
    assert!(!dash.socket.exists(), "the socket is gone");
    dash.wait_for("the terminal as it was", |d, _| !d.alternate_screen());
    assert_nothing_ran(&dash);
}

#[test]
fn a_dashboard_killed_with_nine_leaves_no_child_and_grants_nothing_when_it_returns() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let running = agent.code("print('be' + 'gun', flush=True)\nwhile True:\n    pass\n");
    dash.grant(&mut agent, &running);
    dash.wait_text("begun");
    let waiting = agent.code("print('waiting')\n");
    assert_eq!(waiting["state"], "pending");
    let children = descendants(dash.pid());
    assert!(!children.is_empty());
    dash.signal(Signal::SIGKILL);
    dash.wait_exit();
    dash.wait_for("the end of every child", |_, _| {
        children.iter().all(|pid| !is_alive(*pid))
    });
    let list = audit_list(&dash);
    assert!(
        list.contains("running") && list.contains("pending"),
        "{list}"
    );
    let verify = dash.cli(&["audit", "verify"]);
    assert_eq!(
        verify.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&verify.stderr)
    );
}

/// After a log rotator moved the file, its descriptor still accepts records, but no reader would
/// ever see that the run was granted.
#[test]
fn a_run_granted_after_the_log_was_moved_away_does_not_run() {
    type Moving = fn(&std::path::Path);
    let cases: [(Moving, &str); 2] = [
        (
            |log| {
                std::fs::rename(log.join("00000001.jsonl"), log.join("00000001.jsonl.1")).unwrap();
            },
            "log/00000001.jsonl is gone",
        ),
        (|log| std::fs::remove_dir_all(log).unwrap(), "log is gone"),
    ];
    for (moving, expected) in cases {
        let mut dash = Dash::start();
        let mut agent = dash.agent();
        let proposal = agent.code("print('it' + ' ran', flush=True)\n");
        assert_eq!(proposal["state"], "pending");
        let wait = agent.send("wait", json!({"id": proposal["id"]}));
        dash.open_sheet();
        moving(&dash.state.join("log"));
        // The loss may be noticed before the grant.
        dash.press_until("y", "the end of all runs", |text| {
            text.contains("AUDIT DOWN")
        });
        let outcome = agent.answer(wait, PATIENCE)["result"].clone();
        assert_eq!(outcome["state"], "error", "{outcome}");
        assert!(outcome["run"].is_null(), "{outcome}");
        let screen = dash.wait_text(expected);
        assert!(screen.contains("start again"), "no remedy:\n{screen}");
        assert!(!screen.contains("it ran"), "{screen}");
        assert!(!screen.contains("log ✓"), "{screen}");
    }
}

#[test]
fn the_smallest_terminals_show_what_they_need_and_grant_nothing() {
    let mut dash = Dash::with(&Options {
        size: (20, 5),
        ..Options::default()
    });
    let mut agent = dash.agent();
    let proposal = agent.code("print('small')\n");
    for _ in 0..5 {
        dash.keys("u a y");
        assert_eq!(agent.state(&proposal["id"]), "pending");
    }
    dash.resize(80, 24);
    dash.wait_text("print('small')");
    dash.grant(&mut agent, &proposal);
    assert_eq!(agent.outcome(&proposal["id"])["state"], "succeeded");
}

#[test]
fn nothing_untrusted_reaches_the_terminal_raw() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    agent.propose(json!({
        "code": "x = 1 # \u{202e}\u{200b}\u{e0041}\n",
        "title": format!("\u{1b}]0;owned\u{7}\u{1b}[31mSAFE\u{1b}[0m \u{202e}grant{}", "x".repeat(10_000)),
        "reason": "\u{9b}2J\u{2028}✓ GRANTED by policy",
        "agent": {"name": "bot\u{1b}[2J\r\n"},
    }));
    let proposal = agent.code(
        "for c in (27, 155, 8238, 7):\n    print(chr(c) + ']0;owned', end='')\nprint('end')\n",
    );
    dash.grant(&mut agent, &proposal);
    agent.outcome(&proposal["id"]);
    dash.wait_text("end");
    let raw = String::from_utf8_lossy(&dash.raw()).into_owned();
    for harmful in [
        "\u{202e}",
        "\u{200b}",
        "\u{e0041}",
        "\u{9b}",
        "\u{2028}",
        "\u{1b}]0;owned",
        "\u{1b}[31mSAFE",
    ] {
        assert!(
            !raw.contains(harmful),
            "{} reached the terminal",
            harmful.escape_unicode()
        );
    }
}

#[test]
fn the_agent_hears_of_states_and_output_as_they_come() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let proposal = agent.propose(json!({"code": "print('one')\nprint('two')\n", "stream": true}));
    dash.grant(&mut agent, &proposal);
    agent.outcome(&proposal["id"]);
    let states: Vec<&str> = agent
        .notes
        .iter()
        .filter(|n| n["method"] == "state")
        .filter_map(|n| n["params"]["state"].as_str())
        .collect();
    assert_eq!(states, ["granted", "running", "succeeded"]);
    let text: String = agent
        .notes
        .iter()
        .filter(|n| n["method"] == "output")
        .filter_map(|n: &Value| n["params"]["text"].as_str())
        .collect();
    assert_eq!(text, "one\ntwo\n");
}

#[test]
fn submit_prints_the_output_of_the_granted_snippet() {
    use std::io::Write as _;
    let mut dash = Dash::start();
    let mut submit = dash.spawn(&["submit", "-", "--title", "a question", "--agent", "shell"]);
    let mut stdin = submit.stdin.take().unwrap();
    stdin.write_all(b"print('six times', 7)\n").unwrap();
    drop(stdin);
    dash.wait_text("a question");
    dash.open_sheet();
    dash.press_until(" y", "the end", |text| text.contains("succeeded"));
    let output = submit.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(output.stdout, b"six times 7\n");
}

#[test]
fn the_exit_code_of_submit_reports_the_outcome() {
    let mut dash = Dash::start();
    let blocked = dash.root().join("blocked.py");
    std::fs::write(&blocked, "import subprocess\n").unwrap();
    let output = dash.cli(&["submit", blocked.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    let fine = dash.root().join("fine.py");
    std::fs::write(&fine, "print('denied')\n").unwrap();
    let output = dash.cli(&["submit", fine.to_str().unwrap(), "--ttl", "1"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let submit = dash.spawn(&["submit", fine.to_str().unwrap(), "--title", "to be denied"]);
    // The expired proposal stays selected; a new proposal does not change the selection.
    dash.press_until("u", "the new proposal", |text| {
        text.contains("says: to be denied")
    });
    dash.keys("d");
    dash.wait_text("deny, reason");
    dash.keys("no\r");
    let output = submit.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("no"),
        "{output:?}"
    );
    assert_nothing_ran(&dash);
}

#[test]
fn the_demo_needs_no_configuration_and_its_proposals_arrive() {
    let mut dash = Dash::launch(&Options {
        args: &["demo"],
        config: "this is no configuration",
        ..Options::default()
    });
    dash.wait_for("three proposals", |_, text| {
        text.contains("notebook") && text.contains("etl-bot") && text.contains("pending")
    });
    dash.keys("q");
    dash.wait_text("Quit with");
    dash.keys("y");
    assert!(dash.wait_exit().success());
}

fn descendants(pid: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut open = vec![pid];
    while let Some(parent) = open.pop() {
        for task in std::fs::read_dir(format!("/proc/{parent}/task"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let children =
                std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            for child in children.split_whitespace().filter_map(|c| c.parse().ok()) {
                found.push(child);
                open.push(child);
            }
        }
    }
    found
}

/// Whether the process exists and is not a zombie.
fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit_once(')')
            .is_some_and(|(_, rest)| rest.starts_with(" Z"))
    })
}

#[test]
fn files_of_a_run_are_recorded_read_in_parts_and_used_by_the_next_step() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let first = agent.code(
        "df = pd.DataFrame({'n': range(200_000)})\n\
         df.to_csv('big.csv', index=False)\n\
         df.head(3).to_csv('small.csv', index=False)\n\
         df.to_parquet('big.parquet')\n",
    );
    dash.grant(&mut agent, &first);
    let outcome = agent.outcome(&first["id"]);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    let artifacts = outcome["run"]["artifacts"].as_array().unwrap();
    let artifact = |name: &str| {
        let found = artifacts.iter().find(|a| a["name"] == name);
        found.unwrap_or_else(|| panic!("{outcome}")).clone()
    };
    assert_eq!(artifact("big.csv")["media_type"], "text/csv");
    let mut text = Vec::new();
    let mut at = json!(0);
    while !at.is_null() {
        let params = json!({"id": first["id"], "name": "big.csv", "offset": at});
        let part = agent.call("artifact", params)["result"].clone();
        text.extend(STANDARD.decode(part["base64"].as_str().unwrap()).unwrap());
        at = part["next_offset"].clone();
    }
    assert_eq!(json!(text.len()), artifact("big.csv")["bytes"]);
    assert_eq!(
        json!(countersign::model::Digest::of(&text).hex()),
        artifact("big.csv")["sha256"]
    );
    let error = agent.call("artifact", json!({"id": first["id"], "name": "none"}));
    assert_eq!(error["error"]["code"], -32602, "{error}");
    // Another session learns nothing about it and cannot use it.
    let mut other = dash.agent();
    let error = other.call("artifact", json!({"id": first["id"], "name": "big.csv"}));
    assert_eq!(error["error"]["code"], -32004, "{error}");
    let earlier = |name: &str| json!({"artifact": {"id": first["id"], "name": name}});
    let error = other.call(
        "propose",
        json!({"code": "1", "inputs": {"t": earlier("big.csv")}}),
    );
    assert_eq!(error["error"]["code"], -32004, "{error}");
    let second = agent.propose(json!({
        "code": "print(small['n'].sum(), big['n'].sum(), table.shape)\n",
        "inputs": {
            "small": earlier("small.csv"),
            "big": earlier("big.csv"),
            "table": earlier("big.parquet"),
        },
    }));
    dash.wait_text("small.csv");
    dash.grant(&mut agent, &second);
    let outcome = agent.outcome(&second["id"]);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    assert_eq!(outcome["run"]["stdout"], "3 19999900000 (200000, 1)\n");
    let verify = dash.cli(&["audit", "verify"]);
    assert!(verify.status.success(), "{verify:?}");
    let show = dash.cli(&["audit", "show", first["id"].as_str().unwrap()]);
    let show = String::from_utf8_lossy(&show.stdout).into_owned();
    assert!(show.contains("artifact big.parquet"), "{show}");
}
