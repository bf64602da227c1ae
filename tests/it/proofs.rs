//! What the log proves to others: checkpoints, `audit verify --anchor`, `audit prove` and its checker.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::mpsc;

use countersign::audit::{self, Anchoring, Notary, NotaryEvent, Store};
use countersign::model::{ProposalId, Ticket};
use serde_json::{Value, json};

use crate::common::dash::{Dash, Options};
use crate::common::interpreters::interpreters;
use crate::samples;

/// The checker's folder.
const CHECKER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/check");

/// A state folder with a signed log.
pub struct Signed {
    pub root: tempfile::TempDir,
    pub id: ProposalId,
}

impl Signed {
    pub fn new() -> Self {
        Self::titled("monthly revenue")
    }

    pub fn titled(title: &str) -> Self {
        let new = Self::unsigned_titled(title);
        new.sign();
        new
    }

    fn unsigned_titled(title: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let id = ProposalId::new();
        let new = Self { root, id };
        new.grow_titled(id, title);
        new
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// Another proposal, from its question to its end.
    pub fn grow(&self, id: ProposalId) {
        self.grow_titled(id, "monthly revenue");
    }

    fn grow_titled(&self, id: ProposalId, title: &str) {
        let (tell, told) = mpsc::channel();
        let writer = audit::open(&self.state()).unwrap().writer;
        let handle = writer.start(Box::new(move |event| tell.send(event).unwrap()));
        let (proposed, code) = samples::proposed(id, title);
        let (finished, output) = samples::finished(id);
        for (event, blobs) in [
            (proposed, code),
            (samples::granted(id), Vec::new()),
            (samples::started(id), Vec::new()),
            (finished, output),
        ] {
            handle.submit(Ticket::Unawaited, event, blobs);
            told.recv().unwrap();
        }
        handle.close();
    }

    fn records(&self) -> u64 {
        let log = audit::Log::open(&self.state()).unwrap();
        log.verify().unwrap().records
    }

    pub fn sign(&self) {
        let anchoring = Anchoring::default();
        let fail = Box::new(|event| match event {
            NotaryEvent::Began(_) => {}
            event => panic!("{event:?}"),
        });
        Notary::start(&self.state(), anchoring, self.records(), fail).close();
    }

    pub fn key(&self) -> String {
        let key = Store::beside(&self.state()).key().unwrap().unwrap();
        key.to_string()
    }

    pub fn cli(&self, args: &[&str]) -> Output {
        cli(self.root.path(), &self.state(), args)
    }

    /// Keeps the newest checkpoint elsewhere.
    fn anchor(&self, name: &str) -> String {
        let to = self.path(name);
        fs::copy(self.path("state-checkpoints/latest"), &to).unwrap();
        to.display().to_string()
    }
}

fn cli(home: &Path, state: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(args)
        .env_clear()
        .env("HOME", home)
        .env("COUNTERSIGN_STATE_DIR", state)
        .output()
        .unwrap()
}

pub fn said(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8(text).unwrap()
}

/// Runs the checker with every Python that there is.
pub fn check(args: &[&str]) -> (bool, String) {
    let outputs = interpreters().into_iter().map(|python| {
        let script = format!("{CHECKER}/countersign_proof.py");
        let output = Command::new(python)
            .args(["-I", "-B", &script])
            .args(args)
            .output();
        let output = output.unwrap();
        (output.status.success(), said(&output))
    });
    let mut all: Vec<_> = outputs.collect();
    all.dedup();
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[test]
fn the_checkers_own_tests_pass() {
    for python in interpreters() {
        let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/proofs.py");
        let output = Command::new(python)
            .args(["-B", tests, CHECKER])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", said(&output));
    }
}

#[test]
fn verify_says_through_which_record_the_log_is_anchored() {
    let log = Signed::new();
    let verify = |args: &[&str]| {
        let output = log.cli(&[&["audit", "verify"], args].concat());
        (output.status.code(), said(&output))
    };
    let (code, report) = verify(&[]);
    assert_eq!(code, Some(0), "{report}");
    assert!(report.ends_with("\nanchored through seq 4\n"), "{report}");
    assert!(
        report.contains("\nnothing was removed: the log begins with record 1"),
        "{report}"
    );
    // The key was made when the records were there already.
    assert!(report.contains("\nsigned through seq 4, at 20"), "{report}");
    assert!(report.contains(", which was made after all of that: no checkpoint says"));
    log.grow(ProposalId::new());
    let (code, report) = verify(&["--require-anchor", "--key", &log.key()]);
    assert_eq!(code, Some(0), "{report}");
    let end = "\nanchored through seq 4\nthe last 4 records are newer than the checkpoint\n";
    assert!(report.ends_with(end), "{report}");
    let status: Value = serde_json::from_slice(&log.cli(&["status", "--json"]).stdout).unwrap();
    let folder = log.path("state-checkpoints").canonicalize().unwrap();
    assert_eq!(status["checkpoints"], folder.display().to_string());
    assert_eq!(status["signed"], 4);
    assert_eq!(status["signed_from"], 5);
    let json = log.cli(&["audit", "verify", "--json"]).stdout;
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["anchored_through"], 4);
    assert_eq!(json["anchor_fault"], Value::Null);
    assert_eq!(json["consistent"], true);
}

/// A copy that is opened without its checkpoints gets a key of its own, which signs all that was there.
#[test]
fn a_key_beside_the_log_vouches_for_nothing_that_was_there_before_it() {
    let log = Signed::new();
    let (old_key, old) = (log.key(), log.anchor("kept"));
    fs::rename(log.path("state-checkpoints"), log.path("away")).unwrap();
    log.grow(ProposalId::new());
    log.sign();
    let key = log.key();
    assert_ne!(key, old_key);
    let new = log.anchor("newest");
    let before = "the records 1 to 8 were there before the key in ";
    let others = "state-checkpoints/latest: ";
    for (args, code, words) in [
        (&["--require-anchor"][..], 1, before),
        (
            &[],
            0,
            "; --key FILE names the one that you expect; the key that signs lies there too, and whoever can read it can \
             sign another log\n",
        ),
        (
            &["--require-anchor", "--key", &key],
            0,
            "\nsigned through seq 8, at 20",
        ),
        (&["--require-anchor", "--key", &old_key], 1, others),
        (
            &["--require-anchor", "--anchor", &new],
            0,
            "\nsigned through seq 8, at 20",
        ),
        // What was signed once reaches to the fourth record.
        (
            &["--require-anchor", "--anchor", &old, "--key", &old_key],
            1,
            "the records 5 to 8 were there before the key in ",
        ),
        (&["--require-anchor", "--anchor", &old], 1, "kept: "),
    ] {
        let output = log.cli(&[&["audit", "verify"], args].concat());
        let report = said(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {report}");
        assert!(report.contains(words), "{args:?}: {report}");
        assert!(
            !report.contains("--require-anchor: ") || code == 1,
            "{args:?}: {report}"
        );
    }
    let json = log.cli(&["audit", "verify", "--json"]).stdout;
    let json: Value = serde_json::from_slice(&json).unwrap();
    let lacks = json["anchor_lacks"].as_str().unwrap();
    assert!(lacks.starts_with(before), "{lacks}");
    // Without the note that says since when, nothing is known of it.
    fs::remove_file(log.path("state-checkpoints/begun")).unwrap();
    let output = log.cli(&["audit", "verify", "--require-anchor"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("nothing says since when the key in "));
}

/// A copy of the folder without its checkpoints, as an auditor has it.
#[test]
fn a_checkpoint_kept_elsewhere_vouches_for_a_copied_log() {
    let log = Signed::new();
    let (anchor, key) = (log.anchor("kept"), log.key());
    let copy = log.path("copy");
    fs::create_dir_all(copy.join("log")).unwrap();
    fs::rename(log.state().join("blobs"), copy.join("blobs")).unwrap();
    fs::copy(
        log.state().join("log/00000001.jsonl"),
        copy.join("log/00000001.jsonl"),
    )
    .unwrap();
    let verify = |args: &[&str]| {
        let output = cli(
            log.root.path(),
            &copy,
            &[&["audit", "verify"], args].concat(),
        );
        (output.status.code(), said(&output))
    };
    let (code, report) = verify(&[]);
    assert_eq!(code, Some(0), "{report}");
    assert!(
        report.contains("not anchored: a cut end cannot be excluded"),
        "{report}"
    );
    assert_eq!(verify(&["--require-anchor"]).0, Some(1));
    let (code, report) = verify(&["--anchor", &anchor]);
    assert_eq!(code, Some(2), "{report}");
    assert!(report.contains("give the log's own with --key"), "{report}");
    let (code, report) = verify(&["--anchor", &anchor, "--key", &key]);
    assert_eq!(code, Some(0), "{report}");
    assert!(report.contains("anchored through seq 4"), "{report}");
    // The key in a file, as it is beside the log.
    let file = log.path("state-checkpoints/key.pub").display().to_string();
    assert_eq!(verify(&["--anchor", &anchor, "--key", &file]).0, Some(0));
    for (args, code) in [
        (["--anchor", "/no/such/file", "--key", &key], 2),
        (["--anchor", &anchor, "--key", "no+key+here"], 2),
        (["--anchor", &anchor, "--key", "/no/such/file"], 2),
    ] {
        assert_eq!(verify(&args).0, Some(code), "{args:?}");
    }
}

#[test]
fn each_fault_of_an_anchor_is_named_and_fails() {
    let (log, other) = (Signed::new(), Signed::new());
    let verify = |log: &Signed, anchor: &str| {
        let output = log.cli(&["audit", "verify", "--anchor", anchor]);
        assert_eq!(output.status.code(), Some(1));
        let json = log.cli(&["audit", "verify", "--anchor", anchor, "--json"]);
        let json: Value = serde_json::from_slice(&json.stdout).unwrap();
        assert_eq!(
            (&json["consistent"], &json["anchored_through"]),
            (&json!(false), &json!(null))
        );
        said(&output).lines().next().unwrap().to_owned()
    };
    let before = fs::read(log.state().join("log/00000001.jsonl")).unwrap();
    let old = log.anchor("old");
    log.grow(ProposalId::new());
    log.sign();
    let new = log.anchor("new");

    let foreign = verify(&log, &other.anchor("foreign"));
    assert!(
        foreign.contains("other origin: it is a checkpoint of countersign/"),
        "{foreign}"
    );
    let note = fs::read_to_string(&new).unwrap();
    let changed = log.path("changed").display().to_string();
    fs::write(&changed, note.replacen("\n8\n", "\n9\n", 1)).unwrap();
    assert!(verify(&log, &changed).contains("bad signature: countersign/"));
    fs::write(
        &changed,
        note.replacen("— countersign", "— countersigned", 1),
    )
    .unwrap();
    assert!(verify(&log, &changed).contains("unknown key: it is signed by countersigned/"));
    fs::write(&changed, "no note").unwrap();
    assert!(verify(&log, &changed).contains("not a signed note"));

    // Rolled back, with an older checkpoint beside it: only what is kept elsewhere tells.
    fs::write(log.state().join("log/00000001.jsonl"), &before).unwrap();
    samples::unnoted(&log.state());
    for name in ["journal-0", "journal-1"] {
        let _ = fs::remove_file(log.state().join(name));
    }
    fs::copy(&old, log.path("state-checkpoints/latest")).unwrap();
    let output = log.cli(&["audit", "verify"]);
    assert!(
        said(&output).ends_with("anchored through seq 4\n"),
        "{}",
        said(&output)
    );
    let shorter =
        "damaged: the log is shorter than the checkpoint: it has 4 records, and 8 were signed";
    assert_eq!(verify(&log, &new), shorter);
    // Grown again, it is another log.
    log.grow(ProposalId::new());
    assert!(verify(&log, &new).starts_with("damaged: another root at size 8"));
}

#[test]
fn a_proof_is_checked_without_the_program_and_no_changed_one_passes() {
    let log = Signed::new();
    let id = log.id.to_string();
    let out = log.path("proofs").display().to_string();
    let output = log.cli(&["audit", "prove", &id, "--out", &out]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains(&log.key()), "{}", said(&output));
    let key = log.key();
    for (seq, kind) in (1..).zip(["proposed", "granted", "started", "finished"]) {
        let file = format!("{out}/{id}-{seq}-{kind}.tlog-proof");
        let (good, told) = check(&["--key", &key, &file]);
        assert!(good, "{told}");
        assert!(
            told.contains(&format!("  record {seq} of countersign/")),
            "{told}"
        );
        assert!(
            told.contains(&format!("  kind: {kind}\n  id: {id}\n")),
            "{told}"
        );
    }
    // The decision, on standard output.
    let granted = log.cli(&["audit", "prove", &id]);
    assert!(granted.status.success());
    let file = format!("{out}/{id}-2-granted.tlog-proof");
    assert_eq!(granted.stdout, fs::read(&file).unwrap());
    for record in ["finished", "4"] {
        let proof = log.cli(&["audit", "prove", &id, "--record", record]).stdout;
        assert_eq!(
            proof,
            fs::read(format!("{out}/{id}-4-finished.tlog-proof")).unwrap()
        );
    }
    let none = log.cli(&["audit", "prove", &id, "--record", "denied"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(said(&none).contains("granted (seq 2)"), "{}", said(&none));

    let proof = granted.stdout;
    let changed = log.path("changed").display().to_string();
    let mut last = None;
    for at in (0..proof.len()).step_by(proof.len() / 40) {
        let mut proof = proof.clone();
        proof[at] ^= 1;
        fs::write(&changed, proof).unwrap();
        let (good, told) = check_once(&["--key", &key, &changed]);
        assert!(!good && told.contains("NOT PROVED"), "byte {at}: {told}");
        last = Some(told);
    }
    assert!(last.is_some());
    let foreign = Signed::new().key();
    let (good, told) = check(&["--key", &foreign, &file]);
    assert!(!good && told.contains("NOT PROVED: other origin"), "{told}");
}

/// With one Python: what is checked is the same in each.
pub fn check_once(args: &[&str]) -> (bool, String) {
    let output = run_once(args);
    (output.status.success(), said(&output))
}

pub fn run_once(args: &[&str]) -> Output {
    let script = format!("{CHECKER}/countersign_proof.py");
    let output = Command::new("python3")
        .args(["-I", "-B", &script])
        .args(args)
        .output();
    output.unwrap()
}

#[test]
fn what_cannot_be_proved_yet_says_when_it_can() {
    let log = Signed::new();
    let newer = ProposalId::new();
    log.grow(newer);
    let output = log.cli(&["audit", "prove", &newer.to_string()]);
    assert_eq!(output.status.code(), Some(1));
    let told = said(&output);
    assert!(
        told.contains("record 6 is newer than the newest checkpoint, which ends at 4"),
        "{told}"
    );
    log.sign();
    assert!(
        log.cli(&["audit", "prove", &newer.to_string()])
            .status
            .success()
    );
    fs::remove_dir_all(log.path("state-checkpoints")).unwrap();
    let output = log.cli(&["audit", "prove", &newer.to_string()]);
    assert!(
        said(&output).contains("there is no checkpoint in"),
        "{}",
        said(&output)
    );
}

#[test]
fn a_dashboard_signs_its_log_hands_checkpoints_over_and_tells_a_person_what_they_lack() {
    let mut dash = Dash::with(&Options {
        config: "[audit]\nanchor_command = [\"sh\", \"-c\", \"echo no route >&2; exit 1\"]\n",
        size: (160, 50),
        ..Options::default()
    });
    let mut agent = dash.agent();
    let proposal = agent.propose(json!({"code": "print(1)\n"}));
    dash.grant(&mut agent, &proposal);
    assert_eq!(agent.outcome(&proposal["id"])["state"], "succeeded");
    // Many refusals make many records.
    for n in 0..70 {
        agent.code(&format!("import subprocess  # {n}\n"));
    }
    dash.wait_text("Checkpoints of the log: anchor_command: `sh` failed, exit status: 1: no route");
    assert!(dash.log_text().contains("\"kind\":\"unanchored\""));
    // Nothing is open, so it asks nothing.
    dash.keys("q");
    dash.wait_exit();
    let output = dash.cli(&["audit", "verify", "--require-anchor"]);
    let report = said(&output);
    assert!(output.status.success(), "{report}");
    assert!(report.contains("\nanchored through seq "), "{report}");
    // The very last record is signed too.
    assert!(!report.contains("newer than the checkpoint"), "{report}");
    let id = proposal["id"].as_str().unwrap();
    let proof = dash.cli(&["audit", "prove", id]);
    let file = dash.root().join("proof");
    fs::write(&file, &proof.stdout).unwrap();
    let key = fs::read_to_string(dash.root().join("state-checkpoints/key.pub")).unwrap();
    let (good, told) = check(&["--key", key.trim(), &file.display().to_string()]);
    assert!(good && told.contains("kind: granted"), "{told}");
}

/// A Python with `aics-tlog`, which another project wrote from the same specifications. Made once, under a lock; pinned
/// by hashes. It is declared for Python 3.12 and later, and what is used of it runs on 3.11.
fn independent() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("aics-tlog");
    fs::create_dir_all(&folder).unwrap();
    let lock = fs::File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let python = folder.join("env/bin/python3");
    if !folder.join("made").exists() {
        let _ = fs::remove_dir_all(folder.join("env"));
        let run = |command: &mut Command| {
            let output = command.output().unwrap();
            assert!(
                output.status.success(),
                "the tests need aics-tlog: {}",
                said(&output)
            );
        };
        run(Command::new(&interpreters()[0])
            .args(["-m", "venv"])
            .arg(folder.join("env")));
        run(Command::new(&python)
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--only-binary=:all:",
            ])
            .args(["--require-hashes", "--ignore-requires-python", "-r"])
            .arg(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/tests/it/independent.txt"
            )));
        fs::write(folder.join("made"), "").unwrap();
    }
    python
}

#[test]
fn an_independent_checker_agrees() {
    let log = Signed::new();
    (0..20).for_each(|_| log.grow(ProposalId::new()));
    log.sign();
    let out = log.path("proofs").display().to_string();
    let output = log.cli(&["audit", "prove", &log.id.to_string(), "--out", &out]);
    assert!(output.status.success(), "{}", said(&output));
    let mut proofs: Vec<_> = fs::read_dir(&out)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    proofs.sort();
    let output = Command::new(independent())
        .args([
            "-I",
            "-B",
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/independent.py"),
        ])
        .args([&log.key(), "-"])
        .args(&proofs)
        .output()
        .unwrap();
    assert_eq!(said(&output), "proved 0\nproved 1\nproved 2\nproved 3\n");
}

/// What a person looks at first must not tell a shorter history than the one that was signed.
#[test]
fn no_answer_comes_from_a_log_that_is_shorter_than_what_was_signed() {
    let log = Signed::new();
    let path = log.state().join("log/00000001.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    // The question alone is left: what was granted, and ran, would read as undecided.
    let cut: Vec<&str> = whole.split_inclusive('\n').take(2).collect();
    fs::write(&path, cut.concat()).unwrap();
    samples::unnoted(&log.state());
    for name in ["journal-0", "journal-1"] {
        let _ = fs::remove_file(log.state().join(name));
    }
    let id = log.id.to_string();
    let asks: [&[&str]; 7] = [
        &["status"],
        &["audit", "list"],
        &["audit", "show", &id],
        &["audit", "stats"],
        &["audit", "export"],
        &["audit", "export", "--format", "csv"],
        &["audit", "prove", &id],
    ];
    for args in asks {
        let output = log.cli(args);
        let told = said(&output);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {told}");
        assert!(
            told.contains("it has 1 records, and 4 were signed"),
            "{args:?}: {told}"
        );
    }
    // Nor do proofs come from it with checkpoints that stand elsewhere.
    let elsewhere = log.path("elsewhere");
    fs::rename(log.path("state-checkpoints"), &elsewhere).unwrap();
    let (elsewhere, bundle) = (elsewhere.to_str().unwrap(), log.path("bundle"));
    let bundle = bundle.to_str().unwrap();
    let asks: [&[&str]; 2] = [
        &["audit", "prove", &id, "--record", "1"],
        &["audit", "export", "--bundle", bundle],
    ];
    for args in asks {
        let output = log.cli(&[args, &["--checkpoints", elsewhere]].concat());
        let told = said(&output);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {told}");
        assert!(told.contains("and 4 were signed"), "{args:?}: {told}");
    }
    fs::rename(elsewhere, log.path("state-checkpoints")).unwrap();
    // What is kept of checkpoints contradicts itself.
    for (gone, words) in [
        ("key.pub", "key.pub: it is gone"),
        ("latest", "it is gone, and"),
    ] {
        fs::remove_file(log.path("state-checkpoints").join(gone)).unwrap();
        for args in [&["audit", "list"][..], &["status"], &["audit", "verify"]] {
            let output = log.cli(args);
            assert_eq!(output.status.code(), Some(1), "{args:?}: {}", said(&output));
            assert!(said(&output).contains(words), "{args:?}: {}", said(&output));
        }
    }
}

/// A verifier key of which nobody here has the other half: that of C2SP signed-note.
const CARD: &str = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";

#[test]
fn a_command_that_does_not_sign_keeps_nobody_from_a_grant_and_is_told() {
    let config = format!(
        "[audit]\nkey_command = [\"sh\", \"-c\", \"echo no card >&2; exit 1\"]\nkey_public = \"{CARD}\"\n"
    );
    let mut dash = Dash::with(&Options {
        config: &config,
        size: (160, 50),
        ..Options::default()
    });
    let mut agent = dash.agent();
    let proposal = agent.propose(json!({"code": "print(1)\n"}));
    dash.grant(&mut agent, &proposal);
    assert_eq!(agent.outcome(&proposal["id"])["state"], "succeeded");
    for n in 0..70 {
        agent.code(&format!("import subprocess  # {n}\n"));
    }
    let why = "key_command: `sh` failed, exit status: 1: no card";
    dash.wait_text(&format!("Checkpoints of the log: {why}"));
    let output = dash.cli(&["status", "--json"]);
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(status["checkpoints_fault"], why);
    assert_eq!(status["signed"], 0);
    let told = said(&dash.cli(&["status"]));
    assert!(
        told.contains(&format!("checkpoints of the log: {why}")),
        "{told}"
    );
    dash.keys("q");
    dash.wait_exit();
    let checkpoints = dash.root().join("state-checkpoints");
    for name in ["key", "latest"] {
        assert!(!checkpoints.join(name).exists(), "{name}");
    }
    let public = fs::read_to_string(checkpoints.join("key.pub")).unwrap();
    assert_eq!(public.trim(), CARD);
}

#[test]
fn a_start_whose_checkpoints_cannot_be_signed_names_what_is_wrong() {
    let log = Signed::new();
    let doctor = |audit: &str| {
        let config = log.path("config.toml");
        fs::write(&config, format!("[audit]\n{audit}\n")).unwrap();
        said(&log.cli(&["--config", &config.display().to_string(), "doctor"]))
    };
    let command = "key_command = [\"sign\"]";
    let key = log.path("state-checkpoints/key").canonicalize().unwrap();
    let own = log.key();
    for (audit, why) in [
        (
            command.to_owned(),
            "`audit.key_command` needs `audit.key_public`",
        ),
        (
            format!("key_public = \"{CARD}\""),
            "`audit.key_public` does nothing without",
        ),
        (
            format!("{command}\nkey_public = \"a+b+c\""),
            "`audit.key_public`: not a verifier key",
        ),
        (
            format!("{command}\nkey_public = \"none.pub\""),
            "none.pub cannot be read: No such file",
        ),
        (
            format!("{command}\nkey_public = \"{CARD}\""),
            &format!(
                "`key_command` signs checkpoints, and {} is a key that signs them too",
                key.display()
            ),
        ),
        ("witness_ca = \"none.pem\"".to_owned(), "none.pem"),
        (
            format!("witnesses = [\"ftp://w {own}\"]"),
            "is no address of a witness",
        ),
    ] {
        let told = doctor(&audit);
        assert!(told.contains(why), "{audit}: {told}");
    }
    // Without its key, the folder is still that of the key that signed.
    fs::remove_file(&key).unwrap();
    let told = doctor(&format!("{command}\nkey_public = \"{CARD}\""));
    assert!(
        told.contains(&format!("are signed by {own}, and `key_public` is {CARD}")),
        "{told}"
    );
}

/// As a command that asks a card.
#[test]
fn what_openssl_signs_as_the_guide_says_is_stored() {
    let has = Command::new("openssl").arg("version").output();
    let version = has.map(|output| said(&output)).unwrap_or_default();
    if !crate::common::given::is_handy(version.starts_with("OpenSSL 3"), "OpenSSL 3") {
        return;
    }
    let guide = include_str!("../../assets/docs/guide.md");
    let begin = guide.find("#!/bin/sh\ntext=$(mktemp)").unwrap();
    let block = |text: &str| text.split_once("\n```").unwrap().0.to_owned();
    let script = block(&guide[begin..]);
    let begin = guide.find("openssl genpkey -algorithm ed25519").unwrap();
    let makes = block(&guide[begin..]);
    let folder = tempfile::tempdir().unwrap();
    let here = |text: &str| text.replace("/srv/log", &folder.path().display().to_string());
    let made = Command::new("sh")
        .arg("-c")
        .arg(here(&makes))
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", said(&made));
    fs::write(folder.path().join("sign"), here(&script)).unwrap();
    let log = Signed::unsigned_titled("monthly revenue");
    let sign = folder.path().join("sign").display().to_string();
    let public = fs::read_to_string(folder.path().join("key.pub")).unwrap();
    let key = public.trim().parse().unwrap();
    let anchoring = Anchoring {
        signer: Some(audit::KeyCommand::new(&["sh".to_owned(), sign], key).unwrap()),
        ..Anchoring::default()
    };
    let fail = Box::new(|event| match event {
        NotaryEvent::Began(_) => {}
        event => panic!("{event:?}"),
    });
    Notary::start(&log.state(), anchoring, log.records(), fail).close();
    let output = log.cli(&[
        "audit",
        "verify",
        "--require-anchor",
        "--key",
        public.trim(),
    ]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(log.key().starts_with("log.example/ana+"));
}
