//! What is handed over arrives, once, at those whom it is for.

use countersign::desk::engine::{
    CheckpointRow, ClaimRow, CosignatureRow, EngineError, Occasion, OfferRow, RequestRow,
    StatementRow, VoteRow,
};
use countersign::model::{Digest, ProposalId, VoteKind};
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::cluster;

pub fn offer(host: &str, roles: &[&str]) -> OfferRow {
    // The engine keeps microseconds.
    let now = Timestamp::from_second(Timestamp::now().as_second()).unwrap();
    OfferRow {
        host: host.to_owned(),
        proposal: ProposalId::new(),
        version: 1,
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        deadline: now + SignedDuration::from_hours(1),
        body: b"{\"code\": \"print(1)\"}".to_vec(),
        signature: "-----BEGIN SSH SIGNATURE-----".to_owned(),
    }
}

pub fn vote(offer: &OfferRow, voter: &str) -> VoteRow {
    VoteRow {
        host: offer.host.clone(),
        proposal: offer.proposal,
        version: offer.version,
        kind: VoteKind::Grant,
        voter: voter.parse().unwrap(),
        body: format!("{{\"voter\": \"{voter}\"}}").into_bytes(),
        login: format!("rev_{}", voter.trim_end_matches("@x")),
    }
}

fn refused<T: std::fmt::Debug>(done: Result<T, EngineError>, words: &str) {
    match done {
        Err(EngineError::Refused(why)) => assert!(why.contains(words), "{why}"),
        other => panic!("{other:?} instead of a refusal with {words:?}"),
    }
}

#[tokio::test]
async fn everything_sent_twice_is_there_once_and_only_for_those_whom_it_is_for() {
    let Some(db) = cluster::desk().await else {
        return;
    };
    let [a, b] = ["host_a", "host_b"].map(|login| db.engine(login));
    let [ana, ben, cem] = ["rev_ana", "rev_ben", "rev_cem"].map(|login| db.engine(login));
    let [x, y] = ["gate_x", "gate_y"].map(|login| db.engine(login));
    a.migrated().await.unwrap();
    let (open, data, secret) = (
        offer("a", &[]),
        offer("a", &["data"]),
        offer("b", &["security"]),
    );
    let mut past = offer("a", &[]);
    past.deadline = Timestamp::UNIX_EPOCH;
    for _ in 0..2 {
        for one in [&open, &data, &past] {
            a.publish_offer(one).await.unwrap();
        }
        b.publish_offer(&secret).await.unwrap();
    }
    let mut swapped = open.clone();
    swapped.body.push(b'!');
    refused(a.publish_offer(&swapped).await, "something else is there");
    refused(
        a.publish_offer(&offer("b", &[])).await,
        "row-level security",
    );
    for (reviewer, sees) in [
        (&ana, vec![&open, &data]),
        (&ben, vec![&open, &data, &secret]),
        (&cem, vec![&open]),
    ] {
        let page = reviewer.offers(None).await.unwrap();
        assert_eq!(page.rows.iter().collect::<Vec<_>>(), sees);
        assert!(!page.more && page.odd == 0 && page.seen.is_some());
        // What came a moment ago comes again: a row may be seen later than others of its time.
        let again = reviewer.offers(page.seen).await.unwrap();
        assert_eq!(again.rows, page.rows);
    }

    for _ in 0..2 {
        ana.cast(&vote(&open, "ana@x")).await.unwrap();
        ben.cast(&vote(&open, "ben")).await.unwrap();
    }
    refused(ana.cast(&vote(&open, "ben")).await, "row-level security");
    refused(
        ana.cast(&vote(&secret, "ana@x")).await,
        "row-level security",
    );
    let wanted = [(open.proposal, 1), (data.proposal, 1), (secret.proposal, 1)];
    let votes = a.votes_for("a", &wanted, None).await.unwrap();
    assert_eq!(votes.rows, [vote(&open, "ana@x"), vote(&open, "ben")]);
    assert_eq!(
        a.votes_for("a", &[(open.proposal, 2)], None)
            .await
            .unwrap()
            .rows,
        []
    );
    assert_eq!(b.votes_for("a", &wanted, None).await.unwrap().rows, []);

    let claim = |person: &str| ClaimRow {
        host: "a".to_owned(),
        proposal: data.proposal,
        person: person.parse().unwrap(),
    };
    for _ in 0..2 {
        ana.claim(&claim("ana@x")).await.unwrap();
    }
    refused(ana.claim(&claim("ben")).await, "row-level security");
    refused(cem.claim(&claim("cem")).await, "row-level security");
    assert_eq!(ben.claims(None).await.unwrap().rows, [claim("ana@x")]);
    assert_eq!(cem.claims(None).await.unwrap().rows, []);

    let asked = RequestRow {
        host: "a".to_owned(),
        id: Uuid::now_v7(),
        deadline: open.deadline,
        body: b"ask".to_vec(),
        login: "gate_x".to_owned(),
    };
    for _ in 0..2 {
        x.request(&asked).await.unwrap();
    }
    let requests = a.requests("a", None).await.unwrap().rows;
    assert_eq!(requests, std::slice::from_ref(&asked));
    assert_eq!(b.requests("a", None).await.unwrap().rows, []);

    let said = |proposal, seq, occasion| StatementRow {
        host: "a".to_owned(),
        proposal,
        seq,
        to: None,
        gateway: None,
        occasion,
        body: b"said".to_vec(),
        signature: "signed".to_owned(),
    };
    let answer = ProposalId::from_uuid(asked.id);
    let all = [
        said(data.proposal, 1, Occasion::Ack),
        said(data.proposal, 2, Occasion::Decision),
        StatementRow {
            gateway: Some("gate_x".to_owned()),
            ..said(answer, 1, Occasion::Outcome)
        },
        // Of the same name, and nobody's but everybody's who may read the offer.
        said(answer, 2, Occasion::Outcome),
    ];
    for one in all.iter().chain(&all) {
        a.publish_statement(one).await.unwrap();
    }
    let other = said(data.proposal, 1, Occasion::Tally);
    refused(a.publish_statement(&other).await, "something else is there");
    refused(b.publish_statement(&other).await, "row-level security");
    let both = [data.proposal, answer];
    let heard = |rows: &[StatementRow]| rows.iter().map(|r| r.proposal).collect::<Vec<_>>();
    for (who, hears) in [
        (&ana, vec![data.proposal, data.proposal]),
        (&cem, vec![]),
        (&x, vec![answer]),
        (&y, vec![]),
    ] {
        let page = who.statements_for(&both, None).await.unwrap();
        assert_eq!(heard(&page.rows), hears);
    }

    // Two checkpoints of one size both stay.
    let point = |host: &str, body: &str| CheckpointRow {
        host: host.to_owned(),
        size: 7,
        body: body.into(),
        signature: "signed".to_owned(),
    };
    for body in ["one", "one", "two"] {
        a.publish_checkpoint(&point("a", body)).await.unwrap();
    }
    refused(
        b.publish_checkpoint(&point("a", "x")).await,
        "row-level security",
    );
    let points = ben.checkpoints(None).await.unwrap().rows;
    assert_eq!(points, [point("a", "one"), point("a", "two")]);
    let cosigned = |cosigner: &str| CosignatureRow {
        host: "a".to_owned(),
        size: 7,
        root: Digest::of(b"one"),
        cosigner: cosigner.to_owned(),
        signature: "signed".to_owned(),
    };
    for _ in 0..2 {
        b.cosign(&cosigned("b")).await.unwrap();
    }
    refused(b.cosign(&cosigned("a")).await, "row-level security");
    assert_eq!(a.cosignatures(None).await.unwrap().rows, [cosigned("b")]);
}

