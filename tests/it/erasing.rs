//! `countersign audit erase`: contents go only by a person at a terminal, and everybody who reads the log is told so.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::process::{Command, Stdio};

use countersign::model::{Digest, LogEvent};

use crate::common::dash::{Dash, environment};
use crate::proofs::{Signed, check, said};
use crate::samples;

const CODE: &str = "print('a secret word')\n";

#[test]
fn only_a_person_at_a_terminal_erases_and_each_view_says_so() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let id = agent.code(CODE)["id"].as_str().unwrap().to_owned();
    agent.call("withdraw", serde_json::json!({"id": id}));
    let blob = dash.state.join(format!("blobs/{}", {
        let hex = Digest::of(CODE.as_bytes()).hex();
        format!("{}/{hex}", &hex[..2])
    }));
    // While a dashboard holds the log nothing goes.
    let refused = dash.cli(&["audit", "erase", &id, "--dry-run"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        said(&refused).contains("in use by another dashboard"),
        "{}",
        said(&refused)
    );
    dash.keys("q");
    assert!(dash.wait_exit().success());

    for flag in ["--yes", "--force", "-y"] {
        let output = dash.cli(&["audit", "erase", &id, flag]);
        assert_eq!(output.status.code(), Some(2), "{flag}");
    }
    let dry = dash.cli(&["audit", "erase", &id, "--dry-run"]);
    assert!(
        said(&dry).starts_with("goes     1 content, "),
        "{}",
        said(&dry)
    );
    let mut without = Command::new("setsid");
    without
        .arg("--wait")
        .arg(env!("CARGO_BIN_EXE_countersign"))
        .args(["audit", "erase", &id])
        .env_clear()
        .envs(environment(dash.root()))
        .stdin(Stdio::null());
    let without = without.output().unwrap();
    assert!(
        said(&without).contains("erase asks a person"),
        "{}",
        said(&without)
    );
    // Without a reason, or with anything but the digits, nothing goes.
    for answers in [&["\r"][..], &["asked to\r", "y\r"]] {
        dash.then(&["audit", "erase", &id]);
        dash.wait_text("why (the log keeps it)");
        dash.keys(answers[0]);
        if let Some(digits) = answers.get(1) {
            dash.wait_text("to erase it");
            dash.keys(digits);
        }
        dash.wait_text("nothing was erased");
        assert_eq!(dash.wait_exit().exit_code(), 1);
    }
    assert!(blob.exists());

    dash.then(&["audit", "erase", &id]);
    dash.wait_text("why (the log keeps it)");
    dash.keys("the owner asked\r");
    let page = dash.wait_text("to erase it");
    let digits = page.split_once("type ").unwrap().1[..4].to_owned();
    dash.keys(&format!("{digits}\r"));
    dash.wait_text("the log says so");
    assert_eq!(dash.wait_exit().exit_code(), 0);
    assert!(!blob.exists());

    let verify = dash.cli(&["audit", "verify"]);
    assert_eq!(verify.status.code(), Some(0), "{}", said(&verify));
    assert!(
        said(&verify).contains("1 content erased as recorded"),
        "{}",
        said(&verify)
    );
    let show = said(&dash.cli(&["audit", "show", &id]));
    assert!(show.contains("erased its contents (code) at "), "{show}");
    assert!(show.contains("\"the owner asked\""), "{show}");
    assert!(show.contains("    erased by uid "), "{show}");
    assert!(!show.contains("secret word"), "{show}");
    let list = said(&dash.cli(&["audit", "list", "\"secret word\""]));
    assert!(
        list.contains("none of 1 proposal, the newest of "),
        "{list}"
    );
    // The screen of the log says so as well.
    dash.then(&[]);
    dash.wait_for("the socket", |d, _| d.socket.exists());
    dash.press_until("2", "the audit screen", |screen| {
        screen.contains("withdrawn")
    });
    dash.press_until("\r", "its records", |screen| {
        screen.contains("erased its contents")
    });
    dash.keys("q");
}

/// The index is for reading: whoever can write it must not be able to lift a hold.
#[test]
fn a_row_of_the_index_lifts_no_hold() {
    let log = Signed::new();
    let id = log.id.to_string();
    let config = log.path(".config/countersign");
    std::fs::create_dir_all(&config).unwrap();
    let hold = "[audit]\nhold = 'title:revenue'\n";
    std::fs::write(config.join("config.toml"), hold).unwrap();
    let held = || {
        let output = log.cli(&["audit", "erase", &id, "--dry-run"]);
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(said(&output).contains("is on hold"), "{}", said(&output));
    };
    held();
    assert_eq!(log.cli(&["audit", "list"]).status.code(), Some(0));
    let index = rusqlite::Connection::open(log.state().join("index/v1.sqlite3")).unwrap();
    let changed = index.execute("update proposals set title = 'harmless'", []);
    assert_eq!(changed.unwrap(), 1);
    drop(index);
    held();
}

#[test]
fn a_bundle_of_what_was_erased_is_whole_and_says_so() {
    let log = Signed::new();
    let erased = |digest| LogEvent::Erased {
        id: log.id,
        contents: vec![countersign::model::ErasedContent {
            part: countersign::model::ErasedPart::Code,
            sha256: digest,
        }],
        reason: "asked to".to_owned(),
        by: Default::default(),
    };
    let digest = Digest::of(samples::CODE);
    let hex = digest.hex();
    countersign::audit::append(&log.state(), erased(digest)).unwrap();
    std::fs::remove_file(log.state().join(format!("blobs/{}/{hex}", &hex[..2]))).unwrap();
    log.sign();
    let to = log.path("bundle").display().to_string();
    let query = format!("id:{}", log.id);
    let output = log.cli(&["audit", "export", "--bundle", &to, &query]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let (good, told) = check(&["--key", &log.key(), &to]);
    assert!(good, "{told}");
    let page = std::fs::read_to_string(log.path("bundle/index.html")).unwrap();
    assert!(page.contains("It was erased by uid 0 at "), "{page}");
    // Without the record's word a content that lacks is a fault.
    let blobs = log.path("bundle/blobs");
    let other = std::fs::read_dir(blobs).unwrap().next().unwrap().unwrap();
    std::fs::remove_file(other.path()).unwrap();
    let (good, told) = check(&["--key", &log.key(), &to]);
    assert!(
        !good && told.contains("is missing, and a record names it"),
        "{told}"
    );
}
