//! What rules ask for that no votes can give, as the people and keys are.

use crate::model::{Quorum, Readers, Rule, Terms};

use super::count::{Asked, Asker, Question, Side, excludes_asker, may_grant, with, words};
use super::electorate::Electorate;

/// What cannot be had of a policy's rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vain {
    /// The rules that no votes can meet, whoever asks, each with why.
    pub never: Vec<(String, String)>,
    /// The people whose own agents' proposals no votes can grant, though they can those of others.
    pub own: Vec<String>,
    /// The rules that name no role: everybody with a key counts.
    pub anybody: Vec<String>,
}

impl Vain {
    /// `readers`: who may see what asks.
    pub fn of(rules: &[Rule], electorate: &Electorate, readers: &Readers) -> Self {
        let meets = |rule: &Rule, asker| {
            let side = Side { asker, readers };
            Asked::of(rule, electorate, side).map(drop)
        };
        let mut vain = Self::default();
        for rule in rules {
            if let Err(why) = meets(rule, Asker::Service) {
                vain.never.push((rule.to_string(), why));
            }
            if rule.roles.is_empty() {
                vain.anybody.push(rule.to_string());
            }
        }
        if vain.never.is_empty() {
            let asks = |person| {
                let mut rules = rules.iter();
                rules.any(|rule| meets(rule, Asker::Person(person)).is_err())
            };
            let agents = |person| electorate.uids(person).next().is_some();
            let own = electorate.people().filter(|p| agents(p) && asks(p));
            vain.own = own.map(ToString::to_string).collect();
        }
        vain
    }
}

