//! The rows R1–R8 of the prior system: a study's data, a separate process that runs approved code
//! on it, and the three contracts confidentiality, integrity and availability, each through a real
//! dashboard and a real child. `r5_*` are in `tests/it/replicate.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use common::agent::Agent;
use common::dash::{Dash, Options};
use serde_json::{Value, json};

const CONFIG: &str = "profiles = [\"analysis\", \"script\", \"short\", \"small\"]\n\
    [datasets.visits]\npath = \"visits.csv\"\n";
const VISITS: &str = "site,age\nnorth,40\nnorth,50\nsouth,60\n";
const SHORT: &str = "name = \"short\"\nextends = \"script\"\n[limits]\nwall_s = 2\n";
/// A wall limit so long that the other limits are met first, even on a busy machine. Loading the
/// libraries in a cold start counts as processor time.
const SMALL: &str = "name = \"small\"\nextends = \"script\"\n\
    [limits]\nwall_s = 60\ncpu_s = 5\nmemory_mb = 64\nprocesses = 8\n";

fn dash() -> (Dash, Agent) {
    let dash = Dash::with(&Options {
        config: CONFIG,
        files: &[("visits.csv", VISITS), ("other.csv", "secret\n1\n")],
        policies: &[("short.toml", SHORT), ("small.toml", SMALL)],
        env: &[
            ("STUDY_API_KEY", "sk-not-for-snippets"),
            ("AWS_SECRET_ACCESS_KEY", "sk-not-for-snippets"),
            ("PYTHONPATH", "/tmp/elsewhere"),
            ("LD_PRELOAD", ""),
        ],
        ..Options::default()
    });
    let agent = dash.agent();
    (dash, agent)
}

/// Proposes, grants, and waits for the outcome.
fn run_granted(dash: &mut Dash, agent: &mut Agent, profile: &str, code: &str) -> Value {
    let proposal = agent.propose(json!({
        "code": code,
        "profile": profile,
        "inputs": {"visits": {"dataset": "visits"}, "words": {"json": {
            "attribute": "__class__", "path": "/etc/passwd", "module": "io", "format": "{0.x}"}}},
    }));
    assert_eq!(proposal["state"], "pending", "{code}\n{proposal}");
    dash.grant(agent, &proposal);
    agent.outcome(&proposal["id"])
}

#[track_caller]
fn stdout(outcome: &Value) -> &str {
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    outcome["run"]["stdout"].as_str().unwrap()
}

#[track_caller]
fn error(outcome: &Value) -> (&str, &str) {
    assert_eq!(outcome["state"], "failed", "{outcome}");
    let error = &outcome["run"]["error"];
    (
        error["type"].as_str().unwrap_or_default(),
        error["message"].as_str().unwrap_or_default(),
    )
}

#[test]
fn r1_a_separate_process_with_a_clean_environment_folder_and_limits() {
    let (mut dash, mut agent) = dash();
    let code = "\
import json, os, resource
limits = {name: resource.getrlimit(getattr(resource, 'RLIMIT_' + name))
          for name in ('CPU', 'AS', 'NOFILE', 'NPROC', 'CORE')}
print(json.dumps({'env': dict(os.environ), 'cwd': os.listdir('.'), 'limits': limits}))
";
    let outcome = run_granted(&mut dash, &mut agent, "script", code);
    let output: Value = serde_json::from_str(stdout(&outcome)).unwrap();
    let env = output["env"].as_object().unwrap();
    assert!(env.len() <= 12, "{output}");
    for name in ["PATH", "LANG", "LC_ALL", "TZ"] {
        assert!(env.contains_key(name), "{name}: {output}");
    }
    let text = output.to_string();
    for gone in ["KEY", "sk-not", "PYTHONPATH", "LD_PRELOAD", "COUNTERSIGN"] {
        assert!(!text.contains(gone), "{gone}: {output}");
    }
    assert_eq!(output["cwd"], json!([]));
    for (name, soft) in [("CPU", 60), ("NOFILE", 64), ("CORE", 0)] {
        assert_eq!(output["limits"][name][0], soft, "{name}: {output}");
    }
    // The reaping process (pid 1) counts too.
    assert_eq!(output["limits"]["NPROC"][0], 65, "{output}");
    let memory = output["limits"]["AS"][0].as_i64().unwrap();
    assert!(memory > 1 << 30 && memory < 8 << 30, "{output}");

    let spin = run_granted(
        &mut dash,
        &mut agent,
        "short",
        "import time\ntime.sleep(60)\n",
    );
    assert_eq!(error(&spin).0, "Timeout");
    assert_eq!(spin["run"]["limit"], "wall");
}

