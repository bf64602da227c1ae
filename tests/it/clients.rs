//! What agents use: `assets/clients/countersign.py` by itself, and its executors in the frameworks that they are for, each from
//! its registry, with a scripted model and without a network.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use countersign::model::Digest;
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::common::dash::{Dash, Options, PATIENCE};
use crate::common::given::is_handy;
use crate::common::interpreters::interpreters;

const CLIENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/clients");
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients");
const REQUIREMENTS: &str = include_str!("../clients/requirements.txt");

/// The frameworks, each a script.
const FRAMEWORKS: [&str; 8] = [
    "with_smolagents.py",
    "with_autogen.py",
    "with_ag2.py",
    "with_dspy.py",
    "with_langgraph.py",
    "with_pydantic_ai.py",
    "with_openai_agents.py",
    "with_llama_index.py",
];

fn dashboard() -> Dash {
    Dash::with(&Options {
        config: "[datasets.sales]\npath = \"sales.csv\"\n",
        files: &[("sales.csv", "region,amount\nnorth,1\nnorth,2\nsouth,3\n")],
        ..Options::default()
    })
}

/// An agent's process, which asks for keys by lines on its standard output (`tests/clients/scripted.py`).
struct Script {
    name: String,
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    errors: PathBuf,
}

impl Script {
    fn start(python: &Path, dash: &Dash, name: &str) -> Self {
        let errors = dash.root().join(format!("{name}.stderr"));
        let home = dash.root().display().to_string();
        let mut child = Command::new(python)
            .arg(format!("{SCRIPTS}/{name}"))
            .env_clear()
            .env("PATH", path())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("HOME", &home)
            .env("TMPDIR", &home)
            .env("PYTHONPATH", format!("{CLIENTS}:{SCRIPTS}"))
            .env("COUNTERSIGN_SOCKET", &dash.socket)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&errors).unwrap())
            .spawn()
            .unwrap();
        let (tell, lines) = mpsc::channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            name: name.to_owned(),
            stdin: child.stdin.take().unwrap(),
            child,
            lines,
            errors,
        }
    }

    fn tell(&mut self, line: &str) {
        // A script that ended says why below.
        let _ = writeln!(self.stdin, "{line}");
    }

    /// Lets it go on, and does what it asks for until it ends.
    fn play(mut self, dash: &mut Dash) {
        self.tell("go");
        let mut said = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            let asked = line.strip_prefix('@').or(line.strip_prefix('?'));
            if let Some(asked) = asked {
                let (what, words) = asked.split_once(' ').unwrap_or((asked, ""));
                perform(dash, what, words);
                if line.starts_with('?') {
                    self.tell(what);
                }
            }
            said.push(line);
        }
        let _ = self.child.kill();
        let ended = self.child.wait().unwrap();
        let errors = fs::read_to_string(&self.errors).unwrap();
        assert!(
            ended.success() && said.last().is_some_and(|line| line == "passed"),
            "{}: {said:#?}\n{errors}\n{}",
            self.name,
            dash.text()
        );
    }
}

/// Where agents find the program.
fn path() -> String {
    let bin = Path::new(env!("CARGO_BIN_EXE_countersign")).parent();
    format!(
        "{}:{}",
        bin.unwrap().display(),
        std::env::var("PATH").unwrap()
    )
}

/// What the person does.
fn perform(dash: &mut Dash, what: &str, words: &str) {
    match what {
        "pending" => drop(waiting(dash)),
        "grant" => grant(dash),
        "deny" => {
            let before = waiting(dash);
            dash.go_to_urgent();
            dash.until(&format!("d{words}\r"), "the denial", |dash, _| {
                decided(dash, &before)
            });
        }
        "kill" => {
            dash.signal(Signal::SIGKILL);
            dash.wait_for("the end", |dash, _| {
                UnixStream::connect(&dash.socket).is_err()
            });
        }
        "start" => {
            dash.then(&[]);
            dash.wait_for("the socket", |dash, _| {
                UnixStream::connect(&dash.socket).is_ok()
            });
        }
        other => panic!("a script asks for {other:?}"),
    }
}

/// The ids of what is pending, as the log says.
fn pending(dash: &Dash) -> Vec<Value> {
    let output = dash.cli(&["audit", "list", "--json"]);
    let list: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let rows = list.as_array().into_iter().flatten();
    rows.filter(|row| row["state"] == "pending")
        .map(|row| row["id"].clone())
        .collect()
}

