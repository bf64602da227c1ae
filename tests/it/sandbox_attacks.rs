//! The table of attacks through the finished binary: proposed on the real socket, granted by real
//! key presses, and run in a real child of tier `kernel`. The executor's own suite tries the same
//! table in every tier, as an ordinary user and with single layers disabled.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;
use crate::sandbox;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use common::dash::{Dash, Options};
use common::given::{is_given, is_given_to_root};
use common::processes;
use sandbox::{Attack, Meets, Run, Targets, compare, met, table};
use serde_json::{Value, json};

/// Whether this machine gives tier `kernel`.
fn available() -> bool {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(["doctor", "--json"])
        .output()
        .unwrap();
    let stdout: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = stdout["checks"].as_array().unwrap();
    let kernel = checks.iter().find(|c| c["name"] == "tier kernel").unwrap();
    is_given(
        kernel["state"] != "missing",
        &format!("tier kernel: {kernel}"),
    )
}

/// Proposes, grants as a person does, and waits for the outcome.
fn run_granted(dash: &mut Dash, code: &str, profile: &str) -> Value {
    let mut agent = dash.agent();
    let proposal = agent.propose(json!({"code": code, "profile": profile}));
    dash.grant(&mut agent, &proposal);
    agent.outcome(&proposal["id"])
}

