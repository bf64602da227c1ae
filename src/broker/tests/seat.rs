//! A reviewer's seat: what a host offers is judged and shown here, and a grant is a vote for there.

use std::sync::atomic::{AtomicU64, Ordering};

use std::collections::VecDeque;

use super::super::Confirmation;
use super::super::event::{Event, HumanAct};
use super::super::offer::{Offer, Publication, Says};
use super::super::poll::Own;
use super::super::seat::Seat;
use super::super::state::{Attendance, Settings};
use super::voters::{all_of_it, grants, host, key, person, via, votes};
use super::world::{A, C, World, draft, s, settings};
use crate::ballot::Standing;
use crate::model::{LogEvent, NAMESPACE, ProposalId, Reviewer, State, VerdictKind, Vote, VoteKind};

pub(super) fn seat_of(name: &str) -> World {
    World::with(Settings {
        attendance: Attendance::Reviewer(Seat {
            person: person(name),
        }),
        ..settings()
    })
}

/// Carries everything that the host published since the last time to the seat.
pub(super) fn carry(host: &mut World, seat: &mut World) {
    for publication in std::mem::take(&mut host.published) {
        match publication {
            Publication::Offer { bytes, .. } => {
                let offer = Box::new(Offer::read(&bytes).unwrap());
                seat.send(Event::Offered { offer, bytes });
            }
            Publication::Statement(mut statement) => {
                // As a board counts them.
                static NUMBER: AtomicU64 = AtomicU64::new(1);
                statement.number = NUMBER.fetch_add(1, Ordering::Relaxed);
                seat.send(Event::Stated(statement));
            }
        }
    }
}

/// A host with a proposal, and a seat in which it waits.
pub(super) fn offered(name: &str, judged: VerdictKind) -> (World, World, ProposalId) {
    let (mut host, mut seat) = (host(), seat_of(name));
    let id = host.pending(A, draft("1\n"));
    carry(&mut host, &mut seat);
    seat.analyse(judged);
    (host, seat, id)
}

pub(super) fn confirm(seat: &mut World, id: ProposalId) {
    let (digest, viewed) = (seat.digest(id), all_of_it(seat, id));
    let by = Reviewer::default();
    seat.send(Event::Human(HumanAct::Grant(Confirmation {
        id,
        digest,
        by,
        viewed,
    })));
}

/// Signs what the seat asks to be signed.
pub(super) fn sign(seat: &mut World) -> Option<()> {
    let (id, version, unsigned) = seat.signing.pop_front()?;
    let signer = key(unsigned.voter.as_str());
    let vote = unsigned.signed(signer.sign(NAMESPACE, unsigned.text.as_bytes()));
    let by = Reviewer::default();
    seat.send(Event::Signed {
        id,
        version,
        vote: Ok(vote),
        by,
    });
    Some(())
}

pub(super) fn sent(seat: &mut World) -> VecDeque<(ProposalId, u32, Vote)> {
    std::mem::take(&mut seat.sent)
}

#[test]
fn a_grant_in_a_seat_is_a_vote_and_nothing_runs_there() {
    let (mut host, mut seat, id) = offered("ben", VerdictKind::Clear);
    assert_eq!(seat.state_of(id), State::Pending);
    assert!(
        seat.kinds(id).is_empty(),
        "only votes are recorded in a seat"
    );
    confirm(&mut seat, id);
    sign(&mut seat).expect("a signature is asked for");
    assert!(sent(&mut seat).is_empty(), "its record is not durable yet");
    seat.durable();
    assert_eq!(seat.kinds(id), ["voted"]);
    assert_eq!(
        *seat.entry(id).poll().unwrap().own(),
        Own::Sent(VoteKind::Grant)
    );
    grants(&mut host, id, "ana");
    let (to, version, vote) = sent(&mut seat).pop_front().expect("the vote is sent");
    assert_eq!((to, version), (id, 1));
    host.send(Event::Cast {
        id,
        version,
        vote: Box::new(vote),
        via: via("ben"),
    });
    host.durable();
    assert_eq!(host.state_of(id), State::Granted);
    carry(&mut host, &mut seat);
    let poll = seat.entry(id).poll().unwrap();
    assert_eq!(*poll.own(), Own::Counted(VoteKind::Grant));
    let told = poll.votes_for(&person("ben")).expect("his own is in");
    let told: Vec<&str> = told.iter().map(|cast| cast.vote.voter.as_str()).collect();
    assert_eq!(told, ["ana", "ben"]);
    assert!(seat.executed.is_empty() && seat.grants.is_empty() && seat.released.is_empty());
}

