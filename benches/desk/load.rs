//! Hosts and reviewers as fast as they can, and the same rows as bare SQL.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use countersign::desk::engine::{Duty, Engine, Member, Occasion, OfferRow, StatementRow, VoteRow};
use countersign::model::{Person, ProposalId, VoteKind};
use jiff::{SignedDuration, Timestamp};

use crate::cluster::{self, Database};
use crate::shown;

const SPAN: Duration = Duration::from_secs(5);
/// Bytes of an offer: a snippet of 40 lines with its verdict and policy.
const OFFER: usize = 8_000;
const STATEMENT: usize = 1_000;
const VOTE: usize = 1_200;

#[derive(Default)]
struct Done {
    cycles: AtomicU64,
    bare: AtomicU64,
}

/// People who vote, each with one pool for all hosts, as a seat has.
const PEOPLE: usize = 10;

/// Each host offers, is voted on by two people, reads the votes and says what came of it, again and again.
pub async fn measure(hosts: usize) {
    let Some(db) = cluster::desk().await else {
        return;
    };
    let db = Arc::new(db);
    let mut engines = Vec::new();
    for n in 0..hosts {
        let host = format!("h{n}");
        let login = format!("load_{n}");
        engines.push((
            host.clone(),
            member(&db, &login, Duty::Host(host.clone())).await,
        ));
    }
    let mut people = Vec::new();
    for n in 0..PEOPLE {
        let name: Person = format!("p{n}").parse().unwrap();
        let duty = Duty::Reviewer(name.clone(), [].into());
        people.push((member(&db, &format!("rev_{n}"), duty).await, name));
    }
    let done = Arc::new(Done::default());
    let until = Instant::now() + SPAN;
    let mut tasks = tokio::task::JoinSet::new();
    for (n, (host, engine)) in engines.into_iter().enumerate() {
        let done = done.clone();
        let people = [2 * n, 2 * n + 1].map(|n| people[n % PEOPLE].clone());
        tasks.spawn(async move {
            let mut times = Vec::new();
            while Instant::now() < until {
                times.push(cycle(&host, &engine, &people).await);
                done.cycles.fetch_add(1, Ordering::Relaxed);
            }
            times
        });
    }
    let mut times: Vec<Duration> = tasks.join_all().await.into_iter().flatten().collect();
    let cycles = done.cycles.load(Ordering::Relaxed);
    let bare = bare(&db, hosts, &done).await;
    let per_s = |n: u64| n as f64 / SPAN.as_secs_f64();
    println!(
        "{hosts:>3} hosts: {:>6.0} offers/s, {:>6.0} votes/s, {:>6.0} decisions/s; offer to decision {}",
        per_s(cycles),
        per_s(2 * cycles),
        per_s(cycles),
        shown(&mut times),
    );
    // A cycle adds four rows and reads twice.
    println!(
        "           {:>6.0} rows added/s; bare INSERT and NOTIFY of as many connections: {:>6.0}/s; ratio {:.2}",
        per_s(4 * cycles),
        per_s(bare),
        (4 * cycles) as f64 / bare as f64,
    );
}

async fn member(db: &Database, login: &str, duty: Duty) -> Engine {
    let member = Member {
        login: login.parse().unwrap(),
        duty,
    };
    db.engine("postgres").add_member(&member).await.unwrap();
    db.engine(member.login.as_str())
}

fn offer(host: &str) -> OfferRow {
    OfferRow {
        host: host.to_owned(),
        proposal: ProposalId::new(),
        version: 1,
        roles: Vec::new(),
        // So that they do not pile up to what one host may have open.
        deadline: Timestamp::now() + SignedDuration::from_secs(2),
        body: vec![b'x'; OFFER],
        signature: "s".repeat(300),
    }
}

async fn cycle(host: &str, engine: &Engine, people: &[(Engine, Person); 2]) -> Duration {
    let begun = Instant::now();
    let offer = offer(host);
    engine.publish_offer(&offer).await.unwrap();
    for (person, name) in people {
        let vote = VoteRow {
            host: offer.host.clone(),
            proposal: offer.proposal,
            version: 1,
            kind: VoteKind::Grant,
            voter: name.clone(),
            body: vec![b'x'; VOTE],
            login: String::new(),
        };
        person.cast(&vote).await.unwrap();
    }
    let open = [(offer.proposal, 1)];
    let page = engine.votes_for(host, &open, None).await.unwrap();
    assert_eq!(page.rows.len(), 2);
    let said = StatementRow {
        host: host.to_owned(),
        proposal: offer.proposal,
        seq: 1,
        to: None,
        gateway: None,
        occasion: Occasion::Decision,
        body: vec![b'x'; STATEMENT],
        signature: "s".repeat(300),
    };
    engine.publish_statement(&said).await.unwrap();
    begun.elapsed()
}

/// Rows of a table without rules, by as many connections, each with its notification.
async fn bare(db: &Arc<Database>, connections: usize, done: &Arc<Done>) -> u64 {
    let admin = db.client("postgres").await;
    admin
        .batch_execute("CREATE TABLE public.bare (id bigserial PRIMARY KEY, body bytea)")
        .await
        .unwrap();
    let until = Instant::now() + SPAN;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..connections {
        let (db, done) = (db.clone(), done.clone());
        tasks.spawn(async move {
            let client = db.client("postgres").await;
            let body = vec![b'x'; (OFFER + 2 * VOTE + STATEMENT) / 4];
            let sql = "WITH put AS (INSERT INTO public.bare (body) VALUES ($1)) SELECT pg_notify('bare', '')";
            let sql = client.prepare(sql).await.unwrap();
            while Instant::now() < until {
                client.execute(&sql, &[&body]).await.unwrap();
                done.bare.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    tasks.join_all().await;
    done.bare.load(Ordering::Relaxed)
}

/// The calls of a seat and of a host beside a million offers whose deadline is past.
pub async fn million() {
    let Some(db) = cluster::desk().await else {
        return;
    };
    let admin = db.client("postgres").await;
    let host = db.engine("host_a");
    let ana = db.engine("rev_ana");
    let mine = OfferRow {
        deadline: Timestamp::now() + SignedDuration::from_hours(1),
        ..offer("a")
    };
    host.publish_offer(&mine).await.unwrap();
    for rows in [0, 1_000_000] {
        // As a superuser: the quota counts each host's open offers at every row.
        let fill = format!(
            "SET session_replication_role = replica; \
             INSERT INTO desk.offer (host, proposal, version, roles, deadline, body, signature, at) \
             SELECT 'h' || n % 100, gen_random_uuid(), 1, '{{}}', now() - interval '1 hour', '\\x00', '', \
                    now() - interval '1 day' FROM generate_series(1, {rows}) n; \
             ANALYZE desk.offer"
        );
        admin.batch_execute(&fill).await.unwrap();
        let (mut reads, mut votes, mut puts) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..200 {
            let begun = Instant::now();
            assert!(!ana.offers(None).await.unwrap().rows.is_empty());
            reads.push(begun.elapsed());
            let begun = Instant::now();
            host.votes_for("a", &[(mine.proposal, 1)], None)
                .await
                .unwrap();
            votes.push(begun.elapsed());
            let begun = Instant::now();
            host.publish_offer(&offer("a")).await.unwrap();
            puts.push(begun.elapsed());
        }
        println!(
            "{rows:>7} past offers: a seat's look   {}",
            shown(&mut reads)
        );
        println!(
            "                      a host's look   {}",
            shown(&mut votes)
        );
        println!("                      an offer added  {}", shown(&mut puts));
    }
}
