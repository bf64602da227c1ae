//! Kills the whole dashboard: the log contains everything that an agent was told, is consistent at once, and the next
//! start ends what was open.
//!
//! `CS_KILLS=1000` kills so many times at random moments of whole lives, `CS_KILLS_SEED` chooses the moments.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{OnceLock, mpsc};
use std::time::{Duration, Instant};

use common::agent::Agent;
use common::dash::{Dash, Options, PATIENCE};
use countersign::audit::{self, Log, query::Query};
use countersign::model::{LogEvent, Ticket};
use jiff::Timestamp;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::prune::{runs, split_at};

/// Kinds of the records that a proposal has.
fn kinds(log: &str, id: &Value) -> BTreeSet<String> {
    log.lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|record| record["id"] == *id)
        .filter_map(|record| record["kind"].as_str().map(str::to_owned))
        .collect()
}

#[test]
fn the_log_of_a_killed_dashboard_is_sound_and_has_everything_that_was_reported() {
    let mut dash = Dash::start();
    let mut reported = Vec::new();
    // Moments from before the grant is on disk until after the run's end.
    for wait_ms in [0, 2, 5, 15, 60, 150, 400] {
        let mut agent = dash.agent();
        let granted = agent.code(&format!("print({wait_ms})\n"));
        let waits = agent.code(&format!("print({wait_ms}, 'waits')\n"));
        reported.extend([granted["id"].clone(), waits["id"].clone()]);
        match wait_ms {
            // The last run has time to end, and a key that a stall discarded is pressed again.
            400 => {
                dash.grant(&mut agent, &granted);
                let finished =
                    |d: &Dash, _: &str| kinds(&d.log_text(), &granted["id"]).contains("finished");
                dash.wait_for("its end", finished);
            }
            _ => {
                dash.open_sheet();
                dash.wait_text("press y to grant");
                dash.keys("y");
                std::thread::sleep(Duration::from_millis(wait_ms));
            }
        }
        dash.signal(Signal::SIGKILL);
        dash.then(&[]);
        dash.wait_text("log ✓");
        let verify = dash.cli(&["audit", "verify"]);
        let stdout = String::from_utf8_lossy(&verify.stdout).into_owned();
        assert_eq!(verify.status.code(), Some(0), "{wait_ms} ms: {stdout}");
        dash.wait_for("an end of everything", |d, _| {
            let log = d.log_text();
            reported.iter().all(|id| {
                let kinds = kinds(&log, id);
                let ended = ["finished", "failed", "unattended"]
                    .iter()
                    .any(|end| kinds.contains(*end));
                kinds.contains("proposed") && ended
            })
        });
    }
    let log = dash.log_text();
    assert_eq!(reported.len(), 14);
    for id in &reported {
        let kinds = kinds(&log, id);
        let ran = kinds.contains("started") || kinds.contains("finished");
        assert!(!ran || kinds.contains("granted"), "{id}: {kinds:?}");
    }
    assert!(kinds(&log, &reported[12]).contains("finished"), "{log}");
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    /// A wait of less than this; short ones are more frequent, because more happens early.
    fn wait(&mut self, most: Duration) {
        let part = self.below(1_000) * self.below(1_000);
        std::thread::sleep(most * u32::try_from(part).unwrap() / 1_000_000);
    }
}

/// A log whose first two segments are old enough for `audit prune` and whose last one is almost full, in a state folder.
/// It is longer than what a dashboard keeps an index of.
fn almost_full() -> &'static Path {
    const SEGMENT: u64 = 64 * 1024 * 1024;
    static MADE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        split_at(&state, &runs(&state), None, |_| 0);
        let last = state.join("log/00000003.jsonl");
        // The length of a line is known only afterwards.
        for (size, left) in [(60_000, 400_000), (2_000, 20_000)] {
            let (tell, told) = mpsc::channel();
            let opened = audit::open(&state).unwrap();
            let handle = opened
                .writer
                .start(Box::new(move |e| tell.send(e).unwrap()));
            let room = SEGMENT - left - last.metadata().unwrap().len();
            for _ in 0..room / (size + 400) {
                let reason = "x".repeat(usize::try_from(size).unwrap());
                handle.submit(Ticket::Core(1), LogEvent::Unanchored { reason }, Vec::new());
                told.recv().unwrap();
            }
            handle.close();
        }
        dir
    });
    made.path()
}

