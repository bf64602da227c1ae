//! `submit` with a real socket and a scripted core.

use countersign::model::file_name::Renamed;
use countersign::model::{LeftOut, Reason};

use super::scripted::*;
use super::*;

#[tokio::test]
async fn submit_without_a_dashboard_ends_with_7_and_says_what_to_start() {
    let home = Home::new();
    let file = home.write("x.py", b"print(1)\n");
    let result = Finished::of(
        home.submit(&[file.to_str().unwrap()])
            .output()
            .await
            .unwrap(),
    );
    assert_eq!(result.code, 7);
    assert!(
        result.err.contains("start one with `countersign`"),
        "{result:?}"
    );
}

/// A demo has its own socket: `submit` next to a demo says how to reach it.
#[tokio::test]
async fn submit_beside_a_demo_gives_the_command_with_the_demos_socket() {
    let home = Home::new();
    let file = home.write("x y.py", b"print(1)\n");
    let listen = |name: &str| {
        let folder = home.dir.path().join(name).join("run");
        std::fs::create_dir_all(&folder).unwrap();
        std::os::unix::net::UnixListener::bind(folder.join("agent.sock")).unwrap()
    };
    let open = listen("countersign-demo-open");
    drop(listen("countersign-demo-dead"));
    let other = listen("of-something-else");
    let mut submit = home.submit(&[file.to_str().unwrap()]);
    submit.env("TMPDIR", home.dir.path());
    let result = Finished::of(submit.output().await.unwrap());
    assert_eq!(result.code, 7);
    let folder = home.dir.path().display();
    let command = format!(
        "a demo is open and listens on its own socket: countersign submit --socket \
         {folder}/countersign-demo-open/run/agent.sock '{folder}/x y.py'\n"
    );
    assert!(result.err.contains(&command), "{result:?}");
    assert_eq!(result.err.matches("--socket").count(), 1, "{result:?}");
    drop((open, other));
}

#[tokio::test]
async fn each_final_state_has_its_exit_code() {
    for (state, code) in [
        (State::Succeeded, 0),
        (State::Failed, 1),
        (State::Denied, 3),
        (State::Expired, 4),
        (State::Blocked, 5),
        (State::Withdrawn, 6),
        (State::Unattended, 6),
        (State::Error, 7),
    ] {
        let home = Home::new();
        let _dashboard = dashboard(&home, ends(state, "so it ended")).await;
        let file = home.write("x.py", b"1\n");
        let result = Finished::of(
            home.submit(&[file.to_str().unwrap()])
                .output()
                .await
                .unwrap(),
        );
        assert_eq!(result.code, code, "{result:?}");
        let is_named = result.err.contains(&format!("{state}: so it ended"));
        assert_eq!(is_named, state != State::Succeeded, "{result:?}");
    }
}

#[tokio::test]
async fn the_output_of_a_run_is_printed_to_the_byte() {
    let home = Home::new();
    let _dashboard = dashboard(
        &home,
        prints("a\u{1b}[2J\0\r\n\tété no newline", "warned\n"),
    )
    .await;
    let file = home.write("x.py", b"1\n");
    let result = Finished::of(
        home.submit(&[file.to_str().unwrap()])
            .output()
            .await
            .unwrap(),
    );
    assert_eq!(result.out, "a\u{1b}[2J\0\r\n\tété no newline");
    assert_eq!(result.err, "warned\n");
    assert_eq!(result.code, 0);
}

#[tokio::test]
async fn a_denial_shows_the_reason_and_nothing_a_terminal_would_obey() {
    let home = Home::new();
    let ending: Ending = Box::new(|id| Outcome {
        decision: Some(Decision {
            kind: DecisionKind::Denied,
            at: jiff::Timestamp::UNIX_EPOCH,
            reason: Some("not \u{1b}[2Jtoday".to_owned()),
            edited: false,
            code: None,
            diff: None,
        }),
        ..outcome(id, State::Denied, "A person denied it.")
    });
    let _dashboard = dashboard(&home, Some(ending)).await;
    let file = home.write("x.py", b"1\n");
    let result = Finished::of(
        home.submit(&[file.to_str().unwrap()])
            .output()
            .await
            .unwrap(),
    );
    assert_eq!(result.code, 3);
    assert!(
        result.err.contains("not ")
            && result.err.contains("today")
            && !result.err.contains('\u{1b}')
    );
}

