//! Names and values with everything in them that a terminal acts on, through every command and
//! every argument: nothing of it comes out raw, and no line of it passes for one of ours.

use countersign::model::escape;

use super::*;

/// Escape sequences, C1, bidi, zero-width, a tag, a lone surrogate's stand-in, lines and tabs.
const NAME: &str =
    "a\u{1b}[2J\u{9b}31m\u{202e}\u{2066}\u{200b}\u{ad}\u{e0041}\nforged: clear\r\tb\u{7f}\u{7}";

/// Whether nothing hidden is left. Line feeds and tabs are ours, and no line is the name's.
fn is_harmless(text: &str) -> bool {
    let hidden = |c: char| c != '\n' && c != '\t' && escape(c).is_some();
    !text.contains(hidden)
        && !text
            .lines()
            .any(|line| line.trim_start().starts_with("forged"))
}

fn is_said(text: &str) -> bool {
    // Control pictures in text, escapes in JSON.
    ["␛", "\\u001b", "\\u{1b}", "\\x1b", "%1B"]
        .iter()
        .any(|shown| text.contains(shown))
}

struct Bad {
    home: Home,
    /// A path below the home: a folder by that name, with files by it.
    folder: String,
    file: String,
    policy: String,
}

fn bad() -> Bad {
    let home = Home::new();
    let folder = home.dir.path().join(NAME);
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join(format!("{NAME}.py"));
    std::fs::write(&file, format!("import {NAME}\nx = '{NAME}'\n")).unwrap();
    let policy = folder.join(format!("{NAME}.toml"));
    std::fs::write(&policy, "name = \"team\"\nextends = \"analysis\"\n").unwrap();
    std::fs::write(folder.join("config.toml"), format!("{:?} = 1\n", NAME)).unwrap();
    let shown = |path: PathBuf| path.to_str().unwrap().to_owned();
    Bad {
        folder: shown(folder),
        file: shown(file),
        policy: shown(policy),
        home,
    }
}

#[tokio::test]
async fn nothing_hostile_comes_out_raw_of_any_command() {
    let bad = bad();
    let fine = bad.home.write("fine.py", b"print(1)\n");
    let fine = fine.to_str().unwrap();
    let (folder, file, policy) = (bad.folder.as_str(), bad.file.as_str(), bad.policy.as_str());
    let config = format!("{folder}/config.toml");
    let missing = format!("{folder}/missing");
    let at = format!("x=@{folder}/missing.csv");
    let odd = format!("x=@{folder}/x.{NAME}");
    let named = format!("{NAME}=sales");
    let flag = format!("--{NAME}");
    let valued = format!("--tier={NAME}");
    let cases: Vec<Vec<&str>> = vec![
        vec![NAME],
        vec![&flag],
        vec![&valued, "status"],
        vec!["help", NAME],
        vec!["check", file],
        vec!["check", folder],
        vec!["check", file, "--format", "json"],
        vec!["check", file, "--format", "jsonl"],
        vec!["check", file, "--format", "sarif"],
        vec!["check", &missing],
        vec!["check", fine, "--profile", NAME],
        vec!["check", fine, "--format", NAME],
        vec!["check", "--explain", NAME],
        vec!["check", "--policy-dir", folder, fine],
        vec!["submit", &missing],
        vec![
            "submit",
            fine,
            "--profile",
            NAME,
            "--title",
            NAME,
            "--socket",
            folder,
        ],
        vec!["submit", fine, "--input", NAME],
        vec!["submit", fine, "--input", &named],
        vec!["submit", fine, "--input", &at],
        vec!["submit", fine, "--input", &odd],
        vec!["submit", fine, "--ttl", NAME],
        vec!["submit", fine, "--out", file],
        vec!["submit", fine, "--socket", &missing],
        vec!["submit", fine, "--state-dir", folder],
        vec!["submit", fine, NAME],
        vec!["policy", "show", NAME],
        vec!["policy", "show", "--policy-dir", folder],
        vec!["policy", "check", policy],
        vec!["policy", "check", &missing],
        vec!["policy", "diff", policy],
        vec!["policy", "diff", folder],
        vec!["policy", NAME],
        vec!["audit", "--state-dir", folder],
        vec!["audit", "list", "--limit", NAME],
        vec!["audit", "list", "--state-dir", &missing],
        vec!["audit", "show", NAME],
        vec!["audit", "show", NAME, "--state-dir", folder],
        vec!["audit", "show", "abcd", "--out", file],
        vec!["audit", "verify", "--state-dir", folder],
        vec!["audit", "prune", "--config", &config],
        vec!["audit", NAME],
        vec!["status", "--state-dir", folder],
        vec!["status", "--json", "--state-dir", folder],
        vec!["replicate", &missing],
        vec!["replicate", file],
        vec!["replicate", file, "--python", NAME],
        vec!["setup", "--config", &config],
        vec!["setup", "--config", &missing],
        vec!["setup", "--python", &missing],
        vec!["setup", "--theme", NAME, "--python", file],
        vec!["completions", NAME],
        vec!["dashboard", "--config", &config],
        vec!["demo", "--python", NAME],
        vec![
            "--config",
            NAME,
            "--socket",
            NAME,
            "--policy-dir",
            NAME,
            "check",
            fine,
        ],
    ];
    let mut said = 0;
    for args in &cases {
        let ran = bad.home.run(args).await;
        assert!(is_harmless(&ran.out), "{args:?}: {ran:?}");
        assert!(is_harmless(&ran.err), "{args:?}: {ran:?}");
        said += usize::from(is_said(&ran.out) || is_said(&ran.err));
    }
    // Most of them repeat the name, as a mark: the table is not about silence.
    assert!(said > cases.len() * 2 / 3, "{said} of {}", cases.len());
}

