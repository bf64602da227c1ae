//! An engine that lies, stalls, floods or goes away costs time, and nothing else.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use countersign::audit::Trust;
use countersign::desk::engine::{Address, Engine, EngineError};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};

use super::cluster;
use super::rows::{offer, vote};

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut all = vec![tag];
    all.extend((body.len() as u32 + 4).to_be_bytes());
    all.extend(body);
    all
}

fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

/// What follows a start that goes as it should.
#[derive(Clone)]
enum Answer {
    Bytes(Vec<u8>),
    /// One, and then the other for ever.
    Endless(Vec<u8>, Vec<u8>),
    Silence,
    End,
}

/// Serves each connection the same, and counts them.
fn serve(folder: &Path, greeting: Vec<u8>, answer: Answer) -> Arc<AtomicUsize> {
    let count = Arc::new(AtomicUsize::new(0));
    let counts = count.clone();
    let listener = UnixListener::bind(folder.join(".s.PGSQL.5432")).unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counts.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(lie(stream, greeting.clone(), answer.clone()));
        }
    });
    count
}

async fn lie(mut stream: UnixStream, greeting: Vec<u8>, answer: Answer) -> std::io::Result<()> {
    let mut question = [0; 8192];
    let _ = stream.read(&mut question).await?;
    stream.write_all(&greeting).await?;
    let _ = stream.read(&mut question).await?;
    match answer {
        Answer::Bytes(bytes) => stream.write_all(&bytes).await?,
        Answer::Endless(first, bytes) => {
            stream.write_all(&first).await?;
            while stream.write_all(&bytes).await.is_ok() {}
        }
        Answer::Silence => {}
        Answer::End => return Ok(()),
    }
    // Until the other side has had enough.
    while stream.read(&mut question).await? > 0 {}
    Ok(())
}

