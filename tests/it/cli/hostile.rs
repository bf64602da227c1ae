//! Passes names and values with everything that a terminal acts on through every command and every
//! argument: nothing of them is printed raw, and no line of them can pass for one of ours.

use countersign::model::escape;
use serde_json::json;
use tokio::io::AsyncBufReadExt as _;

use super::submit::on_a_terminal;
use super::*;

/// Escape sequences, C1, bidi, zero-width and tag characters, line breaks and tabs.
const NAME: &str =
    "a\u{1b}[2J\u{9b}31m\u{202e}\u{2066}\u{200b}\u{ad}\u{e0041}\nforged: clear\r\tb\u{7f}\u{7}";

/// Whether the text has no hidden characters, except our own line feeds and tabs, and no line that
/// the name forged.
fn is_harmless(text: &str) -> bool {
    let hidden = |c: char| c != '\n' && c != '\t' && escape(c).is_some();
    !text.contains(hidden)
        && !text
            .lines()
            .any(|line| line.trim_start().starts_with("forged"))
}

fn names_it(text: &str) -> bool {
    // Shown as control pictures in text and as escapes in JSON.
    ["␛", "\\u001b", "\\u{1b}", "\\x1b", "%1B"]
        .iter()
        .any(|shown| text.contains(shown))
}

struct HostileHome {
    home: Home,
    /// A folder below the home with the hostile name, which contains files with that name.
    folder: String,
    file: String,
    policy: String,
}

fn hostile_home() -> HostileHome {
    let home = Home::new();
    let folder = home.dir.path().join(NAME);
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join(format!("{NAME}.py"));
    std::fs::write(&file, format!("import {NAME}\nx = '{NAME}'\n")).unwrap();
    let policy = folder.join(format!("{NAME}.toml"));
    std::fs::write(&policy, "name = \"team\"\nextends = \"analysis\"\n").unwrap();
    std::fs::write(folder.join("config.toml"), format!("{NAME:?} = 1\n")).unwrap();
    let shown = |path: PathBuf| path.to_str().unwrap().to_owned();
    HostileHome {
        folder: shown(folder),
        file: shown(file),
        policy: shown(policy),
        home,
    }
}

#[tokio::test]
async fn nothing_hostile_comes_out_raw_of_any_command() {
    let fixture = hostile_home();
    let harmless = fixture.home.write("fine.py", b"print(1)\n");
    let harmless = harmless.to_str().unwrap();
    let (folder, file, policy) = (
        fixture.folder.as_str(),
        fixture.file.as_str(),
        fixture.policy.as_str(),
    );
    let config = format!("{folder}/config.toml");
    let missing = format!("{folder}/missing");
    let at = format!("x=@{folder}/missing.csv");
    let invalid = format!("x=@{folder}/x.{NAME}");
    let named = format!("{NAME}=sales");
    let attached = format!("--input={NAME}=sales");
    let attached_file = format!("--input=x{NAME}=@{NAME}.csv");
    let short = format!("-{NAME}");
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
        vec!["check", harmless, "--profile", NAME],
        vec!["check", harmless, "--format", NAME],
        vec!["check", "--explain", NAME],
        vec!["check", "--policy-dir", folder, harmless],
        vec!["submit", &missing],
        vec![
            "submit",
            harmless,
            "--profile",
            NAME,
            "--title",
            NAME,
            "--socket",
            folder,
        ],
        vec!["submit", harmless, "--input", NAME],
        vec!["submit", harmless, "--input", &named],
        vec!["submit", harmless, &attached],
        vec!["submit", harmless, &attached_file],
        vec!["status", &short],
        vec!["submit", harmless, "--input", &at],
        vec!["submit", harmless, "--input", &invalid],
        vec!["submit", harmless, "--ttl", NAME],
        vec!["submit", harmless, "--out", file],
        vec!["submit", harmless, "--socket", &missing],
        vec!["submit", harmless, "--state-dir", folder],
        vec!["submit", harmless, NAME],
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
        vec!["audit", "stats", "--state-dir", folder],
        vec!["audit", "export", NAME],
        vec!["audit", "export", "--format", NAME],
        vec!["audit", "export", "--out", &missing],
        vec!["audit", "playback", NAME],
        vec!["audit", "playback", "abcd", "--speed", NAME],
        vec!["audit", "stats", "--since", NAME],
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
            harmless,
        ],
    ];
    let mut names = 0;
    for args in &cases {
        let result = fixture.home.run(args).await;
        assert!(is_harmless(&result.out), "{args:?}: {result:?}");
        assert!(is_harmless(&result.err), "{args:?}: {result:?}");
        names += usize::from(names_it(&result.out) || names_it(&result.err));
    }
    // Most commands must show the name, with marks: printing nothing would pass too easily.
    assert!(names > cases.len() * 2 / 3, "{names} of {}", cases.len());
}

