//! Who may vote changes, or cannot be read, while something waits.

use super::super::offer::Says;
use super::super::state::Attendance;
use super::seat::{carry, confirm, offered, sent, sign};
use super::voters::*;
use crate::model::Vote;

const WRONG: &str = "people.toml:3: unknown key";
/// What voters are told instead: what the files have, and where they are, is the operator's.
const UNREADABLE: &str = "could not read who may vote";

/// Another vote of this person, as one who looked longer gives it.
fn votes_again(w: &mut World, id: ProposalId, kind: VoteKind, name: &str) {
    let mut viewed = all_of_it(w, id);
    viewed.selected_ms += 1;
    let vote = super::voters::sign(&key(name), poll(w, id).ballot(), kind, name, viewed);
    cast(w, id, vote, via(name));
}

fn unreadable(w: &mut World) {
    w.send(Event::Electorate(Err(WRONG.to_owned())));
}

fn changes(w: &mut World, electorate: Arc<Electorate>) {
    w.send(Event::Electorate(Ok(electorate)));
    w.durable();
}

/// What this person was told of their own vote last.
fn told(w: &World, name: &str) -> Option<Result<VoteKind, String>> {
    let mut said = statements(w).into_iter().rev();
    said.find_map(|one| match one.says {
        Says::Counted { vote, .. } if one.to == Some(person(name)) => Some(Ok(vote)),
        Says::NotCounted { why, .. } if one.to == Some(person(name)) => Some(Err(why)),
        _ => None,
    })
}

/// What everybody was told of who may vote, the last.
fn may_vote(w: &World) -> Option<super::super::offer::MayVote> {
    let mut said = statements(w).into_iter().rev();
    said.find_map(|one| match one.says {
        Says::MayVote(said) if one.to.is_none() => Some(said),
        _ => None,
    })
}

#[test]
fn a_vote_that_comes_while_the_files_cannot_be_read_is_refused_to_its_voter_alone() {
    // Whose vote, who brings it, and whether its voter is told.
    for (kind, name, by, is_told) in [
        (VoteKind::Grant, "ben", via("ben"), true),
        (VoteKind::Deny, "ben", via("ben"), true),
        (VoteKind::Veto, "dee", via("dee"), true),
        (
            VoteKind::Grant,
            "ana",
            Via::Engine {
                login: "ana".to_owned(),
            },
            true,
        ),
        (VoteKind::Grant, "ben", via("cyd"), false),
        (
            VoteKind::Grant,
            "ben",
            Via::Engine {
                login: "ana".to_owned(),
            },
            false,
        ),
    ] {
        let mut w = host();
        let id = w.pending(A, draft("1\n"));
        unreadable(&mut w);
        let vote = vote(&w, id, kind, name);
        cast(&mut w, id, vote, by.clone());
        let refusal = refusal(&w);
        assert!(
            refusal.contains(UNREADABLE) && !refusal.contains(WRONG),
            "{refusal}"
        );
        let told = told(&w, name);
        match (is_told, &told) {
            (true, Some(Err(why))) if why.contains(UNREADABLE) && why.contains("vote again") => {}
            (false, None) => {}
            _ => panic!("{kind:?} of {name} by {by:?}: {told:?}"),
        }
        assert_eq!(w.state_of(id), State::Pending);
        assert!(
            poll(&w, id).votes.is_empty(),
            "the files of before count nothing"
        );
    }
    // Before they were read for the first time nobody is known.
    let mut w = World::with(with_rules(vec![rule()]));
    let id = w.pending(A, draft("1\n"));
    let early = vote(&w, id, VoteKind::Grant, "ben");
    cast(&mut w, id, early, via("ben"));
    assert_eq!(told(&w, "ben"), None);
}

