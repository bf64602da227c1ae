//! Tests the log with real processes, kills and disks, and tests its commands.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;

use countersign::audit::{self, AuditError, Log, WriterEvent};
use countersign::model::{Blob, Lane, LogEvent, ProposalId, State, Ticket};
use serde_json::{Value, json};

use given::is_given;

use crate::cli::submit::on_a_terminal;
use crate::common::given;

use crate::{model, samples};

const ROLE: &str = "CS_TEST_WRITER";

/// Not a test: the process that the tests below start. Writes a log into the folder named by the
/// variable and prints one line for each durable record, until it is killed, its input ends, or the
/// log goes down.
#[test]
fn writer_process() {
    let Some(dir) = env::var_os(ROLE) else { return };
    let opened = match audit::open(Path::new(&dir)) {
        Ok(opened) => opened,
        Err(e) => {
            println!("refused {e}");
            return;
        }
    };
    println!("open {}", opened.durable);
    let (tell, events) = mpsc::channel();
    let handle = opened.writer.start(Box::new(move |event| {
        let line = match &event {
            WriterEvent::Durable { seq, .. } => format!("durable {seq}"),
            WriterEvent::Unrecorded { reason, .. } => format!("unrecorded {reason}"),
            WriterEvent::Down { reason } => format!("down {reason}"),
        };
        // Flushed at once, so that a kill cannot lose the line.
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
        let _ = tell.send(event);
    }));
    if env::var_os("CS_TEST_IDLE").is_some() {
        let id = ProposalId::new();
        let (event, blobs) = samples::proposed(id, "waits");
        handle.submit(Ticket::Unawaited, event, blobs);
        let _ = std::io::stdin().lines().count();
        handle.close();
        return;
    }
    if env::var_os("CS_TEST_DESCRIPTORS").is_some() {
        let mut all = Vec::new();
        while let Ok(file) = fs::File::open("/dev/null") {
            all.push(file);
        }
        // First until a blob is refused, then until one is accepted again.
        for refused in [true, false] {
            loop {
                let id = ProposalId::new();
                let (event, mut blobs) = samples::proposed(id, "t");
                blobs.push(Blob::of(format!("blob {id}").as_bytes()));
                handle.submit(Ticket::Unawaited, event, blobs);
                let answer = events.recv();
                // This record names no blob.
                let nameless = LogEvent::EnvironmentChanged {
                    environment: model::Digest::of(b"python"),
                    what: "lib/x.py was changed".to_owned(),
                };
                handle.submit(Ticket::Unawaited, nameless, Vec::new());
                let _ = events.recv();
                if refused == matches!(answer, Ok(WriterEvent::Unrecorded { .. }) | Err(_)) {
                    break;
                }
            }
            all.clear();
        }
        handle.close();
        return;
    }
    for n in 0_u64.. {
        let id = ProposalId::new();
        let (event, mut blobs) = samples::proposed(id, &"t".repeat(2_000));
        blobs.push(Blob::of(format!("blob {id}").as_bytes()));
        handle.submit(Ticket::Core(n), event, blobs);
        let withdrawn = LogEvent::Withdrawn {
            id,
            disconnected: false,
        };
        handle.submit(Ticket::Core(n), withdrawn, Vec::new());
        // Several records in flight, so that a commit contains more than one.
        if n > 3 {
            for _ in 0..2 {
                match events.recv() {
                    Ok(WriterEvent::Durable { .. } | WriterEvent::Unrecorded { .. }) => {}
                    _ => return,
                }
            }
        }
    }
}

/// Starts this test binary as a writer, through `prefix` when it is not empty.
fn writer(dir: &Path, prefix: &[&str], idle: bool) -> Child {
    let exe = env::current_exe().unwrap();
    let mut words = prefix.iter().map(PathBuf::from).collect::<Vec<_>>();
    words.push(exe);
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .args(["audit::writer_process", "--exact", "--nocapture"])
        .env(ROLE, dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if idle {
        command.env("CS_TEST_IDLE", "1");
    }
    command.spawn().unwrap()
}

/// The writer's own lines in the test harness's output.
fn writer_lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.map_while(Result::ok).filter_map(|line| {
        // The harness prints the beginning of a line before the writer's first one.
        let at = ["open ", "durable ", "unrecorded ", "down ", "refused "]
            .iter()
            .filter_map(|w| line.find(w))
            .min()?;
        Some(line[at..].to_owned())
    })
}

