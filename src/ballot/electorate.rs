//! The three files together: who there is, whose keys are whose, and which are revoked.

use std::collections::BTreeSet;
use std::fmt;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::model::{Digest, Peer, Person, Role};

use super::error::{BallotError, VotingFile};
use super::people::People;
use super::revoked::Revoked;
use super::signers::{Signer, Signers};

/// SHA-256 of the bytes of each file, for the record of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileDigests {
    pub signers: Digest,
    pub people: Digest,
    pub revoked: Digest,
}

/// Everybody who may vote, at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Electorate {
    signers: Signers,
    people: People,
    revoked: Revoked,
    digests: FileDigests,
}

/// By what an agent is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account<'a> {
    Uid(u32),
    /// Of a gateway, at the engine.
    Login(&'a str),
}

impl From<u32> for Account<'_> {
    fn from(uid: u32) -> Self {
        Self::Uid(uid)
    }
}

impl<'a> From<&'a Peer> for Account<'a> {
    fn from(peer: &'a Peer) -> Self {
        match &peer.gateway {
            Some(login) => Self::Login(login),
            None => Self::Uid(peer.uid),
        }
    }
}

impl fmt::Display for Account<'_> {
    /// `uid 1000`, or `gateway gate_x`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uid(uid) => write!(f, "uid {uid}"),
            Self::Login(login) => write!(f, "gateway {login}"),
        }
    }
}

static NO_ROLES: BTreeSet<Role> = BTreeSet::new();

impl Electorate {
    /// Reads the three files' bytes.
    ///
    /// # Errors
    /// The first thing that is wrong in one of them, or between them.
    pub fn read(signers: &[u8], people: &[u8], revoked: &[u8]) -> Result<Self, BallotError> {
        let digests = FileDigests {
            signers: Digest::of(signers),
            people: Digest::of(people),
            revoked: Digest::of(revoked),
        };
        let (signers, people, revoked) = (
            Signers::read(signers)?,
            People::read(people)?,
            Revoked::read(revoked)?,
        );
        for signer in signers.iter() {
            let person = &signer.person;
            if people.get(person).is_none() {
                let names = people.iter().map(|(person, _)| person.as_str());
                let hint = crate::model::did_you_mean(person.as_str(), names);
                return Err(BallotError::at(
                    VotingFile::Signers,
                    signer.line,
                    format!(
                        "`{person}` is not in people.toml{hint}; add [people.\"{person}\"] there, or remove the line"
                    ),
                ));
            }
        }
        Ok(Self {
            signers,
            people,
            revoked,
            digests,
        })
    }

    pub fn digests(&self) -> &FileDigests {
        &self.digests
    }

    /// Everybody, in the order of their names.
    pub fn people(&self) -> impl Iterator<Item = &Person> {
        self.people.iter().map(|(person, _)| person)
    }

    pub fn knows(&self, person: &Person) -> bool {
        self.people.get(person).is_some()
    }

    /// Whose terminals and agents have this uid.
    pub fn person_of_uid(&self, uid: u32) -> Option<&Person> {
        self.people.of_uid(uid)
    }

    /// Whose account this is.
    pub fn person_of(&self, account: Account<'_>) -> Option<&Person> {
        match account {
            Account::Uid(uid) => self.person_of_uid(uid),
            Account::Login(login) => self.person_of_login(login),
        }
    }

    /// Whether it is an account of agents that belong to no person.
    pub fn is_service(&self, account: Account<'_>) -> bool {
        match account {
            Account::Uid(uid) => self.is_service_uid(uid),
            Account::Login(login) => self.people.is_service_login(login),
        }
    }

    /// Whose role of the engine this is.
    pub fn person_of_login(&self, login: &str) -> Option<&Person> {
        self.people.of_login(login)
    }

    /// Whether it is the uid of agents that belong to no person.
    pub fn is_service_uid(&self, uid: u32) -> bool {
        self.people.is_service(uid)
    }

    pub fn roles(&self, person: &Person) -> &BTreeSet<Role> {
        self.people
            .get(person)
            .map_or(&NO_ROLES, |member| &member.roles)
    }

    /// Their roles of the engine.
    pub fn logins(&self, person: &Person) -> impl Iterator<Item = &String> {
        let member = self.people.get(person);
        member.into_iter().flat_map(|member| &member.logins)
    }

    /// Whose terminals and agents are theirs.
    pub fn uids(&self, person: &Person) -> impl Iterator<Item = &u32> {
        let member = self.people.get(person);
        member.into_iter().flat_map(|member| &member.uids)
    }

    /// Whether they are out of office. Whom to ask depends on it, never how many have to grant.
    pub fn is_absent(&self, person: &Person, now: Timestamp) -> bool {
        let member = self.people.get(person);
        member.is_some_and(|member| has_day(&member.absent, now))
    }

    /// Whether they are asked before others.
    pub fn is_on_call(&self, person: &Person, now: Timestamp) -> bool {
        let member = self.people.get(person);
        member.is_some_and(|member| has_day(&member.on_call, now))
    }

    /// Their keys that are not revoked, whenever they are valid.
    pub fn keys<'a>(&'a self, person: &'a Person) -> impl Iterator<Item = &'a Signer> {
        let live = |signer: &&Signer| !self.revoked.has(&signer.key);
        self.signers.of(person).filter(live)
    }

    /// Whether a key begins or ends after the first and up to the second moment.
    pub fn has_change_within(&self, after: Timestamp, upto: Timestamp) -> bool {
        let mut times = self
            .signers
            .iter()
            .flat_map(|signer| [signer.valid_after, signer.valid_before])
            .flatten();
        times.any(|at| after < at && at <= upto)
    }

    /// How many people have a key that is not revoked.
    pub fn voters(&self) -> usize {
        let people = self.people();
        people
            .filter(|person| self.keys(person).next().is_some())
            .count()
    }

    pub(super) fn signers(&self) -> &Signers {
        &self.signers
    }

    pub(super) fn revoked(&self) -> &Revoked {
        &self.revoked
    }
}

/// Whether this day, in UTC, is one of them.
fn has_day(days: &[(Date, Date)], now: Timestamp) -> bool {
    let today = now.to_zoned(TimeZone::UTC).date();
    let mut days = days.iter();
    days.any(|(first, last)| (*first..=*last).contains(&today))
}