#[test]
fn r2_the_guards_stand_again_inside_the_child() {
    let (mut dash, mut agent) = dash();
    // Each passes the analyser, which cannot know the word; the guard refuses it at run time. The
    // executor's own suites test such words without the analyser.
    for code in [
        "open(words['path'])\n",
        "pd.read_csv(words['path'])\n",
        "visits.to_csv(words['path'])\n",
    ] {
        let outcome = run_granted(&mut dash, &mut agent, "analysis", code);
        assert_eq!(outcome["verdict"]["verdict"], "flagged", "{code}");
        let (kind, message) = error(&outcome);
        assert!(!outcome.to_string().contains("root:"), "{outcome}");
        if code.starts_with("open") {
            assert!(message.contains("plain file name"), "{kind}: {message}");
        }
    }
}

#[test]
fn r4_only_named_data_sets_are_loaded_and_none_of_their_paths_is_disclosed() {
    let (mut dash, mut agent) = dash();
    let answer = agent.call(
        "propose",
        json!({"code": "1", "inputs": {"x": {"dataset": "other"}}}),
    );
    assert_eq!(answer["error"]["code"], -32003, "{answer}");
    let answer = agent.call(
        "propose",
        json!({"code": "1", "inputs": {"x": {"path": "/etc/passwd"}}}),
    );
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let listed = agent.call("datasets", json!({}));
    assert_eq!(listed["result"][0]["name"], "visits");
    assert_eq!(listed["result"].as_array().unwrap().len(), 1);
    let root = dash.root().to_str().unwrap().to_owned();
    assert!(!listed.to_string().contains(&root));

    // The child does not have it either: not in its files, mounts, arguments or memory map.
    let code = "\
import os
for fd in os.listdir('/proc/self/fd'):
    try:
        print(os.readlink('/proc/self/fd/' + fd))
    except OSError:
        pass
for name in ('cmdline', 'environ', 'maps', 'mountinfo'):
    try:
        print(open('/proc/self/' + name).read())
    except OSError as e:
        print(name, type(e).__name__)
print(visits)
";
    let outcome = run_granted(&mut dash, &mut agent, "script", code);
    let output = stdout(&outcome);
    assert!(output.contains("north"), "{output}");
    assert!(
        !output.contains(&root) && !output.contains("visits.csv"),
        "{output}"
    );
}

#[test]
fn r6_every_knob_of_a_file_that_extends_only_tightens() {
    let (dash, _agent) = dash();
    let file = dash.root().join("config/policies/knob.toml");
    let check = |text: &str| {
        let text = format!("name = \"knob\"\nextends = \"analysis\"\n{text}\n");
        std::fs::write(&file, text).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&file, mode).unwrap();
        dash.cli(&["policy", "check", file.to_str().unwrap()])
    };
    let limits = [
        ("wall_s", 300),
        ("cpu_s", 300),
        ("memory_mb", 1024),
        ("processes", 64),
        ("open_files", 64),
        ("file_size_mb", 64),
        ("output_bytes", 200_000),
        ("artifacts", 20),
        ("artifact_bytes", 20_000_000),
        ("code_bytes", 65_536),
    ];
    for (name, value) in limits {
        let tighter = check(&format!("[limits]\n{name} = {}", value / 2));
        assert!(tighter.status.success(), "{name}: {tighter:?}");
        let looser = check(&format!("[limits]\n{name} = {}", value + 1));
        let stderr = String::from_utf8_lossy(&looser.stderr).into_owned();
        assert_eq!(looser.status.code(), Some(1), "{name}: {stderr}");
        assert!(
            stderr.contains(name) && stderr.contains("knob.toml:4"),
            "{stderr}"
        );
    }
    for looser in [
        "guard = false",
        "[imports]\nos = [\"*\"]",
        "[builtins]\nallow = [\"eval\"]",
        "[attributes]\nallow_dunder = [\"__globals__\"]",
        "[nodes]\nallow = [\"AsyncFunctionDef\", \"Nonsense\"]",
        "[capabilities]\nNETWORK_OUT = \"flag\"",
        "[isolation]\ntier = \"none\"",
    ] {
        let output = check(looser);
        assert_eq!(output.status.code(), Some(1), "{looser}: {output:?}");
    }
}

