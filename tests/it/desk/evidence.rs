//! Two hosts whose logs are compared over the engine: what a superuser of it, and who replaces a host's files, can do unnoticed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::cluster::{self, Database};
use crate::common::dash::{Dash, Options, PATIENCE};
use crate::common::given::is_given;
use crate::seats::{key_pair, offices};

const GRAVE: &str =
    "name = \"grave\"\nextends = \"analysis\"\n[grant]\nquorum = 1\nroles = [\"data\"]\n";

/// A host that knows the others by the file of hosts, which does not exist yet.
pub(super) fn host(offices: &Path, name: &str, db: &Database, args: &[&str]) -> Dash {
    let at = |name: &str| offices.join(name).display().to_string();
    let url = db.url(&format!("host_{name}"));
    let config = format!(
        "profile = \"grave\"\nprofiles = [\"grave\"]\n[desk]\nname = {name:?}\nurl = {url:?}\nsigners = {:?}\n\
         people = {:?}\nrevoked = {:?}\nhosts = {:?}\n",
        at("allowed_signers"),
        at("people.toml"),
        at("revoked_keys"),
        at("hosts"),
    );
    Dash::with(&Options {
        config: &config,
        policies: &[("grave.toml", GRAVE)],
        // A line of the operator's stands in one row.
        size: (250, 60),
        args,
        ..Options::default()
    })
}

/// Ends a host as its operator does: its last checkpoint is signed then.
pub(super) fn ends(host: &mut Dash) {
    host.signal(Signal::SIGTERM);
    host.wait_exit();
}

/// A rule of the test's own file of hosts.
pub(super) fn line(name: &str, host: &Dash) -> String {
    let key = std::fs::read_to_string(host.state.join("desk/host_key.pub")).unwrap();
    format!("{name} {key}")
}

/// Copies a state folder, with its checkpoints beside it, to another place.
pub(super) fn copy(from: &Path, to: &Path) {
    for end in ["", "-checkpoints"] {
        let with = |path: &Path| PathBuf::from(format!("{}{end}", path.display()));
        copy_folder(&with(from), &with(to));
    }
}

fn copy_folder(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    let copied = Command::new("cp").arg("-a").args([from, to]).status();
    assert!(copied.unwrap().success());
}

pub(super) struct Lab {
    pub runtime: tokio::runtime::Runtime,
    pub db: Database,
    pub offices: TempDir,
}

impl Lab {
    pub fn open() -> Option<Self> {
        if !is_given(Command::new("ssh-keygen").output().is_ok(), "ssh-keygen") {
            return None;
        }
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let db = runtime.block_on(cluster::desk())?;
        let ana = key_pair("ana@x");
        let offices = offices(&[("ana@x", 40_001, &ana.1)]);
        Some(Self {
            runtime,
            db,
            offices,
        })
    }

    pub fn knows(&self, hosts: &[String]) {
        let path = self.offices.path().join("hosts");
        std::fs::write(&path, hosts.concat()).unwrap();
    }

    /// As the engine's superuser.
    pub fn sql(&self, sql: &str) {
        self.runtime.block_on(async {
            let admin = self.db.client("postgres").await;
            admin.batch_execute(sql).await.unwrap();
        });
    }

    pub fn count(&self, of: &str) -> i64 {
        self.runtime.block_on(async {
            let admin = self.db.client("postgres").await;
            let row = admin
                .query_one(&format!("SELECT count(*) FROM {of}"), &[])
                .await
                .unwrap();
            row.get(0)
        })
    }

