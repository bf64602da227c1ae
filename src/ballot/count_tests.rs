//! People are counted, in no order, and nothing lowers what the terms ask for.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::signature::{Checked, SecurityKey};
use super::testing::TestKey;
use super::*;
use crate::model::{All, Ballot, Nonce, Person, Quorum, Role, Rule, Terms, Viewed, VoteKind, When};

fn person(name: &str) -> Person {
    Person::new(name).unwrap()
}

fn roles(names: &[&str]) -> BTreeSet<Role> {
    names.iter().map(|name| Role::new(name).unwrap()).collect()
}

/// ana: data; ben: data and security, with a token; cleo: security, absent; dan: legal; eve: data, no key.
fn electorate() -> Electorate {
    let people = "[people.ana]\nroles = [\"data\"]\nuids = [1]\n\
                  [people.ben]\nroles = [\"data\", \"security\"]\nuids = [2]\n\
                  [people.cleo]\nroles = [\"security\"]\nuids = [3]\nabsent = [\"2020-01-01/2030-01-01\"]\n\
                  [people.dan]\nroles = [\"legal\"]\nuids = [4]\n\
                  [people.eve]\nroles = [\"data\"]\nuids = [5]\n\
                  [agents]\nuids = [100]\n";
    let signers = [
        TestKey::new(1).signer("ana"),
        TestKey::new(2).signer("ben"),
        TestKey::new(12).on_token(5, 0).signer("ben"),
        TestKey::new(3).signer("cleo"),
        TestKey::new(4).signer("dan"),
    ];
    Electorate::read(signers.concat().as_bytes(), people.as_bytes(), b"").unwrap()
}

const SERVICE: u32 = 100;

fn rule(n: u8, asked: &[&str]) -> Rule {
    Rule {
        when: When::Always,
        quorum: Quorum::People(n),
        roles: roles(asked),
        not_self: true,
        veto: BTreeSet::new(),
        touch: false,
        pin: false,
    }
}

fn all_of(asked: &[&str]) -> Rule {
    Rule {
        quorum: Quorum::All(All::All),
        ..rule(1, asked)
    }
}

fn cast(terms: &Terms, name: &str, kind: VoteKind) -> Checked {
    Checked {
        voter: person(name),
        kind,
        key: format!("SHA256:{name}"),
        security_key: None,
        viewed: Viewed::default(),
        reason: (kind != VoteKind::Grant).then(|| format!("{name} says no")),
        proposal: Ballot::sample().proposal,
        terms: terms.digest(),
        nonce: Nonce(terms.digest()),
    }
}

fn touched(vote: Checked, touched: bool, verified: bool) -> Checked {
    Checked {
        security_key: Some(SecurityKey {
            touched,
            verified,
            counter: 0,
        }),
        ..vote
    }
}

/// What is missing, or why nothing is, in one line.
fn said(standing: &Standing) -> String {
    match standing {
        Standing::Open { missing } => {
            let all: Vec<String> = missing.iter().map(ToString::to_string).collect();
            all.join(" | ")
        }
        Standing::Met { grants } => format!("met by {grants:?}"),
        Standing::Ended { by, kind, .. } => format!("{} of {by}", kind.as_str()),
        Standing::Impossible(why) => format!("impossible: {why}"),
    }
}

