//! `countersign desk` as its owner types it.

use std::process::{Command, Output, Stdio};

use super::cluster;
use super::rows::offer;

fn desk(home: &std::path::Path, args: &[&str]) -> (i32, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .arg("desk")
        .args(args)
        .env_clear()
        .env("HOME", home)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_makes_a_desk_and_each_login_sees_how_it_stands() {
    let home = tempfile::tempdir().unwrap();
    let desk = |args: &[&str]| desk(home.path(), args);
    for (args, words) in [
        (&["status"][..], "set `desk.url`"),
        (&["migrate", "--url", "mysql://x"], "--url: "),
        (
            &["status", "--url", "postgresql://u:hunter2@h/d"],
            "it has a password",
        ),
        (&["prune", "--days", "x"], "give a number of days"),
        (
            &["member", "add", "x", "--host", "a", "--person", "b"],
            "cannot be used with",
        ),
        (&["member", "add", "x"], "--host"),
        (&["member", "add", "1x", "--gateway"], "a letter first"),
        (&["member", "add", "x", "--host", "a/b"], "A-Z a-z 0-9"),
    ] {
        let (code, out, error) = desk(args);
        assert!(
            code == 2 && out.is_empty() && error.contains(words),
            "{args:?}: {code} {error}"
        );
        assert!(!error.contains("hunter2"), "{error}");
    }
    let (code, sql, _) = desk(&["init", "--print"]);
    assert!(code == 0 && sql.starts_with("BEGIN;\n") && sql.contains("CREATE TABLE desk.vote"));
    let Some(db) = cluster::empty().await else {
        return;
    };
    // As hosted databases have it: their owner is no superuser.
    let own = format!("own_{}", db.name);
    let admin = db.client("postgres").await;
    let sql = format!(
        "CREATE ROLE {own} LOGIN CREATEROLE; ALTER DATABASE {} OWNER TO {own}",
        db.name
    );
    admin.batch_execute(&sql).await.unwrap();
    let owner = db.url(&own);
    let (host, name) = (format!("host_{}", db.name), format!("rev_{}", db.name));
    let (code, _, error) = desk(&["status", "--url", &owner]);
    assert!(
        code == 1 && error.contains("`countersign desk init`"),
        "{error}"
    );
    assert_eq!(
        desk(&["init", "--url", &owner]).1,
        "the desk is at migration 2\n"
    );
    assert_eq!(
        desk(&["migrate", "--url", &owner]).1,
        "already at migration 2\n"
    );
    let (code, made, error) = desk(&["member", "add", &host, "--host", "lab-1", "--url", &owner]);
    assert_eq!(code, 0, "{error}");
    assert!(made.contains("\nit was made and has no password"), "{made}");
    let reviewer = [
        "member",
        "add",
        &name,
        "--person",
        "ana@x",
        "--roles",
        "data,security",
        "--url",
        &owner,
    ];
    assert_eq!(desk(&reviewer).0, 0);
    db.engine(&host)
        .publish_offer(&offer("lab-1", &["data"]))
        .await
        .unwrap();

    let (code, status, error) = desk(&["status", "--url", &db.url(&name)]);
    assert_eq!((code, error.as_str()), (0, ""), "{status}");
    for line in [
        "server      PostgreSQL 1",
        "a Unix socket, without TLS",
        "desk_reviewer",
        "you         votes as ana@x, who is asked about data, security",
        "tables      at migration 2",
        "news        at once, by LISTEN",
        "it reads    offers 1, votes 0",
        "host        lab-1: no statement yet",
    ] {
        assert!(status.contains(line), "{line}: {status}");
    }
    let (code, status, _) = desk(&["status", "--url", &db.url("postgres")]);
    assert!(
        code == 1 && status.contains("WARNING     postgres is a superuser"),
        "{status}"
    );
    assert!(
        desk(&["prune", "--days", "30", "--url", &owner])
            .1
            .starts_with("removed: 0 offers")
    );
    let listed = desk(&["member", "list", "--url", &owner]).1;
    let lines: Vec<String> = listed
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        lines,
        [
            format!("{host} host offers what agents ask of the host lab-1"),
            format!("{name} reviewer votes as ana@x, who is asked about data, security"),
        ]
    );
    let people = tempfile::NamedTempFile::new().unwrap();
    for (roles, code, said) in [
        ("\"data\", \"security\"", 0, ""),
        (
            "\"data\"",
            1,
            "DIFFERS     roles of ana@x: data in people.toml, data, security at the engine",
        ),
    ] {
        let text = format!("[people.\"ana@x\"]\nroles = [{roles}]\nlogins = [{name:?}]\n");
        std::fs::write(people.path(), text).unwrap();
        let path = people.path().to_str().unwrap();
        let compared = desk(&["member", "list", "--people", path, "--url", &owner]);
        assert!(
            compared.0 == code && compared.1.contains(said),
            "{compared:?}"
        );
        assert_eq!(compared.1.contains("DIFFERS"), code == 1, "{compared:?}");
    }
    // It is the owner's to read.
    assert_eq!(desk(&["member", "list", "--url", &db.url(&name)]).0, 1);
    assert_eq!(desk(&["member", "remove", &name, "--url", &owner]).0, 0);
    let (code, status, error) = desk(&["status", "--url", &db.url(&name)]);
    assert_eq!(code, 1, "{status}{error}");
    assert!(error.contains("`countersign desk member add`"), "{error}");
}
