//! Messages on a connection, and how the connection ends.

use super::*;

#[tokio::test]
async fn torn_writes_interleaved_requests_and_garbage_leave_the_connection_usable() {
    let server = start_server().await;
    let mut agent = server.connect().await;
    let id = ProposalId::new().to_string();
    agent.call(1, "wait", json!({"id": id})).await;
    for byte in b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"wrong\"}\n" {
        agent.send(&[*byte]).await;
    }
    assert_eq!(
        agent.read().await.unwrap()["error"]["code"],
        RpcError::METHOD_NOT_FOUND
    );
    let deep = format!("{}\n", "[".repeat(100_000));
    let garbage: [(&[u8], i64); 5] = [
        (b"{nonsense\n", RpcError::PARSE),
        (b"\xff\xff\n", RpcError::PARSE),
        (b"\0\0\0\n", RpcError::PARSE),
        (b"[1,2]\n", RpcError::INVALID_REQUEST),
        (deep.as_bytes(), RpcError::PARSE),
    ];
    for (bytes, code) in garbage {
        agent.send(bytes).await;
        let answer = agent.read().await.unwrap();
        assert_eq!(answer["error"]["code"], code);
        assert_eq!(answer["id"], Value::Null);
    }
    assert_eq!(agent.status(3).await["result"]["state"], "pending");
}

#[tokio::test]
async fn code_too_large_keeps_the_connection_and_a_line_too_large_ends_it() {
    // Enough time for the rest of the line, even on a busy machine.
    let server = serve_with(Bounds {
        linger: PATIENCE,
        ..Bounds::default()
    })
    .await;
    let mut agent = server.connect().await;
    agent
        .call(1, "propose", json!({"code": "#".repeat(65_537)}))
        .await;
    let refused = agent.read().await.unwrap();
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(1), &json!(RpcError::TOO_LARGE))
    );
    assert_eq!(agent.status(2).await["id"], 2);

    // A blocking client: writes everything, then reads.
    agent.send(&vec![b'a'; 2 * 1024 * 1024]).await;
    let refused = agent.read().await.unwrap();
    assert_eq!(refused["error"]["code"], RpcError::TOO_LARGE);
    assert_eq!(refused["error"]["data"]["limit_bytes"], 1_048_576);
    assert_eq!(agent.read().await, None);
    drop(agent);
    server
        .until(|events| Server::disconnect_count(events) == 1)
        .await;
}

#[tokio::test]
async fn a_peer_that_never_reads_is_cut_off_while_others_are_served() {
    let server = serve_with(Bounds {
        queued: 64 * 1024,
        ..Bounds::default()
    })
    .await;
    let mut deaf = server.connect().await;
    let mut other = server.connect().await;
    other.status(0).await;
    let flood = tokio::spawn(async move {
        // The server answers with errors until its buffer is full because nobody reads; then this
        // write fails.
        let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nothing\"}\n".repeat(100);
        while deaf.stream.get_mut().write_all(&line).await.is_ok() {}
    });
    for n in 1..50 {
        assert_eq!(other.status(n).await["id"], n);
    }
    tokio::time::timeout(PATIENCE, flood)
        .await
        .unwrap()
        .unwrap();
    server
        .until(|events| Server::disconnect_count(events) == 1)
        .await;
    assert_eq!(other.status(99).await["id"], 99);
}

#[tokio::test]
async fn a_peer_that_closes_its_writing_half_still_gets_its_answers() {
    let server = start_server().await;
    let mut agent = server.connect().await;
    let id = ProposalId::new().to_string();
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "status", "params": {"id": id}});
    // Without a newline, as `printf '{…}' | nc -N -U` sends it.
    agent.send(line.to_string().as_bytes()).await;
    agent.stream.get_mut().shutdown().await.unwrap();
    assert_eq!(agent.read().await.unwrap()["result"]["id"], id);
    assert_eq!(agent.read().await, None);
    server
        .until(|events| Server::disconnect_count(events) == 1)
        .await;
}

#[tokio::test]
async fn the_core_hears_of_a_half_closed_peer_that_leaves_while_it_waits() {
    let server = start_server().await;
    let mut agent = server.connect().await;
    agent
        .call(1, "wait", json!({"id": ProposalId::new().to_string()}))
        .await;
    agent.stream.get_mut().shutdown().await.unwrap();
    let waits = |events: &[Event]| {
        events.iter().any(|e| {
            matches!(
                e,
                Event::Request {
                    request: Request::Wait { .. },
                    ..
                }
            )
        })
    };
    server.until(waits).await;
    assert_eq!(Server::disconnect_count(&server.heard.lock().unwrap()), 0);
    drop(agent);
    server
        .until(|events| Server::disconnect_count(events) == 1)
        .await;
    assert_eq!(server.router.connections(), 0);
}

#[tokio::test]
async fn the_core_hears_of_a_peer_that_vanishes_with_an_open_call() {
    let server = start_server().await;
    let mut agent = server.connect().await;
    agent
        .call(1, "wait", json!({"id": ProposalId::new().to_string()}))
        .await;
    server.until(|events| events.len() == 2).await;
    drop(agent);
    server
        .until(|events| Server::disconnect_count(events) == 1)
        .await;
}

#[tokio::test]
async fn the_last_answers_of_a_closing_dashboard_arrive_and_the_socket_is_removed() {
    let server = start_server().await;
    let mut agent = server.connect().await;
    let id = ProposalId::new();
    agent.call(7, "wait", json!({"id": id.to_string()})).await;
    server.until(|events| events.len() == 2).await;
    let Event::Request { conn, call, .. } = server.heard.lock().unwrap()[1].clone() else {
        panic!();
    };
    let state = State::Unattended;
    server
        .router
        .reply(conn, call, Ok(Reply::State { id, state }));
    server.core.abort();
    assert_eq!(agent.read().await.unwrap()["result"]["state"], "unattended");
    assert_eq!(agent.read().await, None);
    tokio::time::timeout(PATIENCE, server.serving)
        .await
        .unwrap()
        .unwrap();
    assert!(!server.path.exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_agents_at_once_each_get_their_own_answers() {
    let server = Arc::new(start_server().await);
    let agents: Vec<_> = (0..40)
        .map(|_| {
            let server = server.clone();
            tokio::spawn(async move {
                let mut agent = server.connect().await;
                let ids: Vec<String> = (0..20).map(|_| ProposalId::new().to_string()).collect();
                for (n, id) in ids.iter().enumerate() {
                    agent.call(n as u64, "status", json!({"id": id})).await;
                }
                for _ in &ids {
                    let answer = agent.read().await.unwrap();
                    let n = usize::try_from(answer["id"].as_u64().unwrap()).unwrap();
                    assert_eq!(answer["result"]["id"], ids[n]);
                }
            })
        })
        .collect();
    for agent in agents {
        agent.await.unwrap();
    }
}