#[test]
fn r8_confidentiality() {
    let (mut dash, mut agent) = dash();
    let secret = dash.root().join("config/other.csv");
    let secret = secret.to_str().unwrap();
    // Files that were not given cannot be read, whoever owns them.
    let code = format!(
        "\
import os
for path in ({secret:?}, '/etc/shadow', '/etc/passwd', '/root', '/home', '/proc/1/environ'):
    try:
        print('LEAK', path, os.listdir(path) if os.path.isdir(path) else open(path).read())
    except OSError as e:
        print(path.rsplit('/', 1)[-1], type(e).__name__)
print([n for n in os.environ if 'KEY' in n])
"
    );
    let outcome = run_granted(&mut dash, &mut agent, "script", &code);
    let output = stdout(&outcome);
    assert!(!output.contains("LEAK"), "{output}");
    assert!(output.ends_with("[]\n"), "{output}");
    // Errors contain no details of this machine.
    let outcome = run_granted(&mut dash, &mut agent, "analysis", "visits['no' + 'ne']\n");
    assert_eq!(error(&outcome).0, "SnippetError");
    let root = dash.root().to_str().unwrap();
    for private in [
        root,
        "site-packages",
        "/lib/python",
        env!("CARGO_MANIFEST_DIR"),
    ] {
        assert!(
            !outcome.to_string().contains(private),
            "{private}: {outcome}"
        );
    }
}

#[test]
fn r8_integrity() {
    let (mut dash, mut agent) = dash();
    let before = std::fs::read_to_string(dash.root().join("config/visits.csv")).unwrap();
    let code = "\
import os, sys
for path in ('/usr/x', '/etc/x', '/tmp/x', '/x', sys.prefix + '/x', '/proc/self/oom_score_adj',
             os.path.dirname(os.__file__) + '/x', '../../x', '/scratch/../x'):
    try:
        with open(path, 'w') as file:
            file.write('0')
        print('WROTE', path)
    except OSError as e:
        print(type(e).__name__)
visits.loc[0, 'age'] = 0
open('mine.txt', 'w').write('ok')
print(open('mine.txt').read())
";
    let outcome = run_granted(&mut dash, &mut agent, "script", code);
    let output = stdout(&outcome);
    assert!(!output.contains("WROTE"), "{output}");
    assert!(output.ends_with("ok\n"), "{output}");
    let after = std::fs::read_to_string(dash.root().join("config/visits.csv")).unwrap();
    assert_eq!(before, after);
    // The snippet cannot change the guard's own parts.
    for code in [
        "len = max\n__builtins__['len'] = max\n",
        "import builtins\n",
        "import sys\nsys.modules\n",
    ] {
        let answer = agent.call("check", json!({"code": code}));
        assert_eq!(answer["result"]["verdict"], "blocked", "{code}");
    }
}

#[test]
fn r8_availability() {
    let (mut dash, mut agent) = dash();
    for (profile, code, limit) in [
        ("short", "import time\ntime.sleep(60)\n", "wall"),
        ("small", "while True:\n    pass\n", "cpu"),
        ("small", "x = bytearray(512 << 20)\n", "memory"),
        (
            "small",
            "import os\nwhile os.fork():\n    pass\nwhile True:\n    pass\n",
            "processes",
        ),
        ("small", "while True:\n    print('x' * 10000)\n", "output"),
    ] {
        let outcome = run_granted(&mut dash, &mut agent, profile, code);
        assert_eq!(outcome["state"], "failed", "{outcome}");
        assert_eq!(outcome["run"]["limit"], limit, "{code}: {outcome}");
    }
    let code = "\
import socket
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
    try:
        socket.socket(family)
        print('OPEN', family)
    except OSError as e:
        print(type(e).__name__)
";
    let outcome = run_granted(&mut dash, &mut agent, "script", code);
    assert!(!stdout(&outcome).contains("OPEN"), "{outcome}");
    // The dashboard still works.
    let outcome = run_granted(&mut dash, &mut agent, "analysis", "print(len(visits))\n");
    assert_eq!(stdout(&outcome), "3\n");
}

