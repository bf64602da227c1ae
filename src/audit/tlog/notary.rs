//! The thread that signs checkpoints while the log grows.
//!
//! It is told which record is durable and reads the log as any reader does. The writer never waits for it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::anchor;
use super::begun::Begun;
use super::checkpoint::{Checkpoint, Signed};
use super::error::TlogError;
use super::last::ends_as_signed;
use super::signer::{KeyCommand, Signer};
use super::store::{HashFile, Place, Store, StoreError};
use super::tls::Trust;
use super::tree::{Frontier, Nodes as _, leaf, root};
use super::witness::Witness;
use crate::audit::AuditError;
use crate::audit::layout::Layout;
use crate::audit::line::Record;
use crate::audit::lines::OneByOne;
use crate::audit::scan::scan;
use crate::model::{Digest, LogEvent};

/// A checkpoint is due after so many records, or, if there are fewer, after this time.
const RECORDS: u64 = 64;
const HEARTBEAT: Duration = Duration::from_secs(60);
/// About how many hashes are written at once.
const AT_ONCE: u64 = 4096;
/// Stands in the tree for each record that retention removed before anything was signed. The records after them have the
/// hash of the last one.
const REMOVED: &[u8] = b"removed before the first checkpoint";
/// How long a person waits for the last checkpoint.
const CLOSING: Duration = Duration::from_secs(8);

/// What is to be done with checkpoints.
#[derive(Clone, Debug, Default)]
pub struct Anchoring {
    /// The folder of checkpoints; `None` for the one beside the state folder.
    pub checkpoints: Option<PathBuf>,
    /// Gets each checkpoint on its standard input.
    pub command: Vec<String>,
    /// Signs instead of the key in that folder.
    pub signer: Option<KeyCommand>,
    /// Each signs every checkpoint that extends what it saw.
    pub witnesses: Vec<Witness>,
    /// Who vouches for those that are reached by HTTPS.
    pub trust: Trust,
}

impl Anchoring {
    pub fn store(&self, state_dir: &Path) -> Store {
        let configured = self.checkpoints.as_deref();
        configured.map_or_else(|| Store::beside(state_dir), Store::at)
    }
}

/// What the notary reports, from its own thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotaryEvent {
    /// The log is not the one that was signed. Nothing more is signed.
    Contradiction(String),
    /// Checkpoints are not made, or not taken by the user's command.
    Failed(String),
    /// They are again.
    Works,
    /// The first checkpoint was made, over a log that had so many records before.
    Began(u64),
}

/// What the thread waits for.
#[derive(Debug, Default)]
struct Known {
    durable: u64,
    closing: bool,
}

#[derive(Debug, Default)]
struct Shared {
    known: Mutex<Known>,
    changed: Condvar,
}

impl Shared {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the thread what is durable.
#[derive(Clone, Debug)]
pub struct Informer(Arc<Shared>);

impl Informer {
    /// The records up to this one are durable. Does not block.
    pub fn durable(&self, seq: u64) {
        let mut known = self.0.known();
        known.durable = known.durable.max(seq);
        // Others wait for the heartbeat.
        if seq.is_multiple_of(RECORDS) {
            self.0.changed.notify_one();
        }
    }
}

/// The running thread.
#[derive(Debug)]
pub struct Notary {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

type Report = Box<dyn Fn(NotaryEvent) + Send>;

impl Notary {
    /// Starts the thread. `on` is called from it.
    pub fn start(state_dir: &Path, anchoring: Anchoring, durable: u64, on: Report) -> Self {
        let shared = Arc::new(Shared::default());
        shared.known().durable = durable;
        let (layout, its) = (Layout::at(state_dir), shared.clone());
        let thread = std::thread::Builder::new().name("notary".to_owned());
        let thread = thread.spawn(move || serve(&layout, &anchoring, durable, &its, &on));
        Self {
            shared,
            thread: thread.ok(),
        }
    }

    pub fn informer(&self) -> Informer {
        Informer(self.shared.clone())
    }

