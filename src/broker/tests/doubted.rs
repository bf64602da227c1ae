//! A log that cannot be read, or is not the one that was signed: records are written, and nothing is granted.

use super::super::event::Request;
use super::super::{Event, LogDoubt, Refused};
use super::voters::{everybody, grants, offers, rule, with_rules};
use super::world::*;
use crate::model::{Retry, State, VerdictKind};

const CANNOT_READ: &str = "log/00000001.jsonl cannot be read: Input/output error";

fn unreadable() -> Event {
    Event::LogDoubted(LogDoubt::Unreadable(CANNOT_READ.to_owned()))
}

fn contradicted() -> Event {
    Event::LogDoubted(LogDoubt::Contradicted("another root at size 8".to_owned()))
}

#[test]
fn nothing_is_granted_while_the_log_cannot_be_read_and_everything_else_goes_on() {
    let mut w = World::new();
    let runs = w.running(A, draft("1"));
    let id = w.pending(A, draft("2"));
    let refused = w.pending(A, draft("3"));
    w.send(unreadable());
    w.confirm(id, w.digest(id));
    assert_eq!(w.state.refusal(id), Some(&Refused::LogUnreadable));
    assert_eq!(w.entry(id).state(), State::Pending);
    w.deny(refused, None);
    w.durable();
    assert_eq!(w.entry(refused).state(), State::Denied);
    assert_eq!(w.entry(runs).state(), State::Running);
    w.send(Event::LogRead);
    w.confirm(id, w.digest(id));
    w.durable();
    assert_eq!(w.entry(id).state(), State::Granted);
}

#[test]
fn a_contradiction_with_what_was_signed_does_not_pass() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    w.send(contradicted());
    for event in [unreadable(), Event::LogRead] {
        w.send(event);
        w.confirm(id, w.digest(id));
        assert_eq!(w.state.refusal(id), Some(&Refused::LogContradicted));
    }
}

#[test]
fn what_was_granted_a_moment_before_does_not_start() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    w.confirm(id, w.digest(id));
    w.send(contradicted());
    w.durable();
    assert!(w.grants.is_empty());
    w.durable();
    let outcome = w.outcome_of(A, id);
    assert_eq!(outcome.state, State::Error);
    assert!(outcome.run.is_none());
}

/// Where people vote they would read and sign in vain, and be told of it again and again.
#[test]
fn a_host_whose_log_is_not_the_signed_one_ends_what_waits_and_offers_and_tells_nothing_more() {
    let mut w = World::with(with_rules(vec![rule()]));
    w.send(Event::Electorate(Ok(everybody())));
    let waits = w.pending(A, draft("1\n"));
    grants(&mut w, waits, "ana");
    let (recorded, _) = w.propose(A, draft("2\n"));
    w.analyse(VerdictKind::Clear);
    let (_, arrives) = w.propose(A, draft("3\n"));
    // What cannot be read may be readable again.
    w.send(unreadable());
    assert_eq!(w.state_of(waits), State::Pending);
    let told = w.notices.len();
    let offered = offers(&w).len();
    for _ in 0..2 {
        w.send(contradicted());
    }
    w.durable();
    for id in [waits, recorded] {
        let outcome = w.outcome_of(A, id);
        assert_eq!((outcome.state, outcome.retry), (State::Error, Retry::No));
        assert!(
            outcome.message.contains("has put the newer log back"),
            "{}",
            outcome.message
        );
        assert_eq!(w.kinds(id).last(), Some(&"failed"));
    }
    let Some(Err(why)) = w.answer(A, arrives) else {
        panic!("what arrives is refused");
    };
    assert_eq!(why.data["doubted"], true);
    let refused = w.propose_refused(A, draft("4\n"));
    assert_eq!(refused.data["doubted"], true);
    // Nor is anybody told of data sets that nothing can use here.
    let refused = w.refused(A, Request::Datasets);
    assert_eq!(refused.data["doubted"], true);
    assert_eq!(offers(&w).len(), offered);
    assert_eq!(w.notices.len(), told);
}
