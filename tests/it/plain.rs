//! The dashboard in plain lines (`--plain`), through a real terminal: the whole path by ear, and nothing but visible
//! characters in whole lines.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::io::Read as _;
use std::time::{Duration, Instant};

use common::agent::Agent;
use common::dash::{Dash, Options, PATIENCE, environment};
use nix::sys::signal::Signal;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::{Value, json};

const FLAGGED: &str = "x = 9**9**9 if False else 1\nprint(x)\n";

/// A dashboard that is heard: what was said, and how far a test listened.
struct Heard {
    dash: Dash,
    at: usize,
}

impl Heard {
    fn start() -> Self {
        Self::with(&Options::default())
    }

    fn with(options: &Options<'_>) -> Self {
        let dash = Dash::with(&Options {
            args: &["--plain"],
            ..*options
        });
        Self { dash, at: 0 }
    }

    /// What was said since the test listened last.
    fn said(&self) -> String {
        String::from_utf8(self.dash.raw()[self.at..].to_vec()).expect("whole characters")
    }

    /// Listens until this was said.
    fn hear(&mut self, wanted: &str) -> String {
        let at = self.at;
        let has = |d: &Dash| String::from_utf8_lossy(&d.raw()[at..]).contains(wanted);
        self.dash.wait_for(wanted, |dash, _| has(dash));
        let said = self.said();
        self.at += said.find(wanted).unwrap() + wanted.len();
        said
    }

    /// Presses keys again and again, as a person would, until this is said. A deciding key needs another one between
    /// its presses, or it counts as held down.
    fn press_until(&mut self, keys: &str, wanted: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.said().contains(wanted) {
            let said = self.said();
            assert!(
                Instant::now() < deadline,
                "{keys:?} never led to {wanted:?}: {said}"
            );
            for key in keys.chars() {
                self.dash.press(key.encode_utf8(&mut [0; 4]));
            }
            std::thread::sleep(Duration::from_millis(300));
        }
        self.hear(wanted);
    }

    /// Denies the selected proposal. The field answers before the reason is typed, and `Enter` comes by itself: what is read
    /// together with it counts as pasted.
    fn deny(&mut self, reason: &str) {
        self.dash.press("d");
        self.hear("Enter sends");
        self.dash.keys(reason);
        self.dash.press("\r");
    }

    /// Hears the selected proposal and opens its sheet.
    fn open_sheet(&mut self) {
        self.press_until(" ", "asks to grant");
        self.press_until(" a", "GRANT?");
    }

    /// Grants the selected proposal as it asks to be.
    fn grant(&mut self, agent: &mut Agent, proposal: &Value) {
        self.open_sheet();
        self.hear(" to grant; ");
        let all = String::from_utf8(self.dash.raw()).unwrap();
        let question = all
            .rsplit("\r\n")
            .find(|l| l.contains(" to grant; "))
            .unwrap();
        let digits = question
            .strip_prefix("Type ")
            .map(|rest| rest[..4].to_owned());
        let deadline = Instant::now() + PATIENCE;
        while agent.state(&proposal["id"]) == "pending" {
            assert!(Instant::now() < deadline, "not granted: {}", self.said());
            match &digits {
                Some(digits) => {
                    self.dash.keys(digits);
                    self.dash.press("\r");
                }
                None => self.dash.press("y"),
            }
            std::thread::sleep(Duration::from_millis(300));
        }
    }

    /// No escape sequence, no control character but line ends and the bell, and lines that fit the terminal.
    fn assert_plain(&self) {
        let all = String::from_utf8(self.dash.raw()).unwrap();
        for line in all.split("\r\n") {
            let line = line.replace('\u{7}', "");
            assert!(
                line.chars()
                    .all(|c| countersign::model::columns(c).is_some()),
                "{line:?}"
            );
            assert!(line.chars().count() <= 120, "{line}");
        }
    }
}

fn assert_nothing_ran(dash: &Dash) {
    let log = dash.log_text();
    assert!(!log.contains("\"kind\":\"granted\""), "{log}");
}

