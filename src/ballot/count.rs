//! What checked votes come to under the terms of a proposal.
//!
//! Every rule has to be met. People are counted, never votes or keys, and the order of votes means nothing: any denial or
//! veto of somebody who may end it ends it, whoever granted before or after.
//!
//! A rule that the people there are cannot meet is impossible, and is said to be. Who is absent, and whose keys are not
//! valid today, still counts among those people: nobody's absence lowers what is asked for.

use std::collections::BTreeSet;
use std::fmt;

use crate::model::{Peer, Person, Quorum, Readers, Role, Rule, Terms, VoteKind};

use super::electorate::{Account, Electorate};
use super::signature::{Checked, SecurityKey};

/// What the votes come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// More people have to grant.
    Open { missing: Vec<Missing> },
    /// Enough people granted. The indices are of all grants that count for some rule.
    Met { grants: Vec<usize> },
    /// Somebody denied or vetoed it.
    Ended {
        by: Person,
        kind: VoteKind,
        reason: Option<String>,
    },
    /// No votes could meet the terms.
    Impossible(String),
}

/// What one rule still needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Which of the terms, counted from 0.
    pub rule: usize,
    /// How many more people.
    pub more: usize,
    /// Whose grants would count: everybody who could still give one.
    pub people: Vec<Person>,
    words: String,
}

impl Missing {
    /// What a host says is missing, in its words.
    pub fn told(words: String) -> Self {
        Self {
            rule: 0,
            more: 1,
            people: Vec::new(),
            words,
        }
    }
}

impl fmt::Display for Missing {
    /// `1 more of data, with a touched security key`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.words)
    }
}

/// Why somebody's vote would not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    #[error("no rule asks for votes")]
    NoRules,
    #[error("`{0}` is not in people.toml")]
    Unknown(Person),
    #[error("`{person}` has none of the roles that are asked: {roles}")]
    Role { person: Person, roles: String },
    #[error("`{0}`'s own agent asks, and somebody else has to grant it")]
    OwnAgent(Person),
    #[error("`{0}` has no role that may see it ([desk.routes])")]
    MayNotSee(Person),
    #[error("{0} asks, which is neither a person's nor among [agents] of people.toml")]
    UnknownAsker(String),
    #[error("`{0}` has no key that is not revoked in allowed_signers")]
    NoKey(Person),
    #[error("a grant needs a security key{need}, and `{person}` has none in allowed_signers")]
    SecurityKey { person: Person, need: &'static str },
}

/// Who asks, and who may see it: nobody else's grant counts.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    pub asker: Account<'a>,
    pub readers: &'a Readers,
}

/// What everybody may see.
impl<'a> From<Account<'a>> for Question<'a> {
    fn from(asker: Account<'a>) -> Self {
        Self {
            asker,
            readers: &Readers::EVERYBODY,
        }
    }
}

impl From<u32> for Question<'_> {
    fn from(uid: u32) -> Self {
        Account::from(uid).into()
    }
}

impl<'a> From<&'a Peer> for Question<'a> {
    fn from(peer: &'a Peer) -> Self {
        Account::from(peer).into()
    }
}

/// The same for one electorate.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub asker: Asker<'a>,
    pub readers: &'a Readers,
}

impl<'a> Side<'a> {
    pub fn of(electorate: &'a Electorate, question: Question<'a>) -> Self {
        Self {
            asker: Asker::of(electorate, question.asker),
            readers: question.readers,
        }
    }
}

/// Who asks, as far as it is known.
#[derive(Clone, Copy)]
pub(super) enum Asker<'a> {
    Person(&'a Person),
    Service,
    Unknown(Account<'a>),
}

impl<'a> Asker<'a> {
    fn of(electorate: &'a Electorate, account: Account<'a>) -> Self {
        match electorate.person_of(account) {
            Some(person) => Self::Person(person),
            None if electorate.is_service(account) => Self::Service,
            None => Self::Unknown(account),
        }
    }

    fn is(self, person: &Person) -> bool {
        matches!(self, Self::Person(asker) if asker == person)
    }
}

/// What the votes come to. All must have been checked against ballots of one proposal; grants that name other terms do not
/// count.
pub fn standing<'a>(
    terms: &Terms,
    electorate: &'a Electorate,
    question: impl Into<Question<'a>>,
    votes: &[Checked],
) -> Standing {
    if let Some(vote) = ending(terms, electorate, votes) {
        return Standing::Ended {
            by: vote.voter().clone(),
            kind: vote.kind(),
            reason: vote.reason().map(str::to_owned),
        };
    }
    if terms.is_empty() {
        return Standing::Impossible(Why::NoRules.to_string());
    }
    let side = Side::of(electorate, question.into());
    let digest = terms.digest();
    let is_for_these = |vote: &Checked| vote.kind() == VoteKind::Grant && vote.terms() == digest;
    let mut missing = Vec::new();
    let mut grants = BTreeSet::new();
    for (index, rule) in terms.0.iter().enumerate() {
        let asked = match Asked::of(rule, electorate, side) {
            Ok(asked) => asked,
            Err(why) => return Standing::Impossible(why),
        };
        let mut granted = BTreeSet::new();
        for (at, vote) in votes.iter().enumerate() {
            let counts = is_for_these(vote)
                && asked.people.contains(vote.voter())
                && satisfies(rule, vote.security_key());
            if counts {
                granted.insert(vote.voter());
                grants.insert(at);
            }
        }
        if granted.len() < asked.needed {
            missing.push(asked.missing(index, rule, &granted));
        }
    }
    match missing.is_empty() {
        true => Standing::Met {
            grants: grants.into_iter().collect(),
        },
        false => Standing::Open { missing },
    }
}

