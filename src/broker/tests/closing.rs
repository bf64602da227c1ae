//! A dashboard that closes denies everything that waits.

use super::super::effect::RpcError;
use super::super::event::{Event, ExecNote, Request};
use super::world::*;
use crate::model::{Draft, Retry, RunErrorKind, State, VerdictKind};

#[test]
fn waiting_proposals_become_unattended() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    let call = w.wait(A, id);
    w.quit();
    w.durable();
    let outcome = w.outcome(A, call);
    assert_eq!(
        (outcome.state, outcome.retry),
        (State::Unattended, Retry::Same)
    );
    assert_eq!(
        outcome.message,
        "The dashboard closed before anybody decided; not refused; you may propose it again."
    );
    assert!(w.exited);
    assert_eq!(w.log.last().unwrap().kind(), "closed");
}

#[test]
fn after_quit_nothing_executes() {
    let mut w = World::new();
    let pending = w.pending(A, draft("pending"));
    let digest = w.digest(pending);
    let armed = w.pending(A, draft("granted, not on the disk"));
    w.grant(armed);
    let held = w.pending(A, draft("held"));
    w.grant(held);
    w.durable_one();
    w.durable_one();
    w.exec(held, ExecNote::Prepared(isolation()));
    let before = w.executed.len();
    w.quit();
    w.confirm(pending, digest);
    w.durable();
    assert_eq!(w.executed.len(), before);
    assert!(w.released.is_empty());
    for id in [armed, held] {
        let message = "killed".to_owned();
        w.exec(id, ExecNote::Failed { message });
    }
    w.durable();
    assert!(w.exited);
    assert_eq!(w.state_of(pending), State::Unattended);
}

#[test]
fn runs_are_killed_and_their_ends_recorded_before_leaving() {
    let mut w = World::new();
    let id = w.running(A, draft("1"));
    w.quit();
    assert_eq!(w.killed, [id]);
    w.durable();
    assert!(!w.exited, "the end of the run is not known yet");
    w.exec(
        id,
        ExecNote::Ended(Box::new(failed_run(RunErrorKind::Cancelled))),
    );
    assert!(!w.exited, "the end of the run is not durable yet");
    w.durable();
    assert!(w.exited);
    assert_eq!(
        w.entry(id).message(),
        "The dashboard closed and stopped it while it ran."
    );
}

#[test]
fn unrecorded_proposals_are_answered_and_dropped() {
    let mut w = World::new();
    let (_, call) = w.propose(A, draft("not judged yet"));
    let with_key = w.propose(A, keyed("not judged either", "k"));
    let inputs = json_input(serde_json::json!(1));
    let reading = w.propose(
        A,
        Draft {
            inputs,
            ..draft("its inputs are being read")
        },
    );
    w.quit();
    for call in [call, with_key.1, reading.1] {
        let error = w.answer(A, call).unwrap().clone().unwrap_err();
        assert_eq!(error.code, RpcError::INTERNAL);
        assert!(error.message.contains("closing"), "{}", error.message);
    }
    w.durable();
    assert!(w.exited);
    assert!(w.log.iter().all(|e| e.kind() == "closed"));
}

#[test]
fn proposals_being_recorded_become_unattended_too() {
    let mut w = World::new();
    let (id, call) = w.propose(A, draft("1"));
    w.analyse(VerdictKind::Clear);
    w.quit();
    w.durable();
    assert!(w.answer(A, call).unwrap().is_ok());
    assert_eq!(w.state_of(id), State::Unattended);
    assert_eq!(w.kinds(id), ["proposed", "unattended"]);
    assert!(w.exited);
    assert_eq!(w.attention, 0);
}

#[test]
fn new_work_is_refused_while_closing() {
    let mut w = World::new();
    w.running(A, draft("1"));
    w.quit();
    let error = w.propose_refused(A, draft("2"));
    assert_eq!(error.code, RpcError::INTERNAL);
    let (code, profile) = ("1".into(), None);
    assert_eq!(
        w.refused(
            A,
            Request::Check {
                code,
                profile,
                inputs: None
            }
        )
        .code,
        RpcError::INTERNAL
    );
}

#[test]
fn an_agent_cannot_keep_the_dashboard_from_leaving() {
    let mut w = World::new();
    w.pending(A, draft("1"));
    w.quit();
    for _ in 0..10 {
        // The refusal is recorded, and closing waits for records.
        let id = w.fresh_id();
        w.refused(C, Request::Status { id });
        w.durable_one();
        if w.exited {
            return;
        }
    }
    panic!("the dashboard did not exit");
}

#[test]
fn refusals_counted_so_far_are_recorded_before_leaving() {
    let mut w = World::new();
    for _ in 0..5 {
        let id = w.fresh_id();
        w.refused(C, Request::Status { id });
    }
    w.quit();
    w.durable();
    let counts: Vec<u64> = w
        .log
        .iter()
        .filter_map(|e| match e {
            crate::model::LogEvent::Refused { count, .. } => Some(*count),
            _ => None,
        })
        .collect();
    assert_eq!(counts, [1, 4]);
    assert_eq!(w.log.last().unwrap().kind(), "closed");
    assert!(w.exited);
}

#[test]
fn quitting_twice_leaves_once() {
    let mut w = World::new();
    w.quit();
    w.quit();
    w.durable();
    assert!(w.exited);
    w.send(Event::Tick);
}
