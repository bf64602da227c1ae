//! `countersign host`: without a terminal, signed votes grant and nothing else does.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::agent::Agent;
use crate::common::dash::{Options, PATIENCE, cli, environment, folder, log_text};
use crate::seats::{GRAVE, config, denies, grants, hosts, key_pair, offices, seat, users};

/// A host in a session of its own, so that it has no terminal, on folders that outlive it.
pub struct Host {
    dir: TempDir,
    child: Child,
}

impl Host {
    pub fn start(dir: TempDir) -> Self {
        let said = File::create(dir.path().join("said")).unwrap();
        let mut command = Command::new("setsid");
        command.arg(env!("CARGO_BIN_EXE_countersign")).arg("host");
        command.env_clear().envs(environment(dir.path()));
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said)
            .spawn()
            .unwrap();
        let mut host = Self { dir, child };
        host.wait_said("\nready\n");
        host
    }

    fn root(&self) -> &Path {
        self.dir.path()
    }

    pub fn state(&self) -> PathBuf {
        self.root().join("state")
    }

    /// What it wrote to standard error.
    pub fn said(&self) -> String {
        std::fs::read_to_string(self.root().join("said")).unwrap()
    }

    pub fn wait_said(&mut self, what: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.said().contains(what) {
            let ended = self.child.try_wait().unwrap();
            assert!(
                ended.is_none() && Instant::now() < until,
                "{what:?} is not said ({ended:?}):\n{}",
                self.said()
            );
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    pub fn records(&self, kind: &str) -> usize {
        let text = log_text(&self.state());
        text.matches(&format!("\"kind\":\"{kind}\"")).count()
    }

    pub fn agent(&self) -> Agent {
        Agent::connect(&self.root().join("run/agent.sock"))
    }

    /// Has an agent's command line propose this and wait.
    fn submits(&self, name: &str, code: &str, more: &[&str]) -> Child {
        let file = self.root().join(name);
        std::fs::write(&file, code).unwrap();
        cli(self.root(), &["submit"])
            .args(["--title", name])
            .args(more)
            .arg(file)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    pub fn runs(&self, args: &[&str]) -> Output {
        let mut command = cli(self.root(), args);
        command.stdin(Stdio::null()).output().unwrap()
    }

    /// Sends a signal and waits for the end. Returns the folders and the exit code.
    pub fn ends(mut self, signal: Signal) -> (TempDir, Option<i32>) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        kill(pid, signal).unwrap();
        let code = self.child.wait().unwrap().code();
        // `Drop` takes what is left: a process that ended.
        let other = TempDir::new().unwrap();
        (std::mem::replace(&mut self.dir, other), code)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ended(child: Child) -> (Option<i32>, String, String) {
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    (output.status.code(), out, err)
}

fn folders(offices: &Path) -> TempDir {
    folder(&Options {
        config: &config(offices),
        policies: &[("grave.toml", GRAVE)],
        ..Options::default()
    })
}

#[test]
fn a_host_without_a_terminal_runs_what_two_people_grant_and_agents_hear_every_other_end() {
    let Some([one, two]) = users(["daemon", "bin"]) else {
        return;
    };
    let (ben, cyd) = (key_pair("ben"), key_pair("cyd"));
    let offices = offices(&[("ben", one, &ben.1), ("cyd", two, &cyd.1)]);
    let bens_key = ben.1.clone();
    let mut host = Host::start(folders(offices.path()));
    let opening = host.said();
    let socket = offices.path().join("desk.sock");
    for line in [
        "host lab-1".to_owned(),
        format!("reviewers: {}", socket.display()),
        "engine: none".to_owned(),
        "profiles: grave".to_owned(),
        "people who may vote: 2".to_owned(),
    ] {
        assert!(opening.contains(&line), "{line:?} is not said:\n{opening}");
    }
    // No second one beside it.
    let second = host.runs(&["host"]);
    assert_eq!(second.status.code(), Some(1), "{second:?}");
    assert!(String::from_utf8_lossy(&second.stderr).contains("in use by another dashboard"));

    let found = host.runs(&["doctor", "--json"]);
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    let checks = found["checks"].as_array().unwrap();
    let votes = checks.iter().find(|check| check["name"] == "votes");
    assert_eq!(
        votes.unwrap()["found"],
        "people who may vote: 2; `countersign host` can start"
    );

    let sum = host.submits("a-sum", "secret = 'Zw3'\nprint(6 * 7)\n", &[]);
    let hosts = hosts(&host.state());
    let mut ben = seat(offices.path(), &hosts, one, &ben);
    ben.wait_text("a-sum");
    grants(&mut ben, || host.records("voted") == 1);
    let mut cyd = seat(offices.path(), &hosts, two, &cyd);
    cyd.wait_text("a-sum");
    grants(&mut cyd, || host.records("voted") == 2);
    let (code, out, err) = ended(sum);
    assert_eq!((code, &*out), (Some(0), "42\n"), "{err}");
    host.wait_said("succeeded");
    let said = host.said();
    for part in [
        " offered to data, version ",
        " vote: ben grants",
        " vote: cyd grants",
        " granted by ben, cyd",
    ] {
        assert!(said.contains(part), "{part:?} is not said:\n{said}");
    }
    // Nothing of the code or of what it printed.
    assert!(!said.contains("Zw3") && !said.contains("42\n"), "{said}");

    let denied = host.submits("another", "print(1)\n", &[]);
    denies(&mut cyd, "another", "not today");
    let (code, _, err) = ended(denied);
    assert_eq!(code, Some(3), "{err}");
    assert!(err.contains("not today"), "{err}");

    // While a file cannot be read, a vote is refused to its voter, who votes again once it is mended.
    let revoked = offices.path().join("revoked_keys");
    let waits = host.submits("mended", "print(5)\n", &[]);
    cyd.wait_text("mended");
    std::fs::write(&revoked, "no key\n").unwrap();
    grants(&mut cyd, || host.records("vote_refused") == 1);
    cyd.wait_text("could not read who may vote");
    std::fs::write(&revoked, "").unwrap();
    grants(&mut cyd, || host.records("voted") == 4);
    // A key is revoked: no votes can grant it any more, and it ends though nobody does anything.
    std::fs::write(&revoked, bens_key).unwrap();
    let (code, _, err) = ended(waits);
    assert_eq!(code, Some(7), "{err}");
    assert!(err.contains("1 of them may vote on it"), "{err}");
    std::fs::write(&revoked, "").unwrap();

    let (code, ..) = ended(host.submits("late", "print(2)\n", &["--ttl", "1"]));
    assert_eq!(code, Some(4));

    let waits = host.submits("dusk", "print(3)\n", &[]);
    cyd.wait_text("dusk");
    let (dir, code) = host.ends(Signal::SIGTERM);
    assert_eq!(code, Some(0));
    let (code, _, err) = ended(waits);
    assert_eq!(code, Some(6), "{err}");
    let said = std::fs::read_to_string(dir.path().join("said")).unwrap();
    for part in [" denied\n", " expired\n", "\nclosing\n", " unattended\n"] {
        assert!(said.contains(part), "{part:?} is not said:\n{said}");
    }
    let verified = cli(dir.path(), &["audit", "verify"]).output().unwrap();
    assert!(verified.status.success(), "{verified:?}");
}

#[test]
fn a_host_that_was_killed_with_votes_in_ends_what_was_open_and_runs_nothing_again() {
    let Some([one, two]) = users(["daemon", "bin"]) else {
        return;
    };
    let (ben, cyd) = (key_pair("ben"), key_pair("cyd"));
    let offices = offices(&[("ben", one, &ben.1), ("cyd", two, &cyd.1)]);
    let host = Host::start(folders(offices.path()));
    let hosts = hosts(&host.state());
    let mut agent = host.agent();
    let runs = agent.propose(json!({"code": "while True:\n    pass\n", "title": "for long"}));
    let mut ben = seat(offices.path(), &hosts, one, &ben);
    let mut cyd = seat(offices.path(), &hosts, two, &cyd);
    for (n, seat) in [(1, &mut ben), (2, &mut cyd)] {
        seat.wait_text("for long");
        grants(seat, || host.records("voted") == n);
    }
    ben.wait_for("the start", |_, _| host.records("started") == 1);
    // What expires first is what a seat turns to.
    let half = json!({"code": "print(1)\n", "title": "half", "ttl_s": 900});
    let waits = agent.propose(half);
    ben.wait_text("half");
    grants(&mut ben, || host.records("voted") == 3);

    let (dir, code) = host.ends(Signal::SIGKILL);
    assert_eq!(code, None);
    let host = Host::start(dir);
    cyd.wait_for("the end of what was open", |_, _| {
        host.records("unattended") + host.records("failed") == 2
    });
    let log = log_text(&host.state());
    let has = |kind: &str, id: &Value| {
        let id = id["id"].as_str().unwrap();
        let lines = log.lines().filter(|line| line.contains(id));
        let kind = format!("\"kind\":\"{kind}\"");
        lines.filter(|line| line.contains(&kind)).count()
    };
    assert_eq!(
        (has("started", &runs), has("failed", &runs)),
        (1, 1),
        "{log}"
    );
    assert_eq!((has("granted", &waits), has("unattended", &waits)), (0, 1));
    // The vote that was in stays where it is: what comes anew needs two again.
    let mut agent = host.agent();
    let anew = json!({"code": "print(1)\n", "title": "anew", "ttl_s": 600});
    let again = agent.propose(anew);
    cyd.wait_text("anew");
    grants(&mut cyd, || host.records("voted") == 4);
    assert_eq!(agent.state(&again["id"]), "pending");
    assert_eq!((host.records("granted"), host.records("started")), (1, 1));
    let (dir, code) = host.ends(Signal::SIGINT);
    assert_eq!(code, Some(0));
    let verified = cli(dir.path(), &["audit", "verify"]).output().unwrap();
    assert!(verified.status.success(), "{verified:?}");
}

#[test]
fn a_host_says_at_its_start_what_no_votes_can_grant_and_ends_it_at_once() {
    let Some([one]) = users(["daemon"]) else {
        return;
    };
    let ben = key_pair("ben");
    let offices = offices(&[("ben", one, &ben.1)]);
    let folders = folder(&Options {
        config: &config(offices.path()),
        policies: &[("grave.toml", GRAVE)],
        ..Options::default()
    });
    let host = Host::start(folders);
    let said = host.said();
    let line = said
        .lines()
        .find(|line| line.starts_with("grave: no votes can meet `"));
    assert!(
        line.is_some_and(|line| line.contains("2 people of data")),
        "{said}"
    );
    // It does not wait for its deadline.
    let (code, _, err) = ended(host.submits("vain", "print(1)\n", &[]));
    assert_eq!(code, Some(7), "{err}");
    assert!(
        err.contains("the rule asks for 2 of data; 1 of them may vote on it"),
        "{err}"
    );
    assert_eq!((host.records("failed"), host.records("voted")), (1, 0));
}

#[test]
fn a_host_at_which_nothing_could_be_granted_does_not_start() {
    let dir = folder(&Options::default());
    let refused = cli(dir.path(), &["host"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("add [grant] to a policy's file"), "{said}");
    assert!(!dir.path().join("state/log").exists());
}
