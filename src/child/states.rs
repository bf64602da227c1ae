//! The states of a child.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::clock::Now;
use crate::model::Isolation;
use crate::sandbox::protocol::{Command, Ending, Says};
use crate::sandbox::raw;

use super::alive::{Alive, Client, Outcome, Wish};
use super::fault::Fault;
use super::{outside, surroundings};

/// What came of a step: the next state, or the end of the child.
// One is made for each step of a child: a box would save nothing that counts.
#[allow(clippy::large_enum_variant)]
pub enum Step<T> {
    On(T),
    /// It was killed, or ended by itself.
    Ended(Ended),
}

/// A helper has its order.
pub struct Launched {
    alive: Alive,
}

/// The helper says that the payload has closed itself in.
pub struct Confined {
    alive: Alive,
    pid: i32,
    /// Layers that the kernel shows nobody, as the helper's own code put them on.
    told: Vec<String>,
    /// The layers that are mounts, read before it was ready.
    mounted: Vec<&'static str>,
}

/// What confines the payload was read from outside, and is what its tier asks for.
pub struct Held {
    alive: Alive,
    isolation: Isolation,
    pid: i32,
    resident_kib: u64,
}

/// The payload reads what it is to run.
pub struct Released {
    alive: Alive,
    at: (Instant, Duration),
}

/// Nothing of it runs any more.
pub struct Ended {
    alive: Alive,
    pub ending: Ending,
    /// When the helper said so, by CLOCK_MONOTONIC and CLOCK_BOOTTIME.
    pub at: (Instant, Duration),
}

/// A look that found less than the tier asks for, with the child as it was.
pub struct Unconfined {
    pub fault: Fault,
    pub confined: Confined,
}

impl Launched {
    pub(super) fn new(alive: Alive) -> Self {
        Self { alive }
    }

    /// The child's own folder on this machine, where its host made one for it alone.
    pub fn folder(&self) -> Option<&PathBuf> {
        self.alive.host.folder()
    }

    /// Waits until the payload has closed itself in, `patience` at most. That is also the time in which it is to
    /// be ready afterwards.
    pub fn confined(
        mut self,
        patience: Duration,
        client: &mut dyn Client,
    ) -> Result<Step<Confined>, Fault> {
        self.alive.within(patience);
        let outcome = self.alive.until(client, false, |alive, _, said| {
            let Some((Says::Started { pid, layers }, folder)) = said else {
                return Ok(None);
            };
            alive.folder = folder;
            // It cannot change them any more; meanwhile it goes on getting ready.
            let mounted = surroundings::mounted(pid, &alive.confinement);
            Ok(Some((pid, layers, mounted)))
        })?;
        Ok(Step::of(outcome, |alive, (pid, told, mounted)| Confined {
            alive,
            pid,
            told,
            mounted,
        }))
    }
}

impl Confined {
    /// Waits until the runner is ready, and looks.
    pub fn held(mut self, client: &mut dyn Client) -> Result<Step<Held>, Fault> {
        let outcome = self.alive.until(client, false, |_, client, _| {
            Ok(client.is_ready().then_some(()))
        })?;
        match Step::of(outcome, |alive, ()| alive) {
            Step::Ended(ended) => Ok(Step::Ended(ended)),
            Step::On(alive) => {
                self.alive = alive;
                self.look().map(Step::On).map_err(|found| found.fault)
            }
        }
    }

    /// Only for the suites, which show what a layer that is off would let through.
    #[cfg(test)]
    pub(super) fn unlooked(self, isolation: Isolation) -> Held {
        Held {
            alive: self.alive,
            isolation,
            pid: self.pid,
            resident_kib: 0,
        }
    }

    #[cfg(test)]
    pub(super) const fn confinement(&self) -> &super::Confinement {
        &self.alive.confinement
    }

    /// As what it is compared with from now on.
    #[cfg(test)]
    pub(crate) fn compared_with(mut self, confinement: super::Confinement) -> Self {
        self.mounted = surroundings::mounted(self.pid, &confinement);
        self.alive.confinement = confinement;
        self
    }

