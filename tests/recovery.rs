//! The log through the dashboard's binary: what a start finds, what `status` says, and what only a
//! person mends.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Output;

use common::dash::Dash;
use nix::sys::signal::Signal;

fn said(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8(text).unwrap()
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

#[test]
fn status_says_what_the_screen_says_of_a_log_that_went_down() {
    let dash = Dash::start();
    let mut agent = dash.agent();
    assert_eq!(agent.code("print(1)\n")["state"], "pending");
    let status = dash.cli(&["status"]);
    assert_eq!(status.status.code(), Some(0), "{}", said(&status));
    assert_eq!(said(&status), "1 pending · 0 running · log ok\n");
    let segment = dash.state.join("log/00000001.jsonl");
    std::fs::rename(&segment, dash.state.join("elsewhere")).unwrap();
    agent.send("propose", serde_json::json!({"code": "print(2)\n"}));
    dash.wait_text("AUDIT DOWN");
    for put_back in [false, true] {
        if put_back {
            std::fs::rename(dash.state.join("elsewhere"), &segment).unwrap();
        }
        let status = dash.cli(&["status"]);
        assert_eq!(status.status.code(), Some(1));
        let text = said(&status);
        assert!(
            text.starts_with("0 pending · 0 running · log down\n"),
            "{text}"
        );
        assert!(text.contains(&format!("(pid {})", dash.pid())), "{text}");
        assert_eq!(text.contains("segment is missing"), !put_back, "{text}");
        let json: serde_json::Value =
            serde_json::from_slice(&dash.cli(&["status", "--json"]).stdout).unwrap();
        assert_eq!(
            (&json["dashboard"], &json["log"]),
            (&true.into(), &"down".into())
        );
    }
}

#[test]
fn a_log_with_a_changed_content_is_named_on_the_screen_and_goes_on() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    let proposal = agent.code("print('first')\n");
    assert_eq!(proposal["state"], "pending");
    dash.wait_text("log ✓");
    dash.signal(Signal::SIGKILL);
    dash.ended();
    // What it left open is ended by the next start, and that is a sound life.
    dash.then(&[]);
    dash.wait_text("log ✓");
    dash.keys("q");
    dash.ended();
    let verify = dash.cli(&["audit", "verify"]);
    assert_eq!(verify.status.code(), Some(0), "{}", said(&verify));

    let blob = files(&dash.state.join("blobs")).pop().unwrap();
    let mut bytes = std::fs::read(&blob).unwrap();
    bytes[0] ^= 1;
    std::fs::write(&blob, bytes).unwrap();
    dash.then(&[]);
    let screen = dash.wait_text("log ✗ damaged");
    assert!(screen.contains("The log is damaged: blobs/"), "{screen}");
    assert!(screen.contains("(seq 2)"), "{screen}");
    let again = dash.agent().code("print('second')\n");
    assert_eq!(again["state"], "pending");
}