fn run_countersign(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(args)
        .env("COUNTERSIGN_STATE_DIR", dir)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_writer_killed_at_any_moment_loses_nothing_it_reported_as_durable() {
    let dir = tempfile::tempdir().unwrap();
    let mut durable = 0_u64;
    for round in 0..20 {
        let mut child = writer(dir.path(), &[], false);
        let mut lines = writer_lines(&mut child);
        let open = lines.next().unwrap();
        let begun: u64 = open.strip_prefix("open ").unwrap().parse().unwrap();
        assert!(
            begun >= durable,
            "round {round}: {durable} were durable, {begun} are left"
        );
        for line in lines.by_ref().take(round * 3) {
            durable = line.strip_prefix("durable ").unwrap().parse().unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // Lines printed before it died count too.
        for line in lines {
            if let Some(seq) = line.strip_prefix("durable ") {
                durable = seq.parse().unwrap();
            }
        }
        // Blobs without a file yet can be read even before the next start.
        let report = Log::open(dir.path()).unwrap().verify().unwrap();
        assert_eq!(report.bad_blob_count, 0, "round {round}: {report:?}");
    }
    let opened = audit::open(dir.path()).unwrap();
    assert!(opened.durable >= durable && durable > 100);
    assert!(opened.unfinished.iter().all(|(_, s)| *s == State::Pending));
    drop(opened);
    let report = Log::open(dir.path()).unwrap().verify().unwrap();
    assert!(report.consistent, "{report:?}");
}

#[test]
fn a_disk_without_space_brings_the_log_down_and_the_next_start_recovers() {
    // A file size limit makes write(2) fail in the middle of a line, as a full disk does: once
    // before the journal has room for a batch, and once after. In the second case the journal may
    // hold the batch of that line, and then nothing of it is lost.
    for blocks in [64, 1024] {
        let dir = tempfile::tempdir().unwrap();
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        let mut child = writer(dir.path(), &["sh", "-c", &script, "sh"], false);
        let lines: Vec<String> = writer_lines(&mut child).collect();
        assert!(child.wait().unwrap().success());
        let last = lines.last().unwrap();
        assert!(last.starts_with("down "), "{last}");
        let durable = lines
            .iter()
            .rev()
            .find_map(|l| l.strip_prefix("durable "))
            .unwrap();
        let durable: u64 = durable.parse().unwrap();
        let log = fs::metadata(dir.path().join("log/00000001.jsonl")).unwrap();
        let room = fs::metadata(dir.path().join("journal-0")).unwrap().len();
        assert_eq!(
            room > 0,
            blocks > 64,
            "the log went on without a journal: {room}"
        );
        assert_eq!(log.len(), blocks * 512);
        let verify = run_countersign(dir.path(), &["audit", "verify"]);
        let stdout = text(&verify.stdout);
        // Readers continue in the journal, if it has the line.
        let journaled = blocks > 64 && verify.status.code() == Some(0);
        if journaled {
            assert!(stdout.contains("stand in the journal"), "{stdout}");
        } else {
            assert_eq!(verify.status.code(), Some(1));
            assert!(stdout.contains("incomplete, as a crash"), "{stdout}");
        }
        let opened = audit::open(dir.path()).unwrap();
        assert!(opened.durable > durable);
        match opened.recovered {
            Some(note) => assert!(note.contains("set aside"), "{note}"),
            None => assert!(journaled, "the cut is reported"),
        }
        drop(opened.writer);
        let verify = run_countersign(dir.path(), &["audit", "verify"]);
        assert_eq!(verify.status.code(), Some(0), "{verify:?}");
    }
}

/// With all descriptors in use, only records that need one fail, and they work again later.
#[test]
fn a_log_without_descriptors_accepts_records_that_need_none() {
    let dir = tempfile::tempdir().unwrap();
    let script = "ulimit -n 64; CS_TEST_DESCRIPTORS=1 exec \"$@\"";
    let mut child = writer(dir.path(), &["sh", "-c", script, "sh"], false);
    let lines: Vec<String> = writer_lines(&mut child).collect();
    assert!(child.wait().unwrap().success());
    let count = |what: &str| lines.iter().filter(|l| l.starts_with(what)).count();
    assert_eq!(count("unrecorded "), 1, "{lines:?}");
    assert_eq!(count("down "), 0, "{lines:?}");
    let refused = lines.iter().position(|l| l.starts_with("unrecorded"));
    // The record without a blob, and all of the next ones.
    assert_eq!(lines.len() - refused.unwrap(), 1 + 1 + 2, "{lines:?}");
    let verify = run_countersign(dir.path(), &["audit", "verify"]);
    assert_eq!(verify.status.code(), Some(0), "{verify:?}");
}

/// Needs mounts: a really full disk, then one that became read-only.
#[test]
fn a_full_and_a_read_only_folder_are_named_with_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().display().to_string();
    let script = format!(
        "mount -t tmpfs -o size=256k,mode=700 none {place} || exit 77\n\
         \"$@\"\n\
         mount -o remount,ro {place}\n\
         exec \"$@\""
    );
    let prefix = ["unshare", "-Urm", "sh", "-c", &script, "sh"];
    let mut child = writer(&dir.path().join("state"), &prefix, false);
    let lines: Vec<String> = writer_lines(&mut child).collect();
    if child.wait().unwrap().code() == Some(77) || lines.is_empty() {
        is_given(false, "mounts of one's own: unshare -Urm");
        return;
    }
    let down = lines.iter().find(|l| l.starts_with("down ")).unwrap();
    assert!(
        down.contains("No space left") && down.contains("free some space"),
        "{down}"
    );
    let refused = lines.last().unwrap();
    assert!(
        refused.contains("Read-only") && refused.contains("--state-dir"),
        "{refused}"
    );
}

#[test]
fn one_process_writes_and_others_only_read() {
    let dir = tempfile::tempdir().unwrap();
    let none = run_countersign(dir.path(), &["status"]);
    assert_eq!(text(&none.stdout), "no dashboard · log none\n");
    assert_eq!(none.status.code(), Some(1));

    let mut child = writer(dir.path(), &[], true);
    let mut lines = writer_lines(&mut child);
    assert_eq!(lines.next().unwrap(), "open 0");
    assert_eq!(lines.next().unwrap(), "durable 1");
    let error = audit::open(dir.path()).unwrap_err();
    let AuditError::Locked { pid, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(pid, Some(child.id().cast_signed()));
    let status = run_countersign(dir.path(), &["status"]);
    assert_eq!(text(&status.stdout), "1 pending · 0 running · log ok\n");
    assert_eq!(status.status.code(), Some(0));
    let json: Value =
        serde_json::from_slice(&run_countersign(dir.path(), &["status", "--json"]).stdout).unwrap();
    assert_eq!(json["dashboard"], true);
    assert_eq!(json["pid"], child.id());
    assert_eq!(
        run_countersign(dir.path(), &["audit", "verify"])
            .status
            .code(),
        Some(0)
    );

    // An incomplete last line is not damage while a writer runs.
    let segment = dir.path().join("log/00000001.jsonl");
    let whole = fs::read(&segment).unwrap();
    fs::write(&segment, [&whole[..], b"{\"v\":1,\"seq\":2,"].concat()).unwrap();
    assert_eq!(
        run_countersign(dir.path(), &["audit", "verify"])
            .status
            .code(),
        Some(0)
    );
    fs::write(&segment, &whole).unwrap();

    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    let status = run_countersign(dir.path(), &["status"]);
    assert_eq!(text(&status.stdout), "no dashboard · log ok\n");
    assert_eq!(status.status.code(), Some(1));
    assert_eq!(
        audit::open(dir.path()).unwrap().unfinished.len(),
        1,
        "the next dashboard learns what was pending"
    );
}

#[test]
fn a_second_process_is_refused_when_the_lock_file_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = writer(dir.path(), &[], true);
    let mut lines = writer_lines(&mut first);
    assert_eq!(lines.next().unwrap(), "open 0");
    assert_eq!(lines.next().unwrap(), "durable 1");
    fs::remove_file(dir.path().join("lock")).unwrap();
    for _ in 0..2 {
        // The file that the first refused writer leaves behind must not let the second one in.
        let mut second = writer(dir.path(), &[], true);
        let answer = writer_lines(&mut second).next().unwrap();
        assert!(
            answer.starts_with("refused ") && answer.contains("in use"),
            "{answer}"
        );
        second.wait().unwrap();
    }
    let status = run_countersign(dir.path(), &["status"]);
    assert_eq!(text(&status.stdout), "0 pending · 0 running · log down\n");
    assert_eq!(status.status.code(), Some(1));
    drop(first.stdin.take());
    first.wait().unwrap();
    assert_eq!(audit::open(dir.path()).unwrap().durable, 1);
}

/// A log with one run and one proposal whose texts attack the terminal.
fn sample(dir: &Path) -> [ProposalId; 2] {
    let ids = [ProposalId::new(), ProposalId::new()];
    let hostile = format!(
        "\x1b]0;owned\x07\u{202e}txt\r\ngranted  {}",
        "x".repeat(10_000)
    );
    let (tell, told) = mpsc::channel();
    let opened = audit::open(dir).unwrap();
    let handle = opened
        .writer
        .start(Box::new(move |e| tell.send(e).unwrap()));
    let mut n = 0;
    let mut put = |(event, blobs): (LogEvent, Vec<Blob>)| {
        handle.submit(Ticket::Core(n), event, blobs);
        n += 1;
        let done = told.recv().unwrap();
        assert_eq!(
            done,
            WriterEvent::Durable {
                ticket: Ticket::Core(n - 1),
                lane: Lane::Agents,
                seq: n
            }
        );
    };
    put(samples::proposed(ids[0], "monthly revenue"));
    put((samples::granted(ids[0]), Vec::new()));
    put((samples::started(ids[0]), Vec::new()));
    let (mut finished, output) = samples::finished(ids[0]);
    if let LogEvent::Finished(log) = &mut finished {
        log.events.push(model::RunEvent {
            kind: "system".to_owned(),
            message: format!("starting a program by a library was refused {hostile}"),
            line: Some(2),
        });
        log.events.push(model::RunEvent {
            kind: model::RunEvent::PRIVATE.to_owned(),
            message: "group numbers of `people` were compared for 40 s".to_owned(),
            line: None,
        });
    }
    put((finished, output));
    put(samples::proposed(ids[1], &hostile));
    let deny = LogEvent::Denied {
        id: ids[1],
        reason: Some(hostile),
        by: model::Reviewer::default(),
        viewed: model::Viewed::default(),
    };
    put((deny, Vec::new()));
    handle.close();
    ids
}

/// A log with one proposal, granted as a person edited it.
fn edited_sample(dir: &Path) -> ProposalId {
    let id = ProposalId::new();
    let (tell, told) = mpsc::channel();
    let opened = audit::open(dir).unwrap();
    let handle = opened
        .writer
        .start(Box::new(move |e| tell.send(e).unwrap()));
    let events = [
        samples::proposed(id, "monthly revenue"),
        samples::edited(id, samples::CODE, samples::EDITED),
        (samples::granted_as(id, samples::EDITED), Vec::new()),
    ];
    for (n, (event, blobs)) in events.into_iter().enumerate() {
        handle.submit(Ticket::Core(n as u64), event, blobs);
        told.recv().unwrap();
    }
    handle.close();
    id
}

/// The output, checked to contain no control characters except line feeds.
fn harmless(output: &Output) -> String {
    for bytes in [&output.stdout, &output.stderr] {
        let text = text(bytes);
        let hidden = text
            .chars()
            .find(|c| *c != '\n' && model::escape(*c).is_some());
        assert_eq!(hidden, None, "{text:?}");
    }
    text(&output.stdout)
}

#[test]
fn the_list_has_one_line_for_each_proposal_newest_first() {
    let dir = tempfile::tempdir().unwrap();
    let ids = sample(dir.path());
    {
        let output = run_countersign(dir.path(), &["audit", "list"]);
        assert_eq!(output.status.code(), Some(0));
        let list = harmless(&output);
        let lines: Vec<&str> = list.lines().collect();
        assert_eq!(lines.len(), 2, "{list}");
        for (line, (id, state)) in lines
            .iter()
            .zip([(ids[1], "denied"), (ids[0], "succeeded")])
        {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert!(words[0].ends_with('Z'), "{line}");
            assert_eq!(words[1], id.to_string());
            assert_eq!(
                words[2..6],
                ["etl-bot", "analysis", "clear", state],
                "{line}"
            );
            assert!(line.chars().count() < 300);
        }
        assert!(lines[1].ends_with("monthly revenue"));
    }
    let output = run_countersign(dir.path(), &["audit", "list", "--json"]);
    let json: Value = serde_json::from_str(&harmless(&output)).unwrap();
    assert_eq!(json[0]["id"], ids[1].to_string());
    assert!(
        json[0]["title"]
            .as_str()
            .unwrap()
            .starts_with("\x1b]0;owned")
    );
    assert_eq!(json[1]["state"], "succeeded");
    let one = run_countersign(dir.path(), &["audit", "list", "--limit", "1"]);
    assert_eq!(harmless(&one).lines().count(), 1);
    // A person gets a heading.
    let state = dir.path().to_str().unwrap();
    let args = ["--state-dir", state, "audit", "list"];
    let seen = on_a_terminal(dir.path(), &dir.path().join("none"), &args, 250);
    let mut rows = seen.lines();
    assert!(
        rows.next()
            .unwrap()
            .starts_with("asked (UTC)           id "),
        "{seen}"
    );
    // All of the index was compared with the log for them, so nothing is said of it.
    assert_eq!(rows.count(), 2, "{seen}");
    // When it was decided, and how long it was looked at.
    assert!(
        seen.contains("  decided (UTC)          looked  state "),
        "{seen}"
    );
    let json = on_a_terminal(
        dir.path(),
        &dir.path().join("none"),
        &[&args[..], &["--json"]].concat(),
        250,
    );
    assert!(json.starts_with('['), "{json}");
}

#[test]
fn an_edited_grant_is_marked_for_people_and_in_json() {
    let dir = tempfile::tempdir().unwrap();
    let id = edited_sample(dir.path());
    let list = run_countersign(dir.path(), &["audit", "list"]);
    let words: Vec<String> = harmless(&list)
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    assert_eq!(words[5..], ["granted", "monthly", "revenue"], "{words:?}");
    let json = run_countersign(dir.path(), &["audit", "list", "--json"]);
    let json: Value = serde_json::from_str(&harmless(&json)).unwrap();
    assert_eq!(
        (&json[0]["id"], &json[0]["edited"]),
        (&id.to_string().into(), &true.into())
    );
    let state = dir.path().to_str().unwrap();
    let args = ["--state-dir", state, "audit", "list"];
    let seen = on_a_terminal(dir.path(), &dir.path().join("none"), &args, 250);
    assert!(
        seen.contains("  granted by ") && seen.contains(", edited  monthly revenue"),
        "{seen}"
    );
}

#[test]
fn a_question_selects_what_is_listed_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let ids = sample(dir.path());
    for (question, expected) in [
        (&["state:granted"][..], &ids[..1]),
        (&["state:denied agent:etl*"], &ids[1..]),
        (&["state:denied", "agent:hr*"], &[]),
        (&["monthly", "ran:<5s"], &ids[..1]),
        // In the code of both.
        (&["\"print(1\""], &[ids[1], ids[0]]),
        (&["NOT", "(state:denied", "OR", "state:failed)"], &ids[..1]),
        // A shell's first argument may begin with a hyphen.
        (&["-state:denied"], &ids[..1]),
        (&["-state:denied", "--limit", "1"], &ids[..1]),
        (
            &["-state:denied", "-agent:nobody", "--state-dir", "DIR"],
            &ids[..1],
        ),
    ] {
        let state = dir.path().to_str().unwrap();
        let question: Vec<&str> = question
            .iter()
            .map(|a| if *a == "DIR" { state } else { a })
            .collect();
        let question = &question[..];
        let output = run_countersign(dir.path(), &[&["audit", "list"], question].concat());
        assert_eq!(output.status.code(), Some(0), "{question:?}");
        let list = harmless(&output);
        let found: Vec<&str> = list
            .lines()
            .filter_map(|line| line.split_whitespace().nth(1))
            .collect();
        let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
        assert_eq!(found, expected, "{question:?}");
    }
    let stats = run_countersign(dir.path(), &["audit", "stats", "--json", "state:denied"]);
    let stats: Value = serde_json::from_str(&harmless(&stats)).unwrap();
    assert_eq!(
        (&stats["proposals"], &stats["agents"][0]["denied"]),
        (&json!(1), &json!(1)),
        "{stats}"
    );
    for command in ["list", "stats"] {
        let wrong = run_countersign(dir.path(), &["audit", command, "by:ana", "state:\u{202e}x"]);
        assert_eq!(wrong.status.code(), Some(2));
        assert_eq!(harmless(&wrong), "");
        let said = text(&wrong.stderr);
        let mark = format!(
            "\n  by:ana state:\\u{{202E}}x\n  {}^^^^^^^^^",
            " ".repeat(13)
        );
        assert!(said.contains("column 14: there is no state"), "{said}");
        assert!(said.contains(&mark), "{said}");
    }
    let stats = run_countersign(dir.path(), &["audit", "stats", "-state:denied", "--json"]);
    let stats: Value = serde_json::from_str(&harmless(&stats)).unwrap();
    assert_eq!(stats["proposals"], json!(1), "{stats}");
    // A state without its key is looked for as a word.
    let bare = run_countersign(dir.path(), &["audit", "list", "denied"]);
    assert_eq!(bare.status.code(), Some(0));
    let said = text(&bare.stderr);
    assert!(said.contains("; state:denied asks for the state"), "{said}");
    let many = vec!["print"; 3_000].join(" OR ");
    let many = run_countersign(dir.path(), &["audit", "list", &many]);
    assert_eq!(many.status.code(), Some(2));
    let said = text(&many.stderr);
    assert!(said.contains("a question has at most 500 terms"), "{said}");
    // An answer without rows says so, and which term keeps them out.
    let none = run_countersign(dir.path(), &["audit", "list", "state:denied", "agent:hr*"]);
    assert_eq!(none.status.code(), Some(0));
    let said = text(&none.stderr);
    assert!(
        said.contains("none of 2 proposals, the newest of ")
            && said.contains(" match; without `agent:hr*`: 1\n"),
        "{said}"
    );
    // The keys need no log.
    let empty = tempfile::tempdir().unwrap();
    let keys = run_countersign(empty.path(), &["audit", "list", "--keys"]);
    assert_eq!(keys.status.code(), Some(0));
    assert!(
        harmless(&keys)
            .lines()
            .any(|line| line.starts_with("took:<5s "))
    );
}

