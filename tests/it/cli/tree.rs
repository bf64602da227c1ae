//! Flags, variables, help, completions and the man page.

use super::*;

#[tokio::test]
async fn wrong_use_ends_with_2_and_help_with_0() {
    let home = Home::new();
    for args in [
        &["--no-such-flag"][..],
        &["nonsense"],
        &["submit", "--ttl", "0"],
        &["submit", "--ttl", "soon"],
        &["submit", "--input", "sales"],
        &["submit", "--input", "class=sales"],
        &["submit", "--input", "a=@data.xlsx"],
        &["submit", "--input", "a="],
        &["submit", "--key", ""],
        &["submit", "--socket", "", "-"],
        &["submit", "no-such-file.py"],
        &["completions", "cobol"],
        &["completions"],
        &["__nothing"],
        &["grant"],
    ] {
        let result = home.run(args).await;
        assert_eq!(result.code, 2, "{args:?}: {result:?}");
        assert!(
            result.out.is_empty() && result.err.starts_with("error:"),
            "{args:?}: {result:?}"
        );
    }
    for args in [
        &["--help"][..],
        &["--version"],
        &["submit", "--help"],
        &["help", "check"],
    ] {
        let result = home.run(args).await;
        assert_eq!((result.code, result.err.as_str()), (0, ""), "{args:?}");
    }
    let help = home.run(&["--help"]).await.out;
    for variable in [
        "CONFIG",
        "SOCKET",
        "STATE_DIR",
        "POLICY_DIR",
        "PYTHON",
        "TIER",
        "PROFILE",
        "THEME",
    ] {
        assert!(help.contains(&format!("COUNTERSIGN_{variable}")), "{help}");
    }
}

#[tokio::test]
async fn completions_and_man_page_name_every_command_and_no_hidden_role() {
    let home = Home::new();
    let mut texts = vec![home.run(&["man"]).await];
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        texts.push(home.run(&["completions", shell]).await);
    }
    for result in texts {
        assert_eq!((result.code, result.err.as_str()), (0, ""));
        for command in [
            "dashboard",
            "demo",
            "submit",
            "check",
            "policy",
            "audit",
            "status",
            "init",
            "setup",
            "doctor",
            "hook",
            "host",
            "review",
            "completions",
            "man",
        ] {
            assert!(result.out.contains(command), "{command}");
        }
        for role in ["__analyse", "__sandbox"] {
            assert!(!result.out.contains(role), "{role}");
        }
    }
    let page = home.run(&["man"]).await.out;
    assert!(
        page.contains(".SS submit") && page.contains("idempotency") || page.contains("Idempotency")
    );
    // The global options appear once.
    assert_eq!(page.matches("COUNTERSIGN_CONFIG").count(), 1, "{page}");
}

#[tokio::test]
async fn an_empty_variable_counts_as_unset() {
    let home = Home::new();
    let file = home.write("x.py", b"1\n");
    let mut command = home.command(&["submit", file.to_str().unwrap()]);
    for name in [
        "CONFIG",
        "SOCKET",
        "STATE_DIR",
        "POLICY_DIR",
        "PYTHON",
        "TIER",
        "PROFILE",
        "THEME",
        "ENV",
        "QUEUE_MAX_PENDING",
        "NO_SUCH_NAME",
    ] {
        command.env(format!("COUNTERSIGN_{name}"), "");
    }
    let result = Finished::of(command.output().await.unwrap());
    assert_eq!(result.code, 7, "{result:?}");
    let default = home
        .dir
        .path()
        .join(".local/state/countersign/run/agent.sock");
    assert!(
        result.err.contains(&default.display().to_string()),
        "{result:?}"
    );
}

#[tokio::test]
async fn a_flag_outranks_its_variable_before_and_after_the_command() {
    let home = Home::new();
    let file = home.write("x.py", b"1\n");
    let file = file.to_str().unwrap();
    for args in [
        ["--socket", "/flag.sock", "submit", file],
        ["submit", "--socket", "/flag.sock", file],
    ] {
        let mut command = home.command(&args);
        command.env("COUNTERSIGN_SOCKET", "/variable.sock");
        let result = Finished::of(command.output().await.unwrap());
        assert!(result.err.contains("/flag.sock"), "{result:?}");
    }
}

