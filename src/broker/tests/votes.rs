//! Grants by votes: what counts, and what does not.

use super::voters::*;
use super::world::{bound, json_input};

#[test]
fn two_people_grant_and_the_files_are_looked_at_again_before_it_runs() {
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    let [offer] = offers(&w).try_into().unwrap();
    assert_eq!((offer.proposal, offer.version, offer.asker), (id, 1, None));
    grants(&mut w, id, "ana");
    assert_eq!(w.state_of(id), State::Pending);
    grants(&mut w, id, "ben");
    assert_eq!(w.state_of(id), State::Granted);
    hold(&mut w, id);
    look_again(&mut w, id, Ok(everybody()));
    assert_eq!(w.released, [id]);
    assert_eq!(
        w.kinds(id),
        ["proposed", "voted", "voted", "granted", "started"]
    );
    let granted = w.log.iter().find_map(|e| match e {
        LogEvent::Granted(g) => g.votes.clone(),
        _ => None,
    });
    let granted = granted.expect("the record names the votes");
    assert_eq!(granted.by, [person("ana"), person("ben")]);
    assert_eq!(granted.signers, everybody().digests().signers);
}

#[test]
fn a_vote_counts_once_its_record_is_durable_and_nobody_hears_of_it_before() {
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    for name in ["ana", "ben"] {
        let vote = vote(&w, id, VoteKind::Grant, name);
        w.send(Event::Cast {
            id,
            version: 1,
            vote: Box::new(vote),
            via: via(name),
        });
        assert_eq!(w.state_of(id), State::Pending);
        assert!(statements(&w).is_empty());
    }
    assert!(poll(&w, id).votes_for(&person("ana")).is_none());
    w.durable();
    assert_eq!(w.state_of(id), State::Granted);
}

