//! Hearing of something new: at once where the engine notifies, every few seconds where it does not.

use std::path::Path;
use std::time::{Duration, Instant};

use countersign::desk::engine::{Delivery, Listener, POLL_S};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};

use super::cluster;
use super::rows::{offer, vote};

#[tokio::test]
async fn hosts_and_people_are_woken_by_what_is_for_them() {
    let Some(db) = cluster::desk().await else {
        return;
    };
    let (host, ana) = (db.engine("host_a"), db.engine("rev_ana"));
    let mut hears = [
        Listener::for_host(&host, "a"),
        Listener::for_host(&host, "b"),
        Listener::for_people(&ana),
    ];
    for listener in &mut hears {
        assert_eq!(listener.known().await, Delivery::Notified);
        // The first wake: what came before was not announced.
        listener.next().await;
    }
    let [a, b, people] = &mut hears;
    let one = offer("a", &[]);
    let before = Instant::now();
    host.publish_offer(&one).await.unwrap();
    people.next().await;
    ana.cast(&vote(&one, "ana@x")).await.unwrap();
    a.next().await;
    assert!(
        before.elapsed() < Duration::from_secs(POLL_S),
        "it was polled"
    );
    // Nobody else's vote wakes a host, but the clock does.
    b.next().await;
    assert!(before.elapsed() >= Duration::from_secs(POLL_S));
    // A session that is killed is made again, and what came in between is looked for.
    let admin = db.client("postgres").await;
    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                WHERE datname = current_database() AND query LIKE 'LISTEN%'";
    assert_eq!(admin.query_typed(kill, &[]).await.unwrap().len(), 3);
    while people.delivery() == Delivery::Notified {
        tokio::task::yield_now().await;
    }
    host.publish_offer(&offer("a", &[])).await.unwrap();
    let before = Instant::now();
    people.next().await;
    assert!(
        before.elapsed() < Duration::from_secs(POLL_S),
        "it was polled"
    );
    assert_eq!(people.delivery(), Delivery::Notified);
}

/// Passes on everything but notifications, as a pooler in transaction mode does.
fn without_notifications(folder: &Path, to: &Path) {
    let listener = UnixListener::bind(folder.join(".s.PGSQL.5432")).unwrap();
    let to = to.to_owned();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = UnixStream::connect(&to).await.unwrap();
            let (mut from_client, mut to_client) = client.into_split();
            let (mut from_server, mut to_server) = server.into_split();
            tokio::spawn(async move {
                let _ = tokio::io::copy(&mut from_client, &mut to_server).await;
            });
            tokio::spawn(async move {
                let mut head = [0; 5];
                while from_server.read_exact(&mut head).await.is_ok() {
                    let [tag, length @ ..] = head;
                    let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
                    from_server.read_exact(&mut body).await.unwrap();
                    if tag != b'A' {
                        let _ = to_client.write_all(&head).await;
                        let _ = to_client.write_all(&body).await;
                    }
                }
            });
        }
    });
}

#[tokio::test]
async fn an_engine_that_does_not_notify_is_found_out_and_asked_regularly() {
    let Some(db) = cluster::desk().await else {
        return;
    };
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let socket = db
        .cluster
        .folder
        .join(format!(".s.PGSQL.{}", db.cluster.port));
    without_notifications(folder.path(), &socket);
    let url = cluster::url(folder.path(), 5432, "rev_ana", &db.name);
    let engine = cluster::engine(&url, Duration::from_secs(10));
    engine.offers(None).await.unwrap();
    let mut listener = Listener::for_people(&engine);
    assert_eq!(listener.known().await, Delivery::Polled);
}
