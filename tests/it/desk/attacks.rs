//! Who rules the engine, or has a reviewer's password, grants nothing: what they write, at a real host.

use std::path::Path;
use std::process::Command;

use countersign::broker::offer::Offer;
use countersign::desk::engine::{OfferRow, VoteRow};
use countersign::model::{
    Ballot, Digest, HOST_NAMESPACE, NAMESPACE, Nonce, Terms, Viewed, Vote, VoteKind,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::cluster::{self, Database};
use super::seats::host;
use crate::common::agent::Agent;
use crate::common::dash::Dash;
use crate::common::given::is_given;
use crate::seats::{key_pair, offices};

/// Somebody's private key in a file of its own.
pub struct Pen(TempDir);

impl Pen {
    pub fn of((private, _): &(String, String)) -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("key");
        std::fs::write(&path, private).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        Self(dir)
    }

    pub fn sign(&self, namespace: &str, text: &str) -> String {
        let path = self.0.path().join("text");
        std::fs::write(&path, text).unwrap();
        let signed = Command::new("ssh-keygen")
            .args(["-q", "-Y", "sign", "-n", namespace, "-f"])
            .arg(self.0.path().join("key"))
            .arg(&path)
            .output()
            .unwrap();
        assert!(signed.status.success(), "{signed:?}");
        let armour = path.with_extension("sig");
        let text = std::fs::read_to_string(&armour).unwrap();
        std::fs::remove_file(&armour).unwrap();
        text
    }
}

/// A good vote of `ana@x` on a ballot, with everything seen.
fn vote(pen: &Pen, ballot: &Ballot, kind: VoteKind) -> Vote {
    let viewed = Viewed {
        lines_seen: 1,
        ..Viewed::default()
    };
    let voter = "ana@x".parse().unwrap();
    let signature = pen.sign(NAMESPACE, &ballot.text(kind, &voter, &viewed, None));
    Vote {
        kind,
        voter,
        viewed,
        reason: None,
        signature,
    }
}

/// A proposal, and the offer of it that came to the engine.
pub fn offered(
    agent: &mut Agent,
    db: &Database,
    runtime: &tokio::runtime::Runtime,
) -> (Value, OfferRow) {
    let proposed = agent.propose(json!({"code": "print(1)\n"}));
    let id = proposed["id"].as_str().unwrap().to_owned();
    let reader = db.engine("rev_ana");
    let row = runtime.block_on(async {
        loop {
            let page = reader.offers(None).await.unwrap();
            let row = page
                .rows
                .into_iter()
                .find(|row| row.proposal.to_string() == id);
            match row {
                Some(row) => return row,
                None => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
            }
        }
    });
    (proposed["id"].clone(), row)
}

pub fn ballot(row: &OfferRow) -> Ballot {
    Offer::read(&row.body).unwrap().ballot(&row.body)
}

fn people() -> ([(String, String); 3], TempDir) {
    let keys = ["ana@x", "ben", "eve"].map(key_pair);
    let uids = [40_001, 40_002];
    let offices = offices(&[("ana@x", uids[0], &keys[0].1), ("ben", uids[1], &keys[1].1)]);
    (keys, offices)
}

/// Waits until the host's log says this of the proposal.
pub fn told(host: &Dash, id: &Value, words: &str) {
    let id = id.as_str().unwrap();
    host.wait_for(words, |host, _| {
        host.log_text()
            .lines()
            .any(|line| line.contains(id) && line.contains(words))
    });
}

pub fn written(at: &Path, name: &str, text: &str) {
    let path = at.join(format!(".{name}"));
    std::fs::write(&path, text).unwrap();
    std::fs::rename(path, at.join(name)).unwrap();
}

type Forge = fn(&[Pen; 3], &Ballot, &Ballot) -> Vote;