#[test]
fn what_two_programs_judge_differently_is_not_granted_and_can_be_denied() {
    let (_, mut seat, id) = offered("ben", VerdictKind::Flagged);
    confirm(&mut seat, id);
    assert!(seat.signing.is_empty());
    let why = seat.state.refusal(id).unwrap().to_string();
    assert!(
        why.contains("judges it clear, and this program flagged"),
        "{why}"
    );
    seat.deny(id, Some("no"));
    sign(&mut seat).expect("a denial is signed too");
    seat.durable();
    let (_, _, vote) = sent(&mut seat).pop_front().unwrap();
    assert_eq!(
        (vote.kind, vote.reason.as_deref()),
        (VoteKind::Deny, Some("no"))
    );
}

#[test]
fn a_denial_from_a_seat_ends_it_at_the_host_and_the_seat_hears_how_it_ended() {
    let (mut host, mut seat, id) = offered("ben", VerdictKind::Clear);
    seat.deny(id, Some("it reads too much"));
    sign(&mut seat).unwrap();
    seat.durable();
    let (_, version, vote) = sent(&mut seat).pop_front().unwrap();
    host.send(Event::Cast {
        id,
        version,
        vote: Box::new(vote),
        via: via("ben"),
    });
    host.durable();
    assert_eq!(host.state_of(id), State::Denied);
    carry(&mut host, &mut seat);
    seat.durable();
    assert_eq!(seat.state_of(id), State::Denied);
    assert_eq!(seat.kinds(id), ["voted", "settled"]);
    // What it was about, and who had voted, as the host told.
    let about = seat.log.iter().find_map(|e| match e {
        LogEvent::Voted(v) => v.about.as_deref(),
        _ => None,
    });
    assert_eq!(about.map(|about| about.profile.as_str()), Some("analysis"));
    assert!(host.log.iter().all(|e| match e {
        LogEvent::Voted(v) => v.about.is_none(),
        _ => true,
    }));
    let heard = seat.log.iter().find_map(|e| match e {
        LogEvent::Settled { votes, .. } => Some(votes),
        _ => None,
    });
    let heard: Vec<_> = heard
        .unwrap()
        .iter()
        .map(|one| (one.voter.as_str(), one.vote))
        .collect();
    assert_eq!(heard, [("ben", VoteKind::Deny)]);
    let seen = &seat.entry(id).offered().unwrap().votes;
    assert_eq!(seen.len(), 1, "also its details say so after the end");
    let by = host.log.iter().find_map(|e| match e {
        LogEvent::Denied { reason, .. } => reason.clone(),
        _ => None,
    });
    assert_eq!(by.as_deref(), Some("it reads too much"));
}

#[test]
fn a_seat_does_not_sign_for_the_persons_own_agent() {
    let (mut host, mut seat) = (host(), seat_of("ana"));
    let id = host.pending(C, draft("1\n"));
    carry(&mut host, &mut seat);
    seat.analyse(VerdictKind::Clear);
    confirm(&mut seat, id);
    assert!(seat.signing.is_empty());
    let why = seat.state.refusal(id).unwrap().to_string();
    assert!(why.contains("your own agent asks"), "{why}");
}

#[test]
fn a_new_version_takes_the_place_of_the_old_one_with_all_that_was_seen_of_it() {
    let (mut host, mut seat, id) = offered("ben", VerdictKind::Clear);
    confirm(&mut seat, id);
    host.edited(id, "2\n", VerdictKind::Clear);
    carry(&mut host, &mut seat);
    // The signature is for the version before.
    sign(&mut seat);
    seat.analyse(VerdictKind::Clear);
    seat.durable();
    assert!(sent(&mut seat).is_empty());
    let entry = seat.entry(id);
    assert_eq!((&**entry.code().text(), entry.is_edited()), ("2\n", true));
    assert_eq!(*entry.poll().unwrap().own(), Own::Open);
    // An older one changes nothing.
    confirm(&mut seat, id);
    assert_eq!(
        seat.signing.front().map(|(_, version, _)| *version),
        Some(2)
    );
}

