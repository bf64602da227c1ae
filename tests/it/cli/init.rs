//! `countersign init`: what it writes, and that it changes nothing that is there.

use std::os::unix::fs::PermissionsExt as _;

use crate::common::dash::{Dash, Options};

use super::*;

#[tokio::test]
async fn without_a_terminal_the_first_files_are_written_by_flags_and_none_twice() {
    let home = Home::new();
    let data = home.dir.path().join("my data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("Sales 1.csv"), "a\n1\n").unwrap();
    let config = home.dir.path().join(".config/countersign/config.toml");
    let policy = home
        .dir
        .path()
        .join(".config/countersign/policies/strict.toml");
    let lacking = home.run(&["init", "--data", "my data"]).await;
    assert_eq!(lacking.code, 2, "{lacking:?}");
    assert!(
        lacking.err.contains("--level LEVEL, --agent NAME"),
        "{lacking:?}"
    );
    let all = [
        "init", "--data", "my data", "--level", "strict", "--agent", "codex",
    ];
    let shown = home.run(&all).await;
    assert_eq!(shown.code, 2, "{shown:?}");
    assert!(shown.out.contains("  [datasets.sales_1]\n"), "{shown:?}");
    assert!(!config.exists() && !policy.exists());

    let all = [&all[..], &["--yes"]].concat();
    let done = home.run(&all).await;
    assert_eq!(done.code, 0, "{done:?}");
    assert!(
        done.out.contains("countersign hook install codex"),
        "{done:?}"
    );
    let codex = home.dir.path().join(".codex/config.toml");
    for path in [&config, &policy, &codex] {
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
    let text = std::fs::read_to_string(&config).unwrap();
    assert!(text.contains("sensitivity = \"private\""), "{text}");
    // What is named is there, and only that may be named.
    std::fs::write(data.join("x.py"), "print(1)\n").unwrap();
    let judged = home
        .run(&[
            "check",
            "my data/x.py",
            "--profile",
            "strict",
            "--format",
            "json",
        ])
        .await;
    assert_eq!(judged.code, 0, "{judged:?}");
    assert!(judged.out.contains("clear"), "{judged:?}");
    let diff = home
        .run(&["policy", "diff", policy.to_str().unwrap()])
        .await;
    assert!(diff.code == 0 && diff.out.contains("wall_s"), "{diff:?}");

    std::fs::write(&config, text.replace("private", "public")).unwrap();
    let changed = std::fs::read(&config).unwrap();
    std::fs::remove_file(&policy).unwrap();
    let again = home.run(&all).await;
    assert_eq!(again.code, 0, "{again:?}");
    assert!(again.out.contains("left as it is: "), "{again:?}");
    assert!(again.out.contains("not in force: "), "{again:?}");
    assert_eq!(std::fs::read(&config).unwrap(), changed);
    assert!(policy.exists(), "{again:?}");
    assert!(
        again.out.contains("config.toml has an entry `countersign`"),
        "{again:?}"
    );
    for wrong in [
        &[
            "init", "--data", "nowhere", "--level", "usual", "--agent", "none",
        ][..],
        &["init", "--level", "loose"],
        &["init", "--no-data", "--data", "."],
    ] {
        assert_eq!(home.run(wrong).await.code, 2, "{wrong:?}");
    }
}

#[tokio::test]
async fn the_entry_of_the_agent_is_added_once_and_nothing_else_changes() {
    let home = Home::new();
    let init = async |agent: &str| {
        let args = [
            "init",
            "--no-data",
            "--level",
            "usual",
            "--agent",
            agent,
            "--yes",
        ];
        let done = home.run(&args).await;
        assert_eq!(done.code, 0, "{agent}: {done:?}");
        done
    };
    let servers = "{\"mcpServers\": {\"other\": {\"command\": \"x\"}}, \"b\":  1.0}\r\n";
    let first = "{\"mcp\": {\"x\": {\"type\": \"local\", \"command\": []}}}";
    // What is there before, and where in it the command is afterwards.
    for (agent, file, there, at) in [
        (
            "claude-code",
            ".mcp.json",
            "",
            "/mcpServers/countersign/command",
        ),
        (
            "cursor",
            ".cursor/mcp.json",
            servers,
            "/mcpServers/countersign/command",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "{}",
            "/mcpServers/countersign/command",
        ),
        (
            "opencode",
            "opencode.json",
            "",
            "/mcp/servers/countersign/command/0",
        ),
        (
            "opencode",
            "opencode.json",
            first,
            "/mcp/countersign/command/0",
        ),
        (
            "codex",
            ".codex/config.toml",
            "model = 'x'\n[mcp_servers.o]\ncommand = 'y'",
            "/mcp_servers/countersign/command",
        ),
        (
            "claude-desktop",
            ".config/Claude/claude_desktop_config.json",
            "",
            "/mcpServers/countersign/command",
        ),
    ] {
        let path = home.dir.path().join(file);
        let _ = std::fs::remove_file(&path);
        if !there.is_empty() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, there).unwrap();
        }
        let done = init(agent).await;
        assert!(
            done.out.contains("\n+") && done.out.contains(file),
            "{done:?}"
        );
        let text = std::fs::read_to_string(&path).unwrap();
        let mut all: serde_json::Value = match file.ends_with("toml") {
            true => toml::from_str(&text).unwrap(),
            false => serde_json::from_str(&text).unwrap(),
        };
        let program = env!("CARGO_BIN_EXE_countersign");
        assert_eq!(
            all.pointer(at).and_then(|c| c.as_str()),
            Some(program),
            "{text}"
        );
        // Taken out again, the rest is what was there.
        let (holder, _) = at.split_once("/countersign").unwrap();
        let holder = all.pointer_mut(holder).unwrap().as_object_mut().unwrap();
        holder.remove("countersign");
        if !there.is_empty() && there != "{}" {
            let before: serde_json::Value = match file.ends_with("toml") {
                true => toml::from_str(there).unwrap(),
                false => serde_json::from_str(there).unwrap(),
            };
            assert_eq!(all, before, "{text}");
        }
        // One that is there is shown and stays, whatever it says.
        let other = text.replace(program, "/of/another");
        std::fs::write(&path, &other).unwrap();
        let again = init(agent).await;
        assert!(
            again.out.contains("has an entry `countersign`"),
            "{again:?}"
        );
        assert!(again.out.contains("/of/another"), "{again:?}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), other);
    }
    // What cannot be added to is left, and the entry is printed.
    let path = home.dir.path().join(".cursor/mcp.json");
    for (text, why) in [
        ("{\n  // mine\n}", "it is not JSON"),
        ("{\"mcpServers\": []}", "`mcpServers` is not an object"),
    ] {
        std::fs::write(&path, text).unwrap();
        let done = init("cursor").await;
        assert!(
            done.out.contains(why) && done.out.contains("for Cursor, below `mcpServers`: {"),
            "{done:?}"
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_person_answers_three_questions_and_agrees() {
    let args = ["--config", "new/config.toml", "init"];
    let mut dash = Dash::launch(&Options {
        args: &args,
        files: &[("north.csv", "a\n1\n"), ("south.csv", "a\n1\n")],
        ..Options::default()
    });
    for agreed in [false, true] {
        let mut text = String::new();
        // A question comes again after an answer that is none; what is typed before it is asked does not count.
        for (question, times, answer) in [
            ("where are your data?", 1, "nowhere\r"),
            ("where are your data?", 2, "config\r"),
            ("which may agents use?", 1, "nort\r"),
            ("which may agents use?", 2, "north\r"),
            ("how strict?", 1, "9\r"),
            ("how strict?", 2, "1\r"),
            ("which agent?", 1, "\r"),
            ("write this?", 1, if agreed { "y\r" } else { "\r" }),
        ] {
            dash.wait_for(question, |_, text| text.matches(question).count() == times);
            // What is to be written needs the screen for itself.
            if question == "which agent?" {
                text = dash.text();
            }
            dash.keys(answer);
        }
        for said in [
            "nowhere: No such file",
            "did you mean `north`?",
            "`9` is no number from 1 to 2",
        ] {
            assert!(text.contains(said), "{said}:\n{text}");
        }
        let code = dash.wait_exit().exit_code();
        assert_eq!(code, if agreed { 0 } else { 2 });
        for file in ["new/config.toml", ".mcp.json"] {
            assert_eq!(dash.root().join(file).exists(), agreed, "{file}");
        }
        if !agreed {
            dash.then(&args);
        }
    }
    let text = std::fs::read_to_string(dash.root().join("new/config.toml")).unwrap();
    assert_eq!(text.matches("[datasets.").count(), 1, "{text}");
    dash.wait_text("Claude Code asks once");
}
