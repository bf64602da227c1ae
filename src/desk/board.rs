//! What a host offers and says at the moment, signed, for all who carry it and all who may read it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tokio::sync::mpsc::{Receiver, Sender, channel, error::TrySendError};
use tokio::sync::watch;

use crate::ballot::Key;
use crate::broker::offer::{Publication, Says, Statement};
use crate::model::{Person, ProposalId, Role, State};

use super::HostKey;
use super::wire::{FromHost, Signed};

/// Offers that ended and are still told of, so that who looks away for a while hears the end.
const ENDED_MAX: usize = 256;
/// What is kept for one person about one offer.
const PERSONAL_MAX: usize = 8;
/// Lines that wait for one reader. One that falls further behind is cut off, and reads all of it anew.
const BEHIND_MAX: usize = 1024;

/// The board of one host. A clone is the same board.
#[derive(Clone, Debug)]
pub struct Board(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    key: HostKey,
    /// The number of the last statement.
    number: u64,
    posts: BTreeMap<ProposalId, Posts>,
    /// Ended, the oldest first.
    ended: Vec<ProposalId>,
    readers: Vec<Reader>,
    /// How often something was put here.
    changed: watch::Sender<u64>,
    /// Whether this host's log is not the one that was signed.
    is_doubted: bool,
}

#[derive(Debug)]
struct Posts {
    version: u32,
    deadline: Timestamp,
    roles: BTreeSet<Role>,
    offer: Arc<FromHost>,
    state: Option<Told>,
    /// That others are asked too.
    escalated: Option<Told>,
    /// Who may vote since the files of that changed.
    may_vote: Option<Told>,
    has_ended: bool,
    personal: BTreeMap<Person, Vec<Told>>,
}

/// A statement and its number.
#[derive(Clone, Debug)]
struct Told {
    number: u64,
    line: Arc<FromHost>,
}

/// What a carrier who reads for all takes along: the newest version of an offer, and what stands of it.
#[derive(Clone, Debug)]
pub struct Letters {
    pub proposal: ProposalId,
    pub version: u32,
    pub deadline: Timestamp,
    pub roles: BTreeSet<Role>,
    pub offer: Arc<FromHost>,
    /// Whether nothing can be decided any more.
    pub has_ended: bool,
    pub said: Vec<Letter>,
}

/// A statement on its way.
#[derive(Clone, Debug)]
pub struct Letter {
    pub number: u64,
    pub to: Option<Person>,
    pub line: Arc<FromHost>,
}

#[derive(Debug)]
struct Reader {
    person: Person,
    roles: BTreeSet<Role>,
    lines: Sender<Arc<FromHost>>,
}

/// What one person may read: what there is, then what comes. It ends when its reader fell too far behind.
#[derive(Debug)]
pub struct Reading {
    pub now: Vec<Arc<FromHost>>,
    pub next: Receiver<Arc<FromHost>>,
}