/// Each row: what somebody sends, over what, and why it does not count.
#[test]
fn no_vote_counts_that_is_not_its_voters_own_over_these_bytes_here_and_now() {
    type Forge = fn(&World, ProposalId) -> (Vote, Via);
    let rows: [(&str, Forge, &str); 16] = [
        (
            "forged by another key",
            |w, id| {
                (
                    signed_by(w, id, VoteKind::Grant, "ben", &key("ana")),
                    via("ben"),
                )
            },
            "is `ana`'s and not `ben`'s",
        ),
        (
            "a key that nobody has",
            |w, id| {
                (
                    signed_by(w, id, VoteKind::Grant, "ben", &TestKey::new(9)),
                    via("ben"),
                )
            },
            "not in allowed_signers",
        ),
        (
            "sent by another uid",
            |w, id| (vote(w, id, VoteKind::Grant, "ben"), via("ana")),
            "uid 1500 is `ana` and not `ben`",
        ),
        (
            "sent by nobody's uid",
            |w, id| {
                (
                    vote(w, id, VoteKind::Grant, "ben"),
                    Via::Socket { uid: 4, pid: 1 },
                )
            },
            "uid 4 is nobody's",
        ),
        (
            "sent by another login",
            |w, id| {
                (
                    vote(w, id, VoteKind::Grant, "ben"),
                    Via::Engine {
                        login: "ana".to_owned(),
                    },
                )
            },
            "login `ana` is `ana` and not `ben`",
        ),
        (
            "for another code",
            |w, id| {
                let mut ballot = poll(w, id).ballot().clone();
                ballot.code = Digest::of(b"other");
                (
                    sign(
                        &key("ben"),
                        &ballot,
                        VoteKind::Grant,
                        "ben",
                        all_of_it(w, id),
                    ),
                    via("ben"),
                )
            },
            "not over this text",
        ),
        (
            "of another host",
            |w, id| {
                let mut ballot = poll(w, id).ballot().clone();
                ballot.host = TestKey::new(201).line();
                (
                    sign(
                        &key("ben"),
                        &ballot,
                        VoteKind::Grant,
                        "ben",
                        all_of_it(w, id),
                    ),
                    via("ben"),
                )
            },
            "not over this text",
        ),
        (
            "of another nonce",
            |w, id| {
                let mut ballot = poll(w, id).ballot().clone();
                ballot.nonce = Nonce(Digest::of(b"other"));
                (
                    sign(
                        &key("ben"),
                        &ballot,
                        VoteKind::Grant,
                        "ben",
                        all_of_it(w, id),
                    ),
                    via("ben"),
                )
            },
            "not over this text",
        ),
        (
            "of a later deadline",
            |w, id| {
                let mut ballot = poll(w, id).ballot().clone();
                ballot.deadline += std::time::Duration::from_secs(60);
                (
                    sign(
                        &key("ben"),
                        &ballot,
                        VoteKind::Grant,
                        "ben",
                        all_of_it(w, id),
                    ),
                    via("ben"),
                )
            },
            "not over this text",
        ),
        (
            "a denial that became a grant",
            |w, id| {
                let denial = vote(w, id, VoteKind::Deny, "ben");
                (
                    Vote {
                        kind: VoteKind::Grant,
                        ..denial
                    },
                    via("ben"),
                )
            },
            "not over this text",
        ),
        (
            "another look than was signed",
            |w, id| {
                let mut vote = vote(w, id, VoteKind::Grant, "ben");
                vote.viewed.selected_ms += 1;
                (vote, via("ben"))
            },
            "not over this text",
        ),
        (
            "not all of it seen",
            |w, id| {
                let viewed = Viewed::default();
                (
                    sign(
                        &key("ben"),
                        poll(w, id).ballot(),
                        VoteKind::Grant,
                        "ben",
                        viewed,
                    ),
                    via("ben"),
                )
            },
            "had not seen every line",
        ),
        (
            "more seen than there is",
            |w, id| {
                let mut viewed = all_of_it(w, id);
                viewed.lines_seen += 1;
                let ballot = poll(w, id).ballot();
                let vote = sign(&key("ben"), ballot, VoteKind::Grant, "ben", viewed);
                (vote, via("ben"))
            },
            "saw more than there was",
        ),
        (
            "a look longer than it is here",
            |w, id| {
                let mut viewed = all_of_it(w, id);
                viewed.selected_ms = 86_400_000;
                let ballot = poll(w, id).ballot();
                let vote = sign(&key("ben"), ballot, VoteKind::Grant, "ben", viewed);
                (vote, via("ben"))
            },
            "saw more than there was",
        ),
        (
            "without the role",
            |w, id| (vote(w, id, VoteKind::Grant, "eve"), via("eve")),
            "none of the roles",
        ),
        (
            "a veto without the role",
            |w, id| (vote(w, id, VoteKind::Veto, "ben"), via("ben")),
            "no role that may veto",
        ),
    ];
    let mut w = host();
    for (what, forge, why) in rows {
        let id = w.pending(A, draft("1\n"));
        grants(&mut w, id, "ana");
        let (vote, via) = forge(&w, id);
        cast(&mut w, id, vote, via);
        assert_eq!(w.state_of(id), State::Pending, "{what}");
        assert!(refusal(&w).contains(why), "{what}: {}", refusal(&w));
        assert_eq!(w.kinds(id), ["proposed", "voted", "vote_refused"], "{what}");
        w.deny(id, None);
        w.durable();
    }
}

/// A seat counts the lines of what the agent brought too.
#[test]
fn lines_of_what_the_agent_brought_are_seen_like_those_of_the_code() {
    let mut w = host();
    for (more, counts) in [(2, true), (3, false)] {
        let mut brings = draft("print(t)\n");
        brings.inputs = json_input(serde_json::json!(1));
        let (id, _) = w.propose(A, brings);
        w.send(Event::InputsBound {
            id,
            inputs: Ok(vec![bound("threshold", "1")]),
        });
        w.analyse(VerdictKind::Clear);
        w.durable();
        let mut viewed = all_of_it(&w, id);
        viewed.lines_seen += more;
        let ballot = poll(&w, id).ballot();
        let vote = sign(&key("ben"), ballot, VoteKind::Grant, "ben", viewed);
        cast(&mut w, id, vote, via("ben"));
        let last = if counts { "voted" } else { "vote_refused" };
        assert_eq!(w.kinds(id).last(), Some(&last), "{more} lines more");
    }
}

