//! One connection over an in-memory pipe, with a small scripted core behind it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncReadExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex,
    split,
};
use tokio::task::JoinHandle;

use super::*;
use crate::broker::{Note, Reply, Request};
use crate::ipc::Bounds;
use crate::model::{ProposalId, State, StreamName};

struct Agent {
    lines: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
}

impl Agent {
    async fn send(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).await.unwrap();
    }

    async fn call(&mut self, id: u32, method: &str, params: Value) {
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(format!("{line}\n").as_bytes()).await;
    }

    async fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.lines.read_line(&mut line).await.unwrap() {
            0 => None,
            _ => Some(serde_json::from_str(&line).unwrap()),
        }
    }

    /// Reads the next line, which must be an error. Returns its code.
    async fn error(&mut self) -> i64 {
        self.read().await.unwrap()["error"]["code"]
            .as_i64()
            .unwrap()
    }
}

struct Side {
    agent: Agent,
    events: crate::ipc::Inbox,
    router: Router,
    conn: ConnId,
    done: JoinHandle<()>,
}

const OWNER: u32 = 1000;

fn connect_with(bounds: Bounds, room: usize) -> Side {
    connect_until(bounds, room, std::future::pending())
}

fn connect_until(
    bounds: Bounds,
    room: usize,
    hangup: impl Future<Output = ()> + Send + 'static,
) -> Side {
    let router = Router::with_bounds(bounds);
    let (entrance, heard) = crate::ipc::inbox();
    let (far, near) = duplex(room);
    let (reader, writer) = split(near);
    let conn = router.open((OWNER, 7), OWNER).unwrap();
    let peer = Peer {
        uid: OWNER,
        gid: OWNER,
        pid: 7,
        exe: None,
        gateway: None,
    };
    let connection = Connection {
        conn,
        door: entrance.door(&peer),
        peer,
        reader,
        writer,
        router: router.clone(),
    };
    let done = tokio::spawn(connection.run(|_| hangup));
    let (lines, writer) = split(far);
    Side {
        agent: Agent {
            lines: BufReader::new(lines),
            writer,
        },
        events: heard,
        router,
        conn,
        done,
    }
}

fn connect() -> Side {
    connect_with(Bounds::default(), 64 * 1024)
}

impl Side {
    async fn event(&mut self) -> Event {
        self.events.recv().await.unwrap()
    }

