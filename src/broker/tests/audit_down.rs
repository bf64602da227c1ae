//! The other half of invariant 8: when a record cannot be made durable, nothing runs and agents
//! hear only of that failure.

use super::super::decision::Refused;
use super::super::effect::{Reply, RpcError};
use super::super::event::{Event, ExecNote, Request};
use super::world::*;
use crate::model::{Retry, State, Ticket, VerdictKind};

#[test]
fn everything_open_ends_as_an_error_and_every_run_is_killed() {
    let mut w = World::new();
    let running = w.running(A, draft("runs"));
    let pending = w.pending(A, draft("waits"));
    let granted = w.pending(A, draft("granted, not on the disk"));
    w.grant(granted);
    let denied = w.pending(A, draft("denied, not on the disk"));
    w.grant(denied);
    w.durable_one();
    let ids = [running, pending, granted, denied];
    let (unjudged, proposal_call) = w.propose(A, draft("not judged yet"));
    let calls = ids.map(|id| w.wait(A, id));
    w.audit_down();
    for (id, call) in ids.into_iter().zip(calls) {
        let outcome = w.outcome(A, call);
        assert_eq!((outcome.state, outcome.retry), (State::Error, Retry::Same));
        assert!(outcome.message.contains("audit log"), "{}", outcome.message);
        assert!(outcome.run.is_none(), "{id} ran unrecorded");
    }
    assert!(w.killed.contains(&running));
    let error = w.answer(A, proposal_call).unwrap().clone().unwrap_err();
    assert_eq!(error.code, RpcError::INTERNAL);
    assert_eq!(w.state_of(unjudged), State::Error);
    assert_eq!((w.state.pending_count(), w.state.running_count()), (0, 0));
}

#[test]
fn nothing_executes_or_is_released_afterwards() {
    let mut w = World::new();
    let armed = w.pending(A, draft("armed"));
    w.grant(armed);
    let held = w.pending(A, draft("held"));
    w.grant(held);
    w.durable();
    w.exec(held, ExecNote::Prepared(isolation()));
    let unwritten: Vec<Ticket> = w.records.iter().map(|(_, t, _)| *t).collect();
    w.audit_down();
    for ticket in unwritten {
        w.send(Event::Durable { ticket });
    }
    w.analyse(VerdictKind::Clear);
    assert!(w.released.is_empty());
    assert!(w.killed.contains(&held));
    let error = w.propose_refused(A, draft("later"));
    assert_eq!(error.code, RpcError::INTERNAL);
    assert!(error.message.contains("audit log"), "{}", error.message);
}

#[test]
fn a_grant_is_refused_with_the_reason() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    let digest = w.digest(id);
    w.audit_down();
    w.confirm(id, digest);
    assert_eq!(w.state.refusal(id), Some(&Refused::AuditDown));
    assert!(w.state.audit.is_down());
}

#[test]
fn an_unrecorded_denial_is_not_reported() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    let call = w.wait(A, id);
    w.deny(id, Some("it reads names"));
    w.audit_down();
    let outcome = w.outcome(A, call);
    assert_eq!(outcome.state, State::Error);
    assert_eq!(outcome.decision, None);
    assert!(!outcome.message.contains("it reads names"));
}

#[test]
fn an_unrecorded_result_is_not_reported() {
    let mut w = World::new();
    let id = w.running(A, draft("1"));
    let call = w.wait(A, id);
    w.exec(id, ExecNote::Ended(Box::new(run("secret of the data\n"))));
    w.audit_down();
    let outcome = w.outcome(A, call);
    assert_eq!((outcome.state, outcome.run), (State::Error, None));
}

#[test]
fn an_outcome_reported_before_the_failure_stays() {
    let mut w = World::new();
    let id = w.running(A, draft("1"));
    w.exec(id, ExecNote::Ended(Box::new(run("42\n"))));
    w.durable();
    w.audit_down();
    assert_eq!(w.outcome_of(A, id).state, State::Succeeded);
}

#[test]
fn check_and_status_go_on_without_a_log() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    w.audit_down();
    let (code, profile) = ("1".into(), None);
    let call = w.request(
        A,
        Request::Check {
            code,
            profile,
            inputs: None,
        },
    );
    w.analyse(VerdictKind::Clear);
    assert!(matches!(w.answer(A, call), Some(Ok(Reply::Verdict(_)))));
    assert!(w.ask(A, Request::Status { id }).is_ok());
}

#[test]
fn the_dashboard_can_still_be_left() {
    let mut w = World::new();
    w.running(A, draft("1"));
    w.audit_down();
    w.quit();
    assert!(w.exited);
}

#[test]
fn a_log_that_fails_while_closing_does_not_keep_the_dashboard_open() {
    let mut w = World::new();
    w.pending(A, draft("1"));
    w.quit();
    assert!(!w.exited);
    w.audit_down();
    assert!(w.exited);
}
