//! Whose votes to ask for. Nothing here changes who may vote or how many have to.
//!
//! Each rule asks as many people as it needs: who is on call before others, who is absent after all others, and among equals
//! whoever was asked the longest ago. So equal people are asked equally often, to within one.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::model::{Person, Terms};

use super::count::{Asked, Question, Side};
use super::electorate::Electorate;

/// Who was asked when, counted in questions. It has nobody that it was not told of, so it is as long as the file of people.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    last: BTreeMap<Person, u64>,
    next: u64,
}

impl Turns {
    /// Those who were never asked come first.
    fn of(&self, person: &Person) -> u64 {
        self.last.get(person).copied().unwrap_or_default()
    }

    fn took(&mut self, person: &Person) {
        self.next += 1;
        self.last.insert(person.clone(), self.next);
    }
}

/// What each rule needs of whom; `None` if no votes could meet all of them.
fn needs<'a>(
    terms: &Terms,
    electorate: &'a Electorate,
    question: Question<'a>,
) -> Option<Vec<Asked<'a>>> {
    let side = Side::of(electorate, question);
    let rules = terms.0.iter();
    rules
        .map(|rule| Asked::of(rule, electorate, side).ok())
        .collect()
}

/// Everybody whose grant could count for one of the rules; nobody if no votes could meet all of them.
pub fn able<'a>(
    terms: &Terms,
    electorate: &'a Electorate,
    question: impl Into<Question<'a>>,
) -> BTreeSet<&'a Person> {
    let needs = needs(terms, electorate, question.into()).unwrap_or_default();
    needs.into_iter().flat_map(|asked| asked.people).collect()
}