#[tokio::test]
async fn an_unknown_variable_stops_every_command_with_the_nearest_name() {
    let home = Home::new();
    let file = home.write("x.py", b"1\n");
    let file = file.to_str().unwrap();
    for args in [
        &[][..],
        &["dashboard"],
        &["demo"],
        &["submit", file],
        &["check", file],
        &["check", "--list-rules"],
        &["policy", "show"],
        &["audit", "list"],
        &["audit", "stats"],
        &["audit", "verify"],
        &["status"],
        &["replicate", file],
        &["setup"],
        &["completions", "bash"],
        &["man"],
    ] {
        let mut command = home.command(args);
        command.env("COUNTERSIGN_TEIR", "kernel");
        let result = Finished::of(command.output().await.unwrap());
        assert_eq!(
            (result.code, result.out.as_str()),
            (2, ""),
            "{args:?}: {result:?}"
        );
        assert_eq!(
            result.err,
            "error: COUNTERSIGN_TEIR: unknown variable; did you mean `COUNTERSIGN_TIER`?\n",
            "{args:?}"
        );
    }
    // It lists the variable among the problems.
    let mut command = home.command(&["doctor", "--json"]);
    command.env("COUNTERSIGN_TEIR", "kernel");
    let result = Finished::of(command.output().await.unwrap());
    assert_eq!(result.code, 1, "{result:?}");
    assert!(
        result.out.contains("COUNTERSIGN_TEIR: unknown variable"),
        "{result:?}"
    );
}

/// A user with a mistake in the environment can still read how to correct it.
#[tokio::test]
async fn help_and_version_work_whatever_the_environment_says() {
    let home = Home::new();
    for args in [
        &["--help"][..],
        &["-h"],
        &["help"],
        &["help", "submit"],
        &["submit", "--help"],
        &["completions", "--help"],
        &["man", "--help"],
        &["--version"],
        &["-V"],
    ] {
        let mut command = home.command(args);
        command
            .env("COUNTERSIGN_TEIR", "kernel")
            .env("COUNTERSIGN_TIER", "kernal")
            .env("COUNTERSIGN_CONFIG", "/nowhere/config.toml");
        let result = Finished::of(command.output().await.unwrap());
        assert_eq!(
            (result.code, result.err.as_str()),
            (0, ""),
            "{args:?}: {result:?}"
        );
        assert!(result.out.contains("countersign"), "{args:?}: {result:?}");
    }
}

#[tokio::test]
async fn an_unknown_tier_stops_every_command_by_flag_and_by_variable() {
    let home = Home::new();
    let file = home.write("x.py", b"1\n");
    let file = file.to_str().unwrap();
    for args in [
        &["status"][..],
        &["check", file],
        &["submit", file],
        &["dashboard"],
    ] {
        let mut command = home.command(args);
        command.env("COUNTERSIGN_TIER", "kernal");
        let by_variable = Finished::of(command.output().await.unwrap());
        let by_flag = home.run(&[&["--tier", "kernal"], args].concat()).await;
        for result in [by_variable, by_flag] {
            assert_eq!(result.code, 2, "{args:?}: {result:?}");
            assert!(
                result.err.contains("did you mean `kernel`?"),
                "{args:?}: {result:?}"
            );
        }
    }
}

#[tokio::test]
async fn check_judges_by_the_profile_of_the_variable() {
    let home = Home::new();
    let file = home.write("x.py", b"import numpy\n");
    let file = file.to_str().unwrap();
    let judged = |flag: &[&str], variable: &str| {
        let mut command = home.command(&[&["check", "--format", "jsonl", file], flag].concat());
        command.env("COUNTERSIGN_PROFILE", variable);
        async move {
            let result = Finished::of(command.output().await.unwrap());
            let json: serde_json::Value = serde_json::from_str(&result.out).unwrap();
            json["policy"]["profile"].as_str().unwrap().to_owned()
        }
    };
    assert_eq!(judged(&[], "").await, "analysis");
    assert_eq!(judged(&[], "chart").await, "chart");
    assert_eq!(judged(&["--profile", "walled"], "chart").await, "walled");
}

/// Errors that stop the start stop `doctor` too, with the same message.
#[tokio::test]
async fn the_doctor_reports_errors_of_the_start_with_their_line_and_remedy() {
    let team = b"name = \"team\"\nextends = \"analysys\"\n";
    for (config, policy, expected) in [
        (
            "theme = \"auto\"\nprofile = \"analisys\"\n",
            None,
            "config.toml:2: unknown profile `analisys`; did you mean `analysis`?",
        ),
        (
            "profiles = [\n  \"analysis\",\n  \"faeture\",\n]\n",
            None,
            "unknown profile `faeture`; did you mean `feature`?",
        ),
        ("", Some(team), "team.toml:2: "),
        (
            "[keys]\ngrant = \"d\"\n",
            None,
            "config.toml:2: [keys] `d` is given to both",
        ),
    ] {
        let home = Home::new();
        let file = home.write("config.toml", config.as_bytes());
        std::fs::create_dir(home.dir.path().join("policies")).unwrap();
        if let Some(policy) = policy {
            home.write("policies/team.toml", policy);
        }
        let policies = home.dir.path().join("policies");
        let flags = [
            "--config",
            file.to_str().unwrap(),
            "--policy-dir",
            policies.to_str().unwrap(),
        ];
        let result = home.run(&[&["doctor"], &flags[..]].concat()).await;
        assert_eq!(result.code, 1, "{result:?}");
        let line = result
            .out
            .lines()
            .find(|line| line.contains("configuration"))
            .unwrap();
        assert!(
            line.starts_with("MISSING") && line.contains(expected),
            "{line}"
        );
    }
}