#[test]
fn whoever_votes_is_told_of_a_refusal_however_many_there_were() {
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    for version in 2..100 {
        let vote = vote(&w, id, VoteKind::Grant, "cyd");
        let vote = Box::new(vote);
        let via = via("cyd");
        w.send(Event::Cast {
            id,
            version,
            vote,
            via,
        });
    }
    unreadable(&mut w);
    grants(&mut w, id, "ben");
    assert!(matches!(told(&w, "ben"), Some(Err(why)) if why.contains(UNREADABLE)));
}

/// Carries what a seat sent to its host.
fn deliver(host: &mut World, seat: &mut World, name: &str) {
    for (id, version, vote) in sent(seat) {
        let (vote, via): (Box<Vote>, Via) = (Box::new(vote), via(name));
        host.send(Event::Cast {
            id,
            version,
            vote,
            via,
        });
        host.durable();
    }
    carry(host, seat);
}

#[test]
fn a_seat_shows_why_its_vote_does_not_count_and_votes_again_once_the_files_are_mended() {
    let (mut host, mut seat, id) = offered("ben", VerdictKind::Clear);
    let votes = |host: &mut World, seat: &mut World| {
        confirm(seat, id);
        sign(seat).expect("a signature is asked for");
        seat.durable();
        deliver(host, seat, "ben");
        poll(seat, id).own().clone()
    };
    unreadable(&mut host);
    let own = votes(&mut host, &mut seat);
    assert!(
        matches!(&own, Own::Failed(why) if why.contains(UNREADABLE)),
        "{own:?}"
    );
    changes(&mut host, everybody());
    let own = votes(&mut host, &mut seat);
    assert_eq!(own, Own::Counted(VoteKind::Grant));
}

