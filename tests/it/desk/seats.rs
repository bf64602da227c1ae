//! Two hosts and three reviewers, each in a network of its own, with nothing between them but the engine.

use std::path::Path;

use countersign::desk::engine::{Duty, Member};
use serde_json::json;

use super::cluster::{self, Database};
use crate::common::dash::{Dash, Options};
use crate::seats::{denies, grants, key_pair, offices, users};

const GRAVE: &str = "name = \"grave\"\nextends = \"analysis\"\n[grant]\nquorum = 2\nroles = [\"data\"]\nveto = [\"security\"]\n";

/// A host without a socket for reviewers.
pub fn host(offices: &Path, name: &str, url: &str) -> Dash {
    host_with(offices, name, url, GRAVE)
}

pub fn host_with(offices: &Path, name: &str, url: &str, grave: &str) -> Dash {
    let at = |name: &str| offices.join(name).display().to_string();
    let config = format!(
        "profile = \"grave\"\nprofiles = [\"grave\"]\n[desk]\nname = {name:?}\nurl = {url:?}\nsigners = {:?}\n\
         people = {:?}\nrevoked = {:?}\n",
        at("allowed_signers"),
        at("people.toml"),
        at("revoked_keys"),
    );
    Dash::with(&Options {
        config: &config,
        policies: &[("grave.toml", grave)],
        alone: nix::unistd::geteuid().is_root(),
        ..Options::default()
    })
}

/// A seat over the engine: it is told of no host, and believes those of its file.
pub fn seat(url: &str, hosts: &str, uid: u32, (private, public): &(String, String)) -> Dash {
    Dash::launch(&Options {
        config: &format!("[desk]\nhosts = \"hosts\"\nkey = \"key\"\nurl = {url:?}\n"),
        files: &[("hosts", hosts), ("key", private), ("key.pub", public)],
        args: &["review"],
        size: (100, 30),
        uid: Some(uid),
        alone: true,
        ..Options::default()
    })
}

pub fn host_line(name: &str, host: &Dash) -> String {
    let key = std::fs::read_to_string(host.state.join("desk/host_key.pub")).unwrap();
    format!("{name} {key}")
}

async fn desk() -> Option<Database> {
    let db = cluster::desk().await?;
    let cyd = Member {
        login: "rev_cyd".parse().unwrap(),
        duty: Duty::Reviewer(
            "cyd".parse().unwrap(),
            ["data", "security"]
                .map(|role| role.parse().unwrap())
                .into(),
        ),
    };
    db.engine("postgres").add_member(&cyd).await.unwrap();
    Some(db)
}

#[test]
fn three_people_grant_deny_veto_and_let_expire_what_two_hosts_offer_on_the_engine() {
    let Some([one, two, three]) = users(["daemon", "bin", "sys"]) else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(db) = runtime.block_on(desk()) else {
        return;
    };
    let (ana, ben, cyd) = (key_pair("ana@x"), key_pair("ben"), key_pair("cyd"));
    let offices = offices(&[
        ("ana@x", one, &ana.1),
        ("ben", two, &ben.1),
        ("cyd", three, &cyd.1),
    ]);
    // Cyd only ends things.
    let people = offices.path().join("people.toml");
    let text = std::fs::read_to_string(&people).unwrap();
    let (others, cyds) = text.split_once("[people.\"cyd\"]").unwrap();
    let cyds = cyds.replace("\"data\"", "\"security\"");
    std::fs::write(&people, format!("{others}[people.\"cyd\"]{cyds}")).unwrap();
    let (a, b) = (
        host(offices.path(), "a", &db.url("host_a")),
        host(offices.path(), "b", &db.url("host_b")),
    );
    let hosts = [host_line("a", &a), host_line("b", &b)].concat();
    let mut ana = seat(&db.url("rev_ana"), &hosts, one, &ana);
    let mut ben = seat(&db.url("rev_ben"), &hosts, two, &ben);
    let mut cyd = seat(&db.url("rev_cyd"), &hosts, three, &cyd);
    let mut agent = a.agent();
    // What an agent brings is read like its code.
    let brings = json!({"code": "print(x * 7)\n", "title": "a sum", "inputs": {"x": {"json": 6}}});
    let first = agent.propose(brings);
    for seat in [&ana, &ben, &cyd] {
        seat.wait_text("a sum");
    }
    // Each reads it, and the others hear that.
    ana.go_to_urgent();
    ben.go_to_urgent();
    ana.wait_text("READING");
    let voted = |n: usize| a.log_text().matches("\"kind\":\"voted\"").count() == n;
    grants(&mut ana, || voted(1));
    assert_eq!(agent.state(&first["id"]), "pending");
    grants(&mut ben, || voted(2));
    let outcome = agent.outcome(&first["id"]);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    assert_eq!(outcome["run"]["stdout"], "42\n");
    assert!(
        a.log_text().contains("\"engine\":{\"login\":\"rev_ana\"}"),
        "{}",
        a.log_text()
    );

    // The other host's, in the same seat.
    let mut other = b.agent();
    let second = other.propose(json!({"code": "print(1)\n", "title": "another"}));
    denies(&mut ben, "another", "not today");
    let outcome = other.outcome(&second["id"]);
    assert_eq!(outcome["state"], "denied", "{outcome}");
    assert_eq!(outcome["decision"]["reason"], "not today");
    // Who has seen nothing of it but that it is over.
    ana.wait_text("⊘");

    // One grant of the two, and then nobody can grant it any more.
    let third = other.propose(json!({"code": "print(2)\n", "title": "a third"}));
    ana.wait_text("a third");
    grants(&mut ana, || {
        b.log_text().matches("\"kind\":\"voted\"").count() == 2
    });
    denies(&mut cyd, "a third", "never");
    let outcome = other.outcome(&third["id"]);
    assert_eq!(outcome["state"], "denied", "{outcome}");
    assert!(
        b.log_text().contains("\"kind\":\"veto\""),
        "{}",
        b.log_text()
    );

    // Nobody answers.
    let fourth = agent.propose(json!({"code": "print(3)\n", "title": "a fourth", "ttl_s": 4}));
    let outcome = agent.outcome(&fourth["id"]);
    assert_eq!(outcome["state"], "expired", "{outcome}");
    ana.wait_text("⧗ ");

    // What each of them keeps is sound by itself.
    for seat in [&ana, &ben, &cyd] {
        let own = seat.state.join("review");
        let verified = seat.cli(&["--state-dir", own.to_str().unwrap(), "audit", "verify"]);
        assert!(verified.status.success(), "{verified:?}");
    }
    for host in [&a, &b] {
        let verified = host.cli(&["audit", "verify"]);
        assert!(verified.status.success(), "{verified:?}");
    }
}