#[test]
fn an_offer_ends_in_a_seat_at_its_deadline_and_when_its_host_decides_without_it() {
    let (mut host, mut seat, id) = offered("ben", VerdictKind::Clear);
    seat.tick(s(1800));
    assert_eq!(seat.state_of(id), State::Expired);
    seat.durable();
    let (other, mut seat) = (host.pending(A, draft("3\n")), seat_of("ben"));
    host.published
        .retain(|p| matches!(p, Publication::Offer { id, .. } if *id == other));
    carry(&mut host, &mut seat);
    seat.analyse(VerdictKind::Clear);
    votes(&mut host, other, VoteKind::Veto, "dee");
    carry(&mut host, &mut seat);
    assert_eq!(seat.state_of(other), State::Denied);
    assert!(seat.kinds(other).is_empty(), "it had no vote from here");
}

#[test]
fn no_host_takes_the_place_of_what_another_one_offered() {
    let (mut host, mut seat) = (host(), seat_of("ben"));
    let id = host.pending(A, draft("1\n"));
    let Some(Publication::Offer { bytes, .. }) = host.published.first() else {
        panic!("{:?}", host.published);
    };
    let mut offer = Offer::read(bytes).unwrap();
    carry(&mut host, &mut seat);
    seat.analyse(VerdictKind::Clear);
    // The same id and a higher version, by a host whose key the seat knows too.
    offer.host_key = "SHA256:another".to_owned();
    offer.version = 9;
    offer.title = Some("instead".to_owned());
    let bytes = offer.bytes().into();
    let offer = Box::new(offer);
    seat.send(Event::Offered { offer, bytes });
    assert_ne!(seat.entry(id).proposal.title.as_deref(), Some("instead"));
    assert_eq!(seat.entry(id).poll().unwrap().version(), 1);
}

#[test]
fn what_a_host_said_before_changes_nothing_when_it_comes_again() {
    let (mut host, mut seat, id) = offered("ben", VerdictKind::Clear);
    confirm(&mut seat, id);
    sign(&mut seat).unwrap();
    seat.durable();
    let (_, version, vote) = sent(&mut seat).pop_front().unwrap();
    let vote = Box::new(vote);
    host.send(Event::Cast {
        id,
        version,
        vote,
        via: via("ben"),
    });
    host.durable();
    let Some(Publication::Statement(first)) = host.published.pop() else {
        panic!("{:?}", host.published);
    };
    let say = |seat: &mut World, number, says: Says| {
        let mut statement = first.clone();
        (statement.number, statement.says) = (number, says);
        seat.send(Event::Stated(statement));
    };
    let refused = Says::NotCounted {
        vote: VoteKind::Grant,
        why: "its key counts no more".to_owned(),
    };
    say(&mut seat, 7, refused);
    say(&mut seat, 6, first.says.clone());
    say(&mut seat, 7, first.says.clone());
    let own = seat.entry(id).poll().unwrap().own();
    assert!(matches!(own, Own::Failed(_)), "{own:?}");
    say(&mut seat, 8, first.says.clone());
    let own = seat.entry(id).poll().unwrap().own();
    assert_eq!(*own, Own::Counted(VoteKind::Grant));
}