/// Why no votes could meet the terms, as people and keys are.
pub fn hopeless<'a>(
    terms: &Terms,
    electorate: &'a Electorate,
    question: impl Into<Question<'a>>,
) -> Option<String> {
    match standing(terms, electorate, question, &[]) {
        Standing::Impossible(why) => Some(why),
        Standing::Open { .. } | Standing::Met { .. } | Standing::Ended { .. } => None,
    }
}

/// Whether a vote of this kind of this person would count. For a grant: for at least one rule.
pub fn may_vote<'a>(
    terms: &Terms,
    electorate: &'a Electorate,
    question: impl Into<Question<'a>>,
    person: &Person,
    kind: VoteKind,
) -> Result<(), Why> {
    if terms.is_empty() {
        return Err(Why::NoRules);
    }
    if !electorate.knows(person) {
        return Err(Why::Unknown(person.clone()));
    }
    if electorate.keys(person).next().is_none() {
        return Err(Why::NoKey(person.clone()));
    }
    if kind != VoteKind::Grant {
        return match may_end(terms, electorate, person) {
            true => Ok(()),
            false => Err(no_role(terms, person, true)),
        };
    }
    let side = Side::of(electorate, question.into());
    let mut why = no_role(terms, person, false);
    for rule in &terms.0 {
        match may_grant(rule, electorate, side, person) {
            Ok(()) => return Ok(()),
            Err(Why::Role { .. }) => {}
            Err(other) => why = other,
        }
    }
    Err(why)
}

/// Whether this person's grant could count for this rule.
pub(super) fn may_grant(
    rule: &Rule,
    electorate: &Electorate,
    Side { asker, readers }: Side<'_>,
    person: &Person,
) -> Result<(), Why> {
    if !has_role(electorate, person, &rule.roles) {
        return Err(Why::Role {
            person: person.clone(),
            roles: words(&rule.roles),
        });
    }
    if excludes_asker(rule) {
        if let Asker::Unknown(account) = asker {
            return Err(Why::UnknownAsker(account.to_string()));
        }
        if asker.is(person) {
            return Err(Why::OwnAgent(person.clone()));
        }
    }
    if !readers.has(electorate.roles(person)) {
        return Err(Why::MayNotSee(person.clone()));
    }
    let mut keys = electorate.keys(person).peekable();
    if keys.peek().is_none() {
        return Err(Why::NoKey(person.clone()));
    }
    match !needs_security_key(rule) || keys.any(|signer| signer.key.is_security_key()) {
        true => Ok(()),
        false => Err(Why::SecurityKey {
            person: person.clone(),
            need: need(rule),
        }),
    }
}

/// What one rule asks of whom.
pub(super) struct Asked<'a> {
    /// Everybody whose grant could count.
    pub people: BTreeSet<&'a Person>,
    pub needed: usize,
}

impl<'a> Asked<'a> {
    /// # Errors
    /// Why no votes could meet the rule.
    pub(super) fn of(
        rule: &Rule,
        electorate: &'a Electorate,
        side: Side<'_>,
    ) -> Result<Self, String> {
        let Side { asker, readers } = side;
        if let (true, Asker::Unknown(account)) = (excludes_asker(rule), asker) {
            return Err(format!(
                "{}; an administrator adds it there",
                Why::UnknownAsker(account.to_string())
            ));
        }
        let able = |person: &&Person| may_grant(rule, electorate, side, person).is_ok();
        let people: BTreeSet<&Person> = electorate.people().filter(able).collect();
        let needed = match rule.quorum {
            Quorum::People(n) => usize::from(n).max(1),
            Quorum::All(_) => {
                // The asker is no part of them; everybody else is, able or not.
                let mut all = electorate.people().filter(|person| {
                    has_role(electorate, person, &rule.roles) && !asker.is(person)
                });
                let unable = all.find_map(|p| may_grant(rule, electorate, side, p).err());
                if let Some(why) = unable {
                    return Err(format!("everybody{} has to grant: {why}", of(&rule.roles)));
                }
                people.len().max(1)
            }
        };
        if people.len() >= needed {
            return Ok(Self { people, needed });
        }
        let besides = match asker {
            Asker::Person(_) if excludes_asker(rule) => " besides the person whose agent asks",
            _ => "",
        };
        let seeing = match readers.roles() {
            None => String::new(),
            Some(roles) if roles.is_empty() => " who may see it, which no role may".to_owned(),
            Some(roles) => format!(" who may see it, which takes {}", words(roles)),
        };
        Err(format!(
            "{needed} {}{} {} to grant{}, and there {} {}{besides}{seeing}",
            if needed == 1 { "person" } else { "people" },
            of(&rule.roles),
            if needed == 1 { "has" } else { "have" },
            with(rule),
            if people.len() == 1 { "is" } else { "are" },
            people.len(),
        ))
    }