/// Whom to ask beside those who were asked before, in the order of their turns. Nobody if no votes could grant it.
pub fn ask<'a>(
    terms: &Terms,
    electorate: &'a Electorate,
    question: impl Into<Question<'a>>,
    now: Timestamp,
    before: &[Person],
    turns: &mut Turns,
) -> Vec<Person> {
    turns.last.retain(|person, _| electorate.knows(person));
    let mut fresh: Vec<Person> = Vec::new();
    for asked in needs(terms, electorate, question.into()).unwrap_or_default() {
        let is_asked = |person: &Person| before.contains(person) || fresh.contains(person);
        let (have, mut others): (Vec<&Person>, Vec<&Person>) = asked
            .people
            .into_iter()
            .partition(|person| is_asked(person));
        others.sort_by_key(|person| {
            let absent = electorate.is_absent(person, now);
            // On call and absent at once is absent.
            let on_call = !absent && electorate.is_on_call(person, now);
            (absent, !on_call, turns.of(person), *person)
        });
        let more = asked.needed.saturating_sub(have.len());
        for person in others.into_iter().take(more) {
            turns.took(person);
            fresh.push(person.clone());
        }
    }
    fresh
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ballot::testing::people;
    use crate::model::{Quorum, Role, Rule, When};

    const NOW: &str = "2026-11-28T12:00:00Z";

    fn now() -> Timestamp {
        NOW.parse().unwrap()
    }

    fn rule(quorum: u8, role: &str) -> Rule {
        Rule {
            when: When::Always,
            quorum: Quorum::People(quorum),
            roles: BTreeSet::from([Role::new(role).unwrap()]),
            not_self: true,
            veto: BTreeSet::new(),
            touch: false,
            pin: false,
        }
    }

    fn names(people: &[Person]) -> Vec<&str> {
        people.iter().map(Person::as_str).collect()
    }

    proptest! {
        /// Whatever is asked of them, no two people who are the same to the rules are asked more than once apart.
        #[test]
        fn equal_people_are_asked_equally_often(
            many in 1_usize..7,
            quorums in prop::collection::vec(1_u8..7, 1..60),
        ) {
            let all: Vec<String> = (0..many).map(|n| format!("p{n}")).collect();
            let file = people(&all.iter().map(|name| (&**name, "roles = [\"data\"]")).collect::<Vec<_>>());
            let mut turns = Turns::default();
            let mut times: BTreeMap<Person, usize> = BTreeMap::new();
            for quorum in quorums {
                let terms = Terms(vec![rule(quorum, "data")]);
                let asked = ask(&terms, &file, 0, now(), &[], &mut turns);
                let most = usize::from(quorum);
                prop_assert_eq!(asked.len(), if most <= many { most } else { 0 });
                for person in asked {
                    *times.entry(person).or_default() += 1;
                }
                let most = times.values().max().copied().unwrap_or_default();
                let least = match times.len() < many {
                    true => 0,
                    false => times.values().min().copied().unwrap_or_default(),
                };
                prop_assert!(most - least <= 1, "{times:?}");
            }
            prop_assert!(turns.last.len() <= many);
        }
    }

    #[test]
    fn on_call_first_absent_last_and_never_more_than_it_takes() {
        let today = "2026-11-28/2026-11-28";
        let yesterday = "2026-11-20/2026-11-27";
        let data = |more: &str| format!("roles = [\"data\"]\n{more}");
        let rows = [
            ("ana", data("")),
            (
                "ben",
                data(&format!("on_call = [\"{yesterday}\", \"{today}\"]")),
            ),
            (
                "cyd",
                data(&format!("absent = [\"{today}\"]\non_call = [\"{today}\"]")),
            ),
            (
                "dan",
                data(&format!(
                    "on_call = [\"{yesterday}\"]\nabsent = [\"{yesterday}\"]"
                )),
            ),
            ("eve", "roles = [\"law\"]".to_owned()),
        ];
        let rows: Vec<(&str, &str)> = rows.iter().map(|(n, t)| (*n, &**t)).collect();
        let file = people(&rows);
        let asks = |rules: &[Rule], before: &[&str], turns: &mut Turns| {
            let before: Vec<Person> = before.iter().map(|n| Person::new(n).unwrap()).collect();
            let asked = ask(&Terms(rules.to_vec()), &file, 0, now(), &before, turns);
            names(&asked).join(" ")
        };
        let anew = |rules: &[Rule], before: &[&str]| asks(rules, before, &mut Turns::default());
        assert_eq!(anew(&[rule(1, "data")], &[]), "ben");
        assert_eq!(anew(&[rule(2, "data")], &[]), "ben ana");
        assert_eq!(anew(&[rule(3, "data")], &[]), "ben ana dan");
        assert_eq!(anew(&[rule(4, "data")], &[]), "ben ana dan cyd");
        // What no votes can grant asks nobody, however many could vote on another rule.
        assert_eq!(anew(&[rule(1, "law"), rule(5, "data")], &[]), "");
        assert_eq!(anew(&[rule(1, "data"), rule(1, "law")], &[]), "ben eve");
        // Who was asked of an earlier version stays asked.
        assert_eq!(anew(&[rule(2, "data")], &["dan"]), "ben");
        assert_eq!(anew(&[rule(1, "data")], &["cyd"]), "");
        // Whoever is on call is asked each time; the others take turns.
        let mut turns = Turns::default();
        let mut next = || asks(&[rule(2, "data")], &[], &mut turns);
        assert_eq!([next(), next(), next()], ["ben ana", "ben dan", "ben ana"]);
    }

    #[test]
    fn one_person_who_can_answer_two_rules_is_asked_once() {
        let file = people(&[
            ("ana", "roles = [\"data\"]"),
            ("ben", "roles = [\"data\", \"law\"]"),
            ("cyd", "roles = [\"law\"]"),
        ]);
        let terms = Terms(vec![rule(2, "data"), rule(1, "law")]);
        let asked = ask(&terms, &file, 0, now(), &[], &mut Turns::default());
        assert_eq!(names(&asked), ["ana", "ben"]);
        let all = able(&terms, &file, 0);
        assert_eq!(all.len(), 3);
    }
}