#[tokio::test]
async fn a_server_that_is_none_is_refused_by_its_kind_of_lie() {
    let hello = [message(b'R', &0_u32.to_be_bytes()), ready()].concat();
    let row = |bytes: usize| {
        let mut body = 1_u16.to_be_bytes().to_vec();
        body.extend((bytes as u32).to_be_bytes());
        body.extend(vec![0; bytes]);
        message(b'D', &body)
    };
    // The head of a message of 2 GB, and nothing of it.
    let claim = vec![b'D', 0x7f, 0xff, 0xff, 0xff];
    let said = |text: &str| {
        let body = format!("SFATAL\0VFATAL\0C57P01\0M{text}\0\0");
        message(b'E', body.as_bytes())
    };
    let loud = format!("\u{1b}[2J{}", "x".repeat(5000));
    let start = [message(b'1', b""), message(b'2', b"")].concat();
    let note = message(
        b'N',
        format!("SNOTICE\0C00000\0M{}\0\0", "x".repeat(9000)).as_bytes(),
    );
    // One column `n`, a bytea.
    let columns = message(
        b'T',
        b"\0\x01n\0\0\0\0\0\0\0\0\0\0\x11\xff\xff\xff\xff\xff\xff\0\x01",
    );
    type Is = fn(&EngineError) -> bool;
    let cases: Vec<(&str, Vec<u8>, Answer, Is)> = vec![
        (
            "a huge message",
            hello.clone(),
            Answer::Bytes(claim.clone()),
            |e| *e == EngineError::TooLarge("it sent more than 8 MiB at once".to_owned()),
        ),
        ("a huge greeting", claim, Answer::Silence, |e| {
            matches!(e, EngineError::TooLarge(_))
        }),
        (
            "endless rows",
            hello.clone(),
            Answer::Endless([start.clone(), columns].concat(), row(60_000)),
            |e| matches!(e, EngineError::TooLarge(_)),
        ),
        (
            "endless notices",
            hello.clone(),
            Answer::Endless(Vec::new(), note),
            |e| matches!(e, EngineError::TooLarge(_)),
        ),
        (
            "a length below zero",
            hello.clone(),
            Answer::Bytes(vec![b'D', 0, 0, 0, 1]),
            |e| matches!(e, EngineError::Protocol(_)),
        ),
        (
            "another protocol",
            b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
            Answer::End,
            |e| {
                matches!(
                    e,
                    EngineError::TooLarge(_)
                        | EngineError::Protocol(_)
                        | EngineError::Unreachable(_)
                )
            },
        ),
        (
            "rows without columns",
            hello.clone(),
            Answer::Bytes([start, row(3), ready()].concat()),
            |e| matches!(e, EngineError::Protocol(_)),
        ),
        ("silence", hello.clone(), Answer::Silence, |e| {
            *e == EngineError::Unreachable("it did not answer in time".to_owned())
        }),
        ("silence before", Vec::new(), Answer::Silence, |e| {
            matches!(e, EngineError::Unreachable(_))
        }),
        ("an end", hello.clone(), Answer::End, |e| {
            matches!(e, EngineError::Unreachable(_))
        }),
        (
            "a loud farewell",
            hello,
            Answer::Bytes(said(&loud)),
            |e| matches!(e, EngineError::Unreachable(why) if why.len() < 1000 && why.contains("xxx") && !why.contains('\u{1b}')),
        ),
    ];
    let mut all = tokio::task::JoinSet::new();
    for (name, greeting, answer, is) in cases {
        all.spawn(async move {
            let folder = tempfile::tempdir_in("/tmp").unwrap();
            let connections = serve(folder.path(), greeting, answer);
            let url = cluster::url(folder.path(), 5432, "u", "d");
            let engine = cluster::engine(&url, Duration::from_millis(1500));
            // A second call meets a new connection.
            for _ in 0..2 {
                let error = engine.offers(None).await.unwrap_err();
                assert!(is(&error), "{name}: {error:?}");
            }
            assert!(connections.load(Ordering::Relaxed) >= 2, "{name}");
        });
    }
    all.join_all().await;
    let nowhere = cluster::url(Path::new("/tmp/cs-none"), 5432, "u", "d");
    let error = cluster::engine(&nowhere, Duration::from_secs(5))
        .offers(None)
        .await;
    assert!(
        matches!(&error, Err(EngineError::Unreachable(why)) if why.contains("No such file")),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_call_whose_connection_is_killed_fails_and_the_next_one_connects_anew() {
    let Some(db) = cluster::desk().await else {
        return;
    };
    let admin = db.client("postgres").await;
    let blocks = db.client("postgres").await;
    let ana = db.engine("rev_ana");
    blocks
        .batch_execute("BEGIN; LOCK TABLE desk.offer IN ACCESS EXCLUSIVE MODE")
        .await
        .unwrap();
    let asked = ana.clone();
    let call = tokio::spawn(async move { asked.offers(None).await });
    // The server says when the call waits for the lock.
    loop {
        let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rev_ana' \
                   AND datname = current_database() AND wait_event_type = 'Lock'";
        let rows = admin.query_typed(sql, &[]).await.unwrap();
        if !rows.is_empty() {
            break;
        }
        tokio::task::yield_now().await;
    }
    let error = call.await.unwrap().unwrap_err();
    assert!(matches!(error, EngineError::Unreachable(_)), "{error:?}");
    blocks.batch_execute("ROLLBACK").await.unwrap();
    ana.offers(None).await.unwrap();
}

/// Passes on what a client says, and nothing of what is answered after a question that has these bytes.
fn cut_before_the_answer(folder: &Path, to: &Path, at: &'static [u8]) {
    let listener = UnixListener::bind(folder.join(".s.PGSQL.5432")).unwrap();
    let to = to.to_owned();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = UnixStream::connect(&to).await.unwrap();
            let (mut from_client, mut to_client) = client.into_split();
            let (mut from_server, mut to_server) = server.into_split();
            let (asked, mut hears) = tokio::sync::watch::channel(false);
            tokio::spawn(async move {
                let mut bytes = [0; 8192];
                while let Ok(n @ 1..) = from_client.read(&mut bytes).await {
                    if bytes[..n].windows(at.len()).any(|part| part == at) {
                        asked.send_replace(true);
                    }
                    let _ = to_server.write_all(&bytes[..n]).await;
                }
            });
            tokio::spawn(async move {
                let mut bytes = [0; 8192];
                while let Ok(n @ 1..) = from_server.read(&mut bytes).await {
                    if *hears.borrow_and_update() {
                        return;
                    }
                    let _ = to_client.write_all(&bytes[..n]).await;
                }
            });
        }
    });
}

