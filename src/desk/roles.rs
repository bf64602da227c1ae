//! Roles stand in people.toml of each host, where votes are counted, and at the engine, which shows offers by them. Who has a role in
//! one place only is asked about what they cannot see, or sees what they are not asked about.

use std::collections::BTreeSet;

use crate::ballot::people::People;
use crate::model::{Person, Role};

use super::engine::{Duty, Member};

/// Where people.toml and the engine differ about one person, in a sentence.
pub fn of_person(people: &People, person: &Person, theirs: &BTreeSet<Role>) -> Option<String> {
    let Some(here) = people.get(person) else {
        return Some(format!(
            "{person} has a login of the engine to vote with, and people.toml does not know them: their votes do not count"
        ));
    };
    let names = |roles: &BTreeSet<Role>| {
        let names: Vec<&str> = roles.iter().map(Role::as_str).collect();
        match names.is_empty() {
            true => "none".to_owned(),
            false => names.join(", "),
        }
    };
    (here.roles != *theirs).then(|| {
        format!(
            "roles of {person}: {} in people.toml, {} at the engine; offers are shown by the engine's, and votes count by people.toml",
            names(&here.roles),
            names(theirs)
        )
    })
}

/// Every difference between people.toml and the members of the desk, each in a sentence.
pub fn differences(people: &People, members: &[Member]) -> Vec<String> {
    let mut all = BTreeSet::new();
    let mut voters = BTreeSet::new();
    for Member { login, duty } in members {
        let login = login.as_str();
        match duty {
            Duty::Reviewer(person, theirs) => {
                voters.insert(person);
                all.extend(of_person(people, person, theirs));
                let known = people.of_login(login);
                if people.get(person).is_some() && known != Some(person) {
                    all.insert(format!(
                        "{login} votes as {person}, and people.toml does not list it in their `logins`: votes by it do not count"
                    ));
                }
            }
            Duty::Gateway
                if !people.is_service_login(login) && people.of_login(login).is_none() =>
            {
                all.insert(format!(
                    "{login} asks for agents, and people.toml lists it neither in a person's `logins` nor in those of [agents]: nobody's grant \
                     counts on what it asks where a rule has `not_self`"
                ));
            }
            Duty::Gateway => {}
            Duty::Host(_) | Duty::Auditor => {
                if let Some(person) = people.of_login(login) {
                    all.insert(format!(
                        "people.toml lists {login} in the `logins` of {person}, and it is a login of {}: nobody votes by it",
                        duty.whose()
                    ));
                }
            }
        }
        if people.is_service_login(login) && *duty != Duty::Gateway {
            all.insert(format!(
                "people.toml lists {login} in the `logins` of [agents], and it is a login of {}: no agent asks by it",
                duty.whose()
            ));
        }
    }
    let is_known = |login: &String| members.iter().any(|m| m.login.as_str() == login);
    for login in people.service_logins().filter(|login| !is_known(login)) {
        all.insert(format!(
            "people.toml lists the login {login} for [agents], and it is no member of the desk"
        ));
    }
    for (person, member) in people.iter() {
        for login in member.logins.iter().filter(|login| !is_known(login)) {
            all.insert(format!(
                "people.toml lists the login {login} for {person}, and it is no member of the desk"
            ));
        }
        if !member.roles.is_empty() && !voters.contains(person) {
            all.insert(format!(
                "{person} has roles in people.toml, and no login of the engine votes as them"
            ));
        }
    }
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(all: &[(&str, &str, &[&str])]) -> Vec<Member> {
        let member = |(login, person, roles): &(&str, &str, &[&str])| Member {
            login: login.parse().unwrap(),
            duty: Duty::Reviewer(
                Person::new(person).unwrap(),
                roles.iter().map(|role| role.parse().unwrap()).collect(),
            ),
        };
        all.iter().map(member).collect()
    }

    #[test]
    fn each_difference_between_people_and_members_is_one_sentence() {
        let text = "[people.ana]\nroles = [\"data\", \"law\"]\nlogins = [\"rev_ana\"]\n[people.ben]\nlogins = [\"gate_ben\"]\n";
        let people = People::read(text.as_bytes()).unwrap();
        let same = members(&[
            ("rev_ana", "ana", &["law", "data"]),
            ("gate_ben", "ben", &[]),
        ]);
        assert_eq!(differences(&people, &same), Vec::<String>::new());
        type Given<'a> = &'a [(&'a str, &'a str, &'a [&'a str])];
        let rows: [(Given<'_>, &[&str]); 3] = [
            (
                &[("rev_ana", "ana", &["data"]), ("gate_ben", "ben", &[])],
                &["roles of ana: data, law in people.toml, data at the engine"],
            ),
            (
                &[("other", "ana", &["data", "law"]), ("gate_ben", "cyd", &[])],
                &[
                    "cyd has a login of the engine to vote with, and people.toml does not know them",
                    "other votes as ana, and people.toml does not list it",
                    "people.toml lists the login rev_ana for ana, and it is no member",
                ],
            ),
            (
                &[("gate_ben", "ben", &[])],
                &[
                    "ana has roles in people.toml, and no login",
                    "people.toml lists the login rev_ana for ana",
                ],
            ),
        ];
        for (given, wanted) in rows {
            let said = differences(&people, &members(given));
            assert_eq!(said.len(), wanted.len(), "{said:?}");
            for (said, wanted) in said.iter().zip(wanted) {
                assert!(said.starts_with(wanted), "{said}");
            }
        }
    }

    #[test]
    fn logins_of_agents_are_compared_as_those_of_people_are() {
        let text = "[people.ana]\nlogins = [\"rev_ana\"]\n[agents]\nlogins = [\"gate\", \"gone\", \"lab\"]\n";
        let people = People::read(text.as_bytes()).unwrap();
        let member = |(login, duty): (&str, Duty)| Member {
            login: login.parse().unwrap(),
            duty,
        };
        let all = [
            ("gate", Duty::Gateway),
            ("lab", Duty::Host("lab-1".to_owned())),
            ("other", Duty::Gateway),
            ("rev_ana", Duty::Auditor),
        ];
        let said = differences(&people, &all.map(member));
        let wanted = [
            "other asks for agents, and people.toml lists it neither",
            "people.toml lists lab in the `logins` of [agents], and it is a login of a host",
            "people.toml lists rev_ana in the `logins` of ana, and it is a login of an auditor",
            "people.toml lists the login gone for [agents], and it is no member",
        ];
        assert_eq!(said.len(), wanted.len(), "{said:?}");
        for (said, wanted) in said.iter().zip(wanted) {
            assert!(said.starts_with(wanted), "{said}");
        }
    }
}
