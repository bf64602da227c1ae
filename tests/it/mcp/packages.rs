//! Agents with the packages that the protocol's authors publish: `mcp` of PyPI, `@modelcontextprotocol/sdk` and
//! `@modelcontextprotocol/client` of npm, and the Inspector for terminals. Pinned by hashes, installed once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::common::dash::{Dash, environment};
use crate::common::given;
use crate::common::interpreters::interpreters;

use super::raw::{part, text};
use super::{dashboard, grant};

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp");
const BINARY: &str = env!("CARGO_BIN_EXE_countersign");

/// A folder that is filled once, under a lock, for each state of the pins.
fn made(
    name: &str,
    pins: &Path,
    fill: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    let lock = fs::File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let pins = fs::read_to_string(pins).unwrap();
    let content = folder.join("content");
    if fs::read_to_string(folder.join("made")).is_ok_and(|made| made == pins) {
        return Ok(content);
    }
    let _ = fs::remove_dir_all(&content);
    fs::create_dir_all(&content).unwrap();
    fill(&content)?;
    fs::write(folder.join("made"), pins).unwrap();
    Ok(content)
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|e| e.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn python() -> Result<PathBuf, String> {
    let pins = Path::new(HERE).join("client.txt");
    let content = made("mcp-python", &pins, |folder| {
        run(Command::new(&interpreters()[0])
            .args(["-m", "venv"])
            .arg(folder))?;
        run(Command::new(folder.join("bin/python3"))
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--only-binary=:all:",
                "--require-hashes",
                "-r",
            ])
            .arg(&pins))
    })?;
    Ok(content.join("bin/python3"))
}

fn npm() -> Result<PathBuf, String> {
    let pins = Path::new(HERE).join("npm/package-lock.json");
    let content = made("mcp-npm", &pins, |folder| {
        for file in ["package.json", "package-lock.json"] {
            fs::copy(Path::new(HERE).join("npm").join(file), folder.join(file))
                .map_err(|e| e.to_string())?;
        }
        run(Command::new("npm")
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
            .current_dir(folder))
    })?;
    let script = content.join("client.mjs");
    fs::copy(Path::new(HERE).join("npm/client.mjs"), &script).map_err(|e| e.to_string())?;
    Ok(script)
}

fn agent(dash: &Dash, program: &Path, args: &[&str]) -> Child {
    let mut command = Command::new(program);
    command
        .env_clear()
        .envs(environment(dash.root()))
        .args(args);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Grants the agent's proposals and judges what it saw.
fn passes(dash: &mut Dash, agent: Child, title: &str, version: Option<&str>) -> Value {
    grant(dash, title);
    // The package with tasks of revision 2025-11-25 makes one.
    if title.starts_with("npm sdk") {
        grant(dash, &format!("{title}, a task"));
    }
    let output = agent.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{title}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(seen["version"].as_str(), version, "{title}: {seen}");
    assert_eq!(seen["tools"][0], "run_python", "{title}");
    assert!(
        seen["progress"][0]
            .as_str()
            .unwrap()
            .contains("waiting for a person"),
        "{title}: {seen}"
    );
    let ran = &seen["ran"];
    assert_eq!(
        ran["structuredContent"]["stdout"], "six times 7\n",
        "{title}: {ran}"
    );
    let kinds: Vec<&str> = ran["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| b["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["text", "text", "image", "resource_link"], "{title}");
    assert_eq!(seen["left"], "left", "{title}");
    assert_eq!(
        seen["waits"]["structuredContent"]["state"], "pending",
        "{title}"
    );
    assert_eq!(
        seen["blocked"]["structuredContent"]["state"], "blocked",
        "{title}"
    );
    assert_eq!(seen["wrong"]["isError"], true, "{title}");
    assert!(
        text(&seen["wrong"]).contains("`id` must be a string"),
        "{title}"
    );
    seen
}

#[test]
fn the_package_of_pypi_works_in_both_lifecycles() {
    let python = python();
    if !given::is_handy(python.is_ok(), "package environment for `mcp`") {
        return given::say(&python.unwrap_err());
    }
    let python = python.unwrap();
    let script = Path::new(HERE).join("client.py");
    let mut dash = dashboard();
    for (mode, version) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let title = format!("pypi, {mode}");
        let args = ["-I", "-B", script.to_str().unwrap(), BINARY, mode, &title];
        let agent = agent(&dash, &python, &args);
        passes(&mut dash, agent, &title, Some(version));
    }
}

#[test]
fn the_packages_of_npm_work_in_both_lifecycles() {
    let node = Command::new("node").arg("--version").output();
    if !given::is_handy(node.is_ok_and(|node| node.status.success()), "node") {
        return;
    }
    let script = npm();
    if !given::is_handy(script.is_ok(), "package folder for npm's clients") {
        return given::say(&script.unwrap_err());
    }
    let script = script.unwrap();
    let mut dash = dashboard();
    for (package, mode, version) in [
        ("sdk", "legacy", None),
        ("client", "legacy", Some("2025-11-25")),
        ("client", "auto", Some("2026-07-28")),
    ] {
        let title = format!("npm {package}, {mode}");
        let args = [script.to_str().unwrap(), BINARY, package, mode, &title];
        let agent = agent(&dash, Path::new("node"), &args);
        let seen = passes(&mut dash, agent, &title, version);
        assert_eq!(seen["cancelled"], true, "{title}");
        if package == "sdk" {
            assert_eq!(seen["task"][0], "taskCreated", "{seen}");
            assert_eq!(
                seen["task"].as_array().unwrap().last().unwrap(),
                "2\n",
                "{seen}"
            );
        }
        let listed = dash.cli(&["audit", "list", "--json"]);
        let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
        let cancelled = format!("{title}, cancelled");
        let one = listed
            .as_array()
            .unwrap()
            .iter()
            .find(|p| p["title"] == *cancelled);
        assert_eq!(one.unwrap()["state"], "withdrawn", "{title}");
    }
    // The Inspector's program for terminals, one call of a tool for each start.
    let modules = script.with_file_name("node_modules/@modelcontextprotocol");
    let inspector = modules.join("inspector-cli/build/cli.js");
    let inspect = |dash: &Dash, more: &[&str]| {
        let args = [
            &[
                inspector.to_str().unwrap(),
                "--cli",
                BINARY,
                "mcp",
                "--method",
            ],
            more,
        ]
        .concat();
        agent(dash, Path::new("node"), &args)
    };
    let told = |agent: Child| -> Value {
        let output = agent.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_slice(&output.stdout).expect(&said)
    };
    let listed = told(inspect(&dash, &["tools/list"]));
    assert_eq!(listed["tools"][0]["name"], "run_python", "{listed}");
    let title = "title=the inspector";
    let call = [
        "tools/call",
        "--tool-name",
        "run_python",
        "--tool-arg",
        "code=print(6 * 7)",
        title,
    ];
    let call = inspect(&dash, &call);
    grant(&mut dash, "the inspector");
    let ran = told(call);
    assert_eq!(ran["structuredContent"]["state"], "succeeded", "{ran}");
    assert_eq!(part(&ran, "stdout"), "42\n", "{ran}");
}
