//! Accepts connections, and refuses peers that may not connect.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::time::Duration;

use nix::sys::socket::{MsgFlags, send};
use nix::unistd::geteuid;
use serde_json::json;
use tokio::io::{AsyncWriteExt as _, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use crate::broker::RpcError;
use crate::model::{ConnId, Peer};

use super::connection::Connection;
use super::encode;
use super::envelope::Id;
use super::frame::FrameReader;
use super::inbox::Entrance;
use super::peer;
use super::router::{Bounds, Router};
use super::shares::Full;
use super::socket::Listener;

/// How long to wait when the system has no free descriptor for a connection.
const BREATH: Duration = Duration::from_millis(100);

/// How many refused connections stay open at a time, so that their peers can read why. When another
/// one comes, the oldest is closed.
const TURNED_AWAY: usize = 64;

/// Serves agents until the inbox of `entrance` is dropped: then no new connection is admitted, the
/// socket is removed, and every connection is sent its queued output before it ends. Dropping this
/// future ends everything at once.
pub async fn serve(listener: Listener, entrance: Entrance, router: Router) {
    let owner = geteuid().as_raw();
    let mut open = JoinSet::new();
    let mut turned_away = JoinSet::new();
    let mut read_out = VecDeque::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.socket.accept() => accepted,
            Some(_) = open.join_next() => continue,
            Some(_) = turned_away.join_next() => continue,
            () = entrance.closed() => break,
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
                    door: entrance.door(&peer),
                    peer,
                    reader,
                    writer,
                    router: router.clone(),
                };
                open.spawn(connection.run(hangup));
            }
            Err(Some(error)) => {
                tell(&stream, error);
                read_out.retain(|going: &AbortHandle| !going.is_finished());
                if read_out.len() >= TURNED_AWAY
                    && let Some(oldest) = read_out.pop_front()
                {
                    oldest.abort();
                }
                let linger = router.bounds.linger;
                read_out.push_back(turned_away.spawn(turn_away(stream, linger)));
            }
            Err(None) => drop(stream),
        }
    }
    drop(listener);
    while open.join_next().await.is_some() {}
}

/// Errors of accept(2) that concern only the one connection.
fn is_of_the_peer(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}

/// Admits a peer and numbers its connection, or returns the error to tell it; no error if the
/// kernel does not identify the peer.
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
    match router.open((peer.uid, peer.pid), owner) {
        Ok(conn) => Ok((conn, peer)),
        Err(full) => Err(Some(no_room(full, &router.bounds))),
    }
}

pub(super) fn no_room(full: Full, bounds: &Bounds) -> RpcError {
    let message = match full {
        Full::Uid(n) => format!("{n} connections of this uid are open, which is its most"),
        Full::All(n) => format!("{n} connections are open, and no uid holds more than this one"),
    };
    RpcError::new(RpcError::TOO_MANY, message).with_data(json!({
        "retry_after_ms": 1_000,
        "limit_connections": bounds.connections,
        "limit_connections_per_uid": bounds.connections_per_uid,
        "expected": "close a connection, or share one: its requests may overlap",
    }))
}

/// Tells a peer why it is refused. One short line always fits into a new connection's buffer, so
/// this never waits.
fn tell(stream: &UnixStream, error: RpcError) {
    let line = encode::response(&Id::null(), &Err(error));
    // Ignored if the peer is gone already.
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
    let _ = send(stream.as_fd().as_raw_fd(), &line, flags);
}

/// Closes a refused connection. What the peer is still sending is read and discarded: closing
/// earlier would break its write, and it would never read the reason.
async fn turn_away(mut stream: UnixStream, linger: Duration) {
    let read_out = async {
        stream.shutdown().await?;
        FrameReader::new(stream, 0).discard().await
    };
    let _ = timeout(linger, read_out).await;
}

/// Ends when the peer has closed both directions. Needed once it has closed one: from then on a
/// read returns at once and shows nothing more.
pub(super) fn hangup(reader: &OwnedReadHalf) -> impl Future<Output = ()> + use<> {
    // A separate registration, so that clearing its readiness does not hide from the writer that it
    // may write.
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