fn copied(from: &Path, to: &Path) {
    let done = std::process::Command::new("cp")
        .arg("-a")
        .args([from, to])
        .status();
    assert!(done.unwrap().success());
}

/// A dashboard on such a log, and all that it answered and that a person did.
struct World {
    dash: Dash,
    dice: Dice,
    /// What was proposed and answered.
    answered: BTreeSet<String>,
    /// The states that an agent was told of each.
    told: BTreeMap<String, BTreeSet<String>>,
    /// For which the deciding key was pressed.
    granting: BTreeSet<String>,
    denying: BTreeSet<String>,
    kills: usize,
    /// The moment of the last kill, for the report of a failure.
    moment: &'static str,
}

const TITLE: &str = "to be killed";

impl World {
    fn new(seed: u64) -> Self {
        let mut dash = Dash::launch(&Options {
            config: "[audit]\nretention_days = 30\n",
            args: &["--version"],
            ..Options::default()
        });
        dash.wait_exit();
        copied(&almost_full().join("state"), &dash.state);
        dash.then(&[]);
        let world = Self {
            dash,
            dice: Dice(seed),
            answered: BTreeSet::new(),
            told: BTreeMap::new(),
            granting: BTreeSet::new(),
            denying: BTreeSet::new(),
            kills: 0,
            moment: "",
        };
        world.is_up();
        world
    }

    fn is_up(&self) {
        self.dash
            .wait_for("the socket", |d, _| UnixStream::connect(&d.socket).is_ok());
    }

