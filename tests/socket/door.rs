//! Who may connect.

use super::*;

#[tokio::test]
async fn the_core_hears_uid_gid_and_pid_from_the_kernel_and_the_name_as_a_hint() {
    let server = served().await;
    let _agent = server.connect().await;
    server.until(|events| !events.is_empty()).await;
    let heard = server.heard.lock().unwrap();
    let Event::Connected { peer, .. } = &heard[0] else {
        panic!("{heard:?}");
    };
    let exe = std::env::current_exe().unwrap();
    let want = Peer {
        uid: geteuid().as_raw(),
        gid: getegid().as_raw(),
        pid: getpid().as_raw(),
        exe: Some(exe.file_name().unwrap().to_str().unwrap().to_owned()),
    };
    assert_eq!(*peer, want);
}

/// What a connection attempt as another uid is answered. Only root can make one.
async fn as_uid(uid: u32, path: &Path) -> Value {
    let script = "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n\
                  s.sendall(b'{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"check\",\"params\":{}}\\n')\n\
                  sys.stdout.write(s.makefile().readline())";
    let output = tokio::process::Command::new("python3")
        .args(["-c", script])
        .arg(path)
        .uid(uid)
        .gid(0)
        .output()
        .await
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test]
async fn a_uid_that_is_not_allowed_is_told_so_and_one_that_is_gets_in() {
    if !geteuid().is_root() {
        // Only root can be somebody else.
        return;
    }
    let (dir, folder) = private_folder();
    set_mode(dir.path(), 0o755);
    let path = folder.join("agent.sock");
    let config = SocketConfig {
        path: path.clone(),
        allow_uids: vec![65_533],
        group: None,
    };
    let listener = Listener::bind(&config).await.unwrap();
    let (events, mut inbox) = mpsc::channel(16);
    let serving = tokio::spawn(serve(listener, events, Router::default()));
    let refused = as_uid(65_534, &path).await;
    assert_eq!(refused["error"]["code"], RpcError::FORBIDDEN);
    assert!(
        inbox.try_recv().is_err(),
        "the core heard of somebody who may not be here"
    );
    let allowed = as_uid(65_533, &path).await;
    assert_eq!(allowed["error"]["code"], RpcError::INVALID_PARAMS);
    assert!(
        matches!(inbox.recv().await, Some(Event::Connected { peer, .. }) if peer.uid == 65_533)
    );
    serving.abort();
}

#[tokio::test]
async fn connections_beyond_the_bound_are_told_to_come_later() {
    let server = serve_with(Bounds {
        connections_per_uid: 2,
        ..Bounds::default()
    })
    .await;
    let mut first = server.connect().await;
    let mut second = server.connect().await;
    first.status(1).await;
    second.status(1).await;
    let mut third = server.connect().await;
    let refused = third.read().await.unwrap();
    assert_eq!(refused["error"]["code"], RpcError::TOO_MANY);
    assert!(refused["error"]["data"]["retry_after_ms"].is_u64());
    assert_eq!(third.read().await, None);
    drop(first);
    server.until(|events| Server::gone(events) == 1).await;
    assert!(
        server
            .connect()
            .await
            .status(1)
            .await
            .get("result")
            .is_some()
    );
}
