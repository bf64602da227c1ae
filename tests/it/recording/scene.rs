//! The scene: agents propose through `countersign submit`; a person reads, grants, denies and looks
//! around.

use std::io::Write as _;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::json;

use super::cast::SIZE;
use super::common::dash::{Dash, Options, PATIENCE};
use super::common::given;
use super::fixed::fixed;
use super::frame::{Frame, Shot};

/// The shots of README's picture, and the one at which the moving picture rests.
pub const SHEET: usize = 2;
pub const RESULT: usize = 3;
pub const CHART: usize = 10;

/// How long a screen must be unchanged before it is taken.
const STILL: Duration = Duration::from_millis(900);

/// Whether this machine gives tier `kernel`.
pub fn available() -> bool {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_countersign"));
    let output = command.args(["doctor", "--json"]).output().unwrap();
    let stdout: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = stdout["checks"].as_array().unwrap();
    let kernel = checks.iter().find(|c| c["name"] == "tier kernel").unwrap();
    given::is_given(kernel["state"] != "missing", "tier kernel")
}

struct Scene {
    dash: Dash,
    shots: Vec<Shot>,
}

/// Titles are short: in a row without room for a long uid and pid the title would be cut, and a
/// test could not compare it.
struct Proposal {
    code: &'static str,
    agent: &'static str,
    title: &'static str,
    reason: &'static str,
    more: &'static [&'static str],
}

const MASS: Proposal = Proposal {
    code: include_str!("../../../assets/demo/01-mass-by-species.py"),
    agent: "notebook",
    title: "Body mass",
    reason: "The season's summary needs mean, count and spread.",
    more: &["--ttl", "900"],
};
const EXPORT: Proposal = Proposal {
    code: include_str!("../../../assets/demo/02-export-by-island.py"),
    agent: "etl-bot",
    title: "By island",
    reason: "Each field team gets its own birds.",
    more: &["--ttl", "1200"],
};
const MOUNT: Proposal = Proposal {
    code: include_str!("../../../assets/demo/03-find-the-mount.py"),
    agent: "etl-bot",
    title: "Find the data folder",
    reason: "It was not mounted last night. This looks at accounts and mounts.",
    more: &[],
};
const CHART_OF_MASS: Proposal = Proposal {
    code: include_str!("chart.py"),
    agent: "tagger",
    title: "Flippers",
    reason: "Do the species stand apart?",
    more: &["--profile", "chart", "--ttl", "1500"],
};

impl Scene {
    fn begin() -> Self {
        let dash = Dash::with(&Options {
            config: "[datasets.penguins]\npath = \"penguins.csv\"\n",
            files: &[(
                "penguins.csv",
                include_str!("../../../assets/demo/penguins.csv"),
            )],
            size: SIZE,
            env: &[("COLORTERM", "truecolor")],
            ..Options::default()
        });
        dash.wait_for("an environment that was read", |_, text| {
            text.contains("No proposal yet") && !text.contains("Python environment")
        });
        Self {
            dash,
            shots: Vec::new(),
        }
    }

