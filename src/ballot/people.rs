//! `people.toml`: who is who on this host, and what each person may be asked about.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use jiff::civil::Date;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::model::{Person, Role, did_you_mean};

use super::error::{BallotError, VotingFile};
use super::lines::{short, text};

/// What the file says of one person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    pub roles: BTreeSet<Role>,
    /// Whose terminals and agents are theirs.
    pub uids: BTreeSet<u32>,
    /// Their roles of the engine.
    pub logins: BTreeSet<String>,
    /// First and last day of each absence, in UTC.
    pub absent: Vec<(Date, Date)>,
    /// The same of the days on which they are asked before others.
    pub on_call: Vec<(Date, Date)>,
}

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct People {
    members: BTreeMap<Person, Member>,
    by_uid: HashMap<u32, Person>,
    by_login: HashMap<String, Person>,
    service: BTreeSet<u32>,
    service_logins: BTreeSet<String>,
}

const TOP: [&str; 2] = ["people", "agents"];
const PERSON: [&str; 5] = ["roles", "uids", "logins", "absent", "on_call"];
const AGENTS: [&str; 2] = ["uids", "logins"];

/// The uid that means "none" in system calls.
const NO_UID: u32 = u32::MAX;
/// The longest name of a role of PostgreSQL.
const LOGIN_MAX: usize = 63;

impl People {
    /// # Errors
    /// The first key or value that is not understood, or that makes one account two people's.
    pub fn read(bytes: &[u8]) -> Result<Self, BallotError> {
        let text = text(VotingFile::People, bytes)?;
        let file = File { text };
        let document = DeTable::parse(text).map_err(|e| {
            let span = e.span().unwrap_or(0..0);
            file.says(&span, e.message().trim_end())
        })?;
        let top = document.get_ref();
        file.only(top, "", &TOP)?;
        let mut people = Self::default();
        let mut spellings: HashMap<String, String> = HashMap::new();
        for (name, value) in file.table(top, "people")?.into_iter().flatten() {
            let person =
                Person::new(name.get_ref()).map_err(|e| file.says(&name.span(), e.to_string()))?;
            let spelling = person.as_str().to_ascii_lowercase();
            if let Some(other) = spellings.insert(spelling, person.to_string()) {
                return Err(file.says(
                    &name.span(),
                    format!(
                        "`{other}` and `{person}` differ in case only: one person has one name"
                    ),
                ));
            }
            let DeValue::Table(keys) = value.get_ref() else {
                return Err(file.says(
                    &value.span(),
                    format!("`{person}` is no table; write [people.\"{person}\"]"),
                ));
            };
            let member = people.member(file, &person, keys)?;
            people.members.insert(person, member);
        }
        if let Some(agents) = file.table(top, "agents")? {
            file.only(agents, "agents", &AGENTS)?;
            for (uid, span) in file.uids(agents)? {
                if let Some(person) = people.by_uid.get(&uid) {
                    return Err(file.says(
                        &span,
                        format!(
                            "uid {uid} is `{person}`'s: agents of [agents] belong to no person; remove it in one of \
                             the two places"
                        ),
                    ));
                }
                people.service.insert(uid);
            }
            for (login, span) in file.strings(agents, "logins", "[\"gate_ci\"]")? {
                file.is_login(&login, &span)?;
                if let Some(person) = people.by_login.get(&login) {
                    return Err(file.says(
                        &span,
                        format!(
                            "the login `{login}` is `{person}`'s: agents of [agents] belong to no person; remove it in one of \
                             the two places"
                        ),
                    ));
                }
                if !people.service_logins.insert(login.clone()) {
                    return Err(file.says(&span, format!("the login `{login}` stands here twice")));
                }
            }
        }
        Ok(people)
    }

    fn member(
        &mut self,
        file: File<'_>,
        person: &Person,
        keys: &DeTable<'_>,
    ) -> Result<Member, BallotError> {
        file.only(keys, &format!("people.\"{person}\""), &PERSON)?;
        let mut member = Member::default();
        for (name, span) in file.strings(keys, "roles", "[\"data\"]")? {
            let role = Role::new(&name).map_err(|e| file.says(&span, e.to_string()))?;
            if !member.roles.insert(role) {
                return Err(file.says(&span, format!("the role `{name}` stands here twice")));
            }
        }
        for (uid, span) in file.uids(keys)? {
            if let Some(other) = self.by_uid.insert(uid, person.clone()) {
                return Err(file.says(
                    &span,
                    format!("uid {uid} is `{other}`'s already; each uid is one person's"),
                ));
            }
            member.uids.insert(uid);
        }
        for (login, span) in file.strings(keys, "logins", "[\"ana\"]")? {
            file.is_login(&login, &span)?;
            if let Some(other) = self.by_login.insert(login.clone(), person.clone()) {
                return Err(file.says(
                    &span,
                    format!(
                        "the login `{login}` is `{other}`'s already; each login is one person's"
                    ),
                ));
            }
            member.logins.insert(login);
        }
        for (key, all) in [
            ("absent", &mut member.absent),
            ("on_call", &mut member.on_call),
        ] {
            for (text, span) in file.strings(keys, key, "[\"2026-12-24/2027-01-02\"]")? {
                all.push(days(key, &text).map_err(|why| file.says(&span, why))?);
            }
        }
        Ok(member)
    }