    pub fn wait_count(&self, of: &str, n: i64) {
        let until = Instant::now() + PATIENCE;
        while self.count(of) < n {
            assert!(Instant::now() < until, "{of} is never {n}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// What a command says to this login: its exit code and its output.
    pub fn says(&self, login: &str, args: &[&str]) -> (i32, String) {
        let home = tempfile::tempdir().unwrap();
        let config = home.path().join("config.toml");
        let hosts = self.offices.path().join("hosts");
        let text = format!(
            "[desk]\nhosts = {:?}\nurl = {:?}\n",
            hosts,
            self.db.url(login)
        );
        std::fs::write(&config, text).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_countersign"))
            .arg("--config")
            .arg(&config)
            .args(args)
            .env_clear()
            .env("HOME", home.path())
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (
            output.status.code().unwrap(),
            String::from_utf8(text).unwrap(),
        )
    }

    /// What the auditor hears while a change of the superuser stands, which is then taken back.
    fn audit_while(&self, change: &str) -> (i32, String) {
        let tables = ["offer", "statement", "checkpoint", "cosignature"];
        for table in tables {
            self.sql(&format!(
                "CREATE TABLE public.{table} AS SELECT * FROM desk.{table}"
            ));
        }
        self.sql(change);
        let said = self.says("audit_z", &["audit", "desk"]);
        for table in tables {
            let columns = match table {
                "offer" => "host, proposal, version, roles, deadline, body, signature, at",
                "statement" => "host, proposal, seq, person, kind, body, signature, at",
                "checkpoint" => "host, size, body, signature, at",
                _ => "host, size, root, cosigner, signature, at",
            };
            self.sql(&format!(
                "DELETE FROM desk.{table}; ALTER TABLE desk.{table} DISABLE TRIGGER USER; \
                 INSERT INTO desk.{table} ({columns}) SELECT {columns} FROM public.{table}; \
                 ALTER TABLE desk.{table} ENABLE TRIGGER USER; DROP TABLE public.{table}"
            ));
        }
        said
    }
}

#[test]
fn a_log_that_is_rolled_back_or_rewritten_is_named_by_its_host_and_by_others_and_the_auditor_finds_each_changed_row()
 {
    let Some(lab) = Lab::open() else { return };
    let offices = lab.offices.path();
    let mut a = host(offices, "a", &lab.db, &[]);
    let mut b = host(offices, "b", &lab.db, &["host"]);
    lab.knows(&[line("a", &a), line("b", &b)]);
    let mut agents = [a.agent(), b.agent()];
    for agent in &mut agents {
        agent.propose(json!({"code": "print(1)\n"}));
    }
    lab.wait_count("desk.offer", 2);
    // What they asked for is withdrawn.
    drop(agents);
    lab.wait_count("desk.statement WHERE kind = 'outcome'", 2);
    ends(&mut a);
    ends(&mut b);
    let older = TempDir::new().unwrap();
    copy(&a.state, &older.path().join("state"));

    // Each signs the other's, and proves how its proposal ended.
    a.then(&[]);
    b.then(&["host"]);
    lab.wait_count("desk.cosignature", 2);
    lab.wait_count("desk.statement WHERE kind = 'proof'", 2);
    let (code, said) = lab.says("audit_z", &["audit", "desk"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(said.matches("  withdrawn  ").count(), 2, "{said}");
    assert!(
        said.contains("2 proposals of 2 hosts, 2 proved\neverything that was read holds"),
        "{said}"
    );
    assert!(
        said.contains("signed by a\n") && said.contains("signed by b\n"),
        "{said}"
    );
    let (code, said) = lab.says(
        "audit_z",
        &["audit", "desk", "--host", "a", "--format", "json"],
    );
    let whole: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, &whole["consistent"]), (0, &json!(true)), "{said}");
    assert_eq!(
        whole["proposals"][0]["proof"]["signed_by"],
        json!(["b"]),
        "{said}"
    );
    assert_eq!(lab.says("audit_z", &["audit", "desk", "--host", "c"]).0, 2);
    // Who reads no proofs is told what they may read.
    let (code, said) = lab.says("rev_ana", &["audit", "desk"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("2 proposals of 2 hosts, 0 proved"), "{said}");
    for login in ["audit_z", "rev_ana", "host_b"] {
        let (code, said) = lab.says(login, &["desk", "status"]);
        assert_eq!(code, 0, "{said}");
        assert!(
            said.contains(" old, signed by a") && said.contains(" old, signed by b"),
            "{said}"
        );
    }

    for (change, words) in [
        (
            "UPDATE desk.checkpoint SET body = body || ' ' WHERE host = 'a'",
            "is not believed: `a` did not sign this with the key in line 1 of the file of hosts",
        ),
        (
            "UPDATE desk.checkpoint SET size = size + 1 WHERE host = 'a'",
            "and stands under",
        ),
        (
            "UPDATE desk.checkpoint SET host = 'b' WHERE host = 'a'",
            "NOT BELIEVED: b: the checkpoint of",
        ),
        (
            "DELETE FROM desk.checkpoint WHERE host = 'a'",
            "that b signed is gone from the engine",
        ),
        (
            "UPDATE desk.cosignature SET root = sha256('x') WHERE host = 'a'",
            "a signature on the checkpoint of",
        ),
        (
            "UPDATE desk.cosignature SET cosigner = 'c' WHERE host = 'a'",
            "`c` is not in the file of hosts",
        ),
        (
            "UPDATE desk.offer SET body = body || ' ' WHERE host = 'a'",
            "NOT BELIEVED: a: the offer of",
        ),
        (
            "UPDATE desk.offer SET version = 7 WHERE host = 'a'",
            "it was moved",
        ),
        (
            "DELETE FROM desk.offer WHERE host = 'a'",
            "its offer is gone from the engine",
        ),
        (
            "UPDATE desk.statement SET body = body || ' ' WHERE host = 'a' AND kind = 'outcome'",
            "NOT BELIEVED: a: what it says of",
        ),
        (
            "UPDATE desk.statement SET proposal = gen_random_uuid() WHERE host = 'a' AND kind = 'proof'",
            "is not the final one of this proposal",
        ),
        (
            "UPDATE desk.statement SET signature = 'x' WHERE host = 'a' AND kind = 'proof'",
            "did not sign this",
        ),
    ] {
        let (code, said) = lab.audit_while(change);
        assert!(
            code == 1 && said.contains(words),
            "{change}: {code}\n{said}"
        );
        assert!(said.contains("\ndamaged: "), "{said}");
    }
    assert_eq!(lab.says("audit_z", &["audit", "desk"]).0, 0);

    // A wrong key in the reader's own file of hosts is one sentence about that line.
    let right = [line("a", &a), line("b", &b)];
    let nobody = key_pair("nobody").1;
    lab.knows(&[right[0].clone(), format!("b {nobody}\n")]);
    let (code, said) = lab.says("audit_z", &["audit", "desk"]);
    assert!(
        code == 1
            && said
                .contains("with the key in line 2 of the file of hosts; all name the key SHA256:"),
        "{said}"
    );
    assert_eq!(said.matches("NOT BELIEVED").count(), 1, "{said}");
    lab.knows(&right);
    let (_, found) = lab.says("rev_ana", &["doctor", "--json"]);
    for part in ["is reached: the login votes as", "hosts: a, b"] {
        assert!(found.contains(part), "{part:?}:\n{found}");
    }

    // More records, which the other one signs too.
    ends(&mut a);
    a.then(&[]);
    lab.wait_count("desk.cosignature WHERE host = 'a'", 2);
    assert_eq!(lab.says("audit_z", &["audit", "desk"]).0, 0);
    ends(&mut a);

    // Its disk is that of before.
    let (state, old) = (a.state.clone(), older.path().join("state"));
    let newer = TempDir::new().unwrap();
    let new = newer.path().join("state");
    copy(&state, &new);
    copy(&old, &state);
    let published = "desk.checkpoint WHERE host = 'a'";
    let before = lab.count(published);
    a.then(&[]);
    a.wait_for("that it was rolled back", |a, _| {
        a.log_text().contains("\"kind\":\"doubted\"")
    });
    a.wait_text("ROLLED BACK");
    b.wait_for("that the other was rolled back", |b, _| {
        b.log_text().contains("\"kind\":\"doubted\"")
    });
    b.wait_text("a: ROLLED BACK, by its own word");
    // It signs nothing of the older log but that word, and takes nothing.
    assert_eq!(lab.count(published), before + 1);
    let mut agent = a.agent();
    let refused = agent.call("propose", json!({"code": "print(2)\n"}));
    assert_eq!(refused["error"]["data"]["doubted"], true, "{refused}");
    drop(agent);
    for login in ["audit_z", "rev_ana"] {
        let (code, said) = lab.says(login, &["desk", "status"]);
        assert!(
            code == 1 && said.contains("WARNING     a: ROLLED BACK, by its own word"),
            "{said}"
        );
    }
    let (code, said) = lab.says("audit_z", &["audit", "desk"]);
    for part in [
        "NOT BELIEVED: a: ROLLED BACK, by its own word",
        "DOUBTED, record",
        "host a: DOUBTED, checkpoint of",
        "2 proposals of 2 hosts, 1 proved, 1 of hosts whose log is doubted",
    ] {
        assert!(code == 1 && said.contains(part), "{part:?}:\n{said}");
    }
    let found = a.cli(&["doctor", "--json"]);
    let found = String::from_utf8(found.stdout).unwrap();
    assert!(
        found.contains("ROLLED BACK: this log has")
            && !found.contains("OTHERS DO NOT HEAR IT")
            && found.contains("put the newer state folder back"),
        "{found}"
    );

    // The newer one is put back, and everything goes on.
    ends(&mut a);
    copy(&new, &state);
    a.then(&[]);
    b.wait_text("a: its log is again the one that it signed");
    lab.wait_count("desk.cosignature WHERE host = 'a'", 3);
    let (code, said) = lab.says("audit_z", &["audit", "desk"]);
    assert!(code == 0 && said.contains("2 hosts, 2 proved\n"), "{said}");
    ends(&mut a);
    copy(&old, &state);
    a.then(&[]);
    b.wait_for("that it was rolled back again", |b, _| {
        b.log_text().matches("\"kind\":\"doubted\"").count() == 2
    });

    // Who removes the evidence from the engine does not reach what the other one saw, and its log has it once.
    lab.sql("DELETE FROM desk.checkpoint WHERE host = 'a'; DELETE FROM desk.cosignature WHERE host = 'a'");
    ends(&mut b);
    b.then(&["host"]);
    b.wait_text("a: ROLLED BACK, by its own word");
    assert_eq!(b.log_text().matches("\"kind\":\"doubted\"").count(), 2);

    // Another log in the place of the other one's, with its host's key, and longer.
    let mut other = Dash::with(&Options::default());
    let mut agent = other.agent();
    for n in 0..20 {
        agent.propose(json!({"code": format!("print({n})\n")}));
    }
    drop(agent);
    other.wait_for("their ends", |other, _| {
        other.log_text().matches("\"kind\":\"withdrawn\"").count() == 20
    });
    ends(&mut other);
    lab.wait_count("desk.cosignature WHERE host = 'b' AND cosigner = 'a'", 2);
    ends(&mut b);
    let published = "desk.checkpoint WHERE host = 'b'";
    let before = lab.count(published);
    let kept = TempDir::new().unwrap();
    copy_folder(&b.state.join("desk"), &kept.path().join("desk"));
    copy(&other.state, &b.state);
    std::fs::remove_file(kept.path().join("desk/published.json")).unwrap();
    copy_folder(&kept.path().join("desk"), &b.state.join("desk"));
    b.then(&["host"]);
    b.wait_text("the log is not the one that was signed: FORK");
    a.wait_text("b: FORK, by its own word");
    assert_eq!(lab.count(published), before + 1);
    let (code, said) = lab.says("audit_z", &["audit", "desk"]);
    assert!(
        code == 1 && said.contains("NOT BELIEVED: b: FORK, by its own word"),
        "{said}"
    );

    // With a new key it is a new host, and goes on with the log that it has.
    ends(&mut b);
    for name in ["host_key", "host_key.pub"] {
        std::fs::remove_file(b.state.join("desk").join(name)).unwrap();
    }
    b.then(&["host"]);
    b.wait_text("ready");
    let offers = lab.count("desk.offer");
    let mut agent = b.agent();
    agent.propose(json!({"code": "print(3)\n"}));
    lab.wait_count("desk.offer", offers + 1);
}