#[tokio::test]
async fn nothing_hostile_in_a_variable_comes_out_raw() {
    let bad = bad();
    let config = format!("{}/config.toml", bad.folder);
    let fine = bad.home.write("fine.py", b"print(1)\n");
    let fine = fine.to_str().unwrap();
    let hostile = format!("COUNTERSIGN_{NAME}");
    let mut said = 0;
    for (name, value, args) in [
        (hostile.as_str(), "x", &["status"][..]),
        ("COUNTERSIGN_TIER", NAME, &["status"]),
        ("COUNTERSIGN_TTL_S", NAME, &["setup"]),
        ("COUNTERSIGN_PROFILES", NAME, &["replicate", fine]),
        ("COUNTERSIGN_QUEUE_MAX_PENDING", NAME, &["audit", "prune"]),
        ("COUNTERSIGN_DATASETS_A_PATH", NAME, &["setup"]),
        ("COUNTERSIGN_ENV", NAME, &["setup"]),
        ("COUNTERSIGN_CONFIG", config.as_str(), &["setup"]),
        ("COUNTERSIGN_SOCKET", bad.folder.as_str(), &["submit", fine]),
        (
            "COUNTERSIGN_STATE_DIR",
            bad.folder.as_str(),
            &["audit", "list"],
        ),
        (
            "COUNTERSIGN_POLICY_DIR",
            bad.folder.as_str(),
            &["check", fine],
        ),
        ("COUNTERSIGN_PROFILE", NAME, &["check", fine]),
        ("HOME", bad.folder.as_str(), &["audit", "list"]),
    ] {
        let mut command = bad.home.command(args);
        command.env(name, value);
        let ran = Ran::of(command.output().await.unwrap());
        assert!(
            is_harmless(&ran.out) && is_harmless(&ran.err),
            "{name} {args:?}: {ran:?}"
        );
        said += usize::from(is_said(&ran.out) || is_said(&ran.err));
    }
    // Some name the variable alone.
    assert!(said >= 8, "{said}");
}

/// The help names the values of variables, but no hostile one.
#[tokio::test]
async fn the_help_shows_no_hostile_value() {
    let home = Home::new();
    for args in [&["--help"][..], &["submit", "--help"], &["help", "check"]] {
        for (value, shown) in [(NAME, false), ("/opt/python3", true)] {
            let mut command = home.command(args);
            command.env("COUNTERSIGN_PYTHON", value);
            let ran = Ran::of(command.output().await.unwrap());
            assert!(ran.code == 0 && is_harmless(&ran.out), "{args:?}: {ran:?}");
            assert_eq!(
                ran.out.contains("=/opt/python3"),
                shown,
                "{args:?}: {ran:?}"
            );
        }
    }
}

#[tokio::test]
async fn what_the_doctor_finds_comes_out_harmless() {
    let bad = bad();
    for json in [&[][..], &["--json"]] {
        let args = [
            &["doctor", "--state-dir", &bad.folder, "--python", &bad.file][..],
            json,
        ]
        .concat();
        let ran = bad.home.run(&args).await;
        assert!(
            is_harmless(&ran.out) && is_harmless(&ran.err),
            "{args:?}: {ran:?}"
        );
        assert!(is_said(&ran.out), "{args:?}: {ran:?}");
    }
}

/// JSON stays the JSON that it was, and its reader gets the name.
#[tokio::test]
async fn json_escapes_what_is_hidden_and_means_the_same() {
    let bad = bad();
    for format in ["json", "jsonl"] {
        let ran = bad
            .home
            .run(&["check", &bad.file, "--format", format])
            .await;
        assert!(ran.out.contains("\\u202e") && ran.out.is_ascii(), "{ran:?}");
        let json: Value = serde_json::from_str(&ran.out).unwrap();
        let checked = json.as_array().map_or(&json, |all| &all[0]);
        assert_eq!(checked["path"], bad.file);
    }
    let rules = bad
        .home
        .run(&["check", "--list-rules", "--format", "json"])
        .await
        .out;
    let explained = bad.home.run(&["check", "--explain", "TEXT001"]).await.out;
    assert!(is_harmless(&rules) && rules.contains("\\u202e"));
    assert!(
        is_harmless(&explained) && explained.contains("\\u{202E}"),
        "{explained}"
    );
    let sarif = bad
        .home
        .run(&["check", &bad.file, "--format", "sarif"])
        .await
        .out;
    serde_json::from_str::<Value>(&sarif).unwrap();
}

#[tokio::test]
async fn arguments_that_are_not_utf_8_are_told_as_such() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = Home::new();
    let odd = std::ffi::OsStr::from_bytes(b"\xff\x1b[2J\xc3");
    for args in [
        &["check"][..],
        &["submit"],
        &["policy", "check"],
        &["replicate"],
        &["completions"],
    ] {
        let mut command = home.command(args);
        command.arg(odd);
        let ran = Ran::of(command.output().await.unwrap());
        assert!(
            is_harmless(&ran.out) && is_harmless(&ran.err),
            "{args:?}: {ran:?}"
        );
        assert_ne!(ran.code, 0, "{args:?}: {ran:?}");
    }
}
