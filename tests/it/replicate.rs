//! `countersign replicate`: kept code runs again only as it was granted, after a person confirms.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::path::PathBuf;
use std::process::{Command, Output};

use common::dash::{Dash, Options, environment};
use common::python;
use serde_json::{Value, json};

const CODE: &str =
    "total = sales['amount'].sum()\nprint('total', total, factor['by'])\ntotal * factor['by']";

const TEAM: &str = "name = \"team\"\nextends = \"analysis\"\n";

/// A dashboard that was quit after one successful run, and the file with the kept code.
fn dashboard_with_kept_code() -> (Dash, PathBuf) {
    let mut dash = Dash::with(&Options {
        config: "profile = \"team\"\nprofiles = [\"team\"]\n\
                 [datasets.sales]\npath = \"sales.csv\"\n",
        policies: &[("team.toml", TEAM)],
        files: &[("sales.csv", "region,amount\nnorth,1\nsouth,3\n")],
        ..Options::default()
    });
    let mut agent = dash.agent();
    let proposal = agent.propose(json!({
        "code": CODE,
        "inputs": {"sales": {"dataset": "sales"}, "factor": {"json": {"by": 10}}},
    }));
    dash.grant(&mut agent, &proposal);
    assert_eq!(agent.outcome(&proposal["id"])["state"], "succeeded");
    let failed = agent.code("1 / 0\n");
    dash.grant(&mut agent, &failed);
    assert_eq!(agent.outcome(&failed["id"])["state"], "failed");
    let file = dash.wait_kept(&proposal);
    let all = std::fs::read_dir(dash.state.join("kept")).unwrap().count();
    assert_eq!(all, 1, "only what succeeded is kept");
    drop(agent);
    dash.keys("q");
    (dash, file)
}

impl Dash {
    fn wait_kept(&self, proposal: &Value) -> PathBuf {
        let id = proposal["id"].as_str().unwrap().to_owned();
        let mut found = None;
        self.wait_for("the kept code", |dash, _| {
            let Ok(entries) = std::fs::read_dir(dash.state.join("kept")) else {
                return false;
            };
            found = entries
                .map(|e| e.unwrap().path())
                .find(|p| p.to_str().unwrap().ends_with(&format!("_{id}.py")));
            // The file exists before its content is written.
            let content = found.as_ref().and_then(|path| std::fs::metadata(path).ok());
            content.is_some_and(|meta| meta.len() > 0)
        });
        found.unwrap()
    }
}

/// The managed environment's Python, used as the user's own.
fn own_python() -> String {
    let prefix = python::managed_env().prefix;
    prefix.join("bin/python3").display().to_string()
}

fn log_text(dash: &Dash) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(dash.state.join("log")).unwrap() {
        text.push_str(&std::fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    text
}

/// Runs the command without a terminal.
fn replicate_without_terminal(dash: &Dash, file: &str) -> Output {
    Command::new("setsid")
        .arg("--wait")
        .arg(env!("CARGO_BIN_EXE_countersign"))
        .args(["replicate", file])
        .env_clear()
        .envs(environment(dash.root()))
        .output()
        .unwrap()
}

#[track_caller]
fn assert_refused(dash: &Dash, file: &str, why: &str) {
    let output = replicate_without_terminal(dash, file);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains(why), "{stderr}");
    assert!(output.stdout.is_empty());
    assert!(!log_text(dash).contains("\"kind\":\"replicated\""));
}

#[test]
fn r5_kept_code_is_replicated_after_a_person_agreed() {
    let (mut dash, file) = dashboard_with_kept_code();
    let file = file.to_str().unwrap().to_owned();
    let python = own_python();
    let args = ["--python", python.as_str(), "replicate", file.as_str()];

    // Any answer but the digits cancels, and nothing is recorded.
    dash.then(&args);
    let text = dash.wait_text("to run it");
    assert!(
        text.contains("    1  total = sales['amount'].sum()"),
        "{text}"
    );
    assert!(
        text.contains("given    factor: 9 bytes from its agent"),
        "{text}"
    );
    assert!(text.contains("given    sales: data set sales"), "{text}");
    assert!(!text.contains("changed"), "{text}");
    dash.keys("y\r");
    dash.wait_text("nothing was run");
    assert_eq!(dash.wait_exit().exit_code(), 1);
    assert!(!log_text(&dash).contains("\"kind\":\"replicated\""));

    dash.then(&args);
    let text = dash.wait_text("to run it");
    let (_, rest) = text.split_once("type ").unwrap();
    let digits = rest[..4].to_owned();
    dash.keys(&format!("{digits}\r"));
    dash.wait_text("total 4 10");
    dash.wait_text("40");
    assert_eq!(dash.wait_exit().exit_code(), 0);
    assert!(log_text(&dash).contains("\"kind\":\"replicated\""));
    assert!(dash.cli(&["audit", "verify"]).status.success());

    // A data set with changed content is reported, and the person decides.
    std::fs::write(
        dash.root().join("config/sales.csv"),
        "region,amount\nnorth,5\n",
    )
    .unwrap();
    dash.then(&args);
    dash.wait_text("changed  the data set sales has another content");
}

