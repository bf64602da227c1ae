//! What a host offers and says at the moment, signed, for all who carry it and all who may read it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::{Receiver, Sender, channel, error::TrySendError};

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
}

#[derive(Debug)]
struct Posts {
    roles: BTreeSet<Role>,
    offer: Arc<FromHost>,
    state: Option<Arc<FromHost>>,
    personal: BTreeMap<Person, Vec<Arc<FromHost>>>,
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
                id, roles, bytes, ..
            } => inner.offer(id, roles, &bytes),
            Publication::Statement(statement) => inner.state(*statement),
        }
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
            now.extend(posts.personal.get(&person).into_iter().flatten().cloned());
            now.extend(posts.state.clone());
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
    fn signed(&self, bytes: &[u8]) -> Result<Signed, String> {
        Ok(Signed {
            body: String::from_utf8(bytes.to_vec()).map_err(|e| e.to_string())?,
            signature: self.key.sign(bytes)?,
        })
    }

    fn offer(&mut self, id: ProposalId, roles: BTreeSet<Role>, bytes: &[u8]) -> Result<(), String> {
        let line = Arc::new(FromHost::Offer(self.signed(bytes)?));
        // What was said of an earlier version is over.
        let posts = Posts {
            roles: roles.clone(),
            offer: line.clone(),
            state: None,
            personal: BTreeMap::new(),
        };
        self.posts.insert(id, posts);
        self.tell(&line, |reader| may_see(&roles, &reader.roles));
        Ok(())
    }

    fn state(&mut self, mut statement: Statement) -> Result<(), String> {
        let id = statement.proposal;
        self.number += 1;
        statement.number = self.number;
        let line = Arc::new(FromHost::Statement(self.signed(&statement.bytes())?));
        let Some(posts) = self.posts.get_mut(&id) else {
            return Ok(());
        };
        let roles = posts.roles.clone();
        match &statement.to {
            Some(person) => {
                let theirs = posts.personal.entry(person.clone()).or_default();
                theirs.push(line.clone());
                if theirs.len() > PERSONAL_MAX {
                    theirs.remove(0);
                }
            }
            None => posts.state = Some(line.clone()),
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
