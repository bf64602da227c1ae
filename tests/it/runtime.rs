//! `countersign setup` and `doctor`, with a real pip and without the network.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use given::is_given;

use crate::common::given;

const MOUNTS: &str = "mounts of one's own: unshare -Urm";

/// The binary with its own home, and a pip that finds packages only at `index`.
fn countersign(home: &Path, index: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("PIP_")
            || text.starts_with("COUNTERSIGN_")
            || text.ends_with("_PROXY")
            || text.ends_with("_proxy")
        {
            command.env_remove(&name);
        }
    }
    command
        .env("XDG_DATA_HOME", home.join("data"))
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("XDG_STATE_HOME", home.join("state"))
        .env("XDG_RUNTIME_DIR", home)
        .env("PIP_CONFIG_FILE", "/dev/null")
        .env("PIP_CACHE_DIR", home.join("cache"))
        .env("PIP_INDEX_URL", format!("http://{index}/simple"))
        .env("PIP_RETRIES", "0")
        // No test here may end by pip's timeout.
        .env("PIP_TIMEOUT", "600")
        .stdin(Stdio::null());
    command
}

fn run(command: &mut Command, args: &[&str]) -> Output {
    command.args(args).output().unwrap()
}

/// Names in the folder of managed environments.
fn environment_names(home: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(home.join("data/countersign/python")) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_setup_without_a_network_says_so_and_leaves_nothing_half_made() {
    let home = tempfile::tempdir().unwrap();
    // Nobody listens there: no other test gets a port below 1024.
    let mut command = countersign(home.path(), "127.0.0.1:1");
    // If these reached pip, its output would not show the cause.
    command
        .env("PIP_QUIET", "3")
        .env("PYTHONHOME", "/nonexistent");
    let output = run(&mut command, &["setup"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("cannot be downloaded"), "{error}");
    assert!(error.contains("HTTPS_PROXY"), "{error}");
    assert_eq!(environment_names(home.path()), ["lock", "setup.log"]);
    let log = fs::read_to_string(home.path().join("data/countersign/python/setup.log")).unwrap();
    assert!(log.contains("cloudpickle"), "{log}");
    // Without a terminal, progress is plain lines.
    assert!(
        error.contains("making the environment\n") && !error.contains('\x1b'),
        "{error}"
    );
}

/// Needs mounts.
#[test]
fn a_full_disk_is_named_with_a_remedy() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    fs::create_dir(&data).unwrap();
    let script = "mount -t tmpfs -o size=4m,mode=755 none \"$1\" || exit 77; shift; \"$@\"; code=$?; \
                  ls -A \"$XDG_DATA_HOME/countersign/python\"; exit $code";
    let inner = countersign(home.path(), "127.0.0.1:1");
    let mut command = Command::new("unshare");
    command
        .args(["-Urm", "sh", "-c", script, "sh"])
        .arg(&data)
        .arg(inner.get_program())
        .arg("setup")
        .stdin(Stdio::null());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let Ok(output) = command.output() else {
        is_given(false, MOUNTS);
        return;
    };
    if output.status.code() == Some(77)
        || !String::from_utf8_lossy(&output.stderr).contains("environment")
    {
        is_given(false, MOUNTS);
        return;
    }
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("free some space"), "{error}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "lock\nsetup.log\n");
}

#[test]
fn a_killed_setup_leaves_nothing_usable_and_the_next_one_waits_for_its_pip() {
    let home = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let index = listener.local_addr().unwrap().to_string();
    let mut first = countersign(home.path(), &index)
        .arg("setup")
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // pip sends its request and never gets an answer.
    let (connection, _): (TcpStream, _) = listener.accept().unwrap();
    first.kill().unwrap();
    first.wait().unwrap();
    let remaining = environment_names(home.path());
    assert!(
        remaining.iter().any(|n| n.starts_with(".making-")),
        "{remaining:?}"
    );
    assert!(
        remaining
            .iter()
            .all(|n| n.starts_with('.') || n == "lock" || n == "setup.log"),
        "{remaining:?}"
    );

    let mut second = countersign(home.path(), &index)
        .arg("setup")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(second.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert!(line.contains("waiting for another setup"), "{line}");
    // The orphaned pip's request fails, so it ends; then the second setup gets its turn and fails
    // too.
    drop(listener);
    drop(connection);
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert_eq!(second.wait().unwrap().code(), Some(1), "{rest}");
    assert!(rest.contains("cannot be downloaded"), "{rest}");
    assert_eq!(environment_names(home.path()), ["lock", "setup.log"]);
}

#[test]
fn a_python_of_the_user_is_probed_and_left_unchanged() {
    let home = tempfile::tempdir().unwrap();
    let python = countersign::runtime::find_python(None).unwrap().executable;
    let own = python.display().to_string();
    let output = run(
        &mut countersign(home.path(), "127.0.0.1:1"),
        &["setup", "--python", &own],
    );
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(
        stdout.contains("your own: Python 3.") && stdout.contains(&own),
        "{stdout}"
    );
    assert!(environment_names(home.path()).is_empty());

    let output = run(
        &mut countersign(home.path(), "127.0.0.1:1"),
        &["setup", "--python", "/bin/cat"],
    );
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(error.contains("working Python 3.11"), "{error}");
}

#[test]
fn a_path_without_python_is_reported_with_a_remedy() {
    let home = tempfile::tempdir().unwrap();
    let mut command = countersign(home.path(), "127.0.0.1:1");
    let output = run(command.env("PATH", home.path()), &["setup"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        error.contains("no Python 3.11 or later") && error.contains("--python"),
        "{error}"
    );
}

#[test]
fn the_doctor_tries_each_facility_and_names_a_remedy_for_a_missing_one() {
    let home = tempfile::tempdir().unwrap();
    let mut command = countersign(home.path(), "127.0.0.1:1");
    let output = run(&mut command, &["doctor", "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = json["checks"].as_array().unwrap();
    let check_named = |name: &str| {
        checks
            .iter()
            .find(|c| c["name"] == name)
            .unwrap_or_else(|| panic!("no {name}: {json:#}"))
    };
    for name in [
        "kernel",
        "user",
        "user namespaces",
        "landlock",
        "seccomp",
        "tier kernel",
        "configuration",
        "python",
        "managed environment",
        "warm starts",
        "socket",
        "agents",
        "state folder",
        "colours",
    ] {
        check_named(name);
    }
    assert_eq!(check_named("managed environment")["state"], "note");
    assert!(
        check_named("agents")["found"]
            .as_str()
            .unwrap()
            .contains("agents share your uid")
    );
    for check in checks {
        if check["state"] == "missing" {
            assert!(check["mend"].is_string(), "{check}");
        }
    }
    let missing = checks.iter().any(|c| c["state"] == "missing");
    assert_eq!(json["ok"], !missing);
    assert_eq!(output.status.code(), Some(i32::from(missing)));

    let warm = check_named("warm starts");
    assert_eq!(warm["state"], "note");
    let found = warm["found"].as_str().unwrap();
    assert!(
        found.contains("not known") || found.contains("tier kernel"),
        "{warm}"
    );

    let mut command = countersign(home.path(), "127.0.0.1:1");
    let output = run(&mut command, &["doctor", "--python", "/nonexistent"]);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{stdout}");
    assert!(
        stdout.contains("MISSING python") && stdout.contains("→"),
        "{stdout}"
    );
    assert!(
        stdout.contains("colours"),
        "one fault hides no other: {stdout}"
    );
}

#[test]
fn the_doctor_makes_a_warm_start_with_the_python_that_is_named() {
    let home = tempfile::tempdir().unwrap();
    let mut command = countersign(home.path(), "127.0.0.1:1");
    let question = ["-c", "import sys; print(sys.executable)"];
    let python = Command::new("python3").args(question).output().unwrap();
    let python = String::from_utf8(python.stdout).unwrap();
    let output = run(
        &mut command,
        &["doctor", "--json", "--python", python.trim()],
    );
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = json["checks"].as_array().unwrap();
    let check_named = |name: &str| checks.iter().find(|c| c["name"] == name).unwrap();
    let kernel = check_named("tier kernel");
    if !is_given(
        kernel["state"] != "missing",
        &format!("tier kernel: {kernel}"),
    ) {
        return;
    }
    let warm = check_named("warm starts");
    assert_eq!(warm["state"], "ok", "{warm}");
    let found = warm["found"].as_str().unwrap();
    assert!(found.contains("ready after"), "{warm}");
}
