//! Calls of tools, in each agent's own form.

use serde_json::{Value, json};

use crate::hook::{Agent, Answer, BYTES_MAX};

const AGENTS: [Agent; 3] = [Agent::ClaudeCode, Agent::Codex, Agent::Gemini];

fn call(agent: Agent, tool: &str, input: &Value) -> Answer {
    let call = json!({
        "session_id": "s", "cwd": "/x", "hook_event_name": agent.event(), "tool_name": tool, "tool_input": input,
    });
    agent.judge(call.to_string().as_bytes())
}

fn kind(answer: &Answer) -> &'static str {
    match answer {
        Answer::Python(_) => "denied",
        Answer::Unclear(_) => "unclear",
        Answer::Silent => "left alone",
    }
}

#[test]
fn each_tool_is_read_in_its_own_form() {
    let rows: &[(&str, Value, &str)] = &[
        (
            "Bash",
            json!({"command": "python x.py", "description": "x"}),
            "denied",
        ),
        ("Bash", json!({"command": "ls"}), "left alone"),
        ("Bash", json!({"command": "$x"}), "unclear"),
        ("Bash", json!({"command": 1}), "unclear"),
        ("Bash", json!({}), "unclear"),
        ("Bash", Value::Null, "unclear"),
        ("Bash", json!("ls"), "unclear"),
        ("Bash", json!(["ls"]), "unclear"),
        ("Bash", json!({"restart": true}), "left alone"),
        (
            "Monitor",
            json!({"command": "tail -f x | python y"}),
            "denied",
        ),
        (
            "PowerShell",
            json!({"command": "Get-Item x; python x.py"}),
            "denied",
        ),
        ("PowerShell", json!({"command": "Get-Item x"}), "left alone"),
        ("PowerShell", json!({"command": "iex $x"}), "unclear"),
        (
            "shell",
            json!({"command": ["bash", "-lc", "python x.py"]}),
            "denied",
        ),
        (
            "shell",
            json!({"command": ["bash", "-lc", "ls"]}),
            "left alone",
        ),
        ("shell", json!({"command": ["python3", "x.py"]}), "denied"),
        (
            "shell",
            json!({"command": ["echo", "python; python"]}),
            "left alone",
        ),
        ("shell", json!({"command": ["bash"]}), "unclear"),
        ("shell", json!({"command": ["ls", 1]}), "unclear"),
        ("shell", json!({"command": []}), "unclear"),
        (
            "local_shell",
            json!({"action": {"type": "exec", "command": ["python", "x.py"]}}),
            "denied",
        ),
        (
            "local_shell",
            json!({"action": {"type": "exec", "command": ["ls"]}}),
            "left alone",
        ),
        ("exec_command", json!({"cmd": "python x.py"}), "denied"),
        (
            "exec_command",
            json!({"cmd": "print(1)", "shell": "/usr/bin/python3"}),
            "denied",
        ),
        (
            "exec_command",
            json!({"cmd": "ls", "shell": "/usr/bin/perl"}),
            "unclear",
        ),
        (
            "exec_command",
            json!({"cmd": "ls", "shell": "/bin/zsh", "login": true}),
            "left alone",
        ),
        (
            "exec_command",
            json!({"cmd": "ls", "command": "python x.py"}),
            "denied",
        ),
        ("unified_exec", json!({"input": ["python"]}), "denied"),
        (
            "write_stdin",
            json!({"session_id": 1, "chars": "python x.py\n"}),
            "denied",
        ),
        (
            "write_stdin",
            json!({"session_id": 1, "chars": ""}),
            "left alone",
        ),
        (
            "write_stdin",
            json!({"session_id": 1, "chars": "y\n"}),
            "left alone",
        ),
        (
            "run_shell_command",
            json!({"command": "uv run x.py", "directory": "x"}),
            "denied",
        ),
        (
            "run_shell_command",
            json!({"command": "git status"}),
            "left alone",
        ),
        (
            "Write",
            json!({"file_path": "x.py", "content": "import os"}),
            "left alone",
        ),
        (
            "Edit",
            json!({"old_string": "python x", "new_string": "y"}),
            "left alone",
        ),
        ("Read", json!({"file_path": "x.py"}), "left alone"),
        ("Grep", json!({"pattern": "python"}), "left alone"),
        ("Task", json!({"prompt": "run python x.py"}), "left alone"),
        (
            "apply_patch",
            json!({"command": "*** Begin Patch\n+python x.py\n"}),
            "left alone",
        ),
        (
            "NotebookEdit",
            json!({"new_source": "print(1)"}),
            "left alone",
        ),
        (
            "NotebookEdit",
            json!({"new_source": "print(1)", "execute": true}),
            "denied",
        ),
        (
            "mcp__ide__executeCode",
            json!({"code": "print(1)"}),
            "denied",
        ),
        ("mcp__ide__getDiagnostics", json!({}), "left alone"),
        ("mcp__x__run_python_code", json!({"code": "1"}), "denied"),
        ("mcp__python__run", json!({"code": "1"}), "denied"),
        ("mcp__x__execute_code", json!({"code": "1"}), "denied"),
        (
            "mcp__x__execute_code",
            json!({"code": "1", "language": "javascript"}),
            "left alone",
        ),
        (
            "mcp__x__execute_code",
            json!({"code": "python x.py", "language": "bash"}),
            "denied",
        ),
        (
            "mcp__x__submit",
            json!({"code": "1", "language": "Python 3"}),
            "denied",
        ),
        (
            "mcp__jupyter__insert_execute_code_cell",
            json!({"cell_source": "1"}),
            "denied",
        ),
        ("mcp_jupyter_run_cell", json!({}), "denied"),
        (
            "mcp__docs__search_python",
            json!({"query": "x"}),
            "left alone",
        ),
        (
            "mcp__x__run_command",
            json!({"command": "python x.py"}),
            "denied",
        ),
        ("mcp__x__run_command", json!({"command": "$x"}), "unclear"),
        (
            "mcp__x__memory",
            json!({"command": "view $x"}),
            "left alone",
        ),
        ("mcp__x__ssh", json!({"cmd": ["python", "x"]}), "denied"),
        (
            "mcp__countersign__run_python",
            json!({"code": "print(1)"}),
            "left alone",
        ),
        (
            "mcp__countersign__check_python",
            json!({"code": "print(1)"}),
            "left alone",
        ),
        (
            "mcp_countersign_run_python",
            json!({"code": "print(1)"}),
            "left alone",
        ),
        (
            "mcp__countersign__run_python_now",
            json!({"code": "print(1)"}),
            "denied",
        ),
        (
            "mcp__countersign__x__execute_code",
            json!({"code": "print(1)"}),
            "denied",
        ),
        (
            "mcp__x__countersign__run_python",
            json!({"code": "print(1)"}),
            "denied",
        ),
        (
            "mcp__x__browser_run_code",
            json!({"code": "() => 1"}),
            "left alone",
        ),
        ("Bash", json!({"cmdline": "python x.py"}), "denied"),
        ("Bash", json!({"cmdline": "ls"}), "left alone"),
        (
            "mcp__x__spawn_process",
            json!({"program": "python3", "args": ["x.py"]}),
            "denied",
        ),
        (
            "mcp__x__spawn_process",
            json!({"program": "ls", "args": ["x.py"]}),
            "left alone",
        ),
        (
            "mcp__x__start",
            json!({"command": "env", "args": ["-", "./x.py"]}),
            "denied",
        ),
        (
            "mcp__x__start",
            json!({"executable": "/usr/bin/python3", "arguments": "x.py"}),
            "denied",
        ),
        (
            "mcp__tmux__send_keys",
            json!({"pane": "1", "keys": ["./x.py", "Enter"]}),
            "denied",
        ),
        (
            "mcp__tmux__send_keys",
            json!({"pane": "1", "keys": "python x.py\r"}),
            "denied",
        ),
        (
            "mcp__tmux__send_keys",
            json!({"pane": "1", "keys": ["C-c"]}),
            "left alone",
        ),
        (
            "write_stdin",
            json!({"session_id": 1, "chars": "py\u{4}./x.py\r"}),
            "denied",
        ),
        (
            "mcp__x__run_command",
            json!({"arguments": "{\"command\": \"python x.py\"}"}),
            "denied",
        ),
        (
            "mcp__x__batch",
            json!({"calls": [{"cmd": "ls"}, {"cmd": ["python", "x.py"]}]}),
            "denied",
        ),
        (
            "mcp__files__save",
            json!({"path": "x.py", "content": "{\"command\": \"python x.py\"}"}),
            "left alone",
        ),
        (
            "mcp__chat__post",
            json!({"text": "run python x.py"}),
            "left alone",
        ),
        ("something_new", json!({"a": 1}), "left alone"),
        ("something_new", json!("text"), "unclear"),
    ];
    for agent in AGENTS {
        for (tool, input, wanted) in rows {
            let answer = call(agent, tool, input);
            assert_eq!(
                kind(&answer),
                *wanted,
                "{agent:?} {tool} {input}: {answer:?}"
            );
        }
    }
}