    fn frame(&self) -> Frame {
        let socket = self.dash.socket.display().to_string();
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(frame) = Frame::of(&self.dash.screen()) {
                return fixed(frame, &socket);
            }
            assert!(
                Instant::now() < deadline,
                "the screen is never painted whole"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Takes the screen once it shows the wanted texts and stays unchanged.
    fn shoot(&mut self, caption: &str, milliseconds: u64, wanted: &[&str]) {
        let deadline = Instant::now() + PATIENCE / 6;
        let (mut frame, mut since) = (self.frame(), Instant::now());
        loop {
            std::thread::sleep(Duration::from_millis(50));
            let next = self.frame();
            if next != frame {
                (frame, since) = (next, Instant::now());
            }
            let text = frame.text().join("\n");
            let shown = wanted.iter().all(|words| text.contains(words));
            if shown && since.elapsed() > STILL {
                break;
            }
            assert!(
                Instant::now() < deadline,
                "no sign of {wanted:?}; the screen:\n{text}"
            );
        }
        self.shots.push(Shot {
            frame,
            milliseconds,
            caption: caption.to_owned(),
        });
    }

    fn propose(&self, proposal: &Proposal) -> Child {
        let mut args = vec!["submit", "-", "--input", "penguins=penguins"];
        args.extend([
            "--agent",
            proposal.agent,
            "--title",
            proposal.title,
            "--reason",
            proposal.reason,
        ]);
        args.extend(proposal.more);
        let mut child = self.dash.spawn(&args);
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(proposal.code.as_bytes()).unwrap();
        child
    }

    /// Lets the thread that colours code compile its patterns, which takes longer than its limit
    /// for one snippet. Uses a proposal that is withdrawn.
    fn warm(&self) {
        let mut agent = self.dash.agent();
        let code = "# patterns\nfor n in [1, 2]:\n    print(f\"{n}\", max(n, 3))\n";
        let proposal = agent.propose(json!({"code": code, "agent": {"name": "notebook"}}));
        self.dash.wait_text("1 pending");
        std::thread::sleep(STILL);
        agent.call("withdraw", json!({"id": proposal["id"]}));
        self.dash.wait_text("0 pending");
    }

    /// Goes to the most urgent proposal and reads all of it.
    fn read(&mut self, title: &str) {
        self.once("u", |text| text.contains(&format!("says: {title}")));
        self.dash.see_all();
    }

    fn ask(&mut self) {
        self.once("a", |text| text.contains("GRANT?"));
    }

    /// Presses a key until the screen shows its effect, and no further: a key without effect is answered on the screen.
    fn once(&mut self, key: &str, done: impl Fn(&str) -> bool) {
        for _ in 0..10 {
            if done(&self.dash.text()) {
                return;
            }
            self.dash.press(key);
            let pressed = Instant::now();
            while pressed.elapsed() < Duration::from_secs(2) && !done(&self.dash.text()) {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        panic!("{key:?} does nothing:\n{}", self.dash.text());
    }
}

/// Plays the scene and returns the shots.
pub fn play() -> Vec<Shot> {
    let mut scene = Scene::begin();
    scene.shoot(
        "An empty queue. Agents connect to the socket.",
        1_800,
        &["0 pending"],
    );
    scene.warm();
    let mass = scene.propose(&MASS);
    scene.dash.wait_text("1 pending");
    let export = scene.propose(&EXPORT);
    scene.dash.wait_text("2 pending");
    let blocked = scene.propose(&MOUNT).wait_with_output().unwrap();
    assert_eq!(blocked.status.code(), Some(5));
    let chart = scene.propose(&CHART_OF_MASS);
    scene.read(MASS.title);
    scene.shoot(
        "Agents propose. Each row of the code has to be seen. One proposal was blocked, and asked nobody.",
        4_000,
        &["3 pending", "DECIDED", "11/11 rows", "READS   penguins 344"],
    );
    scene.ask();
    scene.shoot(
        "a — the sheet: exactly what a grant binds.",
        4_500,
        &["press y to grant"],
    );
    scene.dash.press("y");
    assert!(mass.wait_with_output().unwrap().status.success());
    scene.shoot(
        "y — it ran, once, in a confined child. The agent has its answer.",
        4_500,
        &["✓ succeeded", "0 running", "Gentoo"],
    );
    scene.read(EXPORT.title);
    scene.shoot(
        "u — the next one is flagged: it writes files under computed names.",
        4_000,
        &["FS002"],
    );
    scene.ask();
    scene.once(" ", |text| !text.contains("not seen"));
    scene.shoot(
        "a — a flagged proposal wants four digits.",
        3_500,
        &["type 4f1c to grant", "____"],
    );
    let digits = scene.dash.digits().unwrap();
    scene.dash.keys(&digits);
    scene.shoot(
        "4f1c — typed by a person who has read it.",
        1_500,
        &["[4f1c]"],
    );
    scene.dash.press("\r");
    assert!(export.wait_with_output().unwrap().status.success());
    scene.shoot(
        "Enter — three files; the agent gets them from the log.",
        3_500,
        &["✓ succeeded", "0 running", ".csv"],
    );
    scene.read(CHART_OF_MASS.title);
    scene.shoot(
        "u — the last one draws a chart.",
        2_500,
        &["chart", "1 pending"],
    );
    scene.ask();
    scene.shoot("a — the sheet again.", 1_800, &["press y to grant"]);
    scene.dash.press("y");
    assert!(chart.wait_with_output().unwrap().status.success());
    scene.shoot(
        "y — its chart, drawn from numbers, not by the snippet.",
        4_500,
        &["✓ succeeded", "0 pending", "Gentoo"],
    );
    scene.shots
}