#[tokio::test]
async fn a_vote_whose_answer_was_cut_off_is_sent_again_and_is_one_vote() {
    let Some(db) = cluster::desk().await else {
        return;
    };
    let host = db.engine("host_a");
    let one = offer("a", &[]);
    host.publish_offer(&one).await.unwrap();
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let socket = db
        .cluster
        .folder
        .join(format!(".s.PGSQL.{}", db.cluster.port));
    cut_before_the_answer(folder.path(), &socket, b"INSERT INTO desk.vote");
    let through = cluster::engine(
        &cluster::url(folder.path(), 5432, "rev_ana", &db.name),
        Duration::from_secs(10),
    );
    let cast = vote(&one, "ana@x");
    through.offers(None).await.unwrap();
    let error = through.cast(&cast).await.unwrap_err();
    assert!(matches!(error, EngineError::Unreachable(_)), "{error:?}");
    db.engine("rev_ana").cast(&cast).await.unwrap();
    assert_eq!(
        host.votes_for("a", &[(one.proposal, 1)], None)
            .await
            .unwrap()
            .rows,
        [cast]
    );
    through.offers(None).await.unwrap();
}

#[tokio::test]
async fn a_network_is_crossed_by_tls_of_the_right_name_only() {
    let Some(db) = cluster::desk().await else {
        return;
    };
    if !crate::common::given::is_given(db.cluster.has_tls, "openssl to make certificates") {
        return;
    }
    let (port, name) = (db.cluster.port, &db.name);
    let ca = db.cluster.folder.join("ca.pem");
    let other = tempfile::tempdir().unwrap();
    assert!(cluster::certify(other.path()));
    let other = other.path().join("ca.pem");
    let call = async |host: &str, options: &str, password: &str, ca: &Path| {
        let url = format!("postgresql://rev_ana@{host}:{port}/{name}{options}");
        let address = Address::parse(&url, Some(password)).unwrap();
        let trust = Trust::here(Some(ca)).unwrap();
        let engine = Engine::new(address, &trust, Duration::from_secs(10)).unwrap();
        engine.offers(None).await
    };
    call("localhost", "", "pw", &ca).await.unwrap();
    call("localhost", "?channel_binding=require", "pw", &ca)
        .await
        .unwrap();
    // The next one is tried where nobody listens.
    call("localhost:1,localhost", "", "pw", &ca).await.unwrap();
    let cases = [
        ("localhost", "wrong", &ca, "password authentication failed"),
        ("127.0.0.1", "pw", &ca, "not valid for name"),
        ("localhost", "pw", &other, "invalid peer certificate"),
    ];
    for (host, password, ca, words) in cases {
        let error = call(host, "", password, ca).await.unwrap_err().to_string();
        assert!(error.contains(words), "{host}: {error}");
    }
    // Without a certificate that counts, nothing is sent in the clear.
    let address = Address::parse(
        &format!("postgresql://rev_ana@localhost:{port}/{name}"),
        Some("pw"),
    )
    .unwrap();
    let engine = Engine::new(address, &Trust::default(), Duration::from_secs(10)).unwrap();
    let error = engine.offers(None).await.unwrap_err().to_string();
    assert!(error.contains("TLS"), "{error}");
}