/// Offers larger together than what is read at once all come, in their order; what does not fit is refused before it is sent.
#[tokio::test]
async fn lists_are_read_in_pieces_and_sizes_and_numbers_have_bounds() {
    let Some(db) = cluster::desk().await else {
        return;
    };
    let (host, ana) = (db.engine("host_a"), db.engine("rev_ana"));
    let mut sent = Vec::new();
    for n in 0..14 {
        let mut one = offer("a", &[]);
        one.body = vec![n; 1024 * 1024];
        host.publish_offer(&one).await.unwrap();
        sent.push(one);
    }
    let page = ana.offers(None).await.unwrap();
    assert!(page.rows == sent && !page.more, "{}", page.rows.len());
    sent[0].body.push(0);
    let error = host.publish_offer(&sent[0]).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "too large for the engine: an offer of 1048577 bytes, where 1048576 is the most"
    );

    // One login has a bounded number of votes on an offer, whoever stole it, and what is there may be sent again.
    let mut one = vote(&sent[1], "ana@x");
    for n in 0..16 {
        one.body = vec![n];
        ana.cast(&one).await.unwrap();
    }
    ana.cast(&one).await.unwrap();
    one.body = vec![16];
    refused(ana.cast(&one).await, "16 votes on this offer");

    let admin = db.client("postgres").await;
    admin
        .batch_execute(
            "INSERT INTO desk.offer (host, proposal, version, roles, deadline, body, signature) \
             SELECT 'a', gen_random_uuid(), 1, '{}', now() + interval '1 hour', '', '' FROM generate_series(1, 1000)",
        )
        .await
        .unwrap_err();
    admin
        .batch_execute(
            "ALTER TABLE desk.offer DISABLE TRIGGER quota; \
             INSERT INTO desk.offer (host, proposal, version, roles, deadline, body, signature) \
             SELECT 'a', gen_random_uuid(), 1, '{}', now() + interval '1 hour', '', '' FROM generate_series(1, 986); \
             ALTER TABLE desk.offer ENABLE TRIGGER quota",
        )
        .await
        .unwrap();
    host.publish_offer(&sent[1]).await.unwrap();
    refused(
        host.publish_offer(&offer("a", &[])).await,
        "1000 open offers",
    );
    // More of one minute than one call gives is read on, and not from its beginning again.
    admin
        .batch_execute(
            "ALTER TABLE desk.offer DISABLE TRIGGER quota; DELETE FROM desk.offer; \
             INSERT INTO desk.offer (host, proposal, version, roles, deadline, body, signature) \
             SELECT 'a', gen_random_uuid(), 1, '{}', now() + interval '1 hour', \
                    convert_to(repeat('x', 1000000), 'UTF8'), '' FROM generate_series(1, 100); \
             ALTER TABLE desk.offer ENABLE TRIGGER quota",
        )
        .await
        .unwrap();
    refused(host.publish_offer(&offer("a", &[])).await, "64 MiB of them");
    let (mut seen, mut names) = (None, std::collections::BTreeSet::new());
    for call in 0.. {
        assert!(call < 3, "{} of 100 after {call} calls", names.len());
        let page = ana.offers(seen).await.unwrap();
        names.extend(page.rows.iter().map(|row| row.proposal));
        seen = page.seen;
        if !page.more {
            break;
        }
    }
    assert_eq!(names.len(), 100);
    db.engine("host_b")
        .publish_offer(&offer("b", &[]))
        .await
        .unwrap();
}

