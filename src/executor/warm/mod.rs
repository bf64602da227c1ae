//! Warm starts: for each policy in use a zygote, whose forks have interpreter and libraries loaded.
//!
//! The pool never makes a run wait: where no place is ready the run starts cold, and the zygote is
//! made, made again or given up by a thread of the pool's own. A zygote serves one policy, one tier
//! and one environment; it is replaced after a number of runs, and let go when nobody uses it.

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

/// Zygotes at once; each takes some 70 MB.
const ZYGOTES_MAX: usize = 4;

/// When a zygote has had its time.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// Runs of one zygote: they share a layout of memory and a seed of `hash()`.
    runs: u32,
    /// How long nobody used it.
    idle: Duration,
}

const SPAN: Span = Span {
    runs: 1000,
    idle: Duration::from_secs(15 * 60),
};

/// No new zygote of a kind for this long after one failed to start.
const RETRY_BACKOFF: Duration = Duration::from_secs(60);

/// The pool's thread sleeps no shorter than this.
const LEAST_REST: Duration = Duration::from_millis(10);

/// What a zygote is for. It never serves another.
#[derive(Clone, Debug)]
pub struct ZygoteKind {
    pub policy: Arc<Policy>,
    pub tier: Tier,
    pub env: Arc<PythonEnv>,
    /// Whether its runs are given tables.
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
            // Read at another time, it is another one: what was loaded between two looks that found it
            // the same is not known.
            && Arc::ptr_eq(&self.env, &other.env)
    }

    /// Whether the other is this one as it is now: of the same name, but changed.
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
    /// Made if there is room: what agents propose pushes out nothing that a person uses.
    IfRoom,
    /// The one that was used least lately makes room for it.
    Surely,
}

/// The zygotes of one executor.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
    words: Sender<Word>,
}

/// What the pool's thread is told.
#[derive(Debug)]
enum Word {
    Wanted(ZygoteKind, Wish),
    /// A zygote's helper has ended, which nobody may have asked for.
    Ended,
}

#[derive(Debug)]
struct Shared {
    exe: Arc<OwnedFd>,
    span: Span,
    /// To the pool's thread, from those who wait for the end of a helper.
    words: Sender<Word>,
    entries: Mutex<Vec<Entry>>,
    /// Ended, and waited for by the pool's own thread: no run is to wait for that.
    ended: Mutex<Vec<Arc<Keeper>>>,
}

#[derive(Debug)]
struct Entry {
    kind: ZygoteKind,
    /// None while it came to nothing.
    keeper: Option<Arc<Keeper>>,
    runs: u32,
    used: Instant,
}

impl Pool {
    /// Starts no zygote yet.
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

    /// Has a zygote of this kind made, if there is none.
    pub fn prepare(&self, kind: ZygoteKind, wish: Wish) {
        if kind.can_be_warm() {
            // Without its thread the pool has no zygotes, and every start is a cold one.
            let _ = self.words.send(Word::Wanted(kind, wish));
        }
    }

    /// Lets go the zygotes of this environment. What they loaded is of no use to another one; runs of
    /// theirs that go on are not touched.
    pub fn forget(&self, environment: Digest) {
        let gone: Vec<Arc<Keeper>> = self
            .shared
            .entries()
            .extract_if(.., |entry| entry.kind.env.digest == environment)
            .filter_map(|entry| entry.keeper)
            .collect();
        gone.iter().for_each(|keeper| keeper.let_go());
        // Their end is waited for by the pool's thread.
        self.shared.ended().extend(gone);
        let _ = self.words.send(Word::Ended);
    }

    /// The same, for the kind of this run.
    pub fn want(&self, spec: &RunSpec) {
        if spec.handed.is_some() {
            return;
        }
        self.prepare(ZygoteKind::of(spec), Wish::Surely);
    }

    /// A place for this run, if one waits. A second child that certifies is not one of many.
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

    /// Makes a zygote, and lets go the ones that it replaces.
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
            // Where the pool is gone, so is all it had.
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

    /// Takes away what has ended unasked, so that what it left is removed.
    fn bury(&self) {
        for entry in self.entries().iter_mut() {
            if let Some(gone) = entry.keeper.take_if(|keeper| keeper.is_gone()) {
                tracing::warn!("a zygote's helper ended");
                entry.used = Instant::now();
                self.ended().push(gone);
            }
        }
    }

    /// Lets go what nobody used for long. When the next one is due.
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

/// Their runs, if any go on, hold them until they have ended.
fn retire(entries: Vec<Entry>) {
    for keeper in entries.into_iter().filter_map(|entry| entry.keeper) {
        keeper.let_go();
    }
}

/// The pool's own thread: what is made or let go takes milliseconds that no run is to wait for.
fn tend(shared: &Weak<Shared>, words: &Receiver<Word>) {
    loop {
        let Some(pool) = shared.upgrade() else {
            return;
        };
        let next = pool.tidy();
        // Not held while nothing is to do: the executor's end is the pool's.
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