    /// Signs what is there, after the writer was closed, and ends the thread. False if a command or a witness had not
    /// answered by then.
    pub fn close(self) -> bool {
        self.shared.known().closing = true;
        self.shared.changed.notify_one();
        let until = Instant::now() + CLOSING;
        let works = || {
            self.thread
                .as_ref()
                .is_some_and(|thread| !thread.is_finished())
        };
        while works() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        let ended = !works();
        if !ended {
            tracing::warn!("checkpoints: who is to sign or to take the last one has not answered");
        }
        ended
    }
}

fn serve(layout: &Layout, anchoring: &Anchoring, there: u64, shared: &Shared, on: &Report) {
    let mut desk = match Desk::open(layout, anchoring) {
        Ok(desk) => desk,
        Err(e) => {
            tracing::warn!("checkpoints: {e}");
            return on(match e {
                DeskError::Store(e @ StoreError::LatestGone { .. }) => {
                    NotaryEvent::Contradiction(e.to_string())
                }
                e => NotaryEvent::Failed(e.to_string()),
            });
        }
    };
    desk.before = desk.latest.is_none().then_some(there);
    let closing = || shared.known().closing;
    let durable = shared.known().durable;
    let mut done = desk.begin(durable).map(|()| Ok(()));
    let (mut failed, mut last) = (false, false);
    loop {
        // The desk is looked at again before anything else is done.
        let broken = done.is_err();
        let told = match done {
            Ok(Ok(())) => None,
            Ok(Err(why)) => Some(why),
            Err(DeskError::Contradiction(e)) => {
                tracing::warn!("checkpoints: {e}");
                let dir = desk.store.dir().display();
                return on(NotaryEvent::Contradiction(format!("{e}; it is in {dir}")));
            }
            Err(e) => Some(e.to_string()),
        };
        match &told {
            Some(why) => {
                tracing::warn!("checkpoints: {why}");
                desk.store.tell_fault(Some(why));
                on(NotaryEvent::Failed(why.clone()));
            }
            None if failed => on(NotaryEvent::Works),
            None => {}
        }
        if last {
            return;
        }
        failed = told.is_some();
        let durable;
        (durable, last) = match closing() {
            // It may have begun while a checkpoint was made.
            true => (shared.known().durable, true),
            false => {
                // What is broken waits for the heartbeat.
                let next = (!broken).then(|| (desk.size() / RECORDS + 1) * RECORDS);
                wait(shared, next)
            }
        };
        let ready = match broken {
            true => desk.begin(durable),
            false => Ok(()),
        };
        let signed = ready.and_then(|()| match durable > desk.size() {
            true => desk.sign(durable, closing).map(Some),
            // What was not taken is handed on again.
            false => Ok(desk.latest.clone().filter(|_| failed)),
        });
        if let (Ok(Some(_)), Some(before)) =
            (&signed, desk.before.take_if(|_| desk.latest.is_some()))
            && before > 0
        {
            on(NotaryEvent::Began(before));
        }
        done = signed.and_then(|signed| match signed {
            Some(signed) => desk.hand_on(signed, anchoring, closing),
            None => Ok(Ok(())),
        });
    }
}

/// Waits until there are so many records, or for the heartbeat, or for the end.
fn wait(shared: &Shared, next: Option<u64>) -> (u64, bool) {
    let until = Instant::now() + HEARTBEAT;
    let mut known = shared.known();
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let due = next.is_some_and(|next| known.durable >= next);
        if known.closing || due || left.is_zero() {
            return (known.durable, known.closing);
        }
        let waited = shared.changed.wait_timeout(known, left);
        (known, _) = waited.unwrap_or_else(PoisonError::into_inner);
    }
}

#[derive(Debug, thiserror::Error)]
enum DeskError {
    #[error(transparent)]
    Contradiction(TlogError),
    /// The log and what was signed cannot be compared.
    #[error(transparent)]
    Incomparable(TlogError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the hashes of the records: {0}")]
    Hashes(#[from] io::Error),
    #[error(transparent)]
    Log(#[from] AuditError),
    #[error("the log cannot be read up to record {0}")]
    Unread(u64),
    /// The command that signs did not.
    #[error("{0}")]
    Unsigned(String),
}

/// What is needed to sign.
struct Desk {
    layout: Layout,
    store: Store,
    signer: Signer,
    latest: Option<Signed>,
    place: Place,
    edge: Frontier,
    hashes: HashFile,
    /// What each witness saw, as far as is known.
    saw: Vec<u64>,
    /// The latest checkpoint was compared with the log by this thread.
    compared: bool,
    /// How many records were there before the first checkpoint, if this thread makes it.
    before: Option<u64>,
    _lock: nix::fcntl::Flock<std::fs::File>,
}

impl Desk {
    fn open(layout: &Layout, anchoring: &Anchoring) -> Result<Self, DeskError> {
        let state = std::fs::canonicalize(&layout.state)?;
        let store = anchoring.store(&state);
        let lock = store.make(&state)?;
        let signer = store.signer(anchoring.signer.as_ref())?;
        let latest = store.latest(signer.verifier())?;
        let hashes = store.hashes_to_write()?;
        let other = |signed: &Signed| ends_as_signed(layout, &store, signed) == Some(false);
        let resumed = match latest.as_ref().is_some_and(other) {
            // The log is read from its first line, and compared.
            true => None,
            false => resumed(&store, &hashes, latest.as_ref()),
        };
        let (place, edge) = resumed.unwrap_or_default();
        Ok(Self {
            layout: layout.clone(),
            saw: Vec::new(),
            compared: edge.size() > 0,
            before: None,
            store,
            signer,
            latest,
            place,
            edge,
            hashes,
            _lock: lock,
        })
    }

    /// How many records are signed.
    fn size(&self) -> u64 {
        self.latest
            .as_ref()
            .map_or(0, |signed| signed.checkpoint.size)
    }

    /// Compares the log with the latest checkpoint.
    fn begin(&mut self, durable: u64) -> Result<(), DeskError> {
        let size = self.size();
        if durable < size {
            let records = durable;
            return Err(DeskError::Contradiction(TlogError::Shorter {
                records,
                size,
            }));
        }
        self.read_on(durable)
    }

    /// Reads the log up to this record, and all of it if what was kept is not of this log.
    fn read_on(&mut self, size: u64) -> Result<(), DeskError> {
        if self.read(size).is_err() {
            self.read_again(size)?;
        }
        match self.compared {
            true => Ok(()),
            false => self.compare(),
        }
    }

    /// Signs the log up to this record.
    fn sign(&mut self, size: u64, ends: impl Fn() -> bool) -> Result<Signed, DeskError> {
        self.read_on(size)?;
        self.hashes.sync()?;
        let checkpoint = Checkpoint {
            origin: self.signer.verifier().name.clone(),
            size,
            root: root(&self.hashes, size)?,
        };
        let signed = Signed::by(&self.signer, checkpoint, &ends).map_err(DeskError::Unsigned)?;
        let begun = match self.before.filter(|_| self.latest.is_none()) {
            Some(before) => {
                let begun = Begun {
                    origin: self.signer.verifier().name.clone(),
                    from: before + 1,
                    at: jiff::Timestamp::now(),
                };
                let note = begun.note(&self.signer, &ends);
                Some(note.map_err(DeskError::Unsigned)?)
            }
            None => None,
        };
        // What is left of a folder without it shows that it was there.
        self.store.keep(&signed)?;
        if let Some(begun) = begun {
            self.store.keep_begun(&begun)?;
        }
        self.latest = Some(signed.clone());
        self.store.keep_place(&self.place)?;
        Ok(signed)
    }

    /// Has the witnesses sign, and gives the checkpoint to the user's command. What fails is told, and keeps nobody
    /// else from it.
    fn hand_on(
        &mut self,
        mut signed: Signed,
        anchoring: &Anchoring,
        ends: impl Fn() -> bool,
    ) -> Result<Result<(), String>, DeskError> {
        let mut told = Ok(());
        self.saw.resize(anchoring.witnesses.len(), 0);
        let before = signed.clone();
        for (witness, saw) in anchoring.witnesses.iter().zip(&mut self.saw) {
            if witness.is_in(&signed.note) {
                continue;
            }
            match witness.cosign(&before, saw, &self.hashes, &anchoring.trust) {
                Ok(signature) => signed.note.signatures.push(signature),
                Err(why) => told = told.and(Err(why)),
            }
        }
        if signed.note != before.note {
            self.store.keep(&signed)?;
            self.latest = Some(signed.clone());
        }
        let taken = anchor::hand_over(&anchoring.command, &signed.note.print(), ends);
        let done = taken.and(told);
        if done.is_ok() {
            self.store.tell_fault(None);
        }
        Ok(done)
    }

    /// Reads on from where it stopped.
    fn read(&mut self, size: u64) -> Result<(), DeskError> {
        let Self { edge, hashes, .. } = self;
        let (mut begun, mut new) = (edge.size(), Vec::new());
        let mut failed = None;
        let mut gaps = Vec::new();
        let mut keep = |begun: &mut u64, now: u64, new: &mut Vec<Digest>| {
            if let Err(e) = hashes.append(*begun, new) {
                failed.get_or_insert(e);
            }
            *begun = now;
            new.clear();
        };
        self.place.walk.go_on(&self.layout, |line| {
            if line.seq == edge.size() + 1 {
                edge.push(leaf(line.bytes), |hash| new.push(hash));
                gaps.extend(gap_in(line.bytes));
            }
            if new.len() as u64 >= AT_ONCE {
                keep(&mut begun, edge.size(), &mut new);
            }
            Ok(())
        })?;
        keep(&mut begun, edge.size(), &mut new);
        let read = edge.size();
        self.place.size = read;
        self.compare_gaps(&gaps)?;
        match (failed, read < size) {
            (Some(e), _) => Err(e.into()),
            (None, true) => Err(DeskError::Unread(size)),
            (None, false) => Ok(()),
        }
    }

    /// Whether the removals that the log records are those of the records that were here.
    fn compare_gaps(&self, gaps: &[(u64, Digest)]) -> Result<(), DeskError> {
        // Of what was gone before anything was signed, nobody has the hashes.
        if gaps.is_empty() || self.hashes.node(0, 0)? == leaf(REMOVED) {
            return Ok(());
        }
        for (through, stated) in gaps {
            let here = match *through < self.edge.size() {
                true => root(&self.hashes, *through)?,
                false => continue,
            };
            if here != *stated {
                return Err(DeskError::Contradiction(TlogError::Gap(*through)));
            }
        }
        Ok(())
    }

    /// Reads the log from its first line. If records were removed under retention, their hashes must be here.
    fn read_again(&mut self, size: u64) -> Result<(), DeskError> {
        self.compared = false;
        self.place = Place::default();
        self.edge = Frontier::default();
        let first = first_of(&self.layout)?;
        if first > 1 {
            self.edge = match &self.latest {
                None if self.hashes.is_empty()? => self.without(first - 1)?,
                latest => known(latest.as_ref(), &self.hashes, first - 1)?,
            };
        }
        match self.read(size) {
            Err(DeskError::Unread(_)) => {
                // If less was signed, that is the log's own fault, which others report.
                self.compare()?;
                Err(DeskError::Unread(size))
            }
            read => read,
        }
    }

    /// The tree of a log whose first records were removed before anything was signed.
    fn without(&self, removed: u64) -> Result<Frontier, DeskError> {
        let (mut edge, leaf) = (Frontier::default(), leaf(REMOVED));
        while edge.size() < removed {
            let (begun, mut new) = (edge.size(), Vec::new());
            for _ in 0..AT_ONCE.min(removed - begun) {
                edge.push(leaf, |hash| new.push(hash));
            }
            self.hashes.append(begun, &new)?;
        }
        Ok(edge)
    }

    /// Whether the log is the one that was signed.
    fn compare(&mut self) -> Result<(), DeskError> {
        let Some(Signed { checkpoint, .. }) = &self.latest else {
            return Ok(());
        };
        let (records, size) = (self.edge.size(), checkpoint.size);
        if records < size {
            return Err(DeskError::Contradiction(TlogError::Shorter {
                records,
                size,
            }));
        }
        if root(&self.hashes, size)? != checkpoint.root {
            return Err(DeskError::Contradiction(TlogError::OtherRoot { size }));
        }
        self.compared = true;
        Ok(())
    }
}

/// The last removed record and the root up to it, if this line records a removal and states one.
fn gap_in(line: &[u8]) -> Option<(u64, Digest)> {
    const KIND: &[u8] = b"\"kind\":\"pruned\"";
    if !line.windows(KIND.len()).any(|window| window == KIND) {
        return None;
    }
    match Record::parse(line).ok()?.event {
        LogEvent::Pruned {
            through_seq, gap, ..
        } => Some((through_seq, gap?.root?)),
        _ => None,
    }
}

/// The tree of removed records, from the hashes that are kept, if these lead to the latest checkpoint.
fn known(latest: Option<&Signed>, hashes: &HashFile, removed: u64) -> Result<Frontier, DeskError> {
    let signed = latest.map(|signed| &signed.checkpoint);
    let leads = |signed: &&Checkpoint| {
        signed.size >= removed && root(hashes, signed.size).is_ok_and(|root| root == signed.root)
    };
    match signed.filter(leads) {
        Some(_) => Ok(Frontier::of(hashes, removed)?),
        None => Err(DeskError::Incomparable(TlogError::NoBeginning(removed))),
    }
}

/// The first record that the log still has.
fn first_of(layout: &Layout) -> Result<u64, DeskError> {
    let mut first = None;
    let segments = layout.segments()?;
    if segments.first() == Some(&1) {
        return Ok(1);
    }
    scan(layout, &mut OneByOne::default(), |line| {
        first.get_or_insert(line.seq);
        Ok(())
    })?;
    Ok(first.unwrap_or(1))
}

/// Where an earlier notary stopped, if what it kept leads to its checkpoint.
fn resumed(store: &Store, hashes: &HashFile, latest: Option<&Signed>) -> Option<(Place, Frontier)> {
    let (place, signed) = (store.place()?, &latest?.checkpoint);
    let edge = Frontier::of(hashes, place.size).ok()?;
    let leads = root(hashes, signed.size).ok()? == signed.root;
    (leads && signed.size <= place.size).then_some((place, edge))
}

#[cfg(test)]
#[path = "notary_signer_tests.rs"]
mod signer_tests;
#[cfg(test)]
#[path = "notary_tests.rs"]
mod tests;
