//! What is shown of proposals whose policy asks for signed votes.

use std::sync::Arc;

use crate::ballot::Electorate;
use crate::ballot::testing::TestKey;
use crate::broker::Event;
use crate::broker::poll::{Own, Poll, Seed, Voting};
use crate::model::{
    NAMESPACE, ProposalId, Quorum, Reviewer, Rule, State, Via, Viewed, Vote, VoteKind, When,
};
use crate::policy::Policy;

use super::bench::*;
use super::contrast_tests::assert_readable;
use super::snapshot_tests::snap;

/// The terminal of the bench has uid 0, its agent uid 1000.
pub(super) const PEOPLE: &str = "\
[people.ana]
roles = [\"data\"]
uids = [0]
[people.ben]
roles = [\"data\"]
uids = [1501]
[people.eve]
uids = [1504]
[agents]
uids = [1000]
";

fn key(person: &str) -> TestKey {
    TestKey::new(person.as_bytes()[0])
}

pub(super) fn electorate(people: &str, with_keys: &[&str]) -> Event {
    let signers: String = with_keys.iter().map(|p| key(p).signer(p)).collect();
    let electorate = Electorate::read(signers.as_bytes(), people.as_bytes(), b"").unwrap();
    Event::Electorate(Ok(Arc::new(electorate)))
}

/// A dashboard whose policy asks for two people of `data`.
pub(super) fn asks_for_two(columns: u16, rows: u16) -> Bench {
    let mut b = Bench::new(columns, rows);
    let settings = &mut b.state.settings;
    let profile = &mut settings.profiles[0];
    profile.policy = Arc::new(Policy {
        grant: vec![Rule {
            when: When::Always,
            quorum: Quorum::People(2),
            roles: ["data".parse().unwrap()].into(),
            not_self: true,
            veto: ["security".parse().unwrap()].into(),
            touch: false,
            pin: false,
        }],
        ..(*profile.policy).clone()
    });
    settings.voting = Some(Arc::new(Voting {
        host: "lab-1".to_owned(),
        host_key: TestKey::new(200).line(),
        seed: Seed([7; 32]),
        routes: Default::default(),
        escalate: std::time::Duration::from_secs(600),
        by: Reviewer::default(),
    }));
    b.apply(electorate(PEOPLE, &["ana", "ben", "eve"]));
    b
}

pub(super) fn poll(b: &Bench, id: ProposalId) -> &Poll {
    b.state.entry(id).unwrap().poll().expect("it takes votes")
}

pub(super) fn vote(
    b: &Bench,
    id: ProposalId,
    kind: VoteKind,
    name: &str,
    reason: Option<&str>,
) -> Vote {
    let verdict = b.state.entry(id).unwrap().verdict().unwrap();
    let viewed = Viewed {
        // No longer than the proposal is there, in each of these tests.
        selected_ms: 2_000,
        lines_seen: verdict.source.lines,
        findings_shown: verdict.findings.len() as u64,
        ..Viewed::default()
    };
    let voter = name.parse().unwrap();
    let text = poll(b, id).ballot().text(kind, &voter, &viewed, reason);
    Vote {
        kind,
        voter,
        viewed,
        reason: reason.map(str::to_owned),
        signature: key(name).sign(NAMESPACE, text.as_bytes()),
    }
}

/// Ben votes over the socket.
pub(super) fn ben_grants(b: &mut Bench, id: ProposalId) {
    let vote = Box::new(vote(b, id, VoteKind::Grant, "ben", None));
    let version = poll(b, id).version();
    let via = Via::Socket { uid: 1501, pid: 1 };
    b.apply(Event::Cast {
        id,
        version,
        vote,
        via,
    });
}

/// What `ssh-keygen` answers.
pub(super) fn signed(b: &mut Bench, id: ProposalId, vote: Result<Vote, String>) {
    let version = poll(b, id).version();
    let by = Reviewer::default();
    b.apply(Event::Signed {
        id,
        version,
        vote,
        by,
    });
}

/// The person reads it all, opens the sheet and confirms.
pub(super) fn confirms(b: &mut Bench) {
    b.open_sheet();
    b.keys("y");
    b.carry_out();
}

/// With the details open, as large as they can be.
pub(super) fn details(b: &mut Bench) -> String {
    b.keys("iz");
    let shown = b.draw();
    b.keys("zi");
    shown
}

#[test]
fn the_screen_says_what_a_grant_needs_whose_vote_it_is_and_how_it_goes() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let mut b = asks_for_two(columns, rows);
        let id = b.propose(Making::clear("print(len(df))\n"));
        let shows = |b: &mut Bench, name: &str, all: &[&str]| {
            let text = b.draw();
            for part in all {
                assert!(text.contains(part), "{name}: {part:?}\n{text}");
            }
            snap(&format!("votes_{name}_{columns}x{rows}"), &text);
            assert_readable(b);
        };
        b.settle();
        shows(&mut b, "waits", &[]);
        b.open_sheet();
        let sheet = [
            "needs       2 people of data; security may veto",
            "your vote   as ana, signed with your key",
            "press y to sign a grant",
        ];
        shows(&mut b, "sheet", &sheet);
        b.keys("y");
        b.carry_out();
        assert!(matches!(poll(&b, id).own(), Own::Signing(_)));
        shows(&mut b, "signing", &["signing… touch your security key"]);
        signed(&mut b, id, Err("the agent refused".to_owned()));
        let failed = "your vote is not in: the agent refused";
        shows(&mut b, "failed", &[failed]);
        confirms(&mut b);
        let own = vote(&b, id, VoteKind::Grant, "ana", None);
        signed(&mut b, id, Ok(own));
        b.advance(60_000);
        shows(&mut b, "in", &["you granted; 1 more of data is missing"]);
        let state = b.state.entry(id).unwrap().state();
        assert_eq!(state, State::Pending, "alone nobody grants");
        ben_grants(&mut b, id);
        assert_eq!(b.state.entry(id).unwrap().state(), State::Granted);
    }
}

