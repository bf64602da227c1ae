//! Warm starts: a zygote for each policy in use, whose forks have interpreter and libraries loaded.
//!
//! The pool never makes a run wait: if no slot is ready, the run starts cold, and a thread of the
//! pool makes the zygote, replaces it or gives it up. A zygote serves one policy, one tier and one
//! environment; it is replaced after a number of runs, and dropped when nobody uses it.

mod keeper;
#[cfg(test)]
mod testing;
mod trial;

use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::child::Slot;
use crate::model::{Digest, Tier};
use crate::policy::Policy;
use crate::runtime::PythonEnv;

use crate::executor::python::libraries;
use crate::executor::spec::RunSpec;

pub use keeper::Keeper;
use keeper::Offer;
#[cfg(test)]
pub use trial::try_through;
pub use trial::try_warm;

/// Maximum number of zygotes; each takes about 70 MB.
const ZYGOTES_MAX: usize = 4;

/// The lifetime of a zygote.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// Maximum number of runs: they share a memory layout and a seed of `hash()`.
    runs: u32,
    /// Maximum time without use.
    idle: Duration,
}

const SPAN: Span = Span {
    runs: 1000,
    idle: Duration::from_secs(15 * 60),
};

/// No new zygote of a kind for this long after one failed to start.
const RETRY_BACKOFF: Duration = Duration::from_secs(60);

/// Minimum sleep of the pool's thread.
const LEAST_REST: Duration = Duration::from_millis(10);

/// The purpose of a zygote. It never serves another.
#[derive(Clone, Debug)]
pub struct ZygoteKind {
    pub policy: Arc<Policy>,
    pub tier: Tier,
    pub env: Arc<PythonEnv>,
    /// Whether its runs have tables.
    pub tables: bool,
}

impl ZygoteKind {
    fn of(spec: &RunSpec) -> Self {
        Self {
            policy: spec.policy.clone(),
            tier: spec.tier,
            env: spec.env.clone(),
            tables: libraries::has_tables(&spec.inputs),
        }
    }

    fn serves(&self, other: &Self) -> bool {
        self.tier == other.tier
            && self.tables == other.tables
            && (Arc::ptr_eq(&self.policy, &other.policy) || self.policy == other.policy)
            // Another reading of the same environment does not count: what was loaded between two
            // checks with equal results is unknown.
            && Arc::ptr_eq(&self.env, &other.env)
    }

    /// Whether the other has the same name but changed contents, so that it replaces this one.
    fn is_replaced_by(&self, other: &Self) -> bool {
        self.policy.name == other.policy.name
            && (self.tier, self.tables) == (other.tier, other.tables)
            && !self.serves(other)
    }

    fn can_be_warm(&self) -> bool {
        self.tier == Tier::Kernel
    }
}

/// How much a zygote is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wish {
    /// Makes it if there is room: what agents propose replaces nothing that a person uses.
    IfRoom,
    /// Makes it in any case; the least recently used one makes room.
    Surely,
}

/// The zygotes of one executor.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
    words: Sender<Word>,
}

/// Messages to the pool's thread.
#[derive(Debug)]
enum Word {
    Wanted(ZygoteKind, Wish),
    /// A zygote's helper has ended, possibly without request.
    Ended,
}

#[derive(Debug)]
struct Shared {
    exe: Arc<OwnedFd>,
    span: Span,
    /// The channel to the pool's thread, for those who wait for the end of a helper.
    words: Sender<Word>,
    entries: Mutex<Vec<Entry>>,
    /// Ended zygotes; the pool's own thread waits for them, so that no run has to.
    ended: Mutex<Vec<Arc<Keeper>>>,
}

#[derive(Debug)]
struct Entry {
    kind: ZygoteKind,
    /// `None` after a failed start.
    keeper: Option<Arc<Keeper>>,
    runs: u32,
    used: Instant,
}

impl Pool {
    /// Makes a pool without zygotes.
    pub fn new(exe: Arc<OwnedFd>) -> Self {
        Self::with(exe, SPAN)
    }

    fn with(exe: Arc<OwnedFd>, span: Span) -> Self {
        let (words, inbox) = channel();
        let shared = Arc::new(Shared {
            exe,
            span,
            words: words.clone(),
            entries: Mutex::new(Vec::new()),
            ended: Mutex::new(Vec::new()),
        });
        let weak = Arc::downgrade(&shared);
        let thread = std::thread::Builder::new()
            .name("zygotes".to_owned())
            .spawn(move || tend(&weak, &inbox));
        if let Err(e) = thread {
            tracing::warn!("no warm starts: {e}");
        }
        Self { shared, words }
    }

    /// Requests a zygote of this kind, if there is none.
    pub fn prepare(&self, kind: ZygoteKind, wish: Wish) {
        if kind.can_be_warm() {
            // Without its thread the pool has no zygotes, and every start is cold.
            let _ = self.words.send(Word::Wanted(kind, wish));
        }
    }

    /// Drops the zygotes of this environment, because their loaded modules are useless for another
    /// one; their current runs go on.
    pub fn forget(&self, environment: Digest) {
        let gone: Vec<Arc<Keeper>> = self
            .shared
            .entries()
            .extract_if(.., |entry| entry.kind.env.digest == environment)
            .filter_map(|entry| entry.keeper)
            .collect();
        gone.iter().for_each(|keeper| keeper.let_go());
        // The pool's thread waits for their end.
        self.shared.ended().extend(gone);
        let _ = self.words.send(Word::Ended);
    }

