//! `countersign hook` as an agent starts it.

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
