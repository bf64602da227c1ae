//! `[notify] command`: the two commands of desk.md, with a mail server and a web server of this machine.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use serde_json::{Value, json};

use crate::common::dash::{Options, PATIENCE, folder};
use crate::host::Host;
use crate::seats::{GRAVE, config, key_pair, offices, users};

/// What no notice may have.
const SECRET: &str = "Zw3kQ";

/// The command of desk.md with this name.
fn documented(name: &str) -> String {
    let page = include_str!("../../assets/docs/desk.md");
    let blocks = page.split("```python\n").skip(1);
    let mut blocks = blocks.filter_map(|rest| rest.split("```").next());
    let block = blocks.find(|block| block.contains(&format!("# /usr/local/bin/{name} ")));
    block.expect("desk.md has the command").to_owned()
}

fn program(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Hands each connection's words to `talk`, and what that returns to the receiver.
fn sink(talk: fn(TcpStream) -> String) -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let (heard, hears) = channel();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            if heard.send(talk(stream)).is_err() {
                return;
            }
        }
    });
    (address, hears)
}

/// Enough of RFC 5321 for one mail: its envelope and its text.
fn smtp(stream: TcpStream) -> String {
    let mut out = stream.try_clone().unwrap();
    let mut say = move |line: &str| out.write_all(format!("{line}\r\n").as_bytes()).unwrap();
    let mut mail = String::new();
    let mut is_text = false;
    say("220 sink");
    for line in BufReader::new(stream).lines() {
        let line = line.unwrap();
        let _ = writeln!(mail, "{line}");
        let word = line.split_whitespace().next().unwrap_or_default();
        match (is_text, word.to_ascii_uppercase().as_str()) {
            (true, ".") => {
                is_text = false;
                say("250 taken");
            }
            (true, _) => {}
            (false, "DATA") => {
                is_text = true;
                say("354 go on");
            }
            (false, "QUIT") => {
                say("221 bye");
                break;
            }
            (false, _) => say("250 sink"),
        }
    }
    mail
}

/// One request of HTTP/1.1: its head and its body.
fn http(stream: TcpStream) -> String {
    let mut out = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(n) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = n.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    out.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        .unwrap();
    format!("{head}\n{}", String::from_utf8(body).unwrap())
}

/// A host whose notices go by this command.
fn host(offices: &Path, command: &[&str], more: &str) -> Host {
    let text = format!("{}[notify]\ncommand = {command:?}\n{more}", config(offices));
    Host::start(folder(&Options {
        config: &text,
        policies: &[("grave.toml", GRAVE)],
        ..Options::default()
    }))
}

fn proposal() -> Value {
    json!({
        "code": format!("print('{SECRET}')\n"),
        "title": format!("title {SECRET}"),
        "reason": format!("reason {SECRET}"),
        "agent": {"name": SECRET},
    })
}

/// Two people who may vote, and who are told.
fn people() -> Option<tempfile::TempDir> {
    let [one, two] = users(["daemon", "bin"])?;
    let (ana, ben) = (key_pair("ana"), key_pair("ben"));
    Some(offices(&[
        ("ana@example.org", one, &ana.1),
        ("ben@example.org", two, &ben.1),
    ]))
}

fn heard(sink: &Receiver<String>) -> String {
    let said = sink.recv_timeout(PATIENCE).expect("a notice comes");
    assert!(
        !said.contains(SECRET),
        "a notice has what an agent chose: {said}"
    );
    said
}

#[test]
fn people_get_a_mail_when_their_votes_are_asked_for_and_when_that_is_over() {
    let Some(offices) = people() else {
        return;
    };
    let (address, mails) = sink(smtp);
    let script = program(offices.path(), "desk-mail", &documented("desk-mail"));
    let (script, server) = (script.display().to_string(), address.to_string());
    let command = [&*script, &*server, "lab-1@example.org"];
    let mut host = host(offices.path(), &command, "");
    assert!(host.said().contains(&format!("\nnotices: {script}\n")));
    let mut agent = host.agent();
    let proposed = agent.propose(proposal());
    let id = proposed["id"].as_str().unwrap();
    let deadline = proposed["expires_at"].as_str().unwrap();
    let second = deadline.split('.').next().unwrap().trim_end_matches('Z');
    for (person, mail) in [("ana", heard(&mails)), ("ben", heard(&mails))] {
        for part in [
            format!("<{person}@example.org>"),
            "From: lab-1@example.org".to_owned(),
            "Subject: Countersign: waits".to_owned(),
            format!("lab-1: 1 proposal waits for your vote until {second}Z"),
        ] {
            assert!(mail.contains(&part), "{part:?} is not in it:\n{mail}");
        }
    }
    agent.call("withdraw", json!({"id": id}));
    for person in ["ana", "ben"] {
        let mail = heard(&mails);
        assert!(mail.contains(&format!("<{person}@example.org>")), "{mail}");
        assert!(mail.contains("Subject: Countersign: ended"), "{mail}");
        assert!(mail.contains("1 proposal waits for your vote no longer"));
    }
    host.wait_said(" withdrawn\n");
    assert!(!host.said().contains(SECRET));
}