#[test]
fn everybody_hears_who_may_vote_when_that_changes_and_nobody_when_it_does_not() {
    let names = |people: &[Person]| people.iter().map(Person::to_string).collect::<Vec<_>>();
    // The people with keys, whose is revoked, and whose grants could count then; `None`: nothing is new.
    let all = ["ana", "ben", "cyd", "dee", "eve"];
    type Row<'a> = (&'a [&'a str], &'a [&'a str], Option<&'a [&'a str]>);
    let rows: [Row<'_>; 4] = [
        (&all, &["cyd"], Some(&["ana", "ben"])),
        (&["ana", "cyd", "dee"], &[], Some(&["ana", "cyd"])),
        (&all, &["ben", "cyd"], Some(&[])),
        // Whose votes count for nothing here.
        (&["ana", "ben", "cyd", "dee"], &[], None),
    ];
    for (keys, revoked, able) in rows {
        let mut w = host();
        let id = w.pending(A, draft("1\n"));
        changes(&mut w, electorate_of(keys, revoked));
        let said = may_vote(&w);
        let Some(expected) = able else {
            assert_eq!(said, None, "{keys:?}");
            continue;
        };
        let said = said.expect("it is told");
        let can: Vec<Person> = said.able.clone().unwrap().into_iter().collect();
        assert_eq!(names(&can), expected, "{keys:?} without {revoked:?}");
        assert_eq!(said.hopeless.is_some(), expected.is_empty());
        if !expected.is_empty() {
            assert!(said.asks.iter().all(|one| can.contains(one)), "{said:?}");
            assert_eq!(said.asks.len(), 2, "others are asked instead");
        }
        assert_eq!((offers(&w).len(), poll(&w, id).version()), (1, 1));
        // Once more the same, and files that cannot be read for a while.
        let before = w.published.len();
        changes(&mut w, electorate_of(keys, revoked));
        unreadable(&mut w);
        changes(&mut w, electorate_of(keys, revoked));
        assert_eq!(w.published.len(), before);
        changes(&mut w, everybody());
        assert_eq!(may_vote(&w).unwrap().hopeless, None);
    }
}

#[test]
fn a_seat_asks_for_no_vote_that_cannot_count_any_more_and_asks_again_when_it_can() {
    let (mut host, mut seat, id) = offered("ben", VerdictKind::Clear);
    let may = |seat: &World| seat.state.voter_here(seat.entry(id)).is_ok();
    assert!(may(&seat));
    changes(&mut host, electorate_of(&["ana", "ben", "cyd"], &["ben"]));
    carry(&mut host, &mut seat);
    assert!(!may(&seat) && seat.entry(id).hopeless().is_none());
    assert!(seat.entry(id).asks_others(&person("ben")));
    changes(&mut host, electorate_of(&["ana"], &[]));
    carry(&mut host, &mut seat);
    assert!(seat.entry(id).hopeless().is_some(), "STUCK");
    changes(&mut host, everybody());
    carry(&mut host, &mut seat);
    assert!(may(&seat) && seat.entry(id).hopeless().is_none());
    assert_eq!(seat.entry(id).poll().unwrap().version(), 1);
}

#[test]
fn votes_that_are_in_stay_while_their_voters_may_vote_and_are_told_when_they_count_no_more() {
    let (mut host, mut seat, id) = offered("ben", VerdictKind::Clear);
    grants(&mut host, id, "ana");
    confirm(&mut seat, id);
    sign(&mut seat).unwrap();
    seat.durable();
    // Ben's key is revoked while his vote is on its way, and Ana's vote stays.
    changes(&mut host, electorate_of(&["ana", "ben", "cyd"], &["ben"]));
    deliver(&mut host, &mut seat, "ben");
    assert!(matches!(poll(&seat, id).own(), Own::Failed(_)));
    assert_eq!(told(&host, "ben"), None, "it was carried");
    grants(&mut host, id, "cyd");
    assert_eq!(host.state_of(id), State::Granted);

    // The same of a vote that had counted.
    let mut w = super::voters::host();
    let id = w.pending(A, draft("1\n"));
    grants(&mut w, id, "ben");
    assert_eq!(told(&w, "ben"), Some(Ok(VoteKind::Grant)));
    changes(&mut w, electorate_of(&["ana", "ben", "cyd"], &["ben"]));
    assert!(matches!(told(&w, "ben"), Some(Err(_))));
    grants(&mut w, id, "ana");
    assert_eq!(w.state_of(id), State::Pending);
    // His key is back, and his vote is not: he was told that it counts no more, and may have other reasons by now. Nor is it
    // when somebody who carries votes sends it again.
    let old = vote(&w, id, VoteKind::Grant, "ben");
    changes(&mut w, everybody());
    assert!(matches!(told(&w, "ben"), Some(Err(_))));
    cast(&mut w, id, old, via("ben"));
    assert!(refusal(&w).contains("has to vote again"), "{}", refusal(&w));
    assert_eq!(w.state_of(id), State::Pending);
    votes_again(&mut w, id, VoteKind::Grant, "ben");
    assert_eq!(w.state_of(id), State::Granted);
    hold(&mut w, id);
    look_again(&mut w, id, Ok(everybody()));
    assert_eq!(w.released, [id]);
}

/// An offer is made by the files as they are when it is made, each version of it.
#[test]
fn each_offer_looks_at_the_files_first() {
    let mut w = host();
    w.files = Some(Ok(electorate_of(&["ana", "ben", "cyd"], &["cyd"])));
    let id = w.pending(A, draft("1\n"));
    let able = |w: &World| offers(w).last().unwrap().able.clone().unwrap();
    assert_eq!(able(&w), [person("ana"), person("ben")].into());
    w.files = Some(Ok(electorate_of(&["ana", "ben", "cyd"], &["ben"])));
    another_python(&mut w);
    assert_eq!(poll(&w, id).version(), 2);
    assert_eq!(able(&w), [person("ana"), person("cyd")].into());
    assert!(offers(&w).last().unwrap().asks.contains(&person("cyd")));
    assert_eq!(w.looks, [], "no child is held");
}

#[test]
fn whose_key_was_revoked_votes_again_with_another() {
    let other = crate::ballot::testing::TestKey::new(7);
    let files = || {
        let keys: String = ["ana", "ben", "cyd"]
            .iter()
            .map(|name| key(name).signer(name))
            .collect();
        let keys = keys + &other.signer("ben");
        let revoked = format!("{}\n", key("ben").line());
        let people = electorate_text();
        let read = Electorate::read(keys.as_bytes(), people.as_bytes(), revoked.as_bytes());
        Arc::new(read.unwrap())
    };
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    grants(&mut w, id, "ben");
    changes(&mut w, files());
    let again = signed_by(&w, id, VoteKind::Grant, "ben", &other);
    cast(&mut w, id, again, via("ben"));
    assert_eq!(told(&w, "ben"), Some(Ok(VoteKind::Grant)));
    grants(&mut w, id, "ana");
    assert_eq!(w.state_of(id), State::Granted);
    let granted = w.log.iter().find_map(|event| match event {
        LogEvent::Granted(granted) => granted.votes.as_ref().map(|votes| votes.by.len()),
        _ => None,
    });
    assert_eq!(granted, Some(2));
}

#[test]
fn what_became_hopeless_ends_after_a_while_where_nobody_sits_and_stays_where_somebody_does() {
    for (attendance, revoked, ends) in [
        (Attendance::Nobody, ["ben", "cyd"].as_slice(), true),
        (Attendance::Nobody, ["ben"].as_slice(), false),
        (Attendance::Person, ["ben", "cyd"].as_slice(), false),
    ] {
        let mut w = World::with(Settings {
            attendance,
            ..with_rules(vec![rule()])
        });
        w.send(Event::Electorate(Ok(everybody())));
        let id = w.pending(A, draft("1\n"));
        grants(&mut w, id, "ana");
        // Files that cannot be read end nothing.
        unreadable(&mut w);
        assert_eq!(w.state_of(id), State::Pending);
        changes(&mut w, electorate_of(&["ana", "ben", "cyd"], revoked));
        // Files are replaced one after another: what is mended in time ends nothing.
        for mended in [true, false] {
            assert_eq!(w.state_of(id), State::Pending);
            let files = || match mended {
                true => everybody(),
                false => electorate_of(&["ana", "ben", "cyd"], revoked),
            };
            w.pass(s(29));
            changes(&mut w, files());
            assert_eq!(w.state_of(id), State::Pending);
            w.pass(s(2));
            changes(&mut w, files());
            if mended {
                assert_eq!(w.entry(id).hopeless(), None);
                changes(&mut w, electorate_of(&["ana", "ben", "cyd"], revoked));
            }
        }
        let state = w.state_of(id);
        assert_eq!(state == State::Error, ends, "{revoked:?}: {state}");
        assert!(ends || state == State::Pending);
    }
}

#[test]
fn a_key_that_ends_by_its_time_while_something_waits_is_told_as_one_that_was_revoked_is() {
    let mut w = host();
    let until = w.now.wall.checked_add(s(60)).unwrap();
    let until = until.strftime("%Y%m%d%H%M%SZ");
    let keys: String = ["ana", "ben", "cyd"]
        .iter()
        .map(|name| key(name).signer(name))
        .collect();
    let of_ben = key("ben").signer("ben");
    let ends = of_ben.replace(
        "namespaces=",
        &format!("valid-before=\"{until}\",namespaces="),
    );
    assert_ne!(ends, of_ben);
    let keys = keys.replace(&of_ben, &ends);
    let files = Electorate::read(keys.as_bytes(), electorate_text().as_bytes(), b"");
    let files = Arc::new(files.unwrap());
    w.files = Some(Ok(files.clone()));
    changes(&mut w, files.clone());
    let id = w.pending(A, draft("1\n"));
    grants(&mut w, id, "ben");
    assert_eq!(told(&w, "ben"), Some(Ok(VoteKind::Grant)));
    w.pass(s(30));
    changes(&mut w, files.clone());
    assert_eq!(told(&w, "ben"), Some(Ok(VoteKind::Grant)));
    w.pass(s(31));
    changes(&mut w, files);
    assert!(matches!(told(&w, "ben"), Some(Err(why)) if why.contains("was valid until")));
}