    fn missing(&self, index: usize, rule: &Rule, granted: &BTreeSet<&Person>) -> Missing {
        let more = self.needed.saturating_sub(granted.len());
        let whom = match (rule.roles.is_empty(), more) {
            (false, _) => of(&rule.roles),
            (true, 1) => " person".to_owned(),
            (true, _) => " people".to_owned(),
        };
        let all = match rule.quorum {
            Quorum::All(_) => ", which is everybody",
            Quorum::People(_) => "",
        };
        Missing {
            rule: index,
            more,
            people: self
                .people
                .iter()
                .filter(|person| !granted.contains(*person))
                .map(|person| (*person).clone())
                .collect(),
            words: format!("{more} more{whom}{all}{}", with(rule)),
        }
    }
}

/// The vote that ends it. Of several it is always the same one, whatever their order.
fn ending<'v>(terms: &Terms, electorate: &Electorate, votes: &'v [Checked]) -> Option<&'v Checked> {
    votes
        .iter()
        .filter(|vote| vote.kind() != VoteKind::Grant)
        .filter(|vote| may_end(terms, electorate, vote.voter()))
        .max_by(|a, b| {
            let order = a.kind().cmp(&b.kind());
            order
                .then_with(|| b.voter().cmp(a.voter()))
                .then_with(|| b.reason().cmp(&a.reason()))
        })
}

/// Whether a person's denial or veto counts: those whose grants a rule asks for, and those with a role that vetoes. Also
/// the asker's own: to end one's own request takes no second person.
fn may_end(terms: &Terms, electorate: &Electorate, person: &Person) -> bool {
    electorate.knows(person)
        && terms.0.iter().any(|rule| {
            let vetoes = !electorate.roles(person).is_disjoint(&rule.veto);
            vetoes || has_role(electorate, person, &rule.roles)
        })
}

fn has_role(electorate: &Electorate, person: &Person, roles: &BTreeSet<Role>) -> bool {
    roles.is_empty() || !electorate.roles(person).is_disjoint(roles)
}

/// Several people are never the asker and somebody else.
pub(super) fn excludes_asker(rule: &Rule) -> bool {
    rule.not_self || !matches!(rule.quorum, Quorum::People(0 | 1))
}

fn needs_security_key(rule: &Rule) -> bool {
    rule.touch || rule.pin
}

fn satisfies(rule: &Rule, key: Option<SecurityKey>) -> bool {
    let is = |flag: fn(&SecurityKey) -> bool| key.as_ref().is_some_and(flag);
    (!rule.touch || is(|key| key.touched)) && (!rule.pin || is(|key| key.verified))
}

fn no_role(terms: &Terms, person: &Person, veto: bool) -> Why {
    let mut roles: BTreeSet<Role> = BTreeSet::new();
    for rule in &terms.0 {
        roles.extend(rule.roles.iter().cloned());
        if veto {
            roles.extend(rule.veto.iter().cloned());
        }
    }
    Why::Role {
        person: person.clone(),
        roles: words(&roles),
    }
}

/// ` of data or security`, or nothing for everybody.
fn of(roles: &BTreeSet<Role>) -> String {
    match roles.is_empty() {
        true => String::new(),
        false => format!(" of {}", words(roles)),
    }
}

pub(super) fn words(roles: &BTreeSet<Role>) -> String {
    let names: Vec<&str> = roles.iter().map(Role::as_str).collect();
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

pub(super) fn with(rule: &Rule) -> &'static str {
    match (rule.touch, rule.pin) {
        (false, false) => "",
        (true, false) => ", with a touched security key",
        (false, true) => ", with a security key and its PIN",
        (true, true) => ", with a touched security key and its PIN",
    }
}

fn need(rule: &Rule) -> &'static str {
    match (rule.touch, rule.pin) {
        (true, false) => " that is touched",
        (false, true) => " with its PIN",
        (true, true) => " that is touched, with its PIN",
        (false, false) => "",
    }
}
