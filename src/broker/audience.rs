//! Who hears about a proposal: the connections that own it and the calls that wait for it.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::model::{CallId, ConnId};

/// A waiting `wait` call, with the boot time at which it times out.
pub(super) type Waiter = (ConnId, CallId, Option<Duration>);

#[derive(Debug, Default)]
pub(super) struct Audience {
    /// The connections that own the proposal.
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
    /// Adds an owner, which may ask to be streamed every event.
    pub fn join(&mut self, conn: ConnId, stream: bool) {
        self.owners.insert(conn);
        if stream {
            self.streams.insert(conn);
        }
    }

    /// Removes a closed connection. Returns its `wait` calls, so that their timers can be removed.
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

    /// Every call that waits for something about the proposal.
    pub fn calls(&self) -> impl Iterator<Item = (ConnId, CallId)> {
        let waits = self.waiters.iter().map(|(conn, call, _)| (*conn, *call));
        let others = self.proposers.iter().chain(&self.withdrawers).copied();
        others.chain(waits)
    }

    /// How many waiting calls belong to this connection.
    pub fn calls_of(&self, conn: ConnId) -> usize {
        self.calls().filter(|(c, _)| *c == conn).count()
    }
}
