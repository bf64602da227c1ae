//! One connected agent: reads lines as requests, writes answers, and reports when the agent is
//! gone.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::time::{Instant, timeout, timeout_at};

use crate::broker::{Event, RpcError};
use crate::model::{CallId, ConnId, Peer};

use super::encode;
use super::envelope::{self, Id};
use super::frame::{FRAME_MAX, FrameReader, Next};
use super::inbox::Door;
use super::request;
use super::router::Router;

/// How long a peer with too many open calls should wait before the next call.
const RETRY_AFTER_MS: u64 = 1_000;

/// Lines answered directly before other connections get their turn.
const LINES_AT_A_TIME: u64 = 16;

/// How many displaced connections stay open at a time, so that their peers can read why. Further
/// ones are told why and closed at once.
const DISPLACED: usize = 64;

/// One end of a connection that `router` has opened.
pub(super) struct Connection<R, W> {
    pub conn: ConnId,
    pub peer: Peer,
    pub reader: R,
    pub writer: W,
    pub door: Door,
    pub router: Router,
}

/// Why no more requests come.
enum End {
    /// The peer sends no more, but may still be reading.
    Finished,
    /// It sent something after which the connection cannot continue.
    Refused(RpcError),
    /// The dashboard takes no more requests; its last answers are still delivered.
    Closing,
    /// The connection is gone.
    Gone,
}

impl<R, W> Connection<R, W>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    /// Runs until the peer is gone. `hangup` ends when a peer that sends no more stops reading too.
    /// The core hears `Connected` first and `Disconnected` last, whatever happens between.
    pub async fn run<H, F>(self, hangup: H)
    where
        H: FnOnce(&R) -> F,
        F: Future<Output = ()>,
    {
        let Self {
            conn,
            peer,
            reader,
            writer,
            door,
            router,
        } = self;
        if door.send(Event::Connected { conn, peer }).await.is_ok() {
            let talk = talk(conn, reader, writer, &door, &router, hangup);
            without_panic(talk).await;
            router.close(conn);
            // If sending fails, the dashboard is gone.
            let _ = door.send(Event::Disconnected { conn }).await;
        } else {
            router.close(conn);
        }
    }
}

async fn talk<R, W, H, F>(
    conn: ConnId,
    reader: R,
    writer: W,
    door: &Door,
    router: &Router,
    hangup: H,
) where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    H: FnOnce(&R) -> F,
    F: Future<Output = ()>,
{
    let mut lines = FrameReader::new(reader, FRAME_MAX);
    let mut write = pin!(write(conn, writer, router));
    let mut linger = router.bounds.linger;
    let end = tokio::select! {
        end = read(conn, &mut lines, door, router) => end,
        () = door.closed() => End::Closing,
        told = router.displaced(conn) => {
            if told > DISPLACED {
                linger = Duration::ZERO;
            }
            End::Refused(displaced(router))
        }
        () = &mut write => return,
    };
    match end {
        End::Gone => {}
        End::Closing => {
            router.end(conn);
            let _ = timeout(linger, write).await;
        }
        // A peer that has sent everything still gets its answers as long as it reads.
        End::Finished => {
            tokio::select! {
                () = &mut write => {}
                () = router.idle(conn) => {}
                () = door.closed() => {
                    router.end(conn);
                    let _ = timeout(linger, &mut write).await;
                }
                told = router.displaced(conn) => {
                    router.push(conn, encode::response(&Id::null(), &Err(displaced(router))));
                    router.end(conn);
                    let linger = if told > DISPLACED { Duration::ZERO } else { linger };
                    let _ = timeout(linger, &mut write).await;
                }
                () = hangup(lines.source()) => {}
            }
        }
        // Keep reading, so that a peer that is still sending gets to read the answer; closing at
        // once would break its write.
        End::Refused(error) => {
            router.push(conn, encode::response(&Id::null(), &Err(error)));
            router.end(conn);
            let rest = async { tokio::join!(&mut write, lines.discard()) };
            let _ = timeout(linger, rest).await;
        }
    }
}

