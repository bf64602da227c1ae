//! Votes signed by the real `ssh-keygen`, and what it makes of those that we accept.

use std::fs::{Permissions, read_to_string, set_permissions, write};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use nix::errno::Errno;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill};
use nix::unistd::{Pid, tcsetpgrp};

use super::*;
use crate::ballot::testing::TestKey;
use crate::ballot::{Electorate, Invalid, verify};
use crate::model::{Ballot, NAMESPACE, Person, Viewed, Vote, VoteKind};

const TEXT: &[u8] = b"countersign vote 1\nkind grant\n";

fn is_there() -> bool {
    let all = ["ssh-keygen", "ssh-agent", "ssh-add"];
    let there = all.iter().all(|name| programs::find(name).is_some());
    crate::given::is_given(there, "ssh-keygen")
}

fn key(folder: &Path, name: &str, kind: &str, passphrase: &str) -> PathBuf {
    let path = folder.join(name);
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", kind, "-C", "", "-N", passphrase, "-f"])
        .arg(&path)
        .status()
        .unwrap();
    assert!(made.success());
    path
}

/// Without the agent of whoever runs the tests.
fn signer(key: DeskKey) -> Result<Signer, SignError> {
    Ok(Signer {
        agent: None,
        ..Signer::new(&key)?
    })
}

fn public(path: &Path) -> String {
    read_to_string(path.with_extension("pub")).unwrap()
}

/// An agent that ends with the test.
struct Agent {
    process: Child,
    socket: PathBuf,
}

impl Agent {
    fn start(folder: &Path) -> Self {
        let socket = folder.join("agent");
        let mut process = Command::new("ssh-agent")
            .args(["-D", "-a"])
            .arg(&socket)
            // Who asks for a confirmation gets none.
            .env("SSH_ASKPASS", "/bin/false")
            .env("SSH_ASKPASS_REQUIRE", "force")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // It says where it listens once it does.
        let mut line = [0; 1];
        process
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut line)
            .unwrap();
        Self { process, socket }
    }

    fn add(&self, options: &[&str], key: &Path) {
        let added = Command::new("ssh-add")
            .args(["-q"])
            .args(options)
            .arg(key)
            .env("SSH_AUTH_SOCK", &self.socket)
            .status()
            .unwrap();
        assert!(added.success());
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test]
async fn a_quiet_attempt_signs_or_says_what_would_help() {
    if !is_there() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let file = |path: &Path| DeskKey::File(path.to_owned());

    let plain = key(dir.path(), "plain", "ed25519", "");
    let ecdsa = key(dir.path(), "ecdsa", "ecdsa", "");
    for path in [&plain, &ecdsa] {
        let signer = signer(file(path)).unwrap();
        let armour = signer.quietly(TEXT, NAMESPACE).await.unwrap();
        let own = Key::read(&public(path)).unwrap();
        assert_eq!(signer.public_key(), &own);
        assert_eq!(signed_by(&own, &armour, NAMESPACE, TEXT), Ok(None));
    }
    let too_long = vec![b'x'; TEXT_MAX + 1];
    let quiet = signer(file(&plain)).unwrap();
    assert!(matches!(
        quiet.quietly(&too_long, NAMESPACE).await,
        Err(SignError::TooLong(_))
    ));

    // What is known before anything is signed.
    let said = |key: DeskKey| signer(key).unwrap_err().to_string();
    assert!(said(file(&at("none"))).contains("there is no key at /"));
    std::fs::copy(&plain, at("bare")).unwrap();
    let bare = said(file(&at("bare")));
    assert!(
        bare.contains("bare.pub is missing; `ssh-keygen -y -f "),
        "{bare}"
    );
    let rsa = at("rsa.pub");
    write(&rsa, "ssh-rsa AAAA\n").unwrap();
    assert!(said(file(&rsa)).contains("is an RSA key, and none is accepted"));
    assert!(said(DeskKey::Agent("ssh-ed25519 AAAA".to_owned())).contains("is damaged"));

    // What `ssh-keygen` says.
    let attempt = async |key: DeskKey, agent: Option<&Path>| {
        let signer = Signer {
            agent: agent.map(|path| path.as_os_str().to_owned()),
            ..Signer::new(&key).unwrap()
        };
        signer.quietly(TEXT, NAMESPACE).await
    };
    let locked = key(dir.path(), "locked", "ed25519", "secret");
    let error = attempt(file(&locked), None).await.unwrap_err();
    assert!(matches!(error, SignError::Passphrase(_)), "{error}");
    let ask = error.terminal().unwrap();
    assert!(!ask.without_agent);

    let open = key(dir.path(), "open", "ed25519", "");
    set_permissions(&open, Permissions::from_mode(0o644)).unwrap();
    let error = attempt(file(&open), None).await.unwrap_err();
    assert!(matches!(error, SignError::Permissions(_)), "{error}");
    assert_eq!(error.terminal(), None);

    let in_agent = |path: &Path| DeskKey::Agent(public(path));
    let dead = at("dead");
    for socket in [None, Some(dead.as_path())] {
        let error = attempt(in_agent(&locked), socket).await.unwrap_err();
        assert!(matches!(error, SignError::NoAgent), "{error}");
    }
    let agent = Agent::start(dir.path());
    let socket = Some(agent.socket.as_path());
    let error = attempt(in_agent(&plain), socket).await.unwrap_err();
    assert!(matches!(error, SignError::NotInAgent), "{error}");
    assert_eq!(error.terminal(), None);
    let error = attempt(file(&at("plain.pub")), None).await;
    // Its private key is beside it.
    assert!(error.is_ok(), "{error:?}");
    std::fs::copy(at("plain.pub"), at("alone.pub")).unwrap();
    let error = attempt(file(&at("alone.pub")), socket).await.unwrap_err();
    assert!(matches!(error, SignError::NoPrivateKey(_)), "{error}");

    agent.add(&[], &plain);
    assert!(attempt(in_agent(&plain), socket).await.is_ok());
    assert!(attempt(file(&at("alone.pub")), socket).await.is_ok());
    agent.add(&["-c"], &ecdsa);
    let error = attempt(in_agent(&ecdsa), socket).await.unwrap_err();
    assert!(
        matches!(error, SignError::AgentRefused { has_file: false }),
        "{error}"
    );
    assert_eq!(error.terminal(), None);
    let error = attempt(file(&ecdsa), socket).await.unwrap_err();
    assert!(
        matches!(error, SignError::AgentRefused { has_file: true }),
        "{error}"
    );
    assert!(error.terminal().unwrap().without_agent);

    // The public key beside it is another one's.
    std::fs::copy(at("ecdsa.pub"), at("bare.pub")).unwrap();
    assert!(attempt(file(&at("bare")), None).await.is_err());
}

