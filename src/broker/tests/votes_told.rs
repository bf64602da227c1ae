//! Who hears of votes, and what their records say.

use super::voters::*;

/// A host at whose terminal this uid sits.
fn sitting(uid: u32) -> World {
    let mut w = host();
    let voting = w.state.settings.voting.as_mut().unwrap();
    Arc::make_mut(voting).by.uid = uid;
    w
}

#[test]
fn who_voted_from_a_seat_has_voted_at_their_own_terminal_too() {
    let mut w = sitting(1500);
    let id = w.pending(A, draft("1\n"));
    grants(&mut w, id, "ana");
    assert_eq!(*poll(&w, id).own(), Own::Counted(VoteKind::Grant));
    // The same vote once more, at the terminal.
    let again = vote(&w, id, VoteKind::Grant, "ana");
    let by = Reviewer {
        uid: 1500,
        ..Reviewer::default()
    };
    w.send(Event::Signed {
        id,
        version: 1,
        vote: Ok(again),
        by,
    });
    assert_eq!(*poll(&w, id).own(), Own::Counted(VoteKind::Grant));
    w.durable();
    assert_eq!(w.kinds(id), ["proposed", "voted"]);
    // Somebody else's is nobody's here.
    let mut w = sitting(1500);
    let id = w.pending(A, draft("1\n"));
    grants(&mut w, id, "ben");
    assert_eq!(*poll(&w, id).own(), Own::Open);
}

#[test]
fn votes_are_sealed_for_those_who_may_vote_and_have_not() {
    // Ana, then Eve, who may not, then nobody.
    for (uid, sealed) in [(1500, true), (1504, false), (7, false)] {
        let mut w = sitting(uid);
        let id = w.pending(A, draft("1\n"));
        let is_sealed = |w: &World| {
            let one = w.state.is_sealed(w.entry(id));
            assert_eq!(w.state.sealed().next().is_some(), one);
            one
        };
        assert_eq!(is_sealed(&w), sealed, "{uid}");
        grants(&mut w, id, "cyd");
        assert_eq!(is_sealed(&w), sealed, "{uid}");
        grants(&mut w, id, "ana");
        assert!(!is_sealed(&w), "{uid}");
    }
}

#[test]
fn a_grant_names_only_votes_that_counted() {
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    grants(&mut w, id, "ana");
    let without_ana = electorate_of(&["ana", "ben", "cyd"], &["ana"]);
    w.send(Event::Electorate(Ok(without_ana)));
    grants(&mut w, id, "ben");
    assert_eq!(w.state_of(id), State::Pending);
    grants(&mut w, id, "cyd");
    let granted = w.log.iter().find_map(|e| match e {
        LogEvent::Granted(g) => g.votes.clone(),
        _ => None,
    });
    assert_eq!(granted.unwrap().by, [person("ben"), person("cyd")]);
}

#[test]
fn a_grant_with_a_reason_does_not_count() {
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    let mut vote = vote(&w, id, VoteKind::Grant, "ben");
    vote.reason = Some("why not".to_owned());
    cast(&mut w, id, vote, via("ben"));
    assert!(refusal(&w).contains("no reason"), "{}", refusal(&w));
}

/// Who denied an earlier version voted on its terms.
#[test]
fn each_version_has_its_own_terms() {
    let terms = |n| {
        Terms(vec![Rule {
            quorum: Quorum::People(n),
            ..rule()
        }])
    };
    let first = Poll::new(1, terms(1), Ballot::sample(), None);
    let second = Poll::new(2, terms(2), Ballot::sample(), Some(&first));
    let third = Poll::new(3, terms(3), Ballot::sample(), Some(&second));
    for (at, n) in [(0, 3), (1, 2), (2, 1)] {
        assert_eq!(third.ballot_at(at).unwrap().1, &terms(n));
    }
    assert!(third.ballot_at(3).is_none());
}