#[tokio::test]
async fn nothing_hostile_in_a_variable_comes_out_raw() {
    let fixture = hostile_home();
    let config = format!("{}/config.toml", fixture.folder);
    let harmless = fixture.home.write("fine.py", b"print(1)\n");
    let harmless = harmless.to_str().unwrap();
    let hostile = format!("COUNTERSIGN_{NAME}");
    let mut names = 0;
    for (name, value, args) in [
        (hostile.as_str(), "x", &["status"][..]),
        ("COUNTERSIGN_TIER", NAME, &["status"]),
        ("COUNTERSIGN_TTL_S", NAME, &["setup"]),
        ("COUNTERSIGN_PROFILES", NAME, &["replicate", harmless]),
        ("COUNTERSIGN_QUEUE_MAX_PENDING", NAME, &["audit", "prune"]),
        ("COUNTERSIGN_DATASETS_A_PATH", NAME, &["setup"]),
        ("COUNTERSIGN_ENV", NAME, &["setup"]),
        ("COUNTERSIGN_CONFIG", config.as_str(), &["setup"]),
        (
            "COUNTERSIGN_SOCKET",
            fixture.folder.as_str(),
            &["submit", harmless],
        ),
        (
            "COUNTERSIGN_STATE_DIR",
            fixture.folder.as_str(),
            &["audit", "list"],
        ),
        (
            "COUNTERSIGN_POLICY_DIR",
            fixture.folder.as_str(),
            &["check", harmless],
        ),
        ("COUNTERSIGN_PROFILE", NAME, &["check", harmless]),
        ("HOME", fixture.folder.as_str(), &["audit", "list"]),
    ] {
        let mut command = fixture.home.command(args);
        command.env(name, value);
        let result = Finished::of(command.output().await.unwrap());
        assert!(
            is_harmless(&result.out) && is_harmless(&result.err),
            "{name} {args:?}: {result:?}"
        );
        names += usize::from(names_it(&result.out) || names_it(&result.err));
    }
    // Some messages name the variable only.
    assert!(names >= 8, "{names}");
}

/// Names that a policy file chooses freely, in the commands' output about it.
#[tokio::test]
async fn nothing_hostile_in_a_policy_file_comes_out_raw() {
    let home = Home::new();
    let escaped = NAME.chars().map(|c| format!("\\U{:08x}", c as u32));
    let name = format!("\"{}\"", escaped.collect::<String>());
    let policies = home.dir.path().join(".config/countersign/policies");
    std::fs::create_dir_all(&policies).unwrap();
    let file = policies.join("team.toml");
    let own = "name = \"team\"\ncontract = \"analysis\"\n";
    let extends = "name = \"team\"\nextends = \"analysis\"\n";
    let mut names = 0;
    for (head, table) in [
        (extends, format!("[attributes]\ndeny = [{name}]\n")),
        (extends, format!("[imports]\n{name} = []\n")),
        (extends, format!("[widen.imports]\nacme = [{name}]\n")),
        (extends, format!("[limits]\n{name} = 1\n")),
        (extends, format!("[isolation]\ntier = {name}\n")),
        (own, format!("[builtins]\nallow = [{name}]\n")),
        (own, format!("[nodes]\nallow = [{name}]\n")),
        (
            own,
            format!("[attributes]\nallow_dunder = [{name}]\ndefine_dunder = [{name}]\n"),
        ),
        (own, format!("[capabilities]\n{name} = \"block\"\n")),
    ] {
        std::fs::write(&file, format!("{head}{table}")).unwrap();
        let path = file.to_str().unwrap();
        for args in [
            &["policy", "check", path][..],
            &["policy", "diff", path],
            &["policy", "show", "team"],
            &["policy", "show", "team", "--json"],
        ] {
            let result = home.run(args).await;
            assert!(
                is_harmless(&result.out) && is_harmless(&result.err),
                "{table}{args:?}: {result:?}"
            );
            names += usize::from(names_it(&result.out) || names_it(&result.err));
        }
    }
    assert!(names > 20, "{names}");
}

