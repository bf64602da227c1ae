//! Brings what the journal vouches for to its own place, in a thread beside the writer's.
//!
//! Nobody waits for the file of a content: the journal has it, and readers look there as well. So
//! files are made when nothing else comes, or when their turn of the journal is to end. A file that
//! finds no descriptor or no room is tried again; until then its turn of the journal stays.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

use nix::unistd::syncfs;

use super::disk::{holds, make_folder, write_unsynced};
use super::error;
use super::frame::HEADER;
use super::layout::{Layout, open_regular};
use super::mark::{Mark, Marker};
use super::orders::{Next, Order, Orders, PROBE};
use crate::model::{Blob, Digest};

/// Files that are synced one by one; of more, the whole file system at once.
const FEW: usize = 64;

/// What is to be durable in its own place.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub segments: BTreeSet<u64>,
    pub contents: HashSet<Digest>,
}

impl Places {
    fn paths(&self, layout: &Layout) -> BTreeSet<PathBuf> {
        let segments = self.segments.iter().map(|number| layout.segment(*number));
        let contents = self.contents.iter().map(|digest| layout.blob(digest).1);
        segments.chain(contents).collect()
    }
}

/// What one turn of the journal vouches for.
#[derive(Default)]
pub(super) struct Turn {
    pub places: Places,
    /// Noted once all of that is durable.
    pub end: Option<Mark>,
    /// Free after that.
    pub journal: Option<Arc<File>>,
}

impl Turn {
    pub fn of(contents: HashSet<Digest>) -> Self {
        let places = Places {
            contents,
            ..Places::default()
        };
        Self {
            places,
            ..Self::default()
        }
    }
}

/// The thread; it has ended when this is gone.
pub(super) struct Settler {
    orders: Orders,
    thread: Option<JoinHandle<()>>,
    /// Whether contents wait for a descriptor or for room.
    short: Arc<AtomicBool>,
}

impl fmt::Debug for Settler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settler").finish_non_exhaustive()
    }
}

/// Answered once what was asked for is durable in its own place.
pub(super) type Settled = Receiver<io::Result<()>>;

impl Settler {
    pub fn start(layout: &Layout, marker: &Arc<Marker>) -> io::Result<Self> {
        let orders = Orders::default();
        let heard = Ended(orders.clone());
        let short = Arc::new(AtomicBool::new(false));
        let mut work = Work {
            layout: layout.clone(),
            homes: Homes::of(layout)?,
            marker: marker.clone(),
            left: Vec::new(),
            owed: Vec::new(),
            failed: None,
            short: short.clone(),
        };
        let thread = std::thread::Builder::new().name("audit files".to_owned());
        let thread = thread.spawn(move || work.serve(&heard.0))?;
        Ok(Self {
            orders,
            thread: Some(thread),
            short,
        })
    }

    /// Writes the file of a content, some time. `false`: it is behind for want of descriptors or of
    /// room, and takes no more until it is not.
    pub fn keep(&self, blob: &Blob) -> bool {
        let short = self.short.load(Ordering::Relaxed);
        self.orders.push(match short {
            true => Order::Again,
            false => Order::Keep(blob.clone()),
        });
        !short
    }

    /// Makes these files durable after all that was to be kept so far, and gives the file of the
    /// journal free. What could not be done for want of something is done first by the next call.
    pub fn settle(&self, turn: Turn) -> Settled {
        let (done, settled) = channel();
        self.orders.push(Order::Settle(turn, done));
        settled
    }
}

