//! What each login may do, and what nobody may.

use std::collections::HashMap;

use tokio_postgres::{Client, SimpleQueryMessage};

use super::cluster;

/// What statements came to: the last value, else the number of rows, or the code of the refusal.
async fn outcome(client: &Client, sql: &str) -> String {
    client.batch_execute("BEGIN").await.unwrap();
    let done = client.simple_query(sql).await;
    client.batch_execute("ROLLBACK").await.unwrap();
    match done {
        Err(e) => e
            .code()
            .map_or(e.to_string(), |code| code.code().to_owned()),
        Ok(all) => {
            let value = all.iter().rev().find_map(|message| match message {
                SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or("null").to_owned()),
                _ => None,
            });
            let rows = all.iter().rev().find_map(|message| match message {
                SimpleQueryMessage::CommandComplete(n) => Some(n.to_string()),
                _ => None,
            });
            value.or(rows).unwrap()
        }
    }
}

const FIXTURES: &str = "
INSERT INTO desk.offer (host, proposal, version, roles, deadline, body, signature)
SELECT h, p::uuid, 1, r::text[], now() + interval '1 hour', '', '' FROM (VALUES
  ('a', '00000000-0000-0000-0000-000000000001', '{}'), ('a', '00000000-0000-0000-0000-000000000002', '{security}'),
  ('b', '00000000-0000-0000-0000-000000000003', '{}')) t (h, p, r);
INSERT INTO desk.vote (host, proposal, version, kind, voter, body, login) VALUES
  ('a', '00000000-0000-0000-0000-000000000001', 1, 'deny', 'ben', '', 'rev_ben'),
  ('b', '00000000-0000-0000-0000-000000000003', 1, 'deny', 'ben', '', 'rev_ben');
INSERT INTO desk.claim (host, proposal, person, login) VALUES ('a', '00000000-0000-0000-0000-000000000001', 'ben', 'rev_ben');
INSERT INTO desk.statement (host, proposal, seq, kind, body, signature) VALUES
  ('a', '00000000-0000-0000-0000-000000000001', 1, 'ack', '', ''), ('b', '00000000-0000-0000-0000-000000000003', 1, 'ack', '', ''),
  ('a', '00000000-0000-0000-0000-000000000009', 1, 'outcome', '', ''),
  ('a', '00000000-0000-0000-0000-000000000001', 7, 'proof', '', ''), ('a', '00000000-0000-0000-0000-000000000009', 7, 'proof', '', '');
INSERT INTO desk.statement (host, proposal, seq, gateway, kind, body, signature) VALUES
  ('a', '00000000-0000-0000-0000-000000000009', 3, 'gate_x', 'outcome', '', ''),
  -- Under the name of an offer: no reviewer reads it.
  ('a', '00000000-0000-0000-0000-000000000001', 3, 'gate_x', 'outcome', '', '');
INSERT INTO desk.statement (host, proposal, seq, person, kind, body, signature) VALUES
  ('a', '00000000-0000-0000-0000-000000000001', 2, 'ben', 'ack', '', ''), ('a', '00000000-0000-0000-0000-000000000009', 2, 'ben', 'ack', '', '');
INSERT INTO desk.request (host, id, deadline, body, login) VALUES
  ('a', '00000000-0000-0000-0000-000000000009', now() + interval '1 hour', '', 'gate_x'),
  -- Under the name of another one's request, and of an offer.
  ('a', '00000000-0000-0000-0000-000000000009', now() + interval '1 hour', '', 'gate_y'),
  ('a', '00000000-0000-0000-0000-000000000001', now() + interval '1 hour', '', 'gate_y');
INSERT INTO desk.checkpoint (host, size, body, signature) VALUES ('a', 1, '', '');
INSERT INTO desk.cosignature (host, size, root, cosigner, signature) VALUES ('a', 1, sha256(''), 'b', '');
";

/// No permission; a row that the policy does not allow has the same code.
const NO: &str = "42501";
/// A check of the table.
const CHECK: &str = "23514";