#[test]
fn one_proposal_is_shown_with_its_code_and_all_its_records() {
    let dir = tempfile::tempdir().unwrap();
    let ids = sample(dir.path());
    let id = ids[0].to_string();
    let output = run_countersign(dir.path(), &["audit", "show", &id]);
    assert_eq!(output.status.code(), Some(0));
    let shown = harmless(&output);
    for part in [
        "proposed by agent",
        "granted by person",
        "started by dashboard",
        "finished by",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(shown.contains("      1  print(1)"), "{shown}");
    // Sentences come first, then the records, the contents last.
    let at = |part: &str| {
        shown
            .find(part)
            .unwrap_or_else(|| panic!("{part}: {shown}"))
    };
    let order = [
        " asked for \"monthly revenue\".\nIt gave no reason.\nIt was given \"extra\", csv that it brought, 8 bytes.\n",
        "\nJudged clear under the profile analysis, no findings.\n",
        "\nGranted as proposed by uid ",
        "\nIt was selected for ",
        "\nIt succeeded after ",
        "  seq 1  proposed by agent",
        "  seq 4  finished by",
        "\n  code  sha256:",
        "\n  input extra  sha256:",
    ];
    assert!(order.map(at).is_sorted(), "{shown}");
    assert!(
        shown.contains("      2  1,2"),
        "the input's content: {shown}"
    );
    assert!(shown.contains("exit code 0"), "{shown}");
    assert!(
        shown.contains("guard: system line 2: starting a program by a library was refused"),
        "{shown}"
    );
    assert!(
        shown.contains("\n  private: group numbers of `people` were compared for 40 s\n"),
        "{shown}"
    );
    // The end of an id is enough to find it.
    let short = run_countersign(dir.path(), &["audit", "show", &ids[0].short()]);
    assert_eq!(text(&short.stdout), shown);
    harmless(&run_countersign(
        dir.path(),
        &["audit", "show", &ids[1].to_string()],
    ));

    let output = run_countersign(dir.path(), &["audit", "show", &id, "--json"]);
    let json: Value = serde_json::from_str(&harmless(&output)).unwrap();
    let records = json["records"].as_array().unwrap();
    assert_eq!(records.len(), 4);
    assert_eq!(records[3]["kind"], "finished");
    let code = records[0]["digest"]
        .as_str()
        .unwrap()
        .strip_prefix("sha256:")
        .unwrap();
    assert_eq!(json["contents"][code], "print(1)\n");

    for (id, expected) in [
        (ProposalId::new().to_string(), 1),
        ("nonsense".to_owned(), 2),
        ("\x1b[2J".to_owned(), 2),
    ] {
        let output = run_countersign(dir.path(), &["audit", "show", &id]);
        assert_eq!(output.status.code(), Some(expected), "{output:?}");
        harmless(&output);
    }
}

#[test]
fn verify_answers_with_its_exit_code_and_names_the_first_bad_record() {
    let dir = tempfile::tempdir().unwrap();
    let absent = run_countersign(&dir.path().join("none"), &["audit", "verify"]);
    assert_eq!(absent.status.code(), Some(2));
    sample(dir.path());
    let output = run_countersign(dir.path(), &["audit", "verify"]);
    assert_eq!(output.status.code(), Some(0));
    let report = harmless(&output);
    assert!(report.starts_with("consistent: 6 records"), "{report}");
    assert!(
        report.contains("not anchored: a cut end cannot be excluded"),
        "{report}"
    );
    let output = run_countersign(dir.path(), &["audit", "verify", "--require-anchor"]);
    assert_eq!(output.status.code(), Some(1));
    let output = run_countersign(dir.path(), &["audit", "verify", "--nonsense"]);
    assert_eq!(output.status.code(), Some(2));

    let segment = dir.path().join("log/00000001.jsonl");
    let whole = text(&fs::read(&segment).unwrap());
    fs::write(
        &segment,
        whole.replacen("monthly revenue", "monthly Revenue", 1),
    )
    .unwrap();
    let output = run_countersign(dir.path(), &["audit", "verify"]);
    assert_eq!(output.status.code(), Some(1));
    let report = harmless(&output);
    assert!(
        report.contains("damaged: log/00000001.jsonl line 2 (seq 1)"),
        "{report}"
    );
    let output = run_countersign(dir.path(), &["audit", "verify", "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["consistent"], false);
    assert_eq!(json["damage"]["line"], 2);
    let list = run_countersign(dir.path(), &["audit", "list"]);
    assert_eq!(list.status.code(), Some(1));
    assert!(text(&list.stderr).contains("the log is damaged"));
}

/// The chain is intact, but its records cannot have happened in this order.
#[test]
fn every_command_names_the_first_impossible_record() {
    let dir = tempfile::tempdir().unwrap();
    let [ran, _] = sample(dir.path());
    let before = Log::open(dir.path()).unwrap().verify().unwrap().records;
    let denied = LogEvent::Denied {
        id: ran,
        reason: None,
        by: countersign::model::Reviewer::default(),
        viewed: countersign::model::Viewed::default(),
    };
    audit::append(dir.path(), denied).unwrap();
    audit::append(dir.path(), samples::granted(ProposalId::new())).unwrap();
    let place = format!(
        "(seq {}): `denied` of a proposal that had succeeded",
        before + 1
    );
    for command in [
        &["audit", "verify"][..],
        &["audit", "list"],
        &["audit", "show", &ran.to_string()],
        &["status"],
    ] {
        let output = run_countersign(dir.path(), command);
        assert_eq!(output.status.code(), Some(1), "{command:?} {output:?}");
        let stdout = text(&output.stdout) + &text(&output.stderr);
        assert!(stdout.contains(&place), "{command:?} {stdout}");
    }
    let verify = text(&run_countersign(dir.path(), &["audit", "verify"]).stdout);
    let lines: Vec<&str> = verify.lines().collect();
    assert!(lines[0].contains(&place), "{verify}");
    assert!(
        lines[1].contains("`granted` of a proposal that was never proposed"),
        "{verify}"
    );
    assert!(lines[2].starts_with("the chain is intact: "), "{verify}");
    // Later records are still shown, and the log accepts new ones.
    let listed = run_countersign(dir.path(), &["audit", "list"]);
    assert_eq!(text(&listed.stdout).lines().count(), 2, "{listed:?}");
    audit::append(dir.path(), LogEvent::Closed).unwrap();
}

#[test]
fn an_empty_log_is_none_or_damaged_and_never_consistent() {
    let dir = tempfile::tempdir().unwrap();
    let verify = |code| {
        let output = run_countersign(dir.path(), &["audit", "verify"]);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let printed = text(&output.stdout) + &text(&output.stderr);
        assert!(!printed.contains("consistent"), "{printed}");
        printed
    };
    assert!(verify(2).contains("there is no audit log"));
    fs::create_dir(dir.path().join("log")).unwrap();
    assert!(verify(2).contains("there is no audit log"));
    fs::remove_dir(dir.path().join("log")).unwrap();
    sample(dir.path());
    for segment in fs::read_dir(dir.path().join("log")).unwrap() {
        fs::remove_file(segment.unwrap().path()).unwrap();
    }
    assert!(verify(1).contains("00000001.jsonl (seq 1): this segment is missing, and"));
    let status = run_countersign(dir.path(), &["status"]);
    assert_eq!(status.status.code(), Some(1));
    assert!(text(&status.stdout).contains("log damaged"), "{status:?}");
    let printed = audit::open(dir.path()).unwrap_err().to_string();
    assert!(printed.contains("this segment is missing"), "{printed}");
}

#[test]
fn a_copied_state_folder_is_read_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let ids = sample(dir.path());
    let copy = tempfile::tempdir().unwrap();
    let done = Command::new("cp")
        .arg("-r")
        .args(["log", "blobs"].map(|n| dir.path().join(n)))
        .arg(copy.path())
        .status()
        .unwrap();
    assert!(done.success());
    let verify = run_countersign(copy.path(), &["audit", "verify"]);
    assert_eq!(verify.status.code(), Some(0), "{verify:?}");
    let show = run_countersign(copy.path(), &["audit", "show", &ids[0].to_string()]);
    assert!(harmless(&show).contains("print(1)"));
    assert!(!copy.path().join("lock").exists(), "a reader wrote");
}