/// A program in place of `ssh-keygen`, written by another process: what a process of ours holds open for writing cannot be
/// started.
fn instead(folder: &Path, name: &str, script: &str) -> PathBuf {
    let path = folder.join(name);
    let written = Command::new("sh")
        .args([
            "-c",
            "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$2\" && chmod 700 \"$2\"",
            "sh",
            script,
        ])
        .arg(&path)
        .status()
        .unwrap();
    assert!(written.success());
    path
}

#[tokio::test]
async fn what_is_not_our_signature_of_our_bytes_is_not_used() {
    if !is_there() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = key(dir.path(), "a", "ed25519", "");
    let other = key(dir.path(), "b", "ed25519", "");
    let shown = |path: &Path| path.display().to_string();
    let sign = format!("ssh-keygen -q -Y sign -n {NAMESPACE} -f ");
    for (name, script, wanted) in [
        // As a `ssh-keygen` does that reads a passphrase from what it signs.
        (
            "eats",
            format!("read line; {sign}{}", shown(&path)),
            "not over this text",
        ),
        ("else", format!("{sign}{}", shown(&other)), "was expected"),
        (
            "file",
            format!("ssh-keygen -q -Y sign -n file -f {}", shown(&path)),
            "namespace `file`",
        ),
        ("says", "echo nothing".to_owned(), "does not begin and end"),
        (
            "much",
            "head -c 6000 /dev/zero | tr '\\0' x".to_owned(),
            "at most 4096",
        ),
        (
            "fails",
            "printf 'a\\033[2J\\nb\\033[2J\\n\\n' >&2; exit 255".to_owned(),
            "did not sign: b␛[2J",
        ),
        ("quiet", "exit 1".to_owned(), "did not say why"),
        (
            "old",
            "echo 'usage: ssh-keygen' >&2; exit 1".to_owned(),
            "is too old",
        ),
        (
            "away",
            "echo \"Couldn't sign message: device not found\" >&2; exit 255".to_owned(),
            "plug it in",
        ),
    ] {
        let signer = Signer {
            keygen: instead(dir.path(), name, &script),
            ..signer(DeskKey::File(path.clone())).unwrap()
        };
        let error = signer.quietly(TEXT, NAMESPACE).await.unwrap_err();
        assert!(error.to_string().contains(wanted), "{name}: {error}");
        let is_unclear = matches!(error, SignError::Failed { .. });
        assert_eq!(error.terminal().is_some(), is_unclear, "{name}");
    }
}

