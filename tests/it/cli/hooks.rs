//! `countersign hook` as an agent starts it.

use crate::common::dash::{Dash, Options};

use super::*;

async fn hook(home: &Home, agent: &str, given: &[u8]) -> Finished {
    let mut child = home
        .command(&["hook", agent])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A call that is too long is not read to its end.
    let _ = stdin.write_all(given).await;
    drop(stdin);
    Finished::of(child.wait_with_output().await.unwrap())
}

fn call(event: &str, tool: &str, command: &str) -> Vec<u8> {
    let input = serde_json::json!({"command": command});
    let call =
        serde_json::json!({"hook_event_name": event, "tool_name": tool, "tool_input": input});
    call.to_string().into_bytes()
}

const AGENTS: [(&str, &str, &str); 3] = [
    ("claude-code", "PreToolUse", "Bash"),
    ("codex", "PreToolUse", "Bash"),
    ("gemini", "BeforeTool", "run_shell_command"),
];

#[tokio::test]
async fn a_hook_refuses_python_says_nothing_of_the_rest_and_blocks_what_nobody_can_tell() {
    let home = Home::new();
    for (agent, event, tool) in AGENTS {
        let denied = hook(&home, agent, &call(event, tool, "cd x && python3 x.py")).await;
        assert_eq!(
            (denied.code, denied.err.as_str()),
            (0, ""),
            "{agent}: {denied:?}"
        );
        let said: Value = serde_json::from_str(&denied.out).unwrap();
        let reason = match agent {
            "gemini" => {
                assert_eq!(said["decision"], "deny");
                &said["reason"]
            }
            _ => {
                let output = &said["hookSpecificOutput"];
                assert_eq!(output["permissionDecision"], "deny");
                assert_eq!(output["hookEventName"], event);
                &output["permissionDecisionReason"]
            }
        };
        let reason = reason.as_str().unwrap();
        assert!(
            reason.starts_with("use the tool run_python of countersign"),
            "{reason}"
        );

        let silent = hook(&home, agent, &call(event, tool, "grep python x.py")).await;
        assert_eq!(
            (silent.code, silent.out.as_str(), silent.err.as_str()),
            (0, "", ""),
            "{agent}"
        );

        let long = vec![b' '; (4 << 20) + 1];
        for given in [&call(event, tool, "$p x.py")[..], b"", b"{", &long] {
            let blocked = hook(&home, agent, given).await;
            assert_eq!(
                (blocked.code, blocked.out.as_str()),
                (2, ""),
                "{agent}: {blocked:?}"
            );
            assert!(blocked.err.contains("nobody can tell"), "{blocked:?}");
        }
    }
}

