//! The blobs of one record cannot be kept: only its proposal fails, and the log goes on.

use super::super::effect::RpcError;
use super::super::event::{Event, ExecNote, Request};
use super::world::*;
use crate::model::{LogEvent, Retry, State, Ticket, VerdictKind};

#[test]
fn a_proposal_that_could_not_be_recorded_is_refused_and_everything_else_goes_on() {
    let mut w = World::new();
    let other = w.running(B, draft("another one"));
    for kind in [VerdictKind::Clear, VerdictKind::Blocked] {
        let (id, call) = w.propose(A, keyed("1", "key"));
        let waits = w.wait(A, id);
        w.analyse(kind);
        assert_eq!(w.unkept(0).unwrap().kind(), "proposed");
        let error = w.answer(A, call).unwrap().clone().unwrap_err();
        assert_eq!(error.code, RpcError::INTERNAL);
        assert!(error.message.contains("propose it again"), "{error:?}");
        assert!(
            !error.message.contains("open files"),
            "the agent must not see the host's error"
        );
        assert!(w.answer(A, waits).unwrap().is_err());
        assert!(w.state.entry(id).is_none());
        assert_eq!(w.kinds(id), ["proposed"], "a removed proposal has no end");
    }
    // Repeats are counted into one record.
    let refused = w.log.iter().find(|e| e.kind() == "refused");
    let Some(LogEvent::Refused { code, message, .. }) = refused else {
        panic!("{:?}", w.log)
    };
    assert_eq!(*code, RpcError::INTERNAL);
    assert!(message.contains("Too many open files"), "{message}");
    assert!(!w.state.audit.is_down());
    // The same key again: no trace of the first attempt blocks it.
    let again = w.pending(A, keyed("1", "key"));
    w.start(again);
    assert_eq!(w.state_of(other), State::Running);
}

#[test]
fn a_result_whose_output_could_not_be_kept_is_recorded_without_output_and_not_reported() {
    let mut w = World::new();
    let id = w.running(A, draft("1"));
    let call = w.wait(A, id);
    w.exec(id, ExecNote::Ended(Box::new(run("secret of the data\n"))));
    assert_eq!(w.unkept(0).unwrap().state(), Some(State::Succeeded));
    assert!(
        w.answer(A, call).is_none(),
        "the result was reported before its record"
    );
    let LogEvent::Finished(log) = w.log.last().unwrap().clone() else {
        panic!("{:?}", w.log.last())
    };
    assert_eq!(log.state, State::Error);
    assert!(log.unkept.unwrap().contains("Too many open files"));
    assert_eq!(log.stdout_bytes, 19);
    assert!(w.blobs.last().unwrap().is_empty());
    w.durable();
    let outcome = w.outcome(A, call);
    assert_eq!((outcome.state, outcome.run), (State::Error, None));
    assert_eq!(outcome.retry, Retry::Same);
    assert!(outcome.message.contains("could not be recorded"));
    assert!(
        w.kept.is_empty(),
        "a run without a recorded output is not kept"
    );
    assert!(!w.state.audit.is_down());
}

#[test]
fn an_unrecorded_step_without_blobs_brings_the_log_down() {
    let steps: [fn(&mut World); 5] = [
        |w| {
            let id = w.pending(A, draft("granted"));
            w.grant(id);
        },
        |w| {
            let id = w.pending(A, draft("started"));
            w.grant(id);
            w.durable();
            w.exec(id, ExecNote::Prepared(isolation()));
        },
        |w| {
            let id = w.pending(A, draft("denied"));
            w.deny(id, None);
        },
        |w| {
            let id = w.running(A, draft("killed"));
            w.kill(id);
        },
        |w| {
            w.propose(A, draft("blocked"));
            w.analyse(VerdictKind::Blocked);
            w.durable_one();
        },
    ];
    for step in steps {
        let mut w = World::new();
        step(&mut w);
        let (_, ticket, event) = w.records.pop_back().unwrap();
        let released = w.released.len();
        w.unrecorded(ticket);
        assert!(w.state.audit.is_down(), "{}", event.kind());
        assert_eq!(w.released.len(), released, "{}", event.kind());
    }
}

#[test]
fn a_log_answer_with_an_unawaited_ticket_changes_nothing() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    for ticket in [Ticket::Unawaited, Ticket::Core(u64::MAX)] {
        w.unrecorded(ticket);
    }
    assert!(!w.state.audit.is_down());
    assert!(w.ask(A, Request::Status { id }).is_ok());
    w.send(Event::Tick);
}
