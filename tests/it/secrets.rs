//! Secrets that pass through a dashboard are in none of its files, exports and bundles.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::Path;

use base64::Engine as _;
use serde_json::json;

use crate::common::dash::{Dash, Options};

/// The value of a variable of the dashboard.
const VALUE: &str = "zQ8pa-77wo0rD-x1y";

/// A token of GitHub's format, another one for each place. No file of this repository has one.
fn token(place: u8) -> String {
    format!("ghp_{}{place:02}", "aB3".repeat(12).get(..34).unwrap())
}

fn forms() -> Vec<Vec<u8>> {
    let hex = |text: &str| -> String { text.bytes().map(|b| format!("{b:02x}")).collect() };
    let encoded = base64::engine::general_purpose::STANDARD.encode(VALUE);
    let core = encoded.get(..16).unwrap().to_owned();
    [
        VALUE.to_owned(),
        core,
        hex(VALUE),
        "aB3aB3aB3".to_owned(),
        hex("aB3aB3aB3"),
    ]
    .map(String::into_bytes)
    .into()
}

#[track_caller]
fn assert_clean(what: &str, bytes: &[u8]) {
    for form in forms() {
        let at = bytes.windows(form.len()).position(|window| window == form);
        assert_eq!(at, None, "{what}: {}", String::from_utf8_lossy(&form));
    }
}

fn assert_folder_clean(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert_clean("a name", path.to_str().unwrap().as_bytes());
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() {
            assert_folder_clean(&path);
        } else if kind.is_file() {
            assert_clean(path.to_str().unwrap(), &fs::read(&path).unwrap());
        }
    }
}

#[test]
fn canaries_of_every_place_are_nowhere_below_the_state_folder_and_in_no_export() {
    let mut dash = Dash::with(&Options {
        env: &[("PARTNER_TOKEN", VALUE)],
        ..Options::default()
    });
    let mut agent = dash.agent();
    // The printed token comes in two writes, and the code has none of it whole.
    let code = format!(
        "# {}\nprint('gh', end='', flush=True)\nprint('p_' + ('aB3' * 12)[:34] + '01')\nprint(secret['s'])\n\
         with open('a.txt', 'w') as f:\n    f.write(secret['s'])\nsecret['s']\n",
        token(2)
    );
    let proposal = agent.propose(json!({
        "code": code,
        "title": format!("title {}", token(3)),
        "reason": format!("reason {VALUE}"),
        "agent": {"name": "etl", "session": token(4)},
        "inputs": {"secret": {"json": {"s": VALUE}}},
    }));
    dash.grant(&mut agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    // The agent and the run have the exact bytes.
    let stdout = outcome["run"]["stdout"].as_str().unwrap();
    assert!(
        stdout.contains(&token(1)) && stdout.contains(VALUE),
        "{stdout}"
    );

    let failed = agent.code("raise ValueError('gh' + 'p_' + ('aB3' * 12)[:34] + '05')\n");
    dash.grant(&mut agent, &failed);
    assert_eq!(agent.outcome(&failed["id"])["state"], "failed");

    let denied = agent.code("print(2)\n");
    dash.go_to_urgent();
    dash.keys("d");
    dash.wait_text("deny, reason");
    dash.keys(&format!("no {}\r", token(6)));
    let outcome = agent.outcome(&denied["id"]);
    assert_eq!(outcome["decision"]["reason"], format!("no {}", token(6)));

    let state = dash.state.clone();
    assert_folder_clean(&state);
    drop(agent);
    dash.press("q");
    dash.wait_exit();
    assert_folder_clean(&state);

    let shown = dash.cli(&["audit", "show", proposal["id"].as_str().unwrap()]);
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(
        text.contains("secrets were replaced before this was kept"),
        "{text}"
    );
    assert!(
        text.contains("[REDACTED:github-token]") && text.contains("[REDACTED:environment]"),
        "{text}"
    );
    for args in [
        &["audit", "verify"][..],
        &["audit", "list"],
        &["audit", "export"],
        &["audit", "export", "--format", "csv"],
        &["audit", "export", "--format", "ocsf"],
    ] {
        let output = dash.cli(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {said}");
        assert_clean("printed", &output.stdout);
    }
    let bundle = dash.root().join("bundle");
    let made = dash.cli(&["audit", "export", "--bundle", bundle.to_str().unwrap()]);
    assert_eq!(
        made.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    assert_folder_clean(&bundle);
    assert!(!bundle.join("salts").exists());
    assert_folder_clean(&state);

    // The one who has the code can show that it is the one.
    let file = dash.root().join("code.py");
    let id = proposal["id"].as_str().unwrap();
    let compare = |text: &str| {
        fs::write(&file, text).unwrap();
        dash.cli(&["audit", "show", id, "--code", file.to_str().unwrap()])
    };
    let same = compare(&code);
    assert_eq!(
        same.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&same.stderr)
    );
    let other = compare(&code.replace(&token(2), "[REDACTED:github-token]"));
    assert_eq!(other.status.code(), Some(1));
}