#[test]
fn nobody_is_told_of_a_vote_that_somebody_else_sent_in_their_name() {
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    grants(&mut w, id, "ben");
    let said = statements(&w).len();
    let forged = vote(&w, id, VoteKind::Deny, "ben");
    cast(&mut w, id, forged, via("ana"));
    assert_eq!(w.kinds(id), ["proposed", "voted", "vote_refused"]);
    assert_eq!(statements(&w).len(), said);
}

#[test]
fn nobody_counts_twice_and_the_person_whose_agent_asks_does_not_count() {
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    for _ in 0..3 {
        grants(&mut w, id, "ana");
    }
    assert_eq!(w.state_of(id), State::Pending);
    assert_eq!(w.kinds(id), ["proposed", "voted"]);
    // Connection C is of a uid of Ana's.
    let own = w.pending(C, draft("2\n"));
    assert_eq!(offers(&w).last().unwrap().asker, Some(person("ana")));
    grants(&mut w, own, "ana");
    assert!(
        refusal(&w).contains("`ana`'s own agent asks"),
        "{}",
        refusal(&w)
    );
    grants(&mut w, own, "ben");
    assert_eq!(w.state_of(own), State::Pending);
    grants(&mut w, own, "cyd");
    assert_eq!(w.state_of(own), State::Granted);
}

#[test]
fn one_valid_denial_ends_it_whoever_granted() {
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    grants(&mut w, id, "ana");
    votes(&mut w, id, VoteKind::Deny, "ana");
    assert_eq!(w.state_of(id), State::Denied);
    let id = w.pending(A, draft("1\n"));
    votes(&mut w, id, VoteKind::Veto, "dee");
    assert_eq!(w.state_of(id), State::Denied);
    assert_eq!(w.kinds(id), ["proposed", "voted", "denied"]);
    // A denial of an earlier version is a denial of the proposal, also where that had more to see.
    let id = w.pending(A, draft("1\n"));
    let viewed = Viewed {
        lines_seen: 3,
        ..all_of_it(&w, id)
    };
    let ballot = poll(&w, id).ballot();
    let denial = sign(&key("ben"), ballot, VoteKind::Deny, "ben", viewed);
    w.edited(id, "2\n", VerdictKind::Clear);
    assert_eq!(poll(&w, id).version(), 2);
    cast(&mut w, id, denial, via("ben"));
    assert_eq!(w.state_of(id), State::Denied);
}

#[test]
fn an_edit_is_a_new_offer_and_earlier_grants_do_not_count_for_it() {
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    let late = vote(&w, id, VoteKind::Grant, "ben");
    grants(&mut w, id, "ana");
    w.edited(id, "2\n", VerdictKind::Clear);
    let edited = offers(&w).pop().unwrap();
    assert_eq!((edited.version, &*edited.code), (2, "2\n"));
    assert_eq!(edited.edited_from.as_deref(), Some("1\n"));
    w.send(Event::Cast {
        id,
        version: 1,
        vote: Box::new(late.clone()),
        via: via("ben"),
    });
    w.durable();
    assert!(
        refusal(&w).contains("version 2 is asked about"),
        "{}",
        refusal(&w)
    );
    cast(&mut w, id, late, via("ben"));
    assert!(
        refusal(&w).contains("not over this text"),
        "{}",
        refusal(&w)
    );
    grants(&mut w, id, "ben");
    assert_eq!(w.state_of(id), State::Pending);
    grants(&mut w, id, "ana");
    assert_eq!(w.state_of(id), State::Granted);
}

#[test]
fn what_a_grant_binds_is_offered_anew_when_it_changes() {
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    grants(&mut w, id, "ana");
    another_python(&mut w);
    w.durable();
    assert_eq!(poll(&w, id).version(), 2);
    grants(&mut w, id, "ben");
    assert_eq!(w.state_of(id), State::Pending);
}
