//! Whom a proposal asks, who is told, and when others are asked too. None of it changes what votes count.

use super::super::notice::NoticeEvent;
use super::super::offer::Says;
use super::super::update::next_deadline;
use super::voters::*;

fn asked(w: &World, id: ProposalId) -> Vec<&str> {
    w.entry(id).asked().iter().map(Person::as_str).collect()
}

/// What was told since the last time: the event and to whom.
fn told(w: &mut World) -> Vec<(NoticeEvent, String)> {
    let notices = std::mem::take(&mut w.notices);
    let all = notices.into_iter().map(|notice| {
        assert_eq!(notice.host, "lab-1");
        let to = notice.to.iter().map(|one| one.person.as_str());
        (notice.event, to.collect::<Vec<_>>().join(" "))
    });
    all.collect()
}

#[test]
fn an_offer_asks_as_many_as_it_needs_in_turns_and_tells_just_them() {
    let mut w = host();
    let turns = ["ana ben", "cyd ana", "ben cyd", "ana ben"];
    for people in turns {
        let id = w.pending(A, draft("1\n"));
        assert_eq!(asked(&w, id).join(" "), people);
        assert_eq!(told(&mut w), [(NoticeEvent::Waits, people.to_owned())]);
        let offer = offers(&w).pop().unwrap();
        assert_eq!(offer.asks, w.entry(id).asked());
        // An edit is another version for the same people.
        w.edited(id, "2\n", VerdictKind::Clear);
        w.durable();
        assert_eq!(w.entry(id).poll().unwrap().version(), 2);
        assert_eq!(asked(&w, id).join(" "), people);
        assert_eq!(told(&mut w), []);
        // Others may vote all the same, and each end is told once.
        let others = ["ana", "ben", "cyd"];
        let mut others = others.into_iter().filter(|name| !people.contains(name));
        grants(&mut w, id, others.next().unwrap());
        grants(&mut w, id, people.split(' ').next().unwrap());
        w.durable();
        assert_eq!(w.state_of(id), State::Granted);
        assert_eq!(told(&mut w), [(NoticeEvent::Ended, people.to_owned())]);
        w.kill(id);
        w.durable();
        assert_eq!(told(&mut w), []);
    }
}

#[test]
fn a_drill_asks_as_any_proposal_does_takes_no_turn_and_is_told_to_nobody() {
    let mut w = host();
    // It looks like one of an agent that is known.
    let mut titled = draft("1\n");
    titled.title = Some("a sum".to_owned());
    let first = w.pending(A, titled);
    assert_eq!(asked(&w, first), ["ana", "ben"]);
    votes(&mut w, first, VoteKind::Deny, "ana");
    told(&mut w);
    let drill = w.drill("1\n");
    w.analyse(VerdictKind::Clear);
    w.durable();
    assert_eq!(asked(&w, drill), ["cyd", "ana"]);
    w.tick(s(600));
    assert_eq!(told(&mut w), []);
    let id = w.pending(A, draft("1\n"));
    assert_eq!(asked(&w, id), ["cyd", "ana"]);
}

#[test]
fn what_nobody_decides_asks_everybody_who_may_once_by_the_hosts_clock() {
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    let offered = w.published.len();
    told(&mut w);
    w.tick(s(599));
    assert_eq!(asked(&w, id), ["ana", "ben"]);
    assert_eq!(w.state.entry(id).unwrap().escalated(), None);
    w.tick(s(1));
    // Dee may veto and Eve may nothing: neither decides it.
    assert_eq!(asked(&w, id), ["ana", "ben", "cyd"]);
    assert_eq!(told(&mut w), [(NoticeEvent::Escalated, "cyd".to_owned())]);
    w.durable();
    assert_eq!(w.kinds(id), ["proposed", "escalated"]);
    assert!(w.log.iter().any(|event| matches!(
        event,
        LogEvent::Escalated { asked, also, .. } if asked.len() == 2 && *also == [person("cyd")]
    )));
    let said = statements(&w);
    assert_eq!(w.published.len(), offered + 1);
    let Says::Escalated { asks } = &said.last().unwrap().says else {
        panic!("{said:?}");
    };
    assert_eq!((asks.len(), &said.last().unwrap().to), (3, &None));
    w.tick(s(600));
    assert_eq!(told(&mut w), []);
    // The same two as before have to grant it.
    grants(&mut w, id, "cyd");
    assert_eq!(w.state_of(id), State::Pending);
    grants(&mut w, id, "ana");
    w.durable();
    assert_eq!(w.state_of(id), State::Granted);
    assert_eq!(
        told(&mut w),
        [(NoticeEvent::Ended, "ana ben cyd".to_owned())]
    );
}