#[tokio::test]
async fn an_edit_of_the_person_is_told_beside_the_output() {
    let home = Home::new();
    let ending: Ending = Box::new(|id| Outcome {
        decision: Some(Decision {
            kind: DecisionKind::Granted,
            at: jiff::Timestamp::UNIX_EPOCH,
            reason: None,
            edited: true,
            code: Some("print(2)\n".to_owned()),
            diff: Some("@@ -1 +1 @@\n-print(1)\u{1b}[2J\n+print(2)\n".to_owned()),
        }),
        ..prints("2\n", "").unwrap()(id)
    });
    let _dashboard = dashboard(&home, Some(ending)).await;
    let file = home.write("x.py", b"print(1)\n");
    let result = Finished::of(
        home.submit(&[file.to_str().unwrap()])
            .output()
            .await
            .unwrap(),
    );
    assert_eq!((result.out.as_str(), result.code), ("2\n", 0));
    for line in ["a person edited the code", "  -print(1)", "  +print(2)\n"] {
        assert!(result.err.contains(line), "{line}: {}", result.err);
    }
    assert!(!result.err.contains('\u{1b}'), "{}", result.err);
}

#[tokio::test]
async fn json_is_the_whole_outcome_on_one_line() {
    let home = Home::new();
    let _dashboard = dashboard(&home, prints("hi\n", "")).await;
    let file = home.write("x.py", b"1\n");
    let result = Finished::of(
        home.submit(&["--json", file.to_str().unwrap()])
            .output()
            .await
            .unwrap(),
    );
    assert_eq!(result.out.lines().count(), 1);
    let value: Value = serde_json::from_str(&result.out).unwrap();
    assert_eq!(
        (&value["state"], &value["run"]["stdout"]),
        (&"succeeded".into(), &"hi\n".into())
    );
    assert_eq!((result.code, result.err.as_str()), (0, ""));
}

#[tokio::test]
async fn every_flag_arrives_in_the_proposal() {
    let home = Home::new();
    let dashboard = dashboard(&home, ends(State::Succeeded, "")).await;
    let code = "# \u{feff}é\r\nprint(1)";
    let file = home.write("x.py", code.as_bytes());
    home.write("big.json", b"{\"n\": 123456789012345678901234567890}");
    let args = [
        "--profile",
        "chart",
        "--title",
        "t",
        "--reason",
        "r",
        "--agent",
        "me",
        "--ttl",
        "9",
        "--key",
        "k",
        "--input",
        "s=sales",
        "--input",
        "b=@big.json",
        file.to_str().unwrap(),
    ];
    let result = Finished::of(home.submit(&args).output().await.unwrap());
    assert_eq!(result.code, 0, "{result:?}");
    let draft = dashboard.drafts.lock().unwrap().pop_front().unwrap();
    assert_eq!(&*draft.code, code);
    assert_eq!(draft.profile.as_deref(), Some("chart"));
    assert_eq!(
        (draft.title.as_deref(), draft.reason.as_deref()),
        (Some("t"), Some("r"))
    );
    assert_eq!(draft.agent.unwrap().name, "me");
    assert_eq!(
        (draft.ttl_s, draft.idempotency_key.as_deref()),
        (Some(9), Some("k"))
    );
    assert_eq!(
        draft.inputs["s"],
        InputRequest::Dataset {
            dataset: "sales".to_owned()
        }
    );
    // Sent byte for byte: nothing in between rounds a number.
    assert_eq!(
        draft.inputs["b"],
        InputRequest::Text {
            text: "{\"n\": 123456789012345678901234567890}".to_owned(),
            format: TextFormat::Json,
        }
    );
}

#[tokio::test]
async fn the_snippet_is_standard_input_without_a_file_or_with_a_dash() {
    for args in [&[][..], &["-"]] {
        let home = Home::new();
        let dashboard = dashboard(&home, ends(State::Succeeded, "")).await;
        let mut child = home.submit(args).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"print('from stdin')\n").await.unwrap();
        drop(stdin);
        let result = Finished::of(child.wait_with_output().await.unwrap());
        assert_eq!(result.code, 0, "{result:?}");
        let draft = dashboard.drafts.lock().unwrap().pop_front().unwrap();
        assert_eq!(&*draft.code, "print('from stdin')\n");
    }
}