#[test]
fn a_chat_gets_the_same_by_a_webhook_and_a_flood_is_one_message_to_each() {
    let Some(offices) = people() else {
        return;
    };
    let (address, posts) = sink(http);
    let script = program(offices.path(), "desk-webhook", &documented("desk-webhook"));
    let url = format!("http://{address}/hook");
    let command = [&*script.display().to_string(), &*url];
    let host = host(offices.path(), &command, "every_s = 5\n");
    let mut agent = host.agent();
    let first = agent.propose(proposal());
    let body = |post: String| -> Value {
        assert!(post.starts_with("POST /hook HTTP/1.1"), "{post}");
        serde_json::from_str(post.split_once("\n\n").unwrap().1).unwrap()
    };
    for person in ["ana", "ben"] {
        let body = body(heard(&posts));
        assert_eq!(body["DESK_EVENT"], "waits");
        assert_eq!(body["DESK_HOST"], "lab-1");
        assert_eq!(body["DESK_TO"], format!("{person}@example.org"));
        assert_eq!(body["DESK_LOGINS"], format!("rev_{person}"));
        assert_eq!(body["DESK_COUNT"], "1");
        assert_eq!(body["DESK_PROPOSAL"], first["id"]);
        let text = body["text"].as_str().unwrap();
        assert!(text.starts_with("lab-1: 1 proposal waits"), "{text}");
        assert_eq!(body.as_object().unwrap().len(), 8, "{body}");
    }
    // A flood, told together: one message more to each of them, or two where this machine is slow.
    for n in 0..20 {
        agent.propose(json!({"code": format!("print({n}, '{SECRET}')\n")}));
    }
    let (mut messages, mut counted) = (0, 0);
    while counted < 2 * 20 {
        let body = body(heard(&posts));
        messages += 1;
        counted += body["DESK_COUNT"].as_str().unwrap().parse::<u64>().unwrap();
    }
    assert_eq!(counted, 2 * 20);
    assert!(messages <= 4, "{messages} messages");
}

#[test]
fn a_command_that_hangs_or_fails_is_told_and_holds_up_nothing() {
    let Some(offices) = people() else {
        return;
    };
    let pid = offices.path().join("pid");
    let hangs = format!(
        "#!/bin/sh\nsleep 1000 &\necho $! > {}\nwait\n",
        pid.display()
    );
    let hangs = program(offices.path(), "hangs", &hangs);
    let fails = "#!/bin/sh\necho 'no\u{1b}[31m route' >&2; exit 3\n";
    let fails = program(offices.path(), "fails", fails);
    let hangs = hangs.display().to_string();
    let fails = fails.display().to_string();
    for (command, told) in [
        (&*hangs, "took longer than 1 s, and was stopped"),
        (&*fails, "failed, exit status: 3: no␛[31m route"),
        ("/nowhere/at/all", "cannot be started: No such file"),
    ] {
        let mut host = host(offices.path(), &[command], "within_s = 1\n");
        let mut agent = host.agent();
        agent.propose(json!({"code": "print(1)\n", "ttl_s": 600}));
        host.wait_said(&format!("notices: `{command}` {told}"));
        let said = host.said();
        assert!(
            said.contains("notices: `") && !said.contains('\u{1b}'),
            "{said:?}"
        );
        let after = agent.propose(json!({"code": "print(2)\n", "ttl_s": 1}));
        assert_eq!(agent.outcome(&after["id"])["state"], "expired");
    }
    // With what it had started.
    let pid = std::fs::read_to_string(pid).unwrap();
    let stat = format!("/proc/{}/stat", pid.trim());
    let runs = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    let until = Instant::now() + PATIENCE;
    while runs() {
        assert!(Instant::now() < until, "what the command started goes on");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
