//! Rows that somebody adds in a host's name, who has its password of the engine and not its key.

use countersign::desk::engine::{CheckpointRow, EngineError};
use serde_json::json;
use tempfile::TempDir;

use super::cluster;
use super::evidence::{Lab, copy, ends, host, line};

/// Fills what is left of a host's hour: its checkpoints, and what has the shape of a doubt.
const CHECKPOINTS: &str = "INSERT INTO desk.checkpoint (host, size, body, signature) \
    SELECT 'a', 9000000 + n, convert_to('{\"format\":\"countersign checkpoint 1\",\"n\":' || n || '}', 'UTF8'), 'x' FROM generate_series(1, \
    240 - (SELECT count(*)::int FROM desk.checkpoint WHERE host = 'a' AND NOT doubt AND at > now() - interval '1 hour')) n";
const DOUBTS: &str = "INSERT INTO desk.checkpoint (host, size, body, signature) \
    SELECT 'a', 9000000 + n, convert_to('{\"format\":\"countersign doubt 1\",\"n\":' || n || '}', 'UTF8'), 'x' FROM generate_series(1, \
    32 - (SELECT count(*)::int FROM desk.checkpoint WHERE host = 'a' AND doubt AND at > now() - interval '1 hour')) n";

#[tokio::test]
async fn a_doubt_has_room_of_its_own_and_is_read_behind_noise() {
    let Some(db) = cluster::desk().await else {
        return;
    };
    let (a, b) = (db.engine("host_a"), db.engine("host_b"));
    let thief = db.client("host_a").await;
    let row = |size: u64, body: &str| CheckpointRow {
        host: "a".to_owned(),
        size,
        body: body.into(),
        signature: "signed".to_owned(),
    };
    let doubt = |n: u64| {
        row(
            n,
            &format!("{{\"format\":\"countersign doubt 1\",\"real\":{n}}}"),
        )
    };
    let refused = |done: Result<(), EngineError>, words: &str| {
        let error = done.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    let real = row(3, "{\"format\":\"countersign checkpoint 1\"}");
    a.publish_checkpoint(&real).await.unwrap();
    thief.batch_execute(CHECKPOINTS).await.unwrap();
    refused(
        a.publish_checkpoint(&row(4, "x")).await,
        "240 checkpoints of the last hour",
    );
    // What is there already is no new row.
    a.publish_checkpoint(&real).await.unwrap();
    a.publish_checkpoint(&doubt(3)).await.unwrap();
    thief.batch_execute(DOUBTS).await.unwrap();
    refused(
        a.publish_checkpoint(&doubt(4)).await,
        "32 doubts of the last hour",
    );
    a.publish_checkpoint(&doubt(3)).await.unwrap();
    // It is short, so all of them fit into an answer.
    let long = row(
        5,
        &format!(
            "{{\"format\":\"countersign doubt 1\",\"x\":\"{}\"}}",
            "x".repeat(2048)
        ),
    );
    refused(
        a.publish_checkpoint(&long).await,
        "2048 bytes with its signature",
    );

    let names = ["a".to_owned()];
    for rows in [
        b.newest_checkpoints(&names).await.unwrap(),
        b.late_checkpoints(&names).await.unwrap(),
    ] {
        assert!(
            rows.contains(&doubt(3)) && !rows.contains(&real),
            "{rows:?}"
        );
    }
    // Everything, the newest first, in pieces.
    let whole = b.whole("a").await.unwrap();
    assert!(whole.is_all);
    assert_eq!(whole.rows.len(), 240 + 32);
    assert_eq!(whole.rows.last(), Some(&real));
    assert_eq!(b.whole("b").await.unwrap().rows, []);
}

#[test]
fn a_rolled_back_host_is_not_hidden_by_who_has_its_password() {
    let Some(lab) = Lab::open() else { return };
    let offices = lab.offices.path();
    let mut a = host(offices, "a", &lab.db, &[]);
    lab.knows(&[line("a", &a)]);
    let mut agent = a.agent();
    agent.propose(json!({"code": "print(1)\n"}));
    lab.wait_count("desk.offer", 1);
    drop(agent);
    ends(&mut a);
    let older = TempDir::new().unwrap();
    copy(&a.state, &older.path().join("state"));
    for n in [1, 2] {
        a.then(&[]);
        lab.wait_count("desk.checkpoint", n);
        ends(&mut a);
    }
    let thief = |sql: &str| {
        lab.runtime.block_on(async {
            let login = lab.db.client("host_a").await;
            login.batch_execute(sql).await.unwrap();
        });
    };
    thief(CHECKPOINTS);
    thief(DOUBTS);
    copy(&older.path().join("state"), &a.state);
    a.then(&[]);

    // It finds its own checkpoints behind the noise, and says that others do not hear it.
    a.wait_text("ROLLED BACK");
    a.wait_text("OTHERS DO NOT HEAR IT");
    let doctor = |a: &crate::common::dash::Dash| {
        let found = a.cli(&["doctor", "--json"]).stdout;
        String::from_utf8(found).unwrap()
    };
    let found = doctor(&a);
    assert!(
        found.contains("OTHERS DO NOT HEAR IT") && found.contains("32 doubts of the last hour"),
        "{found}"
    );
    // Others see that the room of that host is full of what it did not sign. Nothing is gone.
    for (login, args) in [
        ("rev_ana", ["desk", "status"]),
        ("audit_z", ["audit", "desk"]),
    ] {
        let (code, said) = lab.says(login, &args);
        assert!(
            code == 1 && said.contains("rows under its name are not signed by its key"),
            "{said}"
        );
        assert!(!said.contains("gone from"), "{said}");
        assert!(!said.contains("ROLLED BACK"), "{said}");
        assert!(said.lines().count() < 20, "{said}");
    }

    // There is room again.
    lab.sql("DELETE FROM desk.checkpoint WHERE doubt");
    a.wait_text("others hear now");
    let found = doctor(&a);
    assert!(!found.contains("OTHERS DO NOT HEAR IT"), "{found}");
    // The same numbers everywhere.
    let (_, rest) = found.split_once("ROLLED BACK: this log has ").unwrap();
    let (numbers, _) = rest.split_once(" had been signed").unwrap();
    let numbers = format!("{numbers} had been signed");
    a.wait_text(&format!("ROLLED BACK: this log has {numbers}"));
    for (login, args) in [
        ("rev_ana", ["desk", "status"]),
        ("audit_z", ["audit", "desk"]),
    ] {
        let (code, said) = lab.says(login, &args);
        let words = format!("a: ROLLED BACK, by its own word: its log has {numbers}");
        assert!(code == 1 && said.contains(&words), "{words}\n{said}");
    }
}
