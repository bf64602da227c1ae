//! Waits for several descriptors at once and identifies each by a name instead of an index.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// The descriptors to wait for. Build a new value for each wait, because the set of open
/// descriptors changes.
pub struct Events<'a, K> {
    names: Vec<K>,
    fds: Vec<PollFd<'a>>,
}

/// The descriptors that are readable, at their end or in error.
pub struct Happened<K>(Vec<K>);

impl<'a, K: Copy + PartialEq> Events<'a, K> {
    pub const fn new() -> Self {
        Self {
            names: Vec::new(),
            fds: Vec::new(),
        }
    }

    /// Adds an open descriptor.
    pub fn on(mut self, name: K, fd: BorrowedFd<'a>) -> Self {
        self.names.push(name);
        self.fds.push(PollFd::new(fd, PollFlags::POLLIN));
        self
    }

    /// Adds a descriptor that may be closed already.
    pub fn on_open(self, name: K, fd: Option<&'a impl AsFd>) -> Self {
        match fd {
            Some(fd) => self.on(name, fd.as_fd()),
            None => self,
        }
    }

    /// Waits for an event or for the deadline. A signal ends the wait with an empty result.
    ///
    /// # Errors
    /// Every error of poll(2) except EINTR.
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

/// The time left, rounded up by a millisecond: poll(2) counts whole milliseconds, and a wait that
/// ends early is repeated.
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
    fn events_are_reported_by_name_even_beside_closed_descriptors() {
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
    fn a_wait_ends_at_its_deadline() {
        let (quiet, _keep) = UnixStream::pair().unwrap();
        let deadline = Instant::now() + Duration::from_millis(5);
        let happened = Events::new().on((), quiet.as_fd()).wait(Some(deadline));
        assert!(happened.unwrap().is_empty() && Instant::now() >= deadline);
    }
}