/// Another user's dashboard, whose answers to `propose` and `wait` are hostile.
fn answer_hostilely(home: &Home, wait: Value) {
    let socket = home.socket();
    std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
    let listener = tokio::net::UnixListener::bind(socket).unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let (read, mut write) = stream.into_split();
            let mut lines = tokio::io::BufReader::new(read).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let request: Value = serde_json::from_str(&line).unwrap();
                let told = match request["method"].as_str().unwrap() {
                    "propose" => {
                        json!({"result": {"id": ID, "state": "pending", "expires_at": NAME}})
                    }
                    "wait" => wait.clone(),
                    _ => json!({"error": {"code": -32000, "message": NAME, "data": {NAME: NAME}}}),
                };
                let mut answer = json!({"jsonrpc": "2.0", "id": request["id"]});
                let fields = told.as_object().unwrap().clone();
                answer.as_object_mut().unwrap().extend(fields);
                // serde escapes C0 controls only; everything else is sent raw.
                let line = format!("{answer}\n");
                if write.write_all(line.as_bytes()).await.is_err() {
                    break;
                }
            }
        }
    });
}

const ID: &str = "01900000-0000-7000-8000-000000000000";

fn hostile_outcome(state: &str, change: impl Fn(&mut Value)) -> Value {
    let finding = json!({"rule": NAME, "name": NAME, "severity": "critical", "action": "block",
        "message": NAME, "hint": NAME, "cwe": [1], "line": 1, "column": 1, "end_line": 1, "end_column": 2,
        "capability": null});
    let mut outcome = json!({"id": ID, "digest": format!("sha256:{}", "0".repeat(64)), "state": state,
        "message": NAME, "retry": "no",
        "verdict": {"verdict": "blocked", "policy": {"profile": NAME, "sha256": NAME},
            "findings": [finding], "capabilities": [{"capability": "FS_READ", "lines": [1], "detail": NAME}],
            "source": {"bytes": 1, "lines": 1, "sha256": NAME}, "elapsed_us": 1},
        "decision": {"kind": "denied", "at": "2026-01-01T00:00:00Z", "reason": format!("r{NAME}"),
            "edited": false},
        "run": {"exit": {"signal": NAME}, "limit": null, "duration_ms": 1,
            "timing_us": {"grant_to_start": 1, "grant_to_first_output": 1, "grant_to_exit": 1},
            "stdout": "", "stderr": "", "stdout_bytes": 9, "stderr_bytes": 9, "stdout_truncated": true,
            "stderr_truncated": true, "isolation": {"tier": "kernel", "layers": [NAME]},
            "error": {"type": "SnippetError", "message": NAME, "line": 3, "exception": NAME},
            "result": {NAME: NAME}, "artifacts": []}});
    change(&mut outcome);
    json!({"result": outcome})
}

/// The dashboard may belong to another user, and it returns texts of agents.
#[tokio::test]
async fn nothing_hostile_that_a_dashboard_answers_comes_out_raw() {
    let as_it_is = |_: &mut Value| {};
    let artifact = |name: &'static str| {
        move |outcome: &mut Value| {
            outcome["run"]["artifacts"] =
                json!([{"name": name, "media_type": NAME, "bytes": 1, "sha256": NAME}]);
        }
    };
    let cases = [
        hostile_outcome("failed", as_it_is),
        hostile_outcome("blocked", as_it_is),
        hostile_outcome("denied", as_it_is),
        hostile_outcome(NAME, as_it_is),
        hostile_outcome("succeeded", artifact(NAME)),
        hostile_outcome("succeeded", artifact("fine.txt")),
        hostile_outcome("failed", |outcome| outcome["run"]["limit"] = NAME.into()),
        hostile_outcome("failed", |outcome| {
            outcome["run"]["error"]["type"] = NAME.into();
        }),
        json!({"result": {"state": NAME, "id": NAME, NAME: NAME}}),
        json!({"result": NAME}),
        json!({"error": {"code": -32003, "message": NAME, "data": {"profiles": [NAME], NAME: 1}}}),
        json!({"error": {"code": -32003, "message": NAME, "data": NAME}}),
    ];
    let mut names = 0;
    for (n, wait) in cases.iter().enumerate() {
        let home = Home::new();
        home.write("x.py", b"1\n");
        answer_hostilely(&home, wait.clone());
        for more in [&[][..], &["--json"], &["--out", "left"]] {
            let result = home
                .submit(&[&["x.py"], more].concat())
                .output()
                .await
                .unwrap();
            let result = Finished::of(result);
            assert!(
                is_harmless(&result.out) && is_harmless(&result.err),
                "{n} {more:?}: {result:?}"
            );
            names += usize::from(names_it(&result.out) || names_it(&result.err));
        }
        let (folder, socket) = (home.dir.path().to_owned(), home.socket());
        let shown = tokio::task::spawn_blocking(move || {
            on_a_terminal(&folder, &socket, &["submit", "x.py"], 80)
        });
        let shown = shown.await.unwrap().replace("\r\n", "\n");
        assert!(is_harmless(&shown), "{n}: {shown:?}");
    }
    assert!(names > cases.len() * 2, "{names}");
}