#[tokio::test]
async fn an_invalid_proposal_is_refused_before_it_is_sent() {
    let home = Home::new();
    let dashboard = dashboard(&home, ends(State::Succeeded, "")).await;
    home.write("latin1.py", b"print('\xe9')\n");
    home.write("huge.py", &vec![b'#'; 2 * 1024 * 1024]);
    home.write("a.csv", b"x\n1\n");
    home.write("x.py", b"1\n");
    for (args, words) in [
        (
            &["latin1.py"][..],
            "latin1.py is not UTF-8: the first bad byte is at offset 7",
        ),
        (&["huge.py"], "huge.py is larger than"),
        (&["x.py", "--input", "a=@gone.csv"], "cannot read gone.csv"),
        (
            &["x.py", "--input", "a=@a.csv", "--input", "a=sales"],
            "`a` twice",
        ),
    ] {
        let result = Finished::of(home.submit(args).output().await.unwrap());
        assert_eq!(result.code, 2, "{result:?}");
        assert!(result.err.contains(words), "{result:?}");
    }
    assert!(dashboard.drafts.lock().unwrap().is_empty());
    // Requests that the dashboard refuses are usage errors too, with the dashboard's message.
    home.write("long.py", &vec![b'#'; 70_000]);
    for (args, words) in [
        (&["long.py"][..], "-32001"),
        (
            &["x.py", "--profile", "nope"],
            "unknown profile `nope` (-32003)",
        ),
    ] {
        let result = Finished::of(home.submit(args).output().await.unwrap());
        assert_eq!(result.code, 2, "{result:?}");
        assert!(result.err.contains(words), "{result:?}");
    }
}

/// Starts `submit`, interrupts it as Ctrl-C does once it waits, and returns its output.
async fn submit_and_interrupt(home: &Home, dashboard: &Dashboard, args: &[&str]) -> Finished {
    let child = home.submit(args).spawn().unwrap();
    let pid = Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap());
    tokio::time::timeout(PATIENCE, dashboard.waiting.notified())
        .await
        .unwrap();
    // It installs its handler a moment after its request; until then the signal would kill it.
    await_handler(pid, Signal::SIGINT).await;
    kill(pid, Signal::SIGINT).unwrap();
    Finished::of(
        tokio::time::timeout(PATIENCE, child.wait_with_output())
            .await
            .unwrap()
            .unwrap(),
    )
}

