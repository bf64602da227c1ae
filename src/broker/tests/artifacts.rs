//! Files that runs left: recorded first, read by their owners, used again in their session.

use std::collections::BTreeMap;

use super::super::effect::{Reply, RpcError};
use super::super::event::{ExecNote, Request};
use super::super::run::FRAME_STDOUT;
use super::world::*;
use crate::model::{
    ArtifactRef, ConnId, Digest, Draft, InputRequest, LogEvent, ProposalId, RunErrorKind, State,
};

fn read_request(id: ProposalId, name: &str, offset: u64) -> Request {
    Request::Artifact {
        id,
        name: name.to_owned(),
        offset,
    }
}

/// A succeeded run of this connection that left `a.txt` with the content "four".
fn run_with_file(w: &mut World, conn: ConnId) -> ProposalId {
    let id = w.running(conn, draft("1"));
    let (files, end) = leaving("a.txt", "four");
    w.exec(id, files);
    w.exec(id, end);
    w.durable();
    assert_eq!(w.state_of(id), State::Succeeded);
    id
}

fn draft_with_artifact(id: ProposalId, name: &str) -> Draft {
    let artifact = ArtifactRef {
        id,
        name: name.to_owned(),
    };
    Draft {
        inputs: BTreeMap::from([("earlier".to_owned(), InputRequest::Artifact { artifact })]),
        ..draft("print(earlier)")
    }
}

fn hello(w: &mut World, conn: ConnId, resume: Option<&str>) -> String {
    let request = Request::Hello {
        agent: None,
        resume: resume.map(str::to_owned),
        fresh: format!("fresh token of {}", conn.0),
    };
    match w.ask(conn, request) {
        Ok(Reply::Hello { session, .. }) => session,
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_are_in_the_log_before_the_agent_hears_of_them() {
    let mut w = World::new();
    let id = w.running(A, draft("1"));
    let (files, end) = leaving("a.txt", "four");
    w.exec(id, files);
    w.exec(id, end);
    assert_eq!(
        w.refused(A, read_request(id, "a.txt", 0)).code,
        RpcError::INVALID_PARAMS,
        "the record is not durable yet"
    );
    let Some(LogEvent::Finished(finished)) = w.log.last() else {
        panic!("the end is not recorded");
    };
    assert_eq!(finished.artifacts[0].sha256, Digest::of(b"four").hex());
    let blobs = w.blobs.last().unwrap();
    assert!(blobs.iter().any(|b| &*b.bytes == b"four"));
    w.durable();
    let outcome = w.outcome_of(A, id);
    assert_eq!(outcome.run.unwrap().artifacts[0].name, "a.txt");
    let Ok(Reply::Artifact { base64, .. }) = w.ask(A, read_request(id, "a.txt", 2)) else {
        panic!("the file was not read");
    };
    assert_eq!(base64, format!("{}@2", Digest::of(b"four").hex()));
}

#[test]
fn a_file_belongs_to_the_proposer_of_its_run() {
    let mut w = World::new();
    let id = run_with_file(&mut w, A);
    for other in [B, C] {
        assert_eq!(
            w.refused(other, read_request(id, "a.txt", 0)).code,
            RpcError::UNKNOWN_ID
        );
    }
    let unknown = w.fresh_id();
    assert_eq!(
        w.refused(A, read_request(unknown, "a.txt", 0)).code,
        RpcError::UNKNOWN_ID
    );
    let error = w.refused(A, read_request(id, "../a.txt", 0));
    assert_eq!(error.code, RpcError::INVALID_PARAMS);
    assert_eq!(error.data["expected"], serde_json::json!(["a.txt"]));
    assert_eq!(
        w.refused(A, read_request(id, "a.txt", 5)).code,
        RpcError::INVALID_PARAMS
    );
    assert!(
        w.ask(A, read_request(id, "a.txt", 4)).is_ok(),
        "the end of the file"
    );
}

#[test]
fn files_reported_before_the_release_are_ignored() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    w.grant(id);
    w.durable();
    w.exec(id, ExecNote::Prepared(isolation()));
    // Before its release, a child cannot have left any file.
    let (files, _) = leaving("a.txt", "forged");
    w.exec(id, files);
    w.durable();
    w.exec(id, ExecNote::Released);
    w.exec(id, ExecNote::Ended(Box::new(run(""))));
    let blobs = w.blobs.last().unwrap();
    assert!(!blobs.iter().any(|b| &*b.bytes == b"forged"));
}

#[test]
fn stdout_beyond_a_frame_is_an_artifact() {
    let mut w = World::new();
    for (text, kept) in [
        ("x".repeat(FRAME_STDOUT), false),
        ("x".repeat(FRAME_STDOUT + 1), true),
        ("\u{1b}".repeat(150_000), true),
    ] {
        let id = w.running(A, draft("1"));
        w.exec(id, ExecNote::Ended(Box::new(run(&text))));
        w.durable();
        let run = w.outcome_of(A, id).run.unwrap();
        assert_eq!(run.artifacts.len(), usize::from(kept));
        if kept {
            assert_eq!(run.artifacts[0].name, "stdout");
            assert_eq!(run.artifacts[0].bytes, text.len() as u64);
            assert!(w.ask(A, read_request(id, "stdout", 0)).is_ok());
        }
    }
}

#[test]
fn an_artifact_is_an_input_in_its_own_session_only() {
    let mut w = World::new();
    let token = hello(&mut w, A, None);
    let id = run_with_file(&mut w, A);
    // Another connection of the session, after the first one is gone.
    w.disconnect(A);
    let error = w.propose_refused(B, draft_with_artifact(id, "a.txt"));
    assert_eq!(error.code, RpcError::UNKNOWN_ID);
    assert_eq!(hello(&mut w, B, Some(&token)), token);
    let (next, _) = w.propose(B, draft_with_artifact(id, "a.txt"));
    assert_eq!(
        w.asked[&next].1["earlier"].sha256,
        Digest::of(b"four").hex()
    );
    // A session token is useless to another uid.
    assert_ne!(hello(&mut w, C, Some(&token)), token);
    let error = w.propose_refused(C, draft_with_artifact(id, "a.txt"));
    assert_eq!(error.code, RpcError::UNKNOWN_ID);
    // Within the session, the file must still exist.
    let error = w.propose_refused(B, draft_with_artifact(id, "b.txt"));
    assert_eq!(error.code, RpcError::INVALID_PARAMS);
}

#[test]
fn without_hello_a_connection_is_its_own_session() {
    let mut w = World::new();
    let id = run_with_file(&mut w, A);
    assert_eq!(
        w.propose_refused(B, draft_with_artifact(id, "a.txt")).code,
        RpcError::UNKNOWN_ID
    );
    let (next, _) = w.propose(A, draft_with_artifact(id, "a.txt"));
    assert!(w.asked[&next].1.contains_key("earlier"));
}

#[test]
fn only_a_succeeded_run_gives_inputs() {
    let mut w = World::new();
    let pending = w.pending(A, draft("1"));
    let failed = w.running(A, draft("2"));
    w.exec(
        failed,
        ExecNote::Ended(Box::new(failed_run(RunErrorKind::SnippetError))),
    );
    w.durable();
    for id in [pending, failed] {
        let error = w.propose_refused(A, draft_with_artifact(id, "a.txt"));
        assert_eq!(error.code, RpcError::INVALID_PARAMS);
        assert!(error.message.contains("not succeeded"), "{error:?}");
    }
}
