//! The files of a run by key: `o` opens a copy outside, `S` saves, and `c` copies what a pane shows.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign::model::Digest;
use serde_json::Value;

use crate::common::agent::Agent;
use crate::common::dash::{Dash, Options};

const CODE: &str = "import matplotlib.pyplot as plt\n\
                    fig, ax = plt.subplots()\n\
                    ax.plot([1, 3, 2])\n\
                    print('6 * 7 =', 6 * 7, chr(27) + '[31m')\n";

/// Stands in for the desktop's opener: keeps its arguments, and what the file was like.
const OPENER: &str = "#!/bin/sh\n\
                      cp \"$1\" \"$0.file\"\n\
                      stat -c %a \"$1\" \"$(dirname \"$1\")\" > \"$0.modes\"\n\
                      printf '%s\\n' \"$@\" > \"$0.new\"\n\
                      mv \"$0.new\" \"$0.arguments\"\n";

/// A dashboard with an opener of its own, and a run that left a figure.
fn with_a_figure() -> (tempfile::TempDir, Dash, Agent, Value) {
    let folder = tempfile::tempdir().unwrap();
    let opener = folder.path().join("xdg-open");
    std::fs::write(&opener, OPENER).unwrap();
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!(
        "{}:{}",
        folder.path().display(),
        std::env::var("PATH").unwrap()
    );
    let mut dash = Dash::with(&Options {
        env: &[("PATH", &path), ("DISPLAY", ":0")],
        // A notice is cut where the window ends.
        size: (200, 40),
        ..Options::default()
    });
    let mut agent = dash.agent();
    let proposal = agent.code(CODE);
    dash.grant(&mut agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    let artifacts = outcome["run"]["artifacts"].as_array().unwrap();
    assert_eq!(artifacts.len(), 1, "{outcome}");
    assert_eq!(artifacts[0]["media_type"], "image/png", "{outcome}");
    dash.wait_text("o open");
    let figure = artifacts[0].clone();
    (folder, dash, agent, figure)
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_figure_is_opened_as_a_private_copy_made_anew() {
    let (folder, mut dash, _agent, figure) = with_a_figure();
    dash.keys("o");
    let name = figure["name"].as_str().unwrap();
    dash.wait_text(&format!("{name} is opened outside"));
    let beside = |what: &str| folder.path().join(format!("xdg-open.{what}"));
    dash.wait_for("the opener", |_, _| beside("arguments").exists());
    let arguments = std::fs::read_to_string(beside("arguments")).unwrap();
    let arguments: Vec<&str> = arguments.lines().collect();
    assert_eq!(arguments.len(), 1, "{arguments:?}");
    assert!(arguments[0].starts_with('/'), "{arguments:?}");
    assert!(
        arguments[0].ends_with(&format!("-{name}.png")),
        "{arguments:?}"
    );
    let modes = std::fs::read_to_string(beside("modes")).unwrap();
    assert_eq!(modes, "600\n700\n");
    let copy = std::fs::read(beside("file")).unwrap();
    assert!(copy.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert_ne!(Digest::of(&copy).hex(), figure["sha256"]);
    // The copy goes with the dashboard.
    dash.keys("q");
    assert!(dash.wait_exit().success());
    assert!(!Path::new(arguments[0]).exists());
}

#[test]
fn a_figure_is_saved_for_its_owner_and_over_nothing() {
    let (folder, mut dash, _agent, figure) = with_a_figure();
    let name = figure["name"].as_str().unwrap();
    let saved = folder.path().join("saved");
    dash.keys("S");
    dash.wait_text("Enter saves");
    // The home folder is offered.
    dash.keys(&format!("\x7f\x7f{}", saved.display()));
    dash.wait_text(&saved.display().to_string());
    dash.keys("\r");
    dash.wait_text("saved 1 file in ");
    // The files have a new folder of their own.
    let made: Vec<_> = std::fs::read_dir(&saved)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let [own] = made.as_slice() else {
        panic!("{made:?}");
    };
    let own_name = own.file_name().unwrap().to_str().unwrap();
    assert!(own_name.starts_with("countersign-run-"), "{own_name}");
    let file = own.join(name);
    assert_eq!(
        (mode(&saved), mode(own), mode(&file)),
        (0o700, 0o700, 0o600)
    );
    let bytes = std::fs::read(&file).unwrap();
    assert_eq!(Digest::of(&bytes).hex(), figure["sha256"]);

    std::fs::write(&file, "mine").unwrap();
    dash.keys("S");
    dash.wait_text("Enter saves");
    dash.keys("\r");
    dash.wait_text(&format!("{own_name} is there already"));
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");
}

#[test]
fn what_a_run_printed_is_copied_without_what_a_terminal_obeys() {
    let (_folder, mut dash, _agent, _figure) = with_a_figure();
    // From the queue, over the code.
    dash.keys("1\t\t");
    dash.wait_text("━ OUTPUT");
    dash.keys("c");
    dash.wait_text("to the terminal's clipboard");
    let raw = String::from_utf8_lossy(&dash.raw()).into_owned();
    let sent: Vec<&str> = raw
        .split("\x1b]52;c;")
        .skip(1)
        .map(|rest| rest.split('\x07').next().unwrap())
        .collect();
    assert_eq!(sent.len(), 1, "{sent:?}");
    let text = STANDARD.decode(sent[0]).unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), "6 * 7 = 42 ␛[31m");
}
