//! Hashes the files of a table: SHA-256 of each, computed by all processors or taken from the
//! cache.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use nix::fcntl::OFlag;
use sha2::{Digest as _, Sha256};

use super::cache::Cache;
use super::walk::{Entry, EntryKind, Stamp, Table, threads};

/// The hash of an entry: of a file's bytes, or of a link's target.
pub type Sum = [u8; 32];

/// An entry of a table with its sum; folders and unreadable files have none.
pub type Summed<'t> = (&'t OsStr, Entry, Option<Sum>);

/// Number of bytes per read.
const PIECE: usize = 256 * 1024;

/// Interval of progress reports.
const TICK: Duration = Duration::from_millis(100);

/// Why the files could not be hashed.
#[derive(Debug)]
pub enum Unread {
    /// The file changed while it was read.
    Changed(PathBuf),
    Failed(PathBuf, io::Error),
}

/// Receives the mebibytes read so far and the total.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// Every entry with its sum, ordered by path. Files that `cache` does not know are read and added
/// to it.
pub fn all<'t>(
    table: &'t Table,
    cache: &mut Cache,
    progress: Progress<'_>,
) -> Result<Vec<Summed<'t>>, Unread> {
    let mut sums: Vec<Summed<'_>> = table
        .iter()
        .map(|(path, entry)| (path.as_os_str(), *entry, None))
        .collect();
    sums.sort_unstable_by_key(|(path, ..)| *path);
    let mut unknown = Vec::new();
    for (at, (path, entry, sum)) in sums.iter_mut().enumerate() {
        match entry.kind {
            EntryKind::Folder | EntryKind::Other => {}
            EntryKind::Link => *sum = Some(target(Path::new(path))?),
            EntryKind::File => match cache.known(&entry.stamp) {
                Some(known) => *sum = Some(known),
                None => unknown.push(at),
            },
        }
    }
    // Starts with the largest files, so that no thread is left alone with one at the end.
    unknown.sort_unstable_by_key(|at| std::cmp::Reverse(sums[*at].1.stamp.bytes));
    let wanted: Vec<(usize, &Path, Stamp)> = unknown
        .iter()
        .map(|at| (*at, Path::new(sums[*at].0), sums[*at].1.stamp))
        .collect();
    for (at, sum) in read(&wanted, progress)? {
        if let Some(sum) = sum {
            cache.learn(&sums[at].1.stamp, sum);
        }
        sums[at].2 = sum;
    }
    Ok(sums)
}

fn target(link: &Path) -> Result<Sum, Unread> {
    match std::fs::read_link(link) {
        Ok(target) => Ok(Sha256::digest(target.as_os_str().as_encoded_bytes()).into()),
        Err(_) => Err(Unread::Changed(link.to_owned())),
    }
}

fn read(
    wanted: &[(usize, &Path, Stamp)],
    progress: Progress<'_>,
) -> Result<Vec<(usize, Option<Sum>)>, Unread> {
    const MIB: u64 = 1024 * 1024;
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let total: u64 = wanted.iter().map(|(_, _, stamp)| stamp.bytes).sum();
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let (send, results) = channel();
    let work = |send: std::sync::mpsc::Sender<_>| {
        let mut buffer = vec![0; PIECE];
        while let Some((at, path, stamp)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            let sum = sum_of(path, stamp, &mut buffer, &done).map(|sum| (*at, sum));
            let failed = sum.is_err();
            if send.send(sum).is_err() || failed {
                return;
            }
        }
    };
    thread::scope(|scope| {
        let work = &work;
        let started = (0..threads())
            .filter(|_| {
                let send = send.clone();
                thread::Builder::new()
                    .spawn_scoped(scope, move || work(send))
                    .is_ok()
            })
            .count();
        if started == 0 {
            work(send.clone());
        }
        drop(send);
        let mut sums = Vec::with_capacity(wanted.len());
        loop {
            match results.recv_timeout(TICK) {
                Ok(sum) => sums.push(sum?),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            progress(done.load(Ordering::Relaxed) / MIB, total / MIB);
        }
        if sums.len() == wanted.len() {
            Ok(sums)
        } else {
            let first = wanted.first().map_or(Path::new(""), |(_, path, _)| path);
            let lost = io::Error::other("a thread ended");
            Err(Unread::Failed(first.to_owned(), lost))
        }
    })
}

/// `None` for a file that may not be read: no run can read it either.
fn sum_of(
    path: &Path,
    stamp: &Stamp,
    buffer: &mut [u8],
    done: &AtomicU64,
) -> Result<Option<Sum>, Unread> {
    let failed = |e: io::Error| match e.kind() {
        io::ErrorKind::NotFound => Unread::Changed(path.to_owned()),
        _ => Unread::Failed(path.to_owned(), e),
    };
    // The file may have become a pipe meanwhile, and opening a pipe must not block.
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits())
        .open(path);
    let mut file = match opened {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
        Err(e) if e.raw_os_error() == Some(nix::libc::ELOOP) => {
            return Err(Unread::Changed(path.to_owned()));
        }
        Err(e) => return Err(failed(e)),
    };
    let same = |file: &std::fs::File| -> Result<(), Unread> {
        let now = Entry::of(&file.metadata().map_err(failed)?);
        if (now.kind, now.stamp) == (EntryKind::File, *stamp) {
            Ok(())
        } else {
            Err(Unread::Changed(path.to_owned()))
        }
    };
    same(&file)?;
    let mut hash = Sha256::new();
    loop {
        match file.read(buffer) {
            Ok(0) => break,
            Ok(n) => {
                hash.update(&buffer[..n]);
                done.fetch_add(n as u64, Ordering::Relaxed);
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(failed(e)),
        }
    }
    same(&file)?;
    Ok(Some(hash.finalize().into()))
}
