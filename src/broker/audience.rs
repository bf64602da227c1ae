//! Who is told of a proposal: the connections it belongs to, and their calls that wait.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::model::{CallId, ConnId};

/// A call of `wait`, with the boot time at which it runs out.
pub(super) type Waiter = (ConnId, CallId, Option<Duration>);

#[derive(Debug, Default)]
pub(super) struct Audience {
    /// The connections it belongs to.
    pub owners: BTreeSet<ConnId>,
    /// Owners that asked for `stream`.
    pub streams: BTreeSet<ConnId>,
    /// Calls of `propose` that wait for the verdict.
    pub proposers: Vec<(ConnId, CallId)>,
    pub waiters: Vec<Waiter>,
    /// Calls of `withdraw` that wait for the record.
    pub withdrawers: Vec<(ConnId, CallId)>,
}

impl Audience {
    /// An owner, who may ask to be sent what happens.
    pub fn join(&mut self, conn: ConnId, stream: bool) {
        self.owners.insert(conn);
        if stream {
            self.streams.insert(conn);
        }
    }

    /// A connection is gone. Returns its calls of `wait`, whose timers go too.
    pub fn leave(&mut self, conn: ConnId) -> Vec<Waiter> {
        self.owners.remove(&conn);
        self.streams.remove(&conn);
        self.proposers.retain(|(c, _)| *c != conn);
        self.withdrawers.retain(|(c, _)| *c != conn);
        let waits = std::mem::take(&mut self.waiters);
        let (gone, stay) = waits.into_iter().partition(|(c, ..)| *c == conn);
        self.waiters = stay;
        gone
    }

    /// Every call that waits for something about it.
    pub fn calls(&self) -> impl Iterator<Item = (ConnId, CallId)> {
        let waits = self.waiters.iter().map(|(conn, call, _)| (*conn, *call));
        let others = self.proposers.iter().chain(&self.withdrawers).copied();
        others.chain(waits)
    }

    /// How many of them are this connection's.
    pub fn calls_of(&self, conn: ConnId) -> usize {
        self.calls().filter(|(c, _)| *c == conn).count()
    }
}
