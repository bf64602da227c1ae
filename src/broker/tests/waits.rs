//! `wait`, its time-out, `status` and `withdraw`.

use super::super::effect::{Reply, RpcError};
use super::super::event::{Event, ExecNote, Request};
use super::super::next_deadline;
use super::world::*;
use crate::model::{DecisionKind, Draft, Retry, State, VerdictKind};

fn state_reply(w: &mut World, request: Request) -> State {
    match w.ask(A, request) {
        Ok(Reply::State { state, .. } | Reply::Status { state, .. }) => state,
        other => panic!("{other:?}"),
    }
}

#[test]
fn wait_answers_with_the_outcome_once_it_is_final_and_recorded() {
    let mut w = World::new();
    let id = w.running(A, draft("1"));
    let (one, two) = (w.wait(A, id), w.wait(A, id));
    w.exec(id, ExecNote::Ended(Box::new(run("42\n"))));
    assert!(
        w.answer(A, one).is_none(),
        "the answer waits for the record"
    );
    w.durable();
    for call in [one, two] {
        let outcome = w.outcome(A, call);
        assert_eq!(
            (outcome.state, outcome.retry),
            (State::Succeeded, Retry::No)
        );
        assert_eq!(outcome.run.unwrap().stdout, "42\n");
    }
    assert_eq!(
        w.outcome_of(A, id).state,
        State::Succeeded,
        "a later wait gets the same outcome"
    );
}

#[test]
fn a_wait_that_runs_out_answers_id_and_state_and_may_be_repeated() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    let timeout = Some(s(5));
    let call = w.request(A, Request::Wait { id, timeout });
    assert_eq!(next_deadline(&w.state), Some(w.now.boot + s(5)));
    w.tick(ms(4999));
    assert!(w.answer(A, call).is_none());
    w.tick(ms(1));
    assert_eq!(
        w.answer(A, call),
        Some(&Ok(Reply::State {
            id,
            state: State::Pending
        }))
    );
    let again = w.request(A, Request::Wait { id, timeout });
    w.deny(id, None);
    w.durable();
    assert_eq!(w.outcome(A, again).state, State::Denied);
    w.tick(s(10));
}

#[test]
fn a_wait_of_zero_seconds_answers_at_once() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    let timeout = Some(s(0));
    assert_eq!(
        state_reply(&mut w, Request::Wait { id, timeout }),
        State::Pending
    );
}

#[test]
fn a_wait_that_ends_with_the_proposals_own_deadline_gets_one_answer() {
    let mut w = World::new();
    let ttl_s = Some(20);
    let id = w.pending(
        A,
        Draft {
            ttl_s,
            ..draft("1")
        },
    );
    let timeout = Some(s(20));
    let call = w.request(A, Request::Wait { id, timeout });
    w.tick(s(20));
    w.durable();
    assert_eq!(
        w.answer(A, call),
        Some(&Ok(Reply::State {
            id,
            state: State::Pending
        })),
        "the expiry is not recorded yet, and answers follow the log"
    );
}

#[test]
fn an_endless_wait_cannot_overflow_the_clock() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    let timeout = Some(std::time::Duration::MAX);
    w.request(A, Request::Wait { id, timeout });
    w.tick(s(1));
}

#[test]
fn status_follows_the_records() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    let status = |w: &mut World| state_reply(w, Request::Status { id });
    assert_eq!(status(&mut w), State::Pending);
    w.grant(id);
    assert_eq!(status(&mut w), State::Pending, "the grant is not durable");
    w.durable();
    assert_eq!(status(&mut w), State::Granted);
    w.exec(id, ExecNote::Prepared(isolation()));
    w.durable();
    assert_eq!(status(&mut w), State::Granted);
    w.exec(id, ExecNote::Released);
    assert_eq!(status(&mut w), State::Running);
    w.exec(id, ExecNote::Ended(Box::new(run(""))));
    assert_eq!(status(&mut w), State::Running, "the end is not durable");
    w.durable();
    assert_eq!(status(&mut w), State::Succeeded);
}

#[test]
fn status_has_no_verdict_before_the_proposal_is_recorded() {
    let mut w = World::new();
    let (id, _) = w.propose(A, draft("1"));
    w.analyse(VerdictKind::Clear);
    for expected in [false, true] {
        match w.ask(A, Request::Status { id }) {
            Ok(Reply::Status { verdict, .. }) => assert_eq!(verdict.is_some(), expected),
            other => panic!("{other:?}"),
        }
        w.durable();
    }
}

