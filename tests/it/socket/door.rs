//! Who may connect.

use super::*;

#[tokio::test]
async fn the_core_hears_uid_gid_and_pid_from_the_kernel_and_the_name_as_a_hint() {
    let server = start_server().await;
    let _agent = server.connect().await;
    server.until(|events| !events.is_empty()).await;
    let heard = server.heard.lock().unwrap();
    let Event::Connected { peer, .. } = &heard[0] else {
        panic!("{heard:?}");
    };
    let exe = std::env::current_exe().unwrap();
    let expected = Peer {
        uid: geteuid().as_raw(),
        gid: getegid().as_raw(),
        pid: getpid().as_raw(),
        exe: Some(exe.file_name().unwrap().to_str().unwrap().to_owned()),
        gateway: None,
    };
    assert_eq!(*peer, expected);
}

/// The answer to a connection from another uid. Only root can make one.
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
async fn a_uid_that_is_not_allowed_gets_the_reason_and_an_allowed_one_gets_in() {
    if !is_given_to_root(
        geteuid().is_root(),
        "root, which alone can be somebody else",
    ) {
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
    let (events, mut inbox) = inbox();
    let serving = tokio::spawn(serve(listener, events, Router::default()));
    let refused = as_uid(65_534, &path).await;
    assert_eq!(refused["error"]["code"], RpcError::FORBIDDEN);
    assert!(
        inbox.try_recv().is_none(),
        "the core heard of a uid that is not allowed"
    );
    let allowed = as_uid(65_533, &path).await;
    assert_eq!(allowed["error"]["code"], RpcError::INVALID_PARAMS);
    assert!(
        matches!(inbox.recv().await, Some(Event::Connected { peer, .. }) if peer.uid == 65_533)
    );
    serving.abort();
}

#[tokio::test]
async fn connections_beyond_the_bound_are_asked_to_come_later() {
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
    server
        .until(|events| Server::disconnect_count(events) == 1)
        .await;
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

#[tokio::test]
async fn each_of_a_thousand_connections_is_served_or_gets_the_reason() {
    let server = start_server().await;
    let bounds = Bounds::default();
    // Half of the clients send first, as most do; half read first. The accepting side and this test
    // share one process's descriptors, so the clients come in groups.
    let mut served = Vec::new();
    let mut refused = 0;
    for group in 0..20 {
        let mut new = Vec::new();
        for _ in 0..50 {
            new.push(server.connect().await);
        }
        for (n, mut agent) in new.into_iter().enumerate() {
            let id = ProposalId::new().to_string();
            let line = json!({"jsonrpc": "2.0", "id": 1, "method": "status", "params": {"id": id}});
            // A refused client may find the connection closed, but can still read the reason.
            let line = format!("{line}\n");
            if n % 2 == 0 || group < 2 {
                let _ = agent.stream.get_mut().write_all(line.as_bytes()).await;
            } else if served.len() < bounds.connections_per_uid {
                agent.send(line.as_bytes()).await;
            }
            let answer = agent
                .read()
                .await
                .expect("a refused connection gets an answer");
            if answer.get("result").is_some() {
                served.push(agent);
                continue;
            }
            assert_eq!(answer["error"]["code"], RpcError::TOO_MANY);
            let data = &answer["error"]["data"];
            assert!(data["retry_after_ms"].is_u64(), "{answer}");
            assert_eq!(data["limit_connections_per_uid"], 128);
            refused += 1;
        }
    }
    assert_eq!((served.len(), refused), (bounds.connections_per_uid, 872));
    // Clients that never read do not delay the others.
    let deaf: Vec<_> = {
        let mut deaf = Vec::new();
        for _ in 0..200 {
            deaf.push(server.connect().await);
        }
        deaf
    };
    for (n, agent) in served.iter_mut().enumerate() {
        assert!(agent.status(n as u64).await.get("result").is_some());
    }
    drop(deaf);
}

/// A process of another uid that opens connections, prints the first answer on each, and keeps the
/// accepted ones open until its input ends.
struct Holder(tokio::process::Child, Vec<Value>);

async fn holder(uid: u32, connections: usize, path: &Path) -> Holder {
    let script = r#"
import socket, sys
held = []
for n in range(int(sys.argv[2])):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    s.sendall(b'{"jsonrpc":"2.0","id":5,"method":"check","params":{}}\n')
    f = s.makefile()
    sys.stdout.write(f.readline())
    held.append((s, f))
sys.stdout.flush()
sys.stdin.read()
for s, f in held:
    try:
        s.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    sys.stdout.write(f.read())
"#;
    let mut child = tokio::process::Command::new("python3")
        .args(["-c", script])
        .arg(path)
        .arg(connections.to_string())
        .uid(uid)
        .gid(0)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut answers = Vec::new();
    for _ in 0..connections {
        let line = tokio::time::timeout(PATIENCE, lines.next_line()).await;
        let line = line
            .expect("the answer arrives in time")
            .unwrap()
            .expect("the process still runs");
        answers.push(serde_json::from_str(&line).unwrap());
    }
    child.stdout = Some(lines.into_inner().into_inner());
    Holder(child, answers)
}

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap()
}

#[tokio::test]
async fn a_uid_that_holds_all_it_can_keeps_no_other_uid_out() {
    if !is_given_to_root(
        geteuid().is_root(),
        "root, which alone can be somebody else",
    ) {
        return;
    }
    let (dir, folder) = private_folder();
    set_mode(dir.path(), 0o755);
    let path = folder.join("agent.sock");
    let config = SocketConfig {
        path: path.clone(),
        allow_uids: vec![65_531, 65_532, 65_533],
        group: None,
    };
    let listener = Listener::bind(&config).await.unwrap();
    let (entrance, mut inbox) = inbox();
    let serving = tokio::spawn(serve(listener, entrance, Router::default()));
    let core = tokio::spawn(async move { while inbox.recv().await.is_some() {} });
    let served = |h: &Holder| {
        let served = h.1.iter().filter(|a| code(a) == RpcError::INVALID_PARAMS);
        served.count()
    };
    // One uid opens one connection more than it may have; then a second uid takes the rest.
    let first = holder(65_531, 129, &path).await;
    assert_eq!(served(&first), 128);
    assert_eq!(code(&first.1[128]), RpcError::TOO_MANY);
    let second = holder(65_532, 128, &path).await;
    assert_eq!(served(&second), 128);
    // All connections are in use, but a third uid and the owner still get in.
    let third = holder(65_533, 3, &path).await;
    assert_eq!(served(&third), 3);
    let mut own = Raw {
        stream: BufReader::new(UnixStream::connect(&path).await.unwrap()),
    };
    own.call(1, "check", json!({})).await;
    assert_eq!(code(&own.read().await.unwrap()), RpcError::INVALID_PARAMS);
    // The closed connections got a reason: the two uids with the most connections lost two each.
    for holder in [first, second] {
        let Holder(child, _) = holder;
        let stdout = child.wait_with_output().await.unwrap().stdout;
        let stdout = String::from_utf8(stdout).unwrap();
        let notices = stdout.lines().filter(|line| line.contains("make room"));
        assert_eq!(notices.count(), 2, "{stdout}");
    }
    serving.abort();
    core.abort();
}