#[tokio::test]
async fn who_stops_waiting_leaves_no_process_behind() {
    if !is_there() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let pids = dir.path().join("pids");
    let script = format!(
        "sleep 600 & echo $$ $! > {0}.part; mv {0}.part {0}; wait",
        pids.display()
    );
    let signer = Signer {
        keygen: instead(dir.path(), "hangs", &script),
        ..signer(DeskKey::File(key(dir.path(), "a", "ed25519", ""))).unwrap()
    };
    let started = async {
        while !pids.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        ended = signer.quietly(TEXT, NAMESPACE) => panic!("{ended:?}"),
        () = started => {}
    }
    let gone = async {
        for pid in read_to_string(&pids).unwrap().split_whitespace() {
            let pid = Pid::from_raw(pid.parse().unwrap());
            // What nobody has collected yet is dead all the same.
            let state = || read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            while kill(pid, None) != Err(Errno::ESRCH) && !state().contains(") Z ") {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    };
    let most = Duration::from_secs(30);
    assert!(
        tokio::time::timeout(most, gone).await.is_ok(),
        "one survived"
    );
}

/// Names the folder to the test that is started in a terminal of its own.
const IN_TERMINAL: &str = "VOTING_IN_TERMINAL";

/// Not a test of its own: the process that [`a_passphrase_is_typed_into_the_terminal_and_nowhere_else`] starts.
#[test]
fn the_side_in_the_terminal() {
    let Some(folder) = std::env::var_os(IN_TERMINAL).map(PathBuf::from) else {
        return;
    };
    let signer = signer(DeskKey::File(folder.join("locked"))).unwrap();
    let lend = |group: Pid| {
        let mut stopping = SigSet::empty();
        stopping.add(Signal::SIGTTOU);
        let before = stopping.thread_swap_mask(SigmaskHow::SIG_BLOCK).unwrap();
        let _ = tcsetpgrp(std::io::stdin(), group);
        before.thread_set_mask().unwrap();
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let permit = runtime
        .block_on(signer.quietly(TEXT, NAMESPACE))
        .unwrap_err()
        .terminal()
        .unwrap();
    for attempt in ["wrong", "broken", "right"] {
        let signed = signer.in_terminal(permit, TEXT, NAMESPACE, lend);
        lend(nix::unistd::getpgrp());
        let said = match signed {
            Ok(armour) => armour,
            Err(e) => format!("{e:?}"),
        };
        write(folder.join(attempt), said).unwrap();
    }
}

/// Waits until a process that has asked its question sleeps: a signal that comes between the question and the read makes
/// `ssh-keygen` read on, because its handler only takes a note.
fn until_it_reads(asking: Option<i32>) {
    let asking = asking.expect("the terminal has a foreground");
    let state = || read_to_string(format!("/proc/{asking}/stat")).unwrap_or_default();
    while state().contains(") R ") {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_passphrase_is_typed_into_the_terminal_and_nowhere_else() {
    if !is_there() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = key(dir.path(), "locked", "ed25519", "secret");
    let pair = portable_pty::native_pty_system()
        .openpty(portable_pty::PtySize::default())
        .unwrap();
    let mut command = portable_pty::CommandBuilder::new(std::env::current_exe().unwrap());
    let name = module_path!().split_once("::").unwrap().1;
    command.args([
        "--exact",
        &format!("{name}::the_side_in_the_terminal"),
        "--nocapture",
    ]);
    command.env(IN_TERMINAL, dir.path());
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().unwrap();
    let mut writer = pair.master.take_writer().unwrap();
    let screen = Arc::new(Mutex::new(String::new()));
    let prompts = std::thread::spawn({
        let screen = Arc::clone(&screen);
        let master = pair.master;
        move || {
            let mut answers = [&b"not it\n"[..], b"\x03", b"secret\n"].into_iter();
            let mut piece = [0; 1024];
            let mut seen = 0;
            while let Ok(n @ 1..) = reader.read(&mut piece) {
                let mut screen = screen.lock().unwrap();
                screen.push_str(&String::from_utf8_lossy(&piece[..n]));
                // What is typed before the question is thrown away.
                let asked = screen.matches("Enter passphrase").count();
                for answer in answers.by_ref().take(asked - seen) {
                    until_it_reads(master.process_group_leader());
                    writer.write_all(answer).unwrap();
                }
                seen = asked;
            }
        }
    });
    let ended = child.wait().unwrap();
    prompts.join().unwrap();
    let screen = screen.lock().unwrap();
    assert!(ended.success(), "{screen}");
    let said = |name: &str| read_to_string(dir.path().join(name)).unwrap();
    assert_eq!(said("wrong"), "WrongPassphrase", "{screen}");
    assert_eq!(said("broken"), "Interrupted", "{screen}");
    let own = Key::read(&public(&path)).unwrap();
    assert_eq!(signed_by(&own, &said("right"), NAMESPACE, TEXT), Ok(None));
    assert_eq!(
        screen
            .matches("touch the security key when it blinks")
            .count(),
        3,
        "{screen}"
    );
    assert!(!screen.contains("secret"), "{screen}");
}

/// An auditor who has OpenSSH alone comes to the same answer, about everything but touches.
#[tokio::test]
async fn openssh_accepts_what_we_accept_and_neither_takes_the_rest() {
    if !is_there() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let path = key(dir.path(), "a", "ed25519", "");
    let mine = public(&path).trim().to_owned();
    let text_of = |voter: &str| {
        Ballot::sample().text(
            VoteKind::Grant,
            &Person::new(voter).unwrap(),
            &Viewed::default(),
            None,
        )
    };
    let own = signer(DeskKey::File(path)).unwrap();
    let own = own
        .quietly(text_of("ana").as_bytes(), NAMESPACE)
        .await
        .unwrap();

    let made = [
        TestKey::new(1),
        TestKey::p256(2),
        TestKey::new(3).on_token(0, 0),
        TestKey::new(4).on_token(5, 9),
        TestKey::p256(5).on_token(1, 0),
    ];
    let mut cases = vec![("a real key", mine.clone(), own, NAMESPACE)];
    for key in &made {
        let armour = key.sign(NAMESPACE, text_of("ana").as_bytes());
        cases.push(("a made key", key.line(), armour, NAMESPACE));
    }
    let one = &made[0];
    cases.push((
        "another text",
        one.line(),
        one.sign(NAMESPACE, text_of("ben").as_bytes()),
        NAMESPACE,
    ));
    cases.push((
        "another namespace",
        one.line(),
        one.sign("git", text_of("ana").as_bytes()),
        NAMESPACE,
    ));
    cases.push((
        "another key",
        one.line(),
        made[1].sign(NAMESPACE, text_of("ana").as_bytes()),
        NAMESPACE,
    ));

    let ns = format!("namespaces=\"{NAMESPACE}\"");
    for (what, line, armour, namespace) in cases {
        for (files, signers, revoked, voter) in [
            (
                "as it is",
                format!("ana {ns} {line}\n"),
                String::new(),
                "ana",
            ),
            (
                "valid",
                format!("ana {ns},valid-after=\"20260101Z\",valid-before=\"20261231Z\" {line}\n"),
                String::new(),
                "ana",
            ),
            (
                "expired",
                format!("ana {ns},valid-before=\"20261128115959Z\" {line}\n"),
                String::new(),
                "ana",
            ),
            (
                "to come",
                format!("ana {ns},valid-after=\"202611281201Z\" {line}\n"),
                String::new(),
                "ana",
            ),
            (
                "revoked",
                format!("ana {ns} {line}\n"),
                format!("{line}\n"),
                "ana",
            ),
            (
                "swapped",
                format!("ana {ns} {line}\n"),
                String::new(),
                "ben",
            ),
        ] {
            let people = "[people.ana]\n[people.ben]\n";
            let all = Electorate::read(signers.as_bytes(), people.as_bytes(), revoked.as_bytes())
                .unwrap();
            let vote = Vote {
                kind: VoteKind::Grant,
                voter: Person::new(voter).unwrap(),
                viewed: Viewed::default(),
                reason: None,
                signature: armour.clone(),
            };
            let now: Timestamp = "2026-11-28T12:00:00Z".parse().unwrap();
            let ours = verify(&Ballot::sample(), &vote, &all, now);
            write(at("signers"), &signers).unwrap();
            write(at("revoked"), &revoked).unwrap();
            write(at("signature"), &armour).unwrap();
            let mut theirs = Command::new("ssh-keygen")
                .args([
                    "-Y",
                    "verify",
                    "-n",
                    namespace,
                    "-I",
                    voter,
                    "-O",
                    "verify-time=20261128120000Z",
                    "-f",
                ])
                .arg(at("signers"))
                .arg("-r")
                .arg(at("revoked"))
                .arg("-s")
                .arg(at("signature"))
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let _ = theirs
                .stdin
                .take()
                .unwrap()
                .write_all(text_of(voter).as_bytes());
            let theirs = theirs.wait().unwrap().success();
            assert_eq!(ours.is_ok(), theirs, "{what}, {files}: {ours:?}");
            let is_good = what.ends_with("key")
                && what != "another key"
                && matches!(files, "as it is" | "valid");
            assert_eq!(theirs, is_good, "{what}, {files}");
            if files == "swapped" {
                assert!(matches!(ours, Err(Invalid::NoKey(_))), "{ours:?}");
            }
        }
    }
}