#[test]
fn a_withdrawal_ends_a_pending_proposal_and_is_answered_after_its_record() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    let waiter = w.wait(A, id);
    let call = w.request(A, Request::Withdraw { id });
    assert_eq!(w.state_of(id), State::Withdrawn);
    assert!(w.answer(A, call).is_none());
    w.grant(id);
    w.durable();
    assert_eq!(
        w.answer(A, call),
        Some(&Ok(Reply::State {
            id,
            state: State::Withdrawn
        }))
    );
    let outcome = w.outcome(A, waiter);
    assert_eq!(outcome.decision.unwrap().kind, DecisionKind::Withdrawn);
    assert_eq!(
        outcome.message,
        "Withdrawn before a decision; it did not run."
    );
    assert!(w.executed.is_empty());
    assert_eq!(
        state_reply(&mut w, Request::Withdraw { id }),
        State::Withdrawn,
        "idempotent"
    );
}

#[test]
fn a_proposal_withdrawn_before_its_verdict_is_never_shown() {
    let mut w = World::new();
    let (id, proposed) = w.propose(A, draft("1"));
    let call = w.request(A, Request::Withdraw { id });
    w.analyse(VerdictKind::Clear);
    w.durable();
    assert!(matches!(
        w.answer(A, call),
        Some(Ok(Reply::State {
            state: State::Withdrawn,
            ..
        }))
    ));
    assert!(matches!(
        w.answer(A, proposed),
        Some(Ok(Reply::Proposed {
            state: State::Withdrawn,
            ..
        }))
    ));
    assert_eq!(w.attention, 0);
    assert_eq!(w.kinds(id), ["proposed", "withdrawn"]);
}

#[test]
fn a_withdrawal_after_the_start_or_the_end_changes_nothing() {
    let mut w = World::new();
    let id = w.running(A, draft("1"));
    assert_eq!(
        state_reply(&mut w, Request::Withdraw { id }),
        State::Running
    );
    w.exec(id, ExecNote::Ended(Box::new(run(""))));
    w.durable();
    assert_eq!(
        state_reply(&mut w, Request::Withdraw { id }),
        State::Succeeded
    );
    assert!(w.killed.is_empty());
}

#[test]
fn a_withdrawal_after_the_confirmation_is_too_late() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    w.grant(id);
    let state = state_reply(&mut w, Request::Withdraw { id });
    assert_eq!(state, State::Pending, "the last recorded state");
    w.durable();
    assert_eq!(w.executed, [id]);
}

#[test]
fn one_connection_cannot_pile_up_waits() {
    let mut w = World::new();
    let id = w.pending(A, keyed("1", "k"));
    for _ in 0..64 {
        w.wait(A, id);
    }
    let timeout = None;
    let error = w.refused(A, Request::Wait { id, timeout });
    assert_eq!(error.code, RpcError::TOO_MANY);
    assert!(error.data["retry_after_ms"].as_u64().unwrap() > 0);
    let (_, call) = w.propose(B, keyed("1", "k"));
    assert!(w.answer(B, call).unwrap().is_ok());
    let other = w.wait(B, id);
    w.deny(id, None);
    w.durable();
    assert_eq!(
        w.outcome(B, other).state,
        State::Denied,
        "another connection is not affected"
    );
}

#[test]
fn status_says_how_many_arrived_before_and_whether_the_person_has_it_on_the_screen() {
    let mut w = World::new();
    let titled = Draft {
        title: Some("a title".to_owned()),
        ..draft("2")
    };
    let (first, second) = (w.pending(A, draft("1")), w.pending(A, titled));
    let of = |w: &mut World, id| match w.ask(A, Request::Status { id }) {
        Ok(Reply::Status { before, shown, .. }) => (before, shown),
        other => panic!("{other:?}"),
    };
    w.send(Event::Shown { id: Some(first) });
    assert_eq!(of(&mut w, first), (Some(0), Some(true)));
    assert_eq!(of(&mut w, second), (Some(1), Some(false)));
    w.deny(first, None);
    w.durable();
    assert_eq!(of(&mut w, first), (None, None), "it no longer waits");
    assert_eq!(of(&mut w, second), (Some(0), Some(false)));
    // No agent hears of a drill, neither by its place nor on the screen.
    let drill = w.drill("total = 1\nsend(total)\nprint(total)\n");
    w.analyse(VerdictKind::Clear);
    w.durable();
    assert!(w.entry(drill).awaits_decision());
    let third = w.pending(A, draft("3"));
    w.send(Event::Shown { id: Some(drill) });
    assert_eq!(of(&mut w, third), (Some(1), Some(false)));
}