#[test]
fn every_rule_has_to_be_met_by_people_who_may() {
    let everybody = electorate();
    let granted = |rules: Vec<Rule>, asker: u32, names: &[&str]| {
        let terms = Terms(rules);
        let votes: Vec<_> = names
            .iter()
            .map(|name| cast(&terms, name, VoteKind::Grant))
            .collect();
        said(&standing(&terms, &everybody, asker, &votes))
    };
    let alone = Rule {
        not_self: false,
        ..rule(1, &["data"])
    };
    let table: Vec<(Vec<Rule>, u32, &[&str], &str)> = vec![
        (
            vec![],
            SERVICE,
            &["ana"],
            "impossible: no rule asks for votes",
        ),
        (vec![rule(1, &[])], SERVICE, &[], "1 more person"),
        (vec![rule(2, &[])], SERVICE, &[], "2 more people"),
        (vec![rule(2, &[])], SERVICE, &["ana"], "1 more person"),
        (
            vec![rule(2, &[])],
            SERVICE,
            &["ana", "dan"],
            "met by [0, 1]",
        ),
        // Nobody counts twice.
        (
            vec![rule(2, &[])],
            SERVICE,
            &["ana", "ana", "ana"],
            "1 more person",
        ),
        (vec![rule(0, &[])], SERVICE, &[], "1 more person"),
        (
            vec![rule(1, &["data"])],
            SERVICE,
            &["dan"],
            "1 more of data",
        ),
        (
            vec![rule(1, &["data"])],
            SERVICE,
            &["dan", "ben"],
            "met by [1]",
        ),
        (
            vec![rule(1, &["data", "legal"])],
            SERVICE,
            &[],
            "1 more of data or legal",
        ),
        // Two rules, which one person may meet.
        (
            vec![rule(1, &["data"]), rule(1, &["security"])],
            SERVICE,
            &["ana"],
            "1 more of security",
        ),
        (
            vec![rule(1, &["data"]), rule(1, &["security"])],
            SERVICE,
            &["ben"],
            "met by [0]",
        ),
        (
            vec![rule(1, &["data"]), rule(2, &[])],
            SERVICE,
            &["ben"],
            "1 more person",
        ),
        // The asker, their own terminal, a service, a stranger.
        (vec![rule(1, &["data"])], 1, &["ana"], "1 more of data"),
        (vec![rule(1, &["data"])], 1, &["ana", "ben"], "met by [1]"),
        (vec![alone.clone()], 1, &["ana"], "met by [0]"),
        (vec![alone.clone()], 999, &["ana"], "met by [0]"),
        (
            vec![rule(1, &["data"])],
            999,
            &["ana"],
            "impossible: uid 999 asks, which is neither",
        ),
        // Several people are never the asker and somebody else.
        (
            vec![Rule {
                not_self: false,
                ..rule(2, &[])
            }],
            1,
            &["ana", "ben"],
            "1 more person",
        ),
        (
            vec![Rule {
                not_self: false,
                ..rule(2, &[])
            }],
            999,
            &["ana", "ben"],
            "impossible: uid 999",
        ),
        // Whom there is not.
        (
            vec![rule(1, &["none"])],
            SERVICE,
            &["ana"],
            "impossible: 1 person of none has to grant, and there are 0",
        ),
        (
            vec![rule(3, &["data"])],
            SERVICE,
            &["ana", "ben"],
            "impossible: 3 people of data have to grant, and there are 2",
        ),
        (
            vec![rule(2, &["data"])],
            1,
            &["ben"],
            "impossible: 2 people of data have to grant, and there is 1 besides the person",
        ),
        // An absent one is one of all, and so is one without a key.
        (
            vec![all_of(&["security"])],
            SERVICE,
            &["ben"],
            "1 more of security, which is everybody",
        ),
        (
            vec![all_of(&["security"])],
            SERVICE,
            &["ben", "cleo"],
            "met by [0, 1]",
        ),
        (vec![all_of(&["security"])], 3, &["ben"], "met by [0]"),
        (
            vec![all_of(&["legal"])],
            4,
            &["ana"],
            "impossible: 1 person of legal has to grant, and there are 0 besides",
        ),
        (
            vec![all_of(&["data"])],
            SERVICE,
            &["ana", "ben"],
            "impossible: everybody of data has to grant: `eve` has no key",
        ),
        (vec![all_of(&["data"])], 5, &["ana", "ben"], "met by [0, 1]"),
    ];
    for (rules, asker, names, wanted) in table {
        let found = granted(rules.clone(), asker, names);
        assert!(found.starts_with(wanted), "{rules:?} {names:?}\n{found}");
    }
}

#[test]
fn an_agent_that_asks_over_the_engine_is_known_by_its_login() {
    let people = "[people.fay]\nroles = [\"law\"]\nlogins = [\"fay\", \"gate_f\"]\n\
                  [people.gil]\nroles = [\"law\"]\n[agents]\nlogins = [\"gate_s\"]\n";
    let signers = [TestKey::new(6).signer("fay"), TestKey::new(7).signer("gil")].concat();
    let everybody = Electorate::read(signers.as_bytes(), people.as_bytes(), b"").unwrap();
    let terms = Terms(vec![rule(1, &["law"])]);
    let of = |login: &str, names: &[&str]| {
        let votes: Vec<_> = names
            .iter()
            .map(|name| cast(&terms, name, VoteKind::Grant))
            .collect();
        let peer = crate::model::Peer::of_gateway(login);
        said(&standing(&terms, &everybody, &peer, &votes))
    };
    for (login, names, wanted) in [
        // Her own vote does not count for what her agent asks.
        ("gate_f", vec!["fay"], "1 more of law"),
        ("gate_f", vec!["fay", "gil"], "met by [1]"),
        ("gate_s", vec!["fay"], "met by [0]"),
        (
            "gate_u",
            vec!["fay", "gil"],
            "impossible: gateway gate_u asks, which is neither a person's nor among [agents]",
        ),
    ] {
        let found = of(login, &names);
        assert!(found.starts_with(wanted), "{login} {names:?}: {found}");
    }
}