#[test]
fn r3_files_are_collected_from_the_output_folder_alone_and_up_to_the_cap() {
    let (mut dash, mut agent) = dash();
    let code = "\
import os
open('kept.txt', 'w').write('ok')
os.symlink('/etc/passwd', 'link.txt')
os.mkdir('folder')
open('folder/inner.txt', 'w').write('0')
os.link('kept.txt', 'twice.txt')
open('single.txt', 'w').write('1')
open('/scratch/elsewhere.txt', 'w').write('2')
";
    let outcome = run_granted(&mut dash, &mut agent, "script", code);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    let names: Vec<&str> = outcome["run"]["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["folder/inner.txt", "single.txt"], "{outcome}");

    let many = "for i in range(21):\n    open(f'{i}.txt', 'w').write('x')\n";
    let outcome = run_granted(&mut dash, &mut agent, "analysis", many);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    // The first files are kept, and the one that is left out is named.
    let kept = outcome["run"]["artifacts"].as_array().unwrap();
    assert_eq!(kept.len(), 20, "{outcome}");
    assert!(kept.iter().all(|one| one["name"] != "20.txt"), "{outcome}");
    assert_eq!(outcome["run"]["artifacts_unkept"], json!(["20.txt"]));
    let message = outcome["message"].as_str().unwrap();
    assert!(message.contains("20.txt"), "{message}");
}

#[test]
fn r8_legitimate_use() {
    let (mut dash, mut agent) = dash();
    let code = "\
import json
import matplotlib.pyplot as plt
import plotly.graph_objects as go
means = visits.groupby('site')['age'].mean()
print(means.to_dict())
means.plot.bar()
plt.savefig('means.png')
figure = go.Figure(go.Bar(x=list(means.index), y=list(means)))
open('means.json', 'w').write(figure.to_json())
means.to_csv('means.csv')
";
    let outcome = run_granted(&mut dash, &mut agent, "analysis", code);
    assert_eq!(stdout(&outcome), "{'north': 45.0, 'south': 60.0}\n");
    let files: Vec<(&str, &str)> = outcome["run"]["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["name"].as_str().unwrap(),
                one["media_type"].as_str().unwrap(),
            )
        })
        .collect();
    for expected in [
        ("means.png", "image/png"),
        ("means.json", "application/json"),
    ] {
        assert!(files.contains(&expected), "{expected:?}: {files:?}");
    }
    assert!(
        files.iter().any(|(name, _)| *name == "means.csv"),
        "{files:?}"
    );
    // The agent reads the kept files, and the next step may use them.
    let answer = agent.call(
        "artifact",
        json!({"id": outcome["id"], "name": "means.csv"}),
    );
    assert!(answer["result"]["base64"].is_string(), "{answer}");
    let next = agent.propose(json!({
        "code": "print(len(before))\n",
        "inputs": {"before": {"artifact": {"id": outcome["id"], "name": "means.csv"}}},
    }));
    dash.grant(&mut agent, &next);
    assert_eq!(stdout(&agent.outcome(&next["id"])), "2\n");
}

/// Future work in the prior system's document: seccomp, stronger jails, faster hand-over, clean-up.
/// Clean-up is tested by `r5_kept_code_is_removed_after_its_days_and_a_dry_run_only_lists_it`.
#[test]
fn r7_seccomp_a_stronger_jail_and_a_mapped_hand_over() {
    let (mut dash, mut agent) = dash();
    let outcome = run_granted(
        &mut dash,
        &mut agent,
        "analysis",
        "visits.loc[0, 'age'] = 1\nprint(visits['age'].sum())\n",
    );
    assert_eq!(stdout(&outcome), "111\n");
    let layers = outcome["run"]["isolation"]["layers"].to_string();
    for layer in ["seccomp", "landlock:", "userns", "netns", "root"] {
        assert!(layers.contains(layer), "{layer}: {layers}");
    }
    // The child changed only its own copy of the frame: the next run gets the original data set.
    let outcome = run_granted(
        &mut dash,
        &mut agent,
        "analysis",
        "print(visits['age'].sum())\n",
    );
    assert_eq!(stdout(&outcome), "150\n");
}