#[test]
fn the_whole_path_can_be_gone_by_ear() {
    let mut heard = Heard::start();
    heard.hear("countersign in plain lines");
    let mut agent = heard.dash.agent();
    let clear = agent.propose(json!({
        "code": "for i in range(3):\n    print('line', i)\n", "title": "three lines", "agent": {"name": "bot"},
    }));
    heard.hear("1 of 1, clear, 29 minutes left; agent bot says: three lines");
    heard.press_until(" ", "2, indent 4: print('line', i)");
    heard.hear("asks to grant");
    heard.grant(&mut agent, &clear);
    heard.hear("out: line 2");
    heard.hear("exit code 0");
    assert_eq!(agent.outcome(&clear["id"])["state"], "succeeded");

    let flagged = agent.propose(json!({"code": FLAGGED, "title": "a tower"}));
    heard.hear("New: 1 of 1, flagged");
    heard.press_until("u", "1 of 1, flagged");
    heard.grant(&mut agent, &flagged);
    heard.hear("out: 1");
    assert_eq!(agent.outcome(&flagged["id"])["run"]["stdout"], "1\n");

    let denied = agent.propose(json!({"code": "print('no')\n", "title": "not wanted"}));
    heard.press_until("u", "not wanted");
    heard.dash.keys("d");
    heard.hear("deny, reason for");
    heard.dash.keys("not today\r");
    heard.hear("Denied: ");
    let outcome = agent.outcome(&denied["id"]);
    assert_eq!(outcome["decision"]["reason"], "not today");

    let late = agent.propose(json!({"code": "print('late')\n", "ttl_s": 2, "title": "too late"}));
    assert_eq!(agent.outcome(&late["id"])["state"], "expired");
    heard.hear("Expired: ");
    heard.assert_plain();
    let verify = heard.dash.cli(&["audit", "verify"]);
    assert!(verify.status.success());
}

#[test]
fn a_drill_is_heard_like_any_other_and_told_after_the_decision() {
    let mut heard = Heard::with(&Options {
        config: "[drills]\nevery = 1\nseed = 4\n",
        ..Options::default()
    });
    heard.hear("countersign in plain lines");
    let mut agent = heard.dash.agent();
    agent
        .propose(json!({"code": "print('no')\n", "title": "a real one", "agent": {"name": "bot"}}));
    heard.press_until("u", "a real one");
    heard.deny("no");
    heard.hear("Denied: ");
    heard.hear("New: ");
    let news = heard.hear("agent bot says: ");
    assert!(!news.contains("drill"), "{news}");
    heard.press_until("u", "agent bot says: ");
    heard.deny("no");
    let said = heard.hear("Caught: that was a drill; line ");
    assert!(!said.contains("Denied: "), "{said}");
    heard.assert_plain();
    assert_nothing_ran(&heard.dash);
}

#[test]
fn pasted_and_typed_ahead_lines_grant_nothing() {
    let mut heard = Heard::start();
    heard.hear("countersign in plain lines");
    heard.dash.keys(" a y\rgrant\ry\r");
    let mut agent = heard.dash.agent();
    let proposal = agent.code("print(1)\n");
    heard.dash.keys(" a y\rgrant\ry\r");
    heard.hear("1 of 1, clear");
    heard.dash.keys("grant\ny\n");
    heard.press_until(" ", "asks to grant");
    for _ in 0..5 {
        heard.dash.keys("grant\ny\n");
        std::thread::sleep(Duration::from_millis(400));
    }
    heard.dash.keys("\u{1b}");
    heard.open_sheet();
    for _ in 0..5 {
        heard.dash.keys("grant\ny\n");
        std::thread::sleep(Duration::from_millis(600));
    }
    assert_eq!(agent.state(&proposal["id"]), "pending");
    assert_nothing_ran(&heard.dash);
}

#[test]
fn what_is_pasted_behind_the_enter_of_a_reason_acts_on_nothing() {
    let mut heard = Heard::start();
    let mut agent = heard.dash.agent();
    let first = agent.code("print(1)\n");
    let second = agent.code("import math\nprint(math.pi)\n");
    heard.hear("2 of 2, clear");
    heard.dash.press("d");
    heard.hear("Enter sends");
    heard.dash.keys("one\nline\rexD\rq");
    heard.hear("what was pasted behind Enter was left out");
    heard
        .dash
        .wait_for("the denial", |d, _| d.log_text().contains("one line"));
    // The next key shows that nothing was opened.
    heard.press_until("1", "selected, 1 of 1, clear");
    let said = String::from_utf8(heard.dash.raw()).unwrap();
    assert!(said.contains("Denied: "), "{said}");
    assert!(
        !said.contains("Quit with") && said.matches("deny, reason").count() == 1,
        "{said}"
    );
    let states = [&first, &second].map(|p| agent.state(&p["id"]));
    assert_eq!(states.iter().filter(|state| *state == "denied").count(), 1);
    assert_eq!(states.iter().filter(|state| *state == "pending").count(), 1);
}

#[test]
fn a_key_before_the_question_grants_nothing() {
    let mut heard = Heard::start();
    let mut agent = heard.dash.agent();
    let proposal = agent.code("print(1)\n");
    heard.open_sheet();
    assert!(!heard.said().contains("to grant;"));
    heard.dash.press("y");
    heard.hear("Wait for the question");
    assert_eq!(agent.state(&proposal["id"]), "pending");
    heard.hear("Press y to grant");
    heard.dash.press("y");
    assert_eq!(agent.outcome(&proposal["id"])["state"], "succeeded");
}