/// Whatever a text has in it is a text.
#[tokio::test]
async fn sql_in_every_text_is_text() {
    let Some(db) = cluster::desk().await else {
        return;
    };
    let (host, ana) = (db.engine("host_a"), db.engine("rev_ana"));
    for text in [
        "'; DROP TABLE desk.vote; --",
        "$1 \\'; SELECT pg_sleep(9); --",
        "\"}'::jsonb) ON CONFLICT DO NOTHING; DELETE FROM desk.offer; --",
        "E'\\x00' {\u{1b}[2J\u{202e}",
    ] {
        let mut one = offer("a", &[]);
        one.signature = text.to_owned();
        one.body = text.into();
        host.publish_offer(&one).await.unwrap();
        let mut cast = vote(&one, "ana@x");
        cast.body = text.into();
        ana.cast(&cast).await.unwrap();
        let said = StatementRow {
            host: "a".to_owned(),
            proposal: one.proposal,
            seq: 1,
            to: None,
            gateway: None,
            occasion: Occasion::Ack,
            body: text.into(),
            signature: text.to_owned(),
        };
        host.publish_statement(&said).await.unwrap();
        assert!(ana.offers(None).await.unwrap().rows.contains(&one));
        assert_eq!(
            ana.statements_for(&[one.proposal], None)
                .await
                .unwrap()
                .rows,
            [said]
        );
        let votes = host
            .votes_for("a", &[(one.proposal, 1)], None)
            .await
            .unwrap();
        assert_eq!(votes.rows, [cast]);
        // Names have an alphabet.
        let mut named = one.clone();
        named.host = text.to_owned();
        refused(host.publish_offer(&named).await, "row-level security");
        let mut asked = one.clone();
        asked.proposal = ProposalId::new();
        asked.roles = vec![text.to_owned()];
        refused(host.publish_offer(&asked).await, "check constraint");
        let request = RequestRow {
            host: text.to_owned(),
            id: Uuid::now_v7(),
            deadline: one.deadline,
            body: Vec::new(),
            login: String::new(),
        };
        refused(
            db.engine("gate_x").request(&request).await,
            "check constraint",
        );
    }
    let mut zero = offer("a", &[]);
    zero.signature = "a\0b".to_owned();
    refused(host.publish_offer(&zero).await, "UTF8");
}

/// The texts of a server that is not PostgreSQL are skipped, and do not hide the rows beside them.
#[tokio::test]
async fn rows_that_an_administrator_made_up_are_left_out_and_counted() {
    let Some(db) = cluster::desk().await else {
        return;
    };
    let host = db.engine("host_a");
    let one = offer("a", &[]);
    host.publish_offer(&one).await.unwrap();
    db.engine("rev_ana")
        .cast(&vote(&one, "ana@x"))
        .await
        .unwrap();
    let admin = db.client("postgres").await;
    let id = one.proposal;
    admin
        .batch_execute(&format!(
            "ALTER TABLE desk.vote DROP CONSTRAINT vote_kind_check; \
             ALTER TABLE desk.vote DROP CONSTRAINT vote_body_check; \
             INSERT INTO desk.vote (host, proposal, version, kind, voter, body, login) VALUES \
             ('a', '{id}', 1, 'approve', 'ana@x', '1', 'p'), ('a', '{id}', 1, 'grant', E'a\\nb', '2', 'p'), \
             ('a', '{id}', 1, 'grant', 'ben', repeat('x', 9000000)::bytea, 'p')"
        ))
        .await
        .unwrap();
    let votes = host
        .votes_for("a", &[(one.proposal, 1)], None)
        .await
        .unwrap();
    assert_eq!((votes.rows, votes.odd), (vec![vote(&one, "ana@x")], 2));
}
