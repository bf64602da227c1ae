//! Making the tables, bringing them up to date, and removing what is past.

use countersign::desk::engine::{EngineError, Pruned, latest, script};
use jiff::{SignedDuration, Timestamp};

use super::cluster;
use super::rows::{offer, vote};

#[tokio::test]
async fn tables_are_made_once_and_unknown_ones_are_not_used() {
    let Some(db) = cluster::empty().await else {
        return;
    };
    let owner = db.engine("postgres");
    let none = EngineError::NotMigrated {
        have: 0,
        want: latest(),
    };
    assert_eq!(owner.migrated().await, Err(none.clone()));
    assert!(none.to_string().contains("`countersign desk init`"));
    assert_eq!(owner.offers(None).await, Err(none));

    let admin = db.client("postgres").await;
    admin
        .batch_execute("CREATE TABLE public.users (name text)")
        .await
        .unwrap();
    let error = owner.init().await.unwrap_err().to_string();
    assert!(
        error.contains("another program's public.users") && error.contains("CREATE DATABASE"),
        "{error}"
    );
    admin
        .batch_execute("DROP TABLE public.users")
        .await
        .unwrap();

    // Two at once.
    let (one, two) = tokio::join!(owner.init(), owner.init());
    let mut both = [one.unwrap(), two.unwrap()];
    both.sort();
    assert_eq!(both, [vec![], vec![1, 2]]);
    assert_eq!(owner.migrate().await.unwrap(), Vec::<u32>::new());
    owner.migrated().await.unwrap();

    for (sql, words) in [
        (
            "INSERT INTO desk.migration VALUES (3, '\\x00')",
            "at migration 3 and this program knows 2",
        ),
        (
            "UPDATE desk.migration SET sha256 = '\\x00' WHERE n = 1",
            "migration 1 of the database is not this program's",
        ),
        ("DELETE FROM desk.migration", "has no desk"),
        (
            "INSERT INTO desk.migration VALUES (0, '\\x00')",
            "migration 0 of the database is not this program's",
        ),
    ] {
        admin
            .batch_execute(&format!("BEGIN; {sql}; COMMIT"))
            .await
            .unwrap();
        let error = owner.migrated().await.unwrap_err().to_string();
        assert!(error.contains(words), "{sql}: {error}");
        if !sql.starts_with("DELETE") {
            assert_eq!(owner.migrate().await.unwrap_err().to_string(), error);
        }
        let both = [
            &include_bytes!("../../../assets/desk/0001.sql")[..],
            &include_bytes!("../../../assets/desk/0002.sql")[..],
        ];
        let mut mend = "DELETE FROM desk.migration".to_owned();
        for (n, sql) in (1..).zip(both) {
            let digest = countersign::model::Digest::of(sql).hex();
            mend.push_str(&format!(
                "; INSERT INTO desk.migration VALUES ({n}, '\\x{digest}')"
            ));
        }
        admin.batch_execute(&mend).await.unwrap();
        owner.migrated().await.unwrap();
    }
}

#[tokio::test]
async fn tables_of_an_earlier_program_are_told_and_brought_up_to_date_with_what_they_have() {
    let Some(db) = cluster::desk().await else {
        return;
    };
    let (owner, host) = (db.engine("postgres"), db.engine("host_a"));
    let admin = db.client("postgres").await;
    // As the first migration left them.
    admin
        .batch_execute(
            "BEGIN; DELETE FROM desk.migration WHERE n = 2; ALTER TABLE desk.checkpoint DROP COLUMN doubt; COMMIT",
        )
        .await
        .unwrap();
    admin
        .batch_execute(
            "ALTER TABLE desk.checkpoint DISABLE TRIGGER USER; \
             INSERT INTO desk.checkpoint (host, size, body, signature) VALUES \
             ('a', 7, '{\"format\":\"countersign doubt 1\",\"host\":\"a\"}', 'x'), ('a', 8, '{\"format\":\"countersign checkpoint 1\"}', 'x'); \
             ALTER TABLE desk.checkpoint ENABLE TRIGGER USER",
        )
        .await
        .unwrap();
    for error in [
        host.me().await.unwrap_err(),
        host.newest_checkpoints(&["a".to_owned()])
            .await
            .unwrap_err(),
    ] {
        let error = error.to_string();
        assert!(
            error.contains(
                "at migration 1 and this program needs 2: its owner runs `countersign desk migrate`"
            ),
            "{error}"
        );
    }
    assert_eq!(owner.migrate().await.unwrap(), [2]);
    assert!(host.me().await.unwrap().is_some());
    let rows = host.newest_checkpoints(&["a".to_owned()]).await.unwrap();
    let sizes: Vec<u64> = rows.iter().map(|row| row.size).collect();
    assert_eq!(sizes, [8, 7]);
}

#[tokio::test]
async fn what_is_printed_is_what_is_run() {
    let Some(db) = cluster::empty().await else {
        return;
    };
    let admin = db.client("postgres").await;
    admin.batch_execute(&script()).await.unwrap();
    db.engine("postgres").migrated().await.unwrap();
    assert_eq!(
        db.engine("postgres").init().await.unwrap(),
        Vec::<u32>::new()
    );
}

#[tokio::test]
async fn pruning_takes_what_is_past_and_nothing_that_is_open() {
    let Some(db) = cluster::desk().await else {
        return;
    };
    let (host, ana, owner) = (
        db.engine("host_a"),
        db.engine("rev_ana"),
        db.engine("postgres"),
    );
    let open = offer("a", &[]);
    let mut past = offer("a", &[]);
    past.deadline = Timestamp::now() - SignedDuration::from_hours(30);
    let mut edited = past.clone();
    edited.proposal = open.proposal;
    edited.version = 0;
    for one in [&open, &past, &edited] {
        host.publish_offer(one).await.unwrap();
        ana.cast(&vote(one, "ana@x")).await.unwrap();
    }
    let mut gone = owner.prune(2).await.unwrap();
    assert_eq!(gone, Pruned::default());
    // The rows themselves are younger than a day.
    gone = owner.prune(1).await.unwrap();
    assert_eq!((gone.offers, gone.votes), (1, 0));
    gone = owner.prune(0).await.unwrap();
    assert_eq!((gone.offers, gone.votes), (0, 1));
    let wanted = [(open.proposal, 0), (open.proposal, 1), (past.proposal, 1)];
    assert_eq!(
        host.votes_for("a", &wanted, None).await.unwrap().rows.len(),
        2
    );
    assert_eq!(ana.offers(None).await.unwrap().rows, [open]);
}