/// Whether one of these is no longer pending. Others may have arrived since.
fn decided(dash: &Dash, before: &[Value]) -> bool {
    let now = pending(dash);
    before.iter().any(|id| !now.contains(id))
}

fn waiting(dash: &Dash) -> Vec<Value> {
    dash.wait_for("a proposal", |dash, _| !pending(dash).is_empty());
    pending(dash)
}

/// Reads and grants the most urgent proposal.
fn grant(dash: &mut Dash) {
    let before = waiting(dash);
    let deadline = Instant::now() + PATIENCE;
    while !decided(dash, &before) {
        assert!(Instant::now() < deadline, "not granted:\n{}", dash.text());
        let mut text = dash.open_sheet();
        while text.contains("of this sheet not seen") {
            dash.press(" ");
            let most = Instant::now() + Duration::from_millis(500);
            text = dash.wait_while(most, |now| now.contains("of this sheet not seen"));
        }
        match dash.digits() {
            Some(digits) => {
                dash.keys(&digits);
                dash.press("\r");
            }
            None => dash.press("y"),
        }
        // The log is a moment behind, and the next proposal may be on the screen by then. A dashboard that stalled did not
        // take the keys.
        let most = Instant::now() + Duration::from_secs(10);
        dash.wait_while(most, |text| text.contains("GRANT?"));
        while !decided(dash, &before) && Instant::now() < most {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn list(dash: &Dash) -> Vec<String> {
    let output = dash.cli(&["audit", "list", "--json"]);
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = list.as_array().unwrap().iter();
    rows.map(|row| format!("{} {}", row["state"].as_str().unwrap(), row["title"]))
        .collect()
}

#[test]
fn the_client_gets_every_end_and_proposes_once_through_broken_connections_and_restarts() {
    let mut dash = dashboard();
    let python = &interpreters()[0];
    Script::start(python, &dash, "client.py").play(&mut dash);
    let all = list(&dash);
    let count = |end: &str| all.iter().filter(|row| row.ends_with(end)).count();
    // Once by each of the two clients.
    assert_eq!(count(" \"broken\""), 2, "{all:#?}");
    assert_eq!(count("succeeded \"broken\""), 2, "{all:#?}");
    assert_eq!(count("unattended \"restarted\""), 2, "{all:#?}");
    assert_eq!(count("succeeded \"restarted\""), 2, "{all:#?}");
    assert_eq!(count("withdrawn \"interrupted\""), 1, "{all:#?}");
    assert_eq!(count("withdrawn \"cancelled\""), 1, "{all:#?}");
    assert_eq!(count("withdrawn \"early\""), 1, "{all:#?}");
    assert!(dash.cli(&["audit", "verify"]).status.success());
}

#[test]
fn the_executors_work_in_the_frameworks_that_they_are_for() {
    let mut dash = dashboard();
    let node = Command::new("node").arg("--version").output();
    if is_handy(node.is_ok_and(|node| node.status.success()), "node") {
        Script::start(Path::new("node"), &dash, "opencode.mjs").play(&mut dash);
        let all = list(&dash);
        for row in ["succeeded \"--json\"", "withdrawn \"opencode, given up\""] {
            assert!(all.iter().any(|one| one == row), "{row}: {all:#?}");
        }
    }
    let Some(python) = packages() else {
        return;
    };
    let scripts = FRAMEWORKS.map(|name| Script::start(&python, &dash, name));
    for script in scripts {
        script.play(&mut dash);
    }
    assert!(dash.cli(&["audit", "verify"]).status.success());
}

/// The code blocks of a text.
fn blocks(text: &str) -> Vec<&str> {
    let fenced = text.split("\n```").skip(1).step_by(2);
    fenced
        .map(|block| block.split_once('\n').unwrap().1)
        .collect()
}

#[test]
fn the_examples_of_readme_and_of_the_guide_run_as_they_stand() {
    const README: &str = include_str!("../../README.md");
    const GUIDE: &str = include_str!("../../assets/docs/guide.md");
    let all = blocks(README);
    let block = |begins: &str| {
        let found = all.iter().find(|block| block.starts_with(begins));
        *found.unwrap_or_else(|| panic!("README has no example that begins with {begins:?}"))
    };
    let config = block("[datasets.sales]\n");
    let submit = block("echo 'print(sales");
    let python = block("import json");
    // Each of these begins something that other tests begin: a build, a dashboard, an agent of somebody else's.
    let others = ["cargo ", "countersign ", "claude "];
    for block in &all {
        let run = [config, submit, python].contains(block);
        let other = others.iter().any(|other| block.starts_with(other));
        assert!(run || other, "no test runs this example:\n{block}");
    }
    let mut dash = Dash::with(&Options {
        config,
        files: &[("sales.csv", "region,amount\nnorth,1\nnorth,2\nsouth,3\n")],
        ..Options::default()
    });
    // Agents find the socket in the runtime folder.
    let runtime = dash.root().join("runtime");
    fs::create_dir(&runtime).unwrap();
    std::os::unix::fs::symlink(dash.root().join("run"), runtime.join("countersign")).unwrap();
    let python3 = interpreters()[0].clone();
    let sh = Path::new("sh");
    for (program, flags, code, printed) in [
        (
            sh,
            &["-c"][..],
            submit,
            "region\nnorth    3\nsouth    3\nName: amount, dtype: int64\n",
        ),
        (&python3, &["-I", "-c"], python, "42\n\n"),
    ] {
        let child = Command::new(program)
            .args(flags)
            .arg(code)
            .env_clear()
            .env("PATH", path())
            .env("HOME", dash.root())
            .env("XDG_RUNTIME_DIR", &runtime)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        grant(&mut dash);
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "{told}");
    }
    let line = blocks(GUIDE)
        .into_iter()
        .find(|block| block.starts_with("{\"jsonrpc\""));
    let mut agent = dash.agent();
    agent.raw(format!("{}\n", line.unwrap()).as_bytes());
    let answer = agent.answer(1, PATIENCE);
    assert_eq!(answer["result"]["state"], "pending", "{answer}");
    // The frameworks' own examples are run by the frameworks' scripts, the client's by its own.
    let (_, chapter) = GUIDE.split_once("\n## Agents in frameworks\n").unwrap();
    let (chapter, _) = chapter.split_once("\n## ").unwrap();
    let own = ["client.py"];
    let scripts = FRAMEWORKS.iter().chain(&own);
    let scripts = scripts.map(|name| fs::read_to_string(format!("{SCRIPTS}/{name}")).unwrap());
    let scripts: Vec<String> = scripts.collect();
    let mut examples = 0;
    for section in chapter.split("\n### ").skip(1) {
        let heading = section.lines().next().unwrap();
        let run = format!("example(\"{heading}\"");
        assert!(
            scripts.iter().any(|script| script.contains(&run)),
            "{heading}"
        );
        assert_eq!(blocks(section).len(), 1, "{heading}");
        examples += 1;
    }
    assert_eq!(examples, FRAMEWORKS.len() + 2);
}

/// A Python with the frameworks. Made once for these requirements, under a lock; `None` without Python 3.11 or without a
/// registry to install them from.
fn packages() -> Option<PathBuf> {
    let python = cfg!(target_arch = "x86_64").then(python_311).flatten();
    let made = python.and_then(|python| make(&python).ok());
    is_handy(made.is_some(), "package environment").then_some(made)?
}

fn python_311() -> Option<PathBuf> {
    let asked = "import sys; sys.exit(sys.version_info[:2] != (3, 11))";
    interpreters().into_iter().find(|python| {
        let status = Command::new(python).args(["-I", "-c", asked]).status();
        status.is_ok_and(|status| status.success())
    })
}

fn make(python: &Path) -> Result<PathBuf, String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("clients");
    fs::create_dir_all(&folder).unwrap();
    let lock = fs::File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let wanted = Digest::of(REQUIREMENTS.as_bytes()).hex();
    let (env, made) = (folder.join("env"), folder.join("made"));
    if fs::read_to_string(&made).is_ok_and(|made| made == wanted) {
        return Ok(env.join("bin/python3"));
    }
    let run = |command: &mut Command| {
        let output: Output = command.stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        output.status.success().then_some(()).ok_or(told)
    };
    let _ = fs::remove_dir_all(&env);
    run(Command::new(python).args(["-m", "venv"]).arg(&env))?;
    run(Command::new(env.join("bin/python3"))
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--no-compile",
        ])
        .args(["--only-binary=:all:", "--require-hashes", "-r"])
        .arg(format!("{SCRIPTS}/requirements.txt")))
    .inspect_err(|told| {
        // Another file than the one that was pinned is no missing network.
        assert!(!told.contains("DO NOT MATCH THE HASHES"), "{told}");
    })?;
    fs::write(&made, wanted).unwrap();
    Ok(env.join("bin/python3"))
}