    /// Waits until the runner is ready, and looks not.
    #[cfg(test)]
    pub(crate) fn ready(self, client: &mut dyn Client) -> Result<Step<Self>, Fault> {
        let Self {
            alive,
            pid,
            told,
            mounted,
        } = self;
        let outcome = alive.until(client, false, |_, client, _| {
            Ok(client.is_ready().then_some(()))
        })?;
        Ok(Step::of(outcome, |alive, ()| Self {
            alive,
            pid,
            told,
            mounted,
        }))
    }

    /// Reads from outside what confines the payload, as it is now.
    ///
    /// # Errors
    /// A layer of the tier is missing, or the payload is gone. The child is handed back: what is only starting
    /// up may be looked at again.
    pub fn look(mut self) -> Result<Held, Box<Unconfined>> {
        let found = outside::examine(
            self.pid,
            &self.told,
            &*self.alive.host,
            &self.alive.confinement,
            &self.mounted,
        );
        match found {
            Ok(found) => {
                self.alive.at_leisure();
                Ok(Held {
                    alive: self.alive,
                    isolation: found.isolation,
                    pid: self.pid,
                    resident_kib: found.resident_kib,
                })
            }
            Err(fault) => Err(Box::new(Unconfined {
                fault,
                confined: self,
            })),
        }
    }
}

impl Held {
    /// What was read from outside.
    pub const fn isolation(&self) -> &Isolation {
        &self.isolation
    }

    /// Kibibytes that the payload has in memory.
    pub const fn resident_kib(&self) -> u64 {
        self.resident_kib
    }

    /// How the child was started: `cold` or `warm`.
    pub fn start(&self) -> &'static str {
        self.alive.host.start()
    }

    /// The payload itself, which is held, so that its number is still its own.
    pub fn payload(&self) -> Option<OwnedFd> {
        raw::pidfd_open(self.pid).ok()
    }

    /// Waits until the client lets it, then has the payload read what it is to run.
    pub fn released(self, client: &mut dyn Client) -> Result<Step<Released>, Fault> {
        let mut alive = self.alive;
        // Before the first wait: what was decided already waits for nothing.
        if let Some(at) = release(&alive, client) {
            return Ok(Step::On(Released { alive, at }));
        }
        alive.at_leisure();
        let outcome = alive.until(client, false, |alive, client, _| Ok(release(alive, client)))?;
        Ok(Step::of(outcome, |alive, at| Released { alive, at }))
    }
}

/// Releases the payload, if the client lets it. The wish is asked last: a kill that came before a release counts.
fn release(alive: &Alive, client: &mut dyn Client) -> Option<(Instant, Duration)> {
    let may = client.may_release() && client.wish() == Wish::GoOn;
    (may && alive.send(Command::Release)).then(|| (Instant::now(), Now::read().boot))
}

impl Released {
    /// When, by CLOCK_MONOTONIC and CLOCK_BOOTTIME.
    pub const fn at(&self) -> (Instant, Duration) {
        self.at
    }

    /// Ends the child if it has not ended by itself in this time. Its own wall clock is the helper's.
    #[must_use]
    pub fn within(mut self, patience: Duration) -> Self {
        self.alive.within(patience);
        self
    }

    /// Attends the payload to its end.
    pub fn ended(self, client: &mut dyn Client) -> Result<Ended, Fault> {
        let outcome = self
            .alive
            .until(client, true, |_, _, _| Ok(None::<std::convert::Infallible>))?;
        match Step::of(outcome, |_, never| never) {
            Step::Ended(ended) => Ok(ended),
            Step::On(never) => match never {},
        }
    }
}

impl Ended {
    /// Bytes of inputs that the payload mapped.
    pub const fn mapped(&self) -> u64 {
        self.alive.confinement.mapped
    }

    /// The child's output folder, where it got as far as having one. What lies in it goes with this value.
    pub const fn folder(&self) -> Option<&OwnedFd> {
        self.alive.folder.as_ref()
    }
}

impl<T> Step<T> {
    fn of<U>(outcome: Outcome<U>, then: impl FnOnce(Alive, U) -> T) -> Self {
        match outcome {
            Outcome::Next(alive, next) => Self::On(then(alive, next)),
            Outcome::Ended(alive, ending, at) => Self::Ended(Ended { alive, ending, at }),
        }
    }
}

impl From<Box<Unconfined>> for Fault {
    fn from(found: Box<Unconfined>) -> Self {
        found.fault
    }
}