/// Which rule no votes can meet, for an agent: it names roles and counts people, and names nobody.
pub fn told_in_vain<'a>(
    terms: &Terms,
    electorate: &'a Electorate,
    question: impl Into<Question<'a>>,
) -> Option<String> {
    let side = Side::of(electorate, question.into());
    let fails = |rule: &&Rule| Asked::of(rule, electorate, side).is_err();
    let rule = terms.0.iter().find(fails)?;
    if excludes_asker(rule) && matches!(side.asker, Asker::Unknown(_)) {
        let why = "the rule asks for somebody else than the person whose agent asks, and this host does not know whose agent \
                   that is";
        return Some(why.to_owned());
    }
    let (with, roles) = (with(rule), words(&rule.roles));
    let able = electorate
        .people()
        .filter(|person| may_grant(rule, electorate, side, person).is_ok());
    let able = match (able.count(), roles.is_empty()) {
        (0, _) => "none of them may vote on it".to_owned(),
        (n, false) => format!("{n} of them may vote on it"),
        (n, true) => format!("{n} may vote on it"),
    };
    Some(match (rule.quorum, roles.is_empty()) {
        (Quorum::People(n), false) => {
            format!("the rule asks for {} of {roles}{with}; {able}", n.max(1))
        }
        (Quorum::People(n), true) => {
            let people = if n > 1 { "people" } else { "person" };
            format!("the rule asks for {} {people}{with}; {able}", n.max(1))
        }
        (Quorum::All(_), false) => {
            format!("the rule asks for everybody of {roles}{with}; not all of them may vote on it")
        }
        (Quorum::All(_), true) => {
            format!("the rule asks for everybody{with}; not all of them may vote on it")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ballot::testing::{TestKey, people};
    use crate::model::{All, Quorum, When};

    fn rule(quorum: Quorum, roles: &[&str], touch: bool) -> Rule {
        Rule {
            when: When::Always,
            quorum,
            roles: roles.iter().map(|role| role.parse().unwrap()).collect(),
            not_self: true,
            veto: [].into(),
            touch,
            pin: false,
        }
    }

    #[test]
    fn what_no_votes_can_grant_is_found_before_anybody_asks() {
        let file = people(&[
            ("ana", "roles = [\"data\"]\nuids = [1000]"),
            ("ben", "roles = [\"data\", \"law\"]\nuids = [1001]"),
            ("cyd", "roles = [\"data\"]"),
        ]);
        let n = Quorum::People;
        // The rule, why nobody can meet it, and whose own agents would ask in vain.
        for (rule, never, own) in [
            (rule(n(1), &["data"], false), None, ""),
            (rule(n(2), &["data"], false), None, ""),
            (rule(n(3), &["data"], false), None, "ana ben"),
            (rule(n(4), &["data"], false), Some("and there are 3"), ""),
            (rule(n(4), &[], false), Some("and there are 3"), ""),
            (rule(n(1), &["law"], false), None, "ben"),
            (
                rule(n(1), &["nobody"], false),
                Some("of nobody has to grant, and there are 0"),
                "",
            ),
            (
                rule(n(1), &["data"], true),
                Some("with a touched security key, and there are 0"),
                "",
            ),
            (
                rule(Quorum::All(All::All), &["data"], true),
                Some("everybody of data has to grant"),
                "",
            ),
            (rule(Quorum::All(All::All), &["law"], false), None, "ben"),
        ] {
            let vain = Vain::of(std::slice::from_ref(&rule), &file, &Readers::EVERYBODY);
            let why = vain.never.first().map(|(_, why)| why.as_str());
            match (why, never) {
                (None, None) => {}
                (Some(why), Some(part)) if why.contains(part) => {}
                other => panic!("{rule}: {other:?}"),
            }
            assert_eq!(vain.own.join(" "), own, "{rule}");
            assert_eq!(vain.anybody.is_empty(), !rule.roles.is_empty());
        }
    }

    #[test]
    fn a_person_without_a_key_and_a_revoked_key_are_none() {
        let (one, two) = (TestKey::new(1), TestKey::new(2));
        let signers = format!("{}{}", one.signer("ana"), two.signer("ben"));
        let members = "[people.ana]\nroles = [\"data\"]\n[people.ben]\nroles = [\"data\"]\n[people.cyd]\nroles = [\"data\"]\n";
        for (revoked, never) in [("", false), (&*two.line(), true)] {
            let file = Electorate::read(signers.as_bytes(), members.as_bytes(), revoked.as_bytes());
            let rules = [rule(Quorum::People(2), &["data"], false)];
            let vain = Vain::of(&rules, &file.unwrap(), &Readers::EVERYBODY);
            assert_eq!(!vain.never.is_empty(), never, "{vain:?}");
        }
    }

    /// Who may see it narrows whose grants count, and never how many a rule asks for.
    #[test]
    fn what_too_few_may_see_nobody_can_grant() {
        let file = people(&[
            ("ana", "roles = [\"data\", \"clinical\"]"),
            ("ben", "roles = [\"data\"]"),
            ("cyd", "roles = [\"clinical\"]"),
        ]);
        let clinical = Readers::only(["clinical".parse().unwrap()].into());
        let nobody = Readers::only([].into());
        let n = Quorum::People;
        for (rule, readers, never) in [
            (rule(n(1), &["data"], false), &clinical, None),
            (rule(n(2), &[], false), &clinical, None),
            (
                rule(n(2), &["data"], false),
                &clinical,
                Some("there is 1 who may see it, which takes clinical"),
            ),
            (
                rule(Quorum::All(All::All), &["data"], false),
                &clinical,
                Some("`ben` has no role that may see it"),
            ),
            (
                rule(n(1), &["data"], false),
                &nobody,
                Some("which no role may"),
            ),
        ] {
            let vain = Vain::of(std::slice::from_ref(&rule), &file, readers);
            let why = vain.never.first().map(|(_, why)| why.as_str());
            match (why, never) {
                (None, None) => {}
                (Some(why), Some(part)) if why.contains(part) => {}
                other => panic!("{rule}: {other:?}"),
            }
        }
    }

    /// An agent hears how many there are, and no names.
    #[test]
    fn an_agent_hears_what_is_missing_and_nobodys_name() {
        let file = people(&[
            ("ana", "roles = [\"steward\"]"),
            ("ben", "roles = [\"data\"]\nuids = [1001]"),
        ]);
        let n = Quorum::People;
        let all = Quorum::All(All::All);
        for (rule, uid, told) in [
            (
                rule(n(2), &["steward"], false),
                1001,
                "the rule asks for 2 of steward; 1 of them may vote on it",
            ),
            (
                rule(n(1), &["data"], false),
                1001,
                "the rule asks for 1 of data; none of them may vote on it",
            ),
            (
                rule(n(2), &[], false),
                1001,
                "the rule asks for 2 people; 1 may vote on it",
            ),
            (
                rule(all, &["steward"], true),
                1001,
                "the rule asks for everybody of steward, with a touched security key; not all of them may vote on it",
            ),
            (
                rule(n(1), &["steward"], false),
                4242,
                "the rule asks for somebody else than the person whose agent asks, and this host does not know whose agent \
                 that is",
            ),
        ] {
            let terms = Terms(vec![rule]);
            assert_eq!(told_in_vain(&terms, &file, uid).as_deref(), Some(told));
        }
        let terms = Terms(vec![rule(n(1), &["steward"], false)]);
        assert_eq!(told_in_vain(&terms, &file, 1001), None);
    }
}