    /// Kills the dashboard. Nothing that it started lives on.
    fn kill(&mut self) {
        let family = family(self.dash.pid());
        self.dash.signal(Signal::SIGKILL);
        self.dash.wait_exit();
        self.kills += 1;
        let deadline = Instant::now() + PATIENCE;
        while let Some(left) = family.iter().find(|one| one.lives()) {
            let line = std::fs::read(format!("/proc/{}/cmdline", left.pid)).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            assert!(Instant::now() < deadline, "{} lives on: {line}", left.pid);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Proposals in a burst, some withdrawn again.
    fn in_a_burst(&mut self) {
        let mut stream = UnixStream::connect(&self.dash.socket).unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let mut frames = String::new();
        let kills = self.kills;
        for n in 0..40 {
            let params = json!({"code": format!("print({kills}, {n})\n"), "title": TITLE});
            let frame = json!({"jsonrpc": "2.0", "id": n, "method": "propose", "params": params});
            frames.push_str(&format!("{frame}\n"));
        }
        stream.write_all(frames.as_bytes()).unwrap();
        // As many answers as are awaited come.
        let mut left = self.dice.below(40);
        let hear = |world: &mut Self, line: Option<std::io::Result<String>>| {
            // The last one may be cut.
            let answer: Value = serde_json::from_str(&line?.ok()?).ok()?;
            let Some(id) = answer["result"]["id"].as_str().map(str::to_owned) else {
                return Some(None);
            };
            if answer["result"]["state"] == "withdrawn" {
                let told = world.told.entry(id).or_default();
                told.insert("withdrawn".to_owned());
                return Some(None);
            }
            world.answered.insert(id.clone());
            Some(Some(id))
        };
        while left > 0
            && let Some(heard) = hear(self, lines.next())
        {
            left -= 1;
            let withdraw = heard.filter(|_| self.dice.below(4) == 0);
            if let Some(id) = withdraw {
                let frame = json!({"jsonrpc": "2.0", "id": 100, "method": "withdraw", "params": {"id": id}});
                stream.write_all(format!("{frame}\n").as_bytes()).unwrap();
            }
        }
        self.dice.wait(Duration::from_millis(40));
        self.kill();
        while hear(self, lines.next()).is_some() {}
    }

    fn of_a_grant(&mut self) {
        let mut agent = self.dash.agent();
        let code = format!(
            "for n in range(3000):\n    print({}, n, 'x' * 60)\nopen('left.txt', 'w').write('left')\n",
            self.kills
        );
        let asked = agent.propose(json!({"code": code, "title": TITLE, "stream": true}));
        let id = asked["id"].as_str().unwrap().to_owned();
        self.answered.insert(id.clone());
        self.dash.open_sheet();
        self.dash.wait_text("press y to grant");
        self.granting.insert(id.clone());
        self.dash.press("y");
        self.dice.wait(Duration::from_millis(2_500));
        self.kill();
        self.heard(&mut agent, &id);
    }

    fn of_a_denial(&mut self) {
        let mut agent = self.dash.agent();
        let asked = agent.propose(json!({"code": "print(1)\n", "title": TITLE, "stream": true}));
        let id = asked["id"].as_str().unwrap().to_owned();
        self.answered.insert(id.clone());
        self.dash.go_to_urgent();
        self.dash
            .press_until("d", "the question", |text| text.contains("reason for"));
        self.denying.insert(id.clone());
        self.dash.keys("no");
        self.dash.press("\r");
        self.dice.wait(Duration::from_millis(60));
        self.kill();
        self.heard(&mut agent, &id);
    }

    /// Takes down what the agent was told until the connection ended.
    fn heard(&mut self, agent: &mut Agent, id: &str) {
        agent.wait_state(&json!(id), "the end", Duration::from_secs(10));
        let notes = agent.notes.iter().filter(|note| note["params"]["id"] == id);
        let states = notes.filter_map(|note| note["params"]["state"].as_str());
        let told = self.told.entry(id.to_owned()).or_default();
        told.extend(states.map(str::to_owned));
    }

    /// As it starts on what the last one left.
    fn of_a_start(&mut self) {
        self.dice.wait(Duration::from_millis(1_500));
        self.kill();
    }

    /// As it ends by itself.
    fn of_an_end(&mut self) {
        // What its agent leaves behind is withdrawn, and not asked about.
        let mut agent = self.dash.agent();
        let asked = agent.propose(json!({"code": "print(2)\n", "title": TITLE}));
        self.answered
            .insert(asked["id"].as_str().unwrap().to_owned());
        self.dash
            .press_until("q", "the question", |text| text.contains("y quits"));
        self.dash.press("y");
        self.dice.wait(Duration::from_millis(400));
        self.kill();
    }

    /// Another command of the program, on the log that the killed dashboard left.
    fn of_a_command(&mut self, args: &[&str], most: Duration) {
        self.dice.wait(Duration::from_millis(300));
        self.kill();
        let mut command = self.dash.spawn(args);
        self.dice.wait(most);
        command.kill().unwrap();
        command.wait().unwrap();
    }

    /// Ends a life at a random moment and checks what is left.
    fn one(&mut self, kind: u64) {
        let (moment, starts): (_, bool) = match kind {
            0 | 1 => ("a burst of proposals", false),
            2 | 3 => ("a grant and its run", false),
            4 => ("a denial", false),
            5 | 6 => ("a start", true),
            7 => ("an end", false),
            8 => ("prune", false),
            _ => ("the index", false),
        };
        self.moment = moment;
        if self.kills > 0 {
            self.dash.then(&[]);
        }
        if !starts {
            self.is_up();
        }
        match kind {
            0 | 1 => self.in_a_burst(),
            2 | 3 => self.of_a_grant(),
            4 => self.of_a_denial(),
            5 | 6 => self.of_a_start(),
            7 => self.of_an_end(),
            8 => {
                // By the clock that nobody sets nothing is old.
                let prune = ["audit", "prune", "--by-the-clock"];
                self.of_a_command(&prune, Duration::from_millis(80));
                self.succeeds(&prune);
            }
            _ => {
                let question = ["audit", "list", "state:pending"];
                self.of_a_command(&question, Duration::from_millis(800));
            }
        }
        self.listed();
        // Verifying compares the index with the log, also one that a kill left.
        if self.dice.below(3) == 0 {
            self.succeeds(&["audit", "verify"]);
        }
    }

    /// What a command prints that has to succeed.
    fn succeeds(&self, args: &[&str]) -> String {
        let done = self.dash.cli(args);
        let (out, err) = (
            String::from_utf8_lossy(&done.stdout),
            String::from_utf8_lossy(&done.stderr),
        );
        let moment = self.moment;
        assert_eq!(
            done.status.code(),
            Some(0),
            "{args:?} after {moment}: {out}{err}"
        );
        out.into_owned()
    }

    /// Everything that was answered is listed, and nothing was decided that nobody decided.
    fn listed(&self) {
        let moment = self.moment;
        let list = self.succeeds(&["audit", "list", "--json", "title:killed"]);
        let list: Vec<Value> = serde_json::from_str(&list).unwrap();
        let states: BTreeMap<&str, &str> = list
            .iter()
            .map(|one| (one["id"].as_str().unwrap(), one["state"].as_str().unwrap()))
            .collect();
        for id in &self.answered {
            assert!(
                states.contains_key(id.as_str()),
                "{id} was answered, and is lost after {moment}"
            );
        }
        for (id, state) in &states {
            let granted = ["granted", "running", "succeeded", "failed"].contains(state);
            let by_nobody = granted && !self.granting.contains(*id)
                || *state == "denied" && !self.denying.contains(*id);
            assert!(!by_nobody, "{id} is {state} by nobody after {moment}");
        }
        for (id, told) in &self.told {
            let state = states[id.as_str()];
            for final_state in ["withdrawn", "denied", "succeeded", "failed"] {
                assert!(
                    !told.contains(final_state) || state == final_state,
                    "{id} is {state} after {moment}: {told:?}"
                );
            }
            assert!(
                !told.contains("running") || state != "pending" && state != "granted",
                "{id}: {state}"
            );
        }
    }

    /// The next start ends what is open, and log, index and checkpoints agree.
    fn end(mut self) {
        self.moment = "the last start";
        self.dash.then(&[]);
        self.is_up();
        self.dash.wait_text("log ✓");
        // Nobody waits longer than 8 s for the checkpoint of an end, and no life before this one need have made any.
        self.dash
            .wait_for("the hashes of the log", |d, _| is_hashed(&d.state));
        self.dash.keys("q");
        self.dash.wait_exit();
        self.listed();
        let log = Log::open(&self.dash.state).unwrap();
        let all = Query::parse("title:killed", Timestamp::now()).unwrap();
        let by_index = log.answers().unwrap().page(&all, 0, usize::MAX).unwrap();
        let by_log = log
            .answers_without_index()
            .unwrap()
            .page(&all, 0, usize::MAX)
            .unwrap();
        assert_eq!(by_index, by_log);
        let open = by_log.iter().find(|one| !one.state.is_final());
        assert_eq!(open, None);
        let said = self.succeeds(&["audit", "verify"]);
        assert!(said.contains("anchored through seq"), "{said}");
        let log = self.dash.log_text();
        let mut kinds: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in log
            .lines()
            .filter(|line| !line.contains("\"kind\":\"unanchored\""))
        {
            let record: Value = serde_json::from_str(line).unwrap();
            if let (Some(id), Some(kind)) = (record["id"].as_str(), record["kind"].as_str()) {
                kinds
                    .entry(id.to_owned())
                    .or_default()
                    .push(kind.to_owned());
            }
        }
        for id in &self.answered {
            let kinds = &kinds[id];
            let count = |kind: &str| kinds.iter().filter(|one| *one == kind).count();
            assert!(
                count("granted") <= usize::from(self.granting.contains(id)),
                "{id}: {kinds:?}"
            );
            assert!(
                count("started") <= count("granted") && count("finished") <= count("started"),
                "{id}: {kinds:?}"
            );
        }
    }
}

/// Whether the thread that signs has read the log but for what its dashboard added: two hashes of 32 bytes for each record,
/// without those of the incomplete subtrees.
fn is_hashed(state: &Path) -> bool {
    let segments = std::fs::read_dir(state.join("log")).unwrap();
    let newest = segments.map(|entry| entry.unwrap().path()).max().unwrap();
    let mut file = std::fs::File::open(newest).unwrap();
    let begin = file.metadata().unwrap().len().saturating_sub(100_000);
    file.seek(SeekFrom::Start(begin)).unwrap();
    let mut end = Vec::new();
    file.read_to_end(&mut end).unwrap();
    let end = String::from_utf8_lossy(&end).into_owned();
    let last = end.lines().last().map(serde_json::from_str::<Value>);
    let Some(Ok(seq)) = last.map(|last| last.map(|record| record["seq"].as_u64())) else {
        return false;
    };
    let Some(seq) = seq else { return false };
    let seq = seq.saturating_sub(200);
    let hashes = state.with_file_name("state-checkpoints").join("hashes");
    let there = hashes.metadata().map_or(0, |meta| meta.len() / 32);
    there >= 2 * seq - u64::from(seq.count_ones())
}

/// A process and when it started, because pids are used again.
struct Member {
    pid: u32,
    started: String,
}

impl Member {
    fn of(pid: u32) -> Option<(Self, u32, bool)> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, rest) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        let started = (*fields.get(19)?).to_owned();
        let parent = fields.get(1)?.parse().ok()?;
        Some((Self { pid, started }, parent, fields[0] == "Z"))
    }