/// Whoever may veto signs a veto, also once the host granted it; a denial of others comes too late then.
#[test]
fn a_denial_of_who_may_veto_is_a_veto_until_it_is_let_go() {
    let denies = |seat: &mut World, id: ProposalId| {
        seat.send(Event::Human(HumanAct::Deny {
            id,
            reason: Some("no".to_owned()),
            viewed: all_of_it(seat, id),
            by: Reviewer::default(),
        }));
        seat.signing.front().map(|(_, _, vote)| vote.kind)
    };
    for (name, kind, late) in [
        ("ben", VoteKind::Deny, None),
        ("dee", VoteKind::Veto, Some(VoteKind::Veto)),
    ] {
        let (_, mut seat, id) = offered(name, VerdictKind::Clear);
        assert_eq!(denies(&mut seat, id), Some(kind), "{name}");
        let (mut host, mut seat, id) = offered(name, VerdictKind::Clear);
        grants(&mut host, id, "ana");
        grants(&mut host, id, "cyd");
        carry(&mut host, &mut seat);
        assert_eq!(seat.state_of(id), State::Pending, "it is not over");
        assert_eq!(denies(&mut seat, id), late, "{name}");
        if late.is_none() {
            let why = seat.state.refusal(id).unwrap().to_string();
            assert!(why.contains("already granted"), "{why}");
            continue;
        }
        sign(&mut seat).expect("a signature is asked for");
        seat.durable();
        let (_, version, vote) = sent(&mut seat).pop_front().expect("the veto is sent");
        host.send(Event::Cast {
            id,
            version,
            vote: Box::new(vote),
            via: via(name),
        });
        host.durable();
        assert_eq!(host.state_of(id), State::Denied);
        carry(&mut host, &mut seat);
        assert_eq!(seat.state_of(id), State::Denied);
    }
}

#[test]
fn what_its_host_said_of_a_vote_before_the_verdict_is_not_lost() {
    let (mut host, mut seat) = (host(), seat_of("ben"));
    let id = host.pending(A, draft("1\n"));
    grants(&mut host, id, "ben");
    // As a seat that was opened again reads it: all at once.
    carry(&mut host, &mut seat);
    seat.analyse(VerdictKind::Clear);
    let own = seat.entry(id).poll().unwrap().own();
    assert_eq!(*own, Own::Counted(VoteKind::Grant));
}

#[test]
fn an_offer_that_nobody_voted_on_here_leaves_no_record() {
    let (_, mut seat, id) = offered("ben", VerdictKind::Clear);
    seat.tick(s(1800));
    assert_eq!(seat.state_of(id), State::Expired);
    assert!(seat.kinds(id).is_empty());
    let (_, mut seat, id) = offered("ben", VerdictKind::Clear);
    confirm(&mut seat, id);
    sign(&mut seat).unwrap();
    seat.durable();
    seat.tick(s(1800));
    seat.durable();
    assert_eq!(seat.kinds(id), ["voted", "settled"]);
}

#[test]
fn a_seat_that_was_opened_anew_records_the_end_of_what_it_voted_on() {
    let (mut host, mut seat) = (host(), seat_of("ben"));
    let id = host.pending(A, draft("1\n"));
    seat.send(Event::VotedBefore(vec![id]));
    carry(&mut host, &mut seat);
    seat.analyse(VerdictKind::Clear);
    votes(&mut host, id, VoteKind::Deny, "ben");
    host.durable();
    carry(&mut host, &mut seat);
    seat.durable();
    assert_eq!(seat.kinds(id), ["settled"]);
}

#[test]
fn a_seat_hears_whom_it_asks_and_when_everybody_is() {
    let (mut host, mut seat, id) = offered("cyd", VerdictKind::Clear);
    let cyd = person("cyd");
    assert_eq!(seat.entry(id).asked(), [person("ana"), person("ben")]);
    assert!(seat.entry(id).asks_others(&cyd));
    host.tick(s(600));
    host.durable();
    let at = host.now.wall;
    carry(&mut host, &mut seat);
    assert!(!seat.entry(id).asks_others(&cyd));
    assert_eq!(seat.entry(id).escalated(), Some(at));
    // It may vote as before, and what it was told changes nothing of that.
    confirm(&mut seat, id);
    assert!(sign(&mut seat).is_some());
}

#[test]
fn a_seat_warns_of_what_no_votes_can_grant() {
    let (_, mut seat, id) = offered("ben", VerdictKind::Clear);
    let mut offer = seat.entry(id).offered().unwrap().offer.clone();
    offer.version = 2;
    offer.hopeless = Some("1 person of law has to grant, and there are 0".to_owned());
    let bytes = offer.bytes().into();
    let offer = Box::new(offer);
    seat.send(Event::Offered { offer, bytes });
    seat.analyse(VerdictKind::Clear);
    let standing = seat.state.standing(seat.entry(id), seat.now);
    let Some(Standing::Impossible(why)) = standing else {
        panic!("{standing:?}");
    };
    assert!(why.contains("of law"), "{why}");
}