/// `a` answers at once where its sheet could not be confirmed.
#[test]
fn no_sheet_opens_for_a_vote_that_is_in_or_could_not_count() {
    let without_ana = PEOPLE.replace("uids = [0]", "uids = [5]");
    let ana_without_role = PEOPLE.replacen("roles = [\"data\"]\n", "", 1);
    let anas_own_agent = PEOPLE
        .replace("uids = [0]", "uids = [0, 1000]")
        .replace("[agents]\nuids = [1000]\n", "");
    let all = ["ana", "ben", "eve"];
    let rows = [
        (without_ana, &all[..], "uid 0 is nobody's in people.toml"),
        (
            ana_without_role,
            &all[..],
            "has none of the roles that are asked: data",
        ),
        (anas_own_agent, &all[..], "`ana`'s own agent asks"),
        (PEOPLE.to_owned(), &["ben", "eve"][..], "`ana` has no key"),
    ];
    for (people, keys, why) in rows {
        let mut b = asks_for_two(120, 40);
        b.propose(Making::clear("print(len(df))\n"));
        b.apply(electorate(&people, keys));
        b.settle();
        b.keys("a");
        assert!(b.ui.sheet().is_none(), "{why}");
        assert!(notice(&b).contains(why), "{why}: {}", notice(&b));
    }
    let mut b = asks_for_two(120, 40);
    let id = b.propose(Making::clear("print(len(df))\n"));
    b.settle();
    confirms(&mut b);
    b.keys("a");
    assert!(b.ui.sheet().is_none());
    assert!(notice(&b).starts_with("signing"), "{}", notice(&b));
    let own = vote(&b, id, VoteKind::Grant, "ana", None);
    signed(&mut b, id, Ok(own));
    b.keys("a");
    assert!(b.ui.sheet().is_none());
    assert!(notice(&b).starts_with("you granted;"), "{}", notice(&b));
}

/// Drawn with and without the vote of somebody else: the same until the person's own vote is in.
#[test]
fn votes_of_others_are_shown_only_after_the_persons_own_vote_is_in() {
    let screens = |others: bool| {
        let mut b = asks_for_two(120, 40);
        let rule = &b.state.settings.profiles[0].policy.grant[0];
        let three = Rule {
            quorum: Quorum::People(3),
            ..rule.clone()
        };
        let policy = Policy {
            grant: vec![three],
            ..(*b.state.settings.profiles[0].policy).clone()
        };
        b.state.settings.profiles[0].policy = Arc::new(policy);
        let people = format!("{PEOPLE}[people.cyd]\nroles = [\"data\"]\nuids = [1502]\n");
        b.apply(electorate(&people, &["ana", "ben", "cyd"]));
        let id = b.propose(Making::clear("print(len(df))\n"));
        if others {
            ben_grants(&mut b, id);
        }
        b.settle();
        let mut before = vec![b.draw(), details(&mut b)];
        b.open_sheet();
        before.push(b.draw());
        b.keys("y");
        b.carry_out();
        before.extend([b.draw(), details(&mut b)]);
        let own = vote(&b, id, VoteKind::Grant, "ana", None);
        signed(&mut b, id, Ok(own));
        (before, details(&mut b))
    };
    let (before, after) = screens(true);
    let (alone, _) = screens(false);
    assert_eq!(before, alone);
    for screen in &before {
        // Whom it asks is no secret, and the same whether they voted.
        let mut ben = screen.lines().filter(|line| line.contains("ben"));
        assert!(
            ben.all(|line| line.contains("asks     ana (you), ben, cyd")),
            "{screen}"
        );
    }
    let ben = after.lines().find(|line| line.contains("ben granted at"));
    assert!(ben.is_some_and(|line| line.contains("SHA256:")), "{after}");
    assert!(
        after.contains("It was selected for 2.0 s: 1 line of code seen"),
        "{after}"
    );
    assert!(after.contains("ana granted at"), "{after}");
    snap("votes_details_120x40", &after);
}

#[test]
fn what_no_votes_can_grant_is_said_before_anybody_votes() {
    let mut b = asks_for_two(120, 40);
    b.propose(Making::clear("print(len(df))\n"));
    b.apply(electorate(PEOPLE, &["ana", "eve"]));
    let why = "no votes can grant it: 2 people of data have to grant, and there is 1";
    let begins = "▲ no votes can grant it: 2 people of data";
    assert!(b.settle().contains(begins), "{}", b.draw());
    assert!(details(&mut b).contains(why));
    // No sheet opens for it, and the row says so from the start.
    b.read();
    b.keys("a");
    let text = b.draw();
    assert!(b.ui.sheet_for().is_none(), "{text}");
    assert!(text.contains(why) && text.contains("STUCK"), "{text}");
    // Other files turn it around.
    b.apply(electorate(PEOPLE, &["ana", "ben", "eve"]));
    assert!(!b.settle().contains("STUCK"));
    b.advance(3_000);
    b.open_sheet();
}
