//! A person edits code in their own editor, and what comes back is what runs, or nothing changes.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::common::agent::Agent;
use crate::common::dash::{Dash, Options};

const PROPOSED: &str = "print(\"proposed\")\n";
const EDITED: &str = "print(\"edited\", 6 * 7)\n";

/// A dashboard whose editor is a shell script; `$1` is the file.
fn with_editor(script: &str) -> (tempfile::TempDir, Dash) {
    let folder = tempfile::tempdir().unwrap();
    let editor = folder.path().join("my editor");
    std::fs::write(&editor, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755)).unwrap();
    let command = format!("'{}'", editor.display());
    let dash = Dash::with(&Options {
        env: &[("VISUAL", ""), ("EDITOR", &command)],
        // A notice is cut where the window ends.
        size: (200, 40),
        ..Options::default()
    });
    (folder, dash)
}

/// Writes a text into the file as an editor that replaces it does.
fn writes(text: &str) -> String {
    format!("cat > \"$1.new\" <<'END'\n{text}END\nmv \"$1.new\" \"$1\"")
}

fn pending(dash: &mut Dash, agent: &mut Agent) -> Value {
    let proposal = agent.propose(json!({"code": PROPOSED, "title": "A title"}));
    dash.wait_text("proposed");
    dash.go_to_urgent();
    proposal
}

fn edits(dash: &Dash) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(dash.state.join("edits"));
    let folders = folder.into_iter().flatten().map(|e| e.unwrap().path());
    folders.collect()
}

fn show(dash: &Dash, proposal: &Value) -> String {
    let id = proposal["id"].as_str().unwrap();
    let shown = dash.cli(&["audit", "show", id]);
    String::from_utf8(shown.stdout).unwrap()
}

fn assert_consistent(dash: &Dash) {
    let verify = dash.cli(&["audit", "verify"]);
    let said = String::from_utf8_lossy(&verify.stderr);
    assert!(verify.status.success(), "{said}");
}

