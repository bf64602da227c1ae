//! Writes and syncs the journal's content in its final place, in a separate thread.
//!
//! Nobody waits for a blob's file: the journal has the blob, and readers look there as well. So files are
//! written during pauses, or when their turn of the journal ends. If descriptors or space run out, the file is
//! tried again later, and its turn of the journal is kept until then.

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

use super::disk::{has_content, make_folder, write_unsynced};
use super::error;
use super::frame::HEADER;
use super::layout::{Layout, open_regular};
use super::mark::{Mark, Marker};
use super::orders::{Next, Order, Orders, PROBE};
use crate::model::{Blob, Digest};

/// Up to this number of files are synced one by one; for more, the whole file system is synced.
const FEW: usize = 64;

/// Segments and blobs to be synced in their final place.
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

/// A finished turn of the journal.
#[derive(Default)]
pub(super) struct Turn {
    pub places: Places,
    /// Noted once `places` are durable.
    pub end: Option<Mark>,
    /// The file to free after that.
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

/// The thread. Dropping this waits for its end.
pub(super) struct Settler {
    orders: Orders,
    thread: Option<JoinHandle<()>>,
    /// Whether blobs wait for descriptors or space.
    short: Arc<AtomicBool>,
}

impl fmt::Debug for Settler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settler").finish_non_exhaustive()
    }
}

/// Receives the result once the requested content is durable in its final place.
pub(super) type Settled = Receiver<io::Result<()>>;

impl Settler {
    pub fn start(layout: &Layout, marker: &Arc<Marker>) -> io::Result<Self> {
        let orders = Orders::default();
        let ended = EndOnDrop(orders.clone());
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
        let thread = thread.spawn(move || work.serve(&ended.0))?;
        Ok(Self {
            orders,
            thread: Some(thread),
            short,
        })
    }

    /// Writes a blob's file later. `false` if the blob was not taken, because earlier ones wait for descriptors
    /// or space.
    pub fn keep(&self, blob: &Blob) -> bool {
        let short = self.short.load(Ordering::Relaxed);
        self.orders.push(match short {
            true => Order::Again,
            false => Order::Keep(blob.clone()),
        });
        !short
    }

    /// Writes all files kept so far, makes those of the turn durable and frees its journal file. If descriptors
    /// or space run out, the next call first completes this one.
    pub fn settle(&self, turn: Turn) -> Settled {
        let (done, settled) = channel();
        self.orders.push(Order::Settle(turn, done));
        settled
    }
}

impl Drop for Settler {
    fn drop(&mut self) {
        // The folder is unlocked after this, so nothing may write to it later.
        self.orders.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Ends the queue when the thread ends, even by a panic, so that waiting callers get an error.
struct EndOnDrop(Orders);

impl Drop for EndOnDrop {
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
    /// Blobs without a file yet.
    left: Vec<Blob>,
    /// Turns that are not settled yet.
    owed: Vec<Turn>,
    /// The first permanent error; nothing is settled after it.
    failed: Option<String>,
    short: Arc<AtomicBool>,
}

impl Work {
    fn serve(&mut self, orders: &Orders) {
        loop {
            let files_left = !self.left.is_empty() && self.failed.is_none();
            // `settle` reports errors of `keep`.
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
        if has_content(&path, &blob.bytes) {
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
            self.marker.note(end).map_err(permanent)?;
        }
        if let Some(file) = &turn.journal {
            file.write_all_at(&[0; HEADER], 0)?;
            file.sync_data().map_err(permanent)?;
        }
        Ok(())
    }
}

/// The folders that the journal's content belongs to.
#[derive(Debug)]
pub(super) struct Homes {
    log: File,
    blobs: File,
    /// Whether they are on different file systems.
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

    /// Makes these files and their directory entries durable.
    pub fn settle(&self, layout: &Layout, places: &Places) -> io::Result<()> {
        if places.segments.len() + places.contents.len() <= FEW {
            match one_by_one(layout, &places.paths(layout)) {
                Err(e) if error::ran_out(&e) => {}
                done => return done,
            }
        }
        syncfs(&self.log).map_err(|e| permanent(e.into()))?;
        if self.apart {
            syncfs(&self.blobs).map_err(|e| permanent(e.into()))?;
        }
        Ok(())
    }
}

fn one_by_one(layout: &Layout, places: &BTreeSet<PathBuf>) -> io::Result<()> {
    let mut folders = BTreeSet::from([layout.blobs()]);
    for path in places {
        match open_regular(path) {
            Ok(file) => file.sync_all().map_err(permanent)?,
            // Retention removed the file.
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => return Err(e),
        }
        folders.extend(path.parent().map(Path::to_owned));
    }
    for folder in &folders {
        let opened = File::open(folder)?;
        opened.sync_all().map_err(permanent)?;
    }
    Ok(())
}

/// Marks a sync error as permanent by dropping its code, so that [`error::ran_out`] is false: the kernel may
/// have dropped pages, and a later sync would succeed without them.
pub(super) fn permanent(error: io::Error) -> io::Error {
    io::Error::other(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sync of the whole file system could succeed after the kernel dropped the pages of the file.
    #[test]
    fn a_file_that_cannot_be_synced_fails_its_turn() {
        let state = tempfile::tempdir().unwrap();
        let layout = Layout::at(state.path());
        layout.make().unwrap();
        let homes = Homes::of(&layout).unwrap();
        let blob = Blob::of(b"content");
        let mut places = Places::default();
        places.contents.insert(blob.sha256);
        // Retention may have removed it.
        homes.settle(&layout, &places).unwrap();
        let (folder, path) = layout.blob(&blob.sha256);
        make_folder(&folder).unwrap();
        write_unsynced(&path, &blob.bytes).unwrap();
        homes.settle(&layout, &places).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(homes.settle(&layout, &places).is_err());
    }

    #[test]
    fn whoever_waits_for_the_settler_learns_that_it_failed_or_ended() {
        let (done, answer) = channel();
        done.send(Err(nix::errno::Errno::ENOSPC.into())).unwrap();
        done.send(Ok(())).unwrap();
        drop(done);
        assert!(settled(&answer).is_err_and(|e| error::ran_out(&e)));
        settled(&answer).unwrap();
        assert!(settled(&answer).is_err(), "its thread has ended");
    }

    #[test]
    fn a_failed_sync_is_never_tried_again() {
        use nix::errno::Errno;
        for code in [Errno::ENOSPC, Errno::EMFILE, Errno::EIO] {
            assert!(!error::ran_out(&permanent(code.into())), "{code}");
        }
        assert!(error::ran_out(&Errno::ENOSPC.into()) && !error::ran_out(&Errno::EIO.into()));
    }
}
