//! Which work is analysed next: short code does not wait for long code.
//!
//! Each desk does one piece of work at a time, taking turns between uids and between peers. The
//! longest allowed snippet takes twenty times as long as an ordinary one; with a single desk, an
//! agent that sends such snippets would slow down everybody.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::fair::FairQueue;
use crate::clock::Now;
use crate::model::{CallId, ConnId, Digest, JobId, ProposalId, Value};

/// Code up to this many bytes counts as short: about a millisecond of work.
const SHORT: usize = 4 * 1024;

/// What the analyser is working on.
#[derive(Clone, Debug)]
pub(super) enum Job {
    Proposal(ProposalId),
    Check {
        conn: ConnId,
        call: CallId,
    },
    /// A drill: no agent pays for it or waits behind it.
    Drill(ProposalId),
    /// A person's edit of a proposal, by the digest of the edited code.
    Edit(ProposalId, Digest),
}

/// Work waiting for the analyser.
#[derive(Clone, Debug)]
pub(super) struct Work {
    pub job: Job,
    pub code: Arc<str>,
    pub profile: String,
    /// The names that the inputs bind; `None` for a `check` call.
    pub inputs: Option<BTreeSet<String>>,
    /// What is known of their values.
    pub values: BTreeMap<String, Value>,
    pub peer: (u32, i32),
}

/// One of the desks, by the length of the code it analyses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Desk {
    Short,
    Long,
}

impl Desk {
    pub const ALL: [Self; 2] = [Self::Short, Self::Long];

    fn of(work: &Work) -> Self {
        match work.code.len() {
            ..=SHORT => Self::Short,
            _ => Self::Long,
        }
    }
}

/// One desk's queue and the work in progress.
#[derive(Debug, Default)]
struct DeskState {
    /// What a person waits for, and drills, come before all work for agents.
    first: VecDeque<Work>,
    queue: FairQueue<Work>,
    at_work: Option<(JobId, Work, Now)>,
}

#[derive(Debug, Default)]
pub(super) struct Desks {
    short: DeskState,
    long: DeskState,
}

impl Desks {
    const fn place(&mut self, desk: Desk) -> &mut DeskState {
        match desk {
            Desk::Short => &mut self.short,
            Desk::Long => &mut self.long,
        }
    }

    pub fn push(&mut self, work: Work) {
        let desk = Desk::of(&work);
        let place = self.place(desk);
        match work.job {
            Job::Edit(..) | Job::Drill(_) => place.first.push_back(work),
            Job::Proposal(_) | Job::Check { .. } => place.queue.push(work.peer, work),
        }
    }

    /// The next work for a desk, if the desk is free.
    pub fn next(&mut self, desk: Desk) -> Option<Work> {
        let place = self.place(desk);
        match place.at_work {
            None => place.first.pop_front().or_else(|| place.queue.pop()),
            Some(_) => None,
        }
    }

    pub fn begin(&mut self, desk: Desk, job: JobId, work: Work, now: Now) {
        self.place(desk).at_work = Some((job, work, now));
    }

    /// Removes a job and frees its desk. Returns the work and when it began.
    pub fn end(&mut self, job: JobId) -> Option<(Work, Now)> {
        let places = [&mut self.short, &mut self.long];
        let ended = places
            .into_iter()
            .find_map(|place| place.at_work.take_if(|(running, ..)| *running == job));
        ended.map(|(_, work, since)| (work, since))
    }

    /// How many items of this peer are queued.
    pub fn of_peer(&self, peer: (u32, i32)) -> usize {
        self.short.queue.of_peer(peer) + self.long.queue.of_peer(peer)
    }

    /// How many items of this uid's peers are queued.
    pub fn of_uid(&self, uid: u32) -> usize {
        self.short.queue.of_uid(uid) + self.long.queue.of_uid(uid)
    }
}