    /// The next request and its call.
    async fn request(&mut self) -> (CallId, Request) {
        loop {
            match self.event().await {
                Event::Request { call, request, .. } => return (call, request),
                Event::Connected { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }

    fn answer(&self, call: CallId, state: State) {
        let id = ProposalId::new();
        self.router
            .reply(self.conn, call, Ok(Reply::State { id, state }));
    }

    /// Reads until the end: the last event must be the disconnect.
    async fn expect_end(mut self) {
        let mut last = None;
        while let Some(event) = self.events.recv().await {
            last = Some(event);
        }
        assert_eq!(last, Some(Event::Disconnected { conn: self.conn }));
        self.done.await.unwrap();
        assert_eq!(self.router.connections(), 0);
    }
}

#[tokio::test]
async fn the_core_hears_of_connections_requests_and_disconnects() {
    let mut side = connect();
    side.agent.call(1, "datasets", json!({})).await;
    assert!(matches!(side.event().await, Event::Connected { peer, .. } if peer.pid == 7));
    let (call, request) = side.request().await;
    assert_eq!(request, Request::Datasets);
    side.answer(call, State::Pending);
    drop(side.agent);
    assert_eq!(
        side.events.recv().await,
        Some(Event::Disconnected { conn: side.conn })
    );
}

#[tokio::test]
async fn the_core_hears_of_a_peer_that_leaves_while_it_waits() {
    let (gone, hangup) = tokio::sync::oneshot::channel::<()>();
    let mut side = connect_until(Bounds::default(), 1024, async {
        let _ = hangup.await;
    });
    side.agent.call(1, "datasets", json!({})).await;
    side.request().await;
    drop(side.agent);
    gone.send(()).unwrap();
    assert_eq!(
        side.events.recv().await,
        Some(Event::Disconnected { conn: side.conn })
    );
}

#[tokio::test]
async fn answers_in_any_order_reach_their_requests() {
    let mut side = connect();
    let id = ProposalId::new().to_string();
    for n in 1..=3 {
        side.agent.call(n, "status", json!({"id": id})).await;
    }
    let mut calls = Vec::new();
    for _ in 0..3 {
        calls.push(side.request().await.0);
    }
    let states = [State::Pending, State::Running, State::Denied];
    for i in [2, 0, 1] {
        side.answer(calls[i], states[i]);
    }
    for expected in [(3, "denied"), (1, "pending"), (2, "running")] {
        let reply = side.agent.read().await.unwrap();
        assert_eq!(
            (
                reply["id"].as_i64().unwrap(),
                reply["result"]["state"].as_str().unwrap()
            ),
            expected
        );
    }
}

#[tokio::test]
async fn torn_writes_and_many_requests_in_one_write_are_the_same() {
    let mut side = connect();
    let line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"datasets\"}\n";
    side.agent.send(line.repeat(5).as_bytes()).await;
    for byte in line.as_bytes() {
        side.agent.send(&[*byte]).await;
        tokio::task::yield_now().await;
    }
    for _ in 0..6 {
        assert_eq!(side.request().await.1, Request::Datasets);
    }
}

#[tokio::test]
async fn garbage_gets_an_answer_and_costs_nothing_else() {
    let mut side = connect();
    let deep = "[".repeat(100_000) + "\n";
    let garbage: [(&[u8], i64); 8] = [
        (b"{nonsense\n", RpcError::PARSE),
        (b"\n", RpcError::PARSE),
        (b"\xff\xfe\n", RpcError::PARSE),
        (b"\0\n", RpcError::PARSE),
        (b"[]\n", RpcError::INVALID_REQUEST),
        (deep.as_bytes(), RpcError::PARSE),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"approve\"}\n",
            RpcError::METHOD_NOT_FOUND,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"check\",\"params\":[1]}\n",
            RpcError::INVALID_PARAMS,
        ),
    ];
    for (bytes, code) in garbage {
        side.agent.send(bytes).await;
        assert_eq!(side.agent.error().await, code);
    }
    side.agent.call(9, "datasets", json!({})).await;
    let (call, _) = side.request().await;
    side.answer(call, State::Pending);
    assert_eq!(side.agent.read().await.unwrap()["id"], 9);
}

#[tokio::test]
async fn a_flood_of_lines_does_not_keep_others_waiting_until_its_end() {
    let mut flood = connect();
    let mut other = connect();
    // Both have connected and wait for something to read.
    assert!(matches!(flood.event().await, Event::Connected { .. }));
    assert!(matches!(other.event().await, Event::Connected { .. }));
    let mut lines = vec![b'\n'; 15_000];
    lines.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"datasets\"}\n");
    flood.agent.send(&lines).await;
    other.agent.call(1, "datasets", json!({})).await;
    other.request().await;
    assert!(
        flood.events.try_recv().is_none(),
        "the other peer waited for the whole flood"
    );
    flood.request().await;
}

#[tokio::test]
async fn a_notification_is_handled_and_never_answered() {
    let mut side = connect();
    side.agent
        .send(b"{\"jsonrpc\":\"2.0\",\"method\":\"datasets\"}\n{\"jsonrpc\":\"2.0\",\"method\":\"grant\"}\n")
        .await;
    side.agent.call(1, "datasets", json!({})).await;
    let (silent, _) = side.request().await;
    let (call, _) = side.request().await;
    side.answer(silent, State::Granted);
    side.answer(call, State::Pending);
    let reply = side.agent.read().await.unwrap();
    assert_eq!(
        (&reply["id"], &reply["result"]["state"]),
        (&json!(1), &json!("pending"))
    );
}

#[tokio::test]
async fn a_frame_over_the_limit_is_named_and_closes_the_connection() {
    // Long enough for the rest of the line on a busy machine.
    let bounds = Bounds {
        linger: Duration::from_secs(60),
        ..Bounds::default()
    };
    let mut side = connect_with(bounds, 64 * 1024);
    let sender = tokio::spawn(async move {
        // All of it is read, so that the peer gets to read the answer.
        side.agent.send(&vec![b'x'; 2 * 1024 * 1024]).await;
        assert_eq!(side.agent.error().await, RpcError::TOO_LARGE);
        assert_eq!(side.agent.read().await, None);
        side.agent
    });
    drop(sender.await.unwrap());
    side.done.await.unwrap();
    assert_eq!(side.router.connections(), 0);
}

#[tokio::test]
async fn a_frame_at_the_limit_is_read() {
    let mut side = connect();
    let mut line = br#"{"jsonrpc":"2.0","id":1,"method":"datasets"}"#.to_vec();
    line.resize(FRAME_MAX, b' ');
    line.push(b'\n');
    let sender = tokio::spawn(async move {
        side.agent.send(&line).await;
        side.agent
    });
    let request = loop {
        if let Event::Request { request, .. } = side.events.recv().await.unwrap() {
            break request;
        }
    };
    assert_eq!(request, Request::Datasets);
    sender.await.unwrap();
}

#[tokio::test]
async fn a_peer_that_never_reads_is_disconnected_and_delays_nobody() {
    let bounds = Bounds {
        queued: 100_000,
        ..Bounds::default()
    };
    let side = connect_with(bounds, 1024);
    let note = Note::Output {
        id: ProposalId::new(),
        stream: StreamName::Stdout,
        text: "x".repeat(10_000),
    };
    for _ in 0..20 {
        // Not async, so it cannot wait.
        side.router.notify(side.conn, &note);
    }
    side.expect_end().await;
}

#[tokio::test]
async fn connections_of_one_uid_share_the_bound_on_waiting_output() {
    let bounds = Bounds {
        queued: 100_000,
        queued_per_uid: 150_000,
        ..Bounds::default()
    };
    let router = Router::with_bounds(bounds);
    let a = router.open((1, 1), 0).unwrap();
    let b = router.open((1, 1), 0).unwrap();
    let other = router.open((2, 1), 0).unwrap();
    for conn in [a, b, other] {
        router.push(conn, vec![0; 90_000]);
    }
    assert!(router.next_frames(a).await.is_some());
    assert!(
        router.next_frames(b).await.is_none(),
        "the uid's share is used up"
    );
    assert!(router.next_frames(other).await.is_some());
    // A frame that is being written still counts.
    let c = router.open((1, 1), 0).unwrap();
    router.push(c, vec![0; 90_000]);
    assert!(router.next_frames(c).await.is_none());
    router.written(a, 90_000);
    let d = router.open((1, 1), 0).unwrap();
    router.push(d, vec![0; 90_000]);
    assert!(router.next_frames(d).await.is_some());
}

#[tokio::test]
async fn a_connection_that_makes_room_for_another_gets_the_reason_and_ends() {
    let bounds = Bounds {
        connections: 2,
        connections_per_uid: 2,
        linger: Duration::from_secs(60),
        ..Bounds::default()
    };
    let mut side = connect_with(bounds, 64 * 1024);
    let busy = side.router.open((OWNER, 7), OWNER).unwrap();
    side.router.begin(busy, CallId(1), Some(Id::null()));
    let new = side.router.open((1, 1), OWNER).unwrap();
    assert!(new != side.conn && new != busy);
    let told = side.agent.read().await.unwrap();
    assert_eq!(told["error"]["code"], RpcError::TOO_MANY);
    assert!(told["error"]["data"]["retry_after_ms"].is_u64());
    assert_eq!(side.agent.read().await, None);
    drop(side.agent);
    side.done.await.unwrap();
    assert_eq!(side.router.connections(), 2);
}

#[tokio::test]
async fn too_many_open_calls_are_refused_until_one_is_answered() {
    let bounds = Bounds {
        calls: 2,
        ..Bounds::default()
    };
    let mut side = connect_with(bounds, 64 * 1024);
    let id = ProposalId::new().to_string();
    for n in 1..=3 {
        side.agent.call(n, "wait", json!({"id": id})).await;
    }
    let (first, _) = side.request().await;
    let refused = side.agent.read().await.unwrap();
    assert_eq!(refused["id"], 3);
    assert_eq!(refused["error"]["code"], RpcError::TOO_MANY);
    assert!(refused["error"]["data"]["retry_after_ms"].is_u64());
    side.answer(first, State::Pending);
    side.agent.read().await.unwrap();
    side.agent.call(4, "wait", json!({"id": id})).await;
    side.request().await;
    assert!(matches!(side.request().await.1, Request::Wait { .. }));
}

#[tokio::test]
async fn a_peer_that_has_sent_everything_still_gets_its_answers() {
    let mut side = connect();
    // Without a final LF, the end of the stream ends the line.
    side.agent
        .send(br#"{"jsonrpc":"2.0","id":1,"method":"datasets"}"#)
        .await;
    side.agent.writer.shutdown().await.unwrap();
    let (call, _) = side.request().await;
    side.answer(call, State::Succeeded);
    assert_eq!(
        side.agent.read().await.unwrap()["result"]["state"],
        "succeeded"
    );
    assert_eq!(side.agent.read().await, None);
    side.expect_end().await;
}

#[tokio::test(start_paused = true)]
async fn a_line_that_is_never_finished_ends_its_connection_and_a_silent_peer_does_not() {
    let mut side = connect();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    side.agent.send(b"{\"jsonrpc\":").await;
    assert_eq!(side.agent.error().await, RpcError::INVALID_REQUEST);
    assert_eq!(side.agent.read().await, None);
    side.expect_end().await;
}

#[tokio::test]
async fn an_answer_without_an_open_call_is_dropped() {
    let mut side = connect();
    side.agent.call(1, "datasets", json!({})).await;
    let (call, _) = side.request().await;
    side.answer(CallId(99), State::Error);
    side.answer(call, State::Pending);
    side.answer(call, State::Error);
    side.router
        .reply(ConnId(99), call, Err(RpcError::new(1, "x")));
    side.agent.writer.shutdown().await.unwrap();
    assert_eq!(
        side.agent.read().await.unwrap()["result"]["state"],
        "pending"
    );
    let mut rest = Vec::new();
    side.agent.lines.read_to_end(&mut rest).await.unwrap();
    assert!(rest.is_empty());
}

#[tokio::test]
async fn drain_ends_when_everything_is_sent_and_does_not_wait_for_peers_that_never_read() {
    let mut side = connect_with(Bounds::default(), 64);
    side.agent.call(1, "datasets", json!({})).await;
    let (call, _) = side.request().await;
    side.answer(call, State::Unattended);
    let router = side.router.clone();
    let drained = tokio::spawn(async move { router.drain(Duration::from_secs(60)).await });
    assert_eq!(
        side.agent.read().await.unwrap()["result"]["state"],
        "unattended"
    );
    drained.await.unwrap();

    side.router.push(side.conn, vec![b' '; 1_000]);
    let started = std::time::Instant::now();
    side.router.drain(Duration::from_millis(20)).await;
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn a_connection_delivers_the_last_answer_and_ends_after_the_core() {
    let mut side = connect_with(Bounds::default(), 64);
    side.agent.call(1, "datasets", json!({})).await;
    let (call, _) = side.request().await;
    side.answer(call, State::Unattended);
    drop(side.events);
    let last = side.agent.read().await.unwrap();
    assert_eq!(last["result"]["state"], "unattended");
    assert_eq!(side.agent.read().await, None);
    side.done.await.unwrap();
    assert_eq!(side.router.connections(), 0);
}

#[tokio::test]
async fn a_panic_within_a_connection_ends_that_connection_only() {
    without_panic(async { panic!("a defect") }).await;
}