async fn read<R: AsyncRead + Unpin>(
    conn: ConnId,
    lines: &mut FrameReader<R>,
    door: &Door,
    router: &Router,
) -> End {
    let mut calls = 0;
    let mut begun: Option<Instant> = None;
    loop {
        let Some(next) = lines.take() else {
            begun = begun.or_else(|| lines.is_within().then(Instant::now));
            let filled = match begun {
                None => lines.fill().await,
                Some(begun) => {
                    match timeout_at(begun + router.bounds.line_time, lines.fill()).await {
                        Ok(filled) => filled,
                        Err(_) => return End::Refused(too_slow(router)),
                    }
                }
            };
            match filled {
                Ok(()) => continue,
                Err(_) => return End::Gone,
            }
        };
        begun = None;
        match next {
            Next::End => return End::Finished,
            Next::TooLong => return End::Refused(too_long()),
            Next::Line(line) => {
                router.pace(conn, line.len()).await;
                calls += 1;
                if calls % LINES_AT_A_TIME == 0 {
                    tokio::task::yield_now().await;
                }
                let Some(event) = take(conn, CallId(calls), &line, router) else {
                    continue;
                };
                if door.send(event).await.is_err() {
                    return End::Closing;
                }
            }
        }
    }
}

/// The event for a line; `None` if the line was answered here.
fn take(conn: ConnId, call: CallId, line: &[u8], router: &Router) -> Option<Event> {
    let envelope::Decoded { id, call: asked } = envelope::decode(line);
    let request = match asked.and_then(request::decode) {
        Ok(request) if router.begin(conn, call, id.clone()) => {
            return Some(Event::Request {
                conn,
                call,
                request,
            });
        }
        Ok(_) => Err(RpcError::new(
            RpcError::TOO_MANY,
            format!(
                "{} calls of this connection are open; wait for an answer",
                router.bounds.calls
            ),
        )
        .with_data(json!({
            "retry_after_ms": RETRY_AFTER_MS,
            "limit_calls": router.bounds.calls,
        }))),
        Err(error) => Err(error),
    };
    // A notification is never answered, not even with an error (JSON-RPC 2.0 §4.1).
    if let Some(id) = id {
        router.push(conn, encode::response(&id, &request));
    }
    None
}

fn too_long() -> RpcError {
    RpcError::new(
        RpcError::TOO_LARGE,
        format!("a line is longer than {FRAME_MAX} bytes; the connection is closed"),
    )
    .with_data(json!({"limit_bytes": FRAME_MAX}))
}

fn displaced(router: &Router) -> RpcError {
    RpcError::new(
        RpcError::TOO_MANY,
        "the connection is closed to make room for others: its uid or process holds more than its \
         share, and this one was the idlest",
    )
    .with_data(json!({
        "retry_after_ms": RETRY_AFTER_MS,
        "limit_connections": router.bounds.connections,
        "limit_connections_per_uid": router.bounds.connections_per_uid,
    }))
}

fn too_slow(router: &Router) -> RpcError {
    let seconds = router.bounds.line_time.as_secs();
    RpcError::new(
        RpcError::INVALID_REQUEST,
        format!("a line was not finished within {seconds} s; the connection is closed"),
    )
    .with_data(json!({"limit_line_s": seconds}))
}

/// Writes what the router has for this connection, until there is nothing more to write or nobody
/// to read it.
async fn write<W: AsyncWrite + Unpin>(conn: ConnId, mut writer: W, router: &Router) {
    while let Some(frames) = router.next_frames(conn).await {
        let written = tokio::select! {
            written = writer.write_all(&frames) => written,
            () = router.lost(conn) => return,
        };
        if written.is_err() {
            return;
        }
        router.written(conn, frames.len());
    }
    let _ = writer.shutdown().await;
}

/// Runs a future to its end or its panic: a defect in one connection ends only that connection.
async fn without_panic(future: impl Future<Output = ()>) {
    let mut future = pin!(future);
    std::future::poll_fn(|context| {
        catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))).unwrap_or(Poll::Ready(()))
    })
    .await;
}

#[cfg(test)]
#[path = "connection_tests.rs"]
mod tests;
