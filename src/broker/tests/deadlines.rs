//! Invariant 3, `deadlines_deny`: no decision in time means no.

use super::super::decision::Refused;
use super::super::event::{Event, ExecNote, Request};
use super::super::next_deadline;
use super::world::*;
use crate::model::{Draft, Retry, State, VerdictKind};

fn short(code: &str) -> Draft {
    Draft {
        ttl_s: Some(20),
        ..draft(code)
    }
}

#[test]
fn deadlines_deny() {
    let mut w = World::new();
    let id = w.pending(A, short("1"));
    assert_eq!(next_deadline(&w.state), Some(w.now.boot + s(20)));
    w.tick(ms(19_999));
    assert_eq!(w.state_of(id), State::Pending);
    w.tick(ms(1));
    w.durable();
    let outcome = w.outcome_of(A, id);
    assert_eq!(
        (outcome.state, outcome.retry),
        (State::Expired, Retry::Same)
    );
    assert_eq!(
        outcome.message,
        "Nobody decided in 20 s; not refused; you may propose it again."
    );
    w.grant(id);
    w.durable();
    assert!(w.executed.is_empty());
    assert_eq!(next_deadline(&w.state), None, "no deadline remains");
}

#[test]
fn a_grant_in_the_last_moment_counts_and_a_tie_denies() {
    let mut w = World::new();
    let (last, tie) = (
        w.pending(A, short("last moment")),
        w.pending(A, short("tie")),
    );
    w.pass(ms(19_999));
    w.grant(last);
    w.durable();
    assert_eq!(w.executed, [last]);
    w.pass(ms(1));
    w.grant(tie);
    assert_eq!(w.state_of(tie), State::Expired);
    assert_eq!(
        w.state.refusal(tie),
        Some(&Refused::NotPending(State::Expired)),
        "the person gets the reason"
    );
}

#[test]
fn a_timer_missed_in_suspend_lets_no_late_grant_through() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    w.pass(s(60 * 60 * 24 * 30));
    w.grant(id);
    w.durable();
    assert_eq!(w.state_of(id), State::Expired);
    assert!(w.executed.is_empty());
}

#[test]
fn a_grant_whose_record_reaches_the_disk_too_late_does_not_run() {
    let mut w = World::new();
    let id = w.pending(A, short("1"));
    w.pass(s(19));
    w.grant(id);
    w.pass(s(1));
    w.durable();
    assert!(w.executed.is_empty());
    let outcome = w.outcome_of(A, id);
    assert_eq!(
        (outcome.state, outcome.retry),
        (State::Expired, Retry::Same)
    );
    assert!(outcome.run.is_none() && outcome.message.contains("did not run"));
}

#[test]
fn a_child_held_through_the_deadline_is_killed_and_not_released() {
    for late_at_record in [false, true] {
        let mut w = World::new();
        let id = w.pending(A, short("1"));
        w.grant(id);
        w.durable();
        if !late_at_record {
            w.pass(s(3600));
        }
        w.exec(id, ExecNote::Prepared(isolation()));
        w.pass(s(3600));
        w.durable();
        assert!(w.released.is_empty());
        assert_eq!(w.killed, [id]);
        assert_eq!(w.outcome_of(A, id).state, State::Expired);
        w.exec(id, ExecNote::Released);
        w.exec(id, ExecNote::Ended(Box::new(run("too late"))));
        w.durable();
        assert_eq!(w.state_of(id), State::Expired);
    }
}

/// Checked before the `started` record is durable: the check after it would hide that this one is
/// missing.
#[test]
fn a_child_that_is_ready_only_at_the_deadline_is_killed_at_once_and_never_recorded_as_started() {
    for late in [ms(0), ms(1), s(3600)] {
        let mut w = World::new();
        let id = w.pending(A, short("1"));
        w.grant(id);
        w.durable();
        assert_eq!(w.executed, [id]);
        w.pass(s(20) + late);
        w.exec(id, ExecNote::Prepared(isolation()));
        assert_eq!(w.killed, [id], "{late:?} late");
        assert_eq!(w.state_of(id), State::Expired);
        // Later events find no child to release.
        w.durable();
        w.exec(id, ExecNote::Prepared(isolation()));
        w.durable();
        assert!(w.released.is_empty());
        assert_eq!(w.kinds(id), ["proposed", "granted", "expired"]);
        let outcome = w.outcome_of(A, id);
        assert_eq!(
            (outcome.state, outcome.retry),
            (State::Expired, Retry::Same)
        );
        assert!(outcome.run.is_none() && outcome.message.contains("did not run"));
    }
    let mut w = World::new();
    let id = w.pending(A, short("1"));
    w.grant(id);
    w.durable();
    w.pass(ms(19_999));
    w.exec(id, ExecNote::Prepared(isolation()));
    w.durable();
    assert_eq!(w.released, [id], "the last moment counts");
}

