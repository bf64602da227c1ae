//! What no votes can grant ends at once where nobody sits, and its agent hears why.

use super::super::effect::Reply;
use super::super::event::Request;
use super::super::state::Attendance;
use super::voters::*;
use crate::model::Retry;

/// Asks for four of `data`, of whom there are three.
fn four() -> Settings {
    with_rules(vec![Rule {
        quorum: Quorum::People(4),
        ..rule()
    }])
}

fn without_anybody(settings: Settings) -> World {
    let mut w = World::with(Settings {
        attendance: Attendance::Nobody,
        ..settings
    });
    w.send(Event::Electorate(Ok(everybody())));
    w
}

const TOLD: &str = "the rule asks for 4 of data; 3 of them may vote on it";

#[test]
fn what_no_votes_can_grant_ends_at_once_where_nobody_sits() {
    let flagged = Rule {
        when: When::Verdict(VerdictKind::Flagged),
        quorum: Quorum::People(4),
        ..rule()
    };
    for (settings, kind, retry) in [
        (four(), VerdictKind::Clear, Retry::No),
        // Other code may be asked about otherwise.
        (
            with_rules(vec![flagged]),
            VerdictKind::Flagged,
            Retry::Changed,
        ),
    ] {
        let mut w = without_anybody(settings);
        let (id, _) = w.propose(A, draft("1\n"));
        w.analyse(kind);
        w.durable();
        assert_eq!(w.state_of(id), State::Error);
        assert_eq!(w.kinds(id), ["proposed", "failed"]);
        assert!(offers(&w).is_empty() && w.notices.is_empty());
        let outcome = w.outcome_of(A, id);
        assert_eq!(outcome.retry, retry);
        assert!(outcome.message.contains(TOLD), "{}", outcome.message);
        // The log has what an administrator needs.
        assert!(w.log.iter().any(|event| matches!(
            event,
            LogEvent::Failed { message, .. } if message.contains("4 people of data have to grant, and there are 3")
        )));
    }
}

#[test]
fn other_people_turn_it_around_for_what_comes_and_for_what_is_looked_at() {
    let mut w = without_anybody(with_rules(vec![rule()]));
    let few = || electorate_of(&["ana"], &[]);
    w.send(Event::Electorate(Ok(few())));
    // The files were mended since they were read.
    w.files = Some(Ok(everybody()));
    let id = w.pending(A, draft("1\n"));
    assert_eq!((w.state_of(id), offers(&w).len()), (State::Pending, 1));
    // What is offered ends when they change once more, and stay so.
    w.send(Event::Electorate(Ok(few())));
    assert_eq!(w.state_of(id), State::Pending);
    w.pass(s(30));
    w.send(Event::Electorate(Ok(few())));
    assert_eq!(w.state_of(id), State::Error);
    w.files = Some(Ok(few()));
    let (other, _) = w.propose(A, draft("2\n"));
    w.analyse(VerdictKind::Clear);
    w.durable();
    assert_eq!(w.state_of(other), State::Error);
    w.files = None;
    w.send(Event::Electorate(Ok(everybody())));
    let third = w.pending(A, draft("3\n"));
    assert_eq!((w.state_of(third), offers(&w).len()), (State::Pending, 2));
    // Files that cannot be read say nothing of anybody.
    w.send(Event::Electorate(Err("gone".to_owned())));
    let fourth = w.pending(A, draft("4\n"));
    assert_eq!(w.state_of(fourth), State::Pending);
}

#[test]
fn where_a_person_sits_it_stays_and_its_agent_hears_that_it_waits_in_vain() {
    let mut w = World::with(four());
    w.send(Event::Electorate(Ok(everybody())));
    let id = w.pending(A, draft("1\n"));
    let hopeless = |w: &mut World| match w.ask(A, Request::Status { id }) {
        Ok(Reply::Status { hopeless, .. }) => hopeless,
        other => panic!("{other:?}"),
    };
    assert!(hopeless(&mut w).is_some_and(|why| why.contains(TOLD)));
    let timeout = Some(ms(0));
    let Ok(Reply::Vain { hopeless: why, .. }) = w.ask(A, Request::Wait { id, timeout }) else {
        panic!("it says why");
    };
    assert!(why.contains(TOLD), "{why}");
    let timeout = Some(s(5));
    let call = w.ask_later(Request::Wait { id, timeout });
    w.tick(s(5));
    assert!(matches!(w.answer(A, call), Some(Ok(Reply::Vain { .. }))));
    // Its end says the same.
    w.tick(s(1800));
    w.durable();
    let outcome = w.outcome_of(A, id);
    assert_eq!((outcome.state, outcome.retry), (State::Expired, Retry::No));
    assert!(outcome.message.contains(TOLD), "{}", outcome.message);
    // A person may deny it, and what votes can grant says nothing.
    let id = w.pending(A, draft("1\n"));
    votes(&mut w, id, VoteKind::Deny, "ana");
    assert_eq!(w.state_of(id), State::Denied);
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    let Ok(Reply::Status { hopeless, .. }) = w.ask(A, Request::Status { id }) else {
        panic!("a status is told");
    };
    assert_eq!(hopeless, None);
}
