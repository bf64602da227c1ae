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
        let ran = home.run(args).await;
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(
            ran.out.is_empty() && ran.err.starts_with("error:"),
            "{args:?}: {ran:?}"
        );
    }
    for args in [
        &["--help"][..],
        &["--version"],
        &["submit", "--help"],
        &["help", "check"],
    ] {
        let ran = home.run(args).await;
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
    }
    let help = home.run(&["--help"]).await.out;
    for variable in [
        "CONFIG",
        "SOCKET",
        "STATE_DIR",
        "POLICY_DIR",
        "PYTHON",
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
    for ran in texts {
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        for command in [
            "dashboard",
            "demo",
            "submit",
            "check",
            "policy",
            "audit",
            "status",
            "setup",
            "doctor",
            "completions",
            "man",
        ] {
            assert!(ran.out.contains(command), "{command}");
        }
        for role in ["__analyse", "__sandbox"] {
            assert!(!ran.out.contains(role), "{role}");
        }
    }
    let page = home.run(&["man"]).await.out;
    assert!(
        page.contains(".SS submit") && page.contains("idempotency") || page.contains("Idempotency")
    );
    // The global options stand once.
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
        "THEME",
    ] {
        command.env(format!("COUNTERSIGN_{name}"), "");
    }
    let ran = Ran::of(command.output().await.unwrap());
    assert_eq!(ran.code, 7, "{ran:?}");
    let default = home
        .dir
        .path()
        .join(".local/state/countersign/run/agent.sock");
    assert!(ran.err.contains(&default.display().to_string()), "{ran:?}");
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
        let ran = Ran::of(command.output().await.unwrap());
        assert!(ran.err.contains("/flag.sock"), "{ran:?}");
    }
}
