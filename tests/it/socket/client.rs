//! The program's own end of the socket.

use super::*;

#[tokio::test]
async fn the_client_gets_answers_and_readable_refusals() {
    let server = start_server().await;
    let mut client = Client::connect(&server.path).await.unwrap();
    let id = ProposalId::new().to_string();
    let state = client.call("status", json!({"id": id})).await.unwrap();
    assert_eq!(state["state"], "pending");
    let error = client.call("status", json!({"ids": id})).await.unwrap_err();
    assert!(matches!(&error, ClientError::Refused(e) if e.code == RpcError::INVALID_PARAMS));
    let large = client
        .call("check", json!({"code": "x".repeat(2_000_000)}))
        .await;
    assert!(matches!(large, Err(ClientError::TooLarge(_))));
    assert_eq!(
        client.call("status", json!({"id": id})).await.unwrap()["state"],
        "pending"
    );
}

#[tokio::test]
async fn a_client_without_a_listener_says_what_to_start() {
    let dir = tempfile::tempdir().unwrap();
    let error = Client::connect(&dir.path().join("agent.sock"))
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("start one with `countersign`"),
        "{error}"
    );
}

#[tokio::test]
async fn a_client_whose_dashboard_goes_away_reports_it() {
    let server = start_server().await;
    let mut client = Client::connect(&server.path).await.unwrap();
    let call = client
        .send("wait", json!({"id": ProposalId::new().to_string()}))
        .await
        .unwrap();
    server.until(|events| events.len() == 2).await;
    server.core.abort();
    let error = client.answer(call).await.unwrap_err();
    assert!(matches!(error, ClientError::Closed), "{error}");
}

#[tokio::test]
async fn a_connection_reads_to_its_end_after_a_refusal_at_the_door() {
    let server = serve_with(Bounds {
        connections_per_uid: 0,
        ..Bounds::default()
    })
    .await;
    let mut agent = server.connect().await;
    let mut all = Vec::new();
    agent.stream.read_to_end(&mut all).await.unwrap();
    assert!(all.ends_with(b"\n"));
}