#[test]
fn every_attack_of_the_table_meets_its_entry_in_a_granted_run() {
    if !available() {
        return;
    }
    let mut dash = Dash::with(&Options {
        config: "profiles = [\"analysis\", \"script\"]\n",
        // Room for most of the table at once, because all of it has to be seen.
        size: (240, 100),
        ..Options::default()
    });
    let table = table();
    let attacks: Vec<&Attack> = table
        .attack
        .iter()
        .filter(|a| a.applies() && a.only.is_none())
        .collect();
    let targets = Targets::new(dash.pid());
    let outcome = run_granted(&mut dash, &targets.snippet(&attacks), "script");
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    let stdout = outcome["run"]["stdout"].as_str().unwrap();
    let wrong = compare(&attacks, &met(stdout), |attack| match &attack.kernel {
        Meets::Stopped { meets, .. } => meets.clone(),
        other => panic!(
            "{}: tier kernel stops it or it is no row: {other:?}",
            attack.name
        ),
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn granted_runs_end_as_the_table_says_and_leave_nothing() {
    if !available() {
        return;
    }
    let table = table();
    let rows: Vec<&Run> = table.run.iter().filter(|row| row.product).collect();
    let names: Vec<String> = (0..rows.len()).map(|i| format!("row{i}")).collect();
    let policies: Vec<(String, String)> = names
        .iter()
        .zip(&rows)
        .map(|(name, row)| (format!("{name}.toml"), policy(name, row)))
        .collect();
    let policies: Vec<(&str, &str)> = policies
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let config = format!("profiles = [\"analysis\", \"{}\"]\n", names.join("\", \""));
    let mut dash = Dash::with(&Options {
        config: &config,
        policies: &policies,
        ..Options::default()
    });
    for (name, row) in names.iter().zip(rows) {
        let outcome = run_granted(&mut dash, &row.code, name);
        let run = &outcome["run"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        if row.limit.as_deref() != Some("any") {
            assert_eq!(text(&run["limit"]), row.limit, "{}: {outcome}", row.name);
        }
        if row.error.as_deref() != Some("any") {
            let kind = text(&run["error"]["type"]);
            assert_eq!(kind, row.error, "{}: {outcome}", row.name);
        }
        let message = text(&run["error"]["message"]).unwrap_or_default();
        let says = row.says.as_deref().unwrap_or_default();
        assert!(message.contains(says), "{}: {outcome}", row.name);
        assert_eq!(run["isolation"]["tier"], "kernel", "{outcome}");
        dash.wait_for("the run's end", |d, _| processes::runs(d.pid()).is_empty());
    }
    // The row with escape sequences was among them; none of them reached the terminal raw.
    let raw = String::from_utf8_lossy(&dash.raw()).into_owned();
    assert!(!raw.contains("\x1b]0;owned") && !raw.contains('\u{202e}'));
}

fn policy(name: &str, row: &Run) -> String {
    let mut text = format!("name = \"{name}\"\nextends = \"script\"\n[limits]\n");
    for (limit, value) in &row.limits {
        writeln!(text, "{limit} = {value}").unwrap();
    }
    text
}

#[test]
fn a_proposal_under_review_starts_from_a_slot_made_meanwhile() {
    if !available() {
        return;
    }
    let policy = "name = \"other\"\nextends = \"script\"\n";
    let mut dash = Dash::with(&Options {
        config: "profiles = [\"analysis\", \"other\"]\n",
        policies: &[("other.toml", policy)],
        ..Options::default()
    });
    let mut agent = dash.agent();
    dash.wait_for("places of the usual profile", |d, _| {
        processes::places(d.pid()).len() == 2
    });
    let proposal = agent.propose(json!({"code": "print('here')", "profile": "other"}));
    dash.wait_for("places of the profile that is looked at", |d, _| {
        processes::places(d.pid()).len() == 4
    });
    dash.grant(&mut agent, &proposal);
    assert_eq!(agent.outcome(&proposal["id"])["run"]["stdout"], "here\n");
    let log = dash.local_log();
    assert!(log.contains("start=\"warm\" profile=other"), "{log}");
    assert!(!log.contains("start=\"cold\""), "{log}");
}

#[test]
fn a_run_whose_agent_is_gone_is_killed_if_so_configured() {
    let mut dash = Dash::with(&Options {
        config: "[run]\nkill_on_disconnect = true\n",
        ..Options::default()
    });
    let mut agent = dash.agent();
    let code = "import time\nprint('up')\ntime.sleep(200)\n";
    let proposal = agent.propose(json!({"code": code}));
    dash.grant(&mut agent, &proposal);
    dash.wait_for("the child", |d, _| processes::runs(d.pid()).len() == 1);
    agent.close();
    dash.wait_for("the end of the child", |d, _| {
        processes::runs(d.pid()).is_empty()
    });
    dash.wait_for("the record of it", |d, _| {
        let list = d.cli(&["audit", "list"]);
        String::from_utf8_lossy(&list.stdout).contains("failed")
    });
}

/// `countersign doctor --json` where no user namespace can be made, as after `sysctl
/// user.max_user_namespaces=0`: the limit applies to the namespace in which it is written.
#[test]
fn a_tier_without_user_namespaces_is_refused_by_name_with_a_remedy() {
    let root = nix::unistd::Uid::effective().is_root();
    if !is_given_to_root(
        root,
        "root, which alone can map the users of such a namespace",
    ) {
        return;
    }
    let close = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"";
    // The process is root of the namespace, with capabilities, only after the first exec that
    // follows the mapping.
    let script = format!("read go; exec sh -c '{close}' \"$0\" \"$@\"");
    let root = tempfile::tempdir().unwrap();
    let mut child = std::process::Command::new("unshare")
        .args(["--user", "sh", "-c", &script])
        .arg(env!("CARGO_BIN_EXE_countersign"))
        .args(["doctor", "--json"])
        .env("COUNTERSIGN_STATE_DIR", root.path().join("state"))
        .env("XDG_CACHE_HOME", root.path().join("cache"))
        .env("XDG_CONFIG_HOME", root.path().join("config"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("unshare(1) of util-linux");
    let process = std::path::PathBuf::from(format!("/proc/{}", child.id()));
    let ours = std::fs::read_link("/proc/self/ns/user").unwrap();
    while std::fs::read_link(process.join("ns/user")).unwrap() == ours {
        std::thread::yield_now();
    }
    for map in ["uid_map", "gid_map"] {
        std::fs::write(process.join(map), "0 0 65536").unwrap();
    }
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"go\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stdout: Value = serde_json::from_slice(&output.stdout).unwrap();
    let check = |name: &str| {
        let checks = stdout["checks"].as_array().unwrap().iter();
        checks.clone().find(|c| c["name"] == name).unwrap().clone()
    };
    assert_eq!(stdout["ok"], false);
    let namespaces = check("user namespaces");
    assert_eq!(namespaces["state"], "missing", "{namespaces}");
    let mend = namespaces["mend"].as_str().unwrap();
    assert!(mend.contains("sysctl user.max_user_namespaces="), "{mend}");
    let tier = check("tier kernel");
    assert_eq!(tier["state"], "missing", "{tier}");
    let found = tier["found"].as_str().unwrap();
    assert!(found.contains("namespaces"), "{found}");
    let mend = tier["mend"].as_str().unwrap();
    assert!(mend.contains("sysctl user.max_user_namespaces="), "{mend}");
}

/// Attacks that a tier must withstand: each has its own row in the table.
const ASKED: &[&str] = &[
    "fork bomb",
    "memory bomb",
    "memfd",
    "spin and ignored signals",
    "double fork and setsid",
    "output flood",
    "big, sparse or special files",
    "symlinks in the output",
    "inherited descriptors",
    "/proc of the parent",
    "ptrace and signals to the parent",
    "every socket family",
    "vsock",
    "netlink",
    "the dashboard's own socket",
    "/dev/tty and TIOCSTI",
    "TIOCLINUX",
    "escapes in the output",
    "user namespaces inside",
    "x32",
    "LD_PRELOAD and PYTHON*",
    "core dumps",
    "reading ~/.ssh and /etc/shadow",
    "mount family",
    "io_uring",
    "keyctl",
    "bpf",
    "perf",
    "userfaultfd",
    "landlock_*",
    "SysV and POSIX message queues, shm and semaphores",
    "no_new_privs",
    "drop all capabilities, bounding set too",
];

#[test]
fn the_table_answers_every_line_of_the_list_and_names_layers_that_exist() {
    let table = table();
    let rows = table.attack.iter().map(|a| a.asks.as_str());
    let asks: BTreeSet<&str> = rows
        .chain(table.run.iter().map(|r| r.asks.as_str()))
        .collect();
    for line in ASKED {
        assert!(asks.contains(line), "nothing answers {line:?}");
    }
    let names = table.attack.iter().map(|a| &a.name);
    let names: Vec<&String> = names.chain(table.run.iter().map(|r| &r.name)).collect();
    let once: BTreeSet<&&String> = names.iter().collect();
    assert_eq!(once.len(), names.len());
    // For each layer that stops an attack in tier kernel, a run without the layer proves it.
    let mut stops = BTreeSet::new();
    let mut proven = BTreeSet::new();
    for attack in &table.attack {
        if let Meets::Stopped { by, .. } = &attack.kernel {
            stops.insert(by.as_str());
        }
        proven.extend(attack.proof.iter().map(|p| {
            let (layer, _) = p.by.split_once(':').unwrap_or((&p.by, ""));
            layer
        }));
    }
    // The runner itself sets this at the end, so there is no run without it: its row is the only
    // proof.
    stops.remove("undumpable");
    let unproven: Vec<_> = stops.difference(&proven).collect();
    assert!(unproven.is_empty(), "{unproven:?}");
}