#[tokio::test]
async fn a_hook_that_cannot_answer_blocks() {
    let home = Home::new();
    // Wrong use blocks too, and so does an answer that nobody can read.
    for args in [
        &["hook"][..],
        &["hook", "other"],
        &["hook", "codex", "more"],
    ] {
        assert_eq!(home.run(args).await.code, 2, "{args:?}");
    }
    let given = call("PreToolUse", "Bash", "python x.py");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = home.command(&["hook", "claude-code"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(writer)
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&given).await.unwrap();
    let ended = child.wait_with_output().await.unwrap();
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    // A closed output, which Rust opens as `/dev/null`, must not lose the denial.
    for output in [">&-", ">/dev/null"] {
        let script = format!("exec \"$0\" hook claude-code {output}");
        let mut command = Command::new("sh");
        let mut child = command
            .args(["-c", &script, env!("CARGO_BIN_EXE_countersign")])
            .env_clear()
            .env("HOME", home.dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&given).await.unwrap();
        let ended = Finished::of(child.wait_with_output().await.unwrap());
        assert_eq!(ended.code, 2, "{output}: {ended:?}");
        assert!(ended.err.contains("run_python"), "{output}: {ended:?}");
    }
    // A call that never comes is not waited for.
    let mut child = home
        .command(&["hook", "codex"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let open = child.stdin.take();
    let ended = tokio::time::timeout(PATIENCE, child.wait_with_output())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    drop(open);
}

fn settings(agent: &str) -> &'static str {
    match agent {
        "claude-code" => ".claude/settings.json",
        "codex" => ".codex/hooks.json",
        _ => ".gemini/settings.json",
    }
}

#[tokio::test]
async fn a_hook_is_installed_once_and_removed_without_a_trace() {
    const FILE: &str = "{\n  \"model\": \"x\",\n  \"hooks\": {\"Stop\": []}\n}\n";
    for (agent, event, tool) in AGENTS {
        for before in [None, Some(FILE)] {
            let home = Home::new();
            let path = home.dir.path().join(settings(agent));
            if let Some(text) = before {
                std::fs::create_dir(path.parent().unwrap()).unwrap();
                std::fs::write(&path, text).unwrap();
                std::fs::set_permissions(
                    &path,
                    std::os::unix::fs::PermissionsExt::from_mode(0o640),
                )
                .unwrap();
            }
            let is = || std::fs::read_to_string(&path).ok();
            // Nobody can be asked: only the change is shown.
            let asked = home.run(&["hook", "install", agent, "--user"]).await;
            assert_eq!(asked.code, 2, "{asked:?}");
            let added = |line: &str| line.starts_with('+') && line.contains(event);
            assert!(asked.out.lines().any(added), "{asked:?}");
            assert_eq!(is().as_deref(), before);

            let done = home
                .run(&["hook", "install", agent, "--user", "--yes"])
                .await;
            assert_eq!(done.code, 0, "{done:?}");
            let there = is().unwrap();
            let value: Value = serde_json::from_str(&there).unwrap();
            let command = value["hooks"][event][0]["hooks"][0]["command"]
                .as_str()
                .unwrap();
            // What stands there answers as the agent would ask it.
            let mut child = Command::new("sh")
                .args(["-c", command])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            child
                .stdin
                .take()
                .unwrap()
                .write_all(&call(event, tool, "python x.py"))
                .await
                .unwrap();
            let said = Finished::of(
                child
                    .wait_with_output()
                    .await
                    .unwrap_or_else(|e| panic!("{e}")),
            );
            assert!(
                said.code == 0 && said.out.contains("run_python of countersign"),
                "{said:?}"
            );

            let again = home
                .run(&["hook", "install", agent, "--user", "--yes"])
                .await;
            assert_eq!((again.code, again.out.as_str()), (0, ""), "{again:?}");
            assert_eq!(is().unwrap(), there);
            let gone = home
                .run(&["hook", "install", agent, "--user", "--remove", "--yes"])
                .await;
            assert_eq!(gone.code, 0, "{gone:?}");
            assert_eq!(is().as_deref(), before);
            if before.is_some() {
                let mode = std::os::unix::fs::PermissionsExt::mode(
                    &std::fs::metadata(&path).unwrap().permissions(),
                );
                assert_eq!(mode & 0o777, 0o640);
            }
        }
    }
}

#[tokio::test]
async fn settings_that_are_not_understood_stay_as_they_are_and_a_project_has_its_own() {
    let home = Home::new();
    let project = home.dir.path().join("a b");
    std::fs::create_dir_all(project.join(".gemini")).unwrap();
    let path = project.join(".gemini/settings.json");
    std::fs::write(&path, "{\n  // mine\n}\n").unwrap();
    let folder = project.to_str().unwrap();
    let refused = home
        .run(&["hook", "install", "gemini", "--project", folder, "--yes"])
        .await;
    assert!(
        refused.code == 2 && refused.err.contains("line 2"),
        "{refused:?}"
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\n  // mine\n}\n");
    for args in [
        &[
            "hook",
            "install",
            "gemini",
            "--project",
            "/no/such/folder",
            "--yes",
        ][..],
        &[
            "hook",
            "install",
            "gemini",
            "--project",
            folder,
            "--user",
            "--yes",
        ],
        &["hook", "install", "emacs"],
    ] {
        assert_eq!(home.run(args).await.code, 2, "{args:?}");
    }
}

#[tokio::test]
async fn settings_behind_a_link_are_changed_there_and_a_switch_that_stops_hooks_is_told() {
    let home = Home::new();
    let kept = home.write("kept.json", b"{\"disableAllHooks\": true}");
    let link = home.dir.path().join(".claude/settings.json");
    std::fs::create_dir(link.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&kept, &link).unwrap();
    let args = ["hook", "install", "claude-code", "--user", "--yes"];
    let done = home.run(&args).await;
    assert!(
        done.code == 0 && done.err.contains("does not run") && link.is_symlink(),
        "{done:?}"
    );
    let text = std::fs::read_to_string(&kept).unwrap();
    assert!(text.contains("PreToolUse"), "{text}");
    std::fs::remove_file(&kept).unwrap();
    let refused = home.run(&args).await;
    assert!(
        refused.code == 2 && refused.err.contains("leads nowhere") && link.is_symlink(),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_hook_blocks_when_it_fails_only_where_the_agent_knows_how() {
    let home = Home::new();
    let bin = home.dir.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for (says, blocks) in [
        ("echo '2.1.295 (Claude Code)'", true),
        ("echo 2.2.0", true),
        ("echo 2.1.294", false),
        ("echo what", false),
        ("exit 1", false),
        ("rm \"$0\"; exit 1", false),
    ] {
        let program = bin.join("claude");
        std::fs::write(&program, format!("#!/bin/sh\n{says}\n")).unwrap();
        std::fs::set_permissions(
            &program,
            std::os::unix::fs::PermissionsExt::from_mode(0o755),
        )
        .unwrap();
        let mut command = home.command(&["hook", "install", "claude-code"]);
        command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
        let shown = Finished::of(command.output().await.unwrap());
        assert_eq!(shown.code, 2, "{shown:?}");
        assert_eq!(
            shown.out.contains("\"onFailure\": \"block\""),
            blocks,
            "{says}: {shown:?}"
        );
        assert_eq!(
            shown.err.contains("left out: \"onFailure\""),
            !blocks,
            "{says}: {shown:?}"
        );
    }
}

#[test]
fn a_person_is_shown_the_change_and_asked() {
    let args = ["hook", "install", "gemini", "--project", "."];
    let mut dash = Dash::launch(&Options {
        args: &args,
        ..Options::default()
    });
    let path = dash.dir.path().join(".gemini/settings.json");
    for (answer, code) in [("\r", 2), ("n\r", 2), ("y\r", 0)] {
        let text = dash.wait_text("write this?");
        assert!(text.contains("+    \"BeforeTool\": ["), "{text}");
        assert!(!path.exists());
        dash.keys(answer);
        assert_eq!(dash.wait_exit().exit_code(), code, "{answer:?}");
        if code != 0 {
            dash.then(&args);
        }
    }
    assert!(path.exists());
}