#[test]
fn r5_replicate_refuses_code_without_a_grant_and_a_success() {
    let (mut dash, file) = dashboard_with_kept_code();
    dash.wait_exit();
    let granted = std::fs::read_to_string(&file).unwrap();
    let copy = dash.root().join("copy.py");
    let path = copy.to_str().unwrap().to_owned();
    let write = |text: &str| std::fs::write(&copy, text).unwrap();

    write(&granted);
    assert_refused(&dash, &path, "asks on a terminal");
    write(&format!("{granted}\nimport subprocess"));
    assert_refused(&dash, &path, "its code is not what was granted");
    write("print(1)\n");
    assert_refused(&dash, &path, "is not a kept run");
    let id = file
        .to_str()
        .unwrap()
        .rsplit_once('_')
        .unwrap()
        .1
        .replace(".py", "");
    write(&granted.replace(&id, "01900000-0000-7000-8000-000000000000"));
    assert_refused(&dash, &path, "knows no granted run");

    // A failed run, disguised as a kept one.
    let list = String::from_utf8(dash.cli(&["audit", "list"]).stdout).unwrap();
    let failed = list.lines().find(|l| l.contains("failed")).unwrap();
    let failed = failed.split_whitespace().find(|w| w.len() == 36).unwrap();
    let header = granted.rsplit_once(CODE).unwrap().0.replace(&id, failed);
    write(&format!("{header}1 / 0\n"));
    assert_refused(&dash, &path, "did not succeed");

    // The code is checked again under the profile it was granted under.
    write(&granted);
    let policy = dash.root().join("config/policies/team.toml");
    std::fs::write(&policy, format!("{TEAM}[attributes]\ndeny = [\"sum\"]\n")).unwrap();
    assert_refused(
        &dash,
        &path,
        "profile `team` does not let it pass any more: blocked, line 1",
    );
    std::fs::remove_file(&policy).unwrap();
    let config = dash.root().join("config/config.toml");
    std::fs::write(&config, "[datasets.sales]\npath = \"sales.csv\"\n").unwrap();
    assert_refused(&dash, &path, "there is no profile `team` any more");
    std::fs::write(&policy, TEAM).unwrap();
    std::fs::set_permissions(&policy, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();

    // A log of which less is known than before, and one that was written anew.
    let latest = dash.root().join("state-checkpoints/latest");
    let signed = std::fs::read(&latest).unwrap();
    std::fs::remove_file(&latest).unwrap();
    assert_refused(&dash, &path, "latest");
    std::fs::write(&latest, signed).unwrap();
    let log = dash.state.join("log/00000001.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, anew(&text)).unwrap();
    for name in ["journal-0", "journal-1"] {
        std::fs::remove_file(dash.state.join(name)).unwrap();
    }
    assert_refused(&dash, &path, "another root at size");

    // A log that was changed proves nothing.
    std::fs::write(&log, text.replacen("\"seq\":2,", "\"seq\":3,", 1)).unwrap();
    assert_refused(&dash, &path, "the log is damaged");
}

/// The records with the last one's time changed, and a sound chain.
fn anew(text: &str) -> String {
    use countersign::model::Digest;
    let lines: Vec<&str> = text.lines().collect();
    let (last, before) = lines.split_last().unwrap();
    let (body, _) = last.split_once(",\"hash\":\"").unwrap();
    let (begin, rest) = body.split_once("\"ts\":\"20").unwrap();
    let body = format!("{begin}\"ts\":\"21{rest}");
    let hash = Digest::of(body.as_bytes()).hex();
    format!("{}\n{body},\"hash\":\"{hash}\"}}\n", before.join("\n"))
}

#[test]
fn r5_kept_code_is_removed_after_its_days_and_a_dry_run_only_lists_it() {
    let (mut dash, file) = dashboard_with_kept_code();
    dash.wait_exit();
    let folder = file.parent().unwrap();
    let id = file
        .to_str()
        .unwrap()
        .rsplit_once('_')
        .unwrap()
        .1
        .to_owned();
    let old = folder.join(format!("run_2001-02-03T04-05-06Z_{id}"));
    std::fs::write(&old, "").unwrap();
    let prune = |args: &[&str]| dash.cli(&[&["audit", "prune"], args].concat());

    let output = prune(&[]);
    assert_eq!(output.status.code(), Some(2), "days are not configured");
    let config = dash.root().join("config/config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("{text}[audit]\nretention_days = 30\n")).unwrap();
    let stdout_of = |output: &Output| String::from_utf8(output.stdout.clone()).unwrap();
    let output = prune(&["--dry-run"]);
    assert_eq!(stdout_of(&output).trim_end(), old.to_str().unwrap());
    assert!(old.exists() && file.exists());
    let output = prune(&[]);
    assert_eq!(stdout_of(&output).trim_end(), old.to_str().unwrap());
    assert!(!old.exists() && file.exists());
}

/// The code gets what its contract gave it; a missing library is reported in one sentence.
#[test]
fn r5_replicated_code_has_what_its_contract_gives() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("t.csv"), "a,y\n1,2\n3,4\n").unwrap();
    std::fs::write(at("k.json"), "{\"target\":\"y\"}").unwrap();
    let run = |python: &str, contract: &str, code: &str, inputs: &[(&str, &str, bool)]| {
        let inputs: Vec<Value> = inputs
            .iter()
            .map(|(name, file, private)| {
                let format = file.rsplit_once('.').unwrap().1;
                json!({"name": name, "format": format, "private": private, "path": at(file)})
            })
            .collect();
        let job = json!({"file": "x.py", "code": code, "contract": contract, "profile": contract, "inputs": inputs});
        std::fs::write(at("job.json"), job.to_string()).unwrap();
        let driver = include_str!("../../assets/replicate.py");
        let output = Command::new(python)
            .args(["-c", driver])
            .arg(at("job.json"))
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    let own = own_python();
    let output_of = |contract: &str, code: &str, inputs: &[(&str, &str, bool)]| {
        let (code, out, err) = run(&own, contract, code, inputs);
        assert_eq!(code, Some(0), "{err}");
        (out, err)
    };
    let table = ("t", "t.csv", false);
    let (out, _) = output_of(
        "chart",
        "print(data['t'][0], data['k'])",
        &[table, ("k", "k.json", false)],
    );
    assert_eq!(out, "{'a': 1, 'y': 2} {'target': 'y'}\n");
    let (out, _) = output_of("walled", "print(t[1])", &[table]);
    assert_eq!(out, "{'a': '3', 'y': '4'}\n");
    let (out, _) = output_of(
        "feature",
        "df['n'] = df['a'] * 2\nprint(list(df))",
        &[table, ("lift", "k.json", false)],
    );
    assert!(
        out.starts_with("['a', 'n']\n") && out.contains("count"),
        "{out}"
    );
    let scoped = "print(system.inputs['k'], len(private.people), private['people'].shape)\n\
                  log('one')\nlog_level('error')\nlog('two')\nlocal.x = public['target']\n\
                  try:\n    reason('why')\nexcept SecurityError:\n    print(local.x)\n";
    let inputs = [
        ("k", "k.json", false),
        ("people", "t.csv", true),
        ("public", "k.json", false),
    ];
    let (out, err) = output_of("scoped", scoped, &inputs);
    assert_eq!(out, "{'target': 'y'} 2 (2, 2)\ny\n");
    assert_eq!(err, "info: one\n");

    // `-S` hides the installed libraries.
    let bare = at("bare");
    std::fs::write(&bare, format!("#!/bin/sh\nexec {own} -S \"$@\"\n")).unwrap();
    std::fs::set_permissions(&bare, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    for (code, inputs, words) in [
        ("t", &[table][..], "it was given a table"),
        ("print(pd.Series([1]))", &[], "it needs pandas"),
        ("import seaborn", &[], "it needs seaborn"),
    ] {
        let (status, _, err) = run(bare.to_str().unwrap(), "analysis", code, inputs);
        assert_eq!(status, Some(1), "{err}");
        assert!(err.contains(words) && !err.contains("Traceback"), "{err}");
    }
}
