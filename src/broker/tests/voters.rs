//! A host whose policies ask for votes, people with keys, and their votes.

pub(super) use std::sync::Arc;

pub(super) use super::super::event::{Event, ExecNote};
pub(super) use super::super::offer::{Offer, Publication, Statement};
pub(super) use super::super::poll::{Own, Poll, Seed, Voting};
pub(super) use super::super::state::Settings;
pub(super) use super::world::{A, C, World, draft, isolation, ms, s, settings};
pub(super) use crate::ballot::Electorate;
pub(super) use crate::ballot::testing::TestKey;
pub(super) use crate::model::{
    Ballot, Digest, Environment, LogEvent, NAMESPACE, Nonce, Person, ProposalId, Quorum, Reviewer,
    Rule, State, Terms, VerdictKind, Via, Viewed, Vote, VoteKind, When,
};
pub(super) use crate::policy::Policy;

/// Ana and Ben have the role `data`, Dee may veto, Eve has neither; the agent of connection C is Ana's.
const PEOPLE: &str = "\
[people.ana]
roles = [\"data\"]
uids = [1500, 1001]
logins = [\"ana\"]
[people.ben]
roles = [\"data\"]
uids = [1501]
[people.cyd]
roles = [\"data\"]
uids = [1502]
[people.dee]
roles = [\"security\"]
uids = [1503]
[people.eve]
uids = [1504]
[agents]
uids = [1000]
";

pub(super) fn key(person: &str) -> TestKey {
    TestKey::new(person.as_bytes()[0])
}

pub(super) fn electorate_of(people: &[&str], revoked: &[&str]) -> Arc<Electorate> {
    let signers: String = people.iter().map(|p| key(p).signer(p)).collect();
    let revoked: String = revoked
        .iter()
        .map(|p| format!("{}\n", key(p).line()))
        .collect();
    Arc::new(Electorate::read(signers.as_bytes(), PEOPLE.as_bytes(), revoked.as_bytes()).unwrap())
}

pub(super) const fn electorate_text() -> &'static str {
    PEOPLE
}

pub(super) fn everybody() -> Arc<Electorate> {
    electorate_of(&["ana", "ben", "cyd", "dee", "eve"], &[])
}

pub(super) fn rule() -> Rule {
    Rule {
        when: When::Always,
        quorum: Quorum::People(2),
        roles: ["data".parse().unwrap()].into(),
        not_self: true,
        veto: ["security".parse().unwrap()].into(),
        touch: false,
        pin: false,
    }
}

pub(super) fn with_rules(rules: Vec<Rule>) -> Settings {
    let mut settings = settings();
    for profile in &mut settings.profiles {
        profile.policy = Arc::new(Policy {
            grant: rules.clone(),
            ..(*profile.policy).clone()
        });
    }
    settings.voting = Some(Arc::new(Voting {
        host: "lab-1".to_owned(),
        host_key: TestKey::new(200).line(),
        seed: Seed([7; 32]),
        routes: Default::default(),
        escalate: std::time::Duration::from_secs(600),
        by: Reviewer::default(),
    }));
    settings
}

/// A host whose policies ask for two people of `data`.
pub(super) fn host() -> World {
    let mut w = World::with(with_rules(vec![rule()]));
    w.send(Event::Electorate(Ok(everybody())));
    w
}

pub(super) fn person(name: &str) -> Person {
    name.parse().unwrap()
}

pub(super) fn poll(w: &World, id: ProposalId) -> &Poll {
    w.entry(id).poll().expect("votes are asked for")
}

pub(super) fn all_of_it(w: &World, id: ProposalId) -> Viewed {
    let verdict = w.entry(id).verdict().unwrap();
    Viewed {
        lines_seen: verdict.source.lines,
        findings_shown: verdict.findings.len() as u64,
        ..Viewed::default()
    }
}

/// A vote that is as it should be.
pub(super) fn vote(w: &World, id: ProposalId, kind: VoteKind, name: &str) -> Vote {
    signed_by(w, id, kind, name, &key(name))
}

pub(super) fn signed_by(
    w: &World,
    id: ProposalId,
    kind: VoteKind,
    name: &str,
    key: &TestKey,
) -> Vote {
    sign(key, poll(w, id).ballot(), kind, name, all_of_it(w, id))
}

pub(super) fn sign(
    key: &TestKey,
    ballot: &Ballot,
    kind: VoteKind,
    name: &str,
    viewed: Viewed,
) -> Vote {
    let text = ballot.text(kind, &person(name), &viewed, None);
    Vote {
        kind,
        voter: person(name),
        viewed,
        reason: None,
        signature: key.sign(NAMESPACE, text.as_bytes()),
    }
}

pub(super) fn via(name: &str) -> Via {
    let uid = match name {
        "ana" => 1500,
        "ben" => 1501,
        "cyd" => 1502,
        "dee" => 1503,
        _ => 1504,
    };
    Via::Socket { uid, pid: 1 }
}

pub(super) fn cast(w: &mut World, id: ProposalId, vote: Vote, via: Via) {
    let version = w.entry(id).poll().map_or(1, Poll::version);
    w.send(Event::Cast {
        id,
        version,
        vote: Box::new(vote),
        via,
    });
    w.durable();
}

pub(super) fn votes(w: &mut World, id: ProposalId, kind: VoteKind, name: &str) {
    let vote = vote(w, id, kind, name);
    cast(w, id, vote, via(name));
}

pub(super) fn grants(w: &mut World, id: ProposalId, name: &str) {
    votes(w, id, VoteKind::Grant, name);
}

/// Why the last vote did not count, as the log says.
pub(super) fn refusal(w: &World) -> String {
    let mut log = w.log.iter().rev();
    log.find_map(|event| match event {
        LogEvent::VoteRefused { why, .. } => Some(why.clone()),
        _ => None,
    })
    .expect("a vote was refused")
}

pub(super) fn statements(w: &World) -> Vec<Statement> {
    let said = w.published.iter().filter_map(|p| match p {
        Publication::Statement(statement) => Some((**statement).clone()),
        Publication::Offer { .. } => None,
    });
    said.collect()
}

pub(super) fn offers(w: &World) -> Vec<Offer> {
    let offered = w.published.iter().filter_map(|p| match p {
        Publication::Offer { bytes, .. } => Some(Offer::read(bytes).unwrap()),
        Publication::Statement(_) => None,
    });
    offered.collect()
}

/// Takes a granted proposal to where its held child is looked at again.
pub(super) fn hold(w: &mut World, id: ProposalId) {
    w.durable();
    assert_eq!(w.executed, [id]);
    w.exec(id, ExecNote::Prepared(isolation()));
    w.durable();
    assert_eq!(
        (w.looks.as_slice(), w.released.as_slice()),
        ([id].as_slice(), [].as_slice())
    );
}

pub(super) fn look_again(
    w: &mut World,
    id: ProposalId,
    electorate: Result<Arc<Electorate>, String>,
) {
    w.send(Event::LookedAgain { id, electorate });
    w.durable();
}

/// The environment changed, and is ready again.
pub(super) fn another_python(w: &mut World) {
    let Environment::Ready {
        label, installed, ..
    } = super::world::ready()
    else {
        panic!("the sample is ready");
    };
    let digest = Digest::of(b"another");
    w.send(Event::Environment(Environment::Ready {
        digest,
        label,
        installed,
    }));
}