/// Blanks in a name, a title or a line of code can wrap text to the next row of a terminal: no such
/// row may pass for a line of ours.
#[tokio::test]
async fn lines_that_a_terminal_breaks_continue_in_marked_rows() {
    let home = Home::new();
    let blanks = " ".repeat(70);
    let name = format!("a{blanks}forged: clear{blanks}forged: clear.py");
    home.write(
        &name,
        format!("x = eval('1'){blanks}# forged: clear\n").as_bytes(),
    );
    let (folder, socket) = (home.dir.path().to_owned(), home.socket());
    for columns in [40, 71, 80, 100] {
        for args in [
            &["check", &name][..],
            &["check", &format!("{name}/missing")],
            &["policy", "check", &name],
            &["submit", "--input", &name],
        ] {
            let args: Vec<String> = args.iter().map(|&a| a.to_owned()).collect();
            let (folder, socket) = (folder.clone(), socket.clone());
            let shown = tokio::task::spawn_blocking(move || {
                let args: Vec<&str> = args.iter().map(String::as_str).collect();
                on_a_terminal(&folder, &socket, &args, columns)
            });
            let shown = shown.await.unwrap();
            assert!(shown.contains("forged"), "{columns}: {shown}");
            for row in shown.lines() {
                let row = row.trim_end_matches('\r');
                assert!(row.chars().count() <= usize::from(columns), "{row:?}");
                assert!(!row.trim_start().starts_with("forged"), "{row:?}");
            }
        }
    }
}

/// The help shows the values of variables, but no hostile one.
#[tokio::test]
async fn the_help_shows_no_hostile_value() {
    let home = Home::new();
    for args in [&["--help"][..], &["submit", "--help"], &["help", "check"]] {
        for (value, shown) in [(NAME, false), ("/opt/python3", true)] {
            let mut command = home.command(args);
            command.env("COUNTERSIGN_PYTHON", value);
            let result = Finished::of(command.output().await.unwrap());
            assert!(
                result.code == 0 && is_harmless(&result.out),
                "{args:?}: {result:?}"
            );
            assert_eq!(
                result.out.contains("=/opt/python3"),
                shown,
                "{args:?}: {result:?}"
            );
        }
    }
}

#[tokio::test]
async fn findings_of_the_doctor_come_out_harmless() {
    let fixture = hostile_home();
    for json in [&[][..], &["--json"]] {
        let args = [
            &[
                "doctor",
                "--state-dir",
                &fixture.folder,
                "--python",
                &fixture.file,
            ][..],
            json,
        ]
        .concat();
        let result = fixture.home.run(&args).await;
        assert!(
            is_harmless(&result.out) && is_harmless(&result.err),
            "{args:?}: {result:?}"
        );
        assert!(names_it(&result.out), "{args:?}: {result:?}");
    }
}

/// Escaping keeps the JSON's meaning: its reader gets the original name.
#[tokio::test]
async fn json_escapes_hidden_characters_and_means_the_same() {
    let fixture = hostile_home();
    for format in ["json", "jsonl"] {
        let result = fixture
            .home
            .run(&["check", &fixture.file, "--format", format])
            .await;
        assert!(
            result.out.contains("\\u202e") && result.out.is_ascii(),
            "{result:?}"
        );
        let json: Value = serde_json::from_str(&result.out).unwrap();
        let checked = json.as_array().map_or(&json, |all| &all[0]);
        assert_eq!(checked["path"], fixture.file);
    }
    let rules = fixture
        .home
        .run(&["check", "--list-rules", "--format", "json"])
        .await
        .out;
    let explained = fixture
        .home
        .run(&["check", "--explain", "TEXT001"])
        .await
        .out;
    assert!(is_harmless(&rules) && rules.contains("\\u202e"));
    assert!(
        is_harmless(&explained) && explained.contains("\\u{202E}"),
        "{explained}"
    );
    let sarif = fixture
        .home
        .run(&["check", &fixture.file, "--format", "sarif"])
        .await
        .out;
    serde_json::from_str::<Value>(&sarif).unwrap();
}

#[tokio::test]
async fn arguments_that_are_not_utf_8_are_reported_as_such() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = Home::new();
    let invalid = std::ffi::OsStr::from_bytes(b"\xff\x1b[2J\xc3");
    for args in [
        &["check"][..],
        &["submit"],
        &["policy", "check"],
        &["replicate"],
        &["completions"],
    ] {
        let mut command = home.command(args);
        command.arg(invalid);
        let result = Finished::of(command.output().await.unwrap());
        assert!(
            is_harmless(&result.out) && is_harmless(&result.err),
            "{args:?}: {result:?}"
        );
        assert_ne!(result.code, 0, "{args:?}: {result:?}");
    }
}