#[test]
fn nothing_hostile_reaches_the_terminal_raw_in_plain_lines() {
    let mut heard = Heard::start();
    let mut agent = heard.dash.agent();
    let hostile = agent.propose(json!({
        "code": "x = 1 # \u{202e}\u{200b}\u{e0041}\n",
        "title": format!("\u{1b}]0;owned\u{7}\u{1b}[31mSAFE\u{1b}[0m \u{202e}grant{}", "x".repeat(10_000)),
        "reason": "\u{9b}2J\u{2028}\u{2713} GRANTED by policy",
        "agent": {"name": "bot\u{1b}[2J\r\n"},
    }));
    heard.press_until("j", "says:");
    heard.press_until(" ", "End of the code.");
    for _ in 0..7 {
        heard.dash.press("\t");
    }
    heard.dash.press("1");
    agent.call("withdraw", json!({"id": hostile["id"]}));
    let proposal = agent.code(
        "for c in (27, 155, 8238, 7, 13):\n    print(chr(c) + ']0;owned', end='')\nprint('end')\n",
    );
    heard.press_until("u", "of 1, clear");
    heard.grant(&mut agent, &proposal);
    agent.outcome(&proposal["id"]);
    heard.hear("exit code 0");
    heard.assert_plain();
    let all = String::from_utf8(heard.dash.raw()).unwrap();
    assert!(
        all.contains("\\u{202E}") && !all.contains('\u{1b}'),
        "{all}"
    );
}

#[test]
fn quitting_asks_in_plain_lines_and_leaves_the_terminal_as_it_was() {
    let mut heard = Heard::start();
    heard.hear("countersign in plain lines");
    let mut agent = heard.dash.agent();
    assert!(!heard.dash.is_cooked());
    let proposal = agent.code("print(1)\n");
    heard.hear("1 of 1");
    heard.dash.keys("q");
    heard.hear("Quit with 1 pending, 0 running? y quits, any other key stays.");
    heard.dash.keys("n");
    heard.hear("not quit");
    heard.dash.keys("q");
    heard.hear("Quit with");
    heard.dash.keys("y");
    heard.hear("countersign, in ");
    assert!(heard.dash.wait_exit().success());
    assert!(heard.dash.is_cooked());
    heard.assert_plain();
    drop(proposal);
}

#[test]
fn a_suspended_dashboard_in_plain_lines_closes_its_sheet() {
    let mut heard = Heard::start();
    let mut agent = heard.dash.agent();
    let proposal = agent.code("print(1)\n");
    heard.open_sheet();
    heard.hear("Press y to grant");
    heard.dash.signal(Signal::SIGTSTP);
    heard.dash.wait_for("the stop", |d, _| d.is_cooked());
    heard.dash.keys("yyyy");
    heard.dash.signal(Signal::SIGCONT);
    heard.dash.wait_for("raw mode", |d, _| !d.is_cooked());
    heard.hear("Back. ");
    assert_eq!(agent.state(&proposal["id"]), "pending");
    heard.dash.press("y");
    assert_eq!(agent.state(&proposal["id"]), "pending");
    assert_nothing_ran(&heard.dash);
}

#[test]
fn a_proposal_rings_the_bell_unless_it_is_off() {
    for (config, rings) in [("", true), ("[notify]\nbell = false\n", false)] {
        let mut heard = Heard::with(&Options {
            config,
            ..Options::default()
        });
        let mut agent = heard.dash.agent();
        agent.code("print(1)\n");
        heard.hear("1 of 1");
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(heard.dash.raw().contains(&7), rings, "{config}");
        heard.assert_plain();
    }
}

#[test]
fn plain_lines_need_a_terminal_and_belong_to_the_dashboard() {
    let heard = Heard::start();
    for (args, wanted) in [
        (&["--plain"][..], "needs a terminal"),
        (&["demo", "--plain"], "in plain lines too"),
        (&["--plain", "status"], "`--plain` belongs to the dashboard"),
    ] {
        let output = heard.dash.cli(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.contains(wanted), "{args:?}: {error}");
    }
}

#[test]
fn a_terminal_that_says_no_size_is_named_and_nothing_is_drawn_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let size = PtySize {
        rows: 0,
        cols: 0,
        pixel_width: 0,
        pixel_height: 0,
    };
    let start = |args: &[&str]| {
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(args);
        command.cwd(folder.path());
        command.env_clear();
        for (name, value) in environment(folder.path()) {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        (child, pair.master)
    };
    for (mut child, master) in [&[][..], &["demo"], &["audit"]].map(start) {
        let mut reader = master.try_clone_reader().unwrap();
        let mut said = Vec::new();
        // The read fails once the program is gone.
        let _ = reader.read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said);
        assert_eq!(child.wait().unwrap().exit_code(), 2, "{said}");
        assert!(
            said.contains("stty rows 40 cols 120") && !said.contains("\u{1b}["),
            "{said:?}"
        );
    }
}
