//! Accepts connections, and refuses those that may not be here.

use std::io;
use std::os::fd::AsFd as _;
use std::time::Duration;

use nix::unistd::geteuid;
use serde_json::json;
use tokio::io::{AsyncWriteExt as _, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::broker::{ConnId, Event, RpcError};
use crate::model::Peer;

use super::connection::Connection;
use super::encode;
use super::envelope::Id;
use super::frame::FrameReader;
use super::peer;
use super::router::{Full, Router};
use super::socket::Listener;

/// How long to wait when the system has no descriptor left for a connection.
const BREATH: Duration = Duration::from_millis(100);

/// How many refused peers may be read out at a time. Further ones are cut off.
const TURNED_AWAY: usize = 64;

/// Serves agents until the receiver of `events` is dropped: then nobody new is let in, the socket
/// is removed, and every connection gets what still waits for it before it ends. Dropping this
/// future ends all of that at once.
pub async fn serve(listener: Listener, events: mpsc::Sender<Event>, router: Router) {
    let owner = geteuid().as_raw();
    let mut open = JoinSet::new();
    let mut turned_away = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.socket.accept() => accepted,
            Some(_) = open.join_next() => continue,
            Some(_) = turned_away.join_next() => continue,
            () = events.closed() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(e) if is_of_the_peer(&e) => continue,
            Err(_) => {
                tokio::time::sleep(BREATH).await;
                continue;
            }
        };
        match admit(&stream, owner, &listener, &router) {
            Ok((conn, peer)) => {
                let (reader, writer) = stream.into_split();
                let connection = Connection {
                    conn,
                    peer,
                    reader,
                    writer,
                    events: events.clone(),
                    router: router.clone(),
                };
                open.spawn(connection.run(hangup));
            }
            Err(Some(error)) if turned_away.len() < TURNED_AWAY => {
                turned_away.spawn(turn_away(stream, error, router.bounds.linger));
            }
            Err(_) => drop(stream),
        }
    }
    drop(listener);
    while open.join_next().await.is_some() {}
}

/// Errors of accept(2) that say something about that one connection only.
fn is_of_the_peer(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}

/// Who it is and its number, or what to tell it; nothing where it cannot even be told apart.
fn admit(
    stream: &UnixStream,
    owner: u32,
    listener: &Listener,
    router: &Router,
) -> Result<(ConnId, Peer), Option<RpcError>> {
    let peer = peer::of(stream).map_err(|_| None)?;
    if peer.uid != owner && !listener.allow_uids.contains(&peer.uid) {
        return Err(Some(
            RpcError::new(
                RpcError::FORBIDDEN,
                format!("uid {} may not connect here", peer.uid),
            )
            .with_data(json!({
                "expected": "the dashboard's own uid, or one of [socket] allow_uids",
            })),
        ));
    }
    match router.open(peer.uid, owner) {
        Ok(conn) => Ok((conn, peer)),
        Err(Full) => Err(Some(
            RpcError::new(RpcError::TOO_MANY, "too many connections are open")
                .with_data(json!({"retry_after_ms": 1_000})),
        )),
    }
}

/// Says why and closes. What the peer is sending meanwhile is read and forgotten: closing before
/// would break its write, and it would never read why.
async fn turn_away(mut stream: UnixStream, error: RpcError, linger: Duration) {
    let told = async {
        let line = encode::response(&Id::null(), &Err(error));
        stream.write_all(&line).await?;
        stream.shutdown().await?;
        FrameReader::new(stream, 0).discard().await
    };
    let _ = timeout(linger, told).await;
}

/// Ends when the peer has closed both directions. Needed once it has closed one: a read then
/// ends at once and says no more.
fn hangup(reader: &OwnedReadHalf) -> impl Future<Output = ()> + use<> {
    // A registration of its own, so that its readiness can be cleared without hiding from the
    // writer that it may write.
    let watched = reader
        .as_ref()
        .as_fd()
        .try_clone_to_owned()
        .and_then(|fd| UnixStream::from_std(fd.into()));
    async move {
        let Ok(watched) = watched else { return };
        while let Ok(ready) = watched.ready(Interest::WRITABLE).await {
            if ready.is_write_closed() {
                return;
            }
            let blocked = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
            let _ = watched.try_io(Interest::WRITABLE, blocked);
        }
    }
}