#[test]
fn edited_code_is_what_runs_and_the_agent_and_the_log_have_both() {
    let (_folder, mut dash) = with_editor(&writes(EDITED));
    let mut agent = dash.agent();
    let proposal = pending(&mut dash, &mut agent);
    dash.press("e");
    dash.wait_text("edited by you");
    dash.wait_text("print(\"edited\", 6 * 7)");
    dash.grant(&mut agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    assert_eq!(outcome["run"]["stdout"], "edited 42\n");
    assert_eq!(outcome["digest"], proposal["digest"]);
    let decision = &outcome["decision"];
    assert_eq!(decision["edited"], true);
    assert_eq!(decision["code"], EDITED);
    assert_eq!(
        decision["diff"],
        "--- proposed\n+++ granted\n@@ -1 +1 @@\n-print(\"proposed\")\n+print(\"edited\", 6 * 7)\n"
    );
    assert_eq!(outcome["verdict"]["source"]["bytes"], EDITED.len());
    let shown = show(&dash, &proposal);
    for text in [
        "edited by person",
        "print(\"proposed\")",
        "print(\"edited\", 6 * 7)",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    assert_eq!(edits(&dash), [] as [PathBuf; 0], "the file is removed");
    assert_consistent(&dash);

    // The audit screen has both as well.
    dash.keys("2");
    dash.wait_text("succeeded");
    dash.press("\r");
    dash.wait_text("TIMELINE");
    dash.press_until(" ", "the edit", |text| text.contains("print(\"proposed\")"));
}

/// Kept code, and what runs again, is what ran.
#[test]
fn an_edited_run_is_replicated_as_it_ran() {
    let (_folder, mut dash) = with_editor(&writes(EDITED));
    let mut agent = dash.agent();
    let proposal = pending(&mut dash, &mut agent);
    dash.press("e");
    dash.wait_text("edited by you");
    dash.grant(&mut agent, &proposal);
    assert_eq!(agent.outcome(&proposal["id"])["state"], "succeeded");
    let kept = || std::fs::read_dir(dash.state.join("kept"));
    dash.wait_for("the kept code", |_, _| {
        kept().is_ok_and(|mut files| files.any(|file| file.unwrap().metadata().unwrap().len() > 0))
    });
    let file = kept().unwrap().next().unwrap().unwrap().path();
    drop(agent);
    dash.keys("q");
    let python = crate::common::python::managed_env()
        .prefix
        .join("bin/python3");
    let (python, file) = (python.display().to_string(), file.display().to_string());
    dash.then(&["--python", &python, "replicate", &file]);
    let text = dash.wait_text("to run it");
    assert!(text.contains("print(\"edited\", 6 * 7)"), "{text}");
    let (_, rest) = text.split_once("type ").unwrap();
    let digits = rest[..4].to_owned();
    dash.keys(&format!("{digits}\r"));
    dash.wait_text("edited 42");
}

#[test]
fn what_is_not_plainly_the_persons_text_changes_nothing() {
    let long = "head -c 70000 /dev/zero | tr '\\0' x > \"$1\"";
    for (script, why, left) in [
        (
            "ln -s /etc/passwd \"$1.l\"; mv \"$1.l\" \"$1\"",
            "is a link",
            true,
        ),
        ("echo 1 > \"$1\"; ln \"$1\" \"$1.other\"", "hard link", true),
        ("rm \"$1\"; mkfifo \"$1\"", "no regular file", true),
        (long, "longer than 65536 bytes", true),
        ("printf '\\377' > \"$1\"", "not UTF-8", true),
        ("echo 2 > \"$1\"; exit 3", "exit code 3", true),
        ("exit 3", "exit code 3", false),
        ("echo 2 > \"$1\"; kill -9 $$", "ended by SIGKILL", true),
        ("rm \"$1\"", "the file is gone", false),
        (": > \"$1\"", "the code is empty", false),
        ("true", "nothing changed", false),
        ("sed -i s/x/x/ \"$1\"", "nothing changed", false),
    ] {
        let (_folder, mut dash) = with_editor(script);
        let mut agent = dash.agent();
        let proposal = pending(&mut dash, &mut agent);
        dash.press("e");
        let text = dash.wait_text("nothing changed");
        assert!(text.contains(why), "{script}: {text}");
        assert!(!text.contains("edited by you"), "{script}: {text}");
        assert_eq!(edits(&dash).len(), usize::from(left), "{script}");
        dash.grant(&mut agent, &proposal);
        let outcome = agent.outcome(&proposal["id"]);
        assert_eq!(outcome["run"]["stdout"], "proposed\n", "{script}");
        assert_eq!(outcome["decision"]["edited"], false);
        assert!(!show(&dash, &proposal).contains("edited by person"));
    }
}

#[test]
fn an_edit_that_the_policy_blocks_cannot_be_granted_and_can_be_edited_again() {
    let script = "if grep -q subprocess \"$1\"; then echo 'print(1)' > \"$1\"; \
                  else echo 'import subprocess' > \"$1\"; fi";
    let (_folder, mut dash) = with_editor(script);
    let mut agent = dash.agent();
    let proposal = pending(&mut dash, &mut agent);
    dash.press("e");
    dash.wait_text("import subprocess");
    dash.press("a");
    dash.wait_text("its verdict blocks it");
    assert_eq!(agent.state(&proposal["id"]), "pending");
    dash.press("e");
    dash.wait_text("print(1)");
    dash.grant(&mut agent, &proposal);
    assert_eq!(agent.outcome(&proposal["id"])["run"]["stdout"], "1\n");
    assert_consistent(&dash);
}

#[test]
fn an_agent_whose_edited_proposal_is_denied_gets_nothing_of_the_edit() {
    let (_folder, mut dash) = with_editor(&writes("import os\nos.system(\"secret\")\n"));
    let mut agent = dash.agent();
    let proposal = pending(&mut dash, &mut agent);
    dash.press("e");
    dash.wait_text("os.system");
    let status = agent.call("status", json!({"id": proposal["id"]}));
    assert_eq!(status["result"]["verdict"], proposal["verdict"]);
    dash.press("d");
    dash.keys("no\r");
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["state"], "denied");
    assert_eq!(outcome["verdict"], proposal["verdict"]);
    assert!(!outcome.to_string().contains("secret"), "{outcome}");
    assert_eq!(outcome["decision"]["edited"], false);
}

/// Agents are served and deadlines pass while the editor has the terminal.
#[test]
fn the_dashboard_goes_on_while_the_editor_runs() {
    let script =
        "echo 'the editor is open'; while [ ! -e \"$HOME\" ]; do sleep 0.1; done; echo 2 > \"$1\"";
    let (_folder, mut dash) = with_editor(script);
    let mut agent = dash.agent();
    let proposal = agent.propose(json!({"code": PROPOSED, "ttl_s": 20}));
    dash.wait_text("proposed");
    dash.go_to_urgent();
    dash.press("e");
    dash.wait_text("the editor is open");
    assert!(!dash.alternate_screen() && dash.is_cooked());
    let other = agent.code("print(2)\n");
    assert_eq!(other["state"], "pending");
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["state"], "expired", "{outcome}");
    std::fs::create_dir(dash.root().join("home")).unwrap();
    let text = dash.wait_text("too late: already expired");
    assert!(text.contains("edits/"), "{text}");
    let left = edits(&dash);
    let text = std::fs::read_to_string(left[0].join("proposal.py")).unwrap();
    assert_eq!(text, "2\n", "the person's text is kept");
    assert!(dash.alternate_screen());
}