/// Waits until the process has a handler for the signal.
async fn await_handler(pid: Pid, signal: Signal) {
    let caught = || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status
            .lines()
            .find_map(|l| l.strip_prefix("SigCgt:"))
            .unwrap();
        let mask = u64::from_str_radix(line.trim(), 16).unwrap();
        mask & (1 << (signal as i32 - 1)) != 0
    };
    while !caught() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn ctrl_c_withdraws_a_proposal_without_a_key_and_leaves_one_with_a_key() {
    let home = Home::new();
    let dashboard = dashboard(&home, None).await;
    home.write("x.py", b"1\n");
    let result = submit_and_interrupt(&home, &dashboard, &["x.py"]).await;
    assert_eq!(result.code, 6, "{result:?}");
    assert!(result.err.contains("is withdrawn"), "{result:?}");
    assert_eq!(dashboard.withdrawn.lock().unwrap().len(), 1);

    let result = submit_and_interrupt(&home, &dashboard, &["x.py", "--key", "k"]).await;
    assert_eq!(result.code, 130, "{result:?}");
    assert!(result.err.contains("the same --key"), "{result:?}");
    assert_eq!(dashboard.withdrawn.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn submit_on_a_terminal_says_that_it_waits_and_its_output_cannot_drive_the_terminal() {
    let home = Home::new();
    let _dashboard = dashboard(&home, prints("safe\u{1b}[2Jtext\u{202e}\n", "")).await;
    home.write("x.py", b"1\n");
    let socket = home.socket();
    let folder = home.dir.path().to_owned();
    let shown = tokio::task::spawn_blocking(move || {
        on_a_terminal(&folder, &socket, &["submit", "x.py"], 80)
    })
    .await
    .unwrap();
    assert!(shown.contains("waiting for a decision (id "), "{shown:?}");
    assert!(
        shown.contains("safe") && shown.contains("text"),
        "{shown:?}"
    );
    assert!(
        !shown.contains('\u{1b}') && !shown.contains('\u{202e}'),
        "{shown:?}"
    );
}

/// The output of a command on a terminal with this many columns.
pub fn on_a_terminal(folder: &Path, socket: &Path, args: &[&str], columns: u16) -> String {
    use std::io::Read as _;

    use portable_pty::{CommandBuilder, PtySize, native_pty_system};

    let pair = native_pty_system()
        .openpty(PtySize {
            cols: columns,
            ..PtySize::default()
        })
        .unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(args);
    command.env_clear();
    command.env("HOME", folder);
    command.env("COUNTERSIGN_SOCKET", socket);
    command.cwd(folder);
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().unwrap();
    let mut shown = Vec::new();
    // Reading from a pseudo-terminal fails with EIO once its program has ended.
    let _ = reader.read_to_end(&mut shown);
    child.wait().unwrap();
    String::from_utf8(shown).unwrap()
}

#[tokio::test]
async fn out_writes_the_files_that_a_run_left() {
    let home = Home::new();
    let _dashboard = dashboard(&home, leaves(vec![file("a.txt"), file("figure-1.png")])).await;
    let snippet = home.write("s.py", b"1");
    let args = [snippet.to_str().unwrap(), "--out", "new/out"];
    let result = Finished::of(home.submit(&args).output().await.unwrap());
    assert_eq!(
        (result.code, result.out.as_str()),
        (0, "printed\n"),
        "{result:?}"
    );
    assert!(
        result
            .err
            .contains("wrote new/out/a.txt (text/plain, 5 bytes)"),
        "{result:?}"
    );
    let out = home.dir.path().join("new/out");
    for name in ["a.txt", "figure-1.png"] {
        assert_eq!(std::fs::read(out.join(name)).unwrap(), name.as_bytes());
    }
    // A second time the same files are there.
    let result = Finished::of(home.submit(&args).output().await.unwrap());
    assert_eq!(result.code, 0, "{result:?}");
    assert!(
        result
            .err
            .contains("already there, the same: new/out/a.txt (text/plain, 5 bytes)"),
        "{result:?}"
    );
    // Another file of the same name stays, and hinders no other file.
    std::fs::write(out.join("a.txt"), "old").unwrap();
    std::fs::remove_file(out.join("figure-1.png")).unwrap();
    let result = Finished::of(home.submit(&args).output().await.unwrap());
    assert_eq!(
        (result.code, &result.out[..]),
        (7, "printed\n"),
        "{result:?}"
    );
    for said in [
        "wrote new/out/figure-1.png",
        "not written: new/out/a.txt: another file of this name is there already; --force replaces it",
        "error: 1 of 2 files not written",
    ] {
        assert!(result.err.contains(said), "{said}: {result:?}");
    }
    assert_eq!(std::fs::read(out.join("a.txt")).unwrap(), b"old");
    // With the flag regular files are replaced; a link is neither replaced nor followed.
    let secret = home.write("secret", b"s");
    std::fs::remove_file(out.join("figure-1.png")).unwrap();
    std::os::unix::fs::symlink(&secret, out.join("figure-1.png")).unwrap();
    let forced = [&args[..], &["--force"]].concat();
    let result = Finished::of(home.submit(&forced).output().await.unwrap());
    assert_eq!(result.code, 7, "{result:?}");
    assert!(result.err.contains("replaced new/out/a.txt"), "{result:?}");
    assert!(
        result
            .err
            .contains("figure-1.png: something that is no regular file"),
        "{result:?}"
    );
    assert_eq!(
        result.out, "printed\n",
        "the outcome is printed nevertheless"
    );
    assert_eq!(std::fs::read(out.join("a.txt")).unwrap(), b"a.txt");
    assert_eq!(std::fs::read(secret).unwrap(), b"s");
}

#[tokio::test]
async fn out_says_which_files_do_not_come_back_and_why() {
    let home = Home::new();
    let ending: Ending = Box::new(|id| Outcome {
        run: Some(Run {
            artifacts_left_out: 4,
            artifacts_withheld: 1,
            artifacts_renamed: vec![Renamed {
                left: "North America.csv".to_owned(),
                kept: "North_America.csv".to_owned(),
            }],
            artifacts_refused: vec![
                LeftOut::new(b"result", Reason::Reserved),
                LeftOut {
                    name: None,
                    reason: Reason::Link,
                },
            ],
            ..run("", "")
        }),
        ..outcome(id, State::Succeeded, "It ran.")
    });
    let _dashboard = dashboard(&home, Some(ending)).await;
    let snippet = home.write("s.py", b"1");
    let args = [snippet.to_str().unwrap(), "--out", "out"];
    let result = Finished::of(home.submit(&args).output().await.unwrap());
    assert_eq!(result.code, 0, "{result:?}");
    for note in [
        "note: Kept under plain names: `North America.csv` as `North_America.csv`.\n",
        "note: 1 file was thrown away: files of runs on private data are.\n",
        "note: `result` is not collected: the names `result` and `stdout` are the run's own result and output; \
         write it under another name.\n",
        "note: 1 thing in its output folder is not collected: links are not, nor files with several names.\n",
        "note: 1 more thing in its output folder is not collected.\n",
    ] {
        assert!(result.err.contains(note), "{result:?}");
        // Also where no file is fetched: what is lost cannot be fetched later.
        let told = Finished::of(home.submit(&args[..1]).output().await.unwrap());
        assert!(told.err.contains(note), "{told:?}");
    }
}

#[tokio::test]
async fn a_file_that_differs_from_the_outcome_is_not_written() {
    for artifact in [
        Artifact {
            name: "../escape".to_owned(),
            ..file("../escape")
        },
        Artifact {
            sha256: Digest::of(b"other").hex(),
            ..file("a.txt")
        },
        Artifact {
            bytes: 3,
            ..file("a.txt")
        },
        Artifact {
            bytes: 300,
            ..file("a.txt")
        },
        file(ENDLESS),
    ] {
        let home = Home::new();
        let _dashboard = dashboard(&home, leaves(vec![artifact.clone()])).await;
        let snippet = home.write("s.py", b"1");
        let args = [snippet.to_str().unwrap(), "--out", "out", "--json"];
        let result = Finished::of(home.submit(&args).output().await.unwrap());
        assert_eq!(result.code, 7, "{artifact:?}: {result:?}");
        assert!(result.err.contains("is refused"), "{result:?}");
        assert!(
            serde_json::from_str::<Value>(&result.out).is_ok(),
            "{result:?}"
        );
        let out = std::fs::read_dir(home.dir.path().join("out")).unwrap();
        assert_eq!(out.count(), 0);
        assert!(!home.dir.path().join("escape").exists());
    }
}

#[tokio::test]
async fn a_file_that_is_refused_hinders_no_other_file() {
    let home = Home::new();
    let odd = Artifact {
        name: "../escape".to_owned(),
        ..file("../escape")
    };
    let hidden = file(".bashrc");
    let _dashboard = dashboard(&home, leaves(vec![odd, hidden, file("a.txt")])).await;
    let snippet = home.write("s.py", b"1");
    for json in [&[][..], &["--json"]] {
        let args = [&[snippet.to_str().unwrap(), "--out", "out"], json].concat();
        let result = Finished::of(home.submit(&args).output().await.unwrap());
        assert_eq!(result.code, 7, "{result:?}");
        for said in [
            "not written: artifact ../escape is refused: its name is no plain file name",
            "not written: out/.bashrc: ",
            "error: 2 of 3 files not written",
        ] {
            assert!(result.err.contains(said), "{said}: {result:?}");
        }
        let out = home.dir.path().join("out");
        assert_eq!(std::fs::read(out.join("a.txt")).unwrap(), b"a.txt");
        assert_eq!(std::fs::read_dir(out).unwrap().count(), 1);
    }
    // The flag alone means nothing.
    let args = [snippet.to_str().unwrap(), "--force"];
    let result = Finished::of(home.submit(&args).output().await.unwrap());
    assert_eq!(result.code, 2, "{result:?}");
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_to_is_a_usage_error_before_anything_is_proposed() {
    let home = Home::new();
    let dashboard = dashboard(&home, leaves(Vec::new())).await;
    let snippet = home.write("s.py", b"1");
    let args = [snippet.to_str().unwrap(), "--out", "s.py"];
    let result = Finished::of(home.submit(&args).output().await.unwrap());
    assert_eq!(result.code, 2, "{result:?}");
    assert!(dashboard.drafts.lock().unwrap().is_empty());
}

#[tokio::test]
async fn stdout_larger_than_a_frame_is_fetched_and_printed_whole() {
    let home = Home::new();
    let ending: Ending = Box::new(|id| Outcome {
        run: Some(Run {
            artifacts: vec![file("stdout")],
            stdout: "std".to_owned(),
            stdout_bytes: 6,
            stdout_truncated: true,
            ..run("", "")
        }),
        ..outcome(id, State::Succeeded, "It ran.")
    });
    let _dashboard = dashboard(&home, Some(ending)).await;
    let snippet = home.write("s.py", b"1");
    let result = Finished::of(
        home.submit(&[snippet.to_str().unwrap()])
            .output()
            .await
            .unwrap(),
    );
    assert_eq!(
        (result.code, result.out.as_str()),
        (0, "stdout"),
        "{result:?}"
    );
    assert!(!result.err.contains("is cut"), "{result:?}");
}
