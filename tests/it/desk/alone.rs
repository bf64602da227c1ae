//! What one person alone, or the engine that withholds what another one said, gets past two people: nothing.

use std::path::Path;
use std::process::Command;

use countersign::desk::engine::{Duty, Member, OfferRow, VoteRow};
use countersign::model::{NAMESPACE, Viewed, Vote, VoteKind};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::attacks::{Pen, ballot, offered, told, written};
use super::cluster::{self, Database};
use super::seats::{host, host_with};
use crate::common::given::is_given;
use crate::seats::{key_pair, offices};

/// A vote of this person on what this row offers.
fn vote(pen: &Pen, person: &str, row: &OfferRow, kind: VoteKind) -> VoteRow {
    let voter = person.parse().unwrap();
    let viewed = Viewed {
        lines_seen: 1,
        ..Viewed::default()
    };
    let text = ballot(row).text(kind, &voter, &viewed, None);
    let one = Vote {
        kind,
        voter,
        viewed,
        reason: None,
        signature: pen.sign(NAMESPACE, &text),
    };
    VoteRow {
        host: row.host.clone(),
        proposal: row.proposal,
        version: row.version,
        kind,
        voter: one.voter.clone(),
        body: serde_json::to_vec(&one).unwrap(),
        login: String::new(),
    }
}

/// Ana, ben and cem, with a key each.
fn three() -> ([(String, String); 3], [Pen; 3], TempDir) {
    let keys = ["ana@x", "ben", "cem"].map(key_pair);
    let pens = keys.each_ref().map(Pen::of);
    let offices = offices(&[
        ("ana@x", 40_001, &keys[0].1),
        ("ben", 40_002, &keys[1].1),
        ("cem", 40_003, &keys[2].1),
    ]);
    (keys, pens, offices)
}

/// The file of these people with another text in it.
fn with(offices: &Path, name: &str, old: &str, new: &str) {
    let text = std::fs::read_to_string(offices.join(name)).unwrap();
    assert!(text.contains(old), "{text}");
    written(offices, name, &text.replace(old, new));
}

/// A desk where cem is asked too.
async fn desk() -> Option<Database> {
    let db = cluster::desk().await?;
    let roles = ["data".parse().unwrap()].into();
    let cem = Member {
        login: "rev_cem".parse().unwrap(),
        duty: Duty::Reviewer("cem".parse().unwrap(), roles),
    };
    db.engine("postgres").add_member(&cem).await.unwrap();
    Some(db)
}

fn is_ready() -> bool {
    is_given(Command::new("ssh-keygen").output().is_ok(), "ssh-keygen")
}

#[test]
fn nobody_counts_for_what_their_own_agent_asks_or_under_two_names() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(db) = runtime.block_on(desk()) else {
        return;
    };
    if !is_ready() {
        return;
    }
    let (keys, pens, offices) = three();
    // The agent of these tests is ana's.
    let me = nix::unistd::geteuid().to_string();
    with(offices.path(), "people.toml", "[agents]\nuids = [0]\n", "");
    with(
        offices.path(),
        "people.toml",
        "uids = [40001]",
        &format!("uids = [{me}]"),
    );
    let a = host(offices.path(), "a", &db.url("host_a"));
    let cast = |row: &VoteRow, login: &str| runtime.block_on(db.engine(login).cast(row)).unwrap();
    let granted = |id: &Value| {
        let log = a.log_text();
        let id = id.as_str().unwrap();
        let is = |line: &&str| line.contains(id) && line.contains("\"kind\":\"granted\"");
        log.lines().find(is).map(str::to_owned)
    };
    let mut agent = a.agent();
    let (id, row) = offered(&mut agent, &db, &runtime);
    cast(&vote(&pens[0], "ana@x", &row, VoteKind::Grant), "rev_ana");
    cast(&vote(&pens[1], "ben", &row, VoteKind::Grant), "rev_ben");
    a.wait_for("both votes", |host, _| {
        let log = host.log_text();
        let about = log
            .lines()
            .filter(|line| line.contains(id.as_str().unwrap()));
        about
            .filter(|line| line.contains("\"kind\":\"vote"))
            .count()
            == 2
    });
    assert_eq!(agent.state(&id), "pending");
    assert_eq!(granted(&id), None);
    cast(&vote(&pens[2], "cem", &row, VoteKind::Grant), "rev_cem");
    assert_eq!(agent.outcome(&id)["state"], "succeeded");
    let line = granted(&id).unwrap();
    assert!(!line.contains("ana@x"), "her own agent asked: {line}");

    // Her other name has her key: a file in which that could be is no file.
    let (id, row) = offered(&mut agent, &db, &runtime);
    let cems = keys[2].1.trim();
    with(offices.path(), "allowed_signers", cems, keys[0].1.trim());
    cast(&vote(&pens[0], "cem", &row, VoteKind::Grant), "rev_cem");
    cast(&vote(&pens[1], "ben", &row, VoteKind::Grant), "rev_ben");
    told(&a, &id, "vote_refused");
    assert_eq!(agent.state(&id), "pending");
    assert_eq!(granted(&id), None);
}

#[test]
fn a_denial_that_the_engine_withholds_grants_nothing_where_everybody_is_asked() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(db) = runtime.block_on(desk()) else {
        return;
    };
    if !is_ready() {
        return;
    }
    let (_, pens, offices) = three();
    let all =
        "name = \"grave\"\nextends = \"analysis\"\n[grant]\nquorum = \"all\"\nroles = [\"data\"]\n";
    let a = host_with(offices.path(), "a", &db.url("host_a"), all);
    let admin = runtime.block_on(db.client("postgres"));
    let withhold = "CREATE FUNCTION public.lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; \
                    CREATE TRIGGER lose BEFORE INSERT ON desk.vote FOR EACH ROW WHEN (NEW.kind = 'deny') \
                    EXECUTE FUNCTION public.lose()";
    runtime.block_on(admin.batch_execute(withhold)).unwrap();
    let mut agent = a.agent();
    let (id, row) = offered(&mut agent, &db, &runtime);
    for (pen, person, login) in [(&pens[0], "ana@x", "rev_ana"), (&pens[2], "cem", "rev_cem")] {
        let grant = vote(pen, person, &row, VoteKind::Grant);
        runtime.block_on(db.engine(login).cast(&grant)).unwrap();
    }
    a.wait_for("both grants", |host, _| {
        host.log_text().matches("\"kind\":\"voted\"").count() == 2
    });
    let denial = vote(&pens[1], "ben", &row, VoteKind::Deny);
    // Whoever denied hears that it is not there.
    let lost = runtime.block_on(db.engine("rev_ben").cast(&denial));
    assert!(lost.is_err(), "{lost:?}");
    let soon = agent.propose(json!({"code": "print(1)\n", "ttl_s": 2}));
    assert_eq!(agent.outcome(&soon["id"])["state"], "expired");
    assert_eq!(agent.state(&id), "pending");
    assert!(!a.log_text().contains("\"kind\":\"granted\""));
}