#[test]
fn a_run_released_in_time_may_outlive_the_deadline() {
    let mut w = World::new();
    let id = w.running(A, short("1"));
    w.tick(s(3600));
    w.exec(id, ExecNote::Ended(Box::new(run("42\n"))));
    w.durable();
    assert_eq!(w.outcome_of(A, id).state, State::Succeeded);
}

#[test]
fn next_deadline_always_leads_to_expiry() {
    let mut w = World::new();
    for ttl_s in [90, 20, 20, 45] {
        let ttl_s = Some(ttl_s);
        w.pending(
            A,
            Draft {
                ttl_s,
                ..draft("1")
            },
        );
    }
    let mut counts = Vec::new();
    while let Some(at) = next_deadline(&w.state) {
        assert!(at > w.now.boot, "no busy loop");
        w.tick(at.saturating_sub(w.now.boot));
        counts.push(w.state.pending_count());
    }
    assert_eq!(
        counts,
        [2, 1, 0],
        "nothing expires early, and equal deadlines expire together"
    );
}

#[test]
fn a_proposal_that_expires_before_its_verdict_ends_when_the_verdict_arrives() {
    let mut w = World::new();
    let (id, call) = w.propose(A, short("slow to analyse"));
    w.tick(s(21));
    assert_eq!(w.answer(A, call), None, "the answer waits for the record");
    assert_eq!(next_deadline(&w.state), None);
    w.analyse(VerdictKind::Clear);
    assert_eq!(w.answer(A, call), None);
    w.durable();
    assert_eq!(w.outcome_of(A, id).state, State::Expired);
    assert_eq!(w.kinds(id), ["proposed", "expired"]);
    assert_eq!(w.attention, 0, "an expired proposal calls nobody");
}

#[test]
fn expiry_while_the_proposal_is_being_recorded_denies() {
    let mut w = World::new();
    let (id, _) = w.propose(A, short("1"));
    w.analyse(VerdictKind::Clear);
    w.tick(s(20));
    w.durable();
    assert_eq!(w.state_of(id), State::Expired);
    assert_eq!(w.kinds(id), ["proposed", "expired"]);
    assert_eq!(w.outcome_of(A, id).state, State::Expired);
}

#[test]
fn expiry_while_inputs_are_read_denies() {
    let mut w = World::new();
    let inputs = json_input(serde_json::json!([1]));
    let (id, _) = w.propose(
        A,
        Draft {
            inputs,
            ..short("1")
        },
    );
    w.analyse(VerdictKind::Clear);
    w.tick(s(25));
    let inputs = Ok(vec![bound("threshold", "[1]")]);
    w.send(Event::InputsBound { id, inputs });
    w.durable();
    assert_eq!(w.outcome_of(A, id).state, State::Expired);
}

#[test]
fn a_clock_that_cannot_be_read_denies_and_does_not_stop_the_dashboard() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    // The value of `Now::read` when the clock fails.
    w.now.boot = std::time::Duration::MAX;
    w.grant(id);
    w.durable();
    assert_eq!(w.state_of(id), State::Expired);
    let unknown = w.fresh_id();
    w.refused(A, Request::Status { id: unknown });
    w.thorough = false;
    w.send(Event::Tick);
}

#[test]
fn the_expiry_is_reported_in_wall_time_and_decided_in_boot_time() {
    let mut w = World::new();
    let (id, call) = w.propose(A, short("1"));
    let expected = w.now.wall.checked_add(s(20)).unwrap();
    w.analyse(VerdictKind::Clear);
    w.durable();
    match w.answer(A, call) {
        Some(Ok(super::super::Reply::Proposed { expires_at, .. })) => {
            assert_eq!(*expires_at, expected);
        }
        other => panic!("{other:?}"),
    }
    // Somebody sets the wall clock back by a day.
    w.now.wall = w.now.wall.checked_sub(s(86_400)).unwrap();
    w.now.boot += s(20);
    w.send(Event::Tick);
    assert_eq!(w.state_of(id), State::Expired);
}