#[tokio::test]
async fn each_login_does_what_is_its_own_and_nothing_else() {
    let Some(db) = cluster::desk().await else {
        return;
    };
    db.client("postgres")
        .await
        .batch_execute(FIXTURES)
        .await
        .unwrap();
    let new = "'00000000-0000-0000-0000-0000000000ff', 1";
    let one = "'00000000-0000-0000-0000-000000000001'";
    let two = "'00000000-0000-0000-0000-000000000002'";
    let three = "'00000000-0000-0000-0000-000000000003'";
    let offer = |host: &str, body: &str| {
        format!(
            "INSERT INTO desk.offer (host, proposal, version, roles, deadline, body, signature) VALUES ('{host}', {new}, '{{}}', now(), {body}, '')"
        )
    };
    let vote = |host: &str, at: &str, voter: &str, body: &str| {
        format!(
            "INSERT INTO desk.vote (host, proposal, version, kind, voter, body) VALUES ('{host}', {at}, 1, 'grant', '{voter}', {body})"
        )
    };
    let says = |host: &str, kind: &str| {
        format!(
            "INSERT INTO desk.statement (host, proposal, seq, kind, body, signature) VALUES ('{host}', {new}, '{kind}', '', '')"
        )
    };
    let count = |table: &str| format!("SELECT count(*) FROM desk.{table}");
    let mut table: Vec<(&str, String, &str)> = vec![
        ("host_a", offer("a", "''"), "1"),
        ("host_a", offer("b", "''"), NO),
        ("host_a", offer("a", "repeat('x', 1048577)::bytea"), CHECK),
        ("rev_ana", offer("a", "''"), NO),
        ("gate_x", offer("a", "''"), NO),
        ("audit_z", offer("a", "''"), NO),
        ("host_a", says("a", "ack"), "1"),
        ("host_a", says("b", "ack"), NO),
        ("host_a", says("a", "grant"), CHECK),
        ("rev_ana", says("a", "ack"), NO),
        // For a person and a gateway at once.
        (
            "host_a",
            format!("INSERT INTO desk.statement (host, proposal, seq, person, gateway, kind, body, signature) VALUES ('a', {two}, 9, 'ben', 'gate_x', 'ack', '', '')"),
            CHECK,
        ),
        ("host_a", vote("a", one, "ana@x", "''"), NO),
        ("rev_ana", vote("a", one, "ana@x", "''"), "1"),
        ("rev_ana", vote("a", one, "ben", "''"), NO),
        ("rev_ana", vote("a", two, "ana@x", "''"), NO),
        ("rev_ben", vote("a", two, "ben", "''"), "1"),
        ("rev_ana", vote("b", one, "ana@x", "''"), NO),
        ("rev_ana", vote("a", one, "ana@x", "repeat('x', 16385)::bytea"), CHECK),
        ("gate_x", vote("a", one, "ana@x", "''"), NO),
        // Not even one's own name and time can be written.
        (
            "rev_ana",
            format!("INSERT INTO desk.vote (host, proposal, version, kind, voter, body, login) VALUES ('a', {one}, 1, 'deny', 'ana@x', '', 'rev_ana')"),
            NO,
        ),
        (
            "host_a",
            format!("INSERT INTO desk.offer (host, proposal, version, roles, deadline, body, signature, at) VALUES ('a', {new}, '{{}}', now(), '', '', now())"),
            NO,
        ),
        // Settings of a session move nobody into another's place.
        ("rev_ana", "SET SESSION AUTHORIZATION rev_ben".to_owned(), NO),
        ("rev_ana", "SET ROLE rev_ben".to_owned(), NO),
        ("rev_ana", "SET ROLE desk_owner".to_owned(), NO),
        ("rev_ana", "SET row_security = off; SELECT count(*) FROM desk.vote".to_owned(), NO),
        // A group is no member.
        ("rev_ana", "SET ROLE desk_reviewer; SELECT count(*) FROM desk.vote".to_owned(), "0"),
        ("rev_ana", format!("INSERT INTO desk.claim (host, proposal, person) VALUES ('b', {three}, 'ana@x')"), "1"),
        ("rev_ana", format!("INSERT INTO desk.claim (host, proposal, person) VALUES ('a', {two}, 'ana@x')"), NO),
        ("rev_ana", format!("INSERT INTO desk.claim (host, proposal, person) VALUES ('a', {one}, 'ben')"), NO),
        ("gate_x", "INSERT INTO desk.request (host, id, deadline, body) VALUES ('b', gen_random_uuid(), now(), '')".to_owned(), "1"),
        ("rev_ana", "INSERT INTO desk.request (host, id, deadline, body) VALUES ('b', gen_random_uuid(), now(), '')".to_owned(), NO),
        ("host_a", "INSERT INTO desk.checkpoint (host, size, body, signature) VALUES ('a', 2, '', '')".to_owned(), "1"),
        ("host_a", "INSERT INTO desk.checkpoint (host, size, body, signature) VALUES ('b', 2, '', '')".to_owned(), NO),
        ("host_b", "INSERT INTO desk.cosignature (host, size, root, cosigner, signature) VALUES ('a', 1, sha256('x'), 'b', '')".to_owned(), "1"),
        // Of a checkpoint that nobody published.
        ("host_b", "INSERT INTO desk.cosignature (host, size, root, cosigner, signature) VALUES ('a', 9, sha256('x'), 'b', '')".to_owned(), NO),
        ("host_b", "INSERT INTO desk.cosignature (host, size, root, cosigner, signature) VALUES ('a', 1, sha256('x'), 'a', '')".to_owned(), NO),
        // A key that is taken by a row one may not see tells nothing.
        (
            "host_b",
            format!("INSERT INTO desk.offer (host, proposal, version, roles, deadline, body, signature) VALUES ('b', {one}, 1, '{{}}', now(), '', '')"),
            "1",
        ),
    ];
    for (login, offers, votes, claims, statements, requests, points) in [
        ("host_a", "2", "1", NO, "8", "3", "1"),
        ("host_b", "1", "1", NO, "1", "0", "1"),
        ("rev_ana", "2", "0", "1", "2", NO, "1"),
        // What is for one person, the others do not read.
        ("rev_ben", "3", "2", "1", "3", NO, "1"),
        ("gate_x", NO, NO, NO, "2", "1", NO),
        ("gate_y", NO, NO, NO, "0", "2", NO),
        ("audit_z", "3", "2", "1", "9", "3", "1"),
    ] {
        for (name, expected) in [
            ("offer", offers),
            ("vote", votes),
            ("claim", claims),
            ("statement", statements),
            ("request", requests),
            ("checkpoint", points),
            ("cosignature", points),
            ("member", if login == "audit_z" { "8" } else { "1" }),
            ("migration", "2"),
        ] {
            table.push((login, count(name), expected));
        }
        for name in [
            "offer",
            "vote",
            "claim",
            "statement",
            "request",
            "checkpoint",
            "cosignature",
            "member",
            "migration",
        ] {
            table.push((login, format!("DELETE FROM desk.{name}"), NO));
            table.push((login, format!("TRUNCATE desk.{name}"), NO));
            let column = if name == "member" { "login" } else { "at" };
            table.push((
                login,
                format!("UPDATE desk.{name} SET {column} = {column}"),
                NO,
            ));
        }
        for sql in [
            "CREATE TEMP TABLE member (login text, host text)",
            "CREATE TABLE public.x (n int)",
            "CREATE TABLE desk.x (n int)",
            "CREATE SCHEMA x",
            "CREATE FUNCTION desk.x() RETURNS int LANGUAGE sql AS 'SELECT 1'",
            "SELECT desk.vote_quota()",
            "ALTER TABLE desk.vote DISABLE ROW LEVEL SECURITY",
            "CREATE ROLE x",
            "INSERT INTO desk.member (login, kind, host) VALUES ('host_c', 'host', 'c')",
            "INSERT INTO desk.migration (n, sha256) VALUES (9, '')",
            "COPY desk.offer TO PROGRAM 'true'",
            "SELECT pg_read_file('/etc/passwd')",
        ] {
            table.push((login, sql.to_owned(), NO));
        }
        // Anybody may wake anybody: it says nothing and decides nothing.
        table.push((login, "LISTEN desk_people".to_owned(), "0"));
        table.push((login, "NOTIFY desk_people".to_owned(), "0"));
        table.push((login, "SHOW statement_timeout".to_owned(), "5s"));
        table.push((
            login,
            "SHOW idle_in_transaction_session_timeout".to_owned(),
            "10s",
        ));
    }
    let mut clients = HashMap::new();
    let mut wrong = Vec::new();
    for (login, sql, expected) in &table {
        if !clients.contains_key(login) {
            clients.insert(*login, db.client(login).await);
        }
        let is = outcome(&clients[login], sql).await;
        if is != *expected {
            wrong.push(format!("{login}: {sql}: {is}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    // The owner changes no row of others' and removes nothing that is open, not even by mistake.
    let admin = db.client("postgres").await;
    admin.batch_execute("SET ROLE desk_owner").await.unwrap();
    for (sql, expected) in [
        ("DELETE FROM desk.offer", "0"),
        ("DELETE FROM desk.vote", "0"),
        ("DELETE FROM desk.request", "0"),
        ("DELETE FROM desk.checkpoint", "0"),
        ("UPDATE desk.vote SET kind = 'grant'", "0"),
        (
            "INSERT INTO desk.checkpoint (host, size, body, signature) VALUES ('a', 9, '', '')",
            NO,
        ),
    ] {
        assert_eq!(outcome(&admin, sql).await, expected, "{sql}");
    }
}

/// Whoever takes a login may not be somebody already, and none that no rule binds.
#[tokio::test]
async fn a_login_has_one_duty_and_is_bound_by_it() {
    use countersign::desk::engine::{Duty, Member};
    let Some(db) = cluster::desk().await else {
        return;
    };
    let owner = db.engine("postgres");
    let member = |login: &str, duty| Member {
        login: login.parse().unwrap(),
        duty,
    };
    let why = |done: Result<bool, _>| match done {
        Err(countersign::desk::engine::EngineError::Refused(why)) => why,
        other => panic!("{other:?}"),
    };
    let error = why(owner.add_member(&member("postgres", Duty::Auditor)).await);
    assert!(error.contains("superuser or has BYPASSRLS"), "{error}");
    let error = why(owner.add_member(&member("host_a", Duty::Auditor)).await);
    assert!(error.contains("host_a is a host's login"), "{error}");
    let error = why(db
        .engine("host_a")
        .add_member(&member("host_n", Duty::Gateway))
        .await);
    assert!(error.contains("permission denied"), "{error}");
    for bad in ["", "1a", "a b", "a\"b", "pg_x", "desk_owner", "a\u{1b}"] {
        assert!(
            bad.parse::<countersign::desk::engine::Login>().is_err(),
            "{bad}"
        );
    }
    // Roles are the server's, so this one goes at the end of the test.
    let name = format!("rev_{}", db.name);
    let new = member(
        &name,
        Duty::Reviewer("dan".parse().unwrap(), ["data".parse().unwrap()].into()),
    );
    assert!(owner.add_member(&new).await.unwrap());
    assert!(!owner.add_member(&new).await.unwrap());
    db.engine(&name).offers(None).await.unwrap();
    owner.remove_member(&new.login).await.unwrap();
    let error = db.engine(&name).offers(None).await.unwrap_err().to_string();
    assert!(error.contains("the engine"), "{error}");
    let error = owner
        .remove_member(&new.login)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("is no member"), "{error}");
}