    pub fn get(&self, person: &Person) -> Option<&Member> {
        self.members.get(person)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Person, &Member)> {
        self.members.iter()
    }

    pub fn of_uid(&self, uid: u32) -> Option<&Person> {
        self.by_uid.get(&uid)
    }

    pub fn of_login(&self, login: &str) -> Option<&Person> {
        self.by_login.get(login)
    }

    /// Whether it is an agent's that belongs to no person.
    pub fn is_service(&self, uid: u32) -> bool {
        self.service.contains(&uid)
    }

    /// The logins of the engine that are agents' and belong to no person.
    pub fn service_logins(&self) -> impl Iterator<Item = &String> {
        self.service_logins.iter()
    }

    /// The same of a login of the engine.
    pub fn is_service_login(&self, login: &str) -> bool {
        self.service_logins.contains(login)
    }
}

/// The first and the last day. `key`: what they are for.
fn days(key: &str, text: &str) -> Result<(Date, Date), String> {
    let day = |part: &str| {
        let day: Date = part.parse().ok()?;
        // Other spellings of ISO 8601 are not for people.
        (day.to_string() == part).then_some(day)
    };
    let both = text
        .split_once('/')
        .and_then(|(first, last)| Some((day(first)?, day(last)?)));
    match both {
        Some((first, last)) if first <= last => Ok((first, last)),
        Some(_) => Err(format!(
            "`{text}` ends before it begins; write the first day first"
        )),
        None => Err(format!(
            "`{}` is not what `{key}` holds; write the first and the last day as 2026-12-24/2027-01-02",
            short(text)
        )),
    }
}

/// A value and where it stands.
type At<T> = (T, Range<usize>);

#[derive(Clone, Copy)]
struct File<'a> {
    text: &'a str,
}

impl File<'_> {
    fn says(self, span: &Range<usize>, message: impl Into<String>) -> BallotError {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        BallotError::at(VotingFile::People, line, message)
    }

    fn only(self, table: &DeTable<'_>, name: &str, keys: &[&str]) -> Result<(), BallotError> {
        for key in table.keys() {
            let found = key.get_ref();
            if keys.contains(&&**found) {
                continue;
            }
            let place = match name {
                "" => String::new(),
                name => format!(" in [{name}]"),
            };
            return Err(self.says(
                &key.span(),
                format!(
                    "unknown key `{}`{place}{}; there are {}",
                    short(found),
                    did_you_mean(found, keys.iter().copied()),
                    keys.join(", ")
                ),
            ));
        }
        Ok(())
    }

    fn table<'t, 'd>(
        self,
        table: &'t DeTable<'d>,
        key: &str,
    ) -> Result<Option<&'t DeTable<'d>>, BallotError> {
        match table.get(key).map(|value| (value.get_ref(), value.span())) {
            None => Ok(None),
            Some((DeValue::Table(inner), _)) => Ok(Some(inner)),
            Some((_, span)) => Err(self.says(&span, format!("`{key}` is no table"))),
        }
    }

    fn list<'t, 'd>(
        self,
        table: &'t DeTable<'d>,
        key: &str,
        example: &str,
    ) -> Result<&'t [Spanned<DeValue<'d>>], BallotError> {
        match table.get(key) {
            None => Ok(&[]),
            Some(value) => match value.get_ref() {
                DeValue::Array(list) => Ok(list),
                _ => Err(self.says(
                    &value.span(),
                    format!("`{key}` is no list; write {key} = {example}"),
                )),
            },
        }
    }

    fn strings(
        self,
        table: &DeTable<'_>,
        key: &str,
        example: &str,
    ) -> Result<Vec<At<String>>, BallotError> {
        let mut all = Vec::new();
        for value in self.list(table, key, example)? {
            let DeValue::String(text) = value.get_ref() else {
                return Err(self.says(
                    &value.span(),
                    format!("`{key}` holds texts only; write {key} = {example}"),
                ));
            };
            all.push((text.clone().into_owned(), value.span()));
        }
        Ok(all)
    }

    fn is_login(self, login: &str, span: &Range<usize>) -> Result<(), BallotError> {
        if login.len() <= LOGIN_MAX && Person::new(login).is_ok() {
            return Ok(());
        }
        Err(self.says(
            span,
            format!(
                "`{}` is no login: 1 to {LOGIN_MAX} of A-Z a-z 0-9 . _ @ + -",
                short(login)
            ),
        ))
    }

    fn uids(self, table: &DeTable<'_>) -> Result<Vec<At<u32>>, BallotError> {
        let mut all = Vec::new();
        for value in self.list(table, "uids", "[1000]")? {
            let number = match value.get_ref() {
                DeValue::Integer(n) => u32::from_str_radix(n.as_str(), n.radix()).ok(),
                _ => None,
            };
            let Some(uid) = number.filter(|uid| *uid != NO_UID) else {
                return Err(self.says(
                    &value.span(),
                    format!("`uids` holds numbers from 0 to {}", NO_UID - 1),
                ));
            };
            if all.iter().any(|(other, _)| *other == uid) {
                return Err(self.says(&value.span(), format!("uid {uid} stands here twice")));
            }
            all.push((uid, value.span()));
        }
        Ok(all)
    }
}