#[test]
fn a_grant_counts_for_a_rule_with_a_touch_only_if_there_was_one() {
    let everybody = electorate();
    for (touch, pin) in [(true, false), (false, true), (true, true)] {
        let terms = Terms(vec![Rule {
            touch,
            pin,
            ..rule(1, &["data"])
        }]);
        let grant = cast(&terms, "ben", VoteKind::Grant);
        let met = |vote: &Checked| {
            let votes = std::slice::from_ref(vote);
            matches!(
                standing(&terms, &everybody, SERVICE, votes),
                Standing::Met { .. }
            )
        };
        assert!(!met(&grant));
        for (up, uv) in [(false, false), (true, false), (false, true), (true, true)] {
            let enough = (up || !touch) && (uv || !pin);
            assert_eq!(
                met(&touched(grant.clone(), up, uv)),
                enough,
                "{touch} {pin} {up} {uv}"
            );
        }
        let open = standing(&terms, &everybody, SERVICE, &[grant]);
        assert!(
            said(&open).starts_with("1 more of data, with a "),
            "{}",
            said(&open)
        );
        // Only ben has a token.
        let terms = Terms(vec![Rule {
            touch,
            pin,
            ..rule(2, &[])
        }]);
        let found = said(&standing(&terms, &everybody, SERVICE, &[]));
        assert!(found.ends_with("and there is 1"), "{found}");
    }
}

#[test]
fn a_denial_or_a_veto_of_somebody_who_may_ends_it_whoever_granted() {
    let everybody = electorate();
    let terms = Terms(vec![Rule {
        veto: roles(&["legal"]),
        ..rule(1, &["data"])
    }]);
    let with = |kind: VoteKind, name: &str| {
        let votes = [
            cast(&terms, "ana", VoteKind::Grant),
            cast(&terms, "ben", VoteKind::Grant),
            cast(&terms, name, kind),
        ];
        said(&standing(&terms, &everybody, 1, &votes))
    };
    for kind in [VoteKind::Deny, VoteKind::Veto] {
        for (name, ends) in [
            ("ben", true),
            ("ana", true),
            ("dan", true),
            ("eve", true),
            ("cleo", false),
        ] {
            let wanted = match ends {
                true => format!("{} of {name}", kind.as_str()),
                false => "met by [1]".to_owned(),
            };
            assert_eq!(with(kind, name), wanted);
        }
    }
    // A denial of another version of the offer still is one; a grant of other terms is none.
    let other = Terms(vec![rule(1, &[])]);
    let votes = [cast(&other, "ben", VoteKind::Grant)];
    assert_eq!(
        said(&standing(&terms, &everybody, 1, &votes)),
        "1 more of data"
    );
    let votes = [
        cast(&terms, "ben", VoteKind::Grant),
        cast(&other, "ben", VoteKind::Deny),
    ];
    assert_eq!(
        said(&standing(&terms, &everybody, 1, &votes)),
        "deny of ben"
    );
}

#[test]
fn who_may_vote_is_told_before_and_why_not() {
    let everybody = electorate();
    let terms = Terms(vec![Rule {
        veto: roles(&["legal"]),
        ..rule(1, &["data"])
    }]);
    let may = |terms: &Terms, asker: u32, name: &str, kind: VoteKind| match may_vote(
        terms,
        &everybody,
        asker,
        &person(name),
        kind,
    ) {
        Ok(()) => "yes".to_owned(),
        Err(why) => why.to_string(),
    };
    for (asker, name, kind, wanted) in [
        (SERVICE, "ana", VoteKind::Grant, "yes"),
        (1, "ana", VoteKind::Grant, "`ana`'s own agent asks"),
        (1, "ana", VoteKind::Deny, "yes"),
        (
            SERVICE,
            "dan",
            VoteKind::Grant,
            "`dan` has none of the roles that are asked: data",
        ),
        (SERVICE, "dan", VoteKind::Veto, "yes"),
        (
            SERVICE,
            "cleo",
            VoteKind::Veto,
            "`cleo` has none of the roles that are asked: data or legal",
        ),
        (SERVICE, "eve", VoteKind::Grant, "`eve` has no key"),
        (
            SERVICE,
            "zoe",
            VoteKind::Grant,
            "`zoe` is not in people.toml",
        ),
        (999, "ana", VoteKind::Grant, "uid 999 asks"),
    ] {
        let found = may(&terms, asker, name, kind);
        assert!(
            found.starts_with(wanted),
            "{asker} {name} {kind:?}\n{found}"
        );
    }
    let token = Terms(vec![Rule {
        touch: true,
        ..rule(1, &["data"])
    }]);
    assert!(
        may(&token, SERVICE, "ana", VoteKind::Grant)
            .contains("needs a security key that is touched")
    );
    assert_eq!(may(&token, SERVICE, "ben", VoteKind::Grant), "yes");
    assert_eq!(
        may(&Terms::default(), SERVICE, "ana", VoteKind::Grant),
        "no rule asks for votes"
    );
}