#[test]
fn no_row_of_the_engine_is_a_vote_unless_its_voter_signed_just_that() {
    if !is_given(Command::new("ssh-keygen").output().is_ok(), "ssh-keygen") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(db) = runtime.block_on(cluster::desk()) else {
        return;
    };
    let (keys, offices) = people();
    let pens = keys.each_ref().map(Pen::of);
    let a = host(offices.path(), "a", &db.url("host_a"));
    let admin = runtime.block_on(db.client("postgres"));
    let mut agent = a.agent();
    let (_, before) = offered(&mut agent, &db, &runtime);
    let before = ballot(&before);
    let other = Digest::of(b"other");
    // Each as a superuser of the engine writes it, in the name of whose password was stolen.
    let table: [(&str, Forge, &str); 11] = [
        (
            "a stranger's key",
            |p, b, _| vote(&p[2], b, VoteKind::Grant),
            "key",
        ),
        (
            "another person's key",
            |p, b, _| vote(&p[1], b, VoteKind::Grant),
            "key",
        ),
        (
            "other code",
            |p, b, _| {
                let code = Digest::of(b"other");
                vote(&p[0], &Ballot { code, ..b.clone() }, VoteKind::Grant)
            },
            "not over",
        ),
        (
            "for another host",
            |p, b, _| {
                let host = "SHA256:other".to_owned();
                vote(&p[0], &Ballot { host, ..b.clone() }, VoteKind::Grant)
            },
            "not over",
        ),
        (
            "of another proposal",
            |p, _, before| vote(&p[0], before, VoteKind::Grant),
            "not over",
        ),
        (
            "of another nonce",
            |p, b, _| {
                let nonce = Nonce(Digest::of(b"other"));
                vote(&p[0], &Ballot { nonce, ..b.clone() }, VoteKind::Grant)
            },
            "not over",
        ),
        (
            "for a later deadline",
            |p, b, _| {
                let deadline = "2099-01-01T00:00:00Z".parse().unwrap();
                vote(
                    &p[0],
                    &Ballot {
                        deadline,
                        ..b.clone()
                    },
                    VoteKind::Grant,
                )
            },
            "not over",
        ),
        (
            "for no terms",
            |p, b, _| {
                let terms = Terms::default().digest();
                vote(&p[0], &Ballot { terms, ..b.clone() }, VoteKind::Grant)
            },
            "not over",
        ),
        (
            "a denial that says it grants",
            |p, b, _| Vote {
                kind: VoteKind::Grant,
                ..vote(&p[0], b, VoteKind::Deny)
            },
            "not over",
        ),
        (
            "more seen than was signed",
            |p, b, _| {
                let mut one = vote(&p[0], b, VoteKind::Grant);
                one.viewed.selected_ms += 1;
                one
            },
            "not over",
        ),
        (
            "signed as a host signs",
            |p, b, _| {
                let mut one = vote(&p[0], b, VoteKind::Grant);
                let text = b.text(one.kind, &one.voter, &one.viewed, None);
                one.signature = p[0].sign(HOST_NAMESPACE, &text);
                one
            },
            "namespace",
        ),
    ];
    assert_ne!(before.code, other);
    for (name, forge, why) in table {
        let (id, row) = offered(&mut agent, &db, &runtime);
        let vote = forge(&pens, &ballot(&row), &before);
        let body = serde_json::to_vec(&vote).unwrap();
        let insert = "INSERT INTO desk.vote (host, proposal, version, kind, voter, body, login) \
                      VALUES ('a', $1, 1, 'grant', 'ana@x', $2, 'rev_ana')";
        let id_of_row = row.proposal.uuid();
        runtime
            .block_on(admin.execute(insert, &[&id_of_row, &body]))
            .unwrap();
        told(&a, &id, "vote_refused");
        let log = a.log_text();
        let id_text = id.as_str().unwrap();
        let line = log
            .lines()
            .find(|line| line.contains(id_text) && line.contains("vote_refused"))
            .unwrap();
        assert!(line.contains(why), "{name}: {line}");
        assert_eq!(agent.state(&id), "pending", "{name}");
    }
    assert!(!a.log_text().contains("\"kind\":\"voted\""));
    assert!(!a.log_text().contains("\"kind\":\"granted\""));
}