/// Keys that are typed for the editor, or too early behind it, decide nothing.
#[test]
fn keys_typed_ahead_of_the_editors_end_grant_nothing() {
    let script = format!("echo 'the editor is open'; sleep 2\n{}", writes(EDITED));
    let (_folder, mut dash) = with_editor(&script);
    let mut agent = dash.agent();
    let proposal = pending(&mut dash, &mut agent);
    dash.press("e");
    dash.wait_text("the editor is open");
    for _ in 0..10 {
        dash.keys("  a");
        dash.keys("y");
        std::thread::sleep(Duration::from_millis(100));
    }
    dash.wait_text("edited by you");
    dash.keys("ay ay");
    std::thread::sleep(Duration::from_millis(200));
    dash.keys("yyyy");
    // Keys are handled in their order: once it is denied, none of those before granted it.
    dash.press("\x1b");
    dash.press("d");
    dash.wait_text("reason for");
    dash.press("\r");
    dash.wait_for("the denial", |d, _| {
        d.log_text().contains("\"kind\":\"denied\"")
    });
    assert_eq!(agent.state(&proposal["id"]), "denied");
    assert!(!dash.log_text().contains("\"kind\":\"granted\""));
}

/// An editor sees its keys, and `Ctrl-C` is for it and not for the dashboard.
#[test]
fn the_terminal_is_wholly_the_editors_and_comes_back() {
    let script = "trap 'echo interrupted' INT\necho 'the editor is open'\n\
                  while ! read line; do :; done\n\
                  echo \"print('$line')\" > \"$1\"\nstty -echo -icanon\nprintf '\\033[?1049h\\033[?1000h'";
    let (_folder, mut dash) = with_editor(script);
    let mut agent = dash.agent();
    let proposal = pending(&mut dash, &mut agent);
    dash.press("e");
    dash.wait_text("the editor is open");
    dash.keys("\x03");
    dash.wait_text("interrupted");
    dash.keys("typed\r");
    dash.wait_text("print('typed')");
    dash.grant(&mut agent, &proposal);
    assert_eq!(agent.outcome(&proposal["id"])["run"]["stdout"], "typed\n");
    drop(agent);
    dash.keys("q");
    assert_eq!(dash.wait_exit().exit_code(), 0);
    assert!(dash.is_cooked(), "the shell's modes are back");
}

/// An editor that stops itself goes on, since no shell is there to continue it.
#[test]
fn a_stopped_editor_is_continued() {
    let (_folder, mut dash) = with_editor(&format!("kill -STOP $$\n{}", writes(EDITED)));
    let mut agent = dash.agent();
    pending(&mut dash, &mut agent);
    dash.press("e");
    dash.wait_text("edited by you");
}

#[test]
fn a_dashboard_that_is_ended_ends_the_editor_and_leaves_the_text() {
    let script = "echo 2 > \"$1\"; echo 'the editor is open'; echo $$ > \"$1.pid\"; exec sleep 600";
    let (_folder, mut dash) = with_editor(script);
    let mut agent = dash.agent();
    let proposal = pending(&mut dash, &mut agent);
    dash.press("e");
    dash.wait_text("the editor is open");
    let file = |name: &str| edits(&dash)[0].join(name);
    dash.wait_for("the editor's pid", |_, _| {
        std::fs::read_to_string(file("a-title.py.pid")).is_ok_and(|text| text.ends_with('\n'))
    });
    let pid = std::fs::read_to_string(file("a-title.py.pid")).unwrap();
    let text = file("a-title.py");
    dash.signal(Signal::SIGTERM);
    assert_eq!(agent.outcome(&proposal["id"])["state"], "unattended");
    dash.wait_exit();
    assert!(!Path::new(&format!("/proc/{}", pid.trim())).exists());
    assert_eq!(std::fs::read_to_string(text).unwrap(), "2\n");
    assert!(dash.is_cooked());
    assert_consistent(&dash);
}

#[test]
fn without_an_editor_the_variables_are_named() {
    let mut dash = Dash::start();
    let mut agent = dash.agent();
    pending(&mut dash, &mut agent);
    dash.press("e");
    dash.wait_text("neither VISUAL nor EDITOR is set");
    let mut dash = Dash::with(&Options {
        env: &[("VISUAL", "/nowhere/editor -w"), ("EDITOR", "true")],
        ..Options::default()
    });
    let mut agent = dash.agent();
    pending(&mut dash, &mut agent);
    dash.press("e");
    let text = dash.wait_text("the editor cannot be started");
    assert!(text.contains("/nowhere/editor"), "{text}");
    assert_eq!(edits(&dash), [] as [PathBuf; 0]);
}