#[test]
fn what_is_decided_or_asks_everybody_already_asks_nobody_else() {
    // Decided before.
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    votes(&mut w, id, VoteKind::Deny, "ana");
    told(&mut w);
    w.tick(s(600));
    assert_eq!((asked(&w, id).len(), told(&mut w).len()), (2, 0));
    // Everybody is asked from the beginning.
    let all = Rule {
        quorum: Quorum::People(3),
        ..rule()
    };
    let mut w = World::with(with_rules(vec![all]));
    w.send(Event::Electorate(Ok(everybody())));
    let id = w.pending(A, draft("1\n"));
    told(&mut w);
    w.tick(s(600));
    w.durable();
    assert_eq!((asked(&w, id).len(), told(&mut w).len()), (3, 0));
    assert_eq!(w.kinds(id), ["proposed"]);
    // Never, if the host says so.
    let mut settings = with_rules(vec![rule()]);
    Arc::make_mut(settings.voting.as_mut().unwrap()).escalate = s(0);
    let mut w = World::with(settings);
    w.send(Event::Electorate(Ok(everybody())));
    let id = w.pending(A, draft("1\n"));
    w.tick(s(1_700));
    assert_eq!(asked(&w, id).len(), 2);
}

#[test]
fn what_has_little_time_asks_others_after_half_of_it_and_the_loop_wakes_for_that() {
    let mut w = host();
    let mut short = draft("1\n");
    short.ttl_s = Some(60);
    let id = w.pending(A, short);
    let due = next_deadline(&w.state).unwrap();
    assert_eq!(due, w.now.boot + s(30));
    w.tick(s(30));
    assert_eq!(asked(&w, id), ["ana", "ben", "cyd"]);
}

#[test]
fn what_no_votes_can_grant_asks_nobody_and_says_why_in_the_offer() {
    let three = Rule {
        quorum: Quorum::People(4),
        ..rule()
    };
    let mut w = World::with(with_rules(vec![three]));
    w.send(Event::Electorate(Ok(everybody())));
    let id = w.pending(A, draft("1\n"));
    assert!(asked(&w, id).is_empty());
    let offer = offers(&w).pop().unwrap();
    let why = offer.hopeless.unwrap();
    assert!(
        why.contains("4 people of data have to grant, and there are 3"),
        "{why}"
    );
    w.tick(s(600));
    assert_eq!(told(&mut w), []);
}

/// A host where `penguins` is for `security` alone.
fn routed() -> World {
    let mut settings = with_rules(vec![rule()]);
    let voting = Arc::make_mut(settings.voting.as_mut().unwrap());
    let roles = |names: &[&str]| names.iter().map(|name| name.parse().unwrap()).collect();
    voting.routes.0 = [("penguins".to_owned(), roles(&["security"]))].into();
    let mut w = World::with(settings);
    w.send(Event::Electorate(Ok(everybody())));
    w
}

fn using(dataset: &str) -> crate::model::Draft {
    let mut with = draft("1\n");
    let dataset = crate::model::InputRequest::Dataset {
        dataset: dataset.to_owned(),
    };
    with.inputs = [("df".to_owned(), dataset)].into();
    with
}

/// Takes a proposal with a data set to where it waits.
fn pending_with(w: &mut World, dataset: &str) -> ProposalId {
    let (id, _) = w.propose(A, using(dataset));
    w.send(Event::InputsBound {
        id,
        inputs: Ok(Vec::new()),
    });
    w.analyse(VerdictKind::Clear);
    w.durable();
    id
}

#[test]
fn what_uses_a_data_set_is_offered_to_its_readers_and_counts_the_grants_of_them_alone() {
    let mut w = routed();
    let id = pending_with(&mut w, "penguins");
    let Some(Publication::Offer { roles, .. }) = w.published.last() else {
        panic!("{:?}", w.published);
    };
    let security: Vec<&str> = roles.iter().map(|role| role.as_str()).collect();
    assert_eq!(security, ["security"]);
    // Ana, Ben and Cyd have the rule's role, and may not see it; Dee may, and has not the role.
    let why = offers(&w).pop().unwrap().hopeless.unwrap();
    assert!(
        why.contains("there are 0 who may see it, which takes security"),
        "{why}"
    );
    grants(&mut w, id, "ana");
    assert!(
        refusal(&w).contains("`ana` has no role that may see it"),
        "{}",
        refusal(&w)
    );
    assert_eq!(w.state_of(id), State::Pending);
    // A denial counts whoever's it is.
    votes(&mut w, id, VoteKind::Deny, "ana");
    assert_eq!(w.state_of(id), State::Denied);
    // What uses nothing of that kind is offered as before.
    let id = w.pending(A, draft("1\n"));
    assert_eq!(asked(&w, id), ["ana", "ben"]);
    grants(&mut w, id, "ana");
    grants(&mut w, id, "ben");
    w.durable();
    assert_eq!(w.state_of(id), State::Granted);
}

#[test]
fn what_a_run_left_is_seen_as_what_it_used() {
    let mut w = routed();
    let id = pending_with(&mut w, "penguins");
    let artifact = crate::model::ArtifactRef {
        id,
        name: "a.txt".to_owned(),
    };
    let artifact = crate::model::InputRequest::Artifact { artifact };
    let inputs = [("earlier".to_owned(), artifact)].into();
    let readers = w.state.readers_of(&inputs);
    assert_eq!(readers, w.entry(id).readers);
    assert!(readers.roles().is_some_and(|roles| roles.len() == 1));
}

#[test]
fn who_voted_unasked_is_asked_with_the_others_and_not_told() {
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    grants(&mut w, id, "cyd");
    told(&mut w);
    w.tick(s(600));
    // As if they had not: a list without them would say that they did.
    assert_eq!(asked(&w, id), ["ana", "ben", "cyd"]);
    assert_eq!(told(&mut w), []);
}