#[test]
fn votes_that_come_many_times_and_race_grant_once_and_only_while_their_voters_may_vote() {
    if !is_given(Command::new("ssh-keygen").output().is_ok(), "ssh-keygen") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(db) = runtime.block_on(cluster::desk()) else {
        return;
    };
    let (keys, offices) = people();
    let pens = keys.each_ref().map(Pen::of);
    let a = host(offices.path(), "a", &db.url("host_a"));
    let mut agent = a.agent();
    let (id, row) = offered(&mut agent, &db, &runtime);
    let ballot = ballot(&row);
    let of = |person: &str, pen: &Pen, selected_ms: u64| {
        let mut one = vote(pen, &ballot, VoteKind::Grant);
        one.voter = person.parse().unwrap();
        one.viewed.selected_ms = selected_ms;
        let text = ballot.text(one.kind, &one.voter, &one.viewed, None);
        one.signature = pen.sign(NAMESPACE, &text);
        VoteRow {
            host: "a".to_owned(),
            proposal: row.proposal,
            version: row.version,
            kind: one.kind,
            voter: one.voter.clone(),
            body: serde_json::to_vec(&one).unwrap(),
            login: String::new(),
        }
    };
    let (ana, ben) = (of("ana@x", &pens[0], 1), of("ben", &pens[1], 1));
    // Ana votes, and is then nobody's voter any more.
    runtime.block_on(db.engine("rev_ana").cast(&ana)).unwrap();
    told(&a, &id, "\"kind\":\"voted\"");
    let signers = std::fs::read_to_string(offices.path().join("allowed_signers")).unwrap();
    let without: Vec<&str> = signers
        .lines()
        .filter(|line| !line.starts_with("ana"))
        .collect();
    written(
        offices.path(),
        "allowed_signers",
        &(without.join("\n") + "\n"),
    );
    runtime.block_on(db.engine("rev_ben").cast(&ben)).unwrap();
    a.wait_for("the second vote", |host, _| {
        host.log_text().matches("\"kind\":\"voted\"").count() == 2
    });
    assert_eq!(agent.state(&id), "pending");
    // She is one again: her vote, of which she was told that it counts no more, does not come back, nor sent in other bytes.
    written(offices.path(), "allowed_signers", &signers);
    let mut again = ana.clone();
    again.body.extend(b"  ");
    runtime.block_on(db.engine("rev_ana").cast(&again)).unwrap();
    told(&a, &id, "has to vote again");
    assert_eq!(agent.state(&id), "pending");
    // She votes once more: now both count, however often and in whichever order they come.
    let ana = of("ana@x", &pens[0], 2);
    runtime.block_on(async {
        let (one, two) = (db.engine("rev_ana"), db.engine("rev_ben"));
        let mut again = ana.clone();
        // The same vote in other bytes.
        again.body.push(b' ');
        let mut more = ben.clone();
        more.body.push(b'\n');
        let (x, y, z) = tokio::join!(one.cast(&again), two.cast(&more), two.cast(&ben));
        x.and(y).and(z).unwrap();
    });
    let outcome = agent.outcome(&id);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    let log = a.log_text();
    for kind in ["granted", "started", "finished"] {
        let times = log.matches(&format!("\"kind\":\"{kind}\"")).count();
        assert_eq!(times, 1, "{kind}: {log}");
    }
    // The host's word is there for those who look later.
    let said = runtime.block_on(async {
        let reader = db.engine("rev_ana");
        loop {
            let page = reader.statements_for(&[row.proposal], None).await.unwrap();
            let all: Vec<String> = page
                .rows
                .iter()
                .map(|row| String::from_utf8(row.body.clone()).unwrap())
                .collect();
            if all.iter().any(|body| body.contains("\"succeeded\"")) {
                return all;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    });
    assert!(
        said.iter().any(|body| body.contains("\"counted\"")),
        "{said:?}"
    );
}