    /// Requests a zygote of the kind of this run.
    pub fn want(&self, spec: &RunSpec) {
        if spec.handed.is_some() {
            return;
        }
        self.prepare(ZygoteKind::of(spec), Wish::Surely);
    }

    /// A slot for this run, if one waits. A certifying child gets none: it is too rare.
    pub fn take(&self, spec: &RunSpec) -> Option<Slot> {
        if spec.handed.is_some() {
            return None;
        }
        self.shared.take(&ZygoteKind::of(spec), Duration::ZERO)
    }
}

impl Shared {
    fn take(&self, kind: &ZygoteKind, patience: Duration) -> Option<Slot> {
        let mut entries = self.entries();
        let at = entries.iter().position(|entry| entry.kind.serves(kind))?;
        let entry = &mut entries[at];
        let keeper = entry.keeper.clone()?;
        match keeper.take(patience) {
            Offer::Slot(socket) => {
                entry.runs += 1;
                entry.used = Instant::now();
                if entry.runs >= self.span.runs {
                    entries.remove(at);
                    keeper.let_go();
                }
                Some(keeper.slot(socket))
            }
            Offer::Nothing => None,
            Offer::Gone(detail) => {
                tracing::warn!(detail, "a zygote ended");
                entry.used = Instant::now();
                let ended = entry.keeper.take();
                self.ended().extend(ended);
                None
            }
        }
    }

    /// Makes a zygote, and drops those that it replaces.
    fn make(&self, kind: ZygoteKind, wish: Wish) {
        let mut gone = Vec::new();
        {
            let mut entries = self.entries();
            let backing_off =
                |entry: &Entry| entry.keeper.is_none() && entry.used.elapsed() < RETRY_BACKOFF;
            if let Some(entry) = entries.iter().find(|entry| entry.kind.serves(&kind))
                && (entry.keeper.is_some() || backing_off(entry))
            {
                return;
            }
            let makes_room =
                |entry: &Entry| entry.kind.serves(&kind) || entry.kind.is_replaced_by(&kind);
            if wish == Wish::IfRoom
                && entries.len() >= ZYGOTES_MAX
                && !entries.iter().any(makes_room)
            {
                return;
            }
            gone.extend(entries.extract_if(.., |entry| makes_room(entry)));
            while entries.len() >= ZYGOTES_MAX {
                let oldest = (0..entries.len()).min_by_key(|at| entries[*at].used);
                gone.extend(oldest.map(|at| entries.remove(at)));
            }
        }
        retire(gone);
        let keeper = Keeper::start(self.exe.as_fd(), &kind)
            .inspect_err(|fault| {
                tracing::warn!(detail = %fault.detail, "no warm start: {fault}");
            })
            .ok();
        if let Some(keeper) = &keeper {
            let words = self.words.clone();
            // If the pool is gone, its zygotes are too.
            let said = keeper.when_ended(move || drop(words.send(Word::Ended)));
            if let Err(e) = said {
                tracing::warn!("the end of a zygote is seen late: {e}");
            }
        }
        self.entries().push(Entry {
            kind,
            keeper: keeper.map(Arc::new),
            runs: 0,
            used: Instant::now(),
        });
    }

    /// Removes zygotes that ended without request, so that their leftovers are removed.
    fn bury(&self) {
        for entry in self.entries().iter_mut() {
            if let Some(gone) = entry.keeper.take_if(|keeper| keeper.is_gone()) {
                tracing::warn!("a zygote's helper ended");
                entry.used = Instant::now();
                self.ended().push(gone);
            }
        }
    }

    /// Drops zygotes that were unused for long. Returns the time until the next one is due.
    fn tidy(&self) -> Duration {
        let ended = std::mem::take(&mut *self.ended());
        drop(ended);
        let mut entries = self.entries();
        let idle: Vec<Entry> = entries
            .extract_if(.., |entry| entry.used.elapsed() >= self.span.idle)
            .collect();
        let oldest = entries.iter().map(|entry| entry.used.elapsed()).max();
        drop(entries);
        retire(idle);
        self.span.idle.saturating_sub(oldest.unwrap_or_default())
    }

    fn ended(&self) -> MutexGuard<'_, Vec<Arc<Keeper>>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops the entries. Current runs keep their zygote until they have ended.
fn retire(entries: Vec<Entry>) {
    for keeper in entries.into_iter().filter_map(|entry| entry.keeper) {
        keeper.let_go();
    }
}

/// The pool's thread: making and dropping takes milliseconds, which no run has to wait for.
fn tend(shared: &Weak<Shared>, words: &Receiver<Word>) {
    loop {
        let Some(pool) = shared.upgrade() else {
            return;
        };
        let next = pool.tidy();
        // Released while idle, so that the executor's end also ends the pool.
        drop(pool);
        match words.recv_timeout(next.max(LEAST_REST)) {
            Ok(word) => {
                if let Some(pool) = shared.upgrade() {
                    match word {
                        Word::Wanted(kind, wish) => pool.make(kind, wish),
                        Word::Ended => pool.bury(),
                    }
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