fn some_rule() -> impl Strategy<Value = Rule> {
    let some_roles = || proptest::sample::subsequence(vec!["data", "security", "legal"], 0..=2);
    let quorum = prop_oneof![
        (0u8..4).prop_map(Quorum::People),
        Just(Quorum::All(All::All))
    ];
    let flags = (any::<bool>(), any::<bool>(), prop::bool::weighted(0.2));
    (quorum, some_roles(), some_roles(), flags).prop_map(
        |(quorum, asked, veto, (not_self, touch, pin))| Rule {
            quorum,
            not_self,
            touch,
            pin,
            veto: roles(&veto),
            ..rule(1, &asked)
        },
    )
}

fn some_vote(terms: Terms, kinds: &'static [VoteKind]) -> impl Strategy<Value = Checked> {
    let name = proptest::sample::select(vec!["ana", "ben", "cleo", "dan", "eve"]);
    let kind = proptest::sample::select(kinds);
    let token = proptest::option::of((any::<bool>(), any::<bool>()));
    (name, kind, token).prop_map(move |(name, kind, token)| {
        let vote = cast(&terms, name, kind);
        match token {
            Some((up, uv)) => touched(vote, up, uv),
            None => vote,
        }
    })
}

const KINDS: &[VoteKind] = &[
    VoteKind::Grant,
    VoteKind::Grant,
    VoteKind::Grant,
    VoteKind::Grant,
    VoteKind::Deny,
    VoteKind::Veto,
];

fn some_votes() -> impl Strategy<Value = (Terms, u32, Vec<Checked>, Checked)> {
    let rules = proptest::collection::vec(some_rule(), 0..3).prop_map(Terms);
    rules.prop_flat_map(|terms| {
        let asker = proptest::sample::select(vec![1, 2, 3, SERVICE, 999]);
        let votes = proptest::collection::vec(some_vote(terms.clone(), KINDS), 0..8);
        let one = some_vote(terms.clone(), &KINDS[4..]);
        (Just(terms), asker, votes, one)
    })
}

/// The same whatever the order: the voters of the grants instead of their places.
fn orderless(standing: &Standing, votes: &[Checked]) -> (String, BTreeSet<String>) {
    match standing {
        Standing::Met { grants } => {
            let grant = |at: &usize| format!("{:?}", votes[*at]);
            ("met".to_owned(), grants.iter().map(grant).collect())
        }
        other => (format!("{other:?}"), BTreeSet::new()),
    }
}

proptest! {
    #[test]
    fn votes_are_a_set_and_more_of_them_never_undo_a_denial(
        (terms, asker, votes, denial) in some_votes(),
        seed in any::<u64>(),
    ) {
        let everybody = electorate();
        let stand = |votes: &[Checked]| standing(&terms, &everybody, asker, votes);
        let found = stand(&votes);
        let is_met = |s: &Standing| matches!(s, Standing::Met { .. });

        // In another order, and some of them twice.
        let mut other = votes.clone();
        other.extend(votes.iter().enumerate().filter(|(i, _)| seed >> (i % 64) & 1 == 1).map(|(_, v)| v.clone()));
        let n = other.len();
        for i in 1..n {
            other.swap(i, (seed as usize).wrapping_mul(i) % (i + 1));
        }
        prop_assert_eq!(orderless(&stand(&other), &other), orderless(&found, &votes));

        // A denial or a veto more.
        let mut ended = votes.clone();
        ended.insert(seed as usize % (votes.len() + 1), denial.clone());
        let with = stand(&ended);
        prop_assert!(is_met(&found) || !is_met(&with));
        if may_vote(&terms, &everybody, asker, denial.voter(), denial.kind()).is_ok() {
            let is_ended = matches!(with, Standing::Ended { .. });
            prop_assert!(is_ended);
        }

        // A grant less.
        for (at, vote) in votes.iter().enumerate() {
            if vote.kind() == VoteKind::Grant {
                let mut fewer = votes.clone();
                fewer.remove(at);
                prop_assert!(is_met(&found) || !is_met(&stand(&fewer)));
            }
        }

        // What is met is met by people who were told that they may, and by as many as the rules ask.
        if let Standing::Met { grants } = &found {
            let people: BTreeSet<_> = grants.iter().map(|at| votes[*at].voter()).collect();
            for one in &people {
                prop_assert!(may_vote(&terms, &everybody, asker, one, VoteKind::Grant).is_ok());
            }
            for rule in &terms.0 {
                if let Quorum::People(n) = rule.quorum {
                    prop_assert!(people.len() >= usize::from(n.max(1)));
                }
                if rule.not_self {
                    let others = people.iter().filter(|p| everybody.person_of_uid(asker) != Some(**p));
                    prop_assert!(others.count() > 0);
                }
            }
        }
    }
}