impl Drop for Settler {
    fn drop(&mut self) {
        // The folder is given free after this: nothing may write to it later.
        self.orders.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Whoever waits for a thread that has ended, however it did, hears so.
struct Ended(Orders);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The answer to [`Settler::settle`].
pub(super) fn settled(settled: &Settled) -> io::Result<()> {
    settled
        .recv()
        .unwrap_or_else(|_| Err(io::Error::other("syncing the log failed")))
}

struct Work {
    layout: Layout,
    homes: Homes,
    marker: Arc<Marker>,
    /// Contents without a file yet.
    left: Vec<Blob>,
    owed: Vec<Turn>,
    /// After an error that is for good nothing is settled any more.
    failed: Option<String>,
    short: Arc<AtomicBool>,
}

impl Work {
    fn serve(&mut self, orders: &Orders) {
        loop {
            let files_left = !self.left.is_empty() && self.failed.is_none();
            // What fails is said when it is settled.
            match orders.next(files_left) {
                Next::Orders(all) => all.into_iter().for_each(|order| self.obey(order)),
                Next::Pause => {
                    let _ = self.keep();
                }
                Next::Over => {
                    let _ = self.keep();
                    return;
                }
            }
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Keep(blob) => {
                self.left.push(blob);
                if self.left.len().is_multiple_of(PROBE) {
                    let _ = self.keep_one();
                }
            }
            Order::Settle(turn, done) => {
                self.owed.push(turn);
                let _ = done.send(self.settle());
            }
            Order::Again => {
                let _ = self.keep();
            }
        }
    }

    fn keep(&mut self) -> io::Result<()> {
        while !self.left.is_empty() {
            self.keep_one()?;
        }
        Ok(())
    }

    fn keep_one(&mut self) -> io::Result<()> {
        let Some(blob) = self.left.last() else {
            return Ok(());
        };
        let kept = self.write(blob);
        let short = kept.as_ref().is_err_and(error::ran_out);
        self.short.store(short, Ordering::Relaxed);
        if let Err(e) = &kept
            && !short
        {
            self.failed.get_or_insert_with(|| e.to_string());
        }
        kept?;
        self.left.pop();
        Ok(())
    }

    fn write(&self, blob: &Blob) -> io::Result<()> {
        let (folder, path) = self.layout.blob(&blob.sha256);
        if holds(&path, &blob.bytes) {
            return Ok(());
        }
        match write_unsynced(&path, &blob.bytes) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                make_folder(&folder)?;
                write_unsynced(&path, &blob.bytes)
            }
            done => done,
        }
    }

    fn settle(&mut self) -> io::Result<()> {
        let kept = self.keep();
        if let Some(why) = &self.failed {
            return Err(io::Error::other(why.clone()));
        }
        kept?;
        while let Some(turn) = self.owed.last() {
            match self.turn(turn) {
                Err(e) if error::ran_out(&e) => return Err(e),
                Err(e) => {
                    self.failed = Some(e.to_string());
                    return Err(e);
                }
                Ok(()) => drop(self.owed.pop()),
            }
        }
        Ok(())
    }

    fn turn(&self, turn: &Turn) -> io::Result<()> {
        self.homes.settle(&self.layout, &turn.places)?;
        if let Some(end) = turn.end {
            self.marker.note(end).map_err(lasting)?;
        }
        if let Some(file) = &turn.journal {
            file.write_all_at(&[0; HEADER], 0)?;
            file.sync_data().map_err(lasting)?;
        }
        Ok(())
    }
}

/// The folders that a journal's contents belong to.
#[derive(Debug)]
pub(super) struct Homes {
    log: File,
    blobs: File,
    /// Whether they are on file systems of their own.
    apart: bool,
}

impl Homes {
    pub fn of(layout: &Layout) -> io::Result<Self> {
        let (log, blobs) = (File::open(layout.log())?, File::open(layout.blobs())?);
        Ok(Self {
            apart: log.metadata()?.dev() != blobs.metadata()?.dev(),
            log,
            blobs,
        })
    }

    /// Makes these files durable in their own places, names included.
    pub fn settle(&self, layout: &Layout, places: &Places) -> io::Result<()> {
        if places.segments.len() + places.contents.len() <= FEW {
            match one_by_one(layout, &places.paths(layout)) {
                Err(e) if error::ran_out(&e) => {}
                done => return done,
            }
        }
        syncfs(&self.log).map_err(|e| lasting(e.into()))?;
        if self.apart {
            syncfs(&self.blobs).map_err(|e| lasting(e.into()))?;
        }
        Ok(())
    }
}

fn one_by_one(layout: &Layout, places: &BTreeSet<PathBuf>) -> io::Result<()> {
    let mut folders = BTreeSet::from([layout.blobs()]);
    for path in places {
        match open_regular(path) {
            Ok(file) => file.sync_all().map_err(lasting)?,
            // Removed under retention.
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => return Err(e),
        }
        folders.extend(path.parent().map(Path::to_owned));
    }
    for folder in &folders {
        let opened = File::open(folder)?;
        opened.sync_all().map_err(lasting)?;
    }
    Ok(())
}

/// An error of a sync, whatever it says: pages may be lost that no later sync will miss.
pub(super) fn lasting(error: io::Error) -> io::Error {
    io::Error::other(error.to_string())
}
