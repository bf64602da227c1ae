//! One wait for several descriptors, each under a name instead of a place in a list.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// What is waited for. Made anew for each wait, since what is open changes.
pub struct Events<'a, K> {
    names: Vec<K>,
    fds: Vec<PollFd<'a>>,
}

/// What happened: whatever can be read, has ended or has failed.
pub struct Happened<K>(Vec<K>);

impl<'a, K: Copy + PartialEq> Events<'a, K> {
    pub const fn new() -> Self {
        Self {
            names: Vec::new(),
            fds: Vec::new(),
        }
    }

    /// Adds one that is open.
    pub fn on(mut self, name: K, fd: BorrowedFd<'a>) -> Self {
        self.names.push(name);
        self.fds.push(PollFd::new(fd, PollFlags::POLLIN));
        self
    }

    /// Adds one that may be closed already.
    pub fn on_open(self, name: K, fd: Option<&'a impl AsFd>) -> Self {
        match fd {
            Some(fd) => self.on(name, fd.as_fd()),
            None => self,
        }
    }

    /// Waits until something happens or the time is over; a signal ends the wait with nothing.
    ///
    /// # Errors
    /// What poll(2) answers beside EINTR.
    pub fn wait(mut self, until: Option<Instant>) -> io::Result<Happened<K>> {
        let patience = until.map_or(PollTimeout::NONE, left);
        match poll(&mut self.fds, patience) {
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok(Happened(Vec::new())),
            Err(e) => return Err(e.into()),
        }
        let happened = self
            .names
            .into_iter()
            .zip(&self.fds)
            .filter(|(_, fd)| fd.revents().is_some_and(|events| !events.is_empty()))
            .map(|(name, _)| name);
        Ok(Happened(happened.collect()))
    }
}

impl<K: PartialEq> Happened<K> {
    pub fn has(&self, name: K) -> bool {
        self.0.contains(&name)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Copy> Happened<K> {
    /// In the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = K> + '_ {
        self.0.iter().copied()
    }
}

/// A millisecond more than is left, if anything is: poll(2) counts whole ones, and a wait that ends early is
/// repeated.
fn left(until: Instant) -> PollTimeout {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return PollTimeout::ZERO;
    }
    PollTimeout::try_from(left + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn what_happened_is_known_by_its_name_whatever_is_closed_beside_it() {
        let (quiet, _keep) = UnixStream::pair().unwrap();
        let (spoken, mut other) = UnixStream::pair().unwrap();
        let (ended, gone) = UnixStream::pair().unwrap();
        drop(gone);
        other.write_all(b"x").unwrap();
        let closed: Option<&UnixStream> = None;
        let events = Events::new()
            .on_open("closed", closed)
            .on("quiet", quiet.as_fd())
            .on_open("spoken", Some(&spoken))
            .on_open("ended", Some(&ended));
        let happened = events.wait(None).unwrap();
        assert_eq!(happened.iter().collect::<Vec<_>>(), ["spoken", "ended"]);
        assert!(happened.has("spoken") && !happened.has("quiet"));
    }

    #[test]
    fn a_wait_ends_with_its_time() {
        let (quiet, _keep) = UnixStream::pair().unwrap();
        let until = Instant::now() + Duration::from_millis(5);
        let happened = Events::new().on((), quiet.as_fd()).wait(Some(until));
        assert!(happened.unwrap().is_empty() && Instant::now() >= until);
    }
}