    fn lives(&self) -> bool {
        let gone = kill(Pid::from_raw(self.pid as i32), None) == Err(Errno::ESRCH);
        !gone
            && Self::of(self.pid).is_some_and(|(now, _, dead)| now.started == self.started && !dead)
    }
}

/// Every process that descends from this one.
fn family(first: u32) -> Vec<Member> {
    let all: Vec<_> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| Member::of(entry.ok()?.file_name().to_str()?.parse().ok()?))
        .collect();
    let mut found = BTreeSet::from([first]);
    loop {
        let more: Vec<u32> = all
            .iter()
            .filter(|(one, parent, _)| found.contains(parent) && !found.contains(&one.pid))
            .map(|(one, ..)| one.pid)
            .collect();
        if more.is_empty() {
            let of_it = all.into_iter().map(|(one, ..)| one);
            return of_it.filter(|one| found.contains(&one.pid)).collect();
        }
        found.extend(more);
    }
}

/// In CI one life of each kind; `CS_KILLS` says how many.
#[test]
fn a_dashboard_killed_at_any_moment_of_any_life_loses_nothing_and_invents_nothing() {
    const KINDS: u64 = 10;
    /// After so many kills a new log follows, so that segments change again.
    const WORLD: usize = 20;
    let number = |name: &str| std::env::var(name).ok().map(|n| n.parse::<u64>().unwrap());
    let wanted = number("CS_KILLS").unwrap_or(KINDS);
    let seed = number("CS_KILLS_SEED").unwrap_or(1);
    let mut dice = Dice(seed);
    let mut done: u64 = 0;
    let mut by_kind: BTreeMap<&str, u64> = BTreeMap::new();
    while done < wanted {
        let mut world = World::new(dice.below(u64::from(u32::MAX)));
        while world.kills < WORLD && done < wanted {
            let kind = if done < KINDS {
                done
            } else {
                world.dice.below(KINDS)
            };
            world.one(kind);
            done += 1;
            *by_kind.entry(world.moment).or_default() += 1;
            if wanted > KINDS {
                eprintln!("kill {done}: {}", world.moment);
            }
        }
        world.end();
    }
    eprintln!("{done} kills, seed {seed}: {by_kind:?}");
}