impl Board {
    pub fn new(key: HostKey) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            key,
            number: 0,
            posts: BTreeMap::new(),
            ended: Vec::new(),
            readers: Vec::new(),
            changed: watch::Sender::new(0),
            is_doubted: false,
        })))
    }

    /// Signs a publication and hands it to everybody who may read it.
    ///
    /// # Errors
    /// A description, if it could not be signed.
    pub fn publish(&self, publication: Publication) -> Result<(), String> {
        let mut inner = self.inner();
        match publication {
            Publication::Offer {
                id,
                version,
                deadline,
                roles,
                bytes,
            } => inner.offer(id, (version, deadline), roles, &bytes)?,
            Publication::Statement(statement) => inner.state(*statement)?,
        }
        inner.changed.send_modify(|n| *n += 1);
        Ok(())
    }

    /// Tells when something was put here.
    pub fn changed(&self) -> watch::Receiver<u64> {
        self.inner().changed.subscribe()
    }

    /// The log of this host is not the one that was signed, which does not pass. Whoever carries evidence tells others.
    pub fn doubt(&self) {
        self.inner().is_doubted = true;
    }

    pub fn is_doubted(&self) -> bool {
        self.inner().is_doubted
    }

    /// Everything that stands here, for a carrier who keeps people apart by other means.
    pub fn letters(&self) -> Vec<Letters> {
        let inner = self.inner();
        let all = inner.posts.iter().map(|(id, posts)| {
            let letter = |to: Option<&Person>, told: &Told| Letter {
                number: told.number,
                to: to.cloned(),
                line: told.line.clone(),
            };
            let personal = posts.personal.iter();
            let personal =
                personal.flat_map(|(to, told)| told.iter().map(|told| letter(Some(to), told)));
            let mut said: Vec<Letter> = personal.collect();
            let for_all = posts.escalated.iter().chain(&posts.may_vote);
            let for_all = for_all.chain(&posts.state);
            said.extend(for_all.map(|told| letter(None, told)));
            said.sort_by_key(|letter| letter.number);
            Letters {
                proposal: *id,
                version: posts.version,
                deadline: posts.deadline,
                roles: posts.roles.clone(),
                offer: posts.offer.clone(),
                has_ended: posts.has_ended,
                said,
            }
        });
        all.collect()
    }

    /// Signs a statement on what an earlier start of this host offered, which is not on this board.
    ///
    /// # Errors
    /// A description, if it could not be signed.
    pub fn word(&self, mut statement: Statement) -> Result<(u64, Signed), String> {
        self.numbered(statement.at, |number| {
            statement.number = number;
            statement.bytes()
        })
    }

    /// Signs what has a number of the host's, and stands on no board.
    ///
    /// # Errors
    /// A description, if it could not be signed.
    pub fn numbered(
        &self,
        at: Timestamp,
        bytes: impl FnOnce(u64) -> Vec<u8>,
    ) -> Result<(u64, Signed), String> {
        let mut inner = self.inner();
        inner.count(at)?;
        let signed = inner.signed(&bytes(inner.number))?;
        Ok((inner.number, signed))
    }

    /// Signs what this host says of its log or of others'.
    ///
    /// # Errors
    /// A description, if it could not be signed.
    pub fn sign(&self, bytes: &[u8]) -> Result<String, String> {
        self.inner().key.sign(bytes)
    }

    /// The key that checks what this host signs.
    pub fn key(&self) -> Key {
        self.inner().key.public().clone()
    }

    /// Hints to all others that this person reads a proposal.
    pub fn claim(&self, proposal: ProposalId, by: &Person) {
        let mut inner = self.inner();
        let Some(posts) = inner.posts.get(&proposal) else {
            return;
        };
        let roles = posts.roles.clone();
        let line = Arc::new(FromHost::Claim {
            proposal,
            by: by.clone(),
        });
        inner.tell(&line, |reader| {
            reader.person != *by && may_see(&roles, &reader.roles)
        });
    }

    /// Everything that this person may read.
    pub fn read(&self, person: Person, roles: BTreeSet<Role>) -> Reading {
        let mut inner = self.inner();
        let mut now = Vec::new();
        for posts in inner.posts.values() {
            if !may_see(&posts.roles, &roles) {
                continue;
            }
            now.push(posts.offer.clone());
            let personal = posts.personal.get(&person).into_iter().flatten();
            let mut said: Vec<&Told> = personal
                .chain(&posts.escalated)
                .chain(&posts.may_vote)
                .chain(&posts.state)
                .collect();
            said.sort_by_key(|told| told.number);
            now.extend(said.iter().map(|told| told.line.clone()));
        }
        let (lines, next) = channel(BEHIND_MAX);
        inner.readers.push(Reader {
            person,
            roles,
            lines,
        });
        Reading { now, next }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether somebody with these roles may see an offer for those: everybody may if it names none.
fn may_see(offer: &BTreeSet<Role>, reader: &BTreeSet<Role>) -> bool {
    offer.is_empty() || !offer.is_disjoint(reader)
}

impl Inner {
    /// Draws the number of the next statement: the time and some chance, so that numbers grow, also over a new start, and a gap
    /// tells nobody that something was said to somebody else.
    fn count(&mut self, at: Timestamp) -> Result<(), String> {
        const CHANCE: u64 = 1 << 20;
        let mut drawn = [0; 4];
        getrandom::fill(&mut drawn).map_err(|e| e.to_string())?;
        let drawn = u64::from(u32::from_le_bytes(drawn)) % CHANCE;
        let time = u64::try_from(at.as_millisecond()).unwrap_or(0);
        // The clock may have been set back.
        let least = self.number + 1 + drawn;
        self.number = least.max(time * CHANCE + drawn);
        Ok(())
    }

    fn signed(&self, bytes: &[u8]) -> Result<Signed, String> {
        Ok(Signed {
            body: String::from_utf8(bytes.to_vec()).map_err(|e| e.to_string())?,
            signature: self.key.sign(bytes)?,
        })
    }

    fn offer(
        &mut self,
        id: ProposalId,
        (version, deadline): (u32, Timestamp),
        roles: BTreeSet<Role>,
        bytes: &[u8],
    ) -> Result<(), String> {
        let line = Arc::new(FromHost::Offer(self.signed(bytes)?));
        // What was said of an earlier version is over.
        let posts = Posts {
            version,
            deadline,
            has_ended: false,
            roles: roles.clone(),
            offer: line.clone(),
            state: None,
            escalated: None,
            may_vote: None,
            personal: BTreeMap::new(),
        };
        self.posts.insert(id, posts);
        self.tell(&line, |reader| may_see(&roles, &reader.roles));
        Ok(())
    }

    fn state(&mut self, mut statement: Statement) -> Result<(), String> {
        let id = statement.proposal;
        self.count(statement.at)?;
        statement.number = self.number;
        let line = Arc::new(FromHost::Statement(self.signed(&statement.bytes())?));
        let Some(posts) = self.posts.get_mut(&id) else {
            return Ok(());
        };
        let roles = posts.roles.clone();
        let told = Told {
            number: self.number,
            line: line.clone(),
        };
        match &statement.to {
            Some(person) => {
                let theirs = posts.personal.entry(person.clone()).or_default();
                theirs.push(told);
                if theirs.len() > PERSONAL_MAX {
                    theirs.remove(0);
                }
            }
            None if matches!(statement.says, Says::Escalated { .. }) => {
                posts.escalated = Some(told);
            }
            None if matches!(statement.says, Says::MayVote(_)) => posts.may_vote = Some(told),
            None => posts.state = Some(told),
        }
        let to = statement.to.clone();
        self.tell(&line, |reader| {
            may_see(&roles, &reader.roles) && to.as_ref().is_none_or(|to| *to == reader.person)
        });
        if let Says::State { state, .. } = statement.says {
            self.ends(id, state);
        }
        Ok(())
    }

    fn ends(&mut self, id: ProposalId, state: State) {
        if !state.is_final() || self.ended.contains(&id) {
            return;
        }
        if let Some(posts) = self.posts.get_mut(&id) {
            posts.has_ended = true;
        }
        self.ended.push(id);
        if self.ended.len() > ENDED_MAX {
            let oldest = self.ended.remove(0);
            self.posts.remove(&oldest);
        }
    }

    /// Hands a line to the readers that may have it. Nobody waits for a slow one.
    fn tell(&mut self, line: &Arc<FromHost>, may: impl Fn(&Reader) -> bool) {
        self.readers.retain(|reader| {
            if !may(reader) {
                return !reader.lines.is_closed();
            }
            match reader.lines.try_send(line.clone()) {
                Ok(()) => true,
                Err(TrySendError::Full(_) | TrySendError::Closed(_)) => false,
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// They grow, also when the clock is set back and over a new start; a gap has no meaning.
    #[test]
    fn numbers_grow_and_tell_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let start = || Board::new(HostKey::open_or_make(dir.path()).unwrap());
        let at = |ms: i64| Timestamp::from_millisecond(1_800_000_000_000 + ms).unwrap();
        let mut numbers = Vec::new();
        for (board, times) in [(start(), [0, 0, 5, 3]), (start(), [60, 60, 70, 90])] {
            let mut inner = board.inner();
            for ms in times {
                inner.count(at(ms)).unwrap();
                numbers.push(inner.number);
            }
        }
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        let steps: BTreeSet<u64> = numbers.windows(2).map(|two| two[1] - two[0]).collect();
        assert!(steps.len() > 1 && !steps.contains(&1), "{numbers:?}");
        assert!(numbers.iter().all(|n| i64::try_from(*n).is_ok()));
    }
}