#[test]
fn what_is_no_call_is_unclear() {
    for agent in AGENTS {
        let event = agent.event();
        let long = format!(
            r#"{{"hook_event_name":"{event}","tool_name":"Read","tool_input":{{"a":"{}"}}}}"#,
            "a".repeat(BYTES_MAX)
        );
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        for text in [
            String::new(),
            "{".to_owned(),
            "null".to_owned(),
            "[]".to_owned(),
            deep,
            long,
            r#"{"tool_name":"Bash","tool_input":{"command":"ls"}}"#.to_owned(),
            // Readers differ in which of two fields they take.
            format!(
                r#"{{"hook_event_name":"{event}","tool_name":"Bash","tool_input":{{"command":"ls","command":"ls"}}}}"#
            ),
            format!(
                r#"{{"hook_event_name":"{event}","tool_name":"Bash","tool_name":"Read","tool_input":{{"command":"ls"}}}}"#
            ),
            format!(
                r#"{{"hook_event_name":"{event}","tool_name":"Read","tool_input":{{"a":[{{"b":1,"\u0062":2}}]}}}}"#
            ),
            r#"{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#
                .to_owned(),
            format!(r#"{{"hook_event_name":"{event}","tool_input":{{"command":"ls"}}}}"#),
            format!(
                r#"{{"hook_event_name":"{event}","tool_name":1,"tool_input":{{"command":"ls"}}}}"#
            ),
        ] {
            let answer = agent.judge(text.as_bytes());
            assert!(
                matches!(answer, Answer::Unclear(_)),
                "{agent:?} {text:.60}: {answer:?}"
            );
        }
        let bytes = agent.judge(b"{\"hook_event_name\":\"\xff\"}");
        assert!(matches!(bytes, Answer::Unclear(_)), "{bytes:?}");
    }
}

#[test]
fn a_denial_says_where_run_python_would_refuse_the_same() {
    let said = |what: &str| {
        Agent::ClaudeCode
            .denial(what)
            .to_string()
            .contains("ask the person")
    };
    for what in [
        "pip install",
        "pytest",
        "uv run",
        "jupyter-lab",
        "python3 -m pytest",
        "conda install",
        "flask",
    ] {
        assert!(said(what), "{what}");
    }
    for what in [
        "python3",
        "x.py",
        "python3 -m json.tool",
        "mcp__ide__executeCode",
    ] {
        assert!(!said(what), "{what}");
    }
}

#[test]
fn each_agent_is_denied_in_its_own_words_and_none_is_allowed_anything() {
    for agent in AGENTS {
        let denial = agent.denial("python3");
        let (decision, reason) = match agent {
            Agent::Gemini => (&denial["decision"], &denial["reason"]),
            Agent::ClaudeCode | Agent::Codex => {
                let output = &denial["hookSpecificOutput"];
                assert_eq!(output["hookEventName"], "PreToolUse");
                (
                    &output["permissionDecision"],
                    &output["permissionDecisionReason"],
                )
            }
        };
        assert_eq!(decision, "deny");
        assert!(
            reason
                .as_str()
                .unwrap()
                .starts_with("use the tool run_python of countersign")
        );
        assert!(!denial.to_string().contains("allow"));
    }
}
